#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Boot a kernel of build/ in a guest and run a command in it."""

import argparse
import os
import re
import shutil
import sys
import tempfile
import termios
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, List, NoReturn, Optional

from accel import choose_accelerator
from crash_kernel import COMPRESSIONS, PROVOKED, RESERVED, CrashDump
from debian_root import find_debian_root
from complaints import VARIABLE, find_complaints, keep_console
from image import ImageError, sum_file_sizes
from session import (DIED, HANG, NMI_PROGRAM, NMI_WORDS, GuestError, RunnerInterrupted,
                     GuestSession, GuestTask, install_signal_handlers, format_console_tail,
                     run_session)
from vm import KernelKind, GuestMachine, VmError, find_kernel_kind

TOP = Path(__file__).resolve().parents[4]
NOT_STARTED = 123
SIGPIPE_STATUS = 141
DEFAULT_SMP = 2
DEFAULT_SECONDS = 600.0
UNITS = {"": 20, "K": 10, "M": 20, "G": 30}
EPILOG = f"""\
exit status:
  CMD's own   CMD ended in the guest
  {NOT_STARTED}         the guest was not started: wrong usage, or something
              is missing on this host; the message says what
  {HANG}         the guest hung: CMD had not ended within --timeout, or nothing
              was printed for --stall
  {DIED}         the guest panicked, or ended without CMD's status
  128+N       the runner was ended by signal N
After {HANG} and {DIED} the console's last 40 lines follow on stderr.

If the kernel complained on its console (a warning, a bug, a stall, a leak), stderr has
the lines, whatever the status. Where ${VARIABLE} names a directory, each run keeps its
console there and adds these lines to the file "complaints".
"""


class UsageError(Exception):
    """The options cannot be used together; the text names the remedy."""


class GuestArgumentParser(argparse.ArgumentParser):
    """Exits with the status NOT_STARTED on wrong usage."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(NOT_STARTED, f"guest: {message}\n")


def parse_positive(text: str) -> int:
    """A whole number from 1 up."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: not a whole number "
                                         "from 1 up")
    return int(text)


def parse_seconds(text: str) -> float:
    """A number of seconds above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r}: not a number of seconds "
                                         "above 0")
    return value


def parse_regular_expression(text: str) -> str:
    """A regular expression that compiles."""
    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r}: not a regular expression: "
                                         f"{error}") from error
    return text


def parse_memory_size(text: str) -> int:
    """The number of bytes of a size such as 512M."""
    found = re.fullmatch(r"(\d+)([KMG]?)", text.upper())
    if not found:
        raise UsageError(f"--mem {text}: not a size such as 512M or 2G")
    return int(found[1]) << UNITS[found[2]]


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of all commands."""
    parser.add_argument("name", metavar="KERNEL",
                        help="the kernel to boot: a directory of BUILD")
    parser.add_argument("--append", default="", metavar="WORDS",
                        help="more words for the kernel command line")
    parser.add_argument("--smp", type=parse_positive, metavar="N",
                        help=f"processors (default {DEFAULT_SMP}; um has 1)")
    parser.add_argument("--mem", default="512M", metavar="SIZE",
                        help="memory (default %(default)s)")
    parser.add_argument("--extra", default="", metavar="DIR",
                        help="a directory that the guest has at /extra")
    parser.add_argument("--packages", metavar="WORDS",
                        help="make Debian 13 with these packages the guest's root; "
                        "the kernels debian* have that root without the option, too")
    parser.add_argument("--accel", choices=("auto", "kvm", "tcg"),
                        default="auto",
                        help="auto (default): KVM where it really works")
    parser.add_argument("--build", default=str(TOP / "build"), metavar="DIR",
                        help="where the kernels are (default: build/)")
    parser.add_argument("--verbose", action="store_true",
                        help="print the accelerator and the boot time")


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the commands that run CMD."""
    parser.add_argument("--cmd", required=True, metavar="CMD",
                        help="what the guest's shell runs")
    parser.add_argument("--timeout", type=parse_seconds, default=DEFAULT_SECONDS,
                        metavar="S", help="the limit from start to end "
                        "(default %(default)g s)")
    parser.add_argument("--stall", type=parse_seconds, default=0.0, metavar="S",
                        help="instead of --timeout: the limit without any output of CMD and "
                        "the kernel; an x86_64 kernel then prints the stacks of all tasks")
    parser.add_argument("--console", default="", metavar="FILE",
                        help="write the kernel's console to FILE")
    parser.add_argument("--provokes", type=parse_regular_expression, default="",
                        metavar="REGEX", help="complaints of the kernel that CMD provokes on "
                        "purpose: those whose line matches are not reported")
    parser.add_argument("--gdb", default="", metavar="SOCKET",
                        help="a socket at which gdb can attach: target remote SOCKET")
    parser.add_argument("--icount", action="store_true",
                        help="count instructions: TCG, and the TSC advances by one for "
                        "each instruction; processors take turns (default: one)")
    parser.add_argument("--plugin", default="", metavar="FILE,NAME=VALUE",
                        help="a plugin of TCG and its arguments; needs --icount")


def parse_command_line(words: Optional[List[str]]) -> argparse.Namespace:
    """Parse the command line."""
    parser = GuestArgumentParser(prog="guest.py", description=__doc__, epilog=EPILOG,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True,
                                     parser_class=GuestArgumentParser)
    run = commands.add_parser("run", help="run CMD, end with its status")
    shell = commands.add_parser("shell", help="a prompt in a guest")
    vmcore = commands.add_parser(
        "vmcore", help="run CMD, then write the guest's memory to a file")
    kdump = commands.add_parser(
        "kdump", help="run CMD, then panic; a crash kernel saves the memory")
    for command in (run, shell, vmcore, kdump):
        add_common_options(command)
    for command in (run, shell):
        command.add_argument("--systemd", action="store_true",
                             help="systemd of the guest's Debian root is the first process")
    for command in (run, vmcore, kdump):
        add_run_options(command)
    vmcore.add_argument("--output", default="", metavar="FILE",
                        help="the ELF core file (default: BUILD/vmcore)")
    kdump.add_argument("--output", default="", metavar="FILE",
                       help="makedumpfile's file (default: BUILD/kdump)")
    kdump.add_argument("--level", type=int, choices=range(32), default=31, metavar="N",
                       help="makedumpfile's dump level, from 0 to 31 (default %(default)s)")
    kdump.add_argument("--compress", choices=COMPRESSIONS, default="lzo",
                       help="how makedumpfile compresses pages (default %(default)s)")
    return parser.parse_args(words)


def print_note(text: str) -> None:
    """Print a message to the user."""
    print(f"guest: {text}", file=sys.stderr, flush=True)


def refuse_kernel_without_ext4(args: argparse.Namespace, kind: KernelKind) -> None:
    """Refuse options for which Debian's root is a disk that this kernel cannot mount."""
    option = "--systemd" if getattr(args, "systemd", False) else "--packages"
    if option == "--packages" and args.packages is None:
        return
    config = Path(args.build) / args.name / ".config"
    ext4 = not config.exists() or "\nCONFIG_EXT4_FS=y\n" in config.read_text()
    if not kind.program or not ext4:
        raise UsageError(f"{args.name}: {option} needs a kernel for QEMU that has ext4: "
                         "K=debian or debian-vanilla")


def refuse_unsupported_options(args: argparse.Namespace, kind: KernelKind) -> None:
    """Refuse options that this kind of kernel does not support."""
    memory = parse_memory_size(args.mem)
    if args.command in ("vmcore", "kdump") and kind.program != "qemu-system-x86_64":
        raise UsageError(f"{args.name}: a {args.command} is taken of an x86_64 guest "
                         "only: K=x86_64, debug, rt, vanilla or profiling")
    if args.command == "shell" and not os.isatty(0):
        raise UsageError("a shell needs a terminal on stdin; without one, "
                         "give the commands to: guest.py run --cmd")
    if not kind.program and getattr(args, "icount", False):
        raise UsageError(f"{args.name}: --icount needs a kernel for QEMU")
    if getattr(args, "plugin", "") and not args.icount:
        raise UsageError("--plugin needs --icount, because KVM has no plugins")
    if not kind.program and (args.smp or 1) > DEFAULT_SMP:
        print_note(f"{args.name} has one processor; --smp {args.smp} is ignored")
    refuse_kernel_without_ext4(args, kind)
    if args.extra and not Path(args.extra).is_dir():
        raise UsageError(f"--extra {args.extra}: not a directory")
    size = sum_file_sizes(Path(args.extra)) if args.extra else 0
    if size * 5 > memory * 2:
        raise UsageError(f"--extra {args.extra} holds {size >> 20} MB, which "
                         f"a guest of {args.mem} cannot unpack; give it "
                         f"--mem {(size * 3 >> 20) + 256}M")


def make_guest_machine(args: argparse.Namespace, kind: KernelKind,
                       scratch: Path) -> GuestMachine:
    """The machine that the options describe."""
    build = Path(args.build)
    icount = getattr(args, "icount", False)
    machine = GuestMachine(args.name, kind,
                           (build / args.name / kind.image).resolve(),
                           scratch / "initrd", args.append,
                           args.smp or (1 if icount else DEFAULT_SMP), args.mem, icount,
                           gdb=getattr(args, "gdb", ""), plugin=getattr(args, "plugin", ""))
    machine.systemd = getattr(args, "systemd", False)
    if machine.systemd or args.packages is not None or args.name.startswith("debian"):
        packages = (args.packages or "").split()
        # Without udev, systemd waits for devices in vain.
        packages += ["systemd-sysv", "udev"] if machine.systemd else []
        machine.disk = str(find_debian_root(build, packages))
    if args.accel == "auto":
        machine.accel, why = choose_accelerator(machine, build)
        if why:
            print_note(f"KVM was tried once on this machine: {machine.accel} from "
                       "now on; build/.accel says why")
    else:
        machine.accel = args.accel
    return machine


@contextmanager
def make_scratch_directory() -> Iterator[Path]:
    """A private directory, removed afterwards."""
    path = Path(tempfile.mkdtemp(prefix="guest-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def write_to_stdout(data: bytes) -> None:
    """Write all data to stdout."""
    view = memoryview(data)
    while view:
        view = view[os.write(1, view):]


def report_complaints(args: argparse.Namespace, console: Path) -> None:
    """Print what the kernel complained of, and keep the console for a test's caller."""
    complaints = find_complaints(console, args.provokes)
    for line in complaints:
        print_note(f"the kernel complained: {line}")
    keep_console(console, args.name, complaints)


def run_guest_command(args: argparse.Namespace, machine: GuestMachine, scratch: Path) -> int:
    """Run CMD, then save the guest's memory for the commands vmcore and kdump."""
    console = Path(args.console) if args.console else scratch / "console"
    task = GuestTask(args.cmd, Path(args.build), scratch, console.resolve(), args.extra,
                     stall=args.stall)
    output = Path(getattr(args, "output", "") or Path(args.build) / args.command)
    if args.command == "vmcore":
        task.mode = "hold"
    if args.command == "kdump":
        task.mode = "kdump"
        task.dump = CrashDump(output, args.level, args.compress)
        machine.append = f"{RESERVED} {machine.append}"
        args.provokes = "|".join(filter(None, (PROVOKED, args.provokes)))
    if args.stall and machine.kind.program == NMI_PROGRAM:
        machine.append += " " + NMI_WORDS
    session = GuestSession(machine, task)
    after = {"vmcore": lambda: session.write_vmcore(output),
             "kdump": session.receive_kdump}.get(args.command)
    try:
        status = run_session(session, write_to_stdout, args.timeout, after)
    except GuestError as error:
        print_note(str(error))
        sys.stderr.write(format_console_tail(console))
        status = error.status
    finally:
        # A test may end the runner of a guest that waits.
        if console.exists():
            report_complaints(args, console)
    if args.verbose and session.boot_seconds:
        print_note(f"{machine.accel}: CMD began {session.boot_seconds:.2f} s "
                   "after the start")
    return status


@contextmanager
def keep_terminal_settings() -> Iterator[None]:
    """Restore the terminal's settings after a machine has used it."""
    saved = [(fd, termios.tcgetattr(fd)) for fd in (0, 1) if os.isatty(fd)]
    try:
        yield
    finally:
        for fd in (0, 1, 2):
            os.set_blocking(fd, True)
        for fd, state in saved:
            termios.tcsetattr(fd, termios.TCSADRAIN, state)


def read_terminal_size() -> str:
    """Rows and columns of the terminal; empty without a terminal."""
    if not os.isatty(1):
        return ""
    size = os.get_terminal_size(1)
    return f"{size.lines} {size.columns}" if size.lines else ""


def run_guest_shell(args: argparse.Namespace, machine: GuestMachine, scratch: Path) -> int:
    """A prompt on the terminal."""
    task = GuestTask("", Path(args.build), scratch, scratch / "console",
                     args.extra, "shell", read_terminal_size())
    session = GuestSession(machine, task)
    ways = "exit, or Ctrl-A x" if machine.kind.program else "exit"
    print_note(f"a shell in a guest of {args.name}; to leave it: {ways}")
    try:
        with keep_terminal_settings():
            status = session.run_machine_on_terminal()
    finally:
        session.close()
    return DIED if status else 0


COMMANDS = {"run": run_guest_command, "vmcore": run_guest_command,
            "kdump": run_guest_command, "shell": run_guest_shell}


def run_command_reporting_errors(args: argparse.Namespace) -> int:
    """Run the command; turn errors into messages and statuses."""
    try:
        kind = find_kernel_kind(Path(args.build) / args.name, args.name)
        refuse_unsupported_options(args, kind)
        with make_scratch_directory() as scratch:
            machine = make_guest_machine(args, kind, scratch)
            return COMMANDS[args.command](args, machine, scratch)
    except (UsageError, VmError, ImageError) as error:
        print_note(str(error))
        return NOT_STARTED
    except RunnerInterrupted as error:
        print_note(f"ended by {error}")
        return 128 + error.signum
    except BrokenPipeError:
        return SIGPIPE_STATUS
    except OSError as error:
        print_note(f"{error.filename}: {error.strerror}" if error.filename
                   else str(error))
        return NOT_STARTED


def main() -> int:
    """The program."""
    args = parse_command_line(None)
    install_signal_handlers()
    return run_command_reporting_errors(args)


if __name__ == "__main__":
    sys.exit(main())
