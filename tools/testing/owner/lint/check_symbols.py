#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check the symbols of the built kernel objects, and what depends on what.

    check_symbols.py prefixes   a non-static symbol has one of our prefixes
    check_symbols.py rooms      no file of mm/owner calls, or includes, one of a later room
    check_symbols.py cycles     no files of mm/owner call, or include, each other in a ring

All read the objects of each kernel in build/ that has slab_owner. Objects whose
source is gone belong to an older build and do not count. Prints what is wrong.
"""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from sources import list_our_files, read_file

from workbench import BUILD, HERE, ROOT

KERNELS = ("x86_64", "um", "page")
PREFIXES = ("owner_", "slab_owner_", "page_owner_", "stack_depot_")
ALLOWED = HERE / "lint/known_symbols"
# A symbol that another object may use: of nm's letters, text, data, bss, read-only, weak.
DEFINED = "TDBRVWG"
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
# The rooms of mm/owner: files of a room use those of rooms before it. "" is the core, which uses a
# header of lang/.
ROOMS = ("lang", "", "user", "rules", "slab", "page", "control", "query", "files", "report",
         "tests")
Graph = dict[str, dict[str, set[str]]]


def find_kernel_objects(kernel: str) -> dict[str, Path]:
    """The kernel objects of our own sources: source path to object path."""
    found = {}
    for path in list_our_files():
        if path.endswith(".c") and path.startswith(("mm/owner/", "lib/stackdepot/")):
            built = BUILD / kernel / Path(path).with_suffix(".o")
            if built.is_file():
                found[path] = built
    return found


def read_object_symbols(built: dict[str, Path]) -> tuple[dict[str, str], dict[str, set[str]]]:
    """The source that defines each global symbol, and the symbols that each source needs."""
    sources = {str(path): source for source, path in built.items()}
    listed = subprocess.run(["nm", "-A", "-g", *sources], stdout=subprocess.PIPE, text=True,
                            check=True).stdout
    defined: dict[str, str] = {}
    needed: dict[str, set[str]] = defaultdict(set)
    for line in listed.split("\n"):
        place, _, rest = line.partition(":")
        words = rest.split()
        if len(words) >= 2 and words[-2] == "U":
            needed[sources[place]].add(words[-1])
        elif len(words) == 3 and words[1] in DEFINED:
            defined[words[2]] = sources[place]
    return defined, needed


def load_allowed_symbols() -> list[re.Pattern[str]]:
    """The list of symbols that Linux names: a pattern and the reason a line."""
    lines = (line.split("#")[0].split() for line in ALLOWED.read_text().split("\n"))
    return [re.compile(words[0]) for words in lines if words]


def check_prefixes() -> list[str]:
    """Global symbols that have none of our prefixes."""
    allowed = load_allowed_symbols()
    wrong = set()
    for kernel in KERNELS:
        built = find_kernel_objects(kernel)
        for name, source in read_object_symbols(built)[0].items() if built else ():
            if not name.startswith(PREFIXES) and not any(a.fullmatch(name) for a in allowed):
                wrong.add(f"{source}: {name} is not static and has none of the prefixes "
                          + " ".join(PREFIXES))
    return sorted(wrong)


def find_graph_cycles(graph: Graph) -> list[list[str]]:
    """The strongly connected components that have an edge inside (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit_node(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, {}):
            if other not in index:
                visit_node(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit_node(node)
    return found


def describe_cycles(what: str, graph: Graph) -> list[str]:
    """One headline for each cycle, and its edges with the names that make them."""
    lines = []
    for members in find_graph_cycles(graph):
        lines.append(f"{what} in a ring: {' '.join(members)}")
        for source in members:
            for target in sorted(set(members) & set(graph[source])):
                names = sorted(graph[source][target])
                more = f" and {len(names) - 6} more" if names[6:] else ""
                lines.append(f"  {source} -> {target}: {' '.join(names[:6])}{more}")
    return lines


def build_call_graph() -> Graph:
    """Which file of mm/owner uses which, and by what symbols, in any of the builds."""
    graph: Graph = defaultdict(lambda: defaultdict(set))
    for kernel in KERNELS:
        built = {source: path for source, path in find_kernel_objects(kernel).items()
                 if source.startswith("mm/owner/")}
        defined, needed = read_object_symbols(built) if built else ({}, {})
        for source, names in needed.items():
            for name in names & defined.keys():
                if defined[name] != source:
                    graph[source][defined[name]].add(name)
    return graph


def build_include_graph() -> Graph:
    """Which header of ours includes which."""
    headers = [path for path in list_our_files() if path.endswith(".h")
               and path.startswith(("mm/owner/", "include/", "lib/"))]
    graph: Graph = defaultdict(lambda: defaultdict(set))
    for path in headers:
        for name in INCLUDE.findall(read_file(path)):
            target = (ROOT / path).parent.joinpath(name).resolve()
            for root in (target, ROOT / "mm/owner" / name):
                if root.is_file():
                    graph[path][str(root.relative_to(ROOT))].add(name)
                    break
    return graph


def find_room(path: str) -> int:
    """The place of a file's room in ROOMS; -1 of a file outside of mm/owner."""
    parts = Path(path).parts
    if parts[:2] != ("mm", "owner"):
        return -1
    return ROOMS.index(parts[2] if len(parts) > 3 else "")


def find_upward_arrows() -> list[str]:
    """Files that include or call files of a later room."""
    wrong = []
    for path in list_our_files():
        if not path.startswith("mm/owner/") or not path.endswith((".c", ".h")):
            continue
        for name in INCLUDE.findall(read_file(path)):
            target = str((ROOT / path).parent.joinpath(name).resolve().relative_to(ROOT))
            if find_room(target) > find_room(path):
                wrong.append(f"{path} includes {target}, of a later room")
    for source, targets in build_call_graph().items():
        for target, names in targets.items():
            if find_room(target) > find_room(source):
                wrong.append(f"{source} uses {' '.join(sorted(names))} of {target}, of a later "
                             "room")
    return sorted(wrong)


def main() -> int:
    """Run the named check; 1 if it finds anything, 2 if nothing is built."""
    if not any(find_kernel_objects(kernel) for kernel in KERNELS):
        print("no kernel is built: make kernel K=um")
        return 2
    if sys.argv[1:] == ["prefixes"]:
        wrong = check_prefixes()
    elif sys.argv[1:] == ["cycles"]:
        wrong = (describe_cycles("headers include each other", build_include_graph())
                 + describe_cycles("files call each other", build_call_graph()))
    elif sys.argv[1:] == ["rooms"]:
        wrong = find_upward_arrows()
    else:
        sys.exit(__doc__)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
