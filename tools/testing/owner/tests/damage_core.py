#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Damage a memory dump in place, and undo it.

damage_core.py pages CORE SEED PERMILLE       damage this share of all pages, at random
damage_core.py set CORE VMLINUX SYMBOL NUMBER set the 32 bits at a symbol of the kernel
damage_core.py undo CORE                      undo it all

The old contents are kept in CORE.undo. The headers and notes at the start of the dump stay:
without them no reader begins.
"""
import os
import pickle
import random
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import IO, Iterator, Tuple

PAGE = 4096
KERNEL_MAP = 0xffffffff80000000


def list_segments(core: IO[bytes]) -> Iterator[Tuple[int, int, int]]:
    """File offset, physical address and size of each segment of memory."""
    core.seek(0)
    header = core.read(64)
    start, = struct.unpack_from("<Q", header, 32)
    count, = struct.unpack_from("<H", header, 56)
    if count == 0xffff:
        # The number of segments is in the first section header.
        core.seek(struct.unpack_from("<Q", header, 40)[0] + 44)
        count, = struct.unpack("<I", core.read(4))
    core.seek(start)
    table = core.read(56 * count)
    for i in range(count):
        kind, _, offset, _, physical, size = struct.unpack_from("<IIQQQQ", table, i * 56)
        if kind == 1:
            yield offset, physical, size


def overwrite(core: IO[bytes], undo: IO[bytes], offset: int, data: bytes) -> None:
    core.seek(offset)
    pickle.dump((offset, core.read(len(data))), undo)
    core.seek(offset)
    core.write(data)


def make_damaged_page(page: bytes, rng: random.Random) -> bytes:
    words = list(struct.unpack("<512Q", page))
    how = rng.randrange(5)
    if how == 0:
        return bytes(PAGE)
    if how == 1:
        return rng.randbytes(PAGE)
    if how == 2:
        # Pointers into the same page, cycles among them.
        base = max(words) & ~(PAGE - 1)
        return struct.pack("<512Q", *(base + 8 * rng.randrange(512) for _ in words))
    for _ in range(rng.choice((1, 16, 128))):
        at = rng.randrange(512)
        words[at] = (words[rng.randrange(512)] if how == 3 else
                     words[at] ^ 1 << rng.randrange(64))
    return struct.pack("<512Q", *words)


def damage_pages(core: IO[bytes], undo: IO[bytes], seed: int, permille: int) -> None:
    rng = random.Random(seed)
    first = min(offset for offset, _, _ in list_segments(core))
    size = os.fstat(core.fileno()).st_size
    pages = (size - first) // PAGE
    for number in rng.sample(range(pages), pages * permille // 1000):
        core.seek(first + number * PAGE)
        page = core.read(PAGE)
        overwrite(core, undo, first + number * PAGE, make_damaged_page(page, rng))


def read_note_number(core: IO[bytes], name: str, base: int) -> int:
    core.seek(0)
    found = re.search(rb"\n" + re.escape(name.encode()) + rb"=(-?\w+)\n", core.read(1 << 20))
    assert found, f"the dump has no {name}"
    return int(found[1], base)


def set_symbol(core: IO[bytes], undo: IO[bytes], vmlinux: str, symbol: str, value: int) -> None:
    names = subprocess.run(["nm", vmlinux], stdout=subprocess.PIPE, check=True, text=True).stdout
    found = re.search(rf"^(\w+) . {symbol}$", names, re.M)
    assert found, f"{vmlinux} has no {symbol}"
    physical = int(found[1], 16) - KERNEL_MAP + read_note_number(core, "KERNELOFFSET", 16) + \
        read_note_number(core, "NUMBER(phys_base)", 10)
    for offset, start, size in list_segments(core):
        if start <= physical < start + size:
            overwrite(core, undo, offset + physical - start, struct.pack("<I", value))
            return
    raise AssertionError(f"the dump lacks physical address {physical:#x}")


def undo_all(core: IO[bytes], path: Path) -> None:
    changes = []
    with open(path, "rb") as undo:
        while True:
            try:
                changes.append(pickle.load(undo))
            except EOFError:
                break
    for offset, data in reversed(changes):
        core.seek(offset)
        core.write(data)
    path.unlink()


def main() -> None:
    command, core_path = sys.argv[1:3]
    undo_path = Path(core_path + ".undo")
    with open(core_path, "r+b") as core:
        if command == "undo":
            undo_all(core, undo_path)
            return
        with open(undo_path, "ab") as undo:
            if command == "pages":
                damage_pages(core, undo, int(sys.argv[3]), int(sys.argv[4]))
            else:
                set_symbol(core, undo, sys.argv[3], sys.argv[4], int(sys.argv[5]))


if __name__ == "__main__":
    main()
