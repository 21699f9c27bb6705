#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Measure what saving stacks costs KASAN, SLUB's user tracking and kmemleak.

    bench_depot_users.py [--tasks N] [USER...]

For each user of the stack depot, compare the kernel without our patches with ours, with
slab_owner=off: instructions of kmalloc() of 64 bytes and kfree(), nanoseconds of the guest's
clock until its first process, where one nanosecond is one instruction, and bytes of the depot
after boot and after short tasks. Documentation/mm/slab_owner_internals.rst has the table.
"""

import argparse
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from workbench import BUILD, HERE, die, print_line  # noqa: E402

POOL_BYTES = 16_384
# Seconds that a guest may take.
LIMIT = 3600


@dataclass
class DepotUser:
    """A user of the depot: its kernels without and with our patches, and the boot line."""
    name: str
    kernels: tuple[str, str]
    append: str = ""


X86_64 = ("vanilla", "x86_64")
DEBUG = ("debug-vanilla", "debug")
TAGS = ("kasan-tags-vanilla", "kasan-tags")

USERS = {
    "none": DepotUser("nobody", X86_64),
    "slub": DepotUser("SLUB, slab_debug=U", X86_64, "slab_debug=U"),
    "generic": DepotUser("KASAN, generic", DEBUG),
    "kmemleak": DepotUser("KASAN, generic, and kmemleak", DEBUG, "kmemleak=on"),
    "tags-off": DepotUser("KASAN, tags, kasan.stacktrace=off", TAGS, "kasan.stacktrace=off"),
    "tags": DepotUser("KASAN, tags", TAGS),
    "tags-4096": DepotUser("KASAN, tags, ring of 4,096", TAGS, "kasan.stack_ring_size=4096"),
}

# The median of the chain that is 8 calls deep. The depot's memory is in pools, and the table of
# the call tree is beside them.
MEASURE = r"""
    dmesg | sed -n 's/^.*\[ *\([0-9.]*\)\].*Run .*init as init process.*/boot: \1/p'
    insmod /extra/owner_bench.ko only=kmalloc-64; rmmod owner_bench
    dmesg | grep -F 'owner_bench: kmalloc-64 8 '"""
TASKS = """
    depot() {{
        sed -n "s/^\\(pools\\|tree_bytes\\): /$1 \\1: /p" /sys/kernel/debug/stackdepot/stats
    }}
    depot boot
    for cpu in 1 2 3 4; do
        (i=0; while [ $((i += 1)) -le {each} ]; do (:); done) &
    done
    wait
    depot tasks"""


def run_guest(kernel: str, words: list[str], command: str) -> str:
    """Run a command in a guest. Return what it printed."""
    done = subprocess.run(
        [HERE / "guest/guest.py", "run", kernel, "--timeout", str(LIMIT), "--mem", "1G",
         "--extra", BUILD / kernel / "owner-modules", *words, "--cmd", command],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        die(f"{kernel}: the guest ended with status {done.returncode}:\n"
            + (done.stdout + done.stderr)[-2000:])
    return done.stdout


def find_number(pattern: str, text: str) -> float:
    """The number that a pattern finds, which must be there."""
    found = re.search(pattern, text, re.M)
    if not found:
        die(f"the guest did not print {pattern}:\n{text[-2000:]}")
    return float(found[1])


def measure_user(user: DepotUser, kernel: str, tasks: int) -> list[float]:
    """Instructions of the operation and of the boot, and bytes after boot and after tasks."""
    append = ["--append", f"slab_owner=off printk.time=1 {user.append}"]
    counted = run_guest(kernel, [*append, "--icount", "--smp", "1"], MEASURE)
    figures = [find_number(r"owner_bench: kmalloc-64 8 \S+ (\S+)", counted),
               find_number(r"^boot: (\S+)", counted) * 1e9]
    if tasks:
        lived = run_guest(kernel, [*append, "--smp", "4"], TASKS.format(each=tasks // 4))
        for moment in ("boot", "tasks"):
            tree = re.search(rf"^{moment} tree_bytes: (\d+)", lived, re.M)
            figures.append(find_number(rf"^{moment} pools: (\d+)", lived) * POOL_BYTES
                           + (int(tree[1]) if tree else 0))
    print_line(f"# progress: {user.name} on {kernel} is measured")
    return figures


def main() -> None:
    """Measure, and print a table: each figure without and with our patches."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", type=int, default=100_000,
                        help="number of short tasks (default 100,000)")
    parser.add_argument("users", nargs="*", metavar="USER",
                        help=f"default: all of {' '.join(USERS)}")
    options = parser.parse_args()
    unknown = set(options.users) - set(USERS)
    if unknown:
        parser.error(f"no user {' '.join(sorted(unknown))}; there are {' '.join(USERS)}")
    users = [USERS[name] for name in options.users or USERS]
    kernels = list(dict.fromkeys(kernel for user in users for kernel in user.kernels))
    subprocess.run([HERE / "kernels/kernels.py", *kernels], check=True)
    with ThreadPoolExecutor(2) as pool:
        futures = [[pool.submit(measure_user, user, kernel, options.tasks)
                    for kernel in user.kernels] for user in users]
        results = [[future.result() for future in pair] for pair in futures]
    titles = ["kmalloc-64", "boot"]
    if options.tasks:
        titles += ["bytes after boot", "bytes after tasks"]
    print_line(f"{'':36}" + "".join(f"{title:>32}" for title in titles))
    for user, (before, after) in zip(users, results):
        print_line(f"{user.name:36}" + "".join(
            f"{old:16,.0f}{new:16,.0f}" for old, new in zip(before, after)))


if __name__ == "__main__":
    main()
