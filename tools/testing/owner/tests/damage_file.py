#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Damage a vmcore on disk, in place: damage_file.py VMCORE SEED.

Overwrites 200 places behind the headers. Prints them.
"""

import os
import random
import sys

HEADERS = 1 << 20
PLACES = 200


def main() -> None:
    """Damage the file."""
    rng = random.Random(int(sys.argv[2]))
    size = os.path.getsize(sys.argv[1])
    with open(sys.argv[1], "r+b") as file:
        for _ in range(PLACES):
            at = rng.randrange(HEADERS, size - 4096) & ~7
            length = rng.choice((1, 8, 64, 512, 4096))
            file.seek(at)
            file.write(rng.choice((bytes(length), b"\xff" * length, rng.randbytes(length))))
            print(f"{at:#x}+{length}", end=" ")
    print()


if __name__ == "__main__":
    main()
