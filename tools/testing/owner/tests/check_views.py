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

from check_truth import (Totals, add_to_totals, extract_planted_chain, read_blocks,
                         read_planted_totals, sum_record_file)

NAME = re.compile(r"(truth_\w+)")
NOTHING = "# slab_owner 1\n"

# A row of a text view: cache, chain, objects, rounded bytes.
Row = Tuple[str, List[str], int, str]

# The truth has the bytes that were requested: the text views are sorted by them.
BY_BYTES = ("-s", "bytes")
# The row above each chain of a text view has bytes, objects and cache. Compared with the
# empty dump of an hour ago, all objects are growth.
TABLE_ROW = r" +\d+ +\S+ +(?:\S+ +)?(\S+) +[\d.]+% +(\d+) +\w+  (\S*)"
DIFF_ROW = r" +\d+ +\+(\S+) +- +\1 +\+(\d+)  (\S*)"
TREND_ROW = r" +\d+ +\+(\S+) +\1 +\+([\d.]+) +1/1 +-  (\S*)"

# First line of a block in the output of page_owner_sort.
BLOCK = re.compile(r"(\d+) times, \d+ pages")
# Options of page_owner_sort: how it sorts blocks, by which keys it merges them, and the keys
# with which only the numbers of records are compared.
SORTS = ["-a", "-m", "-n", "-p", "-P", "-s", "-t"]
CULLS = ["st", "st,name", "st,pid", "st,tgid", "st,allocator", "st,p,tg,n,ator"]
CULLS_ONLY_COUNTED = ["pid", "tgid", "name", "allocator"]


def format_size(size: float) -> str:
    """Bytes, rounded like in the text views."""
    units = iter("BKMGT")
    unit = next(units)
    while size >= (1024 if unit == "B" else 1023.95):
        size, unit = size / 1024, next(units)
    return f"{size}B" if unit == "B" else f"{size:.1f}{unit}"


def split_cache_and_chain(path: List[str]) -> Tuple[str, List[str]]:
    """The cache, if any, and the chain of a path whose last element is the allocation."""
    if path and NAME.match(path[0]):
        return "", path[::-1]
    return path[0] if path else "", path[:0:-1]


def parse_rows_with_chains(text: str, pattern: str) -> List[Row]:
    rows: List[Row] = []
    for line in text.splitlines():
        row = re.fullmatch(pattern, line)
        if row:
            rows.append((row[3], [], int(float(row[2])), row[1]))
        elif rows and line.startswith(" " * 7):
            rows[-1][1].append(line.strip())
    return rows


class OwnertopViews:
    """Runs ownertop on the records and converts each view to totals."""

    def __init__(self, ownertop: str, records: str, nothing: str) -> None:
        self.ownertop = ownertop
        self.records = records
        self.nothing = nothing

    def run_ownertop(self, view: str, *options: str, old: str = "") -> str:
        files = [old, self.records] if old else [self.records]
        return subprocess.run([self.ownertop, view, "--no-skip", *options, *files],
                              check=True, capture_output=True, text=True).stdout

    def read_json_groups(self, *arguments: str, old: str = "") -> List[dict]:
        fields = ("--json", "-d", "0", "-g", "cache,stack", *BY_BYTES)
        return json.loads(self.run_ownertop(*arguments, *fields, old=old))["groups"]

    def sum_table(self) -> Totals:
        return sum_planted_chains((g["cache"], g["stack"], g["objects"], g["bytes"])
                                  for g in self.read_json_groups("table"))

    def sum_full_records(self) -> Totals:
        fields = ("--json", "-d", "0", "-g", "kind,cache,comm,pid,tgid,stack,user")
        full = json.loads(self.run_ownertop("table", *fields))["groups"]
        return sum_planted_chains((g["cache"], g["stack"], g["objects"], g["bytes"]) for g in full)

    def sum_diff(self) -> Totals:
        return sum_planted_chains((g["cache"], g["stack"], g["new"]["objects"], g["new"]["bytes"])
                                  for g in self.read_json_groups("diff", old=self.nothing))

    def sum_trend(self) -> Totals:
        hourly = self.read_json_groups("trend", "--time", "0h,1h", old=self.nothing)
        return sum_planted_chains((g["cache"], g["stack"], round(g["objects_per_hour"]),
                                   round(g["bytes_per_hour"])) for g in hourly)

    def sum_table_csv(self) -> Totals:
        answer = self.run_ownertop("table", "--csv", "-d", "0", "-g", "cache,stack")
        return sum_planted_chains((row["cache"], row["stack"].split(";"), int(row["objects"]),
                                   int(row["bytes"]))
                                  for row in csv.DictReader(answer.splitlines())
                                  if row["row"] == "group")

    def sum_pprof(self) -> Totals:
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
        return sum_planted_chains(
            (cache, [name[number] for number in chain.split()], int(objects), int(size))
            for objects, size, chain, cache in found)

    def sum_tree(self, *options: str) -> Totals:
        answer = json.loads(self.run_ownertop("tree", "--json", "--min", "0", "-g", "cache,stack",
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
                found.append((*split_cache_and_chain(path), objects, size))
        return sum_planted_chains(found)

    def sum_callees(self) -> Totals:
        return self.sum_tree("--callees")

    def sum_folded(self) -> Totals:
        lines = [[line.rsplit(" ", 1) for line in
                  self.run_ownertop("folded", "-g", "cache,stack", "-s", sort).splitlines()]
                 for sort in ("objects", "bytes")]
        size = dict(lines[1])
        found = []
        for path, objects in lines[0]:
            found.append((*split_cache_and_chain(path.split(";")), int(objects), int(size[path])))
        return sum_planted_chains(found)

    def sum_flame(self) -> Totals:
        page = self.run_ownertop("flame", "-g", "cache,stack")
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
                found.append((*split_cache_and_chain(full), objects, size))
        return sum_planted_chains(found)


class TextViews(OwnertopViews):
    """Text views; yields differences from the machine-readable views."""

    def check_table(self) -> Iterator[Row]:
        text = self.run_ownertop("table", "-n", "0", "-d", "0", "-g", "cache,stack", *BY_BYTES)
        yield from self.find_differing_rows(self.read_json_groups("table"),
                                            parse_rows_with_chains(text, TABLE_ROW))

    def check_live(self) -> Iterator[Row]:
        """The first tables of the live view, without a terminal."""
        with subprocess.Popen([self.ownertop, "--live=0.1", "--no-skip", "-n", "0", "-d", "0",
                               "-g", "cache,stack", *BY_BYTES, self.records],
                              stdout=subprocess.PIPE, text=True) as live:
            text = []
            while len(text) < 3:
                text.append("".join(iter(live.stdout.readline, "\n")))
            live.kill()
        for table in text:
            yield from self.find_differing_rows(self.read_json_groups("table"),
                                                parse_rows_with_chains(table, TABLE_ROW))

    def check_diff(self) -> Iterator[Row]:
        text = self.run_ownertop("diff", "-n", "0", "-d", "0", "-g", "cache,stack", *BY_BYTES,
                                 old=self.nothing)
        groups = [{**g, **g["new"]} for g in self.read_json_groups("diff", old=self.nothing)]
        yield from self.find_differing_rows(groups, parse_rows_with_chains(text, DIFF_ROW))

    def check_trend(self) -> Iterator[Row]:
        text = self.run_ownertop("trend", "-n", "0", "-d", "0", "-g", "cache,stack",
                                 *BY_BYTES, "--time", "0h,1h", old=self.nothing)
        groups = [{**g, **g["dumps"][1]} for g in
                  self.read_json_groups("trend", "--time", "0h,1h", old=self.nothing)]
        yield from self.find_differing_rows(groups, parse_rows_with_chains(text, TREND_ROW))

    def check_tree(self) -> Iterator[Row]:
        """The tree view omits the numbers of an only child that equal its parent's."""
        options = ("--min", "0", "-g", "cache,stack", "-s", "objects")
        nodes = json.loads(self.run_ownertop("tree", "--json", *options))["nodes"]
        lines = self.run_ownertop("tree", *options).splitlines()[1:len(nodes) + 1]
        before: Dict[int, dict] = {}
        for node, line in zip(nodes, lines):
            before[node["id"]] = node
            cum = node["cum"]
            shown = line[:8].strip(), line[37:46].strip()
            same = cum == before.get(node.get("parent"), {}).get("cum")
            size = format_size(cum["held"])
            if line[47:].lstrip(" -") != node["name"] or \
               shown not in ([(str(cum["objects"]), size)] + [("", "")] * same):
                yield line, [], cum["objects"], size

    @staticmethod
    def find_differing_rows(groups: List[dict], rows: List[Row]) -> Iterator[Row]:
        wanted = [(g["cache"], g["stack"], g["objects"], format_size(g["bytes"])) for g in groups]
        for i in range(max(len(wanted), len(rows))):
            if wanted[i:i + 1] != rows[i:i + 1]:
                yield (rows + wanted)[i]


class PageOwnerSort:
    """ownertop as page_owner_sort, with records of objects and of pages."""

    def __init__(self, ownertop: str, dump: str) -> None:
        self.ownertop = ownertop
        self.dump = dump

    def run_ownertop(self, *options: str) -> str:
        with tempfile.NamedTemporaryFile("r") as out:
            subprocess.run([self.ownertop, "page_owner_sort", *options, self.dump, out.name],
                           check=True)
            return out.read()

    def sum_sorted_output(self, option: str) -> Totals:
        """Sum sorted records: page_owner_sort prints equal records once, with their number."""
        with tempfile.NamedTemporaryFile("w") as repeated:
            for block in self.run_ownertop(option).split("\n\n")[:-1]:
                head, record = block.split("\n", 1)
                repeated.write((record + "\n\n") * int(BLOCK.match(head)[1]))
            repeated.flush()
            return sum_record_file(repeated.name)

    def sum_culled_output(self, fields: str) -> Totals:
        """Sum records that page_owner_sort merged by call chain; its output has no sizes."""
        result: Totals = defaultdict(lambda: (0, 0))
        with tempfile.NamedTemporaryFile("w") as out:
            out.write(self.run_ownertop("--cull", fields))
            out.flush()
            for block in read_blocks(out.name):
                add_to_totals(result, "", extract_planted_chain(block),
                              int(BLOCK.match(block[0])[1]), 0)
        return result

    def count_culled_records(self, fields: str) -> int:
        return sum(int(times) for times in BLOCK.findall(self.run_ownertop("--cull", fields)))


def sum_planted_chains(found: Iterable[Tuple[str, List[str], int, int]]) -> Totals:
    """Totals of groups whose chains begin at the allocation."""
    result: Totals = defaultdict(lambda: (0, 0))
    for cache, chain, objects, size in found:
        names = (NAME.match(frame) for frame in chain)
        add_to_totals(result, cache, ";".join(name[1] for name in names if name), objects, size)
    return result


def print_differences(name: str, truth: Totals, found: Totals) -> int:
    wrong = 0
    for key in sorted(set(truth) | set(found)):
        if truth.get(key) != found.get(key):
            wrong += 1
            print(f"{name}: {' '.join(key)}: planted {truth.get(key)}, shown {found.get(key)}")
    return wrong


def check_page_owner_sort(sort: PageOwnerSort, truth: Totals) -> int:
    wrong = sum(print_differences(option, truth, sort.sum_sorted_output(option))
                for option in SORTS)
    objects: Totals = defaultdict(lambda: (0, 0))
    for (_, chain), (number, _) in truth.items():
        add_to_totals(objects, "", chain, number, 0)
    for fields in CULLS:
        wrong += print_differences(f"--cull {fields}", objects, sort.sum_culled_output(fields))
    with open(sort.dump, encoding="utf-8") as file:
        number = sum(line.startswith("PFN 0x") for line in file)
    for fields in CULLS_ONLY_COUNTED:
        if sort.count_culled_records(fields) != number:
            wrong += 1
            print(f"--cull {fields}: {sort.count_culled_records(fields)} objects, not {number}")
    return wrong


def main() -> int:
    ownertop, truth_file, dump = sys.argv[1:]
    truth = read_planted_totals(truth_file)
    with tempfile.NamedTemporaryFile("w") as nothing:
        nothing.write(NOTHING)
        nothing.flush()
        views = OwnertopViews(ownertop, dump, nothing.name)
        texts = TextViews(ownertop, dump, nothing.name)
        exact: List[Callable[[], Totals]] = [
            views.sum_table, views.sum_table_csv, views.sum_full_records, views.sum_tree,
            views.sum_callees, views.sum_folded, views.sum_flame, views.sum_diff,
            views.sum_trend]
        if shutil.which("go"):
            exact.append(views.sum_pprof)
        wrong = sum(print_differences(view.__name__, truth, view()) for view in exact)
        for text in (texts.check_table, texts.check_live, texts.check_tree, texts.check_diff,
                     texts.check_trend):
            for row in text():
                wrong += 1
                print(f"{text.__name__}, for people: {row}")
    wrong += check_page_owner_sort(PageOwnerSort(ownertop, dump), truth)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
