#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Damage inputs in many ways and check that ownertop reports it.

With every input it must exit with status 0 or 1 and print valid JSON. Its groups must
add up to the total, and "complete" must agree with the exit status. The damage is the
same in every run.
"""

import json
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

INPUTS = ("slab.txt", "page.txt", "names.txt", "user.txt", "slab.gz", "slab.zst",
          "slab.xz", "slab.bz2", "slab.lz4", "page_handles.txt", "show_stacks.txt",
          "show_handles.txt", "show_stacks_handles.txt", "allocinfo_2.txt",
          "sys/kernel/debug/slab/kmalloc-64/alloc_traces")

# The usual exit status of sanitizers is 1, which ownertop uses for incomplete input.
SANITIZERS = {**os.environ, "ASAN_OPTIONS": "exitcode=99",
              "UBSAN_OPTIONS": "exitcode=99:print_stacktrace=1"}


def truncate_input(rng, data):
    """Cut off the end of the input."""
    return data[:rng.randrange(len(data))]


def remove_random_range(rng, data):
    """Remove a part of the input."""
    start = rng.randrange(len(data))
    return data[:start] + data[start + rng.randint(1, 300):]


def repeat_random_range(rng, data):
    """Repeat a part of the input."""
    start = rng.randrange(len(data))
    end = start + rng.randint(1, 300)
    return data[:end] + data[start:end] + data[end:]


def change_bytes(rng, data):
    """Change single bytes of the input."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 20)):
        out[rng.randrange(len(out))] = rng.randrange(256)
    return bytes(out)


def insert_junk(rng, data):
    """Insert bytes that no record has at this place into the input."""
    junk = rng.choice((b"\n", b"\n\n", b"\0" * 50, b"9" * 30, b" " * 400, b"\r\n",
                       b"), ts 1 ns\n", b", ", b"tgid 1 (", b"x" * 200_000))
    at = rng.randrange(len(data))
    return data[:at] + junk + data[at:]


def swap_lines(rng, data):
    """Swap two lines of the input."""
    lines = data.split(b"\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


def insert_short_line(rng, data):
    """Insert a line that is shorter than what both its neighbours begin with."""
    lines = data.split(b"\n")
    gaps = [i for i in range(1, len(lines)) if lines[i - 1][:6] == lines[i][:6] != b""]
    lines.insert(rng.choice(gaps or [0]), rng.choice((b" a", b" user")))
    return b"\n".join(lines)


# Commands whose output is not JSON with groups: only their last line is checked.
OTHER_VIEWS = (["tree", "--min", "0"], ["tree", "--json", "--callees"], ["table", "-n", "0"],
               ["folded", "-g", "comm,stack"], ["pprof"], ["flame"], ["page_owner_sort"],
               ["diff", "-g", "stack"])

DAMAGE = (truncate_input, remove_random_range, repeat_random_range, change_bytes, insert_junk,
          swap_lines, insert_short_line)


def find_output_error(run, result):
    """Return what is wrong with the output of ownertop, or None."""
    if result.returncode not in (0, 1) and b": the input is empty\n" not in result.stderr:
        return f"status {result.returncode}"
    if run % 4 == 3 or result.returncode == 2:
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


def ends_with_incomplete_notice(view, output):
    """Does the last line of the output say that it is incomplete?"""
    start = {"folded": b"[incomplete: ", "page_owner_sort": b"# incomplete: "}[view]
    return output.splitlines()[-1:] != [] and output.splitlines()[-1].startswith(start)


def main():
    """Return exit status 0 without errors."""
    ownertop, runs = sys.argv[1], int(sys.argv[2])
    originals = []
    for name in INPUTS:
        path = os.path.join(HERE, "input", name)
        with open(path, "rb") as original:
            originals.append((path, original.read()))
    views = (["--json"], ["--json", "-n", "2", "-d", "0"],
             ["--json", "-g", "comm,user,cache,pid,module"], ["-n", "3"])
    wrong = 0
    for run in range(runs):
        rng = random.Random(run)
        path, data = rng.choice(originals)
        for _ in range(rng.randint(1, 3)):
            data = rng.choice(DAMAGE)(rng, data) or b"\n"
        result = subprocess.run([ownertop, *views[run % 4], "-"], input=data,
                                capture_output=True, check=False,
                                env=SANITIZERS)
        what = find_output_error(run, result)
        view = OTHER_VIEWS[run % len(OTHER_VIEWS)]
        files = {"page_owner_sort": ["-", "/dev/stdout"], "diff": [path, "-"]}.get(view[0], ["-"])
        other = subprocess.run([ownertop, *view, *files], input=data, capture_output=True,
                               check=False, env=SANITIZERS)
        # page_owner_sort reads records only: other formats are damage.
        worse = view == ["page_owner_sort"] and other.returncode == 1
        if not what and other.returncode != result.returncode and not worse:
            what = f"status {other.returncode} of {view}, {result.returncode} of the table"
            result = other
        if not what and view[0] in ("folded", "page_owner_sort") and \
                ends_with_incomplete_notice(view[0], other.stdout) != (other.returncode == 1):
            what = f"status {other.returncode} of {view}, and its last line says otherwise"
            result = other
        if what:
            wrong += 1
            print(f"damage {run}: {what}\n{result.stderr.decode(errors='replace')}")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
