#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Run every test suite; end with one line 'N passed, N failed, N skipped'.

A suite is a command that prints TAP or KTAP. It fails, too, if it exits with an error, if
a plan is missing, empty or not fulfilled, if a kernel that it booted complained on its
console, or if a test is skipped that "expected_skips" does not list.

The suite "kernels" builds the kernels that the other suites name. It runs before the others,
alone. Of the others, as many run at a time as there are CPUs, at most four.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from kernels.kernels import KERNELS, is_kernel, split_name
from skips import SkipList
from tap import ResultCounter, SuiteOutcome
from workbench import BUILD, HERE, ROOT, die, print_line

# A suite that takes minutes prints lines that begin so; the runner shows them at once.
PROGRESS = "# progress: "
# Comments of TAP, as "# 1000000 runs", but those that KUnit prints for each suite and test.
FIGURE = re.compile(r"(?! *# (Subtest|module|Totals|\S+\.speed): ) *# "
                    r"(?!\S+: (pass:\d|Test should be marked slow))")
# Seconds after which a suite is killed, so that a hang does not stop the run. The slowest of make
# test takes 410 s on two idle cores.
LIMIT = 3600
# A suite that writes build/tree or build/KERNEL has this word before its colon. Two suites with
# the word do not run at a time.
IN_TREE = "@tree"
# A suite's guest uses up to 2 GB of memory. More suites at a time need a larger machine.
JOBS_MAX = 4
# The suite that builds kernels, and the word in its command that stands for their names.
BUILDER = "kernels"
NAMES = "KERNELS"
# Seconds after which that suite is killed: on a busy machine a build takes several times as long.
BUILDER_LIMIT = 4500


@dataclass
class TestSuite:
    """A line of the file "suites"."""
    name: str
    command: str
    kernels: list[str]
    in_tree: bool = False


def parse_command_line() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="run the suites whose names begin with NAME (default: all)")
    parser.add_argument("--jobs", type=int, default=min(len(os.sched_getaffinity(0)), JOBS_MAX),
                        metavar="N", help="run N suites at a time (default: as many as there "
                        f"are CPUs, at most {JOBS_MAX})")
    parser.add_argument("--list", action="store_true", help="print names and commands")
    parser.add_argument("--suites", type=Path, default=HERE / "suites", metavar="FILE")
    parser.add_argument("--skips", type=Path, default=HERE / "expected_skips", metavar="FILE")
    parser.add_argument("--logs", type=Path, default=BUILD / "test", metavar="DIR",
                        help="where the output and the guests' consoles are kept "
                        "(default: build/test)")
    parser.add_argument("--limit", type=int, default=LIMIT, metavar="SECONDS",
                        help=f"end a suite after that time (default: {LIMIT}); "
                        f"{BUILDER} has at least {BUILDER_LIMIT}")
    parser.add_argument("--figures", action="store_true",
                        help="print the figures in each suite's comments")
    return parser.parse_args()


def parse_suite(line: str) -> TestSuite:
    """A suite needs the kernels that precede the colon or are words of its command."""
    head, colon, command = line.partition(":")
    name, *words = head.split() or [""]
    needed = [word for word in words if word != IN_TREE]
    unknown = [word for word in needed if not is_kernel(word)]
    if not colon or not name or not command.strip() or unknown:
        die(f"not 'NAME [{IN_TREE}] [KERNEL...]: COMMAND': {line}\n"
            f"Kernels are {', '.join(KERNELS)}.")
    needed += [word for word in command.split() if is_kernel(word)]
    return TestSuite(name, command.strip(), list(dict.fromkeys(needed)), IN_TREE in words)


def load_suites(path: Path) -> list[TestSuite]:
    """The suites of a file, in its order."""
    suites = [parse_suite(line) for line in path.read_text().split("\n")
              if line.strip() and not line.startswith("#")]
    for suite in suites:
        if [each.name for each in suites].count(suite.name) > 1:
            die(f"{path.name} has two suites named {suite.name}")
    return suites


def choose_suites(suites: list[TestSuite], names: list[str]) -> list[TestSuite]:
    """The suites whose names begin with one of names, after the one that builds their kernels."""
    chosen = [suite for suite in suites if not names or suite.name.startswith(tuple(names))]
    for name in names:
        if not any(suite.name.startswith(name) for suite in suites):
            die(f"no suite begins with {name}; there are "
                + ", ".join(suite.name for suite in suites))
    others = chosen if [suite.name for suite in chosen] != [BUILDER] else suites
    # In the order of the recipes, as the builder's command is the same for the same suites.
    words = sorted({kernel for suite in others for kernel in suite.kernels},
                   key=lambda kernel: (split_name(kernel)[0], list(KERNELS).index(
                       split_name(kernel)[1])))
    builders = [TestSuite(suite.name, suite.command.replace(NAMES, " ".join(words)), words)
                for suite in suites if suite.name == BUILDER and words]
    return builders + [suite for suite in chosen if suite.name != BUILDER]


class SuiteRunner:
    """Runs suites, several at a time."""

    def __init__(self, skips: SkipList, args: argparse.Namespace) -> None:
        self.skips = skips
        # Suites get an absolute path: they run in ROOT, and some change to another directory.
        self.logs = args.logs.resolve()
        self.limit = args.limit
        self.prints_figures = args.figures
        # The lock protects running and stopped.
        self.lock = threading.Lock()
        self.running: set[subprocess.Popen] = set()
        self.stopped = False

    def run_suites(self, suites: list[TestSuite], jobs: int) -> dict[str, SuiteOutcome]:
        """Run suites, jobs at a time; the outcomes are in the order of suites."""
        outcomes: dict[str, SuiteOutcome] = {}
        waiting = list(suites)
        running: dict[Future, TestSuite] = {}
        with ThreadPoolExecutor(jobs) as pool:
            try:
                while waiting or running:
                    while len(running) < jobs:
                        suite = find_next_suite(waiting, list(running.values()))
                        if not suite:
                            break
                        waiting.remove(suite)
                        running[pool.submit(self.run_suite, suite)] = suite
                    for done in wait(running, return_when=FIRST_COMPLETED).done:
                        outcomes[running.pop(done).name] = done.result()
            except BaseException:
                self.stop_suites()
                raise
        return {suite.name: outcomes[suite.name] for suite in suites}

    def stop_suites(self) -> None:
        """End the suites that run, and their guests, and let no other start."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        with self.lock:
            self.stopped = True
            for process in self.running:
                end_process_group(process)

    def start_suite(self, suite: TestSuite, guests: Path) -> subprocess.Popen:
        """Start a suite. Its guests keep their consoles in the directory guests."""
        shutil.rmtree(guests, ignore_errors=True)
        guests.mkdir(parents=True)
        # Servers that install.sh has unpacked, not installed.
        path = f"{os.environ['PATH']}:{BUILD / 'packages/usr/bin'}"
        with self.lock:
            if self.stopped:
                raise RuntimeError("the run has ended")
            process = subprocess.Popen(["bash", "-c", suite.command], cwd=ROOT,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, start_new_session=True,
                                       env=os.environ | {"GUEST_LOGS": str(guests), "PATH": path})
            self.running.add(process)
        return process

    def wait_for_suite(self, process: subprocess.Popen) -> int:
        """Wait for the end of a suite that has closed its output."""
        status = process.wait()
        with self.lock:
            self.running.remove(process)
        return status

    def run_suite(self, suite: TestSuite) -> SuiteOutcome:
        """Run one suite; its output is kept in LOGS/NAME.log, its consoles in LOGS/NAME.guests."""
        print_line(f"--- {suite.name}: {suite.command}")
        began = time.monotonic()
        counter = ResultCounter(suite.name, lambda test, reason:
                                self.skips.check_skip(suite.name, test, reason))
        guests = self.logs / f"{suite.name}.guests"
        log = self.logs / f"{suite.name}.log"
        process = self.start_suite(suite, guests)
        limit = max(self.limit, BUILDER_LIMIT) if suite.name == BUILDER else self.limit
        ended = threading.Event()

        def end_suite() -> None:
            ended.set()
            end_process_group(process)

        timer = threading.Timer(limit, end_suite)
        timer.daemon = True
        timer.start()
        figures = []
        with log.open("wb") as file:
            assert process.stdout
            for raw in process.stdout:
                file.write(raw)
                line = raw.decode(errors="replace").rstrip("\r\n")
                if line.startswith(PROGRESS):
                    print_line(f"    {suite.name}: {line.removeprefix(PROGRESS)}")
                    continue
                counter.parse_line(line)
                if self.prints_figures and FIGURE.match(line):
                    figures.append(f"    {line.strip()}")
        outcome = counter.finish(self.wait_for_suite(process))
        timer.cancel()
        outcome.seconds = time.monotonic() - began
        self.add_failures_of_run(suite, outcome, guests)
        if ended.is_set():
            outcome.add_failure(f"{suite.name}: it was ended after {limit} s")
        lines = figures
        if outcome.failed:
            last = log.read_text(errors="replace").split("\n")[-120:]
            lines = [f"    | {line}" for line in last]
        lines.append(f"    {suite.name}: {outcome.passed} ok, {outcome.failed} not ok, "
                     f"{len(outcome.skips)} skipped, {outcome.seconds:.0f} s")
        print_line("\n".join(lines))
        return outcome

    def add_failures_of_run(self, suite: TestSuite, outcome: SuiteOutcome, guests: Path) -> None:
        """Add the failures that no test of the suite reports."""
        if not outcome.failed:
            # The tests of most suites include this; a suite without it fails here.
            complaints = find_complaints(guests)
            if complaints:
                outcome.add_failure("\n      ".join([f"{suite.name}: a kernel complained",
                                                    *complaints]))
        if not outcome.failed:
            for stale in self.skips.find_stale_lines(suite.name):
                outcome.add_failure(f"{suite.name}: {stale}")


def end_process_group(process: subprocess.Popen) -> None:
    """End a suite and its guests, unless it has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)


def find_next_suite(waiting: list[TestSuite], running: list[TestSuite]) -> TestSuite | None:
    """The first suite that may run beside those that run."""
    tree_is_busy = any(suite.in_tree for suite in running)
    return next((suite for suite in waiting if not (suite.in_tree and tree_is_busy)), None)


def find_complaints(guests: Path) -> list[str]:
    """The complaints of kernels that guest.py found on consoles."""
    complaints = guests / "complaints"
    return complaints.read_text().splitlines() if complaints.exists() else []


def print_summary(outcomes: dict[str, SuiteOutcome]) -> int:
    """Print skips, failures and totals; returns the exit status."""
    print_line("\nslowest:")
    for name in sorted(outcomes, key=lambda each: -outcomes[each].seconds)[:6]:
        print_line(f"  {outcomes[name].seconds:6.0f} s  {name}")
    skipped = [what for outcome in outcomes.values() for what in outcome.skips]
    if skipped:
        print_line("\nskipped:\n  " + "\n  ".join(skipped))
    failures = [what for outcome in outcomes.values() for what in outcome.failures]
    if failures:
        print_line("\nfailed:\n  " + "\n  ".join(failures))
    passed = sum(outcome.passed for outcome in outcomes.values())
    print_line(f"\n{passed} passed, {len(failures)} failed, {len(skipped)} skipped")
    return 1 if failures else 0


def main() -> int:
    """The program."""
    args = parse_command_line()
    suites = load_suites(args.suites)
    if args.list:
        for suite in suites:
            print_line(f"{suite.name}: {suite.command}")
        return 0
    if args.jobs < 1:
        die(f"--jobs {args.jobs}: not a number from 1 up")
    if args.limit < 1:
        die(f"--limit {args.limit}: not a number from 1 up")
    # With an exception the suites that run are ended as well.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    runner = SuiteRunner(SkipList(args.skips), args)
    chosen = choose_suites(suites, args.names)
    builders = [suite for suite in chosen if suite.name == BUILDER]
    return print_summary(runner.run_suites(builders, 1)
                         | runner.run_suites([suite for suite in chosen
                                              if suite.name != BUILDER], args.jobs))


if __name__ == "__main__":
    sys.exit(main())
