# SPDX-License-Identifier: GPL-2.0
"""Damage a vmcore in memory, at many places, and let slab_owner.py's functions read it.

Run by drgn: damage_vmcore.py FIRST COUNT. Case N is the same in each run. A case overlays
some of the dump with damage: bytes, links of lists, handles, pages that are not in the dump.
It fails if a reader raises an exception, or takes longer than SECONDS, or leaves out records
without a note. Prints a line for each failed case and one at the end.
"""

import os
import random
import signal
import sys
import time
import traceback
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Tuple

from drgn import FaultError, Object, sizeof
from drgn.helpers.linux.pid import for_each_task

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../..")
sys.path.insert(0, os.path.join(TOP, "tools/mm"))

from owner_drgn.ask import for_each_record_text  # noqa: E402
from owner_drgn.depot import Depot  # noqa: E402
from owner_drgn.format import FormatError  # noqa: E402
from owner_drgn.freelists import cpu_freelists, for_each_allocated_object  # noqa: E402
from owner_drgn.geometry import geometry  # noqa: E402
from owner_drgn.leaks import for_each_unreferenced_object  # noqa: E402
from owner_drgn.memory import cached, forget_cached, notes_of  # noqa: E402
from owner_drgn.pages import page_owner  # noqa: E402
from owner_drgn.sheaves import all_sheaves  # noqa: E402
from owner_drgn.slabs import SlabReader, slab_object_freed_by, slab_object_owner  # noqa: E402
from owner_drgn.stats import owner_stats  # noqa: E402

# drgn sets it.
prog: Any
SECONDS = 120
SEARCHED_CASES = 4
WORD = 8
PAGE = 4096


class Target(NamedTuple):
    """An address that a case may damage, and the size of what is there."""

    address: int
    size: int


class Overlay:
    """Memory that hides that of the dump while a case runs."""

    def __init__(self, target: Target, data: bytes, readable: bool) -> None:
        self.target, self.data, self.readable = target, data, readable
        self.original = prog.read(target.address, target.size)
        self.active = False
        prog.add_memory_segment(target.address, target.size, self.read, False)

    def read(self, address: int, count: int, offset: int, _physical: bool) -> bytes:
        """Called by drgn."""
        if self.active and not self.readable:
            raise FaultError("not in the dump", address)
        return (self.data if self.active else self.original)[offset:offset + count]


def find_targets() -> Dict[str, List[Target]]:
    """Targets of damage by kind, from the undamaged dump."""
    reader, depot, geo = cached(prog, SlabReader), cached(prog, Depot), geometry(prog)
    slabs = [slab for slab in reader.iterate_slabs() if slab.exts]
    targets = {
        "struct pages": [Target(slab.page, geo.page_bytes) for slab in slabs],
        "records": [Target(reader.find_records(slab) or 0,
                           reader.records_offset + slab.objects * reader.record.size)
                    for slab in slabs if reader.find_records(slab)],
        "pools": [Target(pool, 16384) for pool in depot.pools],
        "caches": [Target(cache, reader.slab.size * 4) for cache in reader.caches],
        "free objects": [Target(first, WORD) for first in cpu_freelists(prog).values()],
        "sheaves": [Target(address, size)
                    for address, size in all_sheaves(prog).used_bytes.items()],
        "slabs": [Target(slab.address, PAGE) for slab in slabs],
        "any memory": [Target(geo.virt_of_pfn(pfn), PAGE) for pfn in range(256, geo.max_pfn, 97)],
        "variables": list(find_variables()),
    }
    for name in ("modules", "slab_caches"):
        targets[f"list {name}"] = list(find_list_heads(name))
    targets["tasks"] = list(find_tasks())
    table = prog["owner_percpu_table"].value_()
    buckets = 1 << prog["owner_percpu_bits"].value_()
    targets["per-CPU areas"] = [Target(table + 16 * i, 16) for i in range(0, buckets, 3)]
    return targets


def find_variables() -> Iterator[Target]:
    """Variables that the readers read first."""
    for name in ("owner_format", "stack_depot_format", "stack_pools", "pools_num", "slab_caches",
                 "modules", "max_pfn", "jiffies_64", "page_ext_size", "page_owner_ops",
                 "mem_section", "__per_cpu_offset", "owner_percpu_table", "owner_percpu_bits",
                 "vmcoreinfo_note", "stack_depot_frame_base", "gfpflag_names", "pageflag_names",
                 "kfence_metadata"):
        try:
            variable = prog[name]
        except LookupError:
            continue
        yield Target(variable.address_, min(sizeof(variable), 64))
    for name in ("kallsyms_names", "kallsyms_markers", "kallsyms_token_table", "kallsyms_offsets",
                 "kallsyms_token_index", "kallsyms_num_syms", "kallsyms_relative_base"):
        try:
            address = prog.symbol(name).address
        except LookupError:
            continue
        yield Target(address, WORD)
        yield Target(address, 512)


def find_list_heads(name: str) -> Iterator[Target]:
    """The two links of each entry of a list, and of its head."""
    head = node = prog[name].address_
    while True:
        yield Target(node, 2 * WORD)
        node = Object(prog, "struct list_head", address=node).next.value_()
        if node == head:
            break


def find_tasks() -> Iterator[Target]:
    """Members of tasks that lead to their stacks, and the lists of free pages of CPUs."""
    for task in for_each_task(prog):
        for member in (task.stack, task.thread.sp, task.on_cpu, task.thread_pid):
            yield Target(member.address_, min(sizeof(member), 8))
    yield Target(prog["init_pid_ns"].idr.idr_rt.xa_head.address_of_().value_(), WORD)
    yield Target(prog["node_data"].address_, WORD)
    for zone in prog["node_data"][0].node_zones:
        yield Target(zone.per_cpu_pageset.address_of_().value_(), WORD)


def choose_damage(rng: random.Random, targets: Dict[str, List[Target]]) -> Tuple[str, Overlay]:
    """Damage one target. Return what was done, too."""
    kind = rng.choice(sorted(targets))
    target = rng.choice(targets[kind])
    how = rng.choice(("bytes", "ones", "zeroes", "word", "link", "cycle", "bit", "unreadable"))
    old = prog.read(target.address, target.size)
    new = bytearray(old)
    at = rng.randrange(0, max(target.size - WORD, 0) + 1, WORD)
    other = rng.choice(targets[kind]).address
    if how == "bytes":
        size = rng.randrange(1, target.size + 1)
        start = rng.randrange(0, target.size - size + 1)
        new[start:start + size] = rng.randbytes(size)
    elif how in ("ones", "zeroes"):
        new[:] = (b"\xff" if how == "ones" else b"\0") * target.size
    elif how == "bit":
        new[rng.randrange(target.size)] ^= 1 << rng.randrange(8)
    elif how != "unreadable":
        number = {"word": rng.getrandbits(64), "link": other, "cycle": target.address}[how]
        new[at:at + WORD] = number.to_bytes(WORD, "little")
    name = f"{how} in {kind} at {target.address:#x}+{at:#x}"
    return name, Overlay(target, bytes(new[:target.size]), how != "unreadable")


def count_records(sources: List[str]) -> int:
    """Print the records of these sources, and count them."""
    return sum(1 for _ in for_each_record_text(prog, sources))


def read_objects(addresses: List[int]) -> None:
    """Ask for single objects and page frames."""
    geo = geometry(prog)
    for address in addresses:
        slab_object_owner(prog, address)
        slab_object_freed_by(prog, address)
        page_owner(prog, geo.pfn_of_virt(address) or 0)


def give_up(_signum: int, _frame: Any) -> None:
    raise TimeoutError(f"took longer than {SECONDS} s")


def run_case(number: int, targets: Dict[str, List[Target]], expected: Dict[str, int],
             asked: List[int]) -> Tuple[bool, int]:
    """Return whether the case passed, and the number of notes."""
    rng = random.Random(number)
    forget_cached(prog)
    damages = [choose_damage(rng, targets) for _ in range(rng.randrange(1, 5))]
    for _, overlay in damages:
        overlay.active = True
    forget_cached(prog)
    failure = ""

    def read_source(source: str) -> Callable[[], None]:
        def read() -> None:
            nonlocal failure
            found = count_records([source])
            if found < expected[source] // 2 and not notes_of(prog).lines():
                failure = f"{found} of {expected[source]} records of {source}, and no note"
        return read

    readers = [read_source(source) for source in expected]
    readers += [lambda: read_objects(asked), lambda: list(owner_stats(prog)) and None,
                lambda: list(for_each_allocated_object(prog)) and None]
    # The search reads all memory, which takes longer than the rest.
    if number % SEARCHED_CASES == 0:
        readers.append(lambda: list(for_each_unreferenced_object(prog)) and None)
    signal.alarm(SECONDS)
    try:
        for read in readers:
            try:
                read()
            except FormatError as error:
                # It says so, and stops.
                notes_of(prog).add("answers", str(error))
    except Exception:  # pylint: disable=broad-except
        failure = traceback.format_exc()
    signal.alarm(0)
    # The search for unreferenced objects says how sure it is, also without damage.
    notes = sum("searched" not in line and "not reported" not in line
                for line in notes_of(prog).lines())
    for _, overlay in damages:
        overlay.active = False
    if failure:
        print(f"case {number}: {'; '.join(name for name, _ in damages)}\n{failure}")
    return not failure, notes


def main() -> int:
    """Run the cases that the command line names."""
    first, count = int(sys.argv[1]), int(sys.argv[2])
    signal.signal(signal.SIGALRM, give_up)
    targets = {kind: found for kind, found in find_targets().items() if found}
    expected = {source: count_records([source]) for source in ("slab", "percpu", "page")}
    if notes_of(prog).lines() or not all(expected.values()):
        print(f"the undamaged dump: {expected}, {notes_of(prog).lines()}")
        return 1
    asked = [target.address for target in targets["slabs"][::40]]
    started, failed, with_notes = time.monotonic(), 0, 0
    for number in range(first, first + count):
        passed, notes = run_case(number, targets, expected, asked)
        failed += not passed
        with_notes += notes > 0
    forget_cached(prog)
    again = {source: count_records([source]) for source in expected}
    if again != expected:
        print(f"without damage again: {again}, not {expected}")
        failed += 1
    print(f"{count} cases, {failed} failed, {with_notes} with notes, "
          f"{time.monotonic() - started:.0f} s")
    return int(failed > 0 or with_notes < count // 10)


if __name__ == "__main__":
    sys.exit(main())
