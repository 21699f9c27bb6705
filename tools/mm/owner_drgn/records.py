# SPDX-License-Identifier: GPL-2.0
"""Print records in the grammar of /sys/kernel/debug/slab_owner: see mm/owner/slab/show.c.

An object's address is printed as it is, not hashed.
"""

from typing import Dict, Iterable, Iterator, Tuple

from drgn import Program

from .clock import owner_clock, owner_sample_weight
from .depot import owner_task, stack_depot_frames
from .kallsyms import symbol_name
from .memory import cached, notes_of
from .slabs import OwnedObject
from .text import escape_name
from .user import owner_user_frames

KINDS = {"slab": "Slab object", "percpu": "Per-CPU area"}


def _make_texts(_prog: Program) -> Tuple[Dict[int, str], Dict[int, str]]:
    return {}, {}


def chain_text(prog: Program, handle: int) -> str:
    """The lines of a call chain; none if the depot does not have it."""
    texts, _ = cached(prog, _make_texts)
    if handle not in texts:
        frames = stack_depot_frames(prog, handle)
        texts[handle] = "".join(f" {symbol_name(prog, frame)}\n" for frame in frames or ())
        if frames is None:
            notes_of(prog).add("call chains", "their handles lead to no chain in the depot")
    return texts[handle]


def task_text(prog: Program, handle: int) -> str:
    """A task as in a record: pid 1, tgid 1 (init)."""
    _, texts = cached(prog, _make_texts)
    if handle not in texts:
        task = owner_task(prog, handle)
        texts[handle] = f"pid {task.pid}, tgid {task.tgid} ({escape_name(task.comm)})"
    return texts[handle]


def user_text(prog: Program, handle: int) -> str:
    """The lines of the user chain of a task's handle; none if it has none."""
    return "".join(f" user {frame}\n" for frame in owner_user_frames(prog, handle))


def format_records(prog: Program, objects: Iterable[OwnedObject]) -> Iterator[str]:
    """The records of objects, each with the blank line that ends it."""
    chains, tasks = cached(prog, _make_texts)
    users: Dict[int, str] = {}
    clock = owner_clock(prog)
    for source, address, size, held, cache, pfn, index, owner in objects:
        stack, task, _, rate, time = owner
        chain = chains.get(stack)
        if chain is None:
            chain = chain_text(prog, stack)
        user = users.get(task)
        if user is None:
            user = users[task] = user_text(prog, task)
            task_text(prog, task)
        who = tasks[task]
        weight = f"weight {owner_sample_weight(prog, rate, size)}, " if rate else ""
        yield (f"{KINDS[source]} allocated via order 0, size {size}, slab {held}, cache {cache}, "
               f"{weight}{who}, ts {clock.time_to_ns(time)} ns\n"
               f"PFN 0x{pfn:x} object {address:016x} index {index}\n{chain}{user}\n")
