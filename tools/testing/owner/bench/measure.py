# SPDX-License-Identifier: GPL-2.0
"""Measure modes: boot each in a guest, load the benchmark modules, read the figures."""

import re
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from contexts import MEASURE_CONTEXTS
from modes import CALLS, MODES, NATIVE, BenchMode

from workbench import BUILD, HERE, die, print_line

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
class BenchFigure:
    """The smallest and the median result of an operation."""
    least: float
    median: float


# The figures of one mode. The key is an operation and the depth of its call chain.
BenchFigures = dict[tuple[str, int], BenchFigure]


def compose_guest_command(mode: BenchMode, only: tuple[str, ...], memory: bool) -> str:
    """The guest's commands: they print the figures of some operations, or of all."""
    if mode.instead:
        return mode.instead
    command = f"set -e\n{mode.prepare}\n"
    in_contexts = [operation for operation in only if "/" in operation]
    if memory and not mode.only_contexts:
        # Pages on per-CPU lists count as used, so keep the lists short. Memory that is freed
        # after boot would count as well, so wait for that.
        command += f"""
            sleep 5
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
    # The chains of the contexts stay in the depot, so its memory is measured before.
    if mode.contexts is not None and (in_contexts or not only):
        command += f"operation={mode.contexts}\n{MEASURE_CONTEXTS}\n"
    if mode.only_contexts:
        return command + "dmesg | grep -F owner_bench:"
    for operation in only or ("",):
        if operation != CALLS and operation not in in_contexts:
            command += f"insmod /extra/owner_bench.ko only={operation}; rmmod owner_bench\n"
    # User-mode Linux measures nanoseconds; reading the clock would dominate one call.
    if CALLS in only or not only and mode.kernel != "um":
        command += CALL
    return command + "dmesg | grep -F owner_bench:"


def measure_mode(name: str, only: tuple[str, ...], memory: bool) -> BenchFigures:
    """Boot a mode and measure some operations, or all."""
    mode = MODES[name]
    clock = [] if name in NATIVE else ["--icount"]
    done = subprocess.run(
        [HERE / "guest/guest.py", "run", mode.kernel, *clock, "--timeout", str(LIMIT),
         "--append", f"nokaslr {mode.append}", "--extra", BUILD / mode.kernel / "owner-modules",
         "--cmd", compose_guest_command(mode, only, memory)],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        die(f"mode {name}: the guest ended with status {done.returncode}:\n"
            + (done.stdout + done.stderr)[-2000:])
    figures = {(operation, int(chain)): BenchFigure(float(least), float(median))
               for operation, chain, least, median in RESULT.findall(done.stdout)}
    if not figures:
        die(f"mode {name} printed no figure:\n{done.stdout[-2000:]}")
    return figures


def measure_instructions(name: str, only: tuple[str, ...], memory: bool) -> BenchFigures:
    """Measure instructions in one boot. With equal addresses, they are about equal in each."""
    figures = measure_mode(name, only, memory)
    print_line(f"# progress: {name} is measured")
    return figures


def measure_nanoseconds(names: list[str]) -> dict[str, BenchFigures]:
    """Measure nanoseconds: the median of several boots of each mode.

    The modes take turns, so that other load on the machine affects all of them.
    """
    boots: dict[str, list[BenchFigures]] = {name: [] for name in names}
    for number in range(BOOTS if names else 0):
        for name in names:
            boots[name].append(measure_mode(name, (), False))
        print_line(f"# progress: nanoseconds, {number + 1} of {BOOTS}")
    return {name: {key: BenchFigure(min(run[key].least for run in runs),
                                    statistics.median(run[key].median for run in runs))
                   for key in runs[0]}
            for name, runs in boots.items()}


def measure_all_modes(names: list[str], only: tuple[str, ...] = (),
                      memory: bool = False) -> dict[str, BenchFigures]:
    """Build the kernels, then run two guests at a time."""
    kernels = list(dict.fromkeys(MODES[name].kernel for name in names))
    print_line(f"# progress: building {', '.join(kernels)}")
    log = BUILD / "bench.log"
    log.parent.mkdir(exist_ok=True)
    with log.open("w") as file:
        build = subprocess.run([HERE / "kernels/kernels.py", *kernels], stdout=file, stderr=file)
        if build.returncode:
            die(f"{', '.join(kernels)} did not build:\n{log.read_text()[-2000:]}")
    with ThreadPoolExecutor(2) as pool:
        futures = {name: pool.submit(measure_instructions, name, only, memory)
                   for name in names if name not in NATIVE}
        results = {name: future.result() for name, future in futures.items()}
    return results | measure_nanoseconds([name for name in names if name in NATIVE])
