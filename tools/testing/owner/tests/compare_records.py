#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compare a file of records of the live guest with what a reader prints of its dump.

compare_records.py LIVE DUMP MANY: the records that both have for an object, or for a page
frame, are equal, byte by byte. The guest ran on between the two: at most MANY records may
differ because of that. These records have a later time in the dump, or another line about the
use of the page. Prints the numbers, and differences that cannot be explained.
"""

import re
import sys
from typing import Dict, Tuple

Key = Tuple[str, str, str]
PLACE = re.compile(r"^PFN (\S+)(?: object (\S+) index (\d+))?", re.MULTILINE)
TIME = re.compile(r", ts (\d+) ns$", re.MULTILINE)
# These change while pages are used.
VOLATILE = re.compile(r"(?<=Flags )\S+|^Charged .*\n|^Slab cache page\n|"
                      r"^Page has been migrated.*\n", re.MULTILINE)


def read_records(path: str) -> Dict[Key, str]:
    """Records by place."""
    with open(path, encoding="utf-8") as file:
        blocks = file.read().split("\n\n")
    records = {}
    for block in blocks:
        place = PLACE.search(block)
        if place:
            key = place.groups(default="")
            if key in records:
                sys.exit(f"{path}: two records of {key}")
            records[key] = block.strip("\n") + "\n"
    return records


def main() -> int:
    """Return the exit status."""
    live, dump = read_records(sys.argv[1]), read_records(sys.argv[2])
    both = live.keys() & dump.keys()
    newer = unexplained = 0
    for key in sorted(both):
        before, after = live[key], dump[key]
        if before == after:
            continue
        times = [int(TIME.search(text)[1]) for text in (before, after)]
        if times[0] < times[1] or VOLATILE.sub("", before) == VOLATILE.sub("", after):
            newer += 1
            continue
        unexplained += 1
        if unexplained < 4:
            print(f"live:\n{before}dump:\n{after}")
    only_live, only_dump = len(live.keys() - both), len(dump.keys() - both)
    print(f"records: {len(live)} live, {len(dump)} in the dump, {len(both)} of both; {newer} newer "
          f"or in other use, {unexplained} different; {only_live} only live, {only_dump} only in "
          f"the dump")
    many = int(sys.argv[3])
    return int(unexplained > 0 or not both or max(newer, only_live, only_dump) > many)


if __name__ == "__main__":
    sys.exit(main())
