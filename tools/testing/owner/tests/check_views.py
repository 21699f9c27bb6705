#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check that each view of ownertop shows exactly the objects that owner_truth.ko planted.

check_views.py OWNERTOP TRUTH RECORDS

Views that compare two dumps get an empty dump as the older one. Text views round their
numbers, so each of their lines is compared with the rounded numbers of the JSON view.
"""
import csv
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from typing import Callable, Dict, Iterable, Iterator, List, Tuple

from check_truth import Totals, add, blocks, chain_of, planted, records

NAME = re.compile(r"(truth_\w+)")
NOTHING = "# slab_owner 1\n"

# A row of a text view: cache, chain, objects, rounded bytes.
Row = Tuple[str, List[str], int, str]

# Rows above a chain: bytes, objects, cache. Compared with the empty dump of an hour ago,
# all objects are growth.
TABLE_ROW = r" +\d+ +(\S+) +[\d.]+% +(?:\S+ +)?(\d+) +\w+  (\S*)"
DIFF_ROW = r" +\d+ +\+(\S+) +- +\1 +\+(\d+)  (\S*)"
TREND_ROW = r" +\d+ +\+(\S+) +\1 +\+([\d.]+) +1/1 +-  (\S*)"

# First line of a block in the output of page_owner_sort.
BLOCK = re.compile(r"(\d+) times, \d+ pages")
# Options of page_owner_sort: how it sorts blocks, by which keys it merges them, and the keys
# with which only the numbers of records are compared.
SORTS = ["-a", "-m", "-n", "-p", "-P", "-s", "-t"]
CULLS = ["st", "st,name", "st,pid", "st,tgid", "st,allocator", "st,p,tg,n,ator"]
CULLS_ONLY_COUNTED = ["pid", "tgid", "name", "allocator"]


def human(size: float) -> str:
    """Bytes, rounded like in the text views."""
    units = iter("BKMGT")
    unit = next(units)
    while size >= (1024 if unit == "B" else 1023.95):
        size, unit = size / 1024, next(units)
    return f"{size}B" if unit == "B" else f"{size:.1f}{unit}"


def outwards(path: List[str]) -> Tuple[str, List[str]]:
    """The cache, if any, and the chain of a path whose last element is the allocation."""
    if path and NAME.match(path[0]):
        return "", path[::-1]
    return path[0] if path else "", path[:0:-1]


def rows_with_chains(text: str, pattern: str) -> List[Row]:
    rows: List[Row] = []
    for line in text.splitlines():
        row = re.fullmatch(pattern, line)
        if row:
            rows.append((row[3], [], int(float(row[2])), row[1]))
        elif rows and line.startswith(" " * 7):
            rows[-1][1].append(line.strip())
    return rows


class Views:
    """Runs ownertop on the records and converts each view to totals."""

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

    def table_csv(self) -> Totals:
        answer = self.run("table", "--csv", "-d", "0", "-g", "cache,stack")
        return totals((row["cache"], row["stack"].split(";"), int(row["objects"]),
                       int(row["bytes"]))
                      for row in csv.DictReader(answer.splitlines()) if row["row"] == "group")

    def pprof(self) -> Totals:
        """Read the profile with go's own reader."""
        with tempfile.NamedTemporaryFile() as profile:
            subprocess.run([self.ownertop, "pprof", "--no-skip", "-g", "cache,stack",
                            self.records], check=True, stdout=profile)
            text = subprocess.run(["go", "tool", "pprof", "-raw", profile.name],
                                  check=True, capture_output=True, text=True).stdout
        samples, locations = text.split("\nLocations\n")
        name = dict(re.findall(r"^ +(\d+): 0x0 M=\d+ (\S+) ", locations, re.M))
        found = re.findall(r"^ +(\d+) +(\d+) +\d+: ([\d ]*)(?:\n +cache:\[(.*)\])?$", samples,
                           re.M)
        return totals((cache, [name[number] for number in chain.split()], int(objects), int(size))
                      for objects, size, chain, cache in found)

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
            if objects:
                path = paths[node][::-1] if options else paths[node]
                found.append((*outwards(path), objects, size))
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
            found.append((*outwards(path.split(";")), int(objects), int(size[path])))
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
                found.append((*outwards(full), objects, size))
        return totals(found)


class Texts(Views):
    """Text views; yields differences from the machine-readable views."""

    def table(self) -> Iterator[Row]:
        text = self.run("table", "-n", "0", "-d", "0", "-g", "cache,stack")
        yield from self.differ(self.groups("table"), rows_with_chains(text, TABLE_ROW))

    def live(self) -> Iterator[Row]:
        """The first tables of the live view, without a terminal."""
        with subprocess.Popen([self.ownertop, "--live=0.1", "--no-skip", "-n", "0", "-d", "0",
                               "-g", "cache,stack", self.records], stdout=subprocess.PIPE,
                              text=True) as live:
            text = []
            while len(text) < 3:
                text.append("".join(iter(live.stdout.readline, "\n")))
            live.kill()
        for table in text:
            yield from self.differ(self.groups("table"), rows_with_chains(table, TABLE_ROW))

    def diff(self) -> Iterator[Row]:
        text = self.run("diff", "-n", "0", "-d", "0", "-g", "cache,stack", old=self.nothing)
        groups = [{**g, **g["new"]} for g in self.groups("diff", old=self.nothing)]
        yield from self.differ(groups, rows_with_chains(text, DIFF_ROW))

    def trend(self) -> Iterator[Row]:
        text = self.run("trend", "-n", "0", "-d", "0", "-g", "cache,stack", "--time", "0h,1h",
                        old=self.nothing)
        groups = [{**g, **g["dumps"][1]} for g in
                  self.groups("trend", "--time", "0h,1h", old=self.nothing)]
        yield from self.differ(groups, rows_with_chains(text, TREND_ROW))

    def records_in_full(self) -> Iterator[Row]:
        rows = []
        for block in self.run("records", "-n", "0").split("\n\n")[:-1]:
            head, *lines = block.split("\n")
            size, objects = re.match(r"#\d+  (\S+) in (\d+) objects?, ", head).groups()
            chain = block[block.index("    chain   ") + 12:].split("\n")
            cache = next(line.split()[1] for line in lines if line.startswith("    cache "))
            rows.append((cache, [frame.strip() for frame in chain], int(objects), size))
        yield from self.differ(json.loads(self.run("records", "--json"))["groups"], rows)

    def tree(self) -> Iterator[Row]:
        """The tree view omits the numbers of an only child that equal its parent's."""
        options = ("--min", "0", "-g", "cache,stack", "-s", "objects")
        nodes = json.loads(self.run("tree", "--json", *options))["nodes"]
        lines = self.run("tree", *options).splitlines()[1:len(nodes) + 1]
        before: Dict[int, dict] = {}
        for node, line in zip(nodes, lines):
            before[node["id"]] = node
            cum = node["cum"]
            shown = line[:8].strip(), line[37:46].strip()
            same = cum == before.get(node.get("parent"), {}).get("cum")
            if line[47:].lstrip(" -") != node["name"] or \
               shown not in ([(str(cum["objects"]), human(cum["bytes"]))] + [("", "")] * same):
                yield line, [], cum["objects"], human(cum["bytes"])

    @staticmethod
    def differ(groups: List[dict], rows: List[Row]) -> Iterator[Row]:
        wanted = [(g["cache"], g["stack"], g["objects"], human(g["bytes"])) for g in groups]
        for i in range(max(len(wanted), len(rows))):
            if wanted[i:i + 1] != rows[i:i + 1]:
                yield (rows + wanted)[i]


class PageOwnerSort:
    """ownertop as page_owner_sort, with records of objects and of pages."""

    def __init__(self, ownertop: str, dump: str) -> None:
        self.ownertop = ownertop
        self.dump = dump

    def run(self, *options: str) -> str:
        with tempfile.NamedTemporaryFile("r") as out:
            subprocess.run([self.ownertop, "page_owner_sort", *options, self.dump, out.name],
                           check=True)
            return out.read()

    def sorted_by(self, option: str) -> Totals:
        """Complete records, each with the number of equal ones."""
        with tempfile.NamedTemporaryFile("w") as repeated:
            for block in self.run(option).split("\n\n")[:-1]:
                head, record = block.split("\n", 1)
                repeated.write((record + "\n\n") * int(BLOCK.match(head)[1]))
            repeated.flush()
            return records(repeated.name)

    def culled(self, fields: str) -> Totals:
        """Merged by chains and other keys; the output has no sizes."""
        result: Totals = defaultdict(lambda: (0, 0))
        with tempfile.NamedTemporaryFile("w") as out:
            out.write(self.run("--cull", fields))
            out.flush()
            for block in blocks(out.name):
                add(result, "", chain_of(block), int(BLOCK.match(block[0])[1]), 0)
        return result

    def counted(self, fields: str) -> int:
        return sum(int(times) for times in BLOCK.findall(self.run("--cull", fields)))


def totals(found: Iterable[Tuple[str, List[str], int, int]]) -> Totals:
    """Totals of groups whose chains begin at the allocation."""
    result: Totals = defaultdict(lambda: (0, 0))
    for cache, chain, objects, size in found:
        names = (NAME.match(frame) for frame in chain)
        add(result, cache, ";".join(name[1] for name in names if name), objects, size)
    return result


def differences(name: str, truth: Totals, found: Totals) -> int:
    wrong = 0
    for key in sorted(set(truth) | set(found)):
        if truth.get(key) != found.get(key):
            wrong += 1
            print(f"{name}: {' '.join(key)}: planted {truth.get(key)}, shown {found.get(key)}")
    return wrong


def check_sort(sort: PageOwnerSort, truth: Totals) -> int:
    wrong = sum(differences(option, truth, sort.sorted_by(option)) for option in SORTS)
    objects: Totals = defaultdict(lambda: (0, 0))
    for (_, chain), (number, _) in truth.items():
        add(objects, "", chain, number, 0)
    for fields in CULLS:
        wrong += differences(f"--cull {fields}", objects, sort.culled(fields))
    with open(sort.dump, encoding="utf-8") as file:
        number = sum(line.startswith("PFN 0x") for line in file)
    for fields in CULLS_ONLY_COUNTED:
        if sort.counted(fields) != number:
            wrong += 1
            print(f"--cull {fields}: {sort.counted(fields)} objects, not {number}")
    return wrong


def main() -> int:
    ownertop, truth_file, dump = sys.argv[1:]
    truth = planted(truth_file)
    with tempfile.NamedTemporaryFile("w") as nothing:
        nothing.write(NOTHING)
        nothing.flush()
        views, texts = Views(ownertop, dump, nothing.name), Texts(ownertop, dump, nothing.name)
        exact: List[Callable[[], Totals]] = [
            views.table, views.table_csv, views.records_in_full, views.tree, views.callees,
            views.folded, views.flame, views.diff, views.trend]
        if shutil.which("go"):
            exact.append(views.pprof)
        wrong = sum(differences(view.__name__, truth, view()) for view in exact)
        for text in (texts.table, texts.live, texts.records_in_full, texts.tree, texts.diff,
                     texts.trend):
            for row in text():
                wrong += 1
                print(f"{text.__name__}, for people: {row}")
    wrong += check_sort(PageOwnerSort(ownertop, dump), truth)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
