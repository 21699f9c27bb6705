# SPDX-License-Identifier: GPL-2.0
"""Which objects of a slab are free: they are on its freelist, on that of a CPU, or in a sheaf."""

from typing import Dict, Iterator, Optional, Set

from drgn import Program

from .caches import slab_caches
from .cpus import percpu_offsets
from .layout import Layout
from .memory import byte_order, cached, notes_of, read_memory, word_size
from .sheaves import all_sheaves
from .slabs import Slab, SlabObject, SlabReader, find_first_object, for_each_slab


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
        # With CONFIG_SLUB_TINY, or in kernels with sheaves
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


def _find_in_sheaves(prog: Program, slab: Slab, object_0: int) -> Set[int]:
    """The indexes of the slab's objects that are in sheaves."""
    found = [divmod(address - object_0, slab.cache.size)
             for address in all_sheaves(prog).find_objects_of(slab)]
    if any(rest for _, rest in found):
        notes_of(prog).add("slabs", "sheaves have pointers into the middle of their objects")
    return {index for index, rest in found if not rest}


def free_slab_objects(prog: Program, slab: Slab) -> Optional[Set[int]]:
    """The indexes of the objects of a slab that are free. None if they cannot be read."""
    object_0 = find_first_object(prog, slab)
    in_sheaves = _find_in_sheaves(prog, slab, object_0)
    on_cpu = cpu_freelists(prog).get(slab.page, 0)
    if not slab.freelist and not on_cpu:
        return in_sheaves
    data = read_memory(prog, slab.address, slab.objects * slab.cache.size)
    if data is None:
        notes_of(prog).add("slabs", "their memory cannot be read")
        return None
    return in_sheaves.union(*(_walk_freelist(prog, slab, data, first, object_0)
                              for first in (slab.freelist, on_cpu)))


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
