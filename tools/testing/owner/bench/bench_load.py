#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Measure what slab_owner and other tools add to whole loads on Debian's kernel.

    bench_load.py [--modes NAME,...] [--loads NAME,...] [--rounds N] [--boots N]

Each mode boots on one virtual CPU that counts instructions, and runs all loads once in each
round. Idle time is not counted. "+" is the percentage of instructions that a mode adds to
the kernel without our code; "~" is the standard error of that figure, from all rounds of all
boots. Loads of several tasks switch between them at other moments if they take longer: where the
number of switches differs, it is printed as well. All samples are in build/bench-load.tsv.
"""

import argparse
import math
import re
import shutil
import statistics
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Iterator

sys.path.append(str(Path(__file__).resolve().parents[1]))

from workbench import BUILD, HERE, die, print_line  # noqa: E402

from loads import (BASE, LOADS, MODES, PACKAGES, SAME_ADDRESSES, WORST_LOAD,  # noqa: E402
                   compose_load_command)

# Seconds that a guest may take.
LIMIT = 7200
SAMPLE = re.compile(r"^load (\S+) (\d+) (\d+) (\d+)$", re.M)
COUNT = re.compile(r"^count (\d+) (\w+): ([\d.]+)$", re.M)

# A number of context switches is printed if it is this far from the base's.
SWITCHES_DIFFER = 0.1

# Instructions or context switches by mode and load, and the counts of a mode's last round.
Samples = dict[str, dict[str, list[float]]]
Counts = dict[str, dict[str, float]]


def parse_names(text: str, known: dict, what: str) -> list[str]:
    """The names in a list with commas, in the order of the table. A name can have a comma."""
    longest_first = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    names = re.findall(f"((?:{longest_first})(?=,|$)|[^,]+),?", text) if text else list(known)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        die(f"no such {what}: {', '.join(unknown) or text}; there are {' '.join(known)}")
    return [name for name in known if name in names]


def parse_count(text: str) -> int:
    """A number of rounds or boots."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: not a whole number from 1 up")
    return int(text)


def compile_counter() -> Path:
    """Compile count_load, and return the directory that a guest has at /extra."""
    directory = BUILD / "bench-load"
    directory.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["gcc", "-O2", "-Wall", "-static", "-o", directory / "count_load",
                           HERE / "bench/count_load.c"], text=True, capture_output=True)
    if done.returncode:
        die(f"count_load.c does not compile:\n{done.stderr}")
    return directory


def run_loads(name: str, loads: list[str], rounds: int, extra: Path) -> str:
    """Boot a mode, run the loads, and return what the guest printed."""
    mode = MODES[name]
    done = subprocess.run(
        [HERE / "guest/guest.py", "run", mode.kernel, "--icount", "--mem", "1G",
         "--timeout", str(LIMIT), "--append", f"{SAME_ADDRESSES} {mode.append}",
         "--packages", PACKAGES, "--extra", extra,
         "--cmd", compose_load_command(loads, rounds)],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        die(f"mode {name}: the guest ended with status {done.returncode}:\n"
            + (done.stdout + done.stderr)[-2000:])
    return done.stdout


def boot_modes(modes: list[str], loads: list[str], rounds: int,
               extra: Path) -> Iterator[tuple[str, str]]:
    """Boot each mode once, two guests at a time; yield each mode and what its guest printed.

    Guests count instructions, which the host's load does not change.
    """
    with ThreadPoolExecutor(2) as pool:
        outputs = pool.map(lambda mode: run_loads(mode, loads, rounds, extra), modes)
        yield from zip(modes, outputs)


def measure_modes(modes: list[str], loads: list[str], rounds: int,
                  boots: int) -> tuple[Samples, Samples, Counts]:
    """Measure all modes. The first round of a boot is left out."""
    samples: Samples = {mode: defaultdict(list) for mode in modes}
    switches: Samples = {mode: defaultdict(list) for mode in modes}
    counts: Counts = {}
    extra = compile_counter()
    with (BUILD / "bench-load.tsv").open("w") as file:
        file.write("mode\tboot\tround\tload\tinstructions\tswitches\n")
        for boot in range(1, boots + 1):
            for mode, output in boot_modes(modes, loads, rounds, extra):
                for load, number, value, switched in SAMPLE.findall(output):
                    file.write(f"{mode}\t{boot}\t{number}\t{load}\t{value}\t{switched}\n")
                    if number != "0":
                        samples[mode][load].append(float(value))
                        switches[mode][load].append(float(switched))
                counts[mode] = {key: float(value) for number, key, value
                                in COUNT.findall(output) if number == str(rounds)}
                file.flush()
                print_line(f"# progress: boot {boot} of {boots}, {mode}")
    return samples, switches, counts


def estimate_error(values: list[float]) -> float:
    """The standard error of the median, relative to it.

    It is estimated from the median distance to the median, which a round that the kernel's
    own work disturbed does not change. For normal samples 1.4826 of that distance is the
    standard deviation, and the median's error is 1.2533 times the mean's.
    """
    middle = statistics.median(values)
    distance = statistics.median(abs(value - middle) for value in values)
    return 1.2533 * 1.4826 * distance / middle / math.sqrt(len(values))


def compare_samples(values: list[float], base: list[float]) -> tuple[float, float]:
    """The percentage that the median of values is above that of base, and its error."""
    ratio = statistics.median(values) / statistics.median(base)
    return 100 * (ratio - 1), 100 * ratio * math.hypot(estimate_error(values),
                                                       estimate_error(base))


def format_cell(added: float, error: float) -> str:
    """A percentage and its standard error."""
    return f"{added:+.2f} ~{error:.2f}"


def print_added_instructions(samples: Samples, loads: list[str]) -> int:
    """Print what each mode adds to each load, beside the targets; return the misses."""
    modes = [mode for mode in samples if mode != BASE]
    print_line(f"\n{'load':16}{BASE + ', 10^6':>15}"
               + "".join(f"{'+' + mode:>18}" for mode in modes))
    sums = {mode: [0.0, 0.0] for mode in modes}
    missed = 0
    for load in loads:
        base = samples[BASE][load]
        line = f"{load:16}{statistics.median(base) / 1e6:15,.1f}"
        for mode in modes:
            added, error = compare_samples(samples[mode][load], base)
            sums[mode][0] += math.log1p(added / 100)
            sums[mode][1] += error ** 2
            missed += mode == "on" and added > WORST_LOAD
            line += f"{format_cell(added, error):>18}"
        print_line(line)
    line = f"{'geometric mean':31}"
    targets = f"{'target':31}"
    for mode in modes:
        mean = 100 * math.expm1(sums[mode][0] / len(loads))
        target = MODES[mode].target
        missed += bool(target) and mean > target
        line += f"{format_cell(mean, math.sqrt(sums[mode][1]) / len(loads)):>18}"
        targets += f"{f'{target:g}' if target else '-':>18}"
    print_line(line + "\n" + targets)
    return missed


def print_switches(switches: Samples, loads: list[str]) -> None:
    """Print the context switches of the loads in which a mode changes their number."""
    medians = {load: [statistics.median(switches[mode][load]) for mode in switches]
               for load in loads}
    # A few switches are the kernel's own work.
    changed = [load for load, (base, *others) in medians.items()
               if any(abs(other - base) > max(SWITCHES_DIFFER * base, 100) for other in others)]
    if not changed:
        return
    print_line(f"\n{'context switches':16}" + "".join(f"{mode:>16}" for mode in switches))
    for load in changed:
        print_line(f"{load:16}" + "".join(f"{value:16,.0f}" for value in medians[load]))


def print_memory_and_walks(counts: Counts) -> None:
    """Print the memory of records and chains, and how captures were made."""
    keys = ["tracked", "bytes", "bytes_per_slot", "pools", "refcounted_in_use", "data_bytes",
            "unwind_learned", "unwind_walked", "unwind_slow",
            "lost_no_records", "degraded_shorter", "slow"]
    modes = [mode for mode in counts if any(counts[mode].get(key) for key in keys)]
    if not modes:
        return
    print_line(f"\n{'count':20}" + "".join(f"{mode:>16}" for mode in modes))
    for key in keys:
        print_line(f"{key:20}" + "".join(f"{counts[mode].get(key, 0):16,.10g}"
                                         for mode in modes))


def main() -> int:
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modes", default="", metavar="NAME,...",
                        help=f"some of {' '.join(MODES)}")
    parser.add_argument("--loads", default="", metavar="NAME,...",
                        help=f"some of {' '.join(LOADS)}")
    parser.add_argument("--rounds", type=parse_count, default=4, metavar="N",
                        help="measured rounds of each boot (default %(default)s)")
    parser.add_argument("--boots", type=parse_count, default=2, metavar="N",
                        help="boots of each mode (default %(default)s)")
    args = parser.parse_args()
    modes = list(dict.fromkeys([BASE, *parse_names(args.modes, MODES, "mode")]))
    loads = parse_names(args.loads, LOADS, "load")
    if not shutil.which("gcc"):
        die("gcc is missing: run 'make install'")
    kernels = list(dict.fromkeys(MODES[mode].kernel for mode in modes))
    if subprocess.run([HERE / "kernels/kernels.py", "--missing", *kernels]).returncode:
        return 1
    samples, switches, counts = measure_modes(modes, loads, args.rounds, args.boots)
    missed = print_added_instructions(samples, loads)
    print_switches(switches, loads)
    print_memory_and_walks(counts)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
