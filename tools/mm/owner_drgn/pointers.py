# SPDX-License-Identifier: GPL-2.0
"""Find pointers to slab objects in memory, with numpy where that is installed."""

from array import array
from typing import Any, Dict, List, Tuple

from drgn import Program

from .format import FormatError
from .geometry import Geometry, geometry
from .memory import byte_order, word_size
from .slabs import Slab

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore

FRAMES_MAX = 1 << 34
# Positions in words, and the numbers of the objects that these words point to.
Pointers = Tuple[List[int], List[int]]


class ObjectIndex:
    """Numbers the objects of slabs, and finds the object that an address is in.

    An address anywhere in an object's slot leads to the object, so that interior pointers
    and pointers with flags in their lower bits do, too.
    """

    def __init__(self, prog: Program) -> None:
        self.geometry: Geometry = geometry(prog)
        self.order: str = byte_order(prog)
        self.word = word_size(prog)
        self.objects = 0
        if self.geometry.max_pfn > FRAMES_MAX:
            raise FormatError(f"memory ends at page frame {self.geometry.max_pfn:#x}: this search "
                              f"is for up to {FRAMES_MAX:#x}, or the dump is damaged")
        # By page frame, the number of its slab, from 1 up. Unwritten pages take no memory.
        self.slab_of_page = memoryview(bytearray(4 * self.geometry.max_pfn)).cast("I")
        self.start = array("Q")
        self.size = array("Q")
        self.count = array("Q")
        self.first = array("Q")
        self._tables: Dict[str, Any] = {}

    def add_slab(self, slab: Slab) -> int:
        """Number the objects of a slab. Returns the number of its first object."""
        geo, first = self.geometry, self.objects
        # The one object of a slab of KFENCE can be anywhere in the slab's page.
        size = max(slab.cache.size, geo.page_size) if slab.objects == 1 else slab.cache.size
        pages = -(-slab.objects * size >> geo.page_shift)
        for pfn in range(slab.pfn, min(slab.pfn + pages, geo.max_pfn)):
            self.slab_of_page[pfn] = len(self.start) + 1
        self.start.append(slab.address)
        self.size.append(size)
        self.count.append(slab.objects)
        self.first.append(first)
        self.objects += slab.objects
        self._tables.clear()
        return first

    def find_pointers(self, data: bytes) -> Pointers:
        """The words in @data that point to objects, and these objects."""
        data = data[:len(data) // self.word * self.word]
        return self._find_with_numpy(data) if numpy else self._find_without_numpy(data)

    def _find_without_numpy(self, data: bytes) -> Pointers:
        geo = self.geometry
        low, high = geo.direct_map, geo.virt_of_pfn(geo.max_pfn)
        words = array("Q" if self.word == 8 else "I")
        words.frombytes(data)
        if self.order == "big":
            words.byteswap()
        positions, objects = [], []
        for place, word in enumerate(words):
            if not low <= word < high:
                continue
            slab = self.slab_of_page[word - low >> geo.page_shift] - 1
            if slab < 0:
                continue
            number = (word - self.start[slab]) // self.size[slab]
            if number < self.count[slab]:
                positions.append(place)
                objects.append(self.first[slab] + number)
        return positions, objects

    def _get_tables(self) -> Dict[str, Any]:
        if not self._tables:
            for name in ("slab_of_page", "start", "size", "count", "first"):
                table = getattr(self, name)
                self._tables[name] = numpy.frombuffer(table, f"u{table.itemsize}")
        return self._tables

    def _find_with_numpy(self, data: bytes) -> Pointers:
        geo, tables = self.geometry, self._get_tables()
        code = ("<" if self.order == "little" else ">") + f"u{self.word}"
        words = numpy.frombuffer(data, code).astype("u8", copy=False)
        # A word below the direct map wraps around, and is beyond the last page then.
        pages = words - numpy.uint64(geo.direct_map) >> numpy.uint64(geo.page_shift)
        positions = numpy.nonzero(pages < numpy.uint64(geo.max_pfn))[0]
        slabs = tables["slab_of_page"][pages[positions].astype("i8")].astype("i8") - 1
        positions, slabs = positions[slabs >= 0], slabs[slabs >= 0]
        numbers = (words[positions] - tables["start"][slabs]) // tables["size"][slabs]
        inside = numbers < tables["count"][slabs]
        objects = tables["first"][slabs] + numbers
        return positions[inside].tolist(), objects[inside].tolist()
