#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compare what a reader of a memory dump prints with files of the guest.

check_dump.py objects LIVE ANSWERS  records of LIVE that pick chooses are in ANSWERS, unchanged
check_dump.py top TRUTH ANSWER      planted chains have the planted objects and bytes
check_dump.py pick LIVE             print addresses of planted objects, one of each chain, and that
                                    of the oldest object on a tail page of its slab
check_dump.py beside LIVE CACHE     print the places before and after an object of the cache, in
                                    the same slab or behind it, that have no owner

LIVE is /sys/kernel/debug/slab_owner of a guest with no_hash_pointers. Two records are of the
same allocation if address and time are equal. Prints differences, and exits with 1 if there
are any.
"""
import re
import sys
from typing import Dict, Iterator, List, Tuple

from check_truth import extract_planted_chain, merge_totals_of_caches, read_blocks, \
    read_planted_totals

KEY = re.compile(r"ts (\d+) ns\nPFN \S+ object ([0-9a-f]+) index")
PAGE = 4096
PLACE = re.compile(r"ts (\d+) ns\nPFN 0x(?!0 )([0-9a-f]+) object ([0-9a-f]+) index")
SLAB = re.compile(r", slab (\d+), cache ([^,]+), .*\nPFN \S+ object ([0-9a-f]+) index (\d+)")
TOP = re.compile(r".* bytes held .*, (\d+) requested, by (\d+) objects of$")


def read_records(path: str) -> Dict[Tuple[str, str], str]:
    """The records of a file, by address and time."""
    found = {}
    for block in read_blocks(path):
        text = "\n".join(block)
        match = KEY.search(text)
        if match:
            # An answer about an object can precede its record, in the same block.
            found[match[2], match[1]] = text[text.rfind("\n", 0, text.rfind(" allocated via",
                                                        0, match.start())) + 1:]
    return found


def list_planted(path: str) -> Iterator[Tuple[Tuple[str, str], str, str]]:
    """Key, chain and text of each planted record."""
    for key, text in read_records(path).items():
        chain = extract_planted_chain(text.split("\n"))
        if chain:
            yield key, chain, text


def find_oldest_on_tail_page(path: str) -> Tuple[str, str]:
    """Key of the object. The page frame of a record is that of the slab's first page."""
    found = [(int(match[1]), int(match[3], 16) // PAGE - int(match[2], 16), match[3])
             for match in map(PLACE.search, read_records(path).values()) if match]
    first_page = min((page for _, page, _ in found), default=0)
    time, _, address = min((place for place in found if place[1] > first_page),
                           default=(0, 0, "no object on a tail page"))
    return address, str(time)


def compare_objects(live_path: str, answer_path: str) -> List[str]:
    answers = read_records(answer_path)
    asked = {key for key in answers}
    wrong = [f"live:\n{text}\nanswer:\n{answers[key]}"
             for key, _, text in list_planted(live_path) if key in asked and answers[key] != text]
    chains = {chain for _, chain, _ in list_planted(live_path)}
    found = {chain for key, chain, _ in list_planted(live_path) if key in asked}
    wrong += [f"no answer has an object of {chain}" for chain in sorted(chains - found)]
    tail = find_oldest_on_tail_page(live_path)
    if answers.get(tail, "") != read_records(live_path).get(tail):
        wrong.append(f"object {tail[0]}, on a tail page: {answers.get(tail, 'no answer')}")
    return wrong


def compare_top(truth_path: str, answer_path: str) -> List[str]:
    truth = merge_totals_of_caches(read_planted_totals(truth_path))
    found = {}
    for block in read_blocks(answer_path):
        match = TOP.match(block[0])
        chain = extract_planted_chain(block)
        if match and chain:
            objects, size = found.get(chain, (0, 0))
            found[chain] = (objects + int(match[2]), size + int(match[1]))
    return [f"{chain}: planted {truth[key]}, found {found.get(chain)}"
            for key, chain in sorted((key, key[1]) for key in truth)
            if truth[key] != found.get(chain)]


def pick_objects(live_path: str) -> List[str]:
    first = {chain: key[0] for key, chain, _ in list_planted(live_path)}
    print("\n".join([*first.values(), find_oldest_on_tail_page(live_path)[0]]))
    return []


def list_places_beside(live_path: str, cache: str) -> List[str]:
    owned, beside = set(), set()
    for text in read_records(live_path).values():
        match = SLAB.search(text)
        if match and match[2] == cache:
            size, address, index = int(match[1]), int(match[3], 16), int(match[4])
            owned.add(address)
            beside |= {address + size, address - size if index else address}
    print("\n".join(f"{address:x}" for address in sorted(beside - owned)))
    return []


def main() -> int:
    commands = {"objects": compare_objects, "top": compare_top, "pick": pick_objects,
                "beside": list_places_beside}
    wrong = commands[sys.argv[1]](*sys.argv[2:])
    for text in wrong[:10]:
        print(text)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
