# SPDX-License-Identifier: GPL-2.0
"""The machines of guests: command lines, processes, QEMU's monitor."""

import ctypes
import json
import os
import re
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, IO, List, Optional, Tuple, Union

PORT = "owner.out"
PR_SET_PDEATHSIG = 1
PT_NOTE = 4
# Before a dump: how many times to check that all processors are idle, and the pause.
QUIET_TRIES = 100
QUIET_SECONDS = 0.02
LIBC = ctypes.CDLL(None)

Stream = Union[int, IO[Any], None]


class VmError(Exception):
    """The machine cannot be set up; the text names the remedy."""


@dataclass
class KernelKind:
    """The image and the machine of one kind of kernel."""
    arch: str
    image: str
    console: str
    channel: str
    program: str
    machine: List[str] = field(default_factory=list)
    words: str = ""
    ports: str = "virtio-serial-pci"


# For TCG: "max" has all features of the emulator. A fifth page table level slows
# page walks. Pointer authentication with the architected cipher would take most
# of an emulated arm64's time.
#
# A kernel without ACPI needs the address of QEMU's firmware interface, through
# which it passes the VMCOREINFO note to a dump.
#
# While the host is busy, timer interrupts arrive late: the kernel panics because the timer
# does not work, unless told not to check it. When the kernel changes its clock, it counts all
# ticks that it missed at once, and RCU would report a stall: RCU's limit is 300 s, the largest.
#
# No x86 device has a BAR in memory. QEMU 7.2 runs each processor in a thread: while one
# processor probes a BAR in memory, another one's access to its APIC can go to a wrong device.
# QEMU died, or an interrupt was lost and the guest hung. The machine "q35" has a device with
# a BAR in memory.
KINDS = (
    KernelKind("x86_64", "arch/x86/boot/bzImage", "ttyS0", PORT,
               "qemu-system-x86_64", ["-machine", "pc", "-cpu", "max,la57=off"],
               "qemu_fw_cfg.ioport=12@0x510:0:1:4 no_timer_check",
               ports="virtio-serial-pci,disable-modern=on,vectors=0"),
    KernelKind("arm64", "arch/arm64/boot/Image", "ttyAMA0", PORT,
               "qemu-system-aarch64",
               ["-machine", "virt", "-cpu", "max,pauth-impdef=on"]),
    KernelKind("s390x", "arch/s390/boot/bzImage", "ttysclp0", PORT,
               "qemu-system-s390x", ["-machine", "s390-ccw-virtio", "-cpu", "max"],
               ports="virtio-serial-ccw"),
    KernelKind("x86_64", "linux", "tty0", "ttyS0", ""),
)
# Words on every kernel's command line.
COMMON_WORDS = ["panic=-1", "rcupdate.rcu_cpu_stall_timeout=300"]
KVM_MACHINE = ["-machine", "pc", "-cpu", "host"]


@dataclass
class GuestMachine:
    """One guest to be started."""
    name: str
    kind: KernelKind
    kernel: Path
    initrd: Path
    append: str = ""
    smp: int = 2
    mem: str = "512M"
    icount: bool = False
    accel: str = "tcg"
    gdb: str = ""
    # A plugin of TCG and its arguments, or "".
    plugin: str = ""
    # An ext4 image whose files the guest has as its root, or "".
    disk: str = ""
    # systemd is the first process, from that disk.
    systemd: bool = False


def find_kernel_kind(directory: Path, name: str) -> KernelKind:
    """The kind of kernel whose image is in the directory."""
    for kind in KINDS:
        if (directory / kind.image).exists():
            return kind
    looked = ", ".join(kind.image for kind in KINDS)
    raise VmError(f"no kernel image in {directory} (looked for {looked}); "
                  f"build it first: make kernel K={name}")


def _compose_kernel_command_line(machine: GuestMachine) -> str:
    words = [*COMMON_WORDS, f"console={machine.kind.console}", machine.kind.words,
             machine.append]
    return " ".join(word for word in words if word)


def compose_crash_command_line(machine: GuestMachine) -> str:
    """The command line of a crash kernel, which runs on one processor in little memory."""
    words = [*COMMON_WORDS, f"console={machine.kind.console}", "no_timer_check", "nr_cpus=1",
             "reset_devices", "slab_owner=off"]
    return " ".join(words)


def _qemu_accel_options(machine: GuestMachine) -> List[str]:
    # A kernel without ACPI finds only one processor per socket.
    processors = ["-smp", f"{machine.smp},sockets={machine.smp},cores=1,threads=1"]
    if machine.icount:
        return ["-accel", "tcg", "-icount", "shift=0,sleep=off", *processors]
    accel = "kvm" if machine.accel == "kvm" else "tcg,thread=multi"
    return ["-accel", accel, *processors]


def _qemu_disk_options(machine: GuestMachine) -> List[str]:
    """The disk; what the guest writes to it is in a temporary file."""
    if not machine.disk:
        return []
    return ["-drive", f"file={machine.disk},format=raw,if=none,id=root,snapshot=on",
            "-device", "virtio-blk-pci,disable-modern=on,vectors=0,drive=root"]


def _qemu_memory_options(machine: GuestMachine) -> List[str]:
    """The memory. The host need not have what a large guest does not touch."""
    options = ["-m", machine.mem]
    if re.fullmatch(r"\d{2,}[gG]", machine.mem):
        options += ["-object", f"memory-backend-ram,id=ram,size={machine.mem},reserve=off",
                    "-machine", "memory-backend=ram"]
    return options


def qemu_command_line(machine: GuestMachine) -> List[str]:
    """QEMU's command line, without the serial console and the channels."""
    kvm = machine.accel == "kvm" and not machine.icount
    return [machine.kind.program, "-nodefaults", "-no-user-config",
            "-no-reboot", "-display", "none", "-nic", "none",
            *(KVM_MACHINE if kvm else machine.kind.machine),
            *_qemu_accel_options(machine), *_qemu_memory_options(machine),
            "-kernel", str(machine.kernel), "-initrd", str(machine.initrd),
            "-append", _compose_kernel_command_line(machine),
            *_qemu_disk_options(machine),
            *(["-plugin", machine.plugin] if machine.plugin else []),
            *(["-gdb", f"unix:{machine.gdb},server=on,wait=off"] if machine.gdb else [])]


def qemu_channel_options(kind: KernelKind, fd: int) -> List[str]:
    """A virtio port connected to the socket fd."""
    return ["-device", kind.ports,
            "-chardev", f"socket,id=out,fd={fd}",
            "-device", f"virtserialport,chardev=out,name={PORT}"]


def qemu_monitor_options(fd: int) -> List[str]:
    """QEMU's monitor on the socket fd, and the note a dump needs."""
    return ["-device", "vmcoreinfo", "-chardev", f"socket,id=qmp,fd={fd}",
            "-mon", "chardev=qmp,mode=control"]


def _build_um_shim(kernel: Path, scratch: Path) -> Path:
    """The library of um_xstate.c, built once for a kernel."""
    source = Path(__file__).with_name("um_xstate.c")
    shim = kernel.with_name("um_xstate.so")
    if not shim.exists() or shim.stat().st_mtime < source.stat().st_mtime:
        built = scratch / shim.name
        subprocess.run(["gcc", "-O2", "-Wall", "-shared", "-fPIC", "-o", built, source],
                       check=True)
        os.replace(shutil.move(built, shim.with_name(f"{shim.name}.{os.getpid()}")), shim)
    return shim


def um_command_line(machine: GuestMachine, uml_dir: Path) -> List[str]:
    """User-mode Linux's command line, without its channel."""
    shim = _build_um_shim(machine.kernel, uml_dir)
    return ["env", f"LD_PRELOAD={shim}", str(machine.kernel), f"mem={machine.mem}", "noreboot",
            f"initrd={machine.initrd}", f"uml_dir={uml_dir}", "umid=guest",
            "con0=fd:0,fd:1", "con=null", *_compose_kernel_command_line(machine).split()]


def um_channel_options(fd: int) -> List[str]:
    """A serial line connected to the socket fd."""
    return [f"ssl0=fd:{fd}", "ssl=null"]


def _make_child_die_with_runner() -> None:
    """Let the machine die with the runner, without a core file."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _list_session_processes(session: int) -> List[int]:
    """The processes of a session."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            if os.getsid(int(entry)) == session:
                found.append(int(entry))
        except (ProcessLookupError, PermissionError):
            pass
    return found


class MachineProcess:
    """A running machine: a process in its own session."""

    def __init__(self, command: List[str], streams: Tuple[Stream, ...],
                 fds: List[int]) -> None:
        stdin, stdout, stderr = streams
        try:
            # pylint: disable=subprocess-popen-preexec-fn
            self.popen = subprocess.Popen(
                command, stdin=stdin, stdout=stdout, stderr=stderr,
                pass_fds=fds, start_new_session=True, preexec_fn=_make_child_die_with_runner)
        except FileNotFoundError as error:
            raise VmError(f"{command[0]}: not found; it is in the Debian "
                          "packages qemu-system-x86, qemu-system-arm "
                          "and qemu-system-misc") from error
        except OSError as error:
            raise VmError(f"{command[0]}: {error.strerror}") from error
        self.pidfd = os.pidfd_open(self.popen.pid)

    def wait_for_exit(self, seconds: float) -> bool:
        """Wait for the end; True if it ended in time."""
        return bool(select.select([self.pidfd], [], [], seconds)[0])

    def kill_processes(self) -> int:
        """Kill the session's processes, and return the exit status."""
        if self.popen.returncode is None:
            # The session id cannot be reused before wait() below reaps the process.
            for pid in _list_session_processes(self.popen.pid):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        status = self.popen.wait()
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1
        return status


class QemuMonitor:
    """Speaks QMP over a connected socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.file = sock.makefile("rw")
        self._read_qemu_answer("greeting")
        self.execute_command("qmp_capabilities")

    def _read_qemu_answer(self, what: str) -> Dict[str, Any]:
        for line in self.file:
            message: Dict[str, Any] = json.loads(line)
            if "error" in message:
                raise VmError(f"QEMU refused {what}: "
                              f"{message['error']['desc']}")
            if "return" in message or "QMP" in message:
                return message
        raise VmError(f"QEMU ended before it answered {what}")

    def execute_command(self, what: str,
                        arguments: Optional[Dict[str, Any]] = None) -> Any:
        """Run one command, wait for its end, and return its answer."""
        self.file.write(json.dumps({"execute": what,
                                    "arguments": arguments or {}}))
        self.file.flush()
        return self._read_qemu_answer(what).get("return")

    def _stop_idle_guest(self) -> None:
        """Stop the guest at a moment when all processors are idle.

        No allocation is half done then. If the processors stay busy, stop anyway.
        """
        for _ in range(QUIET_TRIES):
            self.execute_command("stop")
            registers = self.execute_command("human-monitor-command",
                                             {"command-line": "info registers -a"})
            if "HLT=0" not in registers:
                return
            self.execute_command("cont")
            time.sleep(QUIET_SECONDS)
        self.execute_command("stop")

    def write_vmcore(self, path: Path, paging: bool) -> None:
        """Stop the guest and write its memory as an ELF core file.

        With paging, the file has the kernel's virtual addresses. gdb needs them, because it
        does not walk page tables.
        """
        self._stop_idle_guest()
        self.execute_command("dump-guest-memory",
                             {"paging": paging, "protocol": f"file:{path}"})


def require_kaslr_note(path: Path) -> None:
    """Refuse a core file without the note from which readers get the KASLR offset."""
    with open(path, "rb") as file:
        file.seek(struct.unpack_from("<Q", file.read(64), 32)[0])
        kind, _, offset, _, _, size = struct.unpack("<IIQQQQ", file.read(40))
        file.seek(offset)
        notes = file.read(size)
    if kind != PT_NOTE or b"\nKERNELOFFSET=" not in notes:
        raise VmError("the dump has no VMCOREINFO note: the kernel needs "
                      "CONFIG_FW_CFG_SYSFS and CONFIG_VMCORE_INFO")
