# SPDX-License-Identifier: GPL-2.0
#
# Pages, page frames and addresses on x86_64, for mm.py's commands.

import gdb
from linux import constants, utils

SECTION_SIZE_BITS = 27
MAX_PAGE_ORDER = 10
# Where these are if the kernel does not choose (4-level paging).
PAGE_OFFSET = 0xffff888000000000
VMEMMAP = 0xffffea0000000000
KERNEL_MAP = 0xffffffff80000000


class x86_64_page_ops():
    """What aarch64_page_ops offers, as far as commands ask for it."""

    def __init__(self):
        self.PAGE_SHIFT = 12
        self.PAGE_SIZE = 1 << self.PAGE_SHIFT
        self.MAX_ORDER_NR_PAGES = 1 << MAX_PAGE_ORDER
        self.PFN_SECTION_SHIFT = SECTION_SIZE_BITS - self.PAGE_SHIFT
        self.PAGES_PER_SECTION = 1 << self.PFN_SECTION_SHIFT
        # A part of a section, that may have memory of its own.
        self.PAGES_PER_SUBSECTION = 1 << (21 - self.PAGE_SHIFT)
        self.SECTION_HAS_MEM_MAP = 1 << int(gdb.parse_and_eval('SECTION_HAS_MEM_MAP_BIT'))
        self.SECTION_IS_EARLY = 1 << int(gdb.parse_and_eval('SECTION_IS_EARLY_BIT'))
        self.sections_per_root = 1
        if constants.LX_CONFIG_SPARSEMEM_EXTREME:
            self.sections_per_root = self.PAGE_SIZE // gdb.lookup_type("struct mem_section").sizeof
        self.PAGE_OFFSET = self.chosen('page_offset_base', PAGE_OFFSET)
        self.phys_base = self.chosen('phys_base', 0)
        start = gdb.Value(self.chosen('vmemmap_base', VMEMMAP))
        self.vmemmap = start.cast(utils.get_page_type().pointer())

    def chosen(self, variable, otherwise):
        value = utils.gdb_eval_or_none(variable)
        return otherwise if value is None else int(value) & ((1 << 64) - 1)

    # --- Sections ---

    def place_of_section(self, pfn):
        # Who adds what gdb has read to a number gets a gdb.Value.
        return divmod(int(pfn) >> self.PFN_SECTION_SHIFT, self.sections_per_root)

    def pfn_to_section(self, pfn):
        root, index = self.place_of_section(pfn)
        return gdb.parse_and_eval('mem_section')[root][index]

    def pfn_valid(self, pfn):
        root, index = self.place_of_section(pfn)
        sections = gdb.parse_and_eval('mem_section')
        if constants.LX_CONFIG_SPARSEMEM_EXTREME:
            if int(sections) == 0 or int(sections[root]) == 0:
                return False
        section = sections[root][index]
        if not int(section['section_mem_map']) & self.SECTION_HAS_MEM_MAP:
            return False
        if int(section['section_mem_map']) & self.SECTION_IS_EARLY:
            return True
        part = (int(pfn) % self.PAGES_PER_SECTION) // self.PAGES_PER_SUBSECTION
        return bool(int(section['usage']['subsection_map'][part // 64]) >> part % 64 & 1)

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
