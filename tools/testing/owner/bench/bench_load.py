#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Measure what slab_owner and other tools add to whole loads on Debian's kernel.

    bench_load.py [--modes NAME,...] [--loads NAME,...] [--rounds N] [--boots N] [--misses]

Each mode boots on one virtual CPU that counts instructions, and runs all loads once in each
round. Idle time is not counted. "+" is the percentage of instructions that a mode adds to
the kernel without our code; "~" is the standard error of that figure, from all rounds of all
boots. Loads of several tasks switch between them at other moments if they take longer: where the
number of switches differs, it is printed as well. All samples are in build/bench-load.tsv. With
--misses, the plugin cache_misses.c counts misses in modelled caches L1d and L2, which are printed
in the same way; a guest then takes longer.
"""

import argparse
import math
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Iterator

sys.path.append(str(Path(__file__).resolve().parents[1]))

from workbench import BUILD, HERE, die, print_line  # noqa: E402

from cache_plugin import Report, compile_plugin, read_reports  # noqa: E402
from loads import (BASE, LOADS, MODES, PACKAGES, SAME_ADDRESSES, WORST_LOAD,  # noqa: E402
                   compose_load_command)

# Seconds that a guest may take.
LIMIT = 7200
SAMPLE = re.compile(r"^load (\S+) (\d+) (\d+) (\d+)$", re.M)
COUNT = re.compile(r"^count (\d+) (\w+): ([\d.]+)$", re.M)

# A number of context switches is printed if it is this far from the base's.
SWITCHES_DIFFER = 0.1

# The figures of a load in a round, in the order of build/bench-load.tsv.
FIGURES = ("instructions", "switches", "l1", "l2")
MISSES = {"l1": "L1 misses", "l2": "L2 misses"}

# Figures of one kind by mode and load, and the counts of a mode's last round.
Samples = dict[str, dict[str, list[float]]]
Counts = dict[str, dict[str, float]]
# A report of the plugin for each load of a guest.
Reports = list[Report] | None


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


def run_loads(name: str, loads: list[str], rounds: int, extra: Path,
              plugin: Path | None) -> tuple[str, Reports]:
    """Boot a mode, run the loads, and return what the guest and the plugin wrote."""
    mode = MODES[name]
    with tempfile.NamedTemporaryFile() as file:
        done = subprocess.run(
            [HERE / "guest/guest.py", "run", mode.kernel, "--icount", "--mem", "1G",
             *(["--plugin", f"{plugin},out={file.name}"] if plugin else []),
             "--timeout", str(LIMIT), "--append", f"{SAME_ADDRESSES} {mode.append}",
             "--packages", PACKAGES, "--extra", extra,
             "--cmd", compose_load_command(loads, rounds)],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        reports = read_reports(Path(file.name)) if plugin else None
    if done.returncode:
        die(f"mode {name}: the guest ended with status {done.returncode}:\n"
            + (done.stdout + done.stderr)[-2000:])
    return done.stdout, reports


def boot_modes(modes: list[str], loads: list[str], rounds: int, extra: Path,
               plugin: Path | None) -> Iterator[tuple[str, str, Reports]]:
    """Boot each mode once, two guests at a time; yield each mode and what run_loads() returned.

    Guests count instructions, which the host's load does not change.
    """
    with ThreadPoolExecutor(2) as pool:
        outputs = pool.map(lambda mode: run_loads(mode, loads, rounds, extra, plugin), modes)
        for mode, (output, reports) in zip(modes, outputs):
            yield mode, output, reports


def find_samples(output: str, reports: Reports) -> Iterator[tuple[str, str, list[int]]]:
    """The load, the round and the figures of each sample of a guest."""
    samples = SAMPLE.findall(output)
    if reports is not None and len(reports) != len(samples):
        die(f"the plugin has {len(reports)} reports of {len(samples)} loads")
    for index, (load, number, *figures) in enumerate(samples):
        misses = reports[index].sums[1:] if reports else ()
        yield load, number, [*map(int, figures), *misses]


def measure_modes(modes: list[str], loads: list[str], rounds: int, boots: int,
                  plugin: Path | None) -> tuple[dict[str, Samples], Counts]:
    """Measure all modes. The first round of a boot is left out."""
    names = FIGURES if plugin else FIGURES[:2]
    samples: dict[str, Samples] = {name: {mode: defaultdict(list) for mode in modes}
                                   for name in names}
    counts: Counts = {}
    extra = compile_counter()
    with (BUILD / "bench-load.tsv").open("w") as file:
        file.write("\t".join(("mode", "boot", "round", "load", *names)) + "\n")
        for boot in range(1, boots + 1):
            for mode, output, reports in boot_modes(modes, loads, rounds, extra, plugin):
                for load, number, figures in find_samples(output, reports):
                    file.write("\t".join(map(str, (mode, boot, number, load, *figures))) + "\n")
                    for name, figure in zip(names, figures):
                        if number != "0":
                            samples[name][mode][load].append(float(figure))
                counts[mode] = {key: float(value) for number, key, value
                                in COUNT.findall(output) if number == str(rounds)}
                file.flush()
                print_line(f"# progress: boot {boot} of {boots}, {mode}")
    return samples, counts


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


def print_added_figures(samples: Samples, loads: list[str]) -> dict[str, float]:
    """Print what each mode adds to each load; return the geometric means in percent."""
    modes = [mode for mode in samples if mode != BASE]
    print_line("".join([f"{'load':16}{BASE + ', 10^6':>15}",
                        *(f"{'+' + mode:>18}" for mode in modes)]))
    sums = {mode: [0.0, 0.0] for mode in modes}
    for load in loads:
        base = samples[BASE][load]
        line = f"{load:16}{statistics.median(base) / 1e6:15,.1f}"
        for mode in modes:
            added, error = compare_samples(samples[mode][load], base)
            sums[mode][0] += math.log1p(added / 100)
            sums[mode][1] += error ** 2
            line += f"{format_cell(added, error):>18}"
        print_line(line)
    means = {mode: 100 * math.expm1(total / len(loads)) for mode, (total, _) in sums.items()}
    print_line(f"{'geometric mean':31}" + "".join(
        f"{format_cell(means[mode], math.sqrt(sums[mode][1]) / len(loads)):>18}"
        for mode in modes))
    return means


def print_added_instructions(samples: Samples, loads: list[str]) -> int:
    """Print the instructions that each mode adds; return the number of missed targets."""
    print_line("\ninstructions")
    means = print_added_figures(samples, loads)
    print_line(f"{'target':31}" + "".join(
        f"{f'{MODES[mode].target:g}' if MODES[mode].target else '-':>18}" for mode in means))
    missed = sum(bool(MODES[mode].target) and mean > MODES[mode].target
                 for mode, mean in means.items())
    return missed + sum(compare_samples(samples["on"][load], samples[BASE][load])[0] > WORST_LOAD
                        for load in loads if "on" in samples)


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
    parser.add_argument("--misses", action="store_true",
                        help="count misses in modelled caches as well")
    args = parser.parse_args()
    modes = list(dict.fromkeys([BASE, *parse_names(args.modes, MODES, "mode")]))
    loads = parse_names(args.loads, LOADS, "load")
    if not shutil.which("gcc"):
        die("gcc is missing: run 'make install'")
    kernels = list(dict.fromkeys(MODES[mode].kernel for mode in modes))
    if subprocess.run([HERE / "kernels/kernels.py", "--missing", *kernels]).returncode:
        return 1
    plugin = compile_plugin() if args.misses else None
    samples, counts = measure_modes(modes, loads, args.rounds, args.boots, plugin)
    missed = print_added_instructions(samples["instructions"], loads)
    for name, label in MISSES.items() if plugin else ():
        print_line(f"\n{label}")
        print_added_figures(samples[name], loads)
    print_switches(samples["switches"], loads)
    print_memory_and_walks(counts)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
