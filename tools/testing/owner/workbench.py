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

# The version of Linux. Trees and kernels of the first are in build/, those of any other in
# build/VERSION/, where the name of a kernel begins with VERSION/.
VERSIONS = ("6.12", "7.3")
LINUX = os.environ.get("LINUX") or VERSIONS[0]


def locate_version(version: str) -> Path:
    """The directory of the trees and kernels of a version of Linux."""
    return BUILD if version == VERSIONS[0] else BUILD / version


# The assembled tree, and the pristine source. Both are one directory above their kernels'
# object directories: ccache sees relative paths, so one tree's objects serve the other.
PLACE = locate_version(LINUX)
TREE = PLACE / "tree"
PRISTINE = PLACE / "base/tree"
PATCHES = ROOT / "patches" / LINUX

# The author of commits in build/tree, which the mails of the series do not carry. Without the
# ceiling, git in a directory whose repository has gone would use that of this project.
IDENT = {"GIT_AUTHOR_NAME": "workbench", "GIT_AUTHOR_EMAIL": "workbench@localhost",
         "GIT_COMMITTER_NAME": "workbench", "GIT_COMMITTER_EMAIL": "workbench@localhost",
         "GIT_CEILING_DIRECTORIES": str(BUILD)}


def die(message: str) -> NoReturn:
    """Exit with a message that names the error and, if possible, the remedy."""
    sys.stdout.flush()
    sys.exit(f"error: {message}")


def name_path(path: Path) -> str:
    """The path of a file of this repository, for a message."""
    return str(path.relative_to(ROOT))


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
    """Run git, by default in the tree."""
    return run_command("git", *words, cwd=cwd, env=os.environ | IDENT, **kwargs)
