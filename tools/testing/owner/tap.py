# SPDX-License-Identifier: GPL-2.0
"""Read TAP and KTAP: count the results of a suite and check its plans."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

RESULT = re.compile(r"^( *)(not ok|ok)\b\s*\d*\s*-?\s*(.*)$")
PLAN = re.compile(r"^( *)1\.\.(\d+)\s*(.*)$")
SKIP = re.compile(r"\s*#\s*SKIP\b\s*(.*)$", re.I)
BAIL_OUT = re.compile(r"^ *Bail out!\s*(.*)$")
VERSION = re.compile(r"^K?TAP version ")
# Lines before a failure, and comments after it, that the summary repeats.
LINES_BEFORE = 3
LINES_AFTER = 12

# Returns why the skip of a test is wrong, or "".
SkipCheck = Callable[[str, str], str]


@dataclass
class SuiteOutcome:
    """The results of a suite."""
    passed: int = 0
    failed: int = 0
    skips: list[str] = field(default_factory=list)
    seconds: float = 0
    failures: list[str] = field(default_factory=list)

    def add_failure(self, what: str) -> None:
        """Count a failure; the text is repeated at the end of the run."""
        self.failed += 1
        self.failures.append(what)


@dataclass
class PlanLevel:
    """The results with one indentation, which belong to one plan."""
    indent: int
    failed_before: int
    planned: int | None = None
    seen: int = 0


class ResultCounter:
    """Counts the leaves of a KTAP tree; the line after subtests is their summary.

    The top level must have a plan. Subtests need none: KUnit prints none for the
    parameters of a test. Each plan must be fulfilled.
    """

    def __init__(self, suite: str, check_skip: SkipCheck) -> None:
        self.suite = suite
        self.check_skip = check_skip
        self.outcome = SuiteOutcome()
        self.levels: list[PlanLevel] = []
        self.documents = 0
        self.recent: list[str] = []  # lines since the last result
        self.explaining = 0  # comment lines still to be kept with the last failure

    def parse_line(self, text: str) -> None:
        """Read one line of a suite's output."""
        result = RESULT.match(text)
        if result:
            self._read_result(len(result[1]), result[2] == "ok", result[3])
            self.recent = []
            return
        plan = PLAN.match(text)
        bail_out = BAIL_OUT.match(text)
        if plan:
            self._read_plan(len(plan[1]), int(plan[2]), plan[3])
        elif bail_out:
            self._add_failure(f"bail out: {bail_out[1] or 'no reason given'}")
        elif VERSION.match(text):
            self._end_document()
        line = text.strip()[:200]
        self.recent = [*self.recent[1 - LINES_BEFORE:], line]
        if self.explaining and line.startswith("#"):
            self.explaining -= 1
            self.outcome.failures[-1] += f"\n      {line}"

    def finish(self, status: int) -> SuiteOutcome:
        """Check what can be checked at the end of the output only."""
        self._end_document()
        if not self.documents:
            self._add_failure("printed no result")
        if status and not self.outcome.failed:
            self._add_failure(f"ended with status {status}")
        return self.outcome

    def _add_failure(self, what: str) -> None:
        self.outcome.add_failure(f"{self.suite}: {what}")
        self.explaining = 0

    def _find_level(self, indent: int) -> PlanLevel:
        """The level with this indentation, which is begun if there is none."""
        if not self.levels or self.levels[-1].indent < indent:
            self.levels.append(PlanLevel(indent, self.outcome.failed))
        return self.levels[-1]

    def _close_level(self) -> PlanLevel:
        """Close the innermost level and check its plan."""
        level = self.levels.pop()
        tests = "subtests" if level.indent else "tests"
        if level.planned is None and not level.indent:
            self._add_failure(f"ran {level.seen} tests without a plan: it may have ended early")
        elif level.planned is not None and level.planned != level.seen:
            self._add_failure(f"planned {level.planned} {tests}, ran {level.seen}")
        return level

    def _close_subtests_without_summary(self, indent: int) -> None:
        while self.levels and self.levels[-1].indent > indent:
            self._close_level()
            self._add_failure("subtests have no result of their own")

    def _end_document(self) -> None:
        """Close all levels; a suite may print one document after another."""
        self._close_subtests_without_summary(0)
        if self.levels:
            self._close_level()
            self.documents += 1

    def _read_plan(self, indent: int, planned: int, rest: str) -> None:
        self._close_subtests_without_summary(indent)
        level = self._find_level(indent)
        if level.planned is not None:
            self._add_failure(f"has a second plan, of {planned} tests")
            return
        level.planned = planned
        if planned:
            return
        if SKIP.search(rest):
            self._count_leaf(True, f"all tests {rest}")
        else:
            self._add_failure("has an empty plan")

    def _read_result(self, indent: int, good: bool, name: str) -> None:
        closed = None
        self.explaining = 0
        while self.levels and self.levels[-1].indent > indent:
            closed = self._close_level()
        self._find_level(indent).seen += 1
        if not closed:
            self._count_leaf(good, name)
        elif not good and self.outcome.failed == closed.failed_before:
            self._count_leaf(False, f"{name}, whose subtests did not fail")

    def _count_leaf(self, good: bool, name: str) -> None:
        """Count the result of a test without subtests."""
        skip = SKIP.search(name)
        if not good:
            self._add_failure("\n      ".join([name, *self.recent]))
            self.explaining = LINES_AFTER
        elif not skip:
            self.outcome.passed += 1
        else:
            test = name[:skip.start()].strip()
            wrong = self.check_skip(test, skip[1].strip())
            if wrong:
                self._add_failure(f"{test}: {wrong}")
            else:
                self.outcome.skips.append(f"{self.suite}: {test}: {skip[1].strip()}")
