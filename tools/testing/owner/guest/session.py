# SPDX-License-Identifier: GPL-2.0
"""One run of a guest: start it, pass its output on, report how it ended."""

import os
import re
import secrets
import select
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL
from types import FrameType
from typing import Callable, Dict, List, Optional

from crash_kernel import (CrashDump, format_crash_settings, list_kexec_files, unflatten_dump,
                          write_crash_initramfs)
from image import find_busybox, write_initramfs
from vm import (GuestMachine, QemuMonitor, MachineProcess, VmError, require_kaslr_note,
                qemu_channel_options, qemu_command_line, qemu_monitor_options,
                um_channel_options, um_command_line)

HANG = 124
DIED = 125
TAIL_LINES = 40
READ_SIZE = 1 << 18
CONSOLE_LIMIT = 8 << 20
GOODBYE_SECONDS = 20.0
# A guest of this program gets an NMI when it hangs. These words make the kernel panic then,
# and print the stacks of all tasks and CPUs.
NMI_PROGRAM = "qemu-system-x86_64"
NMI_WORDS = "unknown_nmi_panic panic_print=0x41"
NMI_SECONDS = 120.0
PANIC = re.compile(r"Kernel panic - not syncing.*")
ERRORS = re.compile(r"(?:guest-init: |BUG: |Oops: |Internal error: "
                    r"|Unable to |Call-Trace of ).*")
ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|c)|[\r\0]")

Sink = Callable[[bytes], object]


class GuestHang(Exception):
    """The time limit has passed; the text names it."""


class RunnerInterrupted(Exception):
    """A signal asks the runner to end."""

    def __init__(self, signum: int) -> None:
        super().__init__(signal.Signals(signum).name)
        self.signum = signum


class GuestError(Exception):
    """The guest ended without reporting CMD's status."""

    def __init__(self, status: int, what: str) -> None:
        super().__init__(what)
        self.status = status


class OutputExtractor:
    """Extracts CMD's output from the data of the channel."""

    def __init__(self, mark: str) -> None:
        self.begin = f"{mark} begin\n".encode()
        self.end = f"{mark} end ".encode()
        self.began = False
        self.status: Optional[int] = None
        self.pending = b""

    def extract_output(self, chunk: bytes) -> bytes:
        """Take a chunk of the channel; return the part of CMD's output in it."""
        data = self.pending + chunk
        if not self.began:
            data = self._find_begin_line(data)
            if not self.began:
                return b""
        at = data.find(self.end)
        if at >= 0:
            self._parse_status(data[at:])
        else:
            at = len(data) - self._count_partial_end_line_bytes(data)
        self.pending = data[at:]
        return data[:at]

    def _find_begin_line(self, data: bytes) -> bytes:
        before, found, after = data.partition(self.begin)
        self.began = bool(found)
        self.pending = b"" if found else before
        return after

    def _count_partial_end_line_bytes(self, data: bytes) -> int:
        """The length of the longest tail that may be the start of the end line."""
        for length in range(min(len(data), len(self.end) - 1), 0, -1):
            if self.end.startswith(data[-length:]):
                return length
        return 0

    def _parse_status(self, line: bytes) -> None:
        if line.endswith(b"\n"):
            self.status = int(line[len(self.end):].split()[0])


@dataclass
class GuestTask:
    """The command that a guest runs, and the files of the run."""
    cmd: str
    build: Path
    scratch: Path
    console: Path
    extra: str = ""
    mode: str = "run"
    size: str = ""
    dump: Optional[CrashDump] = None
    # Seconds without output after which the guest hangs, or 0.
    stall: float = 0


class GuestSession:
    """A running machine and its channels."""

    def __init__(self, machine: GuestMachine, task: GuestTask) -> None:
        self.machine = machine
        self.task = task
        mark = secrets.token_hex(16)
        self.extractor = OutputExtractor(mark)
        self.dump_mark = secrets.token_hex(16)
        self.errors = task.scratch / "stderr"
        self.process: Optional[MachineProcess] = None
        self.channel: Optional[socket.socket] = None
        self.qmp: Optional[socket.socket] = None
        self.started = time.monotonic()
        self.boot_seconds = 0.0
        self._write_initramfs(mark)

    def _write_initramfs(self, mark: str) -> None:
        kind = self.machine.kind
        conf: Dict[str, str] = {
            "mode": self.task.mode, "channel": kind.channel, "mark": mark,
            "name": "guest", "size": self.task.size,
            "disk": "/dev/vda" if self.machine.disk else "",
            "systemd": "1" if self.machine.systemd else ""}
        files: Dict[str, Path] = {}
        if self.task.dump:
            crash = self.task.scratch / "crash-initrd"
            write_crash_initramfs(crash, self.machine, self.task.build, self.dump_mark,
                                  self.task.dump)
            conf.update(format_crash_settings(self.machine))
            files = list_kexec_files(self.machine, crash)
        write_initramfs(self.machine.initrd,
                        find_busybox(self.task.build, kind.arch), conf,
                        (self.task.cmd, self.task.extra), files)

    def _build_command_line(self, fd: int, fds: List[int]) -> List[str]:
        if not self.machine.kind.program:
            return um_command_line(self.machine, self.task.scratch) + um_channel_options(fd)
        command = qemu_command_line(self.machine) + qemu_channel_options(self.machine.kind, fd)
        command += ["-serial", f"file:{self.task.console}"]
        if self.task.mode == "hold" or self._can_print_stacks():
            self.qmp, theirs = socket.socketpair()
            fds.append(theirs.detach())
            command += qemu_monitor_options(fds[-1])
        return command

    def start_machine(self) -> List[str]:
        """Start the machine and return its command line."""
        self.channel, theirs = socket.socketpair()
        fds = [theirs.detach()]
        command = self._build_command_line(fds[0], fds)
        self.started = time.monotonic()
        try:
            with open(self.task.console, "wb") as console, \
                    open(self.errors, "wb") as errors:
                out = errors if self.machine.kind.program else console
                self.process = MachineProcess(command, (DEVNULL, out, out), fds)
        finally:
            for fd in fds:
                os.close(fd)
        return command

    def run_machine_on_terminal(self) -> int:
        """Give the terminal to the machine until it ends."""
        if self.machine.kind.program:
            command = qemu_command_line(self.machine) + ["-serial", "mon:stdio"]
        else:
            command = um_command_line(self.machine, self.task.scratch)
        self.process = MachineProcess(command, (None, None, None), [])
        while not self.process.wait_for_exit(3600):
            pass
        return self.process.kill_processes()

    def forward_output(self, sink: Sink) -> None:
        """Pass CMD's output on until its status arrives or the machine ends."""
        assert self.process and self.channel
        while self.extractor.status is None:
            chunk = self._read_channel()
            if not chunk:
                break
            output = self.extractor.extract_output(chunk)
            if self.extractor.began and not self.boot_seconds:
                self.boot_seconds = time.monotonic() - self.started
            if output:
                sink(output)

    def _read_channel(self) -> bytes:
        """Data of the channel; empty if the machine has ended."""
        assert self.process and self.channel
        ready: List[object] = []
        since, size = time.monotonic(), -1
        while not ready:
            ready = select.select([self.channel, self.process.pidfd], [], [],
                                  1.0 if self.task.stall else None)[0]
            if size != self.task.console.stat().st_size:
                since, size = time.monotonic(), self.task.console.stat().st_size
            elif not ready and time.monotonic() - since > self.task.stall:
                raise GuestHang("when neither CMD nor the kernel had printed for "
                                f"{self.task.stall:g} s")
        if self.channel not in ready:
            return b""
        try:
            return self.channel.recv(READ_SIZE)
        except ConnectionResetError:
            return b""

    def _send_output_receipt(self) -> None:
        """Tell init.sh that all output has arrived, so that it can stop the machine."""
        assert self.channel
        try:
            self.channel.sendall(b"\n")
        except OSError:
            pass

    def await_command_status(self) -> int:
        """Return CMD's status; raise GuestError if there is none."""
        assert self.process
        if self.extractor.status is None:
            self.process.wait_for_exit(GOODBYE_SECONDS)
            raise GuestError(DIED, self._describe_end(self.process.kill_processes()))
        if self.task.mode == "run":
            self._send_output_receipt()
            self.process.wait_for_exit(GOODBYE_SECONDS)
        return self.extractor.status

    def write_vmcore(self, path: Path) -> None:
        """Write the memory of a guest that keeps running after CMD."""
        assert self.qmp
        partial = path.with_name(path.name + ".partial")
        # KASAN maps 16 TB of addresses to one page: QEMU would list them for hours.
        config = self.task.build / self.machine.name / ".config"
        paging = not config.exists() or "\nCONFIG_KASAN=y" not in config.read_text()
        try:
            QemuMonitor(self.qmp).write_vmcore(partial.resolve(), paging)
            require_kaslr_note(partial)
            partial.chmod(0o644)
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)

    def receive_kdump(self) -> None:
        """Let the guest panic, and keep what its crash kernel sends."""
        assert self.task.dump and self.process
        self._send_output_receipt()
        self.extractor = OutputExtractor(self.dump_mark)
        flattened = self.task.scratch / "flattened"
        with open(flattened, "wb") as file:
            self.forward_output(file.write)
        status = self.extractor.status
        if status is None:
            when = "while it sent the dump" if self.extractor.began else "before it sent a dump"
            self.process.wait_for_exit(GOODBYE_SECONDS)
            raise GuestError(DIED, f"the crash kernel ended {when}")
        if status:
            raise GuestError(DIED, f"makedumpfile ended with status {status} in the crash kernel")
        unflatten_dump(flattened, self.task.dump.output)
        self._send_output_receipt()

    def close(self) -> None:
        """Kill the machine if it still runs."""
        if self.process:
            self.process.kill_processes()
        if self.channel:
            self.channel.close()
        if self.qmp:
            self.qmp.close()

    def _can_print_stacks(self) -> bool:
        return bool(self.task.stall) and self.machine.kind.program == NMI_PROGRAM

    def print_stacks(self) -> None:
        """Let a kernel that hangs print the stacks of all tasks, and wait for its end."""
        if not self.qmp or not self.process or not self._can_print_stacks():
            return
        try:
            QemuMonitor(self.qmp).execute_command("inject-nmi")
        except (VmError, OSError):
            return
        self.process.wait_for_exit(NMI_SECONDS)

    def make_hang_error(self, limit: str) -> GuestError:
        """The error for a guest that did not end in time."""
        where = "CMD had not ended" if self.extractor.began \
            else "CMD had not started"
        error = self._find_console_error()
        return GuestError(HANG, f"hung: {where} {limit}"
                          + (f"; the console says: {error}" if error
                             else ""))

    def _find_console_error(self) -> str:
        text = "\n".join(read_console_lines(self.task.console))
        found = PANIC.findall(text)
        if found:
            return str(found[0])
        found = ERRORS.findall(text)
        return str(found[-1]) if found else ""

    def _describe_end(self, status: int) -> str:
        when = "while CMD ran" if self.extractor.began else "before CMD started"
        error = self._find_console_error()
        if PANIC.match(error):
            return f"the guest panicked {when}: {error}"
        errors = self.errors.read_text(errors="replace").splitlines()
        program = self.machine.kind.program or "the um kernel"
        if status:
            how = f"by {signal.Signals(-status).name}" if status < 0 \
                else f"with status {status}"
            why = f": {errors[-1]}" if errors else ""
            return f"{program} ended {how} {when}{why}"
        if error:
            return f"the guest ended {when}: {error}"
        return f"the guest rebooted or powered off {when}"


def read_console_lines(path: Path) -> List[str]:
    """The lines of a console log without terminal escape sequences."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - CONSOLE_LIMIT))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    return ESCAPES.sub("", text).splitlines()


def format_console_tail(path: Path) -> str:
    """The last lines of the console, under a headline."""
    lines = read_console_lines(path)[-TAIL_LINES:]
    if not lines:
        return "the console is empty; was SIZE of --mem too small to boot?\n"
    head = f"--- the last {len(lines)} lines of the console:"
    return "\n".join([head, *lines, ""])


def _raise_guest_hang(_signum: int, _frame: Optional[FrameType]) -> None:
    raise GuestHang


def _raise_interrupted(signum: int, _frame: Optional[FrameType]) -> None:
    raise RunnerInterrupted(signum)


def install_signal_handlers() -> None:
    """Turn the signals that end the runner into exceptions."""
    signal.signal(signal.SIGALRM, _raise_guest_hang)
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, _raise_interrupted)


def run_session(session: GuestSession, sink: Sink, seconds: float,
                after: Optional[Callable[[], None]] = None) -> int:
    """Run a guest with a time limit; returns CMD's status."""
    signal.setitimer(signal.ITIMER_REAL, 0 if session.task.stall else seconds)
    try:
        session.start_machine()
        session.forward_output(sink)
        status = session.await_command_status()
        if after:
            after()
        return status
    except GuestHang as hang:
        error = session.make_hang_error(str(hang) or f"after {seconds:g} s")
        session.print_stacks()
        raise error from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        session.close()
