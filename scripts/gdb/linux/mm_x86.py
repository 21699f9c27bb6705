# SPDX-License-Identifier: GPL-2.0
#
# Convert pages, page frames and addresses on x86_64, for mm.py's commands.

import gdb
from linux import constants, utils

SECTION_SIZE_BITS = 27
# Bits of a physical address, with 4-level and with 5-level paging.
PHYSMEM_BITS = 46
PHYSMEM_BITS_5LEVEL = 52
MAX_PAGE_ORDER = 10
# Default addresses without KASLR, for 4-level paging.
PAGE_OFFSET = 0xffff888000000000
VMEMMAP = 0xffffea0000000000
KERNEL_MAP = 0xffffffff80000000


class x86_64_page_ops():
    """The operations of aarch64_page_ops that mm.py's commands use."""

    def __init__(self):
        self.PAGE_SHIFT = 12
        self.PAGE_SIZE = 1 << self.PAGE_SHIFT
        self.MAX_ORDER_NR_PAGES = 1 << MAX_PAGE_ORDER
        self.PFN_SECTION_SHIFT = SECTION_SIZE_BITS - self.PAGE_SHIFT
        self.PAGES_PER_SECTION = 1 << self.PFN_SECTION_SHIFT
        # Validity of page frames is kept for each subsection of 2 MiB.
        self.PAGES_PER_SUBSECTION = 1 << (21 - self.PAGE_SHIFT)
        self.SECTION_HAS_MEM_MAP = 1 << int(gdb.parse_and_eval('SECTION_HAS_MEM_MAP_BIT'))
        self.SECTION_IS_EARLY = 1 << int(gdb.parse_and_eval('SECTION_IS_EARLY_BIT'))
        self.SECTIONS_PER_ROOT = 1
        if constants.LX_CONFIG_SPARSEMEM_EXTREME:
            self.SECTIONS_PER_ROOT = self.PAGE_SIZE // gdb.lookup_type("struct mem_section").sizeof
        bits = PHYSMEM_BITS
        if self.read_variable('__pgtable_l5_enabled', 0) & 1:
            bits = PHYSMEM_BITS_5LEVEL
        self.NR_SECTION_ROOTS = (1 << (bits - SECTION_SIZE_BITS)) // self.SECTIONS_PER_ROOT
        self.PAGE_OFFSET = self.read_variable('page_offset_base', PAGE_OFFSET)
        self.phys_base = self.read_variable('phys_base', 0)
        start = gdb.Value(self.read_variable('vmemmap_base', VMEMMAP))
        self.vmemmap = start.cast(utils.get_page_type().pointer())

    def read_variable(self, variable, default):
        value = utils.gdb_eval_or_none(variable)
        return default if value is None else int(value) & ((1 << 64) - 1)

    # --- Sections ---

    def section_index(self, pfn):
        # int(): a sum of a number and a gdb.Value is a gdb.Value.
        return divmod(int(pfn) >> self.PFN_SECTION_SHIFT, self.SECTIONS_PER_ROOT)

    def pfn_to_section(self, pfn):
        root, index = self.section_index(pfn)
        return gdb.parse_and_eval('mem_section')[root][index]

    def pfn_valid(self, pfn):
        root, index = self.section_index(pfn)
        if not 0 <= root < self.NR_SECTION_ROOTS:
            return False
        sections = gdb.parse_and_eval('mem_section')
        if constants.LX_CONFIG_SPARSEMEM_EXTREME:
            if int(sections) == 0 or int(sections[root]) == 0:
                return False
        section = sections[root][index]
        if not int(section['section_mem_map']) & self.SECTION_HAS_MEM_MAP:
            return False
        if int(section['section_mem_map']) & self.SECTION_IS_EARLY:
            return True
        subsection = (int(pfn) % self.PAGES_PER_SECTION) // self.PAGES_PER_SUBSECTION
        word = int(section['usage']['subsection_map'][subsection // 64])
        return bool(word >> subsection % 64 & 1)

    # --- Pages ---

    def pfn_to_page(self, pfn):
        return self.vmemmap + pfn

    def page_to_pfn(self, page):
        return int(page.cast(utils.get_page_type().pointer()) - self.vmemmap)

    def page_to_phys(self, page):
        return self.page_to_pfn(page) << self.PAGE_SHIFT

    def page_to_virt(self, page):
        return self.PAGE_OFFSET + self.page_to_phys(page)

    page_address = page_to_virt

    def folio_address(self, folio):
        return self.page_address(folio['page'].address)

    # --- Addresses ---

    def virt_to_phys(self, va):
        va = int(va) & ((1 << 64) - 1)
        if va >= KERNEL_MAP:
            return va - KERNEL_MAP + self.phys_base
        return va - self.PAGE_OFFSET

    def virt_to_pfn(self, va):
        return self.virt_to_phys(va) >> self.PAGE_SHIFT

    sym_to_pfn = virt_to_pfn

    def virt_to_page(self, va):
        return self.pfn_to_page(self.virt_to_pfn(va))

    def pfn_to_kaddr(self, pfn):
        return self.PAGE_OFFSET + (pfn << self.PAGE_SHIFT)
