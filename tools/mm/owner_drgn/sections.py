# SPDX-License-Identifier: GPL-2.0
"""Sections of memory: with SPARSEMEM, struct mem_section describes a range of page frames."""

from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from drgn import Program, TypeKind

from .layout import Layout, enumerator
from .memory import byte_order, cached, notes_of, read_memory, read_variable, word_size

ROOTS_MAX = 1 << 20
ELF_NOTE_HEADER = 12


class Section(NamedTuple):
    """A range of page frames."""

    number: int
    page_ext: int               # address of the page_ext of page frame 0, were it there
    usage: int                  # address of its struct mem_section_usage


def _read_vmcoreinfo(prog: Program) -> Dict[str, str]:
    """Read the note of vmcoreinfo in the kernel's memory.

    After a panic, vmcoreinfo_data is the address of a copy in the memory of the crash
    kernel, which is not in the dump.
    """
    try:
        address = read_variable(prog, "vmcoreinfo_note")
    except LookupError:
        return {}
    data = read_memory(prog, address, ELF_NOTE_HEADER) or bytes(ELF_NOTE_HEADER)
    name_bytes, text_bytes = (int.from_bytes(data[i:i + 4], byte_order(prog)) for i in (0, 4))
    text = b""
    if name_bytes < 64 and text_bytes < 1 << 16:
        start = address + ELF_NOTE_HEADER + (name_bytes + 3 & ~3)
        text = read_memory(prog, start, text_bytes) or b""
    pairs = (line.partition("=") for line in text.decode(errors="replace").split("\n"))
    return {name: value for name, _, value in pairs}


def vmcoreinfo_number(prog: Program, key: str) -> Optional[int]:
    """A number from the kernel's vmcoreinfo, as "NUMBER(SECTION_SIZE_BITS)"."""
    try:
        return int(cached(prog, _read_vmcoreinfo)[key])
    except (KeyError, ValueError):
        return None


class Sections:
    """All sections that have memory, by number. Raises LookupError without SPARSEMEM."""

    def __init__(self, prog: Program) -> None:
        self.prog = prog
        self.word = word_size(prog)
        self.layout = Layout(prog, "struct mem_section", "section_mem_map", "usage")
        try:
            self.page_ext: Optional[Layout] = Layout(prog, "struct mem_section", "page_ext")
        except LookupError:
            # Without CONFIG_PAGE_EXTENSION
            self.page_ext = None
        # ed7802dd48f7 ("mm: memory_hotplug: enumerate all supported section flags") (in v6.1)
        self.present = 1 << enumerator(prog, "SECTION_MARKED_PRESENT_BIT", 0)
        page_size = prog["PAGE_SIZE"].value_()
        bits = vmcoreinfo_number(prog, "NUMBER(SECTION_SIZE_BITS)") or 0
        self.shift = bits - page_size.bit_length() + 1
        self.sections: Dict[int, Section] = {}
        if not 0 < self.shift < 40:
            notes_of(prog).add("vmcoreinfos", "they do not say how large a section of memory is")
            return
        for root, address in self._find_roots(page_size):
            self._read_root(root, address, page_size)

    def _find_roots(self, page_size: int) -> Iterator[Tuple[int, int]]:
        """Yield (number of the first section, address) of arrays of struct mem_section."""
        table = self.prog.variable("mem_section")
        if table.type_.kind != TypeKind.POINTER:
            for first in range(0, table.type_.length or 0, page_size // self.layout.size):
                yield first, (table.address_ or 0) + first * self.layout.size
            return
        # CONFIG_SPARSEMEM_EXTREME
        roots = min(vmcoreinfo_number(self.prog, "LENGTH(mem_section)") or 0, ROOTS_MAX)
        data = read_memory(self.prog, read_variable(self.prog, "mem_section"), roots * self.word)
        for i in range(0, len(data or b""), self.word):
            address = int.from_bytes((data or b"")[i:i + self.word], byte_order(self.prog))
            if address:
                yield i // self.word * (page_size // self.layout.size), address

    def _read_root(self, first: int, address: int, page_size: int) -> None:
        data = read_memory(self.prog, address, page_size)
        if data is None:
            notes_of(self.prog).add("sections of memory", "they cannot be read")
            return
        for i in range(page_size // self.layout.size):
            map_, usage = self.layout.unpack(data, i * self.layout.size)
            if map_ & self.present and usage:
                ext = self.page_ext.unpack(data, i * self.layout.size)[0] if self.page_ext else 0
                self.sections[first + i] = Section(first + i, ext, usage)

    def find_section(self, pfn: int) -> Optional[Section]:
        """The section of a page frame. None if there is no memory."""
        return self.sections.get(pfn >> max(self.shift, 0))


def _read_sections(prog: Program) -> Optional[Sections]:
    try:
        return Sections(prog)
    except LookupError:
        return None


def memory_sections(prog: Program) -> Optional[Sections]:
    """The sections of memory. None without SPARSEMEM."""
    return cached(prog, _read_sections)


def memory_ranges(prog: Program, max_pfn: int) -> List[Tuple[int, int]]:
    """Ranges of page frames, (first, end), that may have memory.

    @max_pfn is the kernel's variable. If it is not in the last section, it is damaged.
    """
    sections = memory_sections(prog)
    if not sections or not sections.sections:
        if sections:
            notes_of(prog).add("tables of memory sections", "no section is found in them")
        return [(0, max_pfn)]
    numbers = sorted(sections.sections)
    shift = sections.shift
    if max_pfn - 1 >> shift == numbers[-1]:
        return [(number << shift, min(number + 1 << shift, max_pfn)) for number in numbers]
    notes_of(prog).add("variables", "max_pfn does not agree with the sections of memory")
    return [(number << shift, number + 1 << shift) for number in numbers]
