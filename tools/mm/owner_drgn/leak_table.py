# SPDX-License-Identifier: GPL-2.0
"""A table of unreferenced objects, by owner."""

from typing import Dict, Iterator, List, Tuple

from drgn import Program

from .clock import owner_clock
from .leaks import for_each_unreferenced_object
from .records import chain_text, task_text, user_text
from .slabs import OwnedObject

AGES = ((86400, "d"), (3600, "h"), (60, "min"))


def _format_age(seconds: int) -> str:
    """An age in the largest unit of which it has two or more."""
    for size, unit in AGES:
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def _format_owner(prog: Program, cache: str, objects: List[OwnedObject]) -> Iterator[str]:
    clock = owner_clock(prog)
    ages = sorted(clock.age_ns(one.owner.time) // 10 ** 9 for one in objects)
    age = " to ".join(dict.fromkeys((_format_age(ages[0]), _format_age(ages[-1]))))
    # A task has several handles if its objects have different user chains.
    tasks = {task_text(prog, one.owner.task) for one in objects}
    task = task_text(prog, objects[0].owner.task)
    more = f" and {len(tasks) - 1} more tasks" if len(tasks) > 1 else ""
    yield (f"{len(objects)} objects, {sum(one.size for one in objects)} bytes, "
           f"cache {cache}, age {age}, {task}{more}\n")
    yield chain_text(prog, objects[0].owner.stack) or " the depot does not have the call chain\n"
    users = dict.fromkeys(user_text(prog, one.owner.task) for one in objects)
    users.pop("", None)
    yield next(iter(users), "")
    if len(users) > 1:
        yield f" and {len(users) - 1} more user chains\n"
    yield "\n"


def format_unreferenced(prog: Program) -> Iterator[str]:
    """The unreferenced objects by chain and cache, those with most bytes first."""
    owners: Dict[Tuple[int, str], List[OwnedObject]] = {}
    for one in for_each_unreferenced_object(prog):
        owners.setdefault((one.owner.stack, one.cache), []).append(one)
    sums = {key: sum(one.size for one in objects) for key, objects in owners.items()}
    for key in sorted(owners, key=lambda key: -sums[key]):
        yield from _format_owner(prog, key[1], owners[key])
    number = sum(len(objects) for objects in owners.values())
    yield f"{number} objects of {sum(sums.values())} bytes: nothing leads to them\n"
