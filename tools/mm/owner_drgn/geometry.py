# SPDX-License-Identifier: GPL-2.0
"""Page frames, their struct pages, and their addresses."""

from typing import Iterator, List, NamedTuple, Optional, Tuple

from drgn import FaultError, Program
from drgn.helpers.linux.mm import pfn_to_page, pfn_to_virt

from .format import FormatError
from .memory import cached, notes_of, read_memory
from .sections import memory_ranges

# Page frames whose struct pages are read at once.
CHUNK = 1 << 14
# No machine has as many page frames.
PFN_MAX = 1 << 40
# Bit of the word of a struct page that leads from a tail page to its head
TAIL = 1


class Geometry(NamedTuple):
    """Where memory is. Struct pages and the direct map are arrays, by page frame."""

    page_size: int
    page_shift: int
    page_bytes: int             # size of struct page
    pages: int                  # address of the struct page of page frame 0
    direct_map: int             # address of page frame 0
    max_pfn: int                # end of the last page frame
    ranges: List[Tuple[int, int]]   # of page frames, (first, end), that may have memory
    max_order: int              # of an allocation of pages
    head_member: str            # of struct page: the word that leads from a tail page to its head

    def page_of_pfn(self, pfn: int) -> int:
        """Address of the struct page of a page frame."""
        return self.pages + pfn * self.page_bytes

    def pfn_of_page(self, page: int) -> Optional[int]:
        """The page frame of a struct page. None if @page is not the address of one."""
        pfn, rest = divmod(page - self.pages, self.page_bytes)
        return pfn if not rest and 0 <= pfn < self.max_pfn else None

    def head_of_tail(self, page: int, word: int) -> int:
        """Address of the head of the tail page at @page, whose head_member is @word.

        In kernels that can free struct pages of huge pages, the word can be a mask for the
        address of the tail page: the negative of a power of two.
        """
        head = word - TAIL
        size = (1 << 64) - head
        return page & head if size & size - 1 == 0 else head

    def virt_of_pfn(self, pfn: int) -> int:
        """Address of a page frame in the direct map."""
        return self.direct_map + (pfn << self.page_shift)

    def pfn_of_virt(self, address: int) -> Optional[int]:
        """The page frame of an address in the direct map. None if it is not there."""
        pfn = (address - self.direct_map) >> self.page_shift
        return pfn if 0 <= pfn < self.max_pfn else None


def _find_direct_map(prog: Program) -> int:
    try:
        return int(pfn_to_virt(prog, 0).value_())
    # drgn has no class of its own for page tables that it cannot follow.
    except Exception as error:
        raise FormatError(f"the dump does not say where memory is: {error}") from None


def _find_head_member(prog: Program) -> str:
    new = "compound_info"
    return new if prog.type("struct page").has_member(new) else "compound_head"


def _read_geometry(prog: Program) -> Geometry:
    try:
        size = prog["PAGE_SIZE"].value_()
        orders = prog.type("struct zone").member("free_area").type.length or 11
        ranges = memory_ranges(prog, prog["max_pfn"].value_())
        if ranges[-1][1] > PFN_MAX:
            raise FormatError(f"max_pfn is damaged: {ranges[-1][1]:#x}")
        return Geometry(size, size.bit_length() - 1, prog.type("struct page").size or 0,
                        pfn_to_page(prog, 0).value_(), _find_direct_map(prog),
                        ranges[-1][1], ranges, orders - 1, _find_head_member(prog))
    except FaultError as error:
        raise FormatError(f"the dump does not say where memory is: {error}") from None


def geometry(prog: Program) -> Geometry:
    """Where memory is."""
    return cached(prog, _read_geometry)


def is_frame_in_dump(prog: Program, pfn: int) -> bool:
    """Can the memory of a page frame be read?"""
    try:
        prog.read(pfn << geometry(prog).page_shift, 8, True)
        return True
    except (FaultError, ValueError, OverflowError):
        return False


def read_struct_pages(prog: Program) -> Iterator[Tuple[int, bytes]]:
    """Yield (page frame, bytes of struct pages from there on), without holes in memory."""
    geo = geometry(prog)
    for first, end in geo.ranges:
        for pfn in range(first, end, CHUNK):
            yield from _read_chunk(prog, pfn, min(CHUNK, end - pfn))


def _read_chunk(prog: Program, first: int, count: int) -> Iterator[Tuple[int, bytes]]:
    geo = geometry(prog)
    data = read_memory(prog, geo.page_of_pfn(first), count * geo.page_bytes)
    if data is not None:
        yield first, data
        return
    # One page of struct pages is there as a whole or not.
    step = max(geo.page_size // geo.page_bytes, 1)
    for pfn in range(first, first + count, step):
        part = min(step, first + count - pfn)
        data = read_memory(prog, geo.page_of_pfn(pfn), part * geo.page_bytes)
        if data is not None:
            yield pfn, data
        elif is_frame_in_dump(prog, pfn):
            notes_of(prog).add("page frames", "their struct pages cannot be read", part)
