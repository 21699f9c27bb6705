# SPDX-License-Identifier: GPL-2.0
"""Per-CPU areas that have an owner: see mm/owner/slab/percpu.c."""

from typing import Iterator, Optional

from drgn import Program

from .layout import Layout, member_offset
from .memory import (cached, notes_of, read_memory, read_number, read_variable, walk_list,
                     word_size)
from .slabs import OwnedObject, SlabReader

AREAS_MAX = 1 << 20
BITS_MAX = 20


class AreaReader:
    """Decodes struct owner_percpu_record."""

    def __init__(self, prog: Program) -> None:
        self.prog = prog
        self.slabs = cached(prog, SlabReader)
        name = "struct owner_percpu_record"
        self.area = Layout(prog, name, "area", "size")
        self.node = member_offset(prog, name, "node")
        self.owner = member_offset(prog, name, "owner")

    def read_area(self, node: int) -> Optional[OwnedObject]:
        """The area whose record has its list_head at @node. None if it has no owner."""
        data = read_memory(self.prog, node - self.node, self.area.size)
        if data is None:
            notes_of(self.prog).add("per-CPU areas", "their records cannot be read")
            return None
        address, size = self.area.unpack(data)
        owner = self.slabs.decode_record(self.slabs.record.unpack(data, self.owner))
        if not owner:
            return None
        return OwnedObject("percpu", address, size, size, "percpu", 0, 0, owner)


def for_each_owned_percpu_area(prog: Program) -> Iterator[OwnedObject]:
    """All per-CPU areas that have an owner, in the order of the file slab_owner."""
    table = read_variable(prog, "owner_percpu_table")
    bits = read_variable(prog, "owner_percpu_bits")
    if bits > BITS_MAX:
        notes_of(prog).add("tables of per-CPU areas", f"owner_percpu_bits is {bits}")
        return
    buckets = 1 << bits
    step = 2 * word_size(prog)
    reader = cached(prog, AreaReader)
    for bucket in range(table, table + buckets * step, step) if table else ():
        # Most buckets are empty.
        if read_number(prog, bucket, word_size(prog)) == bucket:
            continue
        for node in walk_list(prog, bucket, "per-CPU areas", AREAS_MAX):
            area = reader.read_area(node)
            if area:
                yield area
