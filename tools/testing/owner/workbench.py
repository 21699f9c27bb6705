# SPDX-License-Identifier: GPL-2.0
"""Paths and helpers that the programs of the workbench share."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build"
HERE = ROOT / "tools/testing/owner"

# The assembled tree, and the pristine source. Both are one directory above their kernels'
# object directories: ccache sees relative paths, so one tree's objects serve the other.
TREE = BUILD / "tree"
PRISTINE = BUILD / "base/tree"

# The author of commits in build/tree, which the mails of the series do not carry. Without the
# ceiling, git in a directory whose repository has gone would use that of this project.
IDENT = {"GIT_AUTHOR_NAME": "workbench", "GIT_AUTHOR_EMAIL": "workbench@localhost",
         "GIT_COMMITTER_NAME": "workbench", "GIT_COMMITTER_EMAIL": "workbench@localhost",
         "GIT_CEILING_DIRECTORIES": str(BUILD)}


def die(message: str) -> NoReturn:
    """Exit with a message that names the error and, if possible, the remedy."""
    sys.stdout.flush()
    sys.exit(f"error: {message}")


def print_line(message: str) -> None:
    """Print a line at once, also into a pipe."""
    # Several threads print: write the text and its line end in one call.
    sys.stdout.write(message + "\n")
    sys.stdout.flush()


def run_command(*command: str | Path, cwd: Path | None = None, **kwargs) -> str:
    """Run a command and return its output; exit if it fails."""
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kwargs)
    if done.returncode:
        die(f"{' '.join(map(str, command))} failed:\n{done.stdout.strip()}")
    return done.stdout


def run_git(*words: str | Path, cwd: Path = TREE, **kwargs) -> str:
    """Run git, by default in build/tree."""
    return run_command("git", *words, cwd=cwd, env=os.environ | IDENT, **kwargs)
