# SPDX-License-Identifier: GPL-2.0
"""Slab caches."""

from typing import Any, Dict, NamedTuple, Optional

from drgn import Program

from .layout import Layout
from .memory import cached, notes_of, read_memory, read_string, walk_list
from .text import escape_name


class SlabCache(NamedTuple):
    """A struct kmem_cache."""

    address: int
    name: str
    size: int                   # bytes from one object to the next
    object_size: int
    offset: int                 # of the pointer to the next free object in a free object
    red_left_pad: int
    random: Optional[int]       # with CONFIG_SLAB_FREELIST_HARDENED
    objects: int                # in a slab of the usual order; 0 if unknown


class CacheReader:
    """Decodes caches."""

    def __init__(self, prog: Program) -> None:
        self.prog = prog
        self.layout = Layout(prog, "struct kmem_cache", "name", "size", "object_size", "offset",
                             "red_left_pad")
        self.random = self._optional_layout("random")
        type_ = prog.type("struct kmem_cache")
        self.list = type_.member("list").bit_offset // 8
        # The last member is an array, which the kernel allocates as long as there are nodes. A
        # page that is not mapped can follow, as in KFENCE's pool.
        self.used_bytes = (type_.members or ())[-1].bit_offset // 8

    def _optional_layout(self, name: str) -> Optional[Layout]:
        try:
            return Layout(self.prog, "struct kmem_cache", name)
        except LookupError:
            return None

    def read_cache(self, address: int) -> Optional[SlabCache]:
        """Read the cache at @address. None if that cannot be one."""
        data = read_memory(self.prog, address, self.used_bytes)
        if data is None:
            return None
        data = data.ljust(self.layout.size, b"\0")
        name_address, size, object_size, offset, red_left_pad = self.layout.unpack(data)
        name = read_string(self.prog, name_address, 128)
        if name is None or not 0 < object_size <= size or size > 1 << 24 or offset >= size:
            return None
        random = self.random.unpack(data)[0] if self.random else None
        return SlabCache(address, escape_name(name), size, object_size, offset, red_left_pad,
                         random, 0)

    def read_caches(self) -> Dict[int, SlabCache]:
        """All caches on slab_caches, by address."""
        caches: Dict[int, SlabCache] = {}
        head: Any = self.prog.variable("slab_caches").address_
        for node in walk_list(self.prog, head, "slab caches", 1 << 16):
            cache = self.read_cache(node - self.list)
            if cache:
                caches[cache.address] = cache
            else:
                notes_of(self.prog).add("slab caches", "they cannot be read")
        return caches


def _read_caches(prog: Program) -> Dict[int, SlabCache]:
    return CacheReader(prog).read_caches()


def slab_caches(prog: Program) -> Dict[int, SlabCache]:
    """All slab caches by the address of their struct kmem_cache, in the kernel's order."""
    return cached(prog, _read_caches)
