# SPDX-License-Identifier: GPL-2.0
"""Counts, as /sys/kernel/debug/owner/stats and stackdepot/stats print them."""

from typing import Iterator, List, Tuple

from drgn import Program

from .clock import owner_sample_weight
from .cpus import percpu_offsets
from .depot import Depot
from .format import FormatError, stack_depot_format
from .layout import Layout
from .memory import (cached, notes_of, read_memory, read_number, read_string, read_variable,
                     word_size)
from .pages import PageReader
from .percpu import for_each_owned_percpu_area
from .slabs import SlabReader
from .text import escape_name

Line = Tuple[str, str]


def _read_names(prog: Program, variable: str, file: str) -> List[str]:
    """An array of strings."""
    array, word = prog.variable(variable, file), word_size(prog)
    names = []
    for i in range(array.type_.length or 0):
        address = read_number(prog, (array.address_ or 0) + i * word, word)
        name = read_string(prog, address, 64) if address else None
        names.append("?" if name is None else escape_name(name))
    return names


def _signed(value: int, width: int) -> int:
    return value - (value >> 8 * width - 1 << 8 * width)


def _sum_over_cpus(prog: Program, address: int, count: int) -> List[int]:
    """Add up an array of @count longs over all CPUs."""
    word = word_size(prog)
    sums = [0] * count
    for offset in percpu_offsets(prog).values():
        for i in range(count):
            value = read_number(prog, address + offset + i * word & (1 << 8 * word) - 1, word)
            if value is None:
                notes_of(prog).add("counts", "a CPU's part of them cannot be read")
            sums[i] += _signed(value or 0, word)
    return sums


def _count_slabs(prog: Program) -> Iterator[Line]:
    reader = cached(prog, SlabReader)
    tracked = 0.0
    samples = slabs = slots = freed = 0
    for slab in reader.iterate_slabs():
        data = reader.read_records(slab)
        if data is None:
            continue
        slabs += 1
        slots += slab.objects
        for owner in filter(None, map(reader.decode_record, reader.record.iterate(data))):
            tracked += (float(owner_sample_weight(prog, owner.rate, owner.size))
                        if owner.rate else 1)
            samples += owner.rate > 0
        freed += reader.has_freed_records(slab)
    areas = sum(1 for _ in for_each_owned_percpu_area(prog))
    yield "tracked", f"{tracked:.0f}"
    yield "samples", str(samples)
    yield "percpu", str(areas)
    yield "slabs", str(slabs)
    yield "slabs_with_frees", str(freed)
    yield "slots", str(slots)
    layout = Layout(prog, "struct owner_records_counts", "bytes")
    counts = prog.variable("records_counts", "mm/owner/slab/records.c").address_ or 0
    taken = _sum_over_cpus(prog, counts + layout.offset("bytes"), 1)[0]
    yield "bytes", str(taken)
    yield "bytes_per_slot", f"{taken / slots if slots else 0:.2f}"


def _count_reasons(prog: Program, names_variable: str, counts: str) -> Iterator[Line]:
    """Counts of each CPU by reason, whose names are an array of owner/stats."""
    names = _read_names(prog, names_variable, "mm/owner/files/stats_file.c")
    address = prog.variable(counts).address_ or 0
    for name, value in zip(names, _sum_over_cpus(prog, address, len(names))):
        yield name, str(value)


def _count_losses(prog: Program) -> Iterator[Line]:
    return _count_reasons(prog, "loss_names", "owner_losses")


def _count_slow_captures(prog: Program) -> Iterator[Line]:
    address = prog.variable("owner_slow_captures").address_ or 0
    yield "slow", str(_sum_over_cpus(prog, address, 1)[0])


def _count_pages(prog: Program) -> Iterator[Line]:
    pages = 0
    try:
        for owner in cached(prog, PageReader).iterate_allocations():
            pages += 1 << min(owner.order, 64)
        yield "pages", str(pages)
    except FormatError as error:
        notes_of(prog).add("counts", str(error))
    yield "page_failures", str(read_variable(prog, "failures", "mm/owner/page/page.c"))


def _count_classes(prog: Program) -> Iterator[Line]:
    """Evictable records by size class: see lib/stackdepot/stats.c."""
    depot = prog.variable("stack_depot_evictable")
    address = depot.address_ or 0
    layout = Layout(prog, "struct depot_class", "pools", "in_use", "nr_free")
    classes = depot.type_.member("class")
    sizes = prog.variable("class_bytes", "lib/stackdepot/evict_pool.c")
    pool_bytes = stack_depot_format(prog).pool_bytes
    for i in range(classes.type.length or 0):
        size = read_number(prog, (sizes.address_ or 0) + 2 * i, 2)
        data = read_memory(prog, address + classes.bit_offset // 8 + i * layout.size, layout.size)
        if data is None or size is None:
            notes_of(prog).add("size classes", "they cannot be read")
            continue
        pools, in_use, free = layout.unpack(data)
        if pools:
            yield f"class_{size}_in_use", str(in_use)
            yield f"class_{size}_carved_free", str(free)
            yield f"class_{size}_bytes", str(pools * pool_bytes)
    names = ("data_bytes", "allocs", "evictions", "slots_reused", "pools_recut",
             "locked_saves")
    counts = Layout(prog, "struct evictable_depot", *names)
    data = read_memory(prog, address, counts.size)
    for name, value in zip(names, counts.unpack(data) if data else ()):
        yield name, str(value)


def _count_refusals(prog: Program) -> Iterator[Line]:
    names = _read_names(prog, "refusal_names", "lib/stackdepot/stats.c")
    address = prog.variable("evictable_refusals", "lib/stackdepot/evict_pool.c").address_ or 0
    for name, value in zip(names, _sum_over_cpus(prog, address, len(names))):
        yield name, str(value)


def _count_depot(prog: Program) -> Iterator[Line]:
    depot = cached(prog, Depot)
    pools = len(depot.pools)
    yield "pools", str(pools)
    evictable = sum(depot.read_pool_units(i) is not None for i in range(pools))
    yield "pools_evictable", str(evictable)
    yield "pools_max", str(read_variable(prog, "stack_depot_max_pools"))
    yield "pool_bytes", str(pools * stack_depot_format(prog).pool_bytes)
    yield "bound_reached", str(read_variable(prog, "bound_reached", "lib/stackdepot/pool.c"))


def owner_stats(prog: Program) -> Iterator[Line]:
    """Names and values: what is tracked and takes, losses, slow captures, the depot.

    Each part that this kernel does not have is left out.
    """
    for part in (_count_slabs, _count_losses, _count_slow_captures, _count_pages, _count_depot,
                 _count_classes, _count_refusals):
        try:
            yield from part(prog)
        except LookupError as error:
            notes_of(prog).add("counts", f"this kernel does not have them: {error}")
