# SPDX-License-Identifier: GPL-2.0
"""Page frames in which the kernel keeps pointers.

The kernel's data, per-CPU areas, modules, vmalloc() areas, tables that are allocated at
boot, struct pages: all of these are in page frames that are neither free nor of a slab,
nor of the page cache, nor of a process. The direct map leads to them.
"""

from typing import Iterator, List, Tuple

from drgn import FaultError, Program, sizeof
from drgn.helpers.linux.nodemask import for_each_online_node

from .cpus import percpu_offsets
from .depot import Depot
from .geometry import TAIL, geometry, read_struct_pages
from .layout import Layout, enumerator, member_offset
from .memory import cached, notes_of, read_number, read_variable, walk_list, word_size

NO_TYPE = 0xf0      # a lower byte at the top of page.page_type is a count, not a type
TYPES_END = 0xff
PCP_TYPES = 3       # MIGRATE_PCPTYPES: lists of a CPU's free pages for each order
PCP_ORDERS = 4      # up to PAGE_ALLOC_COSTLY_ORDER; the lists after these have huge pages
HUGE_ORDER = 9
RCU_PAGES_MAX = 1 << 10

# From an address up to another.
Range = Tuple[int, int]


class FrameMap:
    """A byte for each page frame: 1 if the kernel may keep pointers in it."""

    def __init__(self, prog: Program) -> None:
        self.prog = prog
        self.geometry = geometry(prog)
        self.scanned = bytearray(self.geometry.max_pfn)
        self.buddy: int = prog.constant("PGTY_buddy").value_()
        # In older kernels these pages have no type.
        self.large_kmalloc = enumerator(prog, "PGTY_large_kmalloc", TYPES_END)
        self._classify_frames()
        self._clear_cpu_lists()
        self._clear_rcu_caches()
        self._clear_depot()
        self._clear_kmemleak()
        self._clear_crash_kernel()

    def _classify_frames(self) -> None:
        scanned, end_of_free = self.scanned, 0
        page = Layout(self.prog, "struct page", "flags", self.geometry.head_member, "mapping",
                      "private", "page_type")
        for first, data in read_struct_pages(self.prog):
            for pfn, (_, head, mapping, order, kind) in enumerate(page.iterate(data), first):
                kind >>= 24
                if pfn < end_of_free:
                    continue
                if head & TAIL:
                    scanned[pfn] = pfn > 0 and scanned[pfn - 1]
                elif kind == self.buddy:
                    end_of_free = pfn + (1 << min(order, self.geometry.max_order))
                # Pages of other types are slabs, which are searched by object, or have no pointers.
                elif not mapping and (kind == self.large_kmalloc or
                                      not NO_TYPE <= kind < TYPES_END):
                    scanned[pfn] = 1

    def clear_frames(self, pfn: int, count: int) -> None:
        """Do not scan these page frames."""
        pfn, end = max(pfn, 0), min(pfn + count, len(self.scanned))
        if pfn < end:
            self.scanned[pfn:end] = bytes(end - pfn)

    def clear_range(self, start: int, end: int) -> None:
        """Do not scan the page frames of a range of the direct map."""
        geo = self.geometry
        if geo.direct_map <= start < end:
            self.clear_frames(start - geo.direct_map >> geo.page_shift,
                              -(-(end - start) >> geo.page_shift))

    def _clear_cpu_lists(self) -> None:
        """Free pages on the lists of CPUs look like allocated ones."""
        try:
            for address in self._list_zones():
                self._clear_zone(address)
        except Exception as error:  # pylint: disable=broad-except
            # drgn raises Exception itself where it has no better type.
            notes_of(self.prog).add("nodes", f"free pages of CPUs cannot be found: {error}")

    def _list_zones(self) -> Iterator[int]:
        zones = member_offset(self.prog, "struct pglist_data", "node_zones")
        type_ = self.prog.type("struct pglist_data").member("node_zones").type
        for node in for_each_online_node(self.prog):
            try:
                data = self.prog["node_data"][node].value_()
            except KeyError:
                data = self.prog["contig_page_data"].address_
            for zone in range(type_.length or 0):
                yield data + zones + zone * (type_.type.size or 0)

    def _clear_zone(self, zone: int) -> None:
        prog, word = self.prog, word_size(self.prog)
        area = read_number(prog, zone + member_offset(prog, "struct zone", "per_cpu_pageset"), word)
        lists = member_offset(prog, "struct per_cpu_pages", "lists")
        number = prog.type("struct per_cpu_pages").member("lists").type.length or 0
        link = member_offset(prog, "struct page", "pcp_list")
        for offset in percpu_offsets(prog).values() if area else ():
            for index in range(number):
                order = index // PCP_TYPES if index < PCP_TYPES * PCP_ORDERS else HUGE_ORDER
                head = (area or 0) + offset + lists + index * 2 * word & (1 << 8 * word) - 1
                for node in walk_list(prog, head, "free pages of a CPU"):
                    pfn = self.geometry.pfn_of_page(node - link)
                    if pfn is not None:
                        self.clear_frames(pfn, 1 << order)

    def _clear_rcu_caches(self) -> None:
        """Each CPU keeps some pages for kfree_rcu(), with the words of their previous use."""
        try:
            cache = self.prog.variable("krc").address_ or 0
            first = member_offset(self.prog, "struct kfree_rcu_cpu", "bkvcache")
        except LookupError:
            return
        word = word_size(self.prog)
        for offset in percpu_offsets(self.prog).values():
            page = read_number(self.prog, cache + offset + first & (1 << 8 * word) - 1, word)
            for _ in range(RCU_PAGES_MAX):
                pfn = self.geometry.pfn_of_virt(page or 0)
                if pfn is None:
                    break
                self.clear_frames(pfn, 1)
                page = read_number(self.prog, page or 0, word)

    def _clear_depot(self) -> None:
        """The depot has addresses of text, and points to no object."""
        depot = cached(self.prog, Depot)
        pools = list(depot.pools)
        try:
            # The spare pool still has the words of its previous use.
            pools.append(read_variable(self.prog, "spare_pool"))
        except LookupError:
            pass
        for pool in pools:
            self.clear_range(pool, pool + depot.format.pool_bytes)

    def _clear_kmemleak(self) -> None:
        """kmemleak keeps the address of each object, at first in an array of the kernel's image."""
        try:
            pool = self.prog.variable("mem_pool", "kmemleak.c")
            start = self.prog["code_resource"].start.value_() - \
                self.prog.symbol("_text").address + (pool.address_ or 0)
        except (FaultError, LookupError):
            return
        size, shift = self.geometry.page_size, self.geometry.page_shift
        # Pages at either end have other variables, too.
        first, end = start + size - 1 >> shift, start + sizeof(pool) >> shift
        self.clear_frames(first, end - first)

    def _clear_crash_kernel(self) -> None:
        """Another kernel is in the memory that crashkernel= reserves."""
        shift = self.geometry.page_shift
        for name in ("crashk_res", "crashk_low_res"):
            try:
                resource = self.prog[name]
                start, end = resource.start.value_(), resource.end.value_()
            except (FaultError, LookupError):
                continue
            if end:
                self.clear_frames(start >> shift, (end >> shift) - (start >> shift) + 1)

    def list_ranges(self) -> Iterator[Range]:
        """The addresses of the page frames that are to be scanned, in the direct map."""
        geo = self.geometry
        for first, last in geo.ranges:
            start = self.scanned.find(1, first, last)
            while start >= 0:
                end = self.scanned.find(0, start, last)
                end = last if end < 0 else end
                yield geo.virt_of_pfn(start), geo.virt_of_pfn(end)
                start = self.scanned.find(1, end, last)


def subtract_ranges(ranges: Iterator[Range], holes: List[Range]) -> Iterator[Range]:
    """The parts of sorted ranges that are in none of the holes."""
    holes = sorted(holes)
    index = 0
    for start, end in ranges:
        while index < len(holes) and holes[index][1] <= start:
            index += 1
        at = index
        while at < len(holes) and holes[at][0] < end:
            if start < holes[at][0]:
                yield start, holes[at][0]
            start = max(start, holes[at][1])
            at += 1
        if start < end:
            yield start, end
