#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compare ownertop's groups with those of oracle.py on generated dumps."""

import collections
import json
import os
import subprocess
import sys
import tempfile

import oracle

VIEWS = [
    (["stack", "cache"], 4),
    (["stack"], 0),
    (["stack", "comm", "pid"], 1),
    (["tgid", "cache"], 4),
    (["module", "kind", "comm"], 4),
]


def compute_expected_group_sums(path, fields, depth, skip):
    """Return the expected sums by group."""
    groups = collections.defaultdict(list)
    for rec in oracle.read_records(path, depth, skip):
        groups[tuple(rec[field] for field in fields)].append(rec)
    return {key: (len(recs), sum(r["bytes"] for r in recs),
                  sum(r["held"] for r in recs), min(r["ts"] for r in recs),
                  max(r["ts"] for r in recs))
            for key, recs in groups.items()}


def read_printed_sums(ownertop, path, fields, depth):
    """Return the sums that ownertop prints."""
    answer = json.loads(subprocess.run(
        [ownertop, "--json", "--page-size", str(oracle.PAGE_SIZE), "-d", str(depth),
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
    sizes = [group["held"] for group in answer["groups"]]
    assert sizes == sorted(sizes, reverse=True), "not in order"
    return groups


def main():
    """Return exit status 0 if all sums are equal."""
    ownertop = sys.argv[1]
    skip = oracle.read_skip_list(ownertop)
    different = 0
    for sample in ("page.txt", "slab.txt"):
        with tempfile.TemporaryDirectory() as work:
            dump = os.path.join(work, "dump")
            oracle.make_dump(dump, sample, "--records", "5000", "--chains", "700",
                             "--depth", "12")
            for fields, depth in VIEWS:
                want = compute_expected_group_sums(dump, fields, depth, skip)
                got = read_printed_sums(ownertop, dump, fields, depth)
                for key in want.keys() | got.keys():
                    if want.get(key) != got.get(key):
                        different += 1
                        print(f"{sample} {fields} depth {depth}: {key}: "
                              f"want {want.get(key)}, got {got.get(key)}")
    return different > 0


if __name__ == "__main__":
    sys.exit(main())
