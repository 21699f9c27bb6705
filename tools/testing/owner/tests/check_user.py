#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compare user chains with those that user_chains.c has planted.

check_user.py TRUTH ANSWER NAME=BUILD-ID...

TRUTH has lines "chain NAME COUNT OFFSET,...". An offset in another file is FILE+OFFSET, or
FILE:NAME+OFFSET if the file has the build-id of NAME. ANSWER is of owner/query with group=user
format=tsv. Each chain and its number of objects must be equal.
"""
import sys
from collections import Counter


def make_token(name: str, offset: str, ids: dict[str, str]) -> str:
    """How the kernel prints a frame."""
    if offset[0] in "[(":
        return offset
    if "+" in offset:
        name, offset = offset.split("+")
    file, _, of = name.partition(":")
    return f"{file}+{offset}@{ids[of or file]}"


def read_truth(path: str, ids: dict[str, str]) -> "Counter[str]":
    """The tokens of each chain, and the number of its objects."""
    chains: "Counter[str]" = Counter()
    for line in open(path, encoding="utf-8"):
        words = line.split()
        if words[:1] != ["chain"]:
            continue
        name, count, offsets = words[1], int(words[2]), words[3].split(",")
        chains[";".join(make_token(name, offset, ids) for offset in offsets)] += count
    return chains


def read_answer(path: str) -> "Counter[str]":
    rows = [line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8")
            if not line.startswith("#")]
    columns = rows[0]
    return Counter({row[columns.index("user")]: int(row[columns.index("objects")])
                    for row in rows[1:] if row[0] == "group"})


def main() -> int:
    truth = read_truth(sys.argv[1], dict(word.split("=", 1) for word in sys.argv[3:]))
    answer = read_answer(sys.argv[2])
    for chain in sorted(truth | answer):
        if truth[chain] != answer[chain]:
            print(f"planted {truth[chain]}, found {answer[chain]}: {chain}")
    print(f"# {len(truth)} chains, {sum(truth.values())} objects planted")
    return int(truth != answer or not truth)


if __name__ == "__main__":
    sys.exit(main())
