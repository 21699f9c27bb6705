# SPDX-License-Identifier: GPL-2.0
"""What the workbench's programs share: where things are, and how they speak."""

import subprocess
import sys
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build"
HERE = ROOT / "tools/testing/owner"

# The assembled tree, and the pristine one beside it. Both stand one step from
# their kernels' object directories, so that the compiler cache, which sees
# relative paths, serves one tree's objects to the other.
TREE = BUILD / "tree"
PRISTINE = BUILD / "base/tree"


def die(message: str) -> NoReturn:
    """End with a message that says what was wrong and what would be right."""
    sys.stdout.flush()
    sys.exit(f"error: {message}")


def say(message: str) -> None:
    print(message, flush=True)


def run(*command: str | Path, cwd: Path | None = None, **kwargs) -> str:
    """Run a command and return its output; a failure ends the program."""
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kwargs)
    if done.returncode:
        die(f"{' '.join(map(str, command))} failed:\n{done.stdout.strip()}")
    return done.stdout
