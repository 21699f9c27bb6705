# SPDX-License-Identifier: GPL-2.0
"""Answer the questions of slab_owner.py's command line."""

import os
import shutil
import subprocess
import sys
from itertools import chain, islice
from typing import IO, Iterator, List, Optional

from drgn import Program

from .clock import owner_clock
from .format import owner_format, stack_depot_format
from .freelists import slab_object_is_allocated
from .leak_table import format_unreferenced
from .leaks import for_each_unreferenced_object
from .memory import notes_of
from .page_records import format_page_record
from .pages import for_each_owned_page, page_owner
from .percpu import for_each_owned_percpu_area
from .records import chain_text, format_records, task_text, user_text
from .slabs import (OwnerRecord, find_slab_object, for_each_owned_object, slab_object_freed_by,
                    slab_object_owner)
from .stats import owner_stats

SOURCES = ("slab", "percpu", "page")
UNREFERENCED = "unreferenced"
# Records that are written at once.
BATCH = 512


def for_each_record_text(prog: Program, sources: Optional[List[str]]) -> Iterator[str]:
    """The records of these sources, as text."""
    sources = sources or ["slab", "percpu"]
    objects = []
    if "slab" in sources:
        objects.append(for_each_owned_object(prog))
    if UNREFERENCED in sources:
        objects.append(for_each_unreferenced_object(prog))
    if "percpu" in sources:
        objects.append(for_each_owned_percpu_area(prog))
    yield from format_records(prog, chain.from_iterable(objects))
    if "page" in sources:
        for owner in for_each_owned_page(prog):
            yield format_page_record(prog, owner)


def write_records(prog: Program, sources: Optional[List[str]], file: IO[bytes]) -> None:
    """Write records, and notes as comments."""
    # Refuse a format before the first record.
    owner_format(prog)
    stack_depot_format(prog)
    if sources and "page" in sources:
        for_each_owned_page(prog)
    texts = for_each_record_text(prog, sources)
    while True:
        batch = "".join(islice(texts, BATCH))
        if not batch:
            break
        file.write(batch.encode())
    for line in notes_of(prog).lines():
        file.write(f"# {line}\n".encode())


def print_records(prog: Program, sources: Optional[List[str]]) -> int:
    """Answer --records."""
    write_records(prog, sources, sys.stdout.buffer)
    sys.stdout.buffer.flush()
    return 0


def print_unreferenced(prog: Program) -> int:
    """Answer --unreferenced: slab objects to which no pointer leads, by owner."""
    owner_format(prog)
    stack_depot_format(prog)
    for text in format_unreferenced(prog):
        sys.stdout.write(text)
    return 0


def find_ownertop() -> Optional[str]:
    """The path of ownertop: beside the script, or in PATH."""
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.path.join(top, "ownertop", "ownertop")
    return path if os.access(path, os.X_OK) else shutil.which("ownertop")


def run_ownertop(prog: Program, sentence: List[str], sources: Optional[List[str]],
                 binaries: List[str]) -> int:
    """Let ownertop answer a sentence. Return its exit status."""
    path = find_ownertop()
    if not path:
        print("slab_owner.py: ownertop adds up records, and there is none in tools/mm/ownertop or "
              "in PATH; run make in tools/mm/ownertop", file=sys.stderr)
        return 1
    if not sources:
        # ownertop also says what is wrong with a sentence.
        asked = subprocess.run([path, *sentence, "--now", "1s", "--kinds", "-"],
                               stdout=subprocess.PIPE,
                               check=False, text=True)
        if asked.returncode:
            return asked.returncode
        sources = asked.stdout.strip().split(",")
    now = owner_clock(prog).now_ns()
    names = [word for binary in binaries for word in ("--binary", binary)]
    with subprocess.Popen([path, *sentence, *names, "--now", f"{now}ns", "-"],
                          stdin=subprocess.PIPE) as process:
        assert process.stdin
        try:
            write_records(prog, sources, process.stdin)
            process.stdin.close()
        except BrokenPipeError:
            # ownertop has said why.
            pass
        return process.wait()


def _print_owner(prog: Program, verb: str, owner: OwnerRecord) -> None:
    age = owner_clock(prog).age_ns(owner.time) // 10 ** 6
    print(f"{verb} by {task_text(prog, owner.task)}, size {owner.size}, {age} ms ago:")
    print(chain_text(prog, owner.stack) + user_text(prog, owner.task), end="")


def print_object(prog: Program, address: int) -> int:
    """Answer --object: what is known about the object at an address, or around it."""
    owner_format(prog)
    place = find_slab_object(prog, address)
    if not place:
        print(f"slab_owner.py: {address:#x} is not in an object of a slab", file=sys.stderr)
        return 1
    cache, allocated = place.slab.cache, slab_object_is_allocated(prog, place)
    inside = f"{address:#x} is {address - place.address:+d} bytes from it; " \
        if address != place.address else ""
    print(f"object {place.address:#x}: {inside}index {place.index}, cache {cache.name}, "
          f"object size {cache.object_size}, slab {place.slab.address:#x}, "
          + {True: "allocated", False: "free", None: "free or allocated"}[allocated])
    owned = slab_object_owner(prog, address)
    if owned:
        _print_owner(prog, "allocated", owned.owner)
    elif allocated:
        print("no owner is recorded")
    freed = slab_object_freed_by(prog, address)
    if freed:
        _print_owner(prog, "freed", freed)
    return 0


def print_page(prog: Program, pfn: int) -> int:
    """Answer --page: page_owner's record of a page frame."""
    stack_depot_format(prog)
    owner = page_owner(prog, pfn)
    if not owner:
        print(f"slab_owner.py: page frame {pfn:#x} has no owner and never had one, or there is no "
              f"memory", file=sys.stderr)
        return 1
    if owner.allocated:
        print(format_page_record(prog, owner), end="")
    else:
        print(f"PFN {pfn:#x} is free; its last owner:")
        print(format_page_record(prog, owner), end="")
    if owner.free_stack:
        print(f"Last freed by pid {owner.free_pid}, tgid {owner.free_tgid}, "
              f"ts {owner.free_ts} ns:")
        print(chain_text(prog, owner.free_stack), end="")
    return 0


def print_stats(prog: Program) -> int:
    """Answer --stats."""
    for name, value in owner_stats(prog):
        print(f"{name}: {value}")
    return 0


def print_notes(prog: Program) -> None:
    """Say on stderr what was left out."""
    for line in notes_of(prog).lines():
        print(f"slab_owner.py: {line}", file=sys.stderr)
