#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check that ownertop shows exactly the objects of owner_growth.ko at three moments.

check_growth.py OWNERTOP slab_owner DIRECTORY
check_growth.py OWNERTOP alloc_traces DIRECTORY
check_growth.py OWNERTOP allocinfo DIRECTORY SOURCE

DIRECTORY has a directory for each moment with the planter's truth, the kernel's file,
and files of each cache at their paths below /sys. Checks the views of each dump, then
the views that compare two or three dumps. SOURCE is the planter's source: its line
numbers are the truth of allocinfo, which has neither caches nor requested sizes. Prints
differences, and exits with 1 if there are any.
"""
import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Callable, Dict, Iterable, Iterator, List, Tuple

from check_truth import Totals, read_planted_totals
from check_views import (NAME, NOTHING, OwnertopViews, format_size, print_differences,
                         split_cache_and_chain)

MOMENTS = 3
NONE = (0, 0)
# (cache or "", chain), to objects and bytes in each dump
Growth = Dict[Tuple[str, str], List[Tuple[int, int]]]
Group = Tuple[str, List[str], List[Tuple[int, int]]]
# The times of the dumps in hours; the intervals differ.
HOURS = [0, 1, 3]
WHOLE = ("-d", "0", "-n", "0")
SITE = re.compile(r"(truth_\w+) \S*owner_growth\.c:(\d+) \[owner_growth\]")
PLANTER = re.compile(r"static noinline (?:__noclone )?void \*(truth_\w+)\(")


class DumpComparison:
    """The output of ownertop for dumps of the same objects, and the truth."""

    def __init__(self, ownertop: str, dumps: List[str], truth: List[Totals]) -> None:
        self.ownertop = ownertop
        self.dumps = dumps
        self.truth: Growth = {key: [at.get(key, NONE) for at in truth]
                              for key in sorted({key for at in truth for key in at})}
        self.changed = {key: sums for key, sums in self.truth.items()
                        if any(sum_ != sums[0] for sum_ in sums)}

    def run_ownertop_view(self, view: str, *options: str) -> str:
        """Run a view, grouped by cache and stack. The truth has the bytes that were requested."""
        sort = [] if "-s" in options else ["-s", "bytes"]
        return subprocess.run([self.ownertop, view, "-g", "cache,stack", *sort, *options,
                               *self.dumps], check=True, capture_output=True, text=True).stdout

    def print_differing_sums(self, view: str, wanted: dict, found: dict) -> int:
        wrong = 0
        for key in sorted(set(wanted) | set(found)):
            if wanted.get(key) != found.get(key):
                wrong += 1
                print(f"{view} of {' '.join(self.dumps)}: {' '.join(key)}: "
                      f"planted {wanted.get(key)}, shown {found.get(key)}")
        return wrong

    def count_differences(self) -> int:
        raise NotImplementedError


class SingleDump(DumpComparison):
    """The text view of one dump: bytes and objects."""

    def read_table(self) -> Dict[Tuple[str, str], Tuple[str, ...]]:
        # Columns for wasted bytes and the oldest age are shown only if the dump has them.
        row = r" +\d+ +\S+ +(?:\S+ +)?(\S+) +[\d.]+% +(\d+)(?: +\d\S*)?(?:  (\S*))?"
        return parse_text_rows(self.run_ownertop_view("table", *WHOLE), row)

    def count_differences(self) -> int:
        wanted = {key: (format_size(size), str(objects))
                  for key, ((objects, size),) in self.truth.items()}
        return self.print_differing_sums("table", wanted, self.read_table())


class DumpDiff(DumpComparison):
    """Views that compare two dumps."""

    def read_json(self) -> Growth:
        groups = json.loads(self.run_ownertop_view("diff", "--json", *WHOLE))["groups"]
        return sum_planted_groups((g["cache"], g["stack"], [(g[at]["objects"], g[at]["bytes"])
                                                            for at in ("old", "new")])
                                  for g in groups)

    def read_csv(self) -> Growth:
        lines = self.run_ownertop_view("diff", "--csv", *WHOLE).splitlines()
        return sum_planted_groups((row["cache"], row["stack"].split(";"),
                                   [(int(row[at + "_objects"]), int(row[at + "_bytes"]))
                                    for at in ("old", "new")])
                                  for row in csv.DictReader(lines) if row["row"] == "group")

    def read_folded(self) -> Growth:
        values: Dict[str, List[List[int]]] = {}
        for sort in ("objects", "bytes"):
            for line in self.run_ownertop_view("folded", "-s", sort, "--since").splitlines():
                path, old, new = line.rsplit(" ", 2)
                values.setdefault(path, []).append([int(old), int(new)])
        return sum_planted_groups((*split_cache_and_chain(path.split(";")), list(zip(*sums)))
                                  for path, sums in values.items())

    def read_flame(self) -> Growth:
        """Subtract the numbers of its callers from each node."""
        page = self.run_ownertop_view("flame", "--since")
        data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
        width, path, own = 8, [], []
        for i in range(0, len(data["nodes"]), width):
            depth, name, objects, size, _, old, old_size, _ = data["nodes"][i:i + width]
            del path[depth:]
            if path:
                parent = own[path[-1][1]][1]
                parent[:] = [a - b for a, b in zip(parent, (old, old_size, objects, size))]
            path.append((data["names"][name], len(own)))
            own.append(([name for name, _ in path[1:]], [old, old_size, objects, size]))
        return sum_planted_groups(
            (*split_cache_and_chain(names), [tuple(sums[:2]), tuple(sums[2:])])
            for names, sums in own if any(sums))

    def read_table(self) -> Dict[Tuple[str, str], Tuple[str, ...]]:
        """The text view: growth, old and new bytes, objects."""
        row = r" +\d+ +([+-]\S+) +(\S+) +(\S+) +([+-]\d+|0)(?:  (\S*))?"
        return parse_text_rows(self.run_ownertop_view("diff", *WHOLE), row)

    def count_differences(self) -> int:
        both = {key: sums for key, sums in self.truth.items() if sums != [NONE, NONE]}
        wrong = sum(self.print_differing_sums(name, wanted, view()) for name, wanted, view in (
            ("diff --json", self.changed, self.read_json),
            ("diff --csv", self.changed, self.read_csv),
            ("folded --since", both, self.read_folded), ("flame --since", both, self.read_flame)))
        return wrong + self.print_differing_sums("diff", {
            key: (format_with_sign(new[1] - old[1], format_size),
                  *(format_size(at[1]) if at[0] else "-" for at in (old, new)),
                  format_with_sign(new[0] - old[0], str))
            for key, (old, new) in self.changed.items()},
            self.read_table())


class DumpTrend(DumpComparison):
    """The trend over all dumps."""

    def read_json(self) -> dict:
        answer = json.loads(self.run_ownertop_view("trend", "--json", *WHOLE,
                                                   "--time", format_dump_hours()))
        return {key: (list_dump_sums(g), g["up"], g["down"], format_rate(g["objects_per_hour"]),
                      format_rate(g["bytes_per_hour"]))
                for key, g in iterate_planted_groups(answer["groups"], lambda g: g["stack"])}

    def read_csv(self) -> dict:
        text = self.run_ownertop_view("trend", "--csv", *WHOLE, "--time", format_dump_hours())
        lines = [row for row in csv.DictReader(text.splitlines()) if row["row"] == "group"]
        return {key: ((int(g["objects"]), int(g["bytes"])), int(g["up"]), int(g["down"]),
                      format_rate(g["objects_per_hour"]), format_rate(g["bytes_per_hour"]))
                for key, g in iterate_planted_groups(lines, lambda row: row["stack"].split(";"))}

    def read_table(self) -> Dict[Tuple[str, str], Tuple[str, ...]]:
        row = r" +\d+ +([+-]\S+|0B) +(\S+) +([+-]\S+|0) +(\d/\d) +\S+(?:  (\S*))?"
        text = self.run_ownertop_view("trend", *WHOLE, "--time", format_dump_hours())
        return parse_text_rows(text, row)

    def count_differences(self) -> int:
        planted_growth, for_people = {}, {}
        for key, sums in self.changed.items():
            objects, size = zip(*sums)
            up = sum(b > a for a, b in zip(size, size[1:]))
            down = sum(b < a for a, b in zip(size, size[1:]))
            planted_growth[key] = (sums, up, down, format_rate(fit_slope_per_hour(objects)),
                                   format_rate(fit_slope_per_hour(size)))
            for_people[key] = (format_with_sign(round_half_away(fit_slope_per_hour(size)),
                                                format_size),
                               format_size(size[-1]),
                               format_objects_per_hour(fit_slope_per_hour(objects)),
                               f"{up}/{len(sums) - 1}")
        last = {key: (sums[-1], *rest) for key, (sums, *rest) in planted_growth.items()}
        return (self.print_differing_sums("trend --json", planted_growth, self.read_json())
                + self.print_differing_sums("trend --csv", last, self.read_csv())
                + self.print_differing_sums("trend", for_people, self.read_table()))


def format_dump_hours() -> str:
    return ",".join(f"{hour}h" for hour in HOURS)


def list_dump_sums(group: dict) -> List[Tuple[int, int]]:
    return [(at["objects"], at["bytes"]) for at in group["dumps"]]


def format_rate(per_hour: float) -> str:
    """A rate, rounded to six decimals."""
    return f"{float(per_hour):.6f}"


def fit_slope_per_hour(values: Iterable[int]) -> float:
    """The slope of the least squares line."""
    values = list(values)
    at, level = sum(HOURS) / len(HOURS), sum(values) / len(values)
    return (sum((hour - at) * (value - level) for hour, value in zip(HOURS, values))
            / sum((hour - at) ** 2 for hour in HOURS))


def round_half_away(value: float) -> int:
    """Round halves away from zero."""
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def format_with_sign(value: int, form: Callable) -> str:
    return ("+" if value > 0 else "-" if value < 0 else "") + form(abs(value))


def format_objects_per_hour(per_hour: float) -> str:
    """Objects per hour, with one decimal below ten."""
    if abs(per_hour) < 10:
        return f"{per_hour:+.1f}"
    return format_with_sign(round_half_away(per_hour), str)


def make_chain_key(chain: List[str]) -> str:
    """The planter's functions in a chain, without source lines."""
    return ";".join(match[1] for match in map(NAME.match, chain) if match)


def iterate_planted_groups(groups: List[dict],
                           stack_of: Callable) -> Iterator[Tuple[Tuple[str, str], dict]]:
    for group in groups:
        chain = make_chain_key(stack_of(group))
        if chain:
            yield (group["cache"], chain), group


def sum_planted_groups(groups: Iterable[Group]) -> Growth:
    """The groups whose chains have a function of the planter."""
    found: Growth = {}
    for cache, chain, sums in groups:
        key = cache, make_chain_key(chain)
        if key[1]:
            before = found.get(key, [NONE] * len(sums))
            found[key] = [(a + c, b + d) for (a, b), (c, d) in zip(before, sums)]
    return found


def parse_text_rows(text: str, pattern: str) -> Dict[Tuple[str, str], Tuple[str, ...]]:
    """Parse lines with numbers and perhaps a cache, each followed by a chain."""
    found: List[Tuple[Tuple[str, ...], List[str]]] = []
    for line in text.splitlines():
        row = re.fullmatch(pattern, line)
        if row:
            found.append((row.groups(), []))
        elif found and line.startswith(" " * 7):
            found[-1][1].append(line.strip())
    return {(figures[-1] or "", make_chain_key(chain)): figures[:-1]
            for figures, chain in found if make_chain_key(chain)}


def select_totals_of_cache(truth: Totals, cache: str) -> Totals:
    return {key: sums for key, sums in truth.items() if key[0] == cache}


def read_slab_bytes_per_object(moment: str, cache: str) -> int:
    """The bytes of a cache's slab per object, with debugging metadata."""
    with open(os.path.join(moment, "kernel/slab", cache, "slab_size"), encoding="ascii") as file:
        return int(file.read())


def sum_by_allocating_function(truth: Totals, moment: str) -> Totals:
    """Totals by allocating function, in bytes of the slab."""
    found: Totals = {}
    for (cache, chain), (objects, _) in truth.items():
        key = "", chain.split(";")[0]
        before = found.get(key, NONE)
        size = read_slab_bytes_per_object(moment, cache)
        found[key] = before[0] + objects, before[1] + objects * size
    return found


def find_allocation_lines(source: str) -> Dict[str, int]:
    """The source line in which each of the planter's functions allocates."""
    found: Dict[str, int] = {}
    function = ""
    with open(source, encoding="ascii") as file:
        for number, line in enumerate(file, 1):
            match = PLANTER.match(line)
            function = match[1] if match else function
            if re.search(r"= km\w*alloc\(", line):
                found[function] = number
    return found


def check_source_lines(ownertop: str, dump: str, source: str) -> int:
    """Check the source line of each of the planter's functions."""
    comparison = DumpComparison(ownertop, [dump], [])
    answer = json.loads(comparison.run_ownertop_view("table", "--json", *WHOLE))
    frames = [frame for group in answer["groups"] for frame in group["stack"]]
    told = {match[1]: int(match[2]) for match in map(SITE.fullmatch, frames) if match}
    right = find_allocation_lines(source)
    if not told or any(right[function] != line for function, line in told.items()):
        print(f"{dump}: lines are {right}, told {told}")
        return 1
    return 0


def check_dump_views(ownertop: str, dump: str, truth: Totals) -> int:
    """Check the views of one dump."""
    with tempfile.NamedTemporaryFile("w") as nothing:
        nothing.write(NOTHING)
        nothing.flush()
        views = OwnertopViews(ownertop, dump, nothing.name)
        checked = [views.sum_table, views.sum_table_csv, views.sum_tree, views.sum_callees,
                   views.sum_folded, views.sum_flame]
        if shutil.which("go"):
            checked.append(views.sum_pprof)
        wrong = sum(print_differences(f"{dump}: {view.__name__}", truth, view())
                    for view in checked)
        return wrong + SingleDump(ownertop, [dump], [truth]).count_differences()


def check_held_bytes(ownertop: str, dump: str, wanted: Dict[Tuple[str, str], int]) -> int:
    """Check the bytes that objects hold in their slabs."""
    comparison = DumpComparison(ownertop, [dump], [])
    answer = json.loads(comparison.run_ownertop_view("table", "--json", *WHOLE))
    found: Dict[Tuple[str, str], int] = {}
    for key, group in iterate_planted_groups(answer["groups"], lambda g: g["stack"]):
        found[key] = found.get(key, 0) + group["held"]
    if found != wanted:
        print(f"{dump}: should hold {wanted}, shown {found}")
    return int(found != wanted)


def check_views_of_dumps(ownertop: str, dumps: List[str], truth: List[Totals]) -> int:
    wrong = sum(check_dump_views(ownertop, dump, at) for dump, at in zip(dumps, truth))
    for old, new in ((0, 1), (1, 2), (0, 2), (2, 0)):
        diff = DumpDiff(ownertop, [dumps[old], dumps[new]], [truth[old], truth[new]])
        wrong += diff.count_differences()
    return wrong + DumpTrend(ownertop, dumps, truth).count_differences()


def check_allocinfo_dumps(ownertop: str, moments: List[str], truth: List[Totals],
                          source: str) -> int:
    dumps = [os.path.join(moment, "allocinfo") for moment in moments]
    by_site = [sum_by_allocating_function(*at) for at in zip(truth, moments)]
    wrong = sum(check_source_lines(ownertop, dump, source) for dump in dumps)
    for dump, at in zip(dumps, by_site):
        wrong += check_held_bytes(ownertop, dump, {key: size for key, (_, size) in at.items()})
    return wrong + check_views_of_dumps(ownertop, dumps, by_site)


def check_object_dumps(ownertop: str, file: str, moments: List[str], truth: List[Totals]) -> int:
    dumps = [os.path.join(moment, file) for moment in moments]
    wrong = 0
    for dump, at, moment in zip(dumps, truth, moments):
        held = {key: objects * read_slab_bytes_per_object(moment, key[0])
                for key, (objects, _) in at.items()}
        wrong += check_held_bytes(ownertop, dump, held)
    return wrong + check_views_of_dumps(ownertop, dumps, truth)


def main() -> int:
    ownertop, what, directory = sys.argv[1:4]
    moments = [os.path.join(directory, str(moment)) for moment in range(MOMENTS)]
    truth = [dict(read_planted_totals(os.path.join(moment, "truth"))) for moment in moments]
    if what == "allocinfo":
        wrong = check_allocinfo_dumps(ownertop, moments, truth, sys.argv[4])
    elif what == "slab_owner":
        wrong = check_object_dumps(ownertop, what, moments, truth)
    else:
        wrong = sum(check_object_dumps(ownertop, f"kernel/debug/slab/{cache}/{what}", moments,
                                       [select_totals_of_cache(at, cache) for at in truth])
                    for cache in sorted({cache for at in truth for cache, _ in at}))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
