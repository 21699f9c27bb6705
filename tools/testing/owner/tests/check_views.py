#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Does each view of ownertop show exactly what owner_truth.ko has planted?

check_views.py OWNERTOP TRUTH RECORDS

The older dump of those that compare two is an empty one.
"""
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from typing import Iterable, List, Tuple

from check_truth import Totals, add, planted

NAME = re.compile(r"(truth_\w+)")
NOTHING = "# slab_owner 1\n"


class Views:
    """Runs ownertop on the records; every view becomes totals."""

    def __init__(self, ownertop: str, records: str, nothing: str) -> None:
        self.ownertop = ownertop
        self.records = records
        self.nothing = nothing

    def run(self, view: str, *options: str, old: str = "") -> str:
        files = [old, self.records] if old else [self.records]
        return subprocess.run([self.ownertop, view, "--no-skip", *options, *files],
                              check=True, capture_output=True, text=True).stdout

    def groups(self, *arguments: str, old: str = "") -> List[dict]:
        fields = ("--json", "-d", "0", "-g", "cache,stack")
        return json.loads(self.run(*arguments, *fields, old=old))["groups"]

    def table(self) -> Totals:
        return totals((g["cache"], g["stack"], g["objects"], g["bytes"])
                      for g in self.groups("table"))

    def records_in_full(self) -> Totals:
        full = json.loads(self.run("records", "--json"))["groups"]
        return totals((g["cache"], g["stack"], g["objects"], g["bytes"]) for g in full)

    def diff(self) -> Totals:
        return totals((g["cache"], g["stack"], g["new"]["objects"], g["new"]["bytes"])
                      for g in self.groups("diff", old=self.nothing))

    def trend(self) -> Totals:
        hourly = self.groups("trend", "--time", "0h,1h", old=self.nothing)
        return totals((g["cache"], g["stack"], round(g["objects_per_hour"]),
                       round(g["bytes_per_hour"])) for g in hourly)

    def tree(self, *options: str) -> Totals:
        answer = json.loads(self.run("tree", "--json", "--min", "0", "-g", "cache,stack",
                                     *options))
        paths, ends, found = {}, defaultdict(lambda: [0, 0]), []
        for node in answer["nodes"]:
            path = paths[node["parent"]] + [node["name"]] if "parent" in node else []
            paths[node["id"]] = path
            ends[node["id"]][0] += node["cum"]["objects"]
            ends[node["id"]][1] += node["cum"]["bytes"]
            if "parent" in node:
                ends[node["parent"]][0] -= node["cum"]["objects"]
                ends[node["parent"]][1] -= node["cum"]["bytes"]
        for node, (objects, size) in ends.items():
            path = paths[node] if options else paths[node][::-1]
            if objects:
                found.append((path[-1], path[:-1], objects, size))
        return totals(found)

    def callees(self) -> Totals:
        return self.tree("--callees")

    def folded(self) -> Totals:
        lines = [[line.rsplit(" ", 1) for line in
                  self.run("folded", "-g", "cache,stack", "-s", sort).splitlines()]
                 for sort in ("objects", "bytes")]
        size = dict(lines[1])
        found = []
        for path, objects in lines[0]:
            cache, *chain = path.split(";")
            found.append((cache, chain[::-1], int(objects), int(size[path])))
        return totals(found)

    def flame(self) -> Totals:
        page = self.run("flame", "-g", "cache,stack")
        data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
        width, path, nodes, found = 5, [], data["nodes"], []
        flat = []
        for i in range(0, len(nodes), width):
            depth, name, objects, size, _ = nodes[i:i + width]
            path[depth:] = [data["names"][name]]
            flat.append([list(path[1:]), objects, size])
            if depth:
                parent = next(f for f in reversed(flat[:-1]) if len(f[0]) == depth - 1)
                parent[1] -= objects
                parent[2] -= size
        for full, objects, size in flat:
            if objects:
                found.append((full[0], full[:0:-1], objects, size))
        return totals(found)


def totals(found: Iterable[Tuple[str, List[str], int, int]]) -> Totals:
    """Of groups whose chains begin at the allocation."""
    result: Totals = defaultdict(lambda: (0, 0))
    for cache, chain, objects, size in found:
        names = (NAME.match(frame) for frame in chain)
        add(result, cache, ";".join(name[1] for name in names if name), objects, size)
    return result


def main() -> int:
    ownertop, truth_file, records = sys.argv[1:]
    truth = planted(truth_file)
    wrong = 0
    with tempfile.NamedTemporaryFile("w") as nothing:
        nothing.write(NOTHING)
        nothing.flush()
        views = Views(ownertop, records, nothing.name)
        for view in (views.table, views.records_in_full, views.tree, views.callees,
                     views.folded, views.flame, views.diff, views.trend):
            found = view()
            for key in sorted(set(truth) | set(found)):
                if truth.get(key) != found.get(key):
                    wrong += 1
                    print(f"{view.__name__}: {' '.join(key)}: "
                          f"planted {truth.get(key)}, shown {found.get(key)}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
