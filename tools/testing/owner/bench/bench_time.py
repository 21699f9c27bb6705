#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Measure the cost of an allocation in time, of slab_owner and of other tools.

    bench_time.py [--modes NAME,...] [--image NAME=DIRECTORY]...

Each mode boots in User-mode Linux, which runs directly on the processor, on one CPU of the
host, and loads modules/owner_time.c. A figure is the least of all boots, in cycles of the time
stamp counter. "+" is what a mode adds to the vanilla kernel; the ratio in parentheses compares
it with what memory allocation profiling adds in the same run. Least and median figures are in
build/bench-time.tsv.

With LINUX=7.3 in the environment, the kernels are of that version. User-mode Linux runs on several
CPUs there: two tasks, each on a CPU of the host, run the patterns at once, first with the same
call chains and then with chains of their own.

With --image, the modes of our kernel are measured once more with the User-mode Linux in another
build directory, such as build/um of another clone. Their names then begin with NAME.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from workbench import BUILD, HERE, LINUX, PLACE, VERSIONS, die, print_line  # noqa: E402

from bench_load import parse_names  # noqa: E402
from measure import RESULT, BenchFigure  # noqa: E402

# Boots of each mode.
BOOTS = 3
# Seconds that a guest may take.
LIMIT = 300
BASE = "vanilla"
PEER = "profiling"
# A ratio to fewer cycles than these says nothing.
RATIO_MIN = 5

# Labels of the module's patterns.
PATTERNS = {
    "pair-1": "a pair, 1 chain",
    "pair-16": "16 chains in turn",
    "pair-1024": "1,024 chains",
    "pair-4096": "4,096 chains",
    "pair-16+64K": "16 chains, 64 KiB touched between",
    "pair-16+768K": "16 chains, 768 KiB between",
    "pair-1024+768K": "1,024 chains, 768 KiB between",
    "churn-1024": "churn of 65,536 objects, 1,024 chains",
    "caches-16": "four caches in turn, 16 chains",
    "krealloc-16": "two krealloc in place, 16 chains",
    "percpu-16": "a per-CPU area, 16 chains",
    "page-16": "a page pair, 16 chains",
    "page-1024+768K": "a page pair, 1,024 chains, 768 KiB",
}


# The subject of each table, and parameters of the module. The first is measured on one CPU.
ONE_TASK = "one task"
TABLES = {
    ONE_TASK: "",
    "two tasks, the same chains": "tasks=2",
    "two tasks, chains of their own": "tasks=2 own_chains=1",
}


@dataclass
class TimeMode:
    """A kernel, its command line, and the patterns that it measures."""
    kernel: str
    append: str = ""
    # Patterns whose names begin with this text.
    only: str = ""
    # The build directory of another image than the kernel's.
    image: Path | None = None

    def find_kernel(self, table: str) -> str:
        """The name of the kernel, which has two CPUs for two tasks."""
        return self.kernel if table == ONE_TASK else self.kernel.replace("um", "um-smp", 1)


OURS = "um"
VANILLA = "um-vanilla"
MODES = {
    BASE: TimeMode(VANILLA),
    PEER: TimeMode("um-profiling", "sysctl.vm.mem_profiling=1"),
    "off": TimeMode(OURS),
    "sampled": TimeMode(OURS, "slab_owner=on owner=sample=512K"),
    "depth-1": TimeMode(OURS, "slab_owner=on owner=depth=1"),
    "on": TimeMode(OURS, "slab_owner=on"),
    "on,free": TimeMode(OURS, "slab_owner=on,free=on"),
    "page_owner": TimeMode(OURS, "page_owner=on", "page"),
    "slab_debug=U": TimeMode(VANILLA, "slab_debug=U", "pair"),
    f"page_owner,{LINUX}": TimeMode(VANILLA, "page_owner=on", "page"),
}

# The figures of one mode, by pattern.
TimeFigures = dict[str, BenchFigure]


def parse_image(text: str) -> tuple[str, Path]:
    """The name of an image, and the build directory of its kernel."""
    name, _, directory = text.partition("=")
    path = Path(directory).resolve()
    if not name or not (path / "linux").is_file():
        raise argparse.ArgumentTypeError(f"{text!r}: not a name, '=' and a directory with a "
                                         "built User-mode Linux")
    return name, path


def boot_mode(name: str, mode: TimeMode, table: str) -> TimeFigures:
    """Boot a mode, and measure its patterns.

    A page pair took 118 cycles in copies of a kernel, and 157 in the file that the linker had
    written: it depends on the pages of the host that have the text. Boot a copy.
    """
    directory = mode.image or PLACE / mode.find_kernel(table)
    append = mode.append + (" ncpus=2" if table != ONE_TASK else "")
    with tempfile.TemporaryDirectory(dir=BUILD) as scratch:
        copy = Path(scratch) / "um"
        copy.mkdir()
        shutil.copy(directory / "linux", copy)
        done = subprocess.run(
            [HERE / "guest/guest.py", "run", copy.name, "--build", scratch,
             "--timeout", str(LIMIT), "--append", append,
             "--extra", directory / "owner-modules", "--cmd",
             f"insmod /extra/owner_time.ko only={mode.only} {TABLES[table]} && "
             "dmesg | grep -F owner_bench:"],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        die(f"mode {name}: the guest ended with status {done.returncode}:\n"
            + (done.stdout + done.stderr)[-2000:])
    return {pattern: BenchFigure(float(least), float(median))
            for pattern, _, least, median in RESULT.findall(done.stdout)}


def occupy_cpu(table: str = ONE_TASK) -> None:
    """Let guests, which inherit it, run on one CPU of the host, before other tasks if possible.

    Two tasks need two CPUs, which other tasks need, too.
    """
    if table != ONE_TASK:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
        return
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        print_line("# progress: no right to run before other tasks: their work adds cycles")


def measure_modes(modes: dict[str, TimeMode], table: str) -> dict[str, TimeFigures]:
    """Boot all modes in turn, several times, so that other load on the host affects them all."""
    boots: dict[str, list[TimeFigures]] = {name: [] for name in modes}
    for number in range(BOOTS):
        for name, mode in modes.items():
            boots[name].append(boot_mode(name, mode, table))
        print_line(f"# progress: {table}, boot {number + 1} of {BOOTS}, load {os.getloadavg()[0]}")
    return {name: {pattern: BenchFigure(min(run[pattern].least for run in runs),
                                        statistics.median(run[pattern].median for run in runs))
                   for pattern in runs[0]}
            for name, runs in boots.items()}


def write_figures_tsv(tables: dict[str, dict[str, TimeFigures]]) -> None:
    """Write all figures to build/bench-time.tsv."""
    lines = ["tasks\tpattern\tmode\tleast\tmedian\n"]
    lines += [f"{table}\t{pattern}\t{mode}\t{figure.least:.2f}\t{figure.median:.2f}\n"
              for table, results in tables.items() for mode, figures in results.items()
              for pattern, figure in figures.items()]
    (BUILD / "bench-time.tsv").write_text("".join(lines))


def format_added(figures: TimeFigures, pattern: str, plain: float, peer: float) -> str:
    """The cycles that a mode adds, and their ratio to those of profiling."""
    if pattern not in figures:
        return ""
    added = figures[pattern].least - plain
    if peer < RATIO_MIN:
        return f"{added:,.0f}"
    ratio = added / peer
    return f"{added:,.0f} ({ratio:,.{1 if ratio < 10 else 0}f})"


def print_added_cycles(table: str, results: dict[str, TimeFigures]) -> None:
    """Print the base's figures, what profiling adds, and what each mode adds."""
    others = [name for name in results if name not in (BASE, PEER)]
    widths = {name: max(15, len(name) + 3) for name in others}
    print_line(f"\n{table:38}{BASE:>9}{'+' + PEER:>11}"
               + "".join(f"{'+' + name:>{widths[name]}}" for name in others))
    for pattern, label in PATTERNS.items():
        plain = results[BASE][pattern].least
        peer = results[PEER][pattern].least - plain
        print_line(f"{label:38}{plain:9,.0f}{peer:11,.0f}" + "".join(
            f"{format_added(results[name], pattern, plain, peer):>{widths[name]}}"
            for name in others))


def main() -> int:
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modes", default="", metavar="NAME,...",
                        help=f"some of {' '.join(MODES)}")
    parser.add_argument("--image", type=parse_image, action="append", default=[],
                        metavar="NAME=DIRECTORY", help="another build of our kernel")
    args = parser.parse_args()
    names = list(dict.fromkeys([BASE, PEER, *parse_names(args.modes, MODES, "mode")]))
    modes = {name: MODES[name] for name in names}
    for image, directory in args.image:
        modes |= {f"{image},{name}": replace(MODES[name], image=directory)
                  for name in names if MODES[name].kernel == OURS}
    wanted = list(TABLES) if LINUX != VERSIONS[0] else [ONE_TASK]
    prefix = "" if LINUX == VERSIONS[0] else f"{LINUX}/"
    kernels = list(dict.fromkeys(prefix + MODES[name].find_kernel(table)
                                 for table in wanted for name in names))
    if subprocess.run([HERE / "kernels/kernels.py", *kernels]).returncode:
        return 1
    tables = {}
    for table in wanted:
        occupy_cpu(table)
        # Another build is of a kernel with one CPU.
        tables[table] = measure_modes({name: mode for name, mode in modes.items()
                                       if table == ONE_TASK or not mode.image}, table)
    write_figures_tsv(tables)
    for table, results in tables.items():
        print_added_cycles(table, results)
    print_line(f"\nCycles, the least of {BOOTS} boots; in parentheses the ratio to what profiling "
               "adds. All figures are in build/bench-time.tsv")
    return 0


if __name__ == "__main__":
    sys.exit(main())
