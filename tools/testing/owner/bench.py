#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What an allocation costs, in instructions: ours beside what there is today.

    bench.py            every mode and operation: a table, and build/bench.tsv
    bench.py MODE...    these modes only
    bench.py --check    the operations and modes that have a bound, as TAP

Each mode is a kernel that boots on a virtual CPU that counts instructions and
loads modules/owner_bench.c. "Added" is over the kernel as it comes, built of the
same source with the same configuration but for what is measured.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from workbench import BUILD, HERE, die, say

BASE = "vanilla"
# Not an operation, and so added to nothing: what the call chain alone costs.
UNWIND = "unwind"
# A miss by more than this is a failure.
TOLERANCE = 1.03
LIMIT = 900
OBJECTS = 400_000
CHAINS = 16_384
POOL_SIZE = 16_384
# The chain at which operations are shown beside each other.
CHAIN = 8
# Operations shown at every chain.
AT_EACH_CHAIN = ("kmalloc-64", "pages-0")
RESULT = re.compile(r"owner_bench: (\S+) (\d+) ([\d.]+) ([\d.]+)$", re.M)

# With a memory cgroup, __GFP_ACCOUNT has somebody to account to.
IN_A_CGROUP = """
    mkdir /cgroup
    mount -t cgroup2 none /cgroup
    echo +memory >/cgroup/cgroup.subtree_control
    mkdir /cgroup/bench
    echo $$ >/cgroup/bench/cgroup.procs"""


@dataclass
class Mode:
    kernel: str
    append: str = ""
    prepare: str = ":"
    # What measures, if it is not the modules.
    instead: str = ""


MODES = {
    BASE: Mode("vanilla"),
    "memcg": Mode("vanilla", prepare=IN_A_CGROUP),
    "profiling-off": Mode("profiling"),
    "profiling-on": Mode("profiling", "sysctl.vm.mem_profiling=1"),
    "slab_debug=U": Mode("vanilla", "slab_debug=U"),
    "page_owner": Mode("vanilla", "page_owner=on"),
    "off": Mode("x86_64"),
    "ready": Mode("x86_64", "slab_owner=ready"),
    "on": Mode("x86_64", "slab_owner=on"),
    "on,free": Mode("x86_64", "slab_owner=on,free=on"),
    UNWIND: Mode("x86_64", "kunit.enable=1 kunit.filter_glob=owner_unwind",
                 instead="cat /sys/kernel/debug/kunit/owner_unwind/results"),
}


@dataclass
class Bound:
    """What a mode may add to an operation."""
    operation: str
    chain: int
    mode: str
    added: float


BOUNDS = [
    Bound("kmalloc-64", 8, "off", 2),
    Bound("owner_unwind", 8, UNWIND, 160),
]


@dataclass
class Figure:
    least: float
    median: float


# By operation and chain.
Figures = dict[tuple[str, int], Figure]


def command_for(mode: Mode, only: str, memory: bool) -> str:
    if mode.instead:
        return mode.instead
    command = f"set -e\n{mode.prepare}\n"
    if memory:
        # Pages that a CPU keeps ready count as used: let it keep few.
        command += f"""
            echo 10000 >/proc/sys/vm/percpu_pagelist_high_fraction
            insmod /extra/owner_bench_memory.ko objects={OBJECTS}
            rmmod owner_bench_memory
            pools() {{ sed -n 's/^pools: //p' /sys/kernel/debug/stackdepot/stats; }}
            before=$(pools)
            insmod /extra/owner_bench_memory.ko chains={CHAINS}
            each=$((($(pools) - before) * {POOL_SIZE} / {CHAINS}))
            echo "owner_bench: bytes-of-chain 0 $each $each"
            rmmod owner_bench_memory
            """
    return command + f"insmod /extra/owner_bench.ko only={only}; dmesg | grep -F owner_bench:"


def measure(name: str, only: str, memory: bool) -> Figures:
    """Boot a mode and measure."""
    mode = MODES[name]
    done = subprocess.run(
        [HERE / "guest.py", "run", mode.kernel, "--icount", "--timeout", str(LIMIT),
         "--append", mode.append, "--extra", BUILD / mode.kernel / "owner-modules",
         "--cmd", command_for(mode, only, memory)],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        die(f"mode {name}: the guest ended with status {done.returncode}:\n"
            + (done.stdout + done.stderr)[-2000:])
    figures = {(operation, int(chain)): Figure(float(least), float(median))
               for operation, chain, least, median in RESULT.findall(done.stdout)}
    if not figures:
        die(f"mode {name} printed no figure:\n{done.stdout[-2000:]}")
    say(f"# progress: {name} is measured")
    return figures


def measure_all(names: list[str], only: str = "", memory: bool = False) -> dict[str, Figures]:
    """Build what the modes need, then two guests at a time."""
    kernels = list(dict.fromkeys(MODES[name].kernel for name in names))
    say(f"# progress: building {', '.join(kernels)}")
    log = BUILD / "bench.log"
    log.parent.mkdir(exist_ok=True)
    with log.open("w") as file:
        if subprocess.run([HERE / "kernels.py", *kernels], stdout=file, stderr=file).returncode:
            die(f"{', '.join(kernels)} did not build:\n{log.read_text()[-2000:]}")
    with ThreadPoolExecutor(2) as pool:
        futures = {name: pool.submit(measure, name, only, memory) for name in names}
        return {name: future.result() for name, future in futures.items()}


def write_tsv(results: dict[str, Figures]) -> None:
    lines = ["operation\tchain\tmode\tleast\tmedian\n"]
    lines += [f"{operation}\t{chain}\t{mode}\t{figure.least:.2f}\t{figure.median:.2f}\n"
              for mode, figures in results.items()
              for (operation, chain), figure in figures.items()]
    (BUILD / "bench.tsv").write_text("".join(lines))


def is_shown(operation: str, chain: int) -> bool:
    if operation in AT_EACH_CHAIN or operation.startswith("bytes-"):
        return True
    return chain == CHAIN and operation != "frames"


def print_table(results: dict[str, Figures]) -> None:
    """The base's figure, and what the other modes add to it."""
    base = results[BASE]
    others = [name for name in results if name not in (BASE, UNWIND)]
    say(f"\n{'operation':24}{'frames':>7}{BASE:>10}"
        + "".join(f"{'+' + name:>15}" for name in others))
    for (operation, chain), figure in base.items():
        if not is_shown(operation, chain):
            continue
        # What is in memory has no chain.
        frames = "" if operation.startswith("bytes-") else f"{base['frames', chain].median:.0f}"
        say(f"{operation:24}{frames:>7}{figure.median:10,.1f}"
            + "".join(f"{results[name][operation, chain].median - figure.median:15,.1f}"
                      for name in others))
    for (function, frames), figure in results.get(UNWIND, {}).items():
        say(f"{function:24}{frames:>7}{figure.median:10,.1f}")
    say("\nInstructions for an operation and its opposite, or for a call chain, and bytes; "
        "all figures are in build/bench.tsv")


def check() -> int:
    """Hold each bound; print TAP."""
    names = [BASE, *dict.fromkeys(bound.mode for bound in BOUNDS)]
    only = os.path.commonprefix([bound.operation for bound in BOUNDS if bound.mode != UNWIND])
    results = measure_all(names, only)
    missed = 0
    for number, bound in enumerate(BOUNDS, 1):
        key = bound.operation, bound.chain
        plain = 0.0 if bound.mode == UNWIND else results[BASE][key].median
        added = results[bound.mode][key].median - plain
        good = added <= bound.added * TOLERANCE
        missed += not good
        say(f"{'ok' if good else 'not ok'} {number} - {bound.operation}, {bound.mode}, chain "
            f"{bound.chain}: at most {bound.added} instructions added")
        say(f"# {plain:.2f} plain, {added:+.2f}")
    say(f"1..{len(BOUNDS)}")
    return 1 if missed else 0


def main() -> int:
    words = sys.argv[1:]
    if words == ["--check"]:
        return check()
    unknown = [word for word in words if word not in MODES]
    if unknown:
        die(f"no such mode: {', '.join(unknown)}; there are {', '.join(MODES)}")
    names = [name for name in MODES if not words or name in words or name == BASE]
    results = measure_all(names, memory=True)
    write_tsv(results)
    print_table(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
