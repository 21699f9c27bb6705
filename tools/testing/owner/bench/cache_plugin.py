# SPDX-License-Identifier: GPL-2.0
"""Compile cache_misses.c, a plugin of QEMU that models caches, and read what it writes."""

import subprocess
from pathlib import Path
from typing import NamedTuple

from workbench import BUILD, HERE, die


class Misses(NamedTuple):
    """Instructions and cache misses."""
    instructions: float
    l1: float
    l2: float


class Report(NamedTuple):
    """The number of sections, and their sums."""
    sections: int
    sums: Misses

    def find_means(self) -> Misses:
        """The means of a section."""
        return Misses(*(total / self.sections for total in self.sums))


def compile_plugin() -> Path:
    """Compile the plugin, and return its path."""
    path = BUILD / "cache_misses.so"
    path.parent.mkdir(exist_ok=True)
    done = subprocess.run(["gcc", "-O2", "-Wall", "-shared", "-fPIC", "-o", path,
                           HERE / "bench/cache_misses.c"], text=True, capture_output=True)
    if done.returncode:
        die(f"cache_misses.c does not compile:\n{done.stderr}")
    return path


def read_reports(path: Path) -> list[Report]:
    """The plugin's reports."""
    rows = [[int(word) for word in line.split()] for line in path.read_text().splitlines()]
    return [Report(sections, Misses(*sums)) for sections, *sums in rows]
