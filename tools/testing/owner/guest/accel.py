# SPDX-License-Identifier: GPL-2.0
"""Choose KVM or TCG: boot under both once, and remember the faster one."""

import json
import os
import re
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Dict, Optional, Tuple

from session import GuestError, GuestSession, GuestTask, run_session
from vm import GuestMachine, VmError

DEVICE = "/dev/kvm"
CACHE = ".accel"
CMD = "i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done"
KVM_SECONDS = 20.0
TCG_SECONDS = 120.0


def _describe_host() -> str:
    """The processor and the running kernel: if they change, try again."""
    info = Path("/proc/cpuinfo").read_text(errors="replace")
    model = re.search(r"model name\s*: (.*)", info)
    return " ".join([model.group(1) if model else "?", *os.uname()[1:4]])


def _load_cached_accelerator(path: Path) -> str:
    """The remembered accelerator, or "" if there is none for this host."""
    try:
        saved: Dict[str, str] = json.loads(path.read_text())
        return saved["accel"] if saved["host"] == _describe_host() else ""
    except (OSError, ValueError, KeyError):
        return ""


def _save_accelerator_choice(path: Path, accel: str, why: str) -> None:
    """Write the choice to a file, atomically."""
    text = json.dumps({"host": _describe_host(), "accel": accel, "why": why}, indent=1)
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_text(text + "\n")
    os.replace(partial, path)


def _time_boot(machine: GuestMachine, build: Path, accel: str,
               seconds: float) -> Tuple[Optional[float], str]:
    """Boot under accel; returns the seconds taken, or None and the error."""
    with tempfile.TemporaryDirectory(prefix="guest-") as name:
        scratch = Path(name)
        trial = replace(machine, accel=accel, initrd=scratch / "initrd")
        task = GuestTask(CMD, build, scratch, scratch / "console")
        start = time.monotonic()
        try:
            run_session(GuestSession(trial, task), lambda _: None, seconds)
        except (GuestError, VmError) as error:
            return None, str(error)
        return time.monotonic() - start, ""


def _find_faster_accelerator(machine: GuestMachine, build: Path) -> Tuple[str, str, bool]:
    """The faster accelerator, the reason, and whether to remember it."""
    kvm, failure = _time_boot(machine, build, "kvm", KVM_SECONDS)
    tcg, tcg_failure = _time_boot(machine, build, "tcg", TCG_SECONDS)
    if kvm is None and tcg is None:
        return "tcg", f"neither boots this kernel: {tcg_failure}", False
    if kvm is None:
        return "tcg", f"KVM does not work: {failure}", True
    if tcg is not None and tcg < kvm:
        return "tcg", f"KVM took {kvm:.1f} s, TCG {tcg:.1f} s", True
    return "kvm", f"KVM took {kvm:.1f} s", True


def choose_accelerator(machine: GuestMachine, build: Path) -> Tuple[str, str]:
    """The accelerator to use, and the reason if it was tried just now."""
    kind = machine.kind
    if machine.icount or kind.arch != os.uname().machine or not kind.program:
        return "tcg", ""
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        return "tcg", ""
    path = build / CACHE
    accel = _load_cached_accelerator(path)
    if accel:
        return accel, ""
    accel, why, keep = _find_faster_accelerator(machine, build)
    if keep:
        _save_accelerator_choice(path, accel, why)
    return accel, why
