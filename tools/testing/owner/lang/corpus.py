#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The fuzzer's corpus as a text that people can read, one input a line.

    corpus.py pack DIR > corpus        from one file for each input
    corpus.py unpack DIR < corpus
"""

import re
import sys
from pathlib import Path


def line_of(data: bytes) -> str:
    text = data.decode("latin-1").replace("\\", "\\\\")
    return re.sub(r"[^!-~ ]| $", lambda found: f"\\x{ord(found[0]):02x}", text)


def data_of(line: str) -> bytes:
    return re.sub(r"\\(\\|x..)", lambda found: "\\" if found[1] == "\\" else
                  chr(int(found[1][1:], 16)), line).encode("latin-1")


def main() -> None:
    verb, directory = sys.argv[1], Path(sys.argv[2])
    if verb == "pack":
        inputs = {path.read_bytes() for path in directory.iterdir()}
        assert all(data_of(line_of(data)) == data for data in inputs)
        print("\n".join(sorted(map(line_of, inputs), key=lambda line: (len(line), line))))
    else:
        for number, line in enumerate(sys.stdin.read().split("\n")[:-1]):
            (directory / f"{number:04}").write_bytes(data_of(line))


main()
