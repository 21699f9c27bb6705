#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test the progress line: only on a terminal, only after a second, erased at the end."""

import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LINE = rb"\r\x1b\[K-: [\d.]+[BKMG], [\d.]+[BKMG]/s"
ERASED = rb"\r\x1b\[K"


def read_terminal_output(ownertop, seconds, more=b""):
    """Return what ownertop writes to a terminal while it reads a pipe for some seconds."""
    with open(os.path.join(HERE, "input/slab.txt"), "rb") as file:
        records = file.read()
    here, there = os.openpty()
    with subprocess.Popen([ownertop, "-"], stdin=subprocess.PIPE, stderr=there,
                          stdout=subprocess.DEVNULL) as process:
        os.close(there)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            process.stdin.write(records)
            process.stdin.flush()
            time.sleep(0.05)
        process.stdin.write(more + b"\n" + records)
        process.stdin.close()
        text = b""
        try:
            while True:
                text += os.read(here, 65536)
        except OSError:
            os.close(here)
    return text


def main():
    """Return exit status 0 without errors."""
    ownertop = sys.argv[1]
    wrong = 0
    for what, got, want in (
            ("a short reading", read_terminal_output(ownertop, 0.2), rb""),
            ("a long one", read_terminal_output(ownertop, 1.6), rb"(%s)+%s" % (LINE, ERASED)),
            ("a message", read_terminal_output(ownertop, 1.6, b"junk\n"),
             rb"(%s)+%sownertop: -:\d+: not a .*\r\n((%s)+%s)?" %
             (LINE, ERASED, LINE, ERASED))):
        if not re.fullmatch(want, got):
            wrong += 1
            print(f"{what}: want {want}, got {got}")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
