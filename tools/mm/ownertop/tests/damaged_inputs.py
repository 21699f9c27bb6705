#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Damage good inputs in many ways; ownertop must survive and not lie.

Whatever it is fed, it must end with status 0 or 1, print JSON that is valid,
whose groups add up to its total and which says the same about completeness as
the exit status. The damage is the same in every run.
"""

import json
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

INPUTS = ("slab.txt", "page.txt", "names.txt", "slab.gz", "slab.zst",
          "page_handles.txt", "show_stacks.txt", "show_handles.txt",
          "show_stacks_handles.txt", "allocinfo_2.txt",
          "sys/kernel/debug/slab/kmalloc-64/alloc_traces")

# Their usual status is 1, which ownertop uses for incomplete input.
SANITIZERS = {**os.environ, "ASAN_OPTIONS": "exitcode=99",
              "UBSAN_OPTIONS": "exitcode=99:print_stacktrace=1"}


def cut(rng, data):
    """Lose the end."""
    return data[:rng.randrange(len(data))]


def lose(rng, data):
    """Lose a stretch in the middle."""
    start = rng.randrange(len(data))
    return data[:start] + data[start + rng.randint(1, 300):]


def repeat(rng, data):
    """Have a stretch twice."""
    start = rng.randrange(len(data))
    end = start + rng.randint(1, 300)
    return data[:end] + data[start:end] + data[end:]


def flip(rng, data):
    """Change single bytes."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 20)):
        out[rng.randrange(len(out))] = rng.randrange(256)
    return bytes(out)


def insert(rng, data):
    """Have something foreign in the middle."""
    junk = rng.choice((b"\n", b"\n\n", b"\0" * 50, b"9" * 30, b" " * 400, b"\r\n",
                       b"), ts 1 ns\n", b", ", b"tgid 1 (", b"x" * 200_000))
    at = rng.randrange(len(data))
    return data[:at] + junk + data[at:]


def shuffle(rng, data):
    """Have lines in another order."""
    lines = data.split(b"\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


# Whose output is not JSON with groups: these must survive and say so.
OTHER_VIEWS = (["tree", "--min", "0"], ["tree", "--json", "--callees"], ["records", "-n", "0"],
               ["folded", "-g", "comm,stack"], ["pprof"], ["flame"], ["page_owner_sort"],
               ["diff", os.path.join(HERE, "input", "slab.txt")])

DAMAGE = (cut, lose, repeat, flip, insert, shuffle)


def complaint(run, result):
    """What is wrong with what came out, or None."""
    if result.returncode not in (0, 1):
        return f"status {result.returncode}"
    if run % 4 == 3:
        return None
    try:
        answer = json.loads(result.stdout)
    except ValueError as error:
        return f"invalid JSON: {error}"
    if answer["complete"] != (result.returncode == 0):
        return "status and output differ about completeness"
    if answer["complete"] == (result.stderr != b""):
        return "stderr and output differ about completeness"
    for name, total in answer["total"].items():
        shown = sum(group[name] for group in answer["groups"])
        if shown + answer["not_shown"][name] != total:
            return f"{name} do not add up"
    return None


def has_mark(view, output):
    """Does the last line say that it is not all?"""
    start = {"folded": b"[incomplete: ", "page_owner_sort": b"# incomplete: "}[view]
    return output.splitlines()[-1:] != [] and output.splitlines()[-1].startswith(start)


def main():
    """Exit status 0 if nothing was found wrong."""
    ownertop, runs = sys.argv[1], int(sys.argv[2])
    originals = []
    for name in INPUTS:
        with open(os.path.join(HERE, "input", name), "rb") as original:
            originals.append(original.read())
    views = (["--json"], ["--json", "-n", "2", "-d", "0"],
             ["--json", "-g", "comm,cache,pid,module"], ["-n", "3"])
    wrong = 0
    for run in range(runs):
        rng = random.Random(run)
        data = rng.choice(originals)
        for _ in range(rng.randint(1, 3)):
            data = rng.choice(DAMAGE)(rng, data) or b"\n"
        result = subprocess.run([ownertop, *views[run % 4], "-"], input=data,
                                capture_output=True, check=False,
                                env=SANITIZERS)
        what = complaint(run, result)
        view = OTHER_VIEWS[run % len(OTHER_VIEWS)]
        files = ["-", "/dev/stdout"] if view == ["page_owner_sort"] else ["-"]
        other = subprocess.run([ownertop, *view, *files], input=data, capture_output=True,
                               check=False, env=SANITIZERS)
        # It reads records only: what else there is, is damage to it.
        worse = view == ["page_owner_sort"] and other.returncode == 1
        if not what and other.returncode != result.returncode and not worse:
            what = f"status {other.returncode} of {view}, {result.returncode} of the table"
            result = other
        if not what and view[0] in ("folded", "page_owner_sort") and \
                has_mark(view[0], other.stdout) != (other.returncode == 1):
            what = f"status {other.returncode} of {view}, and its last line says otherwise"
            result = other
        if what:
            wrong += 1
            print(f"damage {run}: {what}\n{result.stderr.decode(errors='replace')}")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
