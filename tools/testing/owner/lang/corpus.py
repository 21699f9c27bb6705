#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Convert the fuzzer's corpus between a directory and a text with one input per line.

    corpus.py pack DIR > corpus        from one file per input
    corpus.py unpack DIR < corpus      to one file per input
"""

import re
import sys
from pathlib import Path


def encode_input(data: bytes) -> str:
    text = data.decode("latin-1").replace("\\", "\\\\")
    return re.sub(r"[^!-~ ]| $", lambda found: f"\\x{ord(found[0]):02x}", text)


def decode_input(line: str) -> bytes:
    return re.sub(r"\\(\\|x..)", lambda found: "\\" if found[1] == "\\" else
                  chr(int(found[1][1:], 16)), line).encode("latin-1")


def main() -> None:
    verb, directory = sys.argv[1], Path(sys.argv[2])
    if verb == "pack":
        inputs = {path.read_bytes() for path in directory.iterdir()}
        assert all(decode_input(encode_input(data)) == data for data in inputs)
        print("\n".join(sorted(map(encode_input, inputs), key=lambda line: (len(line), line))))
    else:
        for number, line in enumerate(sys.stdin.read().split("\n")[:-1]):
            (directory / f"{number:04}").write_bytes(decode_input(line))


main()
