# SPDX-License-Identifier: GPL-2.0
"""Pages and their owners, from page_owner: see mm/owner/page/page.h."""

from typing import Iterator, NamedTuple, Optional

from drgn import Program

from .format import FormatError
from .geometry import CHUNK, geometry
from .layout import Layout, member_offset
from .memory import cached, notes_of, read_memory, read_variable, word_size
from .sections import Section, memory_sections


class PageOwner(NamedTuple):
    """The record of an allocation of pages."""

    pfn: int
    allocated: bool             # false: the pages are free, and this is their last owner
    order: int
    migrate_reason: int         # -1 or MR_NEVER: not migrated
    gfp: int
    stack: int                  # handle of the call chain
    free_stack: int             # handle of the chain that freed the pages last
    ts: int
    free_ts: int
    pid: int
    tgid: int
    free_pid: int
    free_tgid: int
    comm: bytes


class PageReader:
    """Finds and decodes the record of a page."""

    def __init__(self, prog: Program) -> None:
        """Raises FormatError if this kernel does not track pages."""
        self.prog = prog
        self.geometry = geometry(prog)
        self.word = word_size(prog)
        try:
            operations = Layout(prog, "struct page_ext_operations", "offset")
            data = read_memory(prog, prog.variable("page_owner_ops").address_ or 0,
                               operations.size)
            self.ext_size = read_variable(prog, "page_ext_size")
            self.owner = Layout(
                prog, "struct page_owner", "order", "last_migrate_reason", "gfp_mask", "handle",
                "free_handle", "ts_nsec", "free_ts_nsec", "pid", "tgid", "free_pid", "free_tgid")
            self.flags = Layout(prog, "struct page_ext", "flags")
            self.has_owner = 1 << prog.constant("PAGE_EXT_OWNER").value_()
            self.is_allocated = 1 << prog.constant("PAGE_EXT_OWNER_ALLOCATED").value_()
            self.comm = member_offset(prog, "struct page_owner", "comm")
        except LookupError as error:
            raise FormatError(f"this kernel has no page_owner, or no SPARSEMEM: {error}") from None
        self.offset = operations.unpack(data)[0] if data else 0
        if not self.offset or not self.ext_size:
            raise FormatError("page_owner was off: the kernel was not booted with page_owner=on")
        if self.offset + self.owner.size > self.ext_size or self.ext_size > 1 << 16:
            raise FormatError("page_owner_ops or page_ext_size is damaged")
        sections = memory_sections(prog)
        if not sections or not sections.sections:
            raise FormatError("page_owner's records are found by struct mem_section, and this "
                              "kernel has no SPARSEMEM, or the table is damaged")
        self.sections = sections

    def decode(self, pfn: int, data: bytes, start: int = 0) -> Optional[PageOwner]:
        """Decode the page_ext at @start of @data. None if the page never had an owner."""
        flags = self.flags.unpack(data, start)[0]
        if not flags & self.has_owner:
            return None
        start += self.offset
        values = self.owner.unpack(data, start)
        comm = data[start + self.comm:start + self.comm + 16].split(b"\0")[0]
        return PageOwner(pfn, bool(flags & self.is_allocated), *values, comm)

    def find_page(self, pfn: int) -> Optional[PageOwner]:
        """The record of a page frame, which may be in the middle of an allocation."""
        section = self.sections.find_section(pfn)
        if not section or not section.page_ext:
            return None
        data = read_memory(self.prog, section.page_ext + pfn * self.ext_size & (1 << 64) - 1,
                           self.ext_size)
        if data is None:
            notes_of(self.prog).add("page frames", "their records cannot be read")
            return None
        return self.decode(pfn, data)

    def iterate_allocations(self) -> Iterator[PageOwner]:
        """The records of all pages that begin an allocation."""
        both = self.has_owner | self.is_allocated
        # Both flags are in the first byte; others in it do not matter.
        interesting = bytes(value & both == both for value in range(256))
        low_byte = self.flags.offset("flags")
        if self.flags.order == "big":
            low_byte += self.word - 1
        for pfn, data in self._read_all_page_exts():
            column = data[low_byte::self.ext_size].translate(interesting)
            index = column.find(1)
            while index >= 0:
                owner = self.decode(pfn + index, data, index * self.ext_size)
                # The other pages of the allocation have copies.
                if owner and not owner.pfn & (1 << min(owner.order, 64)) - 1:
                    yield owner
                index = column.find(1, index + 1)

    def _read_all_page_exts(self) -> "Iterator[tuple[int, bytes]]":
        """Yield (page frame, bytes of page_exts) of all memory."""
        for first, end in self.geometry.ranges:
            for pfn in range(first, end, min(CHUNK, 1 << self.sections.shift)):
                section = self.sections.find_section(pfn)
                if section and section.page_ext:
                    yield from self._read_page_exts(
                        section, pfn, min(CHUNK, 1 << self.sections.shift, end - pfn))

    def _read_page_exts(self, section: Section, first: int,
                        count: int) -> "Iterator[tuple[int, bytes]]":
        """Yield (page frame, bytes of page_exts), without what cannot be read."""
        size = self.ext_size
        address = section.page_ext + first * size & (1 << 64) - 1
        data = read_memory(self.prog, address, count * size)
        if data is not None:
            yield first, data
            return
        part = 256
        for i in range(0, count, part):
            data = read_memory(self.prog, address + i * size, min(part, count - i) * size)
            if data is None:
                notes_of(self.prog).add("page frames", "their records cannot be read",
                                        min(part, count - i))
            else:
                yield first + i, data


def for_each_owned_page(prog: Program) -> Iterator[PageOwner]:
    """All allocations of pages that page_owner knows, by page frame.

    Raises FormatError if page_owner was off.
    """
    return cached(prog, PageReader).iterate_allocations()


def page_owner(prog: Program, pfn: int) -> Optional[PageOwner]:
    """The record of a page frame: of its owner, or of its last one. None if it had none.

    Raises FormatError if page_owner was off.
    """
    return cached(prog, PageReader).find_page(pfn)
