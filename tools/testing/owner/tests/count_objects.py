# SPDX-License-Identifier: GPL-2.0
"""Count each cache's objects in a vmcore, without asking slab_owner.

Run by drgn. What is allocated is counted by drgn, which walks the freelists of
slabs and of CPUs; what is tracked is read from the records, of objects that are
allocated and of those that are not. Prints "cache allocated tracked stray".
"""

from typing import Any, Dict, List

from drgn import Object, cast
from drgn.helpers.linux.mm import page_to_virt, for_each_page
from drgn.helpers.linux.slab import for_each_slab_cache, slab_cache_for_each_allocated_object

prog: Any

OWNERS = 2


def slabs_by_cache() -> Dict[int, List[Object]]:
    """The slabs that have records, from the page frames, as drgn keeps no list."""
    slab_type = prog.constant("PGTY_slab").value_()
    slabs: Dict[int, List[Object]] = {}
    for page in for_each_page(prog):
        try:
            if page.page_type.value_() & 0xffffffff >> 24 != slab_type:
                continue
        except Exception:
            continue
        slab = cast("struct slab *", page)
        slabs.setdefault(slab.slab_cache.value_(), []).append(slab)
    return slabs


def main() -> None:
    slabs = slabs_by_cache()
    for cache in for_each_slab_cache(prog):
        allocated = {object.value_() for object in slab_cache_for_each_allocated_object(
            cache, "void")}
        tracked = stray = 0
        for slab in slabs.get(cache.value_(), []):
            exts = slab.obj_exts.value_()
            if not exts & OWNERS:
                continue
            owners = Object(prog, "struct slab_owners *", exts & ~3)
            start = page_to_virt(cast("struct page *", slab)).value_()
            first = start + cache.red_left_pad.value_()
            for index in range(slab.objects.value_()):
                if not owners.live[index].handles:
                    continue
                tracked += 1
                stray += first + index * cache.size.value_() not in allocated
        print(cache.name.string_().decode(), len(allocated), tracked, stray)


main()
