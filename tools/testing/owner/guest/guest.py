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

from accel import choose
from image import ImageError, tree_size
from session import (DIED, HANG, GuestError, Interrupted, Session, Task,
                     catch_signals, console_tail, run_session)
from vm import Kind, Machine, VmError, find_kind

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
  {HANG}         the guest hung: CMD had not ended within --timeout
  {DIED}         the guest panicked, or ended without CMD's status
  128+N       the runner was ended by signal N
After {HANG} and {DIED} the console's last 40 lines follow on stderr.
"""


class UsageError(Exception):
    """The options cannot be used together; the text names the remedy."""


class Parser(argparse.ArgumentParser):
    """Exits with the status NOT_STARTED on wrong usage."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(NOT_STARTED, f"guest: {message}\n")


def positive(text: str) -> int:
    """A whole number from 1 up."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: not a whole number "
                                         "from 1 up")
    return int(text)


def seconds(text: str) -> float:
    """A number of seconds above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r}: not a number of seconds "
                                         "above 0")
    return value


def mem_bytes(text: str) -> int:
    """The number of bytes of a size such as 512M."""
    found = re.fullmatch(r"(\d+)([KMG]?)", text.upper())
    if not found:
        raise UsageError(f"--mem {text}: not a size such as 512M or 2G")
    return int(found[1]) << UNITS[found[2]]


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the options of all commands."""
    parser.add_argument("name", metavar="KERNEL",
                        help="the kernel to boot: a directory of BUILD")
    parser.add_argument("--append", default="", metavar="WORDS",
                        help="more words for the kernel command line")
    parser.add_argument("--smp", type=positive, metavar="N",
                        help=f"processors (default {DEFAULT_SMP}; um has 1)")
    parser.add_argument("--mem", default="512M", metavar="SIZE",
                        help="memory (default %(default)s)")
    parser.add_argument("--extra", default="", metavar="DIR",
                        help="a directory that the guest has at /extra")
    parser.add_argument("--accel", choices=("auto", "kvm", "tcg"),
                        default="auto",
                        help="auto (default): KVM where it really works")
    parser.add_argument("--build", default=str(TOP / "build"), metavar="DIR",
                        help="where the kernels are (default: build/)")
    parser.add_argument("--verbose", action="store_true",
                        help="print the accelerator and the boot time")


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the options of the commands that run CMD."""
    parser.add_argument("--cmd", required=True, metavar="CMD",
                        help="what the guest's shell runs")
    parser.add_argument("--timeout", type=seconds, default=DEFAULT_SECONDS,
                        metavar="S", help="the limit from start to end "
                        "(default %(default)g s)")
    parser.add_argument("--console", default="", metavar="FILE",
                        help="write the kernel's console to FILE")
    parser.add_argument("--icount", action="store_true",
                        help="count instructions: one processor, TCG, and "
                        "its TSC advances by one for each instruction")


def parse(words: Optional[List[str]]) -> argparse.Namespace:
    """Parse the command line."""
    parser = Parser(prog="guest.py", description=__doc__, epilog=EPILOG,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True,
                                     parser_class=Parser)
    run = commands.add_parser("run", help="run CMD, end with its status")
    shell = commands.add_parser("shell", help="a prompt in a guest")
    vmcore = commands.add_parser(
        "vmcore", help="run CMD, then write the guest's memory to a file")
    for command in (run, shell, vmcore):
        add_common(command)
    for command in (run, vmcore):
        add_run(command)
    vmcore.add_argument("--output", default="", metavar="FILE",
                        help="the ELF core file (default: BUILD/vmcore)")
    return parser.parse_args(words)


def note(text: str) -> None:
    """Print a message to the user."""
    print(f"guest: {text}", file=sys.stderr, flush=True)


def check(args: argparse.Namespace, kind: Kind) -> None:
    """Refuse options that this kind of kernel does not support."""
    memory = mem_bytes(args.mem)
    if args.command == "vmcore" and kind.program != "qemu-system-x86_64":
        raise UsageError(f"{args.name}: a vmcore is taken of an x86_64 guest "
                         "only: K=x86_64, debug, rt, vanilla or profiling")
    if args.command == "shell" and not os.isatty(0):
        raise UsageError("a shell needs a terminal on stdin; without one, "
                         "give the commands to: guest.py run --cmd")
    if not kind.program and getattr(args, "icount", False):
        raise UsageError(f"{args.name}: --icount needs a kernel for QEMU")
    if not kind.program and (args.smp or 1) > DEFAULT_SMP:
        note(f"{args.name} has one processor; --smp {args.smp} is ignored")
    if args.extra and not Path(args.extra).is_dir():
        raise UsageError(f"--extra {args.extra}: not a directory")
    size = tree_size(Path(args.extra)) if args.extra else 0
    if size * 5 > memory * 2:
        raise UsageError(f"--extra {args.extra} holds {size >> 20} MB, which "
                         f"a guest of {args.mem} cannot unpack; give it "
                         f"--mem {(size * 3 >> 20) + 256}M")


def make_machine(args: argparse.Namespace, kind: Kind,
                 scratch: Path) -> Machine:
    """The machine that the options describe."""
    build = Path(args.build)
    machine = Machine(args.name, kind,
                      (build / args.name / kind.image).resolve(),
                      scratch / "initrd", args.append,
                      args.smp or DEFAULT_SMP, args.mem,
                      getattr(args, "icount", False))
    if args.accel == "auto":
        machine.accel, why = choose(machine, build)
        if why:
            note(f"KVM was tried once on this machine: {machine.accel} from "
                 "now on; build/.accel says why")
    else:
        machine.accel = args.accel
    return machine


@contextmanager
def scratch_directory() -> Iterator[Path]:
    """A private directory, removed afterwards."""
    path = Path(tempfile.mkdtemp(prefix="guest-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def to_stdout(data: bytes) -> None:
    """Write all data to stdout."""
    view = memoryview(data)
    while view:
        view = view[os.write(1, view):]


def run(args: argparse.Namespace, machine: Machine, scratch: Path) -> int:
    """Run CMD, then dump the guest's memory for the command vmcore."""
    console = Path(args.console) if args.console else scratch / "console"
    taken = args.command == "vmcore"
    task = Task(args.cmd, Path(args.build), scratch, console.resolve(),
                args.extra, "hold" if taken else "run")
    session = Session(machine, task)
    output = Path(getattr(args, "output", "") or Path(args.build) / "vmcore")
    after = (lambda: session.dump(output)) if taken else None
    try:
        status = run_session(session, to_stdout, args.timeout, after)
    except GuestError as error:
        note(str(error))
        sys.stderr.write(console_tail(console))
        return error.status
    if args.verbose:
        note(f"{machine.accel}: CMD began {session.boot_seconds:.2f} s "
             "after the start")
    return status


@contextmanager
def terminal_kept() -> Iterator[None]:
    """Restore the terminal's settings after a machine has used it."""
    saved = [(fd, termios.tcgetattr(fd)) for fd in (0, 1) if os.isatty(fd)]
    try:
        yield
    finally:
        for fd in (0, 1, 2):
            os.set_blocking(fd, True)
        for fd, state in saved:
            termios.tcsetattr(fd, termios.TCSADRAIN, state)


def terminal_size() -> str:
    """Rows and columns of the terminal; empty without a terminal."""
    if not os.isatty(1):
        return ""
    size = os.get_terminal_size(1)
    return f"{size.lines} {size.columns}" if size.lines else ""


def shell(args: argparse.Namespace, machine: Machine, scratch: Path) -> int:
    """A prompt on the terminal."""
    task = Task("", Path(args.build), scratch, scratch / "console",
                args.extra, "shell", terminal_size())
    session = Session(machine, task)
    ways = "exit, or Ctrl-A x" if machine.kind.program else "exit"
    note(f"a shell in a guest of {args.name}; to leave it: {ways}")
    try:
        with terminal_kept():
            status = session.interact()
    finally:
        session.close()
    return DIED if status else 0


COMMANDS = {"run": run, "vmcore": run, "shell": shell}


def guarded(args: argparse.Namespace) -> int:
    """Run the command; turn errors into messages and statuses."""
    try:
        kind = find_kind(Path(args.build) / args.name, args.name)
        check(args, kind)
        with scratch_directory() as scratch:
            machine = make_machine(args, kind, scratch)
            return COMMANDS[args.command](args, machine, scratch)
    except (UsageError, VmError, ImageError) as error:
        note(str(error))
        return NOT_STARTED
    except Interrupted as error:
        note(f"ended by {error}")
        return 128 + error.signum
    except BrokenPipeError:
        return SIGPIPE_STATUS
    except OSError as error:
        note(f"{error.filename}: {error.strerror}" if error.filename
             else str(error))
        return NOT_STARTED


def main() -> int:
    """The program."""
    args = parse(None)
    catch_signals()
    return guarded(args)


if __name__ == "__main__":
    sys.exit(main())
