#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compare page_owner's files with the pages that owner_pages.ko has planted.

    check_pages.py grammar RECORDS          each record has page_owner's grammar
    check_pages.py truth TRUTH RECORDS      ... and the planted records equal TRUTH
    check_pages.py stacks TRUTH STACKS      the counts of show_stacks equal TRUTH
    check_pages.py handles TRUTH RECORDS HANDLES STACKS
                                            RECORDS (mode=handle) and show_handles equal
                                            TRUTH; show_stacks_handles names the handles
    check_pages.py same ONE OTHER           planted records of two kernels are equal
    check_pages.py same-stacks ONE OTHER    ... and their counts in show_stacks
    check_pages.py sums RECORDS STACKS      the records add up to the counts, without slabs

Page frames, pids, times and offsets in functions differ between runs and are not
compared.
"""

import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

HEAD = re.compile(r"Page allocated via order (\d+), mask (0x[0-9a-f]+\([A-Z_|0-9a-fx]*\)), "
                  r"pid (\d+), tgid (\d+) \((.*)\), ts (\d+) ns")
PFN_LINE = re.compile(r"PFN 0x([0-9a-f]+) type (\w+) Block (\d+) type (\w+) "
                      r"Flags (0x[0-9a-f]+\([a-z0-9_=|]*\))")
FRAME = re.compile(r" (?:([\w.]+)\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[(\w+)\])?|0x[0-9a-f]+)")
TAIL = re.compile(r"Page has been migrated, last migrate reason: \w+|Slab cache page|"
                  r"Charged (\(via objcg\) )?to (offline )?memcg .+")
PLANTED = re.compile(r"pages_\w+")
# Functions that allocate pages of their own on behalf of a planting function: slabs, page
# tables, KASAN's shadow, and the depot's pools.
OTHERS = re.compile(r"allocate_slab|__(pte|pmd|pud|p4d)_alloc(_kernel)?|kasan_populate\w*|"
                    r"stack_depot_prealloc_pool")


@dataclass
class PageRecord:
    order: int
    mask: str
    comm: str
    kind: str
    block: str
    flags: str
    frames: tuple[str, ...]
    handle: int | None
    rest: tuple[str, ...]

    def get_comparable_fields(self) -> tuple:
        """The fields that are equal on two kernels."""
        frames = drop_interrupted_frames(self.frames)
        comm = self.comm if frames == self.frames else ""
        return (self.order, self.mask, comm, self.kind, self.block, self.flags, frames,
                self.rest)


def exit_with_failure(*words: object) -> None:
    sys.exit("check_pages: " + " ".join(str(word) for word in words))


def parse_frame(line: str) -> str | None:
    match = FRAME.fullmatch(line)
    return (match[1] or "?") if match else None


def parse_record(block: str) -> PageRecord:
    lines = block.split("\n")
    head, place = HEAD.fullmatch(lines[0]), PFN_LINE.fullmatch(lines[1]) if lines[1:] else None
    if not head or not place:
        exit_with_failure("no record:", block)
    frames, handle, at = [], None, 2
    while at < len(lines) and (frame := parse_frame(lines[at])):
        frames.append(frame)
        at += 1
    if at < len(lines) and (match := re.fullmatch(r"handle: (\d+)", lines[at])):
        handle = int(match[1])
        at += 1
    for line in lines[at:]:
        if not TAIL.fullmatch(line):
            exit_with_failure("a line that page_owner has not:", line, "in", block)
    if not frames and handle is None:
        exit_with_failure("no call chain:", block)
    return PageRecord(int(head[1]), head[2], head[5], place[2], place[4], place[5], tuple(frames),
                      handle, tuple(lines[at:]))


def read_record_blocks(name: str) -> list[str]:
    text = Path(name).read_text(errors="replace")
    if text and not text.endswith("\n\n"):
        exit_with_failure(name, "does not end with an empty line")
    return text.split("\n\n")[:-1]


def read_records(name: str) -> list[PageRecord]:
    return [parse_record(block) for block in read_record_blocks(name)]


def find_planting_function(frames: tuple[str, ...]) -> str | None:
    """The planting function, which is next to the allocation."""
    for frame in frames:
        if PLANTED.fullmatch(frame):
            return frame
        if OTHERS.fullmatch(frame):
            break
    return None


def is_slab_chain(frames: tuple[str, ...]) -> bool:
    return any(frame.split(".")[0] in ("allocate_slab", "new_slab", "___slab_alloc")
               for frame in frames)


def drop_interrupted_frames(frames: tuple[str, ...]) -> tuple[str, ...]:
    """The chain without the frames that an interrupt has interrupted: they vary."""
    for at, frame in enumerate(frames):
        if frame in ("pages_softirq", "pages_hardirq"):
            return frames[:at + 1]
    return frames


def read_planted_pages(name: str) -> Counter:
    truth: Counter = Counter()
    for line in Path(name).read_text().splitlines():
        function, order, allocations = line.split()
        truth[function, int(order)] += int(allocations)
    return truth


def sum_pages_by_function(truth: Counter) -> Counter:
    """Pages by function."""
    pages: Counter = Counter()
    for (function, order), allocations in truth.items():
        pages[function] += allocations << order
    return pages


def require_equal_counts(what: str, expected: Counter, got: Counter) -> None:
    if expected != got:
        exit_with_failure(f"{what} differs; too few: {dict(expected - got)}; "
                          f"too many: {dict(got - expected)}")


@dataclass
class ChainTotal:
    frames: tuple[str, ...]
    handle: int | None
    pages: int


def read_chain_totals(name: str) -> list[ChainTotal]:
    totals = []
    for block in read_record_blocks(name):
        frames: list[str] = []
        total = ChainTotal((), None, 0)
        for line in block.split("\n"):
            if frame := parse_frame(line):
                frames.append(frame)
            elif match := re.fullmatch(r"handle: (\d+)", line):
                total.handle = int(match[1])
            elif match := re.fullmatch(r"nr_base_pages: (\d+)", line):
                total.pages = int(match[1])
            else:
                exit_with_failure("a line that page_owner_stacks has not:", line)
        total.frames = tuple(frames)
        totals.append(total)
    return totals


def check_planted_records(truth: Counter, records: list[PageRecord],
                          chains: dict[int, tuple[str, ...]]) -> None:
    got: Counter = Counter()
    for record in records:
        # A chain that was interned after show_stacks_handles was read is not a planted one.
        function = find_planting_function(chains.get(record.handle or 0, record.frames))
        if function:
            got[function, record.order] += 1
    require_equal_counts("records", truth, got)


def check_chain_totals(truth: Counter, totals: list[ChainTotal],
                       chains: dict[int, tuple[str, ...]]) -> None:
    got: Counter = Counter()
    for total in totals:
        if not total.pages:
            exit_with_failure("a chain without pages:", total)
        function = find_planting_function(chains.get(total.handle or 0, total.frames))
        if function:
            got[function] += total.pages
    require_equal_counts("pages", sum_pages_by_function(truth), got)


def main() -> None:
    command, *names = sys.argv[1:]
    if command == "grammar":
        read_records(names[0])
    elif command == "truth":
        check_planted_records(read_planted_pages(names[0]), read_records(names[1]), {})
    elif command == "stacks":
        check_chain_totals(read_planted_pages(names[0]), read_chain_totals(names[1]), {})
    elif command == "handles":
        chains = {total.handle or 0: total.frames for total in read_chain_totals(names[3])}
        records = read_records(names[1])
        if any(record.frames for record in records):
            exit_with_failure("frames where handles were asked for")
        check_planted_records(read_planted_pages(names[0]), records, chains)
        check_chain_totals(read_planted_pages(names[0]), read_chain_totals(names[2]), chains)
    elif command == "same":
        one, other = (Counter(record.get_comparable_fields() for record in read_records(name)
                              if find_planting_function(record.frames)) for name in names)
        if not one:
            exit_with_failure("nothing is planted")
        require_equal_counts("records", one, other)
    elif command == "same-stacks":
        one, other = Counter(), Counter()
        for name, count in zip(names, (one, other)):
            for total in read_chain_totals(name):
                if find_planting_function(total.frames):
                    count[drop_interrupted_frames(total.frames)] += total.pages
        require_equal_counts("pages", one, other)
    elif command == "sums":
        # Slabs are left out: KASAN keeps freed objects until it has too many, so that two
        # readings differ by more than a thousand pages of slabs.
        pages = sum(1 << record.order for record in read_records(names[0])
                    if not is_slab_chain(record.frames))
        counted = sum(total.pages for total in read_chain_totals(names[1])
                      if not is_slab_chain(total.frames))
        # Reading allocates pages, and tasks begin and end meanwhile.
        if not pages or abs(pages - counted) > 200:
            exit_with_failure("records have", pages, "pages, show_stacks", counted)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
