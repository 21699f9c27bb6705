#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test the progress line: only on a terminal, only after a second, erased at the end."""

import os
import re
import select
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LINE = rb"\r\x1b\[K-: [\d.]+[BKMG], [\d.]+[BKMG]/s"
ERASED = rb"\r\x1b\[K"


PATIENCE = 120


def read_terminal_output(ownertop, lines, more=b""):
    """Return what ownertop writes to a terminal while it reads a pipe, and the seconds it took.

    The pipe is closed when it has written @lines progress lines.
    """
    with open(os.path.join(HERE, "input/slab.txt"), "rb") as file:
        records = file.read()
    here, there = os.openpty()
    began = time.monotonic()
    with subprocess.Popen([ownertop, "-"], stdin=subprocess.PIPE, stderr=there,
                          stdout=subprocess.DEVNULL) as process:
        os.close(there)
        text = b""
        while len(re.findall(LINE, text)) < lines:
            if time.monotonic() - began > PATIENCE:
                raise AssertionError(f"no {lines} progress lines: {text}")
            process.stdin.write(records)
            process.stdin.flush()
            if select.select([here], [], [], 0.05)[0]:
                text += os.read(here, 65536)
        process.stdin.write(more + b"\n" + records)
        process.stdin.close()
        try:
            while True:
                text += os.read(here, 65536)
        except OSError:
            os.close(here)
    return text, time.monotonic() - began


def read_in_less_than_a_second(ownertop):
    """Return what ownertop writes if it ends within a second, which a busy host may prevent."""
    seconds = 1.0
    while seconds >= 1.0:
        text, seconds = read_terminal_output(ownertop, 0)
    return text


def main():
    """Return exit status 0 without errors."""
    ownertop = sys.argv[1]
    wrong = 0
    for what, got, want in (
            ("a short reading", read_in_less_than_a_second(ownertop), rb""),
            ("a long one", read_terminal_output(ownertop, 1)[0], rb"(%s)+%s" % (LINE, ERASED)),
            ("a message", read_terminal_output(ownertop, 1, b"junk\n")[0],
             rb"(%s)+%sownertop: -:\d+: not a .*\r\n((%s)+%s)?" %
             (LINE, ERASED, LINE, ERASED))):
        if not re.fullmatch(want, got):
            wrong += 1
            print(f"{what}: want {want}, got {got}")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
