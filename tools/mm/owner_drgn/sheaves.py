# SPDX-License-Identifier: GPL-2.0
"""Sheaves: arrays of pointers to free objects, which each CPU and node keeps.

Kernels that have them have no freelists of CPUs. A slab counts objects in sheaves as used.
"""

from bisect import bisect_left
from typing import Dict, Iterator, List, NamedTuple

from drgn import Program

from .caches import slab_caches
from .cpus import percpu_offsets
from .format import FormatError
from .layout import Layout, member_offset
from .memory import (byte_order, cached, notes_of, read_memory, read_number, read_variable,
                     walk_list, word_size)
from .slabs import Slab

# Members of struct slub_percpu_sheaves. Objects in the last one wait for RCU: they are in use.
CPU_SHEAVES = ("main", "spare", "rcu_free")
RCU_SHEAF = 2
BARN_LISTS = ("sheaves_full", "sheaves_empty")


class Sheaves(NamedTuple):
    """All sheaves."""

    free: List[int]             # addresses of the free objects in them, sorted
    used_bytes: Dict[int, int]  # by address of the sheaf: stale pointers are behind these

    def find_objects_of(self, slab: Slab) -> List[int]:
        """The addresses of the slab's objects that are in sheaves."""
        end = slab.address + slab.objects * slab.cache.size
        return self.free[bisect_left(self.free, slab.address):bisect_left(self.free, end)]


class SheafReader:
    """Finds the sheaves of caches."""

    def __init__(self, prog: Program) -> None:
        """Raises LookupError if this kernel has other sheaves."""
        self.prog = prog
        self.word = word_size(prog)
        self.cache = Layout(prog, "struct kmem_cache", "cpu_sheaves", "sheaf_capacity")
        self.cpu = Layout(prog, "struct slub_percpu_sheaves", *CPU_SHEAVES)
        self.size = Layout(prog, "struct slab_sheaf", "size")
        self.objects = member_offset(prog, "struct slab_sheaf", "objects")
        self.link = member_offset(prog, "struct slab_sheaf", "barn_list")
        self.lists = [member_offset(prog, "struct node_barn", name) for name in BARN_LISTS]
        nodes = prog.type("struct kmem_cache").member("per_node")
        self.nodes = nodes.bit_offset // 8
        self.node = Layout(prog, "struct kmem_cache_per_node_ptrs", "barn")
        self.node_count: int = nodes.type.length or 0
        if self.node_count > 1:
            self.node_count = min(self.node_count, read_variable(prog, "nr_node_ids"))
        self.free: List[int] = []
        self.used_bytes: Dict[int, int] = {}

    def read_sheaves(self) -> Sheaves:
        """Read the sheaves of all caches."""
        for address in slab_caches(self.prog):
            data = read_memory(self.prog, address, self.nodes) or b""
            sheaves, capacity = self.cache.unpack(data.ljust(self.cache.size, b"\0"))
            # Without capacity, all CPUs have one empty sheaf, which is a variable.
            if capacity:
                self._read_cpus(sheaves, capacity)
                self._read_barns(address, capacity)
        self.free.sort()
        return Sheaves(self.free, self.used_bytes)

    def _read_cpus(self, area: int, capacity: int) -> None:
        for offset in percpu_offsets(self.prog).values():
            data = read_memory(self.prog, area + offset & (1 << 8 * self.word) - 1, self.cpu.size)
            if data is None:
                notes_of(self.prog).add("CPUs", "their sheaves cannot be found")
                continue
            for i, sheaf in enumerate(self.cpu.unpack(data)):
                if sheaf:
                    self._read_sheaf(sheaf, capacity, i != RCU_SHEAF)

    def _read_barns(self, cache: int, capacity: int) -> None:
        for barn in self._find_barns(cache):
            for offset in self.lists:
                for node in walk_list(self.prog, barn + offset, "sheaves", 1 << 16):
                    self._read_sheaf(node - self.link, capacity, True)

    def _find_barns(self, cache: int) -> Iterator[int]:
        for i in range(self.node_count):
            data = read_memory(self.prog, cache + self.nodes + i * self.node.size, self.node.size)
            if data is None:
                notes_of(self.prog).add("nodes", "their sheaves cannot be found")
            elif self.node.unpack(data)[0]:
                yield self.node.unpack(data)[0]

    def _read_sheaf(self, sheaf: int, capacity: int, is_free: bool) -> None:
        """Take the objects of one sheaf."""
        size = read_number(self.prog, sheaf + self.size.offset("size"), 4)
        data = read_memory(self.prog, sheaf + self.objects, (size or 0) * self.word) \
            if size is not None and size <= capacity else None
        if data is None:
            notes_of(self.prog).add("sheaves", "they are damaged, and more objects may be free")
            return
        self.used_bytes[sheaf] = self.objects + len(data)
        if is_free:
            self.free += (int.from_bytes(data[i:i + self.word], byte_order(self.prog))
                          for i in range(0, len(data), self.word))


def _read_sheaves(prog: Program) -> Sheaves:
    # Before 32c894c7274b (in v7.0) CPUs have freelists.
    if not prog.type("struct kmem_cache").has_member("cpu_sheaves"):
        return Sheaves([], {})
    try:
        reader = SheafReader(prog)
    except LookupError as error:
        raise FormatError(f"the sheaves of this kernel are not known: {error}") from None
    return reader.read_sheaves()


def all_sheaves(prog: Program) -> Sheaves:
    """All sheaves; none in a kernel whose CPUs have freelists."""
    return cached(prog, _read_sheaves)
