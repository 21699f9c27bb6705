# SPDX-License-Identifier: GPL-2.0
"""Measure modes: boot each in a guest, load the benchmark modules, read the figures."""

import re
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from modes import CALLS, MODES, NATIVE, Mode

from workbench import BUILD, HERE, die, say

# Boots of each mode that is measured in nanoseconds.
BOOTS = 5
# Seconds that a guest may take.
LIMIT = 900
# Parameters of owner_bench_memory.ko: objects of one chain, and chains of one object.
OBJECTS = 400_000
CHAINS = 16_384
POOL_SIZE = 16_384
RESULT = re.compile(r"owner_bench: (\S+) (\d+) ([\d.]+) ([\d.]+)$", re.M)

CALL = """
    insmod /extra/owner_bench_calls.ko
    dd if=/dev/zero of=/proc/owner_bench bs=1 count=5120 2>/dev/null
    rmmod owner_bench_calls
    """


@dataclass
class Figure:
    """The smallest and the median result of an operation."""
    least: float
    median: float


# By operation and chain.
Figures = dict[tuple[str, int], Figure]


def command_for(mode: Mode, only: tuple[str, ...], memory: bool) -> str:
    """The guest's commands: they print the figures of some operations, or of all."""
    if mode.instead:
        return mode.instead
    command = f"set -e\n{mode.prepare}\n"
    if memory:
        # Pages on per-CPU lists count as used, so keep the lists short.
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
    # User-mode Linux measures nanoseconds; reading the clock would dominate one call.
    if CALLS in only or not only and mode.kernel != "um":
        command += CALL
    return command + "dmesg | grep -F owner_bench:"


def measure(name: str, only: tuple[str, ...], memory: bool) -> Figures:
    """Boot a mode and measure some operations, or all."""
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
    """Measure instructions in one boot: they are the same in each."""
    figures = measure(name, only, memory)
    say(f"# progress: {name} is measured")
    return figures


def measure_native(names: list[str]) -> dict[str, Figures]:
    """Measure nanoseconds: the median of several boots of each mode.

    The modes take turns, so that other load on the machine affects all of them.
    """
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
    """Build the kernels, then run two guests at a time."""
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
