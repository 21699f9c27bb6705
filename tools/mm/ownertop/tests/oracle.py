# SPDX-License-Identifier: GPL-2.0
"""A plain second reader of dumps, to compare ownertop with.

It is slow, holds everything in memory and shares no code with ownertop, so an
error would have to be made twice to stay unseen.
"""

import fnmatch
import functools
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
GENERATOR = os.path.join(HERE, "../../../testing/owner/bench/make_owner_dump.py")
PAGE_SIZE = 4096

PAGE = re.compile(r"Page allocated via order (\d+), .*?pid (-?\d+), "
                  r"tgid (-?\d+) \((.*)\), ts (\d+) ns")
SLAB = re.compile(r"Slab object allocated via order \d+, size (\d+), slab (\d+), "
                  r"(?:nid \d+, )?cache (.*?), pid (-?\d+), tgid (-?\d+) \((.*)\), "
                  r"ts (\d+) ns")


def stem(frame):
    """The function's name as the list of the allocator's functions has it."""
    name = re.split(r"[+ ]", frame)[0]
    return re.sub(r"_noprof$", "", re.sub(r"(?<=.)\..*", "", name))


def parse(block):
    """One record as a dictionary."""
    lines = block.split("\n")
    page, slab = PAGE.match(lines[0]), SLAB.match(lines[0])
    if page:
        order, pid, tgid, comm, ts = page.groups()
        rec = {"kind": "page", "cache": "", "bytes": PAGE_SIZE << int(order)}
        rec["held"] = rec["bytes"]
    else:
        size, held, cache, pid, tgid, comm, ts = slab.groups()
        rec = {"kind": "slab", "cache": cache, "bytes": int(size),
               "held": int(held)}
    rec.update(pid=int(pid), tgid=int(tgid), comm=comm, ts=int(ts))
    rec["frames"] = [line[1:] for line in lines[2:] if line.startswith(" ")]
    return rec


@functools.lru_cache(None)
def is_internal(frame, skip):
    """Does it belong to the allocator?"""
    return any(fnmatch.fnmatchcase(stem(frame), glob) for glob in skip)


def owner(frames, depth, skip):
    """The frames that make a group."""
    while len(frames) > 1 and is_internal(frames[0], skip):
        frames = frames[1:]
    return frames[:depth] if depth else frames


def module(frames):
    """The first module of a chain."""
    for frame in frames:
        found = re.search(r"\[([^ \]]+)[^\]]*\]$", frame)
        if found:
            return found[1]
    return "vmlinux"


def function(frame):
    """A frame without its place in the function."""
    name, _, rest = frame.partition(" ")
    return name.split("+")[0] + (" [" + rest[1:-1].split(" ")[0] + "]" if rest else "")


def path(rec):
    """The functions of a record's chain, the outermost first."""
    return tuple(map(function, reversed(rec["stack"]))) or ("(no call chain)",)


def records(path, depth, skip):
    """All records of a dump, with the chain that owns them."""
    with open(path, encoding="ascii") as dump:
        text = re.sub(r"^#.*\n", "", dump.read(), flags=re.M)
    for block in text.split("\n\n"):
        if not block.strip():
            continue
        rec = parse(block.lstrip("\n"))
        rec["stack"] = tuple(owner(rec["frames"], depth, skip))
        rec["module"] = module(rec["frames"])
        yield rec


def skip_list(ownertop):
    """The allocator's functions."""
    return tuple(subprocess.run([ownertop, "--skip-list"], check=True, text=True,
                                capture_output=True).stdout.split())


def make_dump(path, sample, *options):
    """Make a dump out of one of the small ones."""
    with open(path, "wb") as out:
        subprocess.run([GENERATOR, *options, os.path.join(HERE, "input", sample)],
                       check=True, stdout=out)
