#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Measure the time of the walk by steps on x86_64: record walks in a guest, replay them here.

    bench_replay.py

Only User-mode Linux runs directly on the processor, and it follows frame pointers. A guest with
modules/owner_record.c records the stacks of allocations, and replay.c walks them with the code of
the kernel. One guest has random offsets of its stacks at system calls, as distributions have, and
one has none. Each cell has the least and the median mean of 15 rounds, in cycles of the time stamp
counter for a capture. A third guest calls the chains of modules/owner_time.c in turn. The
recordings are in build/replay.
"""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))

from workbench import BUILD, HERE, ROOT, TREE, die, print_line, run_command  # noqa: E402

from bench_time import occupy_cpu  # noqa: E402

KERNEL = "x86_64"
# Seconds that a guest may take.
LIMIT = 1200
CAPTURES = 20000
DIRECTORY = BUILD / "replay"

# Many kinds of system calls.
WORK = """
work()
{
    for i in 1 2 3 4 5 6 7 8; do (true) | cat; done
    for i in 1 2 3 4; do busybox true; done
    mkdir /tmp/load /tmp/mnt
    cp -r /sys/kernel/mm /tmp/load/
    find /tmp/load /proc/self/ -name none
    tar cf /tmp/load.tar -C /tmp load && tar tf /tmp/load.tar
    ls -l /dev /proc/1; ps; cat /proc/*/stat /proc/self/maps /proc/meminfo
    mount -t tmpfs none /tmp/mnt && cp /init /tmp/mnt && ls /tmp/mnt && umount /tmp/mnt
    dd if=/dev/zero of=/tmp/load/data bs=64k count=16
    mkfifo /tmp/load/fifo; cat /tmp/load/fifo & echo x >/tmp/load/fifo; wait
    ln -s data /tmp/load/link; mv /tmp/load/data /tmp/load/moved; sleep 0.01
    rm -rf /tmp/load /tmp/load.tar /tmp/mnt
}
work
"""
BEGIN = f"insmod /extra/owner_record.ko captures={CAPTURES}"
MANY = f"{WORK}work; {BEGIN}; for n in $(seq 30); do work; done"


class Recording(NamedTuple):
    """The commands of a guest while captures are recorded, and words of its command line."""
    command: str
    append: str = ""


RECORDINGS = {
    "random offsets": Recording(MANY, "randomize_kstack_offset=on"),
    "no offsets": Recording(MANY, "randomize_kstack_offset=off"),
    # The pattern with 1,024 chains begins when that with 16 chains has ended.
    "1,024 chains": Recording("insmod /extra/owner_time.ko only=pair & "
                              "until dmesg | grep -qF 'owner_bench: pair-16 '; do sleep 0.1; done; "
                              f"{BEGIN}; wait"),
}

COUNTS = {
    "captures": "captures",
    "interrupts": "captures on the interrupts' stack",
    "other-stacks": "not recorded, on other stacks",
    "missed": "not recorded, during another one",
    "chains": "different chains",
    "without-ref": "chains without room for a ref",
    "wrong": "wrong hashes",
    "frames": "frames of a chain, mean",
    "of-16-frames": "share of chains of 16 frames",
    "slow-moves": "moves that call a function, mean",
    "stack-bytes": "bytes of the stack, mean",
}
WAYS = {
    "walk": "walk by steps",
    "find": "walk by steps, find the ref",
    "list-walk": "hash a list of frames",
    "list-find": "hash a list of frames, find the ref",
}
TOUCHED = {0: "warm", 64: "64 KiB touched", 768: "768 KiB touched"}
COUNT = re.compile(r"^count: (\S+) (\S+)$", re.M)
RESULT = re.compile(r"^replay: (\S+) (\d+) (\S+) (\S+)$", re.M)


def record_captures(path: Path, recording: Recording) -> None:
    """Let a guest record captures into a file."""
    with path.open("wb") as file:
        done = subprocess.run(
            [HERE / "guest/guest.py", "run", KERNEL, "--smp", "1", "--mem", "1G",
             "--timeout", str(LIMIT), "--append", f"slab_owner=on {recording.append}",
             "--extra", BUILD / KERNEL / "owner-modules", "--cmd",
             f"{{ {recording.command}\n}} >/dev/null 2>&1; cat /sys/kernel/debug/owner_record"],
            stdout=file, stderr=subprocess.PIPE)
    if done.returncode:
        die(f"the guest ended with status {done.returncode}:\n{done.stderr.decode()[-2000:]}")


def make_headers(directory: Path) -> None:
    """Write headers that include those of the depot, and empty ones that the shim replaces."""
    kept = [ROOT / "arch/x86/include/asm/stackdepot_orc.h", TREE / "include/linux/stackdepot.h",
            TREE / "arch/x86/include/asm/orc_types.h",
            *(ROOT / "include/linux").glob("stackdepot_*.h"),
            *(ROOT / "include/linux/stackdepot").glob("*.h")]
    names = {str(path).rpartition("/include/")[2]: path for path in kept}
    for path in [ROOT / "arch/x86/kernel/stackdepot_orc.c", *kept]:
        for name in re.findall(r"#include <(\S+)>", path.read_text()):
            header = directory / name
            header.parent.mkdir(parents=True, exist_ok=True)
            text = f'#include "{names[name]}"\n' if name in names else ""
            header.write_text(text)


def compile_replay() -> Path:
    """Compile the program with the options of the kernel that change its code."""
    make_headers(DIRECTORY / "include")
    path = DIRECTORY / "replay"
    run_command("gcc", "-O2", "-Wall", "-std=gnu11", "-fno-strict-aliasing", "-fno-pie", "-no-pie",
                "-fno-strict-overflow", "-ftrivial-auto-var-init=zero", f"-I{DIRECTORY}/include",
                f"-I{ROOT}", "-o", path, HERE / "bench/replay.c")
    return path


def print_table(printed: dict[str, str]) -> None:
    """Print what the recordings have, and the cycles of each way."""
    counts = {name: dict(COUNT.findall(text)) for name, text in printed.items()}
    print_line(f"\n{'':38}" + "".join(f"{name:>18}" for name in printed))
    for count, label in COUNTS.items():
        print_line(f"{label:38}" + "".join(f"{counts[name][count]:>18}" for name in printed))
    cells = {(name, way, int(touched)): f"{float(least):,.0f} / {float(median):,.0f}"
             for name, text in printed.items()
             for way, touched, least, median in RESULT.findall(text)}
    for touched, title in TOUCHED.items():
        print_line(f"\n{title}")
        for way, label in WAYS.items():
            print_line(f"{label:38}" + "".join(f"{cells[name, way, touched]:>18}"
                                               for name in printed))
    print_line("\nLeast / median mean of 15 rounds, in cycles of a capture")


def main() -> int:
    """The program."""
    if subprocess.run([HERE / "kernels/kernels.py", KERNEL]).returncode:
        return 1
    DIRECTORY.mkdir(exist_ok=True)
    program = compile_replay()
    files = {name: DIRECTORY / name.replace(" ", "-") for name in RECORDINGS}
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(record_captures, files.values(), RECORDINGS.values()))
    print_line("# progress: all captures are recorded")
    occupy_cpu()
    printed = {name: run_command(program, path) for name, path in files.items()}
    for name, text in printed.items():
        if f"count: captures {CAPTURES}\n" not in text:
            die(f"{name}: the guest has not made {CAPTURES} captures")
    print_table(printed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
