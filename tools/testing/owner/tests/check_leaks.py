#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Find a function in the first three rows of what a guest of owner_leaks.sh printed.

check_leaks.py OUTPUT FUNCTION

OUTPUT has sections that begin with "=== WAY AMOUNT": an answer that was made after AMOUNT leaks.
The answer is ownertop's JSON, or groups as the kernel prints them. Prints a line for each way:

    WAY FIRST FRAME HELD OBJECTS CACHE ROWS

FIRST is the smallest amount from which on every answer had the function in its first three rows,
or "never". FRAME is its place in the call chain of the last answer; HELD, OBJECTS and CACHE are of
that row. ROWS are the rows of all answers as AMOUNT:ROW, 0 if it was in none of the three. A row
counts if it has more objects than one for 64 leaks.
"""

import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROWS = 3


@dataclass
class Row:
    """A row of an answer; the figures are growth if the answer compares."""
    held: int
    objects: int
    cache: str
    functions: list[str]


@dataclass
class Named:
    """Where an answer has the function: the row and the frame count from 1, 0 is nowhere."""
    number: int = 0
    frame: int = 0
    row: Row = field(default_factory=lambda: Row(0, 0, "-", []))


def parse_json_rows(text: str) -> list[Row]:
    """The rows of ownertop."""
    rows = []
    for group in json.loads(text)["groups"]:
        new, old = group.get("new", group), group.get("old", {"held": 0, "objects": 0})
        rows.append(Row(new["held"] - old["held"], new["objects"] - old["objects"],
                        group.get("cache") or "-", group["stack"]))
    return rows


def parse_kernel_rows(text: str) -> list[Row]:
    """The groups of the kernel's answer."""
    return [Row(int(sums[2]), int(sums[1]), "-", re.findall(r"^ (\w\S*)", block, re.M))
            for block in re.split(r"\n\s*\n", text.strip())
            for sums in [re.match(r"objects (-?\d+), .*?held (-?\d+)", block)] if sums]


def find_function(text: str, function: str, amount: int) -> Named:
    """The first row that grew and has the function."""
    rows = parse_json_rows(text) if text.lstrip().startswith("{") else parse_kernel_rows(text)
    for number, row in enumerate(rows[:ROWS], 1):
        # Compare names of functions: drop the offset and the suffixes of the compiler.
        stems = [re.split(r"[+.]", frame)[0] for frame in row.functions]
        # A function that works beside the leak may have some objects at any moment.
        if row.objects > amount / 64 and function in stems:
            return Named(number, stems.index(function) + 1, row)
    return Named()


def main() -> int:
    """The program."""
    output, function = sys.argv[1:]
    found: dict[str, dict[int, Named]] = {}
    parts = re.split(r"^=== (\w+) (\d+)\r?\n", Path(output).read_text(), flags=re.M)
    for way, amount, text in zip(parts[1::3], map(int, parts[2::3]), parts[3::3]):
        found.setdefault(way, {})[amount] = find_function(text.replace("\r", ""), function, amount)
    for way, rows in found.items():
        amounts = sorted(rows)
        unnamed = [amount for amount in amounts if not rows[amount].number]
        named = [amount for amount in amounts if not unnamed or amount > unnamed[-1]]
        last = rows[amounts[-1]]
        print(way, named[0] if named else "never", last.frame, last.row.held, last.row.objects,
              last.row.cache, ",".join(f"{amount}:{rows[amount].number}" for amount in amounts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
