#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Count the instructions and cache misses of an allocation, and those that an owner adds.

    bench_misses.py [--modes NAME,...]

Each mode boots on one virtual CPU with the plugin cache_misses.c, which models a cache L1d of
48 KiB and a cache L2 of 1 MiB, and loads modules/owner_time.c. A cell has the instructions, L1
misses and L2 misses of a pattern's operation: those of the first mode of an architecture, and
those that each other mode adds. The figures are medians of the module's rounds. They are in
build/bench-misses.tsv as well.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from workbench import BUILD, HERE, die, print_line  # noqa: E402

import modes  # noqa: E402
from bench_load import parse_names  # noqa: E402
from bench_time import PATTERNS  # noqa: E402
from cache_plugin import Misses, Report, compile_plugin, read_reports  # noqa: E402
from measure import RESULT  # noqa: E402
from modes import ARM64_BASE, BASE, BenchMode  # noqa: E402

# Seconds that a guest may take.
LIMIT = 3600
# Rounds of a pattern that owner_time.c measures. It runs warm-ups before them.
ROUNDS = 15
MODES = {name: modes.MODES[name]
         for name in (BASE, "profiling-on", "off", "sampled", "depth-1", "on", "on,free",
                      "page_owner,ours", ARM64_BASE)}
MODES |= {"arm64,depth-1": BenchMode("arm64", "slab_owner=ready owner=depth=1"),
          "arm64,on": modes.MODES["arm64,on"]}
# Modes that change only the patterns whose names begin with this text.
ONLY = {"page_owner,ours": "page"}

# The figures of one mode, by pattern.
MissFigures = dict[str, Misses]


def find_base(name: str) -> str:
    """The mode that another one of its architecture is compared with."""
    return ARM64_BASE if MODES[name].kernel == MODES[ARM64_BASE].kernel else BASE


def find_medians(reports: list[Report]) -> Misses:
    """The medians of the rounds of a pattern, for one operation."""
    return Misses(*(statistics.median(figures) for figures in
                    zip(*(report.find_means() for report in reports[-ROUNDS:]))))


def measure_mode(name: str, plugin: Path) -> MissFigures:
    """Boot a mode and run its patterns. Each of them reports the same number of rounds."""
    mode = MODES[name]
    with tempfile.NamedTemporaryFile() as file:
        # Addresses that differ at each boot put objects into other sets of the caches.
        done = subprocess.run(
            [HERE / "guest/guest.py", "run", mode.kernel, "--icount",
             "--plugin", f"{plugin},out={file.name}", "--timeout", str(LIMIT),
             "--append", f"nokaslr {mode.append}",
             "--extra", BUILD / mode.kernel / "owner-modules", "--cmd",
             f"insmod /extra/owner_time.ko only={ONLY.get(name, '')} && "
             "dmesg | grep -F owner_bench:"],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        reports = read_reports(Path(file.name))
    patterns = [pattern for pattern, *_ in RESULT.findall(done.stdout)]
    if done.returncode or not patterns or not reports or len(reports) % len(patterns):
        die(f"mode {name}: the guest ended with status {done.returncode}, {len(patterns)} "
            f"patterns and {len(reports)} reports:\n" + (done.stdout + done.stderr)[-2000:])
    print_line(f"# progress: {name} is measured")
    rounds = len(reports) // len(patterns)
    return {pattern: find_medians(reports[number * rounds:(number + 1) * rounds])
            for number, pattern in enumerate(patterns)}


def write_figures_tsv(results: dict[str, MissFigures]) -> None:
    """Write all figures to build/bench-misses.tsv."""
    lines = ["pattern\tmode\tinstructions\tl1\tl2\n"]
    lines += [f"{pattern}\t{mode}\t{misses.instructions:.2f}\t{misses.l1:.3f}\t{misses.l2:.3f}\n"
              for mode, figures in results.items() for pattern, misses in figures.items()]
    (BUILD / "bench-misses.tsv").write_text("".join(lines))


def format_misses(figures: MissFigures, pattern: str, base: Misses) -> str:
    """Instructions, L1 misses and L2 misses above those of the base."""
    if pattern not in figures:
        return ""
    instructions, l1, l2 = (figure - plain for figure, plain in zip(figures[pattern], base))
    return f"{instructions:,.0f} / {l1:.1f} / {l2:.1f}"


def print_table(results: dict[str, MissFigures]) -> None:
    """Print the figures of the first mode, and those that the others add."""
    base, *others = results
    print_line(f"\n{'pattern':38}{base:>20}" + "".join(f"{'+' + name:>20}" for name in others))
    for pattern, plain in results[base].items():
        print_line(f"{PATTERNS[pattern]:38}"
                   f"{format_misses(results[base], pattern, Misses(0, 0, 0)):>20}"
                   + "".join(f"{format_misses(results[name], pattern, plain):>20}"
                             for name in others))


def main() -> int:
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modes", default="", metavar="NAME,...",
                        help=f"some of {' '.join(MODES)}")
    wanted = parse_names(parser.parse_args().modes, MODES, "mode")
    bases = dict.fromkeys(find_base(name) for name in wanted)
    names = [name for name in MODES if name in wanted or name in bases]
    kernels = dict.fromkeys(MODES[name].kernel for name in names)
    if subprocess.run([HERE / "kernels/kernels.py", *kernels]).returncode:
        return 1
    plugin = compile_plugin()
    with ThreadPoolExecutor(2) as pool:
        results = dict(zip(names, pool.map(lambda name: measure_mode(name, plugin), names)))
    write_figures_tsv(results)
    for base in bases:
        print_table({name: results[name] for name in names if find_base(name) == base})
    print_line("\nInstructions / L1 misses / L2 misses of an operation; all figures are in "
               "build/bench-misses.tsv")
    return 0


if __name__ == "__main__":
    sys.exit(main())
