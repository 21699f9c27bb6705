# SPDX-License-Identifier: GPL-2.0
"""Complaints of a guest's kernel: find them on the console, and keep the console."""

import os
import re
import shutil
from pathlib import Path
from typing import List

from session import ESCAPES

# The directory in which each run keeps its console, and adds to a file of complaints.
VARIABLE = "GUEST_LOGS"
# More lines of one console than these say nothing new.
LINES_MAX = 20

COMPLAINT = re.compile("|".join((
    r"\bBUG\b[: ]",                     # a bug, KASAN, a soft lockup, SLUB
    r"WARNING: ",                       # WARN(), lockdep, RCU
    r"\bINFO: ",                        # RCU stalls, hung tasks, lockdep turned off
    r"UBSAN: ",
    r"\bKCSAN: |\bKMSAN: ",
    r"kmemleak: [1-9][0-9]* new suspected",
    r"kmemleak: Cannot ",
    r"Oops\b",
    r"Kernel panic",
    r"[Gg]eneral protection fault",
    r"Unable to handle kernel",
    r"Internal error: ",
    r"Call Trace|Call-Trace of",
    r"[Pp]age allocation failure|invoked oom-killer|Out of memory: Killed",
    r"\w+ corruption\b",
    r"refcount_t: ",
    r"unchecked MSR access",
    r"DEBUG_LOCKS_WARN_ON",
)))


def find_complaints(console: Path, provoked: str = "") -> List[str]:
    """The lines of a console that complain, except those that match provoked."""
    found = []
    with open(console, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            text = ESCAPES.sub("", line).strip()
            if COMPLAINT.search(text) and not (provoked and re.search(provoked, text)):
                found.append(f"{number}: {text[:300]}")
    if len(found) > LINES_MAX:
        found[LINES_MAX:] = [f"and {len(found) - LINES_MAX} more lines"]
    return found


def _create_log(directory: Path, name: str) -> Path:
    """Create a file whose name says how many guests there were before. They may run at once."""
    number = len(list(directory.glob("*-*")))
    while True:
        number += 1
        path = directory / f"{number:03}-{name}"
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        except FileExistsError:
            continue
        return path


def keep_console(console: Path, name: str, complaints: List[str]) -> None:
    """Keep a copy of the console, and its complaints, if the variable names a directory."""
    directory = os.environ.get(VARIABLE)
    if not directory:
        return
    Path(directory).mkdir(parents=True, exist_ok=True)
    # The name of a kernel may have a directory.
    path = _create_log(Path(directory), name.replace("/", "-"))
    shutil.copyfile(console, path)
    if complaints:
        # Append in one write(): other guests may do so at the same time.
        with open(Path(directory) / "complaints", "a", encoding="utf-8") as file:
            file.write("".join(f"{path.name}:{line}\n" for line in complaints))
