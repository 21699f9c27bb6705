#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check that a reader reports exactly the objects that owner_truth.ko has planted.

check_truth.py TRUTH records FILE          /sys/kernel/debug/slab_owner
check_truth.py TRUTH stacks FILE           slab_owner_stacks/show_stacks
check_truth.py TRUTH handles FILE FILE     show_handles and show_stacks_handles
check_truth.py TRUTH report FILE           ownertop --json -g stack,cache
check_truth.py TRUTH sums FILE             ownertop --json without caches
check_truth.py TRUTH query FILE            owner/query: group=stack,cache format=tsv

The planter's functions in a chain, truth_*, identify it. Prints differences, and exits
with 1 if there are any.
"""
import json
import re
import sys
from collections import defaultdict
from typing import Dict, Iterator, List, Tuple

# (cache or "", chain) to (objects, bytes)
Totals = Dict[Tuple[str, str], Tuple[int, int]]

# The compiler appends a suffix to the name of a cloned function.
FRAME = re.compile(r" (truth_\w+)[.\w]*\+")
RECORD = re.compile(r"(?:Slab object|Per-CPU area) allocated via order 0, size (\d+), "
                    r"slab \d+, cache (\S+), ")


def add_to_totals(totals: Totals, cache: str, chain: str, objects: int, size: int) -> None:
    if chain:
        before = totals[cache, chain]
        totals[cache, chain] = (before[0] + objects, before[1] + size)


def read_blocks(path: str) -> Iterator[List[str]]:
    with open(path, encoding="utf-8") as file:
        for block in file.read().split("\n\n"):
            if block.strip():
                yield block.strip("\n").split("\n")


def extract_planted_chain(block: List[str]) -> str:
    frames = (FRAME.match(line) for line in block)
    return ";".join(frame[1] for frame in frames if frame)


def read_block_number(block: List[str], name: str) -> int:
    return int(next(line for line in block if line.startswith(name + ":")).split()[1])


def read_planted_totals(path: str) -> Totals:
    totals: Totals = defaultdict(lambda: (0, 0))
    with open(path, encoding="utf-8") as file:
        for line in file:
            cache, chain, objects, size = line.split()
            add_to_totals(totals, cache, chain, int(objects), int(size))
    return totals


def sum_record_file(path: str) -> Totals:
    totals: Totals = defaultdict(lambda: (0, 0))
    for block in read_blocks(path):
        size, cache = RECORD.match(block[0]).groups()
        add_to_totals(totals, cache, extract_planted_chain(block), 1, int(size))
    return totals


def sum_stacks_file(path: str) -> Totals:
    totals: Totals = defaultdict(lambda: (0, 0))
    for block in read_blocks(path):
        add_to_totals(totals, "", extract_planted_chain(block),
                      read_block_number(block, "nr_objects"), read_block_number(block, "nr_bytes"))
    return totals


def sum_handle_files(counts: str, chains: str) -> Totals:
    chain_by_handle = {read_block_number(block, "handle"): extract_planted_chain(block)
                       for block in read_blocks(chains)}
    totals: Totals = defaultdict(lambda: (0, 0))
    for block in read_blocks(counts):
        add_to_totals(totals, "", chain_by_handle.get(read_block_number(block, "handle"), ""),
                      read_block_number(block, "nr_objects"), read_block_number(block, "nr_bytes"))
    return totals


def sum_ownertop_json(path: str) -> Totals:
    totals: Totals = defaultdict(lambda: (0, 0))
    with open(path, encoding="utf-8") as file:
        for group in json.load(file)["groups"]:
            chain = extract_planted_chain([" " + frame for frame in group["stack"]])
            # Sums do not tell the cache.
            cache = group["cache"] or ""
            add_to_totals(totals, cache, chain, group["objects"], group["bytes"])
    return totals


def sum_query_answer(path: str) -> Totals:
    totals: Totals = defaultdict(lambda: (0, 0))
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    for line in lines[1:]:
        row = dict(zip(lines[0], line))
        if row["row"] == "group":
            # A per-CPU area has no cache.
            cache = "percpu" if row["cache"] == "-" else row["cache"]
            chain = extract_planted_chain([" " + frame for frame in row["stack"].split(";")])
            add_to_totals(totals, cache, chain, int(row["objects"]), int(row["bytes"]))
    return totals


def merge_totals_of_caches(totals: Totals) -> Totals:
    chains: Totals = defaultdict(lambda: (0, 0))
    for (_, chain), (objects, size) in totals.items():
        add_to_totals(chains, "", chain, objects, size)
    return chains


def main() -> int:
    readers = {"records": sum_record_file, "stacks": sum_stacks_file, "handles": sum_handle_files,
               "report": sum_ownertop_json, "sums": sum_ownertop_json, "query": sum_query_answer}
    truth = read_planted_totals(sys.argv[1])
    found = readers[sys.argv[2]](*sys.argv[3:])
    if sys.argv[2] not in ("records", "report", "query"):
        truth = merge_totals_of_caches(truth)
    for key in sorted(set(truth) | set(found)):
        if truth.get(key) != found.get(key):
            print(f"{' '.join(key)}: planted {truth.get(key)}, reported {found.get(key)}")
    return int(dict(truth) != dict(found))


if __name__ == "__main__":
    sys.exit(main())
