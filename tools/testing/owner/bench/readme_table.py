#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write the tables of costs in README.md from the figures of make bench.

    readme_table.py           write both tables from build/bench.tsv
    readme_table.py --check   README.md has each table with all its rows, as TAP

A table is between the lines "<!-- NAME -->" and "<!-- end of NAME -->". A row stays as it is
if one of its modes was not measured.
"""

import re
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from workbench import BUILD, ROOT, die, print_line  # noqa: E402

from contexts import CONTEXTS, KMALLOC, PAGE  # noqa: E402
from modes import ARM64_BASE, BASE  # noqa: E402

README = ROOT / "README.md"
TOOLS = "costs of tools"
IN_CONTEXTS = "costs in contexts"
# Depth of the call chain at which the first table compares tools.
CHAIN = 8
BYTES = "bytes-of-object-64"

# The rows of the first table: a label, and the modes whose figures it shows.
TOOL_ROWS = [
    ("memory allocation profiling, off / on: source line, no caller",
     ("profiling-off", "profiling-on")),
    ("slub_debug=U", ("slab_debug=U",)),
    ("page_owner=on, Linux 6.12", ("page_owner",)),
    ("page_owner=on, ours", ("page_owner,ours",)),
    ("slab_owner=off, or ready", ("off",)),
    ("owner=sample=512K", ("sampled",)),
    ("owner=depth=1", ("depth-1",)),
    ("owner=depth=8", ("depth-8",)),
    ("slab_owner=on: 16 frames", ("on",)),
    ("slab_owner=on,free=on: and who freed it", ("on,free",)),
]
# The columns of the second table: a label and a mode.
CONTEXT_COLUMNS = {KMALLOC: [("sampled", "sampled"), ("depth 1", "depth-1"), ("16 frames", "on"),
                             ("free=on", "on,free")],
                   PAGE: [("page_owner=on", "page_owner,ours")]}
AT_BOUND = ", depot at its bound"
ON_ARM64 = ", arm64"

Figures = dict[tuple[str, int, str], float]


def read_figures() -> Figures:
    """The medians of build/bench.tsv."""
    path = BUILD / "bench.tsv"
    if not path.is_file():
        die(f"{path.relative_to(ROOT)} is missing: run 'make bench'")
    lines = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    return {(operation, int(chain), mode): float(median)
            for operation, chain, mode, _, median in lines}


def format_added(figures: Figures, operation: str, chain: int, mode: str, base: str = BASE) -> str:
    """The figure of a mode above its base's."""
    return f"{round(figures[operation, chain, mode] - figures[operation, chain, base]):,}"


def format_row(label: str, cells: list[str]) -> str:
    """A row of a table."""
    return f"| {label} | " + " | ".join(cells) + " |"


def format_header(columns: list[str]) -> list[str]:
    """The first two lines of a table whose columns hold numbers, except for the first."""
    return [format_row("", columns), "| --- |" + " ---: |" * len(columns)]


def make_tools_table(figures: Figures, old_rows: dict[str, str]) -> list[str]:
    """The costs of tools."""
    def format_cell(modes: tuple[str, ...], operation: str, chain: int = CHAIN) -> str:
        return " / ".join(format_added(figures, operation, chain, mode) for mode in modes)

    measured = {mode for _, _, mode in figures}
    lines = format_header([f"kmalloc + kfree ({figures[KMALLOC, CHAIN, BASE]:.0f} plain)",
                           f"page ({figures[PAGE, CHAIN, BASE]:.0f} plain)",
                           "bytes for an object of 64"])
    for label, modes in TOOL_ROWS:
        if not measured.issuperset(modes):
            lines.append(keep_old_row(label, old_rows))
            continue
        # A mode that does not affect pages, or objects, has no figure in that column.
        pages_only, objects_only = "page_owner" in modes[0], "slab_debug" in modes[0]
        lines.append(format_row(label, [
            "" if pages_only else format_cell(modes, KMALLOC),
            "" if objects_only else format_cell(modes, PAGE),
            "" if pages_only else format_cell(modes, BYTES, 0)]))
    return lines


def make_contexts_table(figures: Figures, old_rows: dict[str, str]) -> list[str]:
    """The costs in contexts, at the depot's bound, and on arm64."""
    lines = format_header(["plain", *(label for label, _ in CONTEXT_COLUMNS[KMALLOC]), "target",
                           "page, plain", *(label for label, _ in CONTEXT_COLUMNS[PAGE])])
    for row in CONTEXTS:
        cells = []
        try:
            for operation, columns in CONTEXT_COLUMNS.items():
                name = f"{operation}/{row.context}"
                cells.append(f"{figures[name, 0, BASE]:.0f}")
                cells += [format_added(figures, name, 0, mode) for _, mode in columns]
                if operation == KMALLOC:
                    cells.append(f"{row.on[1]:,}")
            lines.append(format_row(row.label, cells))
        except KeyError:
            lines.append(keep_old_row(row.label, old_rows))
    for mode, base, suffix in (("bound", BASE, AT_BOUND), ("arm64,on", ARM64_BASE, ON_ARM64)):
        lines += [make_special_row(figures, old_rows, row.label + suffix,
                                   (f"{KMALLOC}/{row.context}", mode, base), row.limits[mode][1])
                  for row in CONTEXTS if row.limits[mode][0]]
    return lines


def make_special_row(figures: Figures, old_rows: dict[str, str], label: str,
                     figure: tuple[str, str, str], target: float) -> str:
    """A row of the second table that has a figure in the column of 16 frames only."""
    name, mode, base = figure
    if (name, 0, mode) not in figures:
        return keep_old_row(label, old_rows)
    return format_row(label, [f"{figures[name, 0, base]:.0f}", "", "",
                              format_added(figures, name, 0, mode, base), "", f"{target:,}",
                              "", ""])


def keep_old_row(label: str, old_rows: dict[str, str]) -> str:
    """The row that README.md has."""
    if label not in old_rows:
        die(f"README.md has no row '{label}', and build/bench.tsv lacks its figures")
    print_line(f"README.md keeps the row '{label}': it was not measured")
    return old_rows[label]


def find_table(text: str, name: str) -> re.Match[str] | None:
    """The table of that name, without the lines that mark it."""
    return re.search(rf"(?<=<!-- {name} -->\n\n).*?(?=\n\n<!-- end of {name} -->\n)", text, re.S)


def split_rows(table: str) -> dict[str, str]:
    """The rows of a table by their labels."""
    return {line.strip("| ").split(" |")[0]: line for line in table.splitlines()[2:]}


def write_tables() -> int:
    """Replace both tables."""
    figures = read_figures()
    text = README.read_text()
    for name, make_table in ((TOOLS, make_tools_table), (IN_CONTEXTS, make_contexts_table)):
        found = find_table(text, name)
        if not found:
            die(f"README.md has no table between the lines of '{name}'")
        lines = make_table(figures, split_rows(found[0]))
        text = text[:found.start()] + "\n".join(lines) + text[found.end():]
    README.write_text(text)
    return 0


def check_tables() -> int:
    """Check that each table has its rows; print TAP."""
    text = README.read_text()
    wanted = {
        TOOLS: [label for label, _ in TOOL_ROWS],
        IN_CONTEXTS: [row.label for row in CONTEXTS]
        + [row.label + AT_BOUND for row in CONTEXTS if row.bound[0]]
        + [row.label + ON_ARM64 for row in CONTEXTS if row.arm64[0]]}
    failed = 0
    for number, (name, labels) in enumerate(wanted.items(), 1):
        found = find_table(text, name)
        rows = list(split_rows(found[0])) if found else []
        good = rows == labels
        failed += not good
        print_line(f"{'ok' if good else 'not ok'} {number} - README.md has each row of the {name}")
        for label in sorted(set(labels) ^ set(rows)):
            print_line(f"# {'missing' if label in labels else 'unknown'}: {label}")
    print_line(f"1..{len(wanted)}")
    return 1 if failed else 0


def main() -> int:
    """The program."""
    if sys.argv[1:] == ["--check"]:
        return check_tables()
    if sys.argv[1:]:
        die("usage: readme_table.py [--check]")
    return write_tables()


if __name__ == "__main__":
    sys.exit(main())
