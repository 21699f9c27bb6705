#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check that a search for unreferenced objects reports those that owner_unreferenced.ko dropped.

check_unreferenced.py TRUTH RECORDS

TRUTH is /sys/kernel/debug/owner_unreferenced, RECORDS are of slab_owner.py --unreferenced.
A stale copy of a pointer may hide an object, and some objects of the kernel are really
unreferenced: one in a hundred of either is allowed, and printed. No object that the module
keeps may be reported.
"""
import sys
from collections import Counter
from typing import List

from check_truth import Totals, extract_planted_chain, read_blocks, read_planted_totals, \
    sum_record_file

ALLOWED = 0.01


def sum_objects(totals: Totals) -> int:
    return sum(objects for objects, _ in totals.values())


def find_others(path: str) -> "Counter[str]":
    """Functions that allocated objects which the module did not plant."""
    blocks: List[List[str]] = [block for block in read_blocks(path)
                               if block[0].startswith("Slab object")]
    return Counter(block[2].strip() for block in blocks if not extract_planted_chain(block))


def main() -> int:
    truth = read_planted_totals(sys.argv[1])
    found = sum_record_file(sys.argv[2])
    others = find_others(sys.argv[2])
    allowed = sum_objects(truth) * ALLOWED
    wrong = [key for key in found if found[key][0] > truth.get(key, (0, 0))[0]]
    for cache, chain in wrong:
        print(f"{chain}: not dropped, but reported: {found[cache, chain][0]} of {cache}")
    missed = sum(max(truth[key][0] - found.get(key, (0, 0))[0], 0) for key in truth)
    for key in truth:
        if truth[key] != found.get(key):
            print(f"{' '.join(key)}: dropped {truth[key]}, reported {found.get(key)}")
    for function, number in others.items():
        print(f"{function}: {number} others reported")
    return int(bool(wrong) or not truth or missed > allowed or sum(others.values()) > allowed)


if __name__ == "__main__":
    sys.exit(main())
