#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Find a function in the first three rows of what a guest of owner_leaks.sh printed.

check_leaks.py OUTPUT FUNCTION

OUTPUT has sections that begin with "=== WAY AMOUNT": an answer that was made after AMOUNT leaks.
The answer is ownertop's JSON, groups as the kernel prints them, or that of another tool, for which
WAY is its name. Prints a line for each way:

    WAY FIRST FRAME HELD OBJECTS CACHE ROWS

FIRST is the smallest amount from which on every answer had the function in its first three rows,
or "never". FRAME is its place in the call chain of the last answer; HELD, OBJECTS and CACHE are of
that row, or of the first one if the function is in none. For other tools, CACHE is the function
that the row begins with. ROWS are the rows of all answers as AMOUNT:ROW, 0 if it was in none of the
three. A row counts if it has more objects than one for 64 leaks.
"""

import json
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

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


def make_rows(grown: dict[str, tuple[int, int]]) -> list[Row]:
    """Rows of other tools: of call chains, one frame on a line, with their bytes and objects."""
    return sorted((Row(held, objects, re.split(r"[+.]", chain.split()[0])[0], chain.split())
                   for chain, (held, objects) in grown.items() if held > 0 and chain.split()),
                  key=lambda row: -row.held)


def parse_kmemleak_rows(text: str) -> list[Row]:
    """The call chains of unreferenced objects, summed up."""
    held, objects = Counter[str](), Counter[str]()
    for size, chain in re.findall(r"^unreferenced object .*\(size (\d+)\):\n(?:.*\n)*?"
                                  r"  backtrace.*:\n((?:    .*\n?)*)", text, re.M):
        chain = re.sub(r"\[<\w+>\]", "", chain)
        held[chain] += int(size)
        objects[chain] += 1
    return make_rows({chain: (held[chain], objects[chain]) for chain in held})


def parse_lines(text: str) -> dict[str, tuple[int, int]]:
    """The bytes and calls of each line of allocation profiling."""
    lines = re.findall(r"^ *(\d+) +(\d+) (.* func:(\S+)) *$", text, re.M)
    return {f"{function} {line}": (int(held), int(calls)) for held, calls, line, function in lines}


def parse_pages(text: str) -> dict[str, tuple[int, int]]:
    """The bytes of each call chain of page_owner. A page can have 64 objects of 64 bytes."""
    return {chain: (int(pages) << 12, int(pages) << 6) for chain, pages in
            re.findall(r"((?:^ .*\n)+)nr_base_pages: (\d+)$", text, re.M)}


def parse_grown_rows(text: str, parse: Callable[[str], dict[str, tuple[int, int]]]) -> list[Row]:
    """The growth from what is above the line "---" to what is below it."""
    old, new = map(parse, re.split(r"^---\n", text, maxsplit=1, flags=re.M))
    return make_rows({chain: (held - old.get(chain, (0, 0))[0], objects - old.get(chain, (0, 0))[1])
                      for chain, (held, objects) in new.items()})


PARSERS: dict[str, Callable[[str], list[Row]]] = {
    "kmemleak": parse_kmemleak_rows,
    "profiling": lambda text: parse_grown_rows(text, parse_lines),
    "page_owner": lambda text: parse_grown_rows(text, parse_pages),
}


def parse_rows(way: str, text: str) -> list[Row]:
    """The rows of an answer."""
    if way in PARSERS:
        return PARSERS[way](text)
    return parse_json_rows(text) if text.lstrip().startswith("{") else parse_kernel_rows(text)


def find_function(rows: list[Row], function: str, amount: int) -> Named:
    """The first row that grew and has the function."""
    for number, row in enumerate(rows[:ROWS], 1):
        # Compare names of functions: drop the offset and the suffixes of the compiler.
        stems = [re.split(r"[+.]", frame)[0] for frame in row.functions]
        # A function that works beside the leak may have some objects at any moment.
        if row.objects > amount / 64 and function in stems:
            return Named(number, stems.index(function) + 1, row)
    return Named(row=rows[0]) if rows else Named()


def main() -> int:
    """The program."""
    output, function = sys.argv[1:]
    found: dict[str, dict[int, Named]] = {}
    parts = re.split(r"^=== (\w+) (\d+)\r?\n", Path(output).read_text(), flags=re.M)
    for way, amount, text in zip(parts[1::3], map(int, parts[2::3]), parts[3::3]):
        found.setdefault(way, {})[amount] = find_function(
            parse_rows(way, text.replace("\r", "")), function, amount)
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
