# SPDX-License-Identifier: GPL-2.0
"""Count each cache's objects in a vmcore, without asking slab_owner.

Run by drgn. An object is allocated if it is on no freelist, neither its slab's nor a
CPU's. It is tracked if its record has an owner. Prints "cache allocated tracked stray";
a stray object has an owner and is free.

drgn 0.0.22 has helpers for slabs, but does not recognise slab pages of Linux 6.10 and
later (46df8e73a4a3, "mm: free up PG_slab").
"""

from typing import Any, Dict, Iterator, List, Set, Tuple

from drgn import FaultError, Object, cast, sizeof
from drgn.helpers.linux.cpumask import for_each_possible_cpu
from drgn.helpers.linux.list import list_for_each_entry
from drgn.helpers.linux.mm import for_each_page, page_to_virt
from drgn.helpers.linux.percpu import per_cpu_ptr

prog: Any

OWNERS = 2  # OBJEXTS_OWNER_RECORDS, in slab->obj_exts
FLAGS = 15  # all flags in slab->obj_exts
SLAB_TYPE = 0xf5  # PGTY_slab, in the upper byte of page->page_type
TAIL = 1  # in page->compound_head


def find_all_slabs() -> Iterator[Object]:
    """All slabs. Full slabs are on no list, so look at each page frame."""
    for page in for_each_page(prog):
        try:
            if page.page_type.value_() >> 24 & 0xff != SLAB_TYPE:
                continue
            if page.compound_head.value_() & TAIL:
                continue
        except FaultError:
            continue
        yield cast("struct slab *", page)


def walk_freelist(cache: Object, first: int) -> Iterator[int]:
    """The addresses of the objects on a freelist."""
    address = first
    while address:
        yield address
        place = address + cache.offset.value_()
        address = prog.read_word(place)
        if hasattr(cache, "random"):
            swapped = int.from_bytes(place.to_bytes(8, "little"), "big")
            address ^= cache.random.value_() ^ swapped


def find_free_objects(cache: Object, slab: Object, by_cpu: Dict[int, int]) -> Set[int]:
    free = set(walk_freelist(cache, slab.freelist.value_()))
    free.update(walk_freelist(cache, by_cpu.get(slab.value_(), 0)))
    return free


def count_slab_objects(cache: Object, slab: Object, by_cpu: Dict[int, int]) -> Tuple[int, int, int]:
    free = find_free_objects(cache, slab, by_cpu)
    first = page_to_virt(cast("struct page *", slab)).value_() + cache.red_left_pad.value_()
    objects = slab.objects.value_()
    exts = slab.obj_exts.value_()
    tracked = stray = 0
    if exts & OWNERS:
        owners = Object(prog, "struct owner_slab_records", address=exts & ~FLAGS)
        record = prog.type("struct owner_record")
        live = prog.read(owners.record.address_, objects * sizeof(record))
        for index in range(objects):
            # The chain's and the task's handle are the first eight bytes of a record.
            if any(live[index * sizeof(record):][:8]):
                tracked += 1
                stray += first + index * cache.size.value_() in free
    return objects - len(free), tracked, stray


def main() -> None:
    slabs: Dict[int, List[Object]] = {}
    for slab in find_all_slabs():
        slabs.setdefault(slab.slab_cache.value_(), []).append(slab)
    for cache in list_for_each_entry("struct kmem_cache", prog["slab_caches"].address_of_(),
                                     "list"):
        cpus = [per_cpu_ptr(cache.cpu_slab, cpu) for cpu in for_each_possible_cpu(prog)]
        by_cpu = {cpu.slab.value_(): cpu.freelist.value_() for cpu in cpus}
        counts = [count_slab_objects(cache, slab, by_cpu) for slab in slabs.get(cache.value_(), [])]
        print(cache.name.string_().decode(), *map(sum, zip(*counts) if counts else ((), (), ())))


main()
