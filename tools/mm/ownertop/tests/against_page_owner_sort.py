#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compare "ownertop page_owner_sort" with the kernel's page_owner_sort.

On an undamaged dump both must print the same with all options. For each error of
the kernel's program, a test shows that it has the error and that ownertop does not.

usage: against_page_owner_sort.py OWNERTOP PAGE_OWNER_SORT_C [DUMP]

With DUMP, only the outputs for that dump are compared.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

import oracle

MODES = [
    [], ["-a"], ["-m"], ["-n"], ["-p"], ["-P"], ["-s"], ["-t"], ["-d"],
    ["--cull", "pid"], ["--cull", "tg"], ["--cull", "name"], ["--cull", "stacktrace"],
    ["--cull", "ator"], ["--cull", "st,p,tg,n,allocator"], ["--cull", "n,st", "-m"],
    ["--cull", "name", "-n"], ["--cull", "st", "-s"], ["--cull", "st", "-a"],
    ["--cull", "p", "-t"], ["--pid", "PIDS"], ["--tgid", "TGIDS", "-m"],
    ["--name", "TASKS"], ["--name", "TASK", "--cull", "st,pid"],
    ["--tgid", ",".join(map(str, range(999))), "--name", "TASK", "--cull", "ator"],
]

# Each key of --sort, and the short option that sorts by the same key.
SORTS = {"pid": "-p", "tg": "-P", "name": "-n", "st": "-s", "alloc_ts": "-a"}

RECORD = """Page allocated via order {order}, mask 0x1(GFP_X), pid {pid}, tgid {pid} ({comm}), \
ts {ts} ns
PFN 0x1 type Movable Block 0 type Movable Flags 0x0()
{frames}{tail}
"""


def make_record(order=0, pid=1, comm="sh", ts=5,
                frames=" alloc+0x1/0x2\n caller+0x1/0x2\n", tail=""):
    """Return the text of a record."""
    return RECORD.format(order=order, pid=pid, comm=comm, ts=ts, frames=frames, tail=tail)


class Result:
    """Exit status, messages and output of a run of one program."""

    def __init__(self, process, path):
        self.status = process.returncode
        self.err = process.stderr
        with open(path, encoding="utf-8") as out:
            self.out = out.read()


class Checker:
    """Run both page_owner_sort programs on dumps and count differences that are wrong."""

    def __init__(self, ownertop, source, work):
        self.work = work
        self.wrong = 0
        self.ours = [ownertop, "page_owner_sort"]
        self.theirs = [os.path.join(work, "page_owner_sort")]
        self.watched = [os.path.join(work, "page_owner_sort_asan")]
        subprocess.run(["gcc", "-O2", "-w", "-o", *self.theirs, source], check=True)
        subprocess.run(["gcc", "-g", "-w", "-fsanitize=address", "-o", *self.watched, source],
                       check=True)

    def expect(self, what, true):
        """Count an error unless the condition holds."""
        if not true:
            self.wrong += 1
            print(f"does not hold: {what}")

    def run(self, program, *options, dump=None, pipe=None):
        """Run a program on a dump, which is a file or a pipe."""
        out = os.path.join(self.work, "out")
        with open(out, "w", encoding="ascii") as file:
            file.write("untouched\n")
        process = subprocess.run(
            [*program, *options, dump or "/dev/stdin", out], check=False, input=pipe,
            stdin=None if pipe else subprocess.DEVNULL, capture_output=True, text=True,
            env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
        return Result(process, out)

    def run_both_programs(self, text, *options):
        """Run both programs on a dump with this text."""
        dump = os.path.join(self.work, "small")
        with open(dump, "w", encoding="utf-8") as file:
            file.write(text)
        return (self.run(self.theirs, *options, dump=dump),
                self.run(self.ours, *options, dump=dump))

    def check_equal_output(self, dump):
        """Check that both programs print the same for a dump in all modes."""
        with open(dump, encoding="ascii") as file:
            text = file.read()
        pids, tgids, tasks = (
            [most for most, _ in collections.Counter(re.findall(key, text)).most_common(3)] or ["1"]
            for key in (r", pid (\d+), t", r", tgid (\d+) ", r", tgid \d+ \((.*)\), ts "))
        some = {"PIDS": ",".join(pids), "TGIDS": ",".join(tgids), "TASKS": ",".join(tasks),
                "TASK": tasks[0]}
        for mode in MODES:
            options = [some.get(word, word) for word in mode]
            theirs = self.run(self.theirs, *options, dump=dump)
            ours = self.run(self.ours, *options, dump=dump)
            self.expect(f"{dump}: {options} differ", theirs.out == ours.out)
            self.expect(f"{dump}: {options} status", theirs.status == ours.status == 0)

    def check_older_kernels(self, dump):
        """Check records as kernels before 5.18 and 5.11 print them."""
        with open(dump, encoding="ascii") as file:
            text = re.sub("(?m)^PFN (0x[0-9a-f]+)", lambda pfn: f"PFN {int(pfn[1], 16)}",
                          file.read())
        for version, pattern, replacement in (
                ("5.15", r", tgid \d+ \(.*\)(, ts \d+ ns)$", r"\1, free_ts 12 ns"),
                ("5.10", r", pid .*, ts \d+ ns$", "")):
            older = os.path.join(self.work, version)
            with open(older, "w", encoding="ascii") as file:
                file.write(re.sub("(?m)" + pattern, replacement, text))
            self.expect(f"{version} is read", self.run(self.ours, dump=older).out != "")
            self.check_equal_output(older)

    def check_link(self, dump):
        """Check that a link of that name behaves like page_owner_sort."""
        link = os.path.join(self.work, "link", "page_owner_sort")
        os.mkdir(os.path.dirname(link))
        os.symlink(os.path.abspath(self.ours[0]), link)
        self.expect("called by its name", self.run([link], "-m", dump=dump).out ==
                    self.run(self.theirs, "-m", dump=dump).out)

    def check_sort_option(self, dump):
        """Check --sort, which the kernel's program ignores."""
        plain = self.run(self.theirs, dump=dump).out
        for key, option in SORTS.items():
            wanted = self.run(self.theirs, option, dump=dump).out
            self.expect(f"theirs ignores --sort {key}",
                        self.run(self.theirs, "--sort", key, dump=dump).out == plain)
            self.expect(f"ours sorts by {key}",
                        self.run(self.ours, "--sort", key, dump=dump).out == wanted)
        ours = self.run(self.ours, "--sort", "-name,+pid", "--cull", "n,p", dump=dump).out
        lines = [line.split(", ") for line in ours.splitlines()]
        names = [(line[3], int(line[2].split()[1])) for line in lines]
        by_pid = sorted(names, key=lambda n: n[1])
        self.expect("two keys", names == sorted(by_pid, key=lambda n: n[0], reverse=True))
        for options in (["-p", "--sort", "pid"], ["-a", "-m"], ["--sort", "x"], ["--cull", "txt"],
                        ["--sort", "pid,"]):
            ours = self.run(self.ours, *options, dump=dump)
            self.expect(f"{options} are refused", (ours.status, ours.out) == (2, "untouched\n"))

    def check_file_sizes(self, dump):
        """Check pipes and short records, which the kernel's program does not count."""
        with open(dump, encoding="ascii") as file:
            text = file.read()
        theirs = self.run(self.theirs, pipe=text)
        ours = self.run(self.ours, pipe=text)
        self.expect("theirs gives nothing for a pipe", (theirs.out, theirs.status) == ("", 0))
        self.expect("ours does", ours.out == self.run(self.ours, dump=dump).out)
        theirs, ours = self.run_both_programs("Page allocated via order 0, pid 1, tgid 1 (a), "
                                              "ts 1 ns\nPFN 0x1\n\n" * 5)
        self.expect("theirs gives nothing for short records", theirs.out == "")
        self.expect("ours counts them", ours.out.startswith("5 times, 5 pages"))

    def check_damaged_records(self):
        """Check that ownertop reports damaged records."""
        good = make_record(pid=7)
        theirs, ours = self.run_both_programs(good + make_record(pid=8)[:-1])
        self.expect("theirs drops the last", theirs.status == 0 and "pid 8" not in theirs.out)
        self.expect("ours says so", ours.status == 1 and ":10: the record is cut off" in ours.err
                    and ":10: the record is cut off" in ours.out.splitlines()[-1])
        long = make_record(pid=8, frames=" f+0x1/0x2\n" * 60000)
        theirs, ours = self.run_both_programs(good + long + make_record(pid=9))
        self.expect("theirs ends at 128 KiB", theirs.status == 0 and "pid 9" not in theirs.out)
        self.expect("ours goes on", ours.status == 1 and "pid 9" in ours.out)
        no_pfn = "".join(line + "\n" for line in make_record(pid=8).split("\n")[:-1]
                         if not line.startswith("PFN"))
        cma = good.replace("type Movable Flags", "type CMA Flags")
        theirs, ours = self.run_both_programs(cma + no_pfn)
        self.expect("theirs has a PFN line left over", theirs.out.count("allocated by CMA") == 2)
        self.expect("ours refuses", ours.status == 1 and "has no PFN line" in ours.err and
                    "pid 8" not in ours.out)

    def check_large_numbers(self):
        """Check orders, sums and pids that do not fit into an int."""
        theirs, ours = self.run_both_programs(make_record(order=64))
        self.expect("theirs shifts by 64", theirs.out.startswith("1 times, "))
        self.expect("ours refuses", ours.status == 1 and "order is too large" in ours.err)
        theirs, ours = self.run_both_programs(make_record(order=20) * 2048)
        self.expect("theirs overflows", "2048 times, -" in theirs.out)
        self.expect("ours adds up", ours.out.startswith(f"2048 times, {2048 << 20} pages"))
        theirs, ours = self.run_both_programs(make_record(pid=1), "--pid", "4294967297")
        self.expect("theirs takes it for 1", "pid 1," in theirs.out)
        self.expect("ours refuses", (ours.status, ours.out) == (2, "untouched\n"))

    def check_allocators(self):
        """Check that ownertop recognises the allocator of a page."""
        theirs, ours = self.run_both_programs(make_record(tail="Slab cache page\n"))
        self.expect("theirs has no slabs", "OTHERS" in theirs.out)
        self.expect("ours has", "allocated by SLAB :" in ours.out)
        chain = (" {}alloc_pages+0x1/0x2\n __vmalloc_area_node+0x1/0x2\n"
                 " __vmalloc_node_range_noprof+0x1/0x2\n")
        theirs, ours = self.run_both_programs(make_record(frames=chain.format("vm_area_")))
        self.expect("theirs has no vmalloc", "OTHERS" in theirs.out)
        self.expect("ours has", "allocated by VMALLOC :" in ours.out)
        first = make_record(frames=" __vmalloc_node_range_noprof+0x1/0x2\n caller+0x1/0x2\n")
        _, ours = self.run_both_programs(first)
        self.expect("theirs reads in front of the block", self.address_sanitizer_finds_error())
        self.expect("ours does not", ours.out.startswith("1 times, 1 pages, allocated by OTHERS"))

    def address_sanitizer_finds_error(self):
        """Does the address sanitizer find an error with the last small dump?"""
        result = self.run(self.watched, dump=os.path.join(self.work, "small"))
        return result.status != 0 and "AddressSanitizer" in result.err

    def check_task_names(self):
        """Check names of tasks that contain the text of other fields."""
        _, ours = self.run_both_programs(make_record(comm="a), ts 1 ns, (b), ts"), "--cull", "name")
        self.expect("theirs writes beyond a name", self.address_sanitizer_finds_error())
        self.expect("ours has room", "task_comm_name: a), ts 1 ns, (b), ts\n" in ours.out)
        theirs, ours = self.run_both_programs(make_record(comm="ts 12 ns"))
        self.expect("theirs cuts the name", "(ts  ns), ts 5 ns" in theirs.out)
        self.expect("ours the time", "(ts 12 ns), ts  ns" in ours.out)
        theirs, ours = self.run_both_programs("# slab_owner 1\n" + make_record())
        self.expect("theirs has comments in it", "# slab_owner" in theirs.out)
        self.expect("ours has none", "#" not in ours.out)

    def check_unusable_files(self):
        """Check files that cannot be read or written."""
        dump = os.path.join(self.work, "small")
        theirs, ours = (subprocess.run([*program, dump, "/dev/full"], check=False,
                                       capture_output=True, text=True)
                        for program in (self.theirs, self.ours))
        self.expect("theirs does not see a full disk", theirs.returncode == 0)
        self.expect("ours does", ours.returncode == 2 and "No space left" in ours.stderr)
        theirs, ours = (self.run(program, dump="nosuch") for program in (self.theirs, self.ours))
        self.expect("theirs empties its output", theirs.out == "")
        self.expect("ours does not", (ours.status, ours.out) == (2, "untouched\n") and
                    "nosuch: No such file" in ours.err)


def main():
    """Return exit status 0 without errors, or 77 without the source of page_owner_sort."""
    ownertop, source, *real = sys.argv[1:]
    if not os.path.exists(source):
        print("needs page_owner_sort.c of the kernel: make tree")
        return 77
    with tempfile.TemporaryDirectory() as work:
        check = Checker(ownertop, source, work)
        dump = os.path.join(work, "dump")
        if not real:
            oracle.make_dump(dump, "page.txt", "--records", "3000", "--chains", "200")
        # Differences that are errors of page_owner_sort are tested below.
        with open(real[0] if real else dump, encoding="ascii") as file:
            lines = [line for line in file if "__vmalloc_area_node" not in line]
        with open(dump, "w", encoding="ascii") as file:
            file.write("".join(lines).replace("Slab cache page\n", ""))
        check.check_equal_output(dump)
        if real:
            return check.wrong > 0
        check.check_older_kernels(dump)
        check.check_link(dump)
        check.check_sort_option(dump)
        check.check_file_sizes(dump)
        check.check_damaged_records()
        check.check_large_numbers()
        check.check_allocators()
        check.check_task_names()
        check.check_unusable_files()
    return check.wrong > 0


if __name__ == "__main__":
    sys.exit(main())
