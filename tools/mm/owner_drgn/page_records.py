# SPDX-License-Identifier: GPL-2.0
"""Print records of pages as /sys/kernel/debug/page_owner does: see mm/owner/page/show.c."""

from typing import Dict, List, NamedTuple, Tuple

from drgn import FaultError, Object, Program

from .format import owner_format
from .geometry import TAIL, geometry
from .layout import Layout, enumerator, member_offset
from .memory import cached, notes_of, read_memory, read_number, read_string, read_variable
from .memory import word_size
from .pages import PageOwner, PageReader
from .records import chain_text
from .text import escape_name

FLAGS_MAX = 256
CGROUP_NAME_MAX = 79


class FlagField(NamedTuple):
    """A number within page->flags."""

    width: int
    shift: int
    mask: int
    base: int
    name: str


class PageNames:
    """The names that the kernel prints flags with, and the types of blocks of pages."""

    def __init__(self, prog: Program) -> None:
        self.prog = prog
        self.sections = cached(prog, PageReader).sections
        self.word = word_size(prog)
        self.gfp = self._read_flag_names("gfpflag_names")
        self.flags = self._read_flag_names("pageflag_names")
        self.fields = self._read_flag_fields()
        self.main_flags = (1 << prog.constant("__NR_PAGEFLAGS").value_()) - 1
        self.types = self._read_names("migratetype_names")
        self.reasons = self._read_names("migrate_reason_names")
        self.movable = prog.constant("___GFP_MOVABLE_BIT").value_()
        self.page = Layout(prog, "struct page", "flags", geometry(prog).head_member, "memcg_data")
        self.not_migrated = enumerator(prog, "MR_NEVER", -1)
        # The first bits of a block are its type; the bit behind them was renamed. Newer kernels
        # have a bit for MIGRATE_ISOLATE.
        skip = enumerator(prog, "PB_compact_skip", enumerator(prog, "PB_migrate_skip", 3))
        self.type_mask = (1 << skip) - 1
        self.isolated_mask = 1 << enumerator(prog, "PB_migrate_isolate", 63)
        self.isolated = enumerator(prog, "MIGRATE_ISOLATE", -1)
        self.block_bits = self._find_block_bits()
        self.block_flags = member_offset(prog, "struct mem_section_usage", "pageblock_flags")
        self.block_order = self._find_block_order()
        self.blocks: Dict[int, str] = {}

    def _read_name(self, address: int) -> str:
        name = read_string(self.prog, address, 64) if address else None
        return "?" if name is None else escape_name(name)

    def _read_flag_names(self, variable: str) -> List[Tuple[int, str]]:
        layout = Layout(self.prog, "struct trace_print_flags", "mask", "name")
        address = self.prog.variable(variable).address_ or 0
        names: List[Tuple[int, str]] = []
        while len(names) < FLAGS_MAX:
            data = read_memory(self.prog, address + len(names) * layout.size, layout.size)
            mask, name = layout.unpack(data) if data else (0, 0)
            if not name:
                break
            names.append((mask, self._read_name(name)))
        return names

    def _read_flag_fields(self) -> List[FlagField]:
        layout = Layout(self.prog, "struct page_flags_fields", "width", "shift", "mask", "spec",
                        "name")
        spec = Layout(self.prog, "struct printf_spec", "base")
        array = self.prog.variable("pff", "lib/vsprintf.c")
        fields = []
        for i in range(array.type_.length or 0):
            data = read_memory(self.prog, (array.address_ or 0) + i * layout.size, layout.size)
            width, shift, mask, spec_at, name = layout.unpack(data) if data else (0, 0, 0, 0, 0)
            data = read_memory(self.prog, spec_at, spec.size) if width > 0 else None
            if data:
                fields.append(FlagField(width, shift & 63, mask, spec.unpack(data)[0],
                                        self._read_name(name)))
        return fields

    def _read_names(self, variable: str) -> List[str]:
        array = self.prog.variable(variable)
        addresses = (read_number(self.prog, (array.address_ or 0) + i * self.word, self.word)
                     for i in range(array.type_.length or 0))
        return [self._read_name(address or 0) for address in addresses]

    def _find_block_bits(self) -> int:
        bits = enumerator(self.prog, "__NR_PAGEBLOCK_BITS", 0)
        if bits:
            # NR_PAGEBLOCK_BITS is a macro: the next power of two.
            return 1 << (bits - 1).bit_length()
        return int(self.prog.constant("NR_PAGEBLOCK_BITS").value_())

    def _find_block_order(self) -> int:
        order: int = getattr(owner_format(self.prog), "block_order", 0)
        try:
            return order or read_variable(self.prog, "pageblock_order")
        except LookupError:
            return geometry(self.prog).max_order

    def find_block_type(self, pfn: int) -> str:
        """The migrate type of the block that a page frame is in."""
        block = pfn >> self.block_order
        if block not in self.blocks:
            section = self.sections.find_section(pfn)
            bit = (block & (1 << self.sections.shift - self.block_order) - 1) * self.block_bits
            address = section.usage + self.block_flags + bit // 8 // self.word * self.word \
                if section else 0
            word = read_number(self.prog, address, self.word)
            self.blocks[block] = "?" if word is None else \
                self._name_block(word >> bit % (8 * self.word) & (1 << self.block_bits) - 1)
        return self.blocks[block]

    def _name_block(self, bits: int) -> str:
        return self.name_type(self.isolated if bits & self.isolated_mask else
                              bits & self.type_mask)

    def name_type(self, kind: int) -> str:
        """The name of a migrate type."""
        return self.types[kind] if 0 <= kind < len(self.types) else "?"


def format_flags(flags: int, names: List[Tuple[int, str]]) -> str:
    """Print flags by name, and what has no name as a number."""
    texts = []
    for mask, name in names:
        if flags and flags & mask == mask:
            texts.append(name)
            flags &= ~mask
    if flags:
        texts.append(f"{flags:#x}")
    return "|".join(texts)


def format_page_flags(flags: int, names: PageNames) -> str:
    """Print page->flags as %pGp does."""
    main = flags & names.main_flags
    texts = [format_flags(main, names.flags)] if main else []
    for field in names.fields:
        number = flags >> field.shift & field.mask
        texts.append(f"{field.name}={number:#x}" if field.base == 16 else f"{field.name}={number}")
    return f"{flags:#x}({'|'.join(texts)})"


def _name_kernfs_node(node: Object) -> bytes:
    if not node:
        return b"(null)"
    # Newer kernels mark the member as one that RCU protects.
    parent = "parent" if node.type_.type.has_member("parent") else "__parent"
    return node.name.string_() if node.member_(parent) else b"/"


def format_page_cgroup(prog: Program, memcg_data: int, is_tail: bool) -> str:
    """The line about the memory cgroup that a page is charged to; empty if it is to none.

    Tail pages have other numbers in that member.
    """
    try:
        slab = prog.constant("MEMCG_DATA_OBJEXTS").value_()
        kmem = prog.constant("MEMCG_DATA_KMEM").value_()
        online = prog.constant("CSS_ONLINE").value_()
        memcg = memcg_data & ~(prog.constant("__NR_MEMCG_DATA_FLAGS").value_() - 1)
        if memcg_data & slab:
            return "Slab cache page\n"
        if not memcg or is_tail:
            return ""
        # Where the root has an obj_cgroup, too, all charges are through one.
        if memcg_data & kmem or prog.type("struct obj_cgroup").has_member("is_root"):
            memcg = Object(prog, "struct obj_cgroup", address=memcg).memcg.value_()
            if not memcg:
                return ""
        css = Object(prog, "struct mem_cgroup", address=memcg).css
        name = escape_name(_name_kernfs_node(css.cgroup.kn)[:CGROUP_NAME_MAX])
        return (f"Charged {'(via objcg) ' if memcg_data & kmem else ''}to "
                f"{'' if css.flags.value_() & online else 'offline '}memcg {name}\n")
    except LookupError:
        # Without CONFIG_MEMCG
        return ""
    except FaultError:
        notes_of(prog).add("pages", "their memory cgroups cannot be read")
        return ""


def format_page_record(prog: Program, owner: PageOwner) -> str:
    """The record of an allocation of pages, with the blank line that ends it."""
    names = cached(prog, PageNames)
    geo = geometry(prog)
    data = read_memory(prog, geo.page_of_pfn(owner.pfn), geo.page_bytes)
    if data is None:
        notes_of(prog).add("pages", "their struct pages cannot be read")
    flags, head, memcg_data = names.page.unpack(data) if data else (0, 0, 0)
    # GFP_MOVABLE_MASK has two neighbouring bits.
    wanted = 0 if read_variable(prog, "page_group_by_mobility_disabled") else \
        owner.gfp >> names.movable & 3
    lines = (f"Page allocated via order {owner.order}, mask {owner.gfp:#x}"
             f"({format_flags(owner.gfp, names.gfp)}), pid {owner.pid}, tgid {owner.tgid} "
             f"({escape_name(owner.comm)}), ts {owner.ts} ns\n"
             f"PFN 0x{owner.pfn:x} type {names.name_type(wanted)} "
             f"Block {owner.pfn >> names.block_order} "
             f"type {names.find_block_type(owner.pfn)} Flags {format_page_flags(flags, names)}\n"
             + chain_text(prog, owner.stack))
    if owner.migrate_reason != names.not_migrated:
        reason = names.reasons[owner.migrate_reason] \
            if 0 <= owner.migrate_reason < len(names.reasons) else "?"
        lines += f"Page has been migrated, last migrate reason: {reason}\n"
    return lines + format_page_cgroup(prog, memcg_data, bool(head & TAIL)) + "\n"
