# SPDX-License-Identifier: GPL-2.0
"""kdump: a kernel in reserved memory saves the memory of the kernel that panicked."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Dict

from image import ImageError, find_busybox, write_initramfs
from vm import GuestMachine, compose_crash_command_line

RESERVED = "crashkernel=96M"
# A panic that init.sh asks for, and the trace that the kernel prints with it.
PROVOKED = "Kernel panic - not syncing: sysrq triggered crash|Call Trace:$"
COMPRESSIONS = {"lzo": "-l", "zlib": "-c", "none": ""}
PACKAGES = {"kexec": "kexec-tools", "makedumpfile": "makedumpfile"}


@dataclass
class CrashDump:
    """How the crash kernel writes the dump, and where the host keeps it."""
    output: Path
    level: int = 31
    compression: str = "lzo"


def find_program(name: str) -> Path:
    """The path of a program of the host that runs in a guest."""
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    if not path:
        raise ImageError(f"no {name} on this host: apt-get install {PACKAGES[name]}")
    return Path(path)


def list_program_files(name: str) -> Dict[str, Path]:
    """A program and its shared libraries: names in the guest to files of the host."""
    program = find_program(name)
    listed = subprocess.run(["ldd", str(program)], check=True, capture_output=True, text=True)
    libraries = re.findall(r"(/\S+) \(0x", listed.stdout)
    return {f"bin/{name}": program, **{path.lstrip("/"): Path(path) for path in libraries}}


def write_crash_initramfs(path: Path, machine: GuestMachine, build: Path, mark: str,
                          dump: CrashDump) -> None:
    """Write the initramfs of the crash kernel.

    makedumpfile writes its flattened form, which needs no seek and thus no memory that
    holds the dump.
    """
    kind = machine.kind
    words = f"{COMPRESSIONS[dump.compression]} -d {dump.level}"
    cmd = f"makedumpfile -F {words} /proc/vmcore 2>/dev/console"
    conf = {"mode": "run", "channel": kind.channel, "mark": mark, "name": "crash", "size": ""}
    write_initramfs(path, find_busybox(build, kind.arch), conf, (cmd, ""),
                    list_program_files("makedumpfile"))


def list_kexec_files(machine: GuestMachine, initramfs: Path) -> Dict[str, Path]:
    """The files from which init.sh loads the crash kernel."""
    return {**list_program_files("kexec"),
            "crash/kernel": machine.kernel, "crash/initrd": initramfs}


def format_crash_settings(machine: GuestMachine) -> Dict[str, str]:
    """The setting of guest.conf for init.sh: the crash kernel's command line."""
    return {"crash": compose_crash_command_line(machine)}


def unflatten_dump(flattened: Path, output: Path) -> None:
    """Convert makedumpfile's flattened form, which readers cannot open, to its usual form."""
    partial = output.with_name(output.name + ".partial")
    # makedumpfile does not overwrite a file.
    partial.unlink(missing_ok=True)
    try:
        with open(flattened, "rb") as file:
            done = subprocess.run([str(find_program("makedumpfile")), "-R", str(partial)],
                                  stdin=file, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ImageError(f"makedumpfile -R {output}: {(done.stderr or done.stdout).strip()}")
        partial.chmod(0o644)
        os.replace(partial, output)
    finally:
        partial.unlink(missing_ok=True)
