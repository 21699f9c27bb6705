#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test names of user frames with programs that are built here.

Their return addresses are taken from the disassembler, and their offsets in the file from
readelf: neither shares code with libelf.
"""

import json
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# Programs at different addresses: with an offset that is the address, and with another one.
KINDS = {"pie": ("-fPIE", "-pie"), "fixed": ("-fno-pie", "-no-pie"),
         "moved": ("-fno-pie", "-no-pie", "-Wl,-Ttext-segment=0x7000000"),
         "library": ("-fPIC", "-shared")}
RECORD = """Slab object allocated via order 0, size {size}, slab {size}, cache c, pid 1, \
tgid 1 (a), ts 1 ns
PFN 0x1 object 0 index 0
 plant+0x1/0x2
{user}
"""


def run_command(*words, **options):
    """Run a command that must succeed, and return what it prints."""
    return subprocess.run(words, check=True, capture_output=True, text=True, **options).stdout


class Program:
    """A planted program: its build-id and its return addresses."""

    def __init__(self, path, *options):
        self.path = path
        run_command("gcc", "-O2", "-fno-inline", "-fno-ipa-cp",
                    "-fno-optimize-sibling-calls", "-Wl,--build-id", *options,
                    "-o", path, os.path.join(HERE, "planted_user.c"))
        notes = run_command("readelf", "-n", path)
        self.build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
        self.segments = [tuple(int(word, 16) for word in line.split()[1:5])
                         for line in run_command("readelf", "-lW", path).splitlines()
                         if re.match(r" +LOAD ", line)]
        self.calls = list(self.find_calls())

    def offset_in_file(self, address):
        """The place in the file from which the code at an address is loaded."""
        for offset, virtual, _, size in self.segments:
            if virtual <= address < virtual + size:
                return address - virtual + offset
        raise ValueError(hex(address))

    def find_calls(self):
        """Yield (frame, name of the function with the offset) for each call in our functions."""
        name, func, start = os.path.basename(self.path), None, 0
        for line in run_command("objdump", "-d", self.path).splitlines():
            head = re.match(r"([0-9a-f]+) <(\w+)>:", line)
            call = re.match(r" +([0-9a-f]+):\t((?:[0-9a-f]{2} )+).*call.*<(take|ask_\w+)(@plt)?>",
                            line)
            if head:
                func, start = head[2], int(head[1], 16)
            if call:
                # The instruction behind the call can be in another function.
                back = int(call[1], 16) + len(call[2].split())
                yield (f"{name}+0x{self.offset_in_file(back - 1) + 1:x}@{self.build_id}",
                       f"{func}+0x{back - start:x} [{name}]")


class Checker:
    """Run ownertop and count errors."""

    def __init__(self, program, work):
        self.program = program
        self.work = work
        self.dump = os.path.join(work, "dump")
        self.wrong = 0

    def expect(self, what, want, got):
        """Count an error unless both values are equal."""
        if want != got:
            self.wrong += 1
            print(f"{what}: want {want!r}, got {got!r}")

    def write_dump(self, frames):
        """Write a dump with a record of one user frame for each frame; sizes tell them apart."""
        with open(self.dump, "w", encoding="utf-8") as out:
            for size, frame in enumerate(frames, 1):
                out.write(RECORD.format(size=size, user=f" user {frame}\n"))

    def read_frames(self, *arguments, status=0):
        """Return the user frames that ownertop shows, by size, and its messages."""
        got = subprocess.run([self.program, "--json", "--top", "0", "-g", "user", *arguments,
                              self.dump], capture_output=True, text=True, check=False)
        self.expect(f"status of {arguments}", status, got.returncode)
        groups = json.loads(got.stdout)["groups"] if got.stdout else []
        return [frame for group in sorted(groups, key=lambda group: group["bytes"])
                for frame in group["user"]], got.stderr

    def check_program(self, kind, program):
        """Compare all names of a program, whole and in other states."""
        frames, names = zip(*program.calls)
        self.expect(f"{kind}: calls", True, len(frames) >= 4)
        self.write_dump(frames)
        self.expect(kind, (list(names), ""), self.read_frames("--binary", program.path))
        found, messages = self.read_frames()
        self.expect(f"{kind} without names", list(frames), found)
        self.expect(f"{kind}: the option that helps", True,
                    f"{len(frames)} user frames, as {frames[0]}, have no names; --binary FILE"
                    in messages)

    def check_debug_file(self, program):
        """Split a program: neither half has all, both together do."""
        frames, names = zip(*program.calls)
        self.write_dump(frames)
        debug, stripped = program.path + ".debug", os.path.join(self.work, "stripped")
        run_command("objcopy", "--only-keep-debug", program.path, debug)
        run_command("strip", "--strip-debug", "-o", stripped, program.path)
        found, messages = self.read_frames("--binary", debug)
        self.expect("debug information alone", list(frames), found)
        self.expect("debug information alone", True, "lacks program headers" in messages)
        self.expect("both halves", (list(names), ""),
                    self.read_frames("--binary", debug, "--binary", stripped))

    def check_other_build(self, program, other):
        """A program with another build-id must not give names."""
        frames, _ = zip(*program.calls)
        self.write_dump(frames)
        same_name = os.path.join(self.work, "other", os.path.basename(program.path))
        os.mkdir(os.path.dirname(same_name))
        shutil.copy(other.path, same_name)
        found, messages = self.read_frames("--binary", same_name)
        self.expect("other build", list(frames), found)
        self.expect("other build", True,
                    f"no user frame is in a file with its build-id, {other.build_id}; frames of "
                    f"{os.path.basename(program.path)} have {program.build_id}" in messages)

    def check_without_build_id(self, program):
        """A program without a build-id is found by its inode, or by its name."""
        bare = os.path.join(self.work, "bare")
        run_command("objcopy", "--remove-section", ".note.gnu.build-id", program.path, bare)
        place = os.stat(bare)
        inode = f"{os.major(place.st_dev)}:{os.minor(place.st_dev)}:{place.st_ino}"
        names = [name.replace(os.path.basename(program.path), "bare")
                 for _, name in program.calls]
        for file_id in (inode, "254:1:99"):
            self.write_dump([re.sub(r"^\w+(\+0x\w+)@.*", rf"bare\1@{file_id}", frame)
                             for frame, _ in program.calls])
            self.expect(file_id, (names, ""), self.read_frames("--binary", bare))
        self.write_dump(["elsewhere+0x1139@254:1:99"])
        self.expect("another name", ["elsewhere+0x1139@254:1:99"],
                    self.read_frames("--binary", bare)[0])

    def check_trampoline(self, program):
        """A signal handler returns to the beginning of a function, which no call precedes."""
        start = next(int(line.split()[0], 16) for line in run_command(
            "nm", program.path).splitlines() if line.endswith(" ask_outer"))
        name = os.path.basename(program.path)
        self.write_dump([f"{name}+0x{program.offset_in_file(start):x}@{program.build_id}"])
        self.expect("trampoline", ([f"ask_outer [{name}]"], ""),
                    self.read_frames("--binary", program.path))

    def check_odd_names(self, program):
        """A name that could break a line of the output must not be shown."""
        frames, names = zip(*program.calls)
        self.write_dump(frames)
        odd = os.path.join(self.work, "odd")
        for name in ("ask\33inner", "ask\ninner", "ask inner", "ask;inner", "ask\177inner",
                     "ask\udcffinner", "ask\x9binner"):
            run_command("objcopy", "--redefine-sym", f"ask_inner={name}", program.path, odd)
            want = [frame if name.startswith("ask_inner+") else name
                    for frame, name in program.calls]
            self.expect(repr(name), want, self.read_frames("--binary", odd)[0])
        run_command("objcopy", "--redefine-sym", "ask_inner=größe", program.path, odd)
        self.expect("UTF-8", [name.replace("ask_inner+", "größe+") for name in names],
                    self.read_frames("--binary", odd)[0])

    def check_versions(self, program):
        """The version of a symbol is no part of the name of its function."""
        frames, names = zip(*program.calls)
        self.write_dump(frames)
        copy = os.path.join(self.work, "versions")
        for version in ("@VERS_1", "@@VERS_2"):
            run_command("objcopy", "--redefine-sym", f"ask_inner=ask_inner{version}",
                        program.path, copy)
            self.expect(version, (list(names), ""), self.read_frames("--binary", copy))

    def check_end_of_section(self, program):
        """The function _init, which has no size, ends before the stubs in the next section."""
        sections = run_command("readelf", "-SW", program.path)
        offset = int(re.search(r" \.plt +PROGBITS +\w+ (\w+)", sections)[1], 16) + 6
        frame = f"library+0x{offset:x}@{program.build_id}"
        self.write_dump([frame])
        self.expect("stub", [frame], self.read_frames("--binary", program.path)[0])

    def check_many_files(self, program):
        """More files than a process may have open at a time."""
        frames, names = zip(*program.calls)
        self.write_dump(frames)
        copies = []
        for i in range(50):
            copies += ["--binary", os.path.join(self.work, f"copy{i}")]
            shutil.copy(program.path, copies[-1])
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, before[1]))
        self.expect("many files", (list(names), ""), self.read_frames(*copies))
        resource.setrlimit(resource.RLIMIT_NOFILE, before)

    def check_many_tables(self):
        """Many headers of one symbol table must not make it be read as often."""
        source = os.path.join(self.work, "many.s")
        with open(source, "w", encoding="utf-8") as out:
            out.write(".text\n")
            out.writelines(f".globl many{i}\nmany{i}: nop\n" for i in range(20000))
        program = Program(os.path.join(self.work, "many"), source)
        frames, names = zip(*program.calls)
        self.write_dump(frames)
        with open(program.path, "rb") as file:
            data = bytearray(file.read())
        start, (size, number) = int.from_bytes(data[40:48], "little"), struct.unpack_from(
            "<HH", data, 58)
        heads = [bytes(data[start + i * size:start + (i + 1) * size]) for i in range(number)]
        table = next(head for head in heads if head[4:8] == b"\2\0\0\0")
        data[40:48] = len(data).to_bytes(8, "little")
        data[60:62] = (number + 200).to_bytes(2, "little")
        with open(program.path, "wb") as file:
            file.write(bytes(data) + b"".join(heads) + table * 200)
        before = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (100 << 20, before[1]))
        self.expect("many tables", (list(names), ""), self.read_frames("--binary", program.path))
        resource.setrlimit(resource.RLIMIT_DATA, before)

    def check_functions(self, program):
        """Conditions on functions, and groups by them."""
        self.write_dump([frame for frame, _ in program.calls])
        for sentence in ("group=ufunc if ufunc ~ ask_inn*", "group=ufunc if ufunc == ask_inner"):
            got = run_command(self.program, "--json", "--binary", program.path, sentence,
                              self.dump)
            self.expect(sentence, ["ask_inner"],
                        [group["ufunc"] for group in json.loads(got)["groups"]])
        got = subprocess.run([self.program, "--binary", program.path, "if ufunc == ask_iner",
                              self.dump], capture_output=True, text=True, check=True)
        self.expect("misspelt", True, "did you mean 'ask_inner'?" in got.stderr)


def main():
    """The program."""
    with tempfile.TemporaryDirectory() as work:
        checker = Checker(os.path.abspath(sys.argv[1]), work)
        programs = {kind: Program(os.path.join(work, kind), *options)
                    for kind, options in KINDS.items()}
        for kind, program in programs.items():
            checker.check_program(kind, program)
        checker.check_debug_file(programs["pie"])
        checker.check_other_build(programs["pie"], programs["fixed"])
        checker.check_without_build_id(programs["fixed"])
        checker.check_trampoline(programs["moved"])
        checker.check_odd_names(programs["moved"])
        checker.check_versions(programs["moved"])
        checker.check_end_of_section(programs["library"])
        checker.check_many_files(programs["moved"])
        checker.check_many_tables()
        checker.check_functions(programs["moved"])
    return checker.wrong > 0


if __name__ == "__main__":
    sys.exit(main())
