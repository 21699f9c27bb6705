#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test "ownertop record", and the views that read its snapshots."""

import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from fresh_directory import run_tests

INPUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "input")
PATIENCE = 120.0

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Machine:
    """A directory with the files of a machine, and one for its snapshots."""

    def __init__(self, ownertop: str, directory: str) -> None:
        self.ownertop = ownertop
        self.root = os.path.join(directory, "root")
        self.store = os.path.join(directory, "store")
        self.slabs = os.path.join(self.root, "sys/kernel/debug/slab_owner")
        for name, text in (("proc/sys/kernel/random/boot_id", "first boot"),
                           ("proc/sys/kernel/osrelease", "6.12.117"),
                           ("proc/sys/kernel/version", "#1 SMP"),
                           ("proc/meminfo", "MemTotal: 1 kB"),
                           ("proc/kallsyms", "0000000000000001 T start")):
            self.write_file(name, text)
        os.makedirs(os.path.dirname(self.slabs))
        shutil.copy(os.path.join(INPUT, "slab.txt"), self.slabs)

    def write_file(self, name: str, text: str) -> None:
        """Write a file of the machine."""
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write(text + "\n")

    def command(self, *words: str) -> list[str]:
        """Return a command that records."""
        return [self.ownertop, "record", "--root", self.root, *words, self.store]

    def record(self, *words: str, status: int = 0,
               limit: Callable[[], None] | None = None) -> str:
        """Record, check the exit status, and return the messages."""
        done = subprocess.run(self.command(*words), capture_output=True, text=True, check=False,
                              preexec_fn=limit)
        assert done.returncode == status, f"status {done.returncode}: {done.stderr}"
        return done.stderr

    def snapshots(self) -> list[str]:
        """Return the names of all entries of the store."""
        return sorted(os.listdir(self.store))

    def show(self, *words: str) -> tuple[str, str]:
        """Run a view of the store, and return its output and its messages."""
        done = subprocess.run([self.ownertop, *words], capture_output=True, text=True, check=True)
        return done.stdout, done.stderr


@contextlib.contextmanager
def run_in_background(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command until the end of the block."""
    with subprocess.Popen(command) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_until(condition: Callable[[], object], what: str) -> None:
    """Wait until the condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def test_contents(machine: Machine) -> None:
    """A snapshot has the bytes of all files that can be read, and facts about them."""
    machine.record()
    name, = machine.snapshots()
    assert re.fullmatch(r"\d{8}T\d{6}Z", name), name
    path = os.path.join(machine.store, name)
    assert sorted(os.listdir(path)) == ["about", "kallsyms.zst", "meminfo.zst",
                                        "slab_owner.zst"], os.listdir(path)
    unpacked = subprocess.run(["zstd", "-dc", os.path.join(path, "slab_owner.zst")], check=True,
                              capture_output=True).stdout
    with open(machine.slabs, "rb") as slabs:
        assert slabs.read() == unpacked, "another dump"
    with open(os.path.join(path, "about"), encoding="ascii") as about:
        text = about.read()
    assert "boot_id first boot\nkernel 6.12.117 #1 SMP " in text, text
    assert os.stat(path).st_mode & 0o777 == 0o700, "others may read it"


def test_limits(machine: Machine) -> None:
    """The oldest snapshots are removed beyond -n and --max-bytes."""
    names = []
    for _ in range(4):
        machine.record("-n", "3")
        names.append(machine.snapshots()[-1])
    assert machine.snapshots() == names[1:], machine.snapshots()
    machine.record("--max-bytes", "2200")
    left = machine.snapshots()
    assert len(left) == 2 and names[3] in left, left
    message = machine.record("--max-bytes", "500", status=2)
    assert "larger than --max-bytes" in message, message
    assert machine.snapshots() == left, "a snapshot was lost, or a partial one is left"
    # The first file fits, and the others do not.
    first = os.path.getsize(os.path.join(machine.store, left[-1], "slab_owner.zst"))
    machine.record("--max-bytes", str(first + 10), status=2)
    assert machine.snapshots() == left, machine.snapshots()


def test_interval(machine: Machine) -> None:
    """With -i, snapshots are repeated until SIGTERM, which leaves no partial one."""
    with run_in_background(machine.command("-i", "1s", "-n", "2")) as process:
        seen: set[str] = set()

        def have_three() -> bool:
            if os.path.isdir(machine.store):
                seen.update(name for name in machine.snapshots() if name[0] != ".")
            return len(seen) >= 3

        wait_until(have_three, "no three snapshots")
        message = machine.record(status=2)
        assert "another ownertop record writes to it" in message, message
        process.terminate()
        assert process.wait() == 0, process.returncode
    assert len(machine.snapshots()) == 2, machine.snapshots()


def test_killed(machine: Machine) -> None:
    """A killed command leaves no snapshot, and the next one removes its remains."""
    machine.record()
    before = machine.snapshots()
    os.remove(machine.slabs)
    os.mkfifo(machine.slabs)
    with run_in_background(machine.command()) as process:
        with open(machine.slabs, "wb") as pipe:
            pipe.write(b"Object allocated\n")
            pipe.flush()
            wait_until(lambda: len(machine.snapshots()) == 2, "it does not write")
            process.send_signal(signal.SIGKILL)
            process.wait()
            partial = [name for name in machine.snapshots() if name not in before]
            assert len(partial) == 1 and partial[0].startswith(".partial-"), partial
            table, _ = machine.show("table", machine.store)
            assert "dentry" in table, "the older snapshot is not read"
            os.remove(machine.slabs)
            shutil.copy(os.path.join(INPUT, "slab.txt"), machine.slabs)
            # zstd still reads the pipe.
            machine.record()
    assert len(machine.snapshots()) == 2 and partial[0] not in machine.snapshots(), "remains"


def test_killed_at_any_point(machine: Machine) -> None:
    """Views read complete snapshots only, at any moment at which a command is killed."""
    for step in range(12):
        with run_in_background(machine.command("-n", "2")) as process:
            time.sleep(step / 20)
            process.send_signal(signal.SIGKILL)
            process.wait()
        for name in machine.snapshots() if os.path.isdir(machine.store) else ():
            if not name.startswith("."):
                files = os.listdir(os.path.join(machine.store, name))
                assert {"about", "meminfo.zst", "slab_owner.zst"} < set(files), files
    # A program of the killed script, as mv, holds the lock until it ends.
    wait_until(lambda: subprocess.run(machine.command("-n", "2"), check=False).returncode == 0,
               "none is written")
    assert 1 <= len(machine.snapshots()) <= 2, machine.snapshots()
    assert all(name[0] != "." for name in machine.snapshots()), machine.snapshots()


def test_ended(machine: Machine) -> None:
    """A signal ends the command while it writes, and leaves no snapshot and no process."""
    os.remove(machine.slabs)
    os.mkfifo(machine.slabs)
    for number in ENDING_SIGNALS:
        with run_in_background(machine.command()) as process:
            with open(machine.slabs, "wb", buffering=0) as pipe:
                wait_until(machine.snapshots, "it does not write")
                process.send_signal(number)
                assert process.wait(60) == 2, process.returncode
                assert not machine.snapshots(), machine.snapshots()
                try:
                    pipe.write(b"Object allocated\n")
                except BrokenPipeError:
                    continue
                raise AssertionError("zstd reads on")


def test_odd_directories(machine: Machine) -> None:
    """Names of directories may have spaces, and begin with a dash."""
    for name in ("a  b*", "-n"):
        machine.store = os.path.join(os.path.dirname(machine.root), name)
        done = subprocess.run([machine.ownertop, "record", "--root", "root", "--", name],
                              cwd=os.path.dirname(machine.root), check=False)
        assert done.returncode == 0, name
        assert len(machine.snapshots()) == 1, machine.snapshots()


def test_bad_values(machine: Machine) -> None:
    """Values that have no meaning are refused."""
    for words in (("-n", "0"), ("-n", "08"), ("--keep=5x",), ("-i", "5"), ("-i", "0s"),
                  ("--interval", "10ms"), ("--max-bytes", "2k"), ("--max-bytes=",),
                  ("--max-bytes", "99999999999G")):
        message = machine.record(*words, status=2)
        assert "is no " in message and "--help" in message, message
    assert "one DIR" in machine.record("another", status=2)
    assert "--frequency" in machine.record("--frequency", status=2)
    assert not os.path.exists(machine.store), "it has begun"


def test_read_error(machine: Machine) -> None:
    """A file that cannot be read to its end leaves no snapshot."""
    os.mkdir(os.path.join(os.path.dirname(machine.slabs), "page_owner"))
    message = machine.record(status=2)
    assert "Read error" in message and "debug/page_owner" in message, message
    assert not machine.snapshots(), machine.snapshots()


def test_full_disk(machine: Machine) -> None:
    """A file that cannot be written to its end leaves no snapshot."""
    machine.record()
    before = machine.snapshots()
    with open(machine.slabs, "wb") as slabs:
        slabs.write(random.Random(1).randbytes(1 << 20))

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))

    message = machine.record(status=2, limit=limit)
    assert "slab_owner.zst" in message, message
    assert machine.snapshots() == before, machine.snapshots()


def test_without_dump(machine: Machine) -> None:
    """A machine without either dump is an error that says what is missing."""
    os.remove(machine.slabs)
    message = machine.record(status=2)
    assert "slab_owner=on" in message and "mount -t debugfs" in message, message
    assert not machine.snapshots(), machine.snapshots()
    machine.write_file("sys/kernel/debug/sleep_time", "1")
    message = machine.record(status=2)
    assert "CONFIG_SLAB_OWNER" in message and "mount" not in message, message
    assert not machine.snapshots(), machine.snapshots()


def test_views(machine: Machine) -> None:
    """Views read the snapshots that they need, and warn about another boot or kernel."""
    machine.record()
    shutil.copy(os.path.join(INPUT, "slab_later.txt"), machine.slabs)
    machine.record()
    shutil.copy(os.path.join(INPUT, "slab_latest.txt"), machine.slabs)
    machine.write_file("proc/sys/kernel/version", "#2 SMP")
    machine.record()
    names = [os.path.join(machine.store, name) for name in machine.snapshots()]
    dumps = [os.path.join(name, "slab_owner.zst") for name in names]
    assert machine.show("table", machine.store) == machine.show("table", dumps[2])
    diff, messages = machine.show("diff", machine.store)
    assert diff == machine.show("diff", dumps[0], dumps[2])[0], diff
    assert f"{names[2]} is of another kernel than {names[0]}" in messages, messages
    assert "boot" not in messages, messages
    assert machine.show("diff", names[0], names[1]) == machine.show("diff", *dumps[:2])
    trend, messages = machine.show("trend", machine.store)
    assert "the last of 3 dumps" in trend, trend
    assert re.search(r"^time: \d+s between", trend, re.M), trend
    machine.write_file("proc/sys/kernel/random/boot_id", "second boot")
    machine.record()
    last = os.path.join(machine.store, machine.snapshots()[-1])
    _, messages = machine.show("trend", machine.store)
    assert f"{last} is of another boot than {names[0]}" in messages, messages
    done = subprocess.run([machine.ownertop, "diff", machine.root], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 2 and "without snapshots" in done.stderr, done.stderr


def test_summary(machine: Machine) -> None:
    """A snapshot tells how much of the machine's slabs the owners explain, all of them only."""
    machine.write_file("proc/meminfo", "MemTotal:  64 kB\nNoSlab: 3 kB\nSlab: 16 kB")
    machine.record()
    line = "Slabs take 16.0K of 64.0K of memory, 25.0%. Owners explain 4.1K of that, 25.6%.\n"
    assert line in machine.show("explain", machine.store)[0]
    assert "Slabs" not in machine.show("explain", "--cache", "dentry", machine.store)[0]
    assert "Slabs" not in machine.show(machine.store)[0], "not a terminal"
    command = f"stty cols 90; '{machine.ownertop}' '{machine.store}'"
    shown = subprocess.run(["script", "-qec", command, "/dev/null"], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, check=True).stdout
    assert shown.replace("\r", "").startswith(line + "Most:   2.1K, 52.3%, in 2 objects"), shown
    machine.record()
    assert line in machine.show("explain", machine.store)[0], "the last of two"
    dumps = [os.path.join(machine.store, name, "slab_owner.zst") for name in machine.snapshots()]
    assert "Slabs" not in machine.show("explain", "--sum", *dumps)[0], "of two machines"
    machine.write_file("proc/meminfo", "MemTotal:  64 kB")
    machine.record()
    assert "Slabs" not in machine.show("explain", machine.store)[0]


SLABINFO = """slabinfo - version: 2.1
# name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables : slabdata <active>
kmalloc-256  12  32  256  16  1 : tunables  0  0  0 : slabdata  2  2  0
ext4_inode_cache  1  4  1096  4  1 : tunables  0  0  0 : slabdata  1  1  0
empty  0  0  8  512  1 : tunables  0  0  0 : slabdata  0  0  0"""


def test_slabinfo(machine: Machine) -> None:
    """A table by cache has the slabs of each cache and how full they are, as slabtop shows."""
    machine.write_file("proc/slabinfo", SLABINFO)
    machine.record()
    lines = [line.split() for line in machine.show("-g", "cache", machine.store)[0].splitlines()]
    assert lines[0][-4:] == ["SLABS", "USE%", "OLDEST", "CACHE"], lines
    caches = {line[-1]: line[-4:-2] for line in lines[1:9]}
    assert caches["kmalloc-256"] == ["2", "37.5%"], lines
    assert caches["ext4_inode_cache"] == ["1", "25.0%"], lines
    assert caches["dentry"] == ["-", "-"], lines
    groups = json.loads(machine.show("--json", "-g", "cache", machine.store)[0])["groups"]
    assert {(group["slabs"], group["use"]) for group in groups} == {
        (2, 0.375), (1, 0.25), (None, None)}, groups
    header = machine.show("--csv", "-g", "cache", machine.store)[0].splitlines()[0]
    assert header.endswith(",slabs,use,cache"), header
    for groups in ("cache,comm", "comm"):
        assert "SLABS" not in machine.show("-g", groups, machine.store)[0], groups
    dump = os.path.join(machine.store, machine.snapshots()[0], "slab_owner.zst")
    assert "SLABS" not in machine.show("-g", "cache", "--sum", dump, dump)[0], "of two machines"
    assert "SLABS" not in machine.show("-g", "cache", machine.slabs)[0], "of no snapshot"


def test_kallsyms(machine: Machine) -> None:
    """Addresses of a snapshot get the names that its own kallsyms has, and no other one's."""
    shutil.copy(os.path.join(INPUT, "raw_frames.txt"), machine.slabs)
    names = os.path.join(machine.root, "proc/kallsyms")
    shutil.copy(os.path.join(INPUT, "kallsyms.txt"), names)
    machine.record()
    wanted = machine.show("-n", "0", "-d", "0", "--kallsyms", names, machine.slabs)
    shown = machine.show("-n", "0", "-d", "0", machine.store)
    assert "leak_some+0x10" in shown[0] and shown[0] == wanted[0], shown
    machine.write_file("proc/sys/kernel/random/boot_id", "second boot")
    machine.record()
    trend, _ = machine.show("trend", "-n", "0", "-d", "0", machine.store)
    assert "leak_some" not in trend, trend
    explained, _ = machine.show("explain", machine.store)
    assert "--kallsyms" not in explained, explained


TESTS = (test_contents, test_limits, test_interval, test_killed, test_killed_at_any_point,
         test_ended, test_odd_directories, test_bad_values, test_read_error, test_full_disk,
         test_without_dump, test_views, test_summary, test_slabinfo, test_kallsyms)


def main() -> int:
    """Return exit status 0 if all tests pass."""
    # The shell of the command cannot trap signals that it finds ignored, as under nohup.
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    return run_tests(TESTS, lambda directory: (Machine(sys.argv[1], directory),))


if __name__ == "__main__":
    sys.exit(main())
