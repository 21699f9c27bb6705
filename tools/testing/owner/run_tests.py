#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Run every test suite; end with one line 'N passed, N failed, N skipped'.

A suite is a command that prints TAP or KTAP. A suite that exits with an error, prints
no result, or prints another number of results than its plan counts as a failure, too.

    run_tests.py            all suites
    run_tests.py NAME...    suites whose names begin with NAME
    run_tests.py --list     names and commands of the suites
"""

import os
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

from workbench import BUILD, HERE, ROOT, print_line

SUITES = HERE / "suites"
RESULT = re.compile(r"^( *)(not ok|ok)\b\s*(\d*)\s*-?\s*(.*)$")
PLAN = re.compile(r"^( *)1\.\.(\d+)")
SKIP = re.compile(r"#\s*SKIP\b\s*(.*)$", re.I)
# A suite that takes minutes prints lines that begin so; the runner shows them at once.
PROGRESS = "# progress: "
# Lines before a failure, and comments after it, that the summary repeats.
LINES_BEFORE = 3
LINES_AFTER = 12
# Seconds after which a suite is killed, so that a hang does not stop the run.
LIMIT = 1500


@dataclass
class SuiteOutcome:
    """The results of a suite."""
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0
    failures: list[str] = field(default_factory=list)

    def add_failure(self, what: str) -> None:
        """Count a failure; the text is repeated at the end of the run."""
        self.failed += 1
        self.failures.append(what)


class ResultCounter:
    """Counts the leaves of a KTAP tree; the line after subtests is their summary."""

    def __init__(self, suite: str) -> None:
        self.suite = suite
        self.outcome = SuiteOutcome()
        self.depths: list[int] = []
        self.planned = self.seen = 0
        self.recent: list[str] = []  # lines since the last result
        self.explaining = 0  # comment lines still to be kept with the last failure

    def parse_line(self, text: str) -> None:
        """Read one line of a suite's output."""
        if text.startswith(PROGRESS):
            print_line("    " + text.removeprefix(PROGRESS))
            return
        plan = PLAN.match(text)
        if plan and not plan[1]:
            self.planned += int(plan[2])
            if plan[2] == "0":
                self.count_result(True, text)
        result = RESULT.match(text)
        if not result:
            line = text.strip()[:200]
            self.recent = [*self.recent[1 - LINES_BEFORE:], line]
            if self.explaining and line.startswith("#"):
                self.explaining -= 1
                self.outcome.failures[-1] += f"\n      {line}"
            return
        self.explaining = 0
        depth = len(result[1])
        summary = bool(self.depths) and self.depths[-1] > depth
        while self.depths and self.depths[-1] >= depth:
            self.depths.pop()
        self.depths.append(depth)
        self.seen += depth == 0
        if not summary:
            self.count_result(result[2] == "ok", result[4])
        self.recent = []

    def count_result(self, good: bool, name: str) -> None:
        """Count one result."""
        skip = SKIP.search(name)
        if skip and good:
            self.outcome.skipped += 1
            print_line(f"    skipped: {self.suite}: {name}"
                       + ("" if skip[1] else " (the test does not say why)"))
        elif good:
            self.outcome.passed += 1
        else:
            self.outcome.add_failure("\n      ".join([f"{self.suite}: {name}", *self.recent]))
            self.explaining = LINES_AFTER

    def check_status_and_plan(self, status: int) -> SuiteOutcome:
        """Check the exit status and the plan."""
        outcome = self.outcome
        if status and not outcome.failed:
            outcome.add_failure(f"{self.suite}: ended with status {status}")
        elif not outcome.passed + outcome.failed + outcome.skipped:
            outcome.add_failure(f"{self.suite}: printed no result")
        elif self.planned and self.planned != self.seen:
            outcome.add_failure(f"{self.suite}: planned {self.planned} tests, ran {self.seen}")
        return outcome


def load_suites() -> dict[str, str]:
    """The suites of the file "suites", in its order."""
    suites = {}
    for line in SUITES.read_text().split("\n"):
        if line.strip() and not line.startswith("#"):
            name, command = line.split(":", 1)
            suites[name.strip()] = command.strip()
    return suites


def run_suite(name: str, command: str) -> SuiteOutcome:
    """Run one suite; its output is kept in build/test/NAME.log."""
    print_line(f"--- {name}: {command}")
    began = time.monotonic()
    counter = ResultCounter(name)
    log = BUILD / "test" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    suite = subprocess.Popen(["bash", "-c", command], cwd=ROOT, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             start_new_session=True)
    timer = threading.Timer(LIMIT, lambda: os.killpg(suite.pid, 15))
    timer.start()
    with log.open("wb") as file:
        assert suite.stdout
        for raw in suite.stdout:
            file.write(raw)
            counter.parse_line(raw.decode(errors="replace").rstrip("\r\n"))
    outcome = counter.check_status_and_plan(suite.wait())
    timer.cancel()
    outcome.seconds = time.monotonic() - began
    if outcome.failed:
        lines = log.read_text(errors="replace").split("\n")
        print_line("\n".join(f"    | {line}" for line in lines[-120:]))
    print_line(f"    {outcome.passed} ok, {outcome.failed} not ok, {outcome.skipped} skipped, "
               f"{outcome.seconds:.0f} s")
    return outcome


def main() -> None:
    """The program."""
    suites = load_suites()
    if sys.argv[1:] == ["--list"]:
        for name, command in suites.items():
            print_line(f"{name}: {command}")
        return
    wanted = {name: command for name, command in suites.items()
              if not sys.argv[1:] or name.startswith(tuple(sys.argv[1:]))}
    if not wanted:
        sys.exit(f"error: no suite begins with {' '.join(sys.argv[1:])}; "
                 f"there are {', '.join(suites)}")
    outcomes = {name: run_suite(name, command) for name, command in wanted.items()}

    print_line("\nslowest:")
    for name in sorted(outcomes, key=lambda each: -outcomes[each].seconds)[:6]:
        print_line(f"  {outcomes[name].seconds:6.0f} s  {name}")
    failures = [what for outcome in outcomes.values() for what in outcome.failures]
    if failures:
        print_line("\nfailed:\n  " + "\n  ".join(failures))
    total = [sum(getattr(outcome, kind) for outcome in outcomes.values())
             for kind in ("passed", "failed", "skipped")]
    print_line(f"\n{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    sys.exit(1 if total[1] else 0)


if __name__ == "__main__":
    main()
