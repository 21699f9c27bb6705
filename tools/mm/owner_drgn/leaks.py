# SPDX-License-Identifier: GPL-2.0
"""Objects to which no pointer leads: leaks, as ::findleaks of mdb finds them.

The search marks the objects to which pointers in the roots lead, then those to which
pointers in marked objects lead, until there are no more. An object that is not marked is
one that nobody can free, also if it is on a list with others.

It errs on one side only where it can: a word that looks like a pointer is taken for one.
"""

from array import array
from itertools import accumulate
from typing import Iterator, List, NamedTuple, Set, Tuple

from drgn import Program

from .frames import FrameMap, Range, subtract_ranges
from .freelists import free_slab_objects
from .memory import Notes, cached, notes_of, read_memory
from .pointers import ObjectIndex
from .sheaves import all_sheaves
from .slabs import OwnedObject, Slab, SlabReader, find_first_object, for_each_slab
from .stacks import find_stacks

# Bytes that are read and searched at once.
PIECE = 4 << 20
# The addresses of all objects are in objects of these caches.
KMEMLEAK_CACHES = ("kmemleak_object", "kmemleak_scan_area")
# Marks of an object: nothing leads to it; a pointer does; only words of old freelists may do.
UNMARKED, MARKED, DOUBTFUL = range(3)


class SearchedSlab(NamedTuple):
    """A slab, the number of its first object, and which of its objects are free."""

    slab: Slab
    first: int
    free: Set[int]


class Coverage:
    """How much the search has seen, in bytes."""

    def __init__(self) -> None:
        self.objects = 0
        self.roots = 0
        self.unreadable = 0

    def add_notes(self, notes: Notes) -> None:
        """Say how sure the answer is."""
        notes.add("KiB outside of slabs", "searched for pointers", self.roots >> 10)
        notes.add("KiB in slabs", "searched for pointers", self.objects >> 10)
        if self.unreadable:
            notes.add("KiB", "they are not in the dump; objects to which only pointers there lead "
                      "are reported as unreferenced", self.unreadable >> 10)


class LeakSearch:
    """Marks the objects to which pointers lead."""

    def __init__(self, prog: Program) -> None:
        self.prog = prog
        self.index = ObjectIndex(prog)
        self.coverage = Coverage()
        self.slabs: List[SearchedSlab] = []
        self._add_slabs()
        # Pointers from object to object: those of object n are targets[starts[n]:starts[n + 1]].
        self.targets = array("I")
        # Pointers that may be what is left of a freelist: (from object, to object).
        self.leftovers: List[Tuple[int, int]] = []
        self.starts = self._find_pointers_of_objects()
        self.marked = bytearray(self.index.objects)
        self._mark(self._find_pointers_of_roots(), MARKED)
        self._follow_leftovers()

    def _add_slabs(self) -> None:
        for slab in for_each_slab(self.prog):
            free = free_slab_objects(self.prog, slab)
            first = self.index.add_slab(slab)
            # If it is not known which objects are free, report none.
            self.slabs.append(SearchedSlab(slab, first, set(range(slab.objects))
                                           if free is None else free))

    def _find_pointers_of_objects(self) -> "array[int]":
        """Collect the pointers of allocated objects, in the order of the objects.

        Only the bytes that were requested count, and of a sheaf those that it uses. In the others
        are words of the object that was there before, the pointer to the next free object at the
        time of the allocation, and what slab_debug= adds.
        """
        counts = array("Q", bytes(8 * (self.index.objects + 1)))
        word = self.index.word
        for slab, first, free in self.slabs:
            if slab.cache.name in KMEMLEAK_CACHES:
                continue
            size, pad = slab.cache.size, slab.cache.red_left_pad
            used = self._find_used_bytes(slab)
            if slab.objects == 1:
                size = max(size, self.index.geometry.page_size)
                pad, used = 0, [size]
            for start, data in self._read_pieces(slab.address, slab.address + slab.objects * size):
                begin = start - slab.address
                self.coverage.objects += len(data)
                for place, target in zip(*self.index.find_pointers(data)):
                    number, offset = divmod(begin + place * word, size)
                    if number in free or not 0 <= offset - pad < used[number]:
                        continue
                    if offset - pad == slab.cache.offset and \
                            target - first == self._find_freelist_index(slab, data, place):
                        self.leftovers.append((first + number, target))
                    else:
                        counts[first + number + 1] += 1
                        self.targets.append(target)
        return array("Q", accumulate(counts))

    def _find_freelist_index(self, slab: Slab, data: bytes, place: int) -> int:
        """The object of the slab to whose first byte a word points. -1 if there is none.

        SLUB leaves a pointer to the next free object in an object that it allocates. Unless
        init_on_alloc=1 or its owner clears it, it looks like a pointer of the owner's.
        """
        word = self.index.word
        address = int.from_bytes(data[place * word:(place + 1) * word],
                                 self.index.order)  # type: ignore
        index, rest = divmod(address - slab.address - slab.cache.red_left_pad, slab.cache.size)
        return -1 if rest else index

    def _find_used_bytes(self, slab: Slab) -> List[int]:
        """The number of bytes that are searched, for each object of a slab."""
        reader, size = cached(self.prog, SlabReader), slab.cache.object_size
        data = reader.read_records(slab)
        mask = (1 << reader.format.size_bits) - 1
        used = [min(asked & mask, size) if stack or task else size
                for stack, task, asked, _ in reader.record.iterate(data)] \
            if data else [size] * slab.objects
        sheaves, first = all_sheaves(self.prog).used_bytes, find_first_object(self.prog, slab)
        for index in range(slab.objects) if sheaves else ():
            used[index] = sheaves.get(first + index * slab.cache.size, used[index])
        return used

    def _read_pieces(self, start: int, end: int) -> Iterator[Tuple[int, bytes]]:
        """Read a range of memory. Pages that the dump does not have are counted."""
        page = self.index.geometry.page_size
        for address in range(start, end, PIECE):
            size = min(PIECE, end - address)
            data = read_memory(self.prog, address, size)
            if data is not None:
                yield address, data
                continue
            at = address
            while at < address + size:
                part = min(page - at % page, address + size - at)
                data = read_memory(self.prog, at, part)
                if data is None:
                    self.coverage.unreadable += part
                else:
                    yield at, data
                at += part

    def _list_roots(self) -> Tuple[List[Range], List[int]]:
        frames = FrameMap(self.prog)
        stacks = find_stacks(self.prog, frames)
        ranges = list(subtract_ranges(frames.list_ranges(), stacks.all))
        return ranges + stacks.in_use, stacks.registers

    def _find_pointers_of_roots(self) -> List[int]:
        found: Set[int] = set()
        ranges, registers = self._list_roots()
        for start, end in ranges:
            for _, data in self._read_pieces(start, end):
                self.coverage.roots += len(data)
                found.update(self.index.find_pointers(data)[1])
        order = self.index.order
        data = b"".join(value.to_bytes(8, order) for value in registers  # type: ignore
                        if 0 <= value < 1 << 64)
        found.update(self.index.find_pointers(data)[1])
        return list(found)

    def _mark(self, reached: List[int], mark: int) -> None:
        marked, starts, targets = self.marked, self.starts, self.targets
        while reached:
            number = reached.pop()
            if not marked[number]:
                marked[number] = mark
                reached.extend(targets[starts[number]:starts[number + 1]])

    def _follow_leftovers(self) -> None:
        """Mark objects to which words lead that may be what is left of a freelist."""
        waiting = self.leftovers
        while True:
            reached = [target for source, target in waiting
                       if self.marked[source] and not self.marked[target]]
            if not reached:
                return
            self._mark(reached, DOUBTFUL)
            waiting = [pair for pair in waiting if not self.marked[pair[1]]]

    def iterate_owned(self, mark: int) -> Iterator[OwnedObject]:
        """The allocated objects that have an owner and this mark."""
        reader = cached(self.prog, SlabReader)
        for slab, first, free in self.slabs:
            if slab.exts and self.marked.find(mark, first, first + slab.objects) >= 0:
                for owned in reader.iterate_owned(slab):
                    if self.marked[first + owned.index] == mark and owned.index not in free:
                        yield owned


def for_each_unreferenced_object(prog: Program) -> Iterator[OwnedObject]:
    """All slab objects that have an owner and to which no pointer leads."""
    search = cached(prog, LeakSearch)
    yield from search.iterate_owned(UNMARKED)
    notes = notes_of(prog)
    search.coverage.add_notes(notes)
    doubtful = sum(1 for _ in search.iterate_owned(DOUBTFUL))
    if doubtful:
        notes.add("objects", "not reported, although only words lead to them that SLUB may have "
                  "left; with init_on_alloc=1 it leaves none", doubtful)
