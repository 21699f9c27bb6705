#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compare the figures that "go tool pprof" shows for ownertop's profiles with the dump."""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

import oracle

TYPES = {"inuse_space": "bytes", "inuse_objects": None, "held_space": "held"}

SECOND = 10**9
MINUTE = 60 * SECOND
SAMPLE = re.compile(r"^ +(\d+) +(\d+) +(\d+): [\d ]*\n"
                    r" +age:\[(\w+)\] (?:cache:\[(.*)\] )?comm:\[(.*)\] pid:\[(.*)\]$", re.M)
UNITS = (("d", 1440 * MINUTE), ("h", 60 * MINUTE), ("m", MINUTE))


def format_age(age):
    """Format a bucket of whole minutes as the language prints times."""
    if not age:
        return "0ns"
    return next(f"{age // factor}{unit}" for unit, factor in UNITS if age % factor == 0)


class Checker:
    """Run pprof on profiles of ownertop and count errors."""

    def __init__(self, program, work):
        self.program = program
        self.skip = oracle.read_skip_list(program)
        self.profile = os.path.join(work, "profile.pb.gz")
        self.wrong = 0

    def write_profile(self, *arguments):
        """Write a profile with ownertop."""
        with open(self.profile, "wb") as out:
            subprocess.run([self.program, "pprof", "--page-size", str(oracle.PAGE_SIZE),
                            *arguments], check=True, stdout=out)

    def run_pprof(self, *arguments):
        """Return the output of pprof."""
        return subprocess.run(["go", "tool", "pprof", *arguments, self.profile], check=True,
                              capture_output=True, text=True,
                              env={**os.environ, "TZ": "UTC"}).stdout

    def expect_equal(self, what, want, got):
        """Count an error for each key with different values in two dictionaries."""
        for key in want.keys() | got.keys():
            if want.get(key) != got.get(key):
                self.wrong += 1
                print(f"{what}: {key}: want {want.get(key)}, got {got.get(key)}")

    def check_top(self, dump, sample, *focus, keep=lambda rec: True):
        """Compare flat and cumulative figures of every function."""
        want = collections.defaultdict(lambda: [0, 0])
        for rec in oracle.read_records(dump, 0, self.skip):
            if not keep(rec):
                continue
            value = rec[TYPES[sample]] if TYPES[sample] else 1
            names = [name.split(" ")[0] for name in oracle.list_chain_functions(rec)]
            want[names[-1]][0] += value
            for name in set(names):
                want[name][1] += value
        got = {}
        text = self.run_pprof("-top", "-unit=B", "-nodefraction=0", "-nodecount=1000000",
                              f"-sample_index={sample}", *focus)
        for line in text.split("cum%\n", 1)[1].splitlines():
            flat, _, _, cum, _, name = line.split(None, 5)
            got[name] = [int(re.sub(r"\D", "", v)) for v in (flat, cum)]
        self.expect_equal(f"top {sample} {focus}", want, got)

    def check_samples(self, dump):
        """Compare the figures and labels of every sample."""
        groups = collections.defaultdict(list)
        recs = list(oracle.read_records(dump, 0, self.skip))
        newest = max(rec["ts"] for rec in recs)
        for rec in recs:
            groups[rec["stack"], rec["cache"], rec["comm"], rec["pid"],
                   (newest - rec["ts"]) // MINUTE * MINUTE].append(rec)
        want = collections.Counter()
        for (_, cache, comm, pid, age), found in groups.items():
            sums = (len(found), sum(r["bytes"] for r in found), sum(r["held"] for r in found))
            want[sums, cache, comm, str(pid), format_age(age)] += 1

        got = collections.Counter()
        for match in SAMPLE.finditer(self.run_pprof("-raw")):
            *sums, age, cache, comm, pid = match.groups()
            got[tuple(map(int, sums)), cache or "", comm, pid, age] += 1
        self.expect_equal("samples", want, got)

    def check_default(self, dump):
        """Check the labels, and what Parca and Pyroscope recognise a profile by."""
        os.utime(dump, (0, 1000000000))
        self.write_profile(dump)
        raw = self.run_pprof("-raw")
        groups = {(rec["stack"], rec["cache"])
                  for rec in oracle.read_records(dump, 0, self.skip)}
        got = len(re.findall(r"^ +\d+ +\d+ +\d+: ", raw, re.M))
        self.expect_equal("default", {"samples": len(groups)}, {"samples": got})
        for line in ("PeriodType: space bytes", "Period: 1\n", "Time: 2001-09-09",
                     "inuse_objects/count inuse_space/bytes held_space/bytes[dflt]"):
            self.expect_line("default", line, raw)

    def expect_line(self, what, want, got):
        """Count an error unless the output of pprof has the line."""
        if want not in got:
            self.wrong += 1
            print(f"{what}: no {want!r} in\n{got[:500]}")


def main():
    """Return exit status 0 without errors, or 77 without pprof."""
    if not shutil.which("go"):
        print("needs go: apt-get install golang-go")
        return 77
    with tempfile.TemporaryDirectory() as work:
        check = Checker(sys.argv[1], work)
        dump = os.path.join(work, "dump")
        for sample in ("page.txt", "slab.txt"):
            oracle.make_dump(dump, sample, "--records", "2000", "--chains", "100",
                             "--spacing", str(2 * SECOND))
            check.write_profile("-g", "stack,cache,comm,pid,age.1m", dump)
            for kind in TYPES:
                check.check_top(dump, kind)
            check.check_samples(dump)
            check.check_top(dump, "inuse_objects", "-tagfocus=comm=^sshd$|^find$",
                            keep=lambda rec: rec["comm"] in ("sshd", "find"))
        check.check_default(dump)
        check.expect_line("default", "Type: held_space", check.run_pprof("-top"))
        check.expect_line("comment", "untracked: 0 slab objects", check.run_pprof("-comments"))
        check.write_profile("-s", "objects", "--cache", "dentry", dump)
        check.expect_line("sort", "Type: inuse_objects", check.run_pprof("-top"))
        check.expect_line("filter", "filtered out:", check.run_pprof("-comments"))
    return check.wrong > 0


if __name__ == "__main__":
    sys.exit(main())
