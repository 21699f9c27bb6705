#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compare ownertop with a plain second program on generated dumps.

The second program is slow, holds everything in memory and shares no code, so
an error would have to be made twice to stay unseen.
"""

import collections
import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GENERATOR = os.path.join(HERE, "../../../testing/owner/make_owner_dump.py")
PAGE_SIZE = 4096

PAGE = re.compile(r"Page allocated via order (\d+), .*?pid (-?\d+), "
                  r"tgid (-?\d+) \((.*)\), ts (\d+) ns")
SLAB = re.compile(r"Slab object allocated via order \d+, size (\d+), slab (\d+), "
                  r"(?:nid \d+, )?cache (.*?), pid (-?\d+), tgid (-?\d+) \((.*)\), "
                  r"ts (\d+) ns")

VIEWS = [
    (["stack", "cache"], 4),
    (["stack"], 0),
    (["stack", "comm", "pid"], 1),
    (["tgid", "cache"], 4),
    (["module", "kind", "comm"], 4),
]


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


def owner(frames, depth, skip):
    """The frames that make a group."""
    while len(frames) > 1 and any(fnmatch.fnmatchcase(stem(frames[0]), glob)
                                  for glob in skip):
        frames = frames[1:]
    return frames[:depth] if depth else frames


def module(frames):
    """The first module of a chain."""
    for frame in frames:
        found = re.search(r"\[([^ \]]+)[^\]]*\]$", frame)
        if found:
            return found[1]
    return "vmlinux"


def aggregate(path, fields, depth, skip):
    """What ownertop should find, by group."""
    with open(path, encoding="ascii") as dump:
        text = re.sub(r"^#.*\n", "", dump.read(), flags=re.M)
    groups = collections.defaultdict(list)
    for block in text.split("\n\n"):
        if not block.strip():
            continue
        rec = parse(block.lstrip("\n"))
        rec["stack"] = tuple(owner(rec["frames"], depth, skip))
        rec["module"] = module(rec["frames"])
        groups[tuple(rec[field] for field in fields)].append(rec)
    return {key: (len(recs), sum(r["bytes"] for r in recs),
                  sum(r["held"] for r in recs), min(r["ts"] for r in recs),
                  max(r["ts"] for r in recs))
            for key, recs in groups.items()}


def reported(ownertop, path, fields, depth):
    """What it does find."""
    answer = json.loads(subprocess.run(
        [ownertop, "--json", "--page-size", str(PAGE_SIZE), "-d", str(depth),
         "-g", ",".join(fields), path],
        check=True, capture_output=True).stdout)
    groups = {}
    for group in answer["groups"]:
        key = tuple(tuple(group[f]) if f == "stack" else group[f]
                    for f in fields)
        assert key not in groups, f"group twice: {key}"
        groups[key] = tuple(group[k] for k in (
            "objects", "bytes", "held", "oldest_ns", "newest_ns"))
    for i, name in enumerate(("objects", "bytes", "held")):
        assert answer["total"][name] == sum(g[i] for g in groups.values()), name
    sizes = [group["bytes"] for group in answer["groups"]]
    assert sizes == sorted(sizes, reverse=True), "not in order"
    return groups


def main():
    """Exit status 0 if both agree on everything."""
    ownertop = sys.argv[1]
    skip = subprocess.run([ownertop, "--skip-list"], check=True, text=True,
                          capture_output=True).stdout.split()
    different = 0
    for sample in ("page.txt", "slab.txt"):
        with tempfile.NamedTemporaryFile() as dump:
            subprocess.run([GENERATOR, "--records", "5000", "--chains", "700",
                            "--depth", "12",
                            os.path.join(HERE, "input", sample)],
                           check=True, stdout=dump)
            for fields, depth in VIEWS:
                want = aggregate(dump.name, fields, depth, skip)
                got = reported(ownertop, dump.name, fields, depth)
                for key in want.keys() | got.keys():
                    if want.get(key) != got.get(key):
                        different += 1
                        print(f"{sample} {fields} depth {depth}: {key}: "
                              f"want {want.get(key)}, got {got.get(key)}")
    return different > 0


if __name__ == "__main__":
    sys.exit(main())
