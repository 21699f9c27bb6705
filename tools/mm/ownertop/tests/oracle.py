# SPDX-License-Identifier: GPL-2.0
"""A second, simple reader of dumps, to compare its results with ownertop's.

It is slow and keeps everything in memory. It shares no code with ownertop, so an error
in one of the two is noticed.
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


def get_function_base_name(frame):
    """Return the name of a frame's function without suffixes of the compiler."""
    name = re.split(r"[+ ]", frame)[0]
    return re.sub(r"_noprof$", "", re.sub(r"(?<=.)\..*", "", name))


def parse_record(block):
    """Parse one record of a dump into a dictionary."""
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
def is_allocator_frame(frame, skip):
    """Is the frame in a function of the allocator?"""
    return any(fnmatch.fnmatchcase(get_function_base_name(frame), glob) for glob in skip)


def select_grouping_frames(frames, depth, skip):
    """Return the frames that a record is grouped by: without those of the allocator."""
    while len(frames) > 1 and is_allocator_frame(frames[0], skip):
        frames = frames[1:]
    return frames[:depth] if depth else frames


def find_module(frames):
    """Return the first module of a call chain."""
    for frame in frames:
        found = re.search(r"\[([^ \]]+)[^\]]*\]$", frame)
        if found:
            return found[1]
    return "vmlinux"


def format_frame_without_offset(frame):
    """Return a frame without offset and size."""
    name, _, rest = frame.partition(" ")
    return name.split("+")[0] + (" [" + rest[1:-1].split(" ")[0] + "]" if rest else "")


def list_chain_functions(rec):
    """Return the functions of a record's call chain, the outermost first."""
    return tuple(map(format_frame_without_offset, reversed(rec["stack"]))) or ("(no call chain)",)


def read_records(path, depth, skip):
    """Yield all records of a dump, each with the frames to group by."""
    with open(path, encoding="ascii") as dump:
        text = re.sub(r"^#.*\n", "", dump.read(), flags=re.M)
    for block in text.split("\n\n"):
        if not block.strip():
            continue
        rec = parse_record(block.lstrip("\n"))
        rec["stack"] = tuple(select_grouping_frames(rec["frames"], depth, skip))
        rec["module"] = find_module(rec["frames"])
        yield rec


def read_skip_list(ownertop):
    """Return the patterns for the allocator's functions."""
    return tuple(subprocess.run([ownertop, "--skip-list"], check=True, text=True,
                                capture_output=True).stdout.split())


def make_dump(path, sample, *options):
    """Generate a large dump from one of the samples."""
    with open(path, "wb") as out:
        subprocess.run([GENERATOR, *options, os.path.join(HERE, "input", sample)],
                       check=True, stdout=out)
