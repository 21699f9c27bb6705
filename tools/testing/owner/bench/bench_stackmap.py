#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Measure what stack ids save: bytes in the ring buffer, and instructions for each event.

    bench_stackmap.py [KERNEL]

Two instances trace the same second of work, one with whole stacks and one with ids. The
instructions are those of a kmalloc() of 64 bytes and a kfree(), of which one is traced, at three
depths of the stack; the same without stacks is subtracted. One CPU counts them.
Documentation/trace/stackmap.rst has the tables.
"""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from workbench import BUILD, HERE, die, print_line  # noqa: E402

MOUNT = "mount -t tracefs none /sys/kernel/tracing; cd /sys/kernel/tracing; "
# Shell words that start the tracer, without stacks, and then with stacks.
TRACERS = {
    "kmem:kmalloc": ("echo 1 >events/kmem/kmalloc/enable", "echo 1 >options/stacktrace"),
    "function tracer, kfree": ("echo kfree >set_ftrace_filter; echo function >current_tracer",
                               "echo 1 >options/func_stack_trace"),
}
IDS = "echo 1 >options/stackmap"
DEPTHS = (0, 8, 24)
LOADS = {
    "kmem events": "for event in events/kmem/*; do echo 1 >$event/enable 2>/dev/null; done; "
                   "echo 1 >options/stacktrace",
    "function tracer": "echo 'vfs_* kmem_cache_* kfree *alloc_noprof path_* d_* __fput' "
                       ">set_ftrace_filter; echo function >current_tracer; "
                       "echo 1 >options/func_stack_trace",
}
WORK = "while :; do ls -lR /proc/self; (true) | cat; done"
# $1: what each instance traces
COMPARE = """
    for i in whole ids; do
        mkdir instances/$i; cd instances/$i
        echo 0 >tracing_on; echo 80000 >buffer_size_kb
        [ $i = whole ] || {ids}
        {load}
        cd ../..
    done
    for i in whole ids; do echo 1 >instances/$i/tracing_on; done
    timeout 1 sh -c '{work}' >/dev/null 2>&1
    for i in whole ids; do
        echo 0 >instances/$i/tracing_on
        sed -n "s/^bytes: /$i bytes: /p; s/^overrun: /$i lost: /p" instances/$i/per_cpu/cpu0/stats
    done
    cat instances/ids/stack_map_stat"""


def run_guest(kernel: str, *words: str | Path) -> str:
    """Run a guest that counts instructions. Return what its command printed."""
    done = subprocess.run([HERE / "guest/guest.py", "run", kernel, "--timeout", "1800",
                           "--mem", "1G", "--icount", "--smp", "1",
                           "--append", "slab_owner=off", *words],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        die(f"{kernel}: the guest ended with status {done.returncode}:\n"
            + (done.stdout + done.stderr)[-2000:])
    return done.stdout


def count_instructions(kernel: str, setup: str) -> list[float]:
    """Instructions of kmalloc() and kfree() at each depth."""
    printed = run_guest(kernel, "--extra", BUILD / kernel / "owner-modules", "--cmd",
                        MOUNT + setup + "; insmod /extra/owner_bench.ko only=kmalloc-64; "
                        "rmmod owner_bench; dmesg | grep -F 'owner_bench: kmalloc-64 '")
    return [float(found) for found in
            re.findall(r"owner_bench: kmalloc-64 \d+ (\S+)", printed)][:len(DEPTHS)]


def compare_bytes(kernel: str, load: str) -> dict[str, int]:
    """Bytes of the buffers of both instances, and the lines of stack_map_stat."""
    printed = run_guest(kernel, "--cmd", MOUNT + COMPARE.format(ids=IDS, load=load, work=WORK))
    figures = {name: int(value) for name, value in
               re.findall(r"^([\w ]+): (\d+)$", printed, re.M)}
    if figures["whole lost"] or figures["ids lost"]:
        die(f"a buffer was too small:\n{printed}")
    return figures


def main() -> None:
    """Measure, and print two tables."""
    kernel = sys.argv[1] if len(sys.argv) > 1 else "x86_64"
    with ThreadPoolExecutor(2) as pool:
        counted = {name: [pool.submit(count_instructions, kernel, setup) for setup in
                          (start, f"{start}; {stacks}", f"{start}; {IDS}; {stacks}")]
                   for name, (start, stacks) in TRACERS.items()}
        compared = {name: pool.submit(compare_bytes, kernel, load)
                    for name, load in LOADS.items()}
    print_line(f"{'instructions of a stack':24} {'calls':>6} {'whole':>8} {'id':>8}")
    for name, futures in counted.items():
        for depth, none, whole, ids in zip(DEPTHS, *(future.result() for future in futures)):
            print_line(f"{name:24} {depth:6} {whole - none:8,.0f} {ids - none:8,.0f}")
    print_line(f"{'bytes of one second':24} {'whole':>12} {'ids':>12} {'one id':>8} {'two':>8} "
               f"{'whole':>8} {'ids':>6}")
    for name, future in compared.items():
        figures = future.result()
        whole = sum(figures[line] for line in figures if line.startswith("whole_"))
        print_line(f"{name:24} {figures['whole bytes']:12,} {figures['ids bytes']:12,} "
                   f"{figures['events_with_id']:8,} {figures['events_with_two_ids']:8,} "
                   f"{whole:8,} {figures['ids']:6,}")


if __name__ == "__main__":
    main()
