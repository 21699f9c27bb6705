# SPDX-License-Identifier: GPL-2.0
"""Which objects of a slab are free: they are on its freelist, or on that of a CPU."""

from typing import Dict, Iterator, Optional, Set

from drgn import FaultError, Program
from drgn.helpers.linux.cpumask import for_each_possible_cpu

from .caches import slab_caches
from .layout import Layout
from .memory import byte_order, cached, notes_of, read_memory, read_number, word_size
from .slabs import Slab, SlabObject, SlabReader, find_first_object, for_each_slab


def percpu_offsets(prog: Program) -> Dict[int, int]:
    """The offset of each possible CPU's copy of a per-CPU variable, by number of the CPU."""
    return cached(prog, _read_percpu_offsets)


def _read_percpu_offsets(prog: Program) -> Dict[int, int]:
    offsets: Dict[int, int] = {}
    try:
        array = prog.variable("__per_cpu_offset").address_ or 0
        for cpu in for_each_possible_cpu(prog):
            offset = read_number(prog, array + cpu * word_size(prog), word_size(prog))
            if offset is None:
                notes_of(prog).add("CPUs", "their per-CPU areas cannot be found")
            else:
                offsets[cpu] = offset
    except (FaultError, LookupError) as error:
        notes_of(prog).add("CPUs", f"their per-CPU areas cannot be found: {error}")
    return offsets


def _read_cpu_freelists(prog: Program) -> Dict[int, int]:
    """The first object on a CPU's freelist, by the address of its struct slab."""
    pointer = Layout(prog, "struct kmem_cache", "cpu_slab")
    cpu_slab = Layout(prog, "struct kmem_cache_cpu", "freelist", "slab")
    freelists: Dict[int, int] = {}
    for cache in slab_caches(prog):
        data = read_memory(prog, cache, pointer.size)
        area = pointer.unpack(data)[0] if data else 0
        for offset in percpu_offsets(prog).values():
            data = read_memory(prog, area + offset & (1 << 64) - 1, cpu_slab.size)
            if data is None:
                notes_of(prog).add("CPUs", "their freelists cannot be read")
                continue
            freelist, slab = cpu_slab.unpack(data)
            if slab and freelist:
                freelists[slab] = freelist
    return freelists


def cpu_freelists(prog: Program) -> Dict[int, int]:
    """The first object on a CPU's freelist, by the address of the struct slab it is in."""
    try:
        return cached(prog, _read_cpu_freelists)
    except LookupError:
        # CONFIG_SLUB_TINY
        return {}


def _walk_freelist(prog: Program, slab: Slab, data: bytes, first: int,
                   object_0: int) -> Iterator[int]:
    """The indexes of the objects on a freelist within a slab whose memory is @data."""
    cache, word, order = slab.cache, word_size(prog), byte_order(prog)
    address = first
    for _ in range(slab.objects):
        if not address:
            return
        index, rest = divmod(address - object_0, cache.size)
        if rest or not 0 <= index < slab.objects:
            break
        yield index
        place = address + cache.offset
        start = place - slab.address
        address = int.from_bytes(data[start:start + word], order)
        if cache.random is not None:
            swapped = int.from_bytes(place.to_bytes(word, "little"), "big")
            address ^= cache.random ^ swapped
    if address:
        notes_of(prog).add("slabs", "a freelist is damaged, and more of its objects may be free")


def free_slab_objects(prog: Program, slab: Slab) -> Optional[Set[int]]:
    """The indexes of the objects of a slab that are free. None if they cannot be read."""
    object_0 = find_first_object(prog, slab)
    on_cpu = cpu_freelists(prog).get(slab.page, 0)
    if not slab.freelist and not on_cpu:
        return set()
    data = read_memory(prog, slab.address, slab.objects * slab.cache.size)
    if data is None:
        notes_of(prog).add("slabs", "their memory cannot be read")
        return None
    return {index for first in (slab.freelist, on_cpu)
            for index in _walk_freelist(prog, slab, data, first, object_0)}


def slab_object_is_allocated(prog: Program, place: SlabObject) -> Optional[bool]:
    """Is an object allocated? None if that cannot be found out."""
    free = free_slab_objects(prog, place.slab)
    return None if free is None else place.index not in free


def for_each_allocated_object(prog: Program) -> Iterator[SlabObject]:
    """All objects that are allocated, owned or not, by page frame and index."""
    cached(prog, SlabReader)
    for slab in for_each_slab(prog):
        free = free_slab_objects(prog, slab)
        first = find_first_object(prog, slab)
        for index in range(slab.objects) if free is not None else ():
            if index not in free:
                yield SlabObject(slab, index, first + index * slab.cache.size)
