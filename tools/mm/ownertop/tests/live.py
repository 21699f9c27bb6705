#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test --live in a terminal: press keys and check the screen.

The terminal is tmux. A shell runs ownertop in it, so that the state of the terminal
after ownertop exits can be checked as well.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from stand_in import StandIn

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 10.0
RUNNING = r"by bytes; b h o sort"


class Terminal:
    """A separate tmux server with one window."""

    def __init__(self, directory):
        self.socket = os.path.join(directory, "tmux")
        environment = {"PS1": "$ ", "LC_ALL": "C.UTF-8", "TERM": "xterm",
                       "PATH": os.environ["PATH"]}
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "20",
                  "env", "-i", *(f"{k}={v}" for k, v in environment.items()),
                  "bash", "--norc", "--noprofile")

    def tmux(self, *words):
        """Run a tmux command and return what it prints."""
        return subprocess.run(["tmux", "-S", self.socket, *words], check=True,
                              capture_output=True, text=True).stdout

    def keys(self, *keys):
        """Press keys, by their tmux names."""
        self.tmux("send-keys", *keys)

    def line(self, text):
        """Type a line."""
        self.tmux("send-keys", "-l", text)
        self.keys("Enter")

    def screen(self):
        """Return the lines of the screen."""
        return self.tmux("capture-pane", "-p").split("\n")

    def wait_until(self, condition, what):
        """Wait until the condition holds for the screen."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            screen = self.screen()
            if condition(screen):
                return screen
            time.sleep(0.05)
        raise AssertionError(f"no {what} on the screen:\n" + "\n".join(screen))

    def wait_for(self, pattern):
        """Wait until a line of the screen matches."""
        return self.wait_until(lambda screen: any(re.search(pattern, line) for line in screen),
                               repr(pattern))

    def size(self, columns, rows):
        """Change the size of the window."""
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def close(self):
        """Stop the server."""
        self.tmux("kill-server")


def expect(condition, what, screen):
    """Fail with the screen if the condition does not hold."""
    if not condition:
        raise AssertionError(what + ":\n" + "\n".join(screen))


def ranks(screen):
    """Return rank, bytes and cache of the rows of the table."""
    rows = (re.match(r" +(\d+) +(\S+) .* (\S+)$", line) for line in screen)
    return [row.groups() for row in rows if row]


class Session:
    """ownertop in a terminal. It reads a file that the test can change."""

    def __init__(self, ownertop, directory):
        self.ownertop = ownertop
        self.dump = os.path.join(directory, "dump")
        self.original = os.path.join(HERE, "input/slab.txt")
        shutil.copy(self.original, self.dump)
        self.command = shlex.join([ownertop, "--page-size", "4096", "--live=0.2",
                                   "-d", "2", self.dump])
        self.terminal = Terminal(directory)
        self.marks = 0
        self.terminal.line("stty -g > modes")
        self.mark()

    def mark(self):
        """Overwrite the screen with a marker, and wait until ownertop draws it again."""
        self.marks += 1
        self.terminal.line(f"clear; echo before {self.marks}")
        self.terminal.wait_for(f"^before {self.marks}$")

    def start(self):
        """Run it and wait for the first screen."""
        self.terminal.line(self.command + "; echo ended $?")
        return self.terminal.wait_for(RUNNING)

    def ended(self, status):
        """Check the exit status, and that the terminal is restored."""
        screen = self.terminal.wait_for(f"^ended {status}$")
        self.same_terminal()
        expect(f"before {self.marks}" in screen, "the old screen is not back", screen)
        self.mark()

    def same_terminal(self):
        """Check that the modes of the terminal are restored."""
        self.terminal.line("stty -g | cmp - modes && echo same modes")
        self.terminal.wait_for("^same modes")

    def replace(self, source):
        """Replace the dump atomically, so that ownertop never reads a part of it."""
        shutil.copy(source, self.dump + ".new")
        os.rename(self.dump + ".new", self.dump)


def sort_keys(session):
    """The keys b, h and o sort the rows."""
    term = session.terminal
    expect(ranks(session.start())[0][2] == "ext4_inode_cache", "bytes", term.screen())
    term.keys("o")
    screen = term.wait_for("by objects;")
    expect(ranks(screen)[0][2] == "kmalloc-256", "objects", screen)
    term.keys("h")
    screen = term.wait_for("by held;")
    expect(ranks(screen)[0][2] == "ext4_inode_cache", "held", screen)
    term.keys("q")
    session.ended(0)


def has_frames(number):
    """Does the first group have this many frames, and is the total on the screen?"""
    def condition(screen):
        rows = [n for n, line in enumerate(screen) if re.match(" +[12] ", line)]
        return len(rows) == 2 and rows[1] - rows[0] - 1 == number and \
            any(line.startswith("total") for line in screen)
    return condition


def depth(session):
    """The keys + and - change the depth; the number of groups is adapted."""
    term = session.terminal
    session.start()
    term.wait_until(has_frames(2), "two frames")
    wanted = 2
    for key, change in (("+", 1), ("+", 1), ("-", -1), ("-", -1), ("-", -1), ("-", 0)):
        term.keys(key)
        wanted += change
        screen = term.wait_until(has_frames(wanted), f"{wanted} frames")
    expect(len(ranks(screen)) >= 6, "more would fit", screen)
    term.keys("q")
    session.ended(0)


def all_frames(session):
    """The total is shown with call chains of any length."""
    term = session.terminal
    term.line(session.command.replace("-d 2", "-d 0") + "; echo ended $?")
    screen = term.wait_until(has_frames(6), "all frames")
    expect(len(ranks(screen)) == 2, "two fit", screen)
    term.keys("-")
    term.wait_until(has_frames(4), "4 frames")
    term.keys("q")
    session.ended(0)


def pause(session):
    """The key p pauses updates, and p continues them."""
    term = session.terminal
    session.start()
    term.wait_for("^total +3.9K")
    term.keys("p")
    term.wait_for("PAUSED")
    session.replace(os.path.join(HERE, "input/slab.gz"))
    with open(session.dump, "ab") as dump, open(session.original, "rb") as more:
        dump.write(subprocess.run(["gzip", "-c"], stdin=more, check=True,
                                  capture_output=True).stdout)
    time.sleep(0.6)
    expect(any(re.match("total +3.9K", line) for line in term.screen()),
           "it went on while it paused", term.screen())
    term.keys("o")
    term.wait_for("PAUSED, by objects")
    term.keys("Space")
    term.wait_for("^total +7.7K")
    session.replace(session.original)
    term.keys("q")
    session.ended(0)


def resize(session):
    """The screen is redrawn after a change of size, without old lines."""
    term = session.terminal
    session.start()
    # Pause, so that only the change of size can cause the redraw.
    term.keys("p")
    term.wait_for("PAUSED")
    for columns, rows in ((50, 10), (120, 40), (30, 5), (80, 20)):
        term.size(columns, rows)
        time.sleep(0.5)
        screen = term.wait_for(r"^\d+-\d+-\d+ ")
        expect(re.match(r"\d+-\d+-\d+ ", screen[0]), "no status line on top", screen)
        expect(sum(line.startswith("total") for line in screen) <= 1,
               "the total is there twice", screen)
        shown = ranks(screen)
        expect([row[0] for row in shown] ==
               [str(n + 1) for n in range(len(shown))], "ranks", screen)
        if rows >= 10:
            expect(any(line.startswith("total") for line in screen),
                   "the total does not fit", screen)
    expect(len(shown) == 4, "not as many groups as fit", screen)
    term.keys("q")
    session.ended(0)


def shrink(session):
    """A shorter table leaves no lines of the longer one."""
    term = session.terminal
    session.start()
    session.replace(os.path.join(HERE, "input/no_pfn.txt"))
    screen = term.wait_for("INCOMPLETE")
    last = [n for n, line in enumerate(screen) if "INCOMPLETE" in line][0]
    expect(not any(screen[last + 1:]), "remains", screen)
    session.replace(session.original)
    term.wait_for("dentry")
    term.keys("q")
    session.ended(0)


def interrupt(session):
    """^C stops ownertop and restores the terminal."""
    session.start()
    session.terminal.keys("C-c")
    session.terminal.wait_for(r"^\$ $|^\^?C?\$")
    session.same_terminal()
    session.mark()


def stop(session):
    """^Z returns to the shell, and fg continues ownertop."""
    term = session.terminal
    term.line(session.command)
    term.wait_for(RUNNING)
    term.keys("C-z")
    term.wait_for("Stopped")
    session.same_terminal()
    term.line("fg")
    term.wait_for(RUNNING)
    term.keys("o")
    term.wait_for("by objects")
    term.keys("q")
    term.wait_for(r"^\$")
    session.same_terminal()
    session.mark()


def terminate(session):
    """SIGTERM stops ownertop and restores the terminal."""
    term = session.terminal
    term.line(session.command + " & echo $! > pid; fg; echo ended $?")
    term.wait_for(RUNNING)
    with open(os.path.join(os.path.dirname(session.dump), "pid"), encoding="ascii") as pid:
        os.kill(int(pid.read()), signal.SIGTERM)
    session.ended(128 + signal.SIGTERM)


def damage(session):
    """Messages about the input are shown in the first line of the screen."""
    session.replace(os.path.join(HERE, "input/no_pfn.txt"))
    screen = session.start()
    expect(any("INCOMPLETE" in line for line in screen), "no complaint", screen)
    session.terminal.size(200, 20)
    session.terminal.wait_for("quit  .*/dump:7: the record has no PFN line")
    # tmux does not restore the normal screen completely after a change of size.
    session.terminal.size(80, 20)
    session.terminal.keys("q")
    session.ended(1)
    session.replace(session.original)


def this_machine(session):
    """The kernel is asked for call chains only, which it answers at once; ages on request."""
    term = session.terminal
    kernel = StandIn(os.path.dirname(session.dump))
    command = shlex.join(["env", *(f"{k}={v}" for k, v in kernel.environment.items()),
                          session.ownertop, "--live=0.2", "-d", "1"])
    term.line(command + "; echo ended $?")
    screen = term.wait_for("by bytes; b h o sort")
    expect(screen[1].split() == ["#", "BYTES", "%", "HELD", "OBJECTS"], "other columns", screen)
    expect(re.match(" +1 +1.6K +95.2% +2.0K +8$", screen[2]), "other figures", screen)
    term.keys("q")
    session.ended(0)
    term.line(command + " -s youngest; echo ended $?")
    screen = term.wait_for("by youngest; b h o sort")
    expect(screen[1].split()[-1] == "OLDEST", "no ages", screen)
    kernel.questions()
    term.keys("b")
    term.wait_for("by bytes; b h o sort")
    screen = term.wait_until(lambda screen: kernel.questions(), "question")
    time.sleep(0.5)
    expect(all("oldest" in question for question in kernel.questions()), "other questions", screen)
    expect(term.screen()[1].split()[-1] == "OLDEST", "ages have gone", term.screen())
    term.keys("q")
    session.ended(0)


def not_a_terminal(session):
    """Without a terminal, tables are printed one after the other, without escapes."""
    words = shlex.split(session.command)
    with subprocess.Popen(words, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE) as process:
        output = b""
        while output.count(b"\ntotal") < 3:
            output += os.read(process.stdout.fileno(), 65536)
        process.terminate()
    expect(b"\033" not in output, "escapes", [output.decode()])


TESTS = (sort_keys, depth, all_frames, pause, resize, shrink, interrupt, stop, terminate, damage,
         this_machine, not_a_terminal)


def main():
    """Return exit status 0 if all tests pass, or 77 without tmux."""
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        session = Session(sys.argv[1], directory)
        try:
            for test in TESTS:
                try:
                    test(session)
                except AssertionError as error:
                    failed += 1
                    print(f"{test.__name__}: {error}")
                    session.terminal.close()
                    session = Session(sys.argv[1], directory)
        finally:
            session.terminal.close()
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
