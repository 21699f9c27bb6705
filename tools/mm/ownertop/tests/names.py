#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test names from DWARF with small programs that are used as vmlinux and as a module.

Their return addresses are taken from the disassembler, which shares no code with libdw.
Comments in their sources mark the lines of the calls.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COMPILE = ("gcc", "-g", "-O2", "-fno-pic", "-fno-optimize-sibling-calls",
           "-fcf-protection=none", "-Dnoinline=__attribute__((noinline))",
           "-D__always_inline=inline __attribute__((always_inline))", "-c")


def run_command(*words, **options):
    """Run a command that must succeed, and return what it prints."""
    return subprocess.run(words, check=True, capture_output=True, text=True,
                          **options).stdout


def find_marked_source_line(mark, name="planted.c"):
    """Return file and line of the comment with a mark in the planted program."""
    with open(os.path.join(HERE, name), encoding="ascii") as source:
        for number, line in enumerate(source, 1):
            if f"/* {mark} */" in line:
                return f"{name}:{number}"
    raise KeyError(mark)


def find_return_addresses(image):
    """Return a dictionary from functions to (offset behind the first call of take(), size).

    The size extends to the next function, as the size that the kernel prints.
    """
    sizes = {}
    symbols = [line.split() for line in run_command("nm", "-nS", image).splitlines()]
    symbols = [(int(words[0], 16), int(words[1], 16), words[3]) for words in symbols
               if len(words) == 4 and words[2] in "tT"]
    for (address, size, name), after in zip(symbols, symbols[1:] + [None]):
        sizes[name] = (address, after[0] - address if after else size)
    found, func, after_call = {}, None, False
    for line in run_command("objdump", "-dr", image).splitlines():
        start = re.match(r"[0-9a-f]+ <(\w+)>:", line)
        code = re.match(r" +([0-9a-f]+):\t", line)
        if start:
            func, after_call = start[1], False
        elif code:
            if after_call and func not in found:
                address, size = sizes[func]
                found[func] = (int(code[1], 16) - address, size)
            after_call = re.search(r"call.*<(take|[^>]*\+0x[0-9a-f]+)>", line)
    return found


def format_frame(func, call):
    """Return a frame of a call chain as the kernel prints it."""
    offset, size = call
    return f"{func}+0x{offset:x}/0x{size:x}"


def read_printed_chain(ownertop, frames, *options):
    """Return the call chain that ownertop prints for these frames, and its messages."""
    dump = ("Slab object allocated via order 0, size 8, slab 8, cache planted, "
            "pid 1, tgid 1 (planter), ts 1 ns\nPFN 0x1 object 1 index 0\n" +
            "".join(f" {frame}\n" for frame in frames) + "\n")
    result = subprocess.run([ownertop, "--json", "--no-skip", "-d", "0", *options, "-"],
                            input=dump, check=True, capture_output=True, text=True)
    group, = json.loads(result.stdout)["groups"]
    return group["stack"], result.stderr


class Checks:
    """Compare names that ownertop prints with expected ones, and count differences."""

    def __init__(self):
        self.failed = 0

    def expect_equal(self, what, got, want):
        """Report an error unless both are equal."""
        if got != want:
            self.failed += 1
            print(f"{what}:\n  want {want}\n  got  {got}")


def check_image(checks, ownertop, calls, options, module=""):
    """Check that inlined and other functions of one image are found."""
    outer = format_frame("outer", calls["outer"])
    direct = format_frame("direct", calls["direct"])
    got, messages = read_printed_chain(ownertop, [outer + module, direct + module], *options)
    checks.expect_equal("inlined" + module, got, [
        f"inner {find_marked_source_line('INNER')} (inlined){module}",
        f"middle {find_marked_source_line('MIDDLE')} (inlined){module}",
        f"{outer} {find_marked_source_line('OUTER')}{module}",
        f"{direct} {find_marked_source_line('DIRECT')}{module}"])
    checks.expect_equal("nothing to complain of" + module, messages, "")


def check_same_named_functions(checks, ownertop, options):
    """Check that functions with the same name are distinguished by their size."""
    for name in ("small.o", "large.o"):
        printed = format_frame("twice", find_return_addresses(name)["twice"])
        got, _ = read_printed_chain(ownertop, [printed], *options)
        line = find_marked_source_line("TWICE", "planted_twice.c")
        checks.expect_equal(name, got, [f"{printed} {line}"])
    printed = format_frame("twice", find_return_addresses("small.o")["twice"])
    got, _ = read_printed_chain(ownertop, [printed], "--vmlinux", "ambiguous")
    checks.expect_equal("two of the same size", got, [printed])


def check_address(checks, ownertop, calls, options):
    """Check that an address gets a symbol by kallsyms, then file and line by DWARF."""
    symbols = run_command("nm", "-n", "vmlinux")
    with open("kallsyms", "w", encoding="ascii") as file:
        file.write(symbols)
    start = re.search(r"^(\w+) T direct$", symbols, re.MULTILINE)
    offset, _ = calls["direct"]
    address = f"0x{int(start[1], 16) + offset:016x}"
    got, messages = read_printed_chain(ownertop, [address], "--kallsyms", "kallsyms", *options)
    checks.expect_equal("an address", (got, messages), (
        [f"{format_frame('direct', calls['direct'])} {find_marked_source_line('DIRECT')}"], ""))


def check_unknown(checks, ownertop, calls, options):
    """Check that a frame that is not found is unchanged, and reported."""
    offset, size = calls["direct"]
    larger = format_frame("direct", (offset, size + 1))
    for line in (larger, format_frame("direct", (offset, 1)), format_frame("direct", (size, size)),
                 "no_such_function+0x1/0x10", "outer+0x1/0x10 [nosuch]"):
        got, messages = read_printed_chain(ownertop, [line], *options)
        checks.expect_equal(line, got, [line])
        checks.expect_equal(
            "a word of " + line, messages,
            f"ownertop: 1 functions, as {line}, are not in --vmlinux or --modules\n")
    for line in ("0xffffffff81000000", "outer", "outer+0x1", "outer+1/2x"):
        got, messages = read_printed_chain(ownertop, [line], *options)
        checks.expect_equal(line, (got, messages), ([line], ""))


def check_stripped(checks, ownertop):
    """Check that a stripped file is refused, also beside its separate debug file."""
    run_command("objcopy", "--only-keep-debug", "vmlinux", "vmlinux.debug")
    run_command("objcopy", "--strip-debug", "--add-gnu-debuglink=vmlinux.debug", "vmlinux",
                "stripped")
    got = subprocess.run([ownertop, "--vmlinux", "stripped", "-"], input="", check=False,
                         capture_output=True, text=True)
    checks.expect_equal("stripped", (got.returncode, got.stderr), (
        2, "ownertop: --vmlinux: stripped: it has no debug information (CONFIG_DEBUG_INFO)\n"))


def main():
    """Return exit status 0 without errors."""
    ownertop = os.path.abspath(sys.argv[1])
    checks = Checks()
    with tempfile.TemporaryDirectory() as directory:
        for name in ("planted.h", "planted.c", "planted_twice.c"):
            shutil.copy(os.path.join(HERE, name), directory)
        os.chdir(directory)
        run_command(*COMPILE, "-o", "planted.o", "planted.c")
        run_command(*COMPILE, "-o", "small.o", "-DENTRY=small", "planted_twice.c")
        for name, base, large in (("ambiguous", "0x400000", "-DSAME"),
                                  ("moved", "0x7000000", "-DLARGE"),
                                  ("vmlinux", "0x400000", "-DLARGE")):
            run_command(*COMPILE, "-o", "large.o", "-DENTRY=large", large,
                        "planted_twice.c")
            run_command("gcc", "-nostdlib", "-static", "-no-pie", f"-Wl,-Ttext={base}",
                        "planted.o", "small.o", "large.o", "-o", name)
        os.makedirs("modules/kernel/drivers")
        shutil.copy("planted.o", "modules/kernel/drivers/plan-ted.ko")
        calls = find_return_addresses("vmlinux")
        options = ["--vmlinux", "vmlinux", "--modules", "modules"]
        check_image(checks, ownertop, calls, options)
        check_image(checks, ownertop, calls, ["--vmlinux", "moved"])
        check_address(checks, ownertop, calls, options)
        check_image(checks, ownertop, calls, options, " [plan_ted]")
        check_image(checks, ownertop, calls, ["--modules", "modules"],
                    " [plan_ted 0123456789abcdef]")
        check_same_named_functions(checks, ownertop, options)
        check_unknown(checks, ownertop, calls, options)
        check_stripped(checks, ownertop)
    return checks.failed > 0


if __name__ == "__main__":
    sys.exit(main())
