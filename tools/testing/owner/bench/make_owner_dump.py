#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make a large page_owner or slab_owner dump out of a small one.

Every record of the sample is a pattern: its kind of allocation stays; its
process, times, addresses and outer frames vary. A few chains own most records,
as on a real machine. Equal arguments give an equal dump. take_page_sample.sh
has taken the sample from a real dump.
"""

import argparse
import itertools
import random
import re
import sys

HEADER = re.compile(
    r"(?P<what>(?:Page|Slab object) allocated via .*?), "
    r"pid -?\d+, tgid -?\d+ \((?P<comm>.*)\), ts \d+ ns(?P<more>.*)")


class RecordPattern:
    """The parts of one record of the sample."""

    def __init__(self, block):
        lines = block.split("\n")
        match = HEADER.fullmatch(lines[0])
        if not match:
            sys.exit(f"not a record: {lines[0]!r}")
        self.what = match["what"]
        self.comm = match["comm"]
        self.more = match["more"]
        self.pfn_rest = lines[1].split(" ", 2)[2]
        self.frames = [line for line in lines[2:] if line.startswith(" ")]
        self.tail = [line for line in lines[2:] if not line.startswith(" ")]


def read_record_patterns(path):
    """All records of the sample that have a call chain, and its comments."""
    with open(path, encoding="ascii") as sample:
        text = sample.read()
    comments = [line for line in text.split("\n") if line.startswith("#")]
    text = "\n".join(line for line in text.split("\n")
                     if not line.startswith("#"))
    blocks = (block.strip("\n") for block in text.split("\n\n"))
    patterns = [RecordPattern(block) for block in blocks if block.strip()]
    return [p for p in patterns if p.frames], comments


def splice_sample_chains(rng, pattern, patterns, depth):
    """The inner frames of one record, called by the outer frames of another."""
    keep = rng.randint(1, len(pattern.frames))
    outer = rng.choice(patterns).frames
    frames = pattern.frames[:keep] + outer[-rng.randint(1, len(outer)):]
    while len(frames) < depth:
        frames = frames + rng.choice(patterns).frames
    return "\n".join(randomize_frame_offset(rng, frame) for frame in frames[:depth])


def randomize_frame_offset(rng, frame):
    """Change the call site within the function in one of ten frames."""
    if rng.random() < 0.9:
        return frame
    return re.sub(r"\+0x[0-9a-f]+/", f"+0x{rng.randrange(16, 512):x}/", frame)


def make_allocation_sites(rng, patterns, args):
    """Distinct (pattern, chain) pairs, the frequent ones first."""
    sites = {}
    while len(sites) < args.chains:
        pattern = rng.choice(patterns)
        chain = splice_sample_chains(rng, pattern, patterns, args.depth)
        sites.setdefault((id(pattern), chain), (pattern, chain))
    return list(sites.values())


def generate_records(args):
    """The text of the dump, record by record."""
    rng = random.Random(args.seed)
    patterns, comments = read_record_patterns(args.sample)
    if comments:
        yield f"{comments[0]}\n# tracked {args.records} untracked 0\n"
    sites = make_allocation_sites(rng, patterns, args)
    if args.even:
        chosen = itertools.islice(itertools.cycle(sites), args.records)
    else:
        weights = itertools.accumulate(1 / (rank + 1) for rank in range(len(sites)))
        chosen = rng.choices(sites, cum_weights=list(weights), k=args.records)
    pfn, ts = 0x1000, 10**9
    for pattern, chain in chosen:
        pfn += rng.randint(1, 8)
        ts += rng.randrange(args.spacing)
        tgid = rng.randint(1, 4000)
        pid = tgid + rng.choice((0, 0, 0, 1, 2))
        tail = "".join(line + "\n" for line in pattern.tail)
        yield (f"{pattern.what}, pid {pid}, tgid {tgid} ({pattern.comm}), "
               f"ts {ts} ns{pattern.more}\n"
               f"PFN 0x{pfn:x} {pattern.pfn_rest}\n{chain}\n{tail}\n")


def main():
    """Write the dump to standard output."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("sample", help="a small dump")
    parser.add_argument("--records", type=int, default=300_000)
    parser.add_argument("--chains", type=int, default=4000,
                        help="distinct call chains (default %(default)s)")
    parser.add_argument("--depth", type=int, default=8,
                        help="frames of each chain (default %(default)s)")
    parser.add_argument("--even", action="store_true",
                        help="the chains own as many records each, in turn")
    parser.add_argument("--spacing", type=int, default=10**6, metavar="NS",
                        help="most time between two records (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    sys.stdout.writelines(generate_records(args))


if __name__ == "__main__":
    main()
