#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compare ownertop's trees, folded stacks and growth with results of oracle.py."""

import collections
import fractions
import json
import os
import re
import subprocess
import sys
import tempfile

import oracle

SUMS = ("objects", "bytes", "held")
HELD = SUMS.index("held")
NOTHING = (0, 0, 0)


def add_sums(a, b):
    """Add two tuples of objects, bytes and bytes held."""
    return tuple(x + y for x, y in zip(a, b))


def sum_records(records):
    """Return objects, bytes and bytes held of some records."""
    return (len(records), sum(r["bytes"] for r in records),
            sum(r["held"] for r in records))


def get_json_sums(answer):
    """Return objects, bytes and bytes held of a member of JSON."""
    return tuple(answer[name] for name in SUMS)


def strip_build(frame):
    """Return the function of a frame without what its build has added to the name."""
    return re.sub(r"^([^ .+]+?)(_noprof)?([.+]\S*)?(?= |$)", r"\1", frame)


class Checker:
    """Run ownertop and count errors."""

    def __init__(self, program):
        self.program = program
        self.skip = oracle.read_skip_list(program)
        self.wrong = 0

    def run_ownertop(self, *arguments):
        """Return the output of ownertop."""
        return subprocess.run([self.program, "--page-size", str(oracle.PAGE_SIZE), *arguments],
                              check=True, capture_output=True, text=True).stdout

    def expect_equal(self, what, want, got):
        """Count an error for each key with different values in two dictionaries."""
        for key in want.keys() | got.keys():
            if want.get(key) != got.get(key):
                self.wrong += 1
                print(f"{what}: {key}: want {want.get(key)}, got {got.get(key)}")

    def check_tree(self, dump, callees):
        """Compare every node of a complete tree, and those of a tree with --min."""
        cum, flat = collections.Counter(), collections.Counter()
        total = NOTHING
        for rec in oracle.read_records(dump, 0, self.skip):
            path = oracle.list_chain_functions(rec)
            path = path[::-1] if callees else path
            one = sum_records([rec])
            total = add_sums(total, one)
            for i in range(len(path) + 1):
                cum[path[:i]] = add_sums(cum[path[:i]] or NOTHING, one)
            owner = path[:1] if callees else path
            flat[owner] = add_sums(flat[owner] or NOTHING, one)
        want = {p: (cum[p], flat[p] or NOTHING) for p in cum}
        options = ["--callees"] if callees else []
        what = f"tree {options}"
        got, _ = self.read_nodes("tree", "--json", "--min", "0", *options, dump)
        self.expect_equal(what, want, got)

        least = total[HELD] * 2 / 100
        kept = {p: v for p, v in want.items() if v[0][HELD] >= least}
        got, answer = self.read_nodes("tree", "--json", "--min", "2", *options, dump)
        self.expect_equal(what + " pruned", kept, got)
        dropped = NOTHING
        for path in want.keys() - kept.keys():
            dropped = add_sums(dropped, want[path][1])
        self.expect_equal(what + " dropped",
                          {"nodes": len(want) - len(kept), "sum": dropped, "total": total},
                          {"nodes": answer["dropped_nodes"],
                           "sum": get_json_sums(answer["dropped"]),
                           "total": get_json_sums(answer["total"])})
        largest = sorted((v[0][HELD] for v in want.values()), reverse=True)[:31]
        got, _ = self.read_nodes("tree", "--json", "--min", "0", "-n", "30", *options, dump)
        self.expect_equal(what + " top", dict(enumerate(largest)),
                          dict(enumerate(sorted((v[0][HELD] for v in got.values()), reverse=True))))

    def read_nodes(self, *arguments):
        """Return the nodes of a tree by path."""
        answer = json.loads(self.run_ownertop(*arguments))
        paths, got = {}, {}
        for node in answer["nodes"]:
            path = paths[node["parent"]] + (node["name"],) if "parent" in node else ()
            paths[node["id"]] = path
            got[path] = (get_json_sums(node["cum"]), get_json_sums(node["flat"]))
        return got, answer

    def check_folded(self, dump, sort):
        """Compare each line of folded stacks."""
        want = collections.Counter()
        for rec in oracle.read_records(dump, 0, self.skip):
            want[";".join(oracle.list_chain_functions(rec))] += sum_records([rec])[SUMS.index(sort)]
        got = {}
        for line in self.run_ownertop("folded", "-s", sort, dump).splitlines():
            path, value = line.rsplit(" ", 1)
            got[path] = int(value)
        self.expect_equal(f"folded {sort}", want, got)

    def check_functions(self, dump):
        """Compare the figures of each function and of its callers."""
        want = collections.defaultdict(lambda: [NOTHING, NOTHING, {}])
        for rec in oracle.read_records(dump, 0, self.skip):
            path = [strip_build(name) for name in oracle.list_chain_functions(rec)]
            one = sum_records([rec])
            want[path[-1]][0] = add_sums(want[path[-1]][0], one)
            for name in set(path):
                want[name][1] = add_sums(want[name][1], one)
            for caller, name in set(zip(path, path[1:])):
                calls = want[name][2]
                calls[caller] = calls.get(caller, 0) + one[HELD]
        answer = json.loads(self.run_ownertop("functions", "--json", dump))
        got = {}
        for row in answer["functions"]:
            calls = {c["name"]: c["sum"]["held"] for c in row["callers"]}
            got[row["name"]] = (get_json_sums(row["flat"]), get_json_sums(row["cum"]),
                                row["nr_callers"], sorted(calls.values(), reverse=True),
                                calls.items() <= want[row["name"]][2].items())
        want = {name: (flat, cum, len(calls), sorted(calls.values(), reverse=True)[:3], True)
                for name, (flat, cum, calls) in want.items()}
        self.expect_equal("functions", want, got)

    def read_groups(self, dump, by):
        """Return the sums of a dump by call chain and cache."""
        found = collections.defaultdict(list)
        for rec in oracle.read_records(dump, 4, self.skip):
            stack = rec["stack"]
            if by == "function":
                stack = tuple(strip_build(frame) for frame in stack)
            found[stack, rec["cache"]].append(rec)
        return {key: sum_records(recs) for key, recs in found.items()}

    def check_diff(self, old, new, by):
        """Compare each group of a diff, and the order of groups."""
        before, after = self.read_groups(old, by), self.read_groups(new, by)
        want = {key: (before.get(key, NOTHING), after.get(key, NOTHING))
                for key in before.keys() | after.keys()
                if before.get(key) != after.get(key)}
        answer = json.loads(self.run_ownertop("diff", "--json", "--by", by, old, new))
        got = {(tuple(g["stack"]), g["cache"]): (get_json_sums(g["old"]), get_json_sums(g["new"]))
               for g in answer["groups"]}
        self.expect_equal("diff", want, got)
        growth = [g["new"]["held"] - g["old"]["held"] for g in answer["groups"]]
        self.expect_equal("diff order", dict(enumerate(sorted(growth, reverse=True))),
                          dict(enumerate(growth)))
        self.expect_equal("diff counts",
                          {"appeared": len(after.keys() - before.keys()),
                           "gone": len(before.keys() - after.keys()),
                           "unchanged": len(before.keys() | after.keys()) - len(want)},
                          {key: answer[key] for key in ("appeared", "gone", "unchanged")})

        want = collections.defaultdict(lambda: [0, 0])
        for side, dump in enumerate((old, new)):
            for rec in oracle.read_records(dump, 0, self.skip):
                want[";".join(oracle.list_chain_functions(rec))][side] += rec["held"]
        got = {}
        for line in self.run_ownertop("folded", "--since", old, new).splitlines():
            path, left, right = line.rsplit(" ", 2)
            got[path] = [int(left), int(right)]
        self.expect_equal("folded diff", want, got)

    def check_trend(self, dumps):
        """Compare the slope of each group, and R2."""
        groups = [self.read_groups(dump, "site") for dump in dumps]
        hours = [max(rec["ts"] for rec in oracle.read_records(dump, 4, self.skip)) / 3600e9
                 for dump in dumps]
        hours = [fractions.Fraction(hour - hours[0]) for hour in hours]
        want = {}
        for key in set().union(*groups):
            sums_of = [group.get(key, NOTHING) for group in groups]
            if len(set(sums_of)) > 1:
                want[key] = fit_trend_line(hours, [s[HELD] for s in sums_of])
        answer = json.loads(self.run_ownertop("trend", "--json", *dumps))
        got = {}
        for group in answer["groups"]:
            slope, r2 = group["held_per_hour"], group["r2"]
            key = tuple(group["stack"]), group["cache"]
            wanted = want.get(key, (0, 0, 0, 0))
            close = (abs(slope - wanted[0]) <= abs(wanted[0]) * 1e-6 + 1e-6 and
                     (r2 is None) == (wanted[1] is None) and
                     (r2 is None or abs(r2 - wanted[1]) < 1e-6))
            got[key] = (*(wanted[:2] if close else (slope, r2)), group["up"], group["down"])
        self.expect_equal("trend", want, got)
        slopes = [group["held_per_hour"] for group in answer["groups"]]
        self.expect_equal("trend order", dict(enumerate(sorted(slopes, reverse=True))),
                          dict(enumerate(slopes)))


def fit_trend_line(x, y):
    """Fit a line: return slope, R2, and steps up and down, computed with fractions."""
    n = len(x)
    mean_x, mean_y = sum(x) / n, fractions.Fraction(sum(y), n)
    xx = sum((a - mean_x) ** 2 for a in x)
    xy = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y))
    yy = sum((b - mean_y) ** 2 for b in y)
    steps = list(zip(y, y[1:]))
    return (float(xy / xx), float(xy * xy / (xx * yy)) if yy else None,
            sum(b > a for a, b in steps), sum(b < a for a, b in steps))


def main():
    """Return exit status 0 if all figures are equal."""
    check = Checker(sys.argv[1])
    with tempfile.TemporaryDirectory() as work:
        for sample in ("page.txt", "slab.txt"):
            old, new = os.path.join(work, "old"), os.path.join(work, "new")
            oracle.make_dump(old, sample, "--records", "3000", "--chains", "400")
            oracle.make_dump(new, sample, "--records", "3500", "--chains", "420")
            check.check_tree(old, False)
            check.check_tree(old, True)
            check.check_functions(old)
            check.check_folded(old, "bytes")
            check.check_folded(old, "objects")
            for by in ("site", "function"):
                check.check_diff(old, new, by)
            later = [os.path.join(work, f"dump{i}") for i in range(5)]
            for i, dump in enumerate(later):
                oracle.make_dump(dump, sample, "--records", str(600 + 150 * i),
                                 "--chains", "80", "--spacing", str((5 + i) * 10**9))
            check.check_trend(later)
    return check.wrong > 0


if __name__ == "__main__":
    sys.exit(main())
