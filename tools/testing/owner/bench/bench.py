#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What an allocation costs, in instructions: ours beside what there is today.

    bench.py            every mode and operation: tables, and build/bench.tsv
    bench.py MODE...    these modes only
    bench.py --check    the operations and modes that have a bound, as TAP

Each mode is a kernel that boots on a virtual CPU that counts instructions and
loads modules/owner_bench.c. "Added" is over the kernel as it comes, built of the
same source with the same configuration but for what is measured. User-mode
Linux runs on the processor itself: its modes are measured in nanoseconds, and
compared with each other.
"""

import re
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from workbench import BUILD, HERE, die, say  # noqa: E402

BASE = "vanilla"
# What nanoseconds are compared with, and how often each mode is booted for them.
NATIVE_BASE = "um,off"
BOOTS = 5
# Not operations, and so added to nothing: what the call chain alone costs, and what a
# query takes for each object.
UNWIND = "unwind"
QUERY = "query"
ALONE = (UNWIND, QUERY)
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

# One operation that user space asks for, each in a system call of its own: its chain
# begins where the kernel is entered, somewhere else on the stack each time.
CALLS = "kmalloc-64-calls"
CALL = """
    insmod /extra/owner_bench_calls.ko
    dd if=/dev/zero of=/proc/owner_bench bs=1 count=5120 2>/dev/null
    rmmod owner_bench_calls
    """

# With a memory cgroup, __GFP_ACCOUNT has somebody to account to.
IN_A_CGROUP = """
    mkdir /cgroup
    mount -t cgroup2 none /cgroup
    echo +memory >/cgroup/cgroup.subtree_control
    mkdir /cgroup/bench
    echo $$ >/cgroup/bench/cgroup.procs"""

# Some queries, with many objects and without. A guest that counts instructions takes a
# nanosecond for each; its clock is read in steps of 10 ms.
ASK = """
    now() { read up rest </proc/uptime; echo $(((${up%.*} * 100 + 1${up#*.} - 100) * 10000000)); }
    cost() {
        began=$(now)
        for i in $(seq $2); do
            exec 3<>/sys/kernel/debug/owner/query; echo "$1" >&3; cat <&3 >/dev/null
        done
        echo $((($(now) - began) / $2))
    }
    counted="group=stack"
    by_stack="group=stack sort=bytes,oldest"
    by_age="group=cache,stack.4 if age < 1h && comm != kworker*"
    count=$(cost "$counted" 100); stack=$(cost "$by_stack" 10); age=$(cost "$by_age" 10)
    insmod /extra/owner_bench_memory.ko objects=1000000
    count=$((($(cost "$counted" 100) - count) / 10000))
    stack=$((($(cost "$by_stack" 10) - stack) / 10000))
    age=$((($(cost "$by_age" 10) - age) / 10000))
    tell() { each=$(($2 / 100)).$(($2 % 100 / 10)); echo "owner_bench: $1 0 $each $each"; }
    tell query-counted $count; tell query-by-stack $stack; tell query-by-age $age"""


@dataclass
class Mode:
    kernel: str
    append: str = ""
    prepare: str = ":"
    # What measures, if it is not the modules.
    instead: str = ""


def rule(sentence: str) -> Mode:
    return Mode("x86_64", f'slab_owner=on owner="{sentence}"')


MODES = {
    BASE: Mode("vanilla"),
    "memcg": Mode("vanilla", prepare=IN_A_CGROUP),
    "profiling-off": Mode("profiling"),
    "profiling-on": Mode("profiling", "sysctl.vm.mem_profiling=1"),
    "slab_debug=U": Mode("vanilla", "slab_debug=U"),
    "page_owner": Mode("vanilla", "page_owner=on"),
    "page_owner,ours": Mode("x86_64", "page_owner=on"),
    "off": Mode("x86_64"),
    "ready": Mode("x86_64", "slab_owner=ready"),
    "sampled": Mode("x86_64", "slab_owner=ready owner=sample=512K"),
    "depth-1": Mode("x86_64", "slab_owner=ready owner=depth=1"),
    "depth-4": Mode("x86_64", "slab_owner=ready owner=depth=4"),
    "depth-8": Mode("x86_64", "slab_owner=ready owner=depth=8"),
    "on": Mode("x86_64", "slab_owner=on"),
    "on,free": Mode("x86_64", "slab_owner=on,free=on"),
    # Rules that leave all as it is, so that what they add is what it costs to ask them.
    "rule-cache": rule("depth=16 if cache == kmalloc-64"),
    "rule-task": rule("track=off if cache == kmalloc-64 && comm == nobody"),
    "rule-func": rule("track=off if cache == kmalloc-64 && func == vfs_*"),
    "rule-cgroup": rule("track=off if cache == kmalloc-64 && cgroup == /nobody"),
    UNWIND: Mode("x86_64", "kunit.enable=1 kunit.filter_glob=owner_unwind",
                 instead="cat /sys/kernel/debug/kunit/owner_unwind/results"),
    QUERY: Mode("x86_64", "slab_owner=on", instead=ASK),
    NATIVE_BASE: Mode("um"),
    "um,sampled": Mode("um", "slab_owner=ready owner=sample=512K"),
    "um,depth-8": Mode("um", "slab_owner=ready owner=depth=8"),
    "um,on": Mode("um", "slab_owner=on"),
    "um,page_owner": Mode("um", "page_owner=on"),
}
NATIVE = [name for name, mode in MODES.items() if mode.kernel == "um"]


@dataclass
class Bound:
    """What a mode may add to an operation; and what it should, if that is less."""
    operation: str
    chain: int
    mode: str
    added: float
    target: float = 0
    over: str = BASE


BOUNDS = [
    Bound("kmalloc-64", 8, "off", 2),
    Bound("kmalloc-64", 8, "sampled", 22),
    Bound("kmalloc-64", 8, "depth-1", 222, target=122),
    Bound("kmalloc-64", 8, "depth-8", 352),
    Bound(CALLS, 0, "on", 350),
    Bound("kmalloc-64", 8, "rule-cache", 10, over="on"),
    Bound("pages-0", 8, "page_owner,ours", 757),
    Bound("owner_unwind", 8, UNWIND, 160),
    # Nothing for an object: it is not looked at.
    Bound("query-counted", 0, QUERY, 1),
    Bound("query-by-stack", 0, QUERY, 60),
    Bound("query-by-age", 0, QUERY, 60),
]


@dataclass
class Figure:
    least: float
    median: float


# By operation and chain.
Figures = dict[tuple[str, int], Figure]


def command_for(mode: Mode, only: tuple[str, ...], memory: bool) -> str:
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
    for operation in only or ("",):
        if operation != CALLS:
            command += f"insmod /extra/owner_bench.ko only={operation}; rmmod owner_bench\n"
    # In nanoseconds, to read the clock would be most of it.
    if CALLS in only or not only and mode.kernel != "um":
        command += CALL
    return command + "dmesg | grep -F owner_bench:"


def measure(name: str, only: tuple[str, ...], memory: bool) -> Figures:
    """Boot a mode and measure these operations, or all."""
    mode = MODES[name]
    clock = [] if name in NATIVE else ["--icount"]
    done = subprocess.run(
        [HERE / "guest/guest.py", "run", mode.kernel, *clock, "--timeout", str(LIMIT),
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
    return figures


def measure_counted(name: str, only: tuple[str, ...], memory: bool) -> Figures:
    figures = measure(name, only, memory)
    say(f"# progress: {name} is measured")
    return figures


def measure_native(names: list[str]) -> dict[str, Figures]:
    """The median of some boots of each, one at a time, in turn: what else runs hits them all."""
    boots: dict[str, list[Figures]] = {name: [] for name in names}
    for number in range(BOOTS if names else 0):
        for name in names:
            boots[name].append(measure(name, (), False))
        say(f"# progress: nanoseconds, {number + 1} of {BOOTS}")
    return {name: {key: Figure(min(run[key].least for run in runs),
                               statistics.median(run[key].median for run in runs))
                   for key in runs[0]}
            for name, runs in boots.items()}


def measure_all(names: list[str], only: tuple[str, ...] = (),
                memory: bool = False) -> dict[str, Figures]:
    """Build what the modes need, then two guests at a time."""
    kernels = list(dict.fromkeys(MODES[name].kernel for name in names))
    say(f"# progress: building {', '.join(kernels)}")
    log = BUILD / "bench.log"
    log.parent.mkdir(exist_ok=True)
    with log.open("w") as file:
        build = subprocess.run([HERE / "kernels/kernels.py", *kernels], stdout=file, stderr=file)
        if build.returncode:
            die(f"{', '.join(kernels)} did not build:\n{log.read_text()[-2000:]}")
    with ThreadPoolExecutor(2) as pool:
        futures = {name: pool.submit(measure_counted, name, only, memory)
                   for name in names if name not in NATIVE}
        results = {name: future.result() for name, future in futures.items()}
    return results | measure_native([name for name in names if name in NATIVE])


def write_tsv(results: dict[str, Figures]) -> None:
    lines = ["operation\tchain\tmode\tleast\tmedian\n"]
    lines += [f"{operation}\t{chain}\t{mode}\t{figure.least:.2f}\t{figure.median:.2f}\n"
              for mode, figures in results.items()
              for (operation, chain), figure in figures.items()]
    (BUILD / "bench.tsv").write_text("".join(lines))


def is_shown(operation: str, chain: int) -> bool:
    if operation in (*AT_EACH_CHAIN, CALLS) or operation.startswith("bytes-"):
        return True
    return chain == CHAIN and operation != "frames"


def print_table(results: dict[str, Figures]) -> None:
    """The base's figure, and what the other modes add to it."""
    base = results[BASE]
    others = [name for name in results if name not in (BASE, *ALONE, *NATIVE)]
    say(f"\n{'operation':24}{'frames':>7}{BASE:>10}"
        + "".join(f"{'+' + name:>15}" for name in others))
    for (operation, chain), figure in base.items():
        if not is_shown(operation, chain):
            continue
        # What is in memory has no chain, and a call one of its own.
        alone = operation == CALLS or operation.startswith("bytes-")
        frames = "" if alone else f"{base['frames', chain].median:.0f}"
        say(f"{operation:24}{frames:>7}{figure.median:10,.1f}"
            + "".join(f"{results[name][operation, chain].median - figure.median:15,.1f}"
                      for name in others))
    for name in ALONE:
        for (what, frames), figure in results.get(name, {}).items():
            say(f"{what:24}{frames or '':>7}{figure.median:10,.1f}")
    say("\nInstructions for an operation and its opposite, for a call chain, or for each object of "
        "a query, and bytes; all figures are in build/bench.tsv")


def print_native(results: dict[str, Figures]) -> None:
    """Nanoseconds where nothing is tracked, and how many times that the other modes take."""
    base = results[NATIVE_BASE]
    others = [name for name in NATIVE if name in results and name != NATIVE_BASE]
    say(f"\n{'operation':24}{'frames':>7}{NATIVE_BASE + ' ns':>12}"
        + "".join(f"{name:>15}" for name in others))
    for (operation, chain), figure in base.items():
        if is_shown(operation, chain):
            say(f"{operation:24}{base['frames', chain].median:7.0f}{figure.median:12.1f}"
                + "".join(f"{results[name][operation, chain].median / figure.median:14.2f}x"
                          for name in others))
    say(f"\nMedians of {BOOTS} boots of user-mode Linux, natively, and ratios")


def check() -> int:
    """Hold each bound; print TAP."""
    names = list(dict.fromkeys([BASE, *(bound.over for bound in BOUNDS),
                                *(bound.mode for bound in BOUNDS)]))
    only = tuple(dict.fromkeys(bound.operation for bound in BOUNDS if bound.mode not in ALONE))
    results = measure_all(names, only)
    missed = 0
    for number, bound in enumerate(BOUNDS, 1):
        key = bound.operation, bound.chain
        plain = 0.0 if bound.mode in ALONE else results[bound.over][key].median
        added = results[bound.mode][key].median - plain
        good = added <= bound.added * TOLERANCE
        missed += not good
        say(f"{'ok' if good else 'not ok'} {number} - {bound.operation}, {bound.mode}, chain "
            f"{bound.chain}: at most {bound.added} instructions added")
        say(f"# {plain:.2f} {'plain' if bound.over == BASE else bound.over}, {added:+.2f}"
            + (f"; the target is {bound.target}" if bound.target else ""))
    say(f"1..{len(BOUNDS)}")
    return 1 if missed else 0


def main() -> int:
    words = sys.argv[1:]
    if words == ["--check"]:
        return check()
    unknown = [word for word in words if word not in MODES]
    if unknown:
        die(f"no such mode: {', '.join(unknown)}; there are {', '.join(MODES)}")
    names = [name for name in MODES if not words or name in words]
    if set(names) - set(NATIVE):
        names.insert(0, BASE)
    if set(names) & set(NATIVE):
        names.insert(0, NATIVE_BASE)
    names = list(dict.fromkeys(names))
    results = measure_all(names, memory=True)
    write_tsv(results)
    if BASE in results:
        print_table(results)
    if NATIVE_BASE in results:
        print_native(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
