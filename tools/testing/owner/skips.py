# SPDX-License-Identifier: GPL-2.0
"""The skips that are expected: the file "expected_skips"."""

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from workbench import die


@dataclass
class ExpectedSkip:
    """One line of the file: globs of a suite, of a test and of the reason that it prints."""
    place: str
    suite: str
    test: str
    reason: str
    # The test is skipped on some machines only.
    optional: bool
    # The suites in which a test matched the line.
    seen: set[str] = field(default_factory=set)


class SkipList:
    """The expected skips, compared with those that happen."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: list[ExpectedSkip] = []
        for number, text in enumerate(path.read_text().split("\n"), 1):
            if text.strip() and not text.startswith("#"):
                self.lines.append(self._parse_line(f"{path.name}:{number}", text))

    @staticmethod
    def _parse_line(place: str, text: str) -> ExpectedSkip:
        words = [word.strip() for word in text.removeprefix("?").split(" | ")]
        if len(words) != 3 or not all(words):
            die(f"{place}: not 'SUITE | TEST | REASON': {text}")
        return ExpectedSkip(place, *words, optional=text.startswith("?"))

    def check_skip(self, suite: str, test: str, reason: str) -> str:
        """Why the skip of a test is wrong; "" if it is expected."""
        for line in self.lines:
            if (fnmatchcase(suite, line.suite) and fnmatchcase(test, line.test)
                    and fnmatchcase(reason, line.reason)):
                line.seen.add(suite)
                return ""
        return (f"it was skipped ({reason or 'the test does not say why'}), and "
                f"{self.path.name} has no line for it")

    def find_stale_lines(self, suite: str) -> list[str]:
        """The lines about a suite in which no test was skipped for that reason."""
        return [f"{line.place}: the test '{line.test}' was not skipped: remove the line"
                for line in self.lines
                if fnmatchcase(suite, line.suite) and not line.optional
                and suite not in line.seen]
