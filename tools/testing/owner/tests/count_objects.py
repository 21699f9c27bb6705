# SPDX-License-Identifier: GPL-2.0
"""Count each cache's objects in a vmcore, without asking slab_owner.

Run by drgn. An object is allocated if it is on no freelist, neither its slab's nor a CPU's, and
in no sheaf, which newer kernels have in place of the latter. It is tracked if its record has an
owner. Prints "cache allocated tracked stray sheaves"; a stray object has an owner and is free,
and sheaves are the allocated objects that are sheaves themselves.

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
TAIL = 1  # in the word of a struct page that leads to the head of a tail page


def find_all_slabs() -> Iterator[Object]:
    """All slabs. Full slabs are on no list, so look at each page frame."""
    new = "compound_info"
    head = new if prog.type("struct page").has_member(new) else "compound_head"
    for page in for_each_page(prog):
        try:
            if page.page_type.value_() >> 24 & 0xff != SLAB_TYPE:
                continue
            if page.member_(head).value_() & TAIL:
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


def list_cpu_objects(cache: Object) -> Iterator[int]:
    """The free objects on the freelists of CPUs."""
    for cpu in for_each_possible_cpu(prog):
        yield from walk_freelist(cache, per_cpu_ptr(cache.cpu_slab, cpu).freelist.value_())


def list_sheaves(cache: Object) -> Iterator[Tuple[Object, bool]]:
    """All sheaves, and whether their objects are free. Those in rcu_free wait for RCU."""
    for cpu in for_each_possible_cpu(prog) if hasattr(cache, "cpu_sheaves") else ():
        sheaves = per_cpu_ptr(cache.cpu_sheaves, cpu)
        for name in ("main", "spare", "rcu_free"):
            yield sheaves.member_(name), name != "rcu_free"
    for node in range(prog["nr_node_ids"]) if hasattr(cache, "per_node") else ():
        barn = cache.per_node[node].barn
        for head in (barn.sheaves_full, barn.sheaves_empty) if barn else ():
            for sheaf in list_for_each_entry("struct slab_sheaf", head.address_of_(), "barn_list"):
                yield sheaf, True


def find_hidden_objects(cache: Object) -> Set[int]:
    """The free objects that their slabs count as used."""
    if hasattr(cache, "cpu_slab"):
        return set(list_cpu_objects(cache))
    return {sheaf.objects[i].value_() for sheaf, is_free in list_sheaves(cache) if sheaf and is_free
            for i in range(sheaf.size)}


def count_slab_objects(cache: Object, slab: Object, hidden: Set[int],
                       sheaves: Set[int]) -> Tuple[int, int, int, int]:
    first = page_to_virt(cast("struct page *", slab)).value_() + cache.red_left_pad.value_()
    objects = slab.objects.value_()
    slots = range(first, first + objects * cache.size.value_(), cache.size.value_())
    free = set(walk_freelist(cache, slab.freelist.value_())) | hidden.intersection(slots)
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
    return objects - len(free), tracked, stray, len(sheaves.intersection(slots))


def main() -> None:
    slabs: Dict[int, List[Object]] = {}
    for slab in find_all_slabs():
        slabs.setdefault(slab.slab_cache.value_(), []).append(slab)
    caches = list(list_for_each_entry("struct kmem_cache", prog["slab_caches"].address_of_(),
                                      "list"))
    sheaves = {sheaf.value_() for cache in caches for sheaf, _ in list_sheaves(cache)}
    for cache in caches:
        hidden = find_hidden_objects(cache)
        counts = [count_slab_objects(cache, slab, hidden, sheaves)
                  for slab in slabs.get(cache.value_(), [])]
        print(cache.name.string_().decode(), *map(sum, zip(*counts) if counts else 4 * ((),)))


main()
