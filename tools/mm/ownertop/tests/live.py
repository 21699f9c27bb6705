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
        self.run_tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "20",
                      "env", "-i", *(f"{k}={v}" for k, v in environment.items()),
                      "bash", "--norc", "--noprofile")

    def run_tmux(self, *words):
        """Run a tmux command and return what it prints."""
        return subprocess.run(["tmux", "-S", self.socket, *words], check=True,
                              capture_output=True, text=True).stdout

    def press_keys(self, *keys):
        """Press keys, which are named as in tmux."""
        self.run_tmux("send-keys", *keys)

    def type_line(self, text):
        """Type a line into the terminal."""
        self.run_tmux("send-keys", "-l", text)
        self.press_keys("Enter")

    def read_screen(self):
        """Return the lines of the terminal's screen."""
        return self.run_tmux("capture-pane", "-p").split("\n")

    def wait_until(self, condition, what):
        """Wait until the condition holds for the screen."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            screen = self.read_screen()
            if condition(screen):
                return screen
            time.sleep(0.05)
        raise AssertionError(f"no {what} on the screen:\n" + "\n".join(screen))

    def wait_for(self, pattern):
        """Wait until a line of the screen matches."""
        return self.wait_until(lambda screen: any(re.search(pattern, line) for line in screen),
                               repr(pattern))

    def resize_window(self, columns, rows):
        """Change the size of the terminal."""
        self.run_tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def stop_server(self):
        """Stop the tmux server."""
        self.run_tmux("kill-server")


def expect(condition, what, screen):
    """Fail with the screen if the condition does not hold."""
    if not condition:
        raise AssertionError(what + ":\n" + "\n".join(screen))


def parse_table_rows(screen):
    """Return rank, bytes and cache of each row of the table on the screen."""
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
        self.terminal.type_line("stty -g > modes")
        self.print_screen_marker()

    def print_screen_marker(self):
        """Overwrite the screen with a marker, and wait until ownertop draws it again."""
        self.marks += 1
        self.terminal.type_line(f"clear; echo before {self.marks}")
        self.terminal.wait_for(f"^before {self.marks}$")

    def start_ownertop(self):
        """Run ownertop and wait for the first table."""
        self.terminal.type_line(self.command + "; echo ended $?")
        return self.terminal.wait_for(RUNNING)

    def expect_exit_status(self, status):
        """Wait for the end of ownertop. Check its exit status, and the restored terminal."""
        screen = self.terminal.wait_for(f"^ended {status}$")
        self.expect_terminal_restored()
        expect(f"before {self.marks}" in screen, "the old screen is not back", screen)
        self.print_screen_marker()

    def expect_terminal_restored(self):
        """Check that the modes of the terminal are restored."""
        self.terminal.type_line("stty -g | cmp - modes && echo same modes")
        self.terminal.wait_for("^same modes")

    def replace_dump(self, source):
        """Replace the dump atomically, so that ownertop never reads a part of it."""
        shutil.copy(source, self.dump + ".new")
        os.rename(self.dump + ".new", self.dump)


def test_sort_keys(session):
    """The keys b, h and o sort the rows."""
    term = session.terminal
    screen = session.start_ownertop()
    expect(parse_table_rows(screen)[0][2] == "ext4_inode_cache", "bytes", screen)
    term.press_keys("o")
    screen = term.wait_for("by objects;")
    expect(parse_table_rows(screen)[0][2] == "kmalloc-256", "objects", screen)
    term.press_keys("h")
    screen = term.wait_for("by held;")
    expect(parse_table_rows(screen)[0][2] == "ext4_inode_cache", "held", screen)
    term.press_keys("q")
    session.expect_exit_status(0)


def make_frame_count_condition(number):
    """Return a condition: the first group has this many frames, and the total is shown."""
    def screen_has_frames(screen):
        rows = [n for n, line in enumerate(screen) if re.match(" +[12] ", line)]
        return len(rows) == 2 and rows[1] - rows[0] - 1 == number and \
            any(line.startswith("total") for line in screen)
    return screen_has_frames


def test_depth(session):
    """The keys + and - change the depth; the number of groups is adapted."""
    term = session.terminal
    session.start_ownertop()
    term.wait_until(make_frame_count_condition(2), "two frames")
    wanted = 2
    for key, change in (("+", 1), ("+", 1), ("-", -1), ("-", -1), ("-", -1), ("-", 0)):
        term.press_keys(key)
        wanted += change
        screen = term.wait_until(make_frame_count_condition(wanted), f"{wanted} frames")
    expect(len(parse_table_rows(screen)) >= 6, "more would fit", screen)
    term.press_keys("q")
    session.expect_exit_status(0)


def test_all_frames(session):
    """The total is shown with call chains of any length."""
    term = session.terminal
    term.type_line(session.command.replace("-d 2", "-d 0") + "; echo ended $?")
    screen = term.wait_until(make_frame_count_condition(6), "all frames")
    expect(len(parse_table_rows(screen)) == 2, "two fit", screen)
    term.press_keys("-")
    term.wait_until(make_frame_count_condition(4), "4 frames")
    term.press_keys("q")
    session.expect_exit_status(0)


def test_pause(session):
    """The key p pauses updates, and p continues them."""
    term = session.terminal
    session.start_ownertop()
    term.wait_for("^total +3.9K")
    term.press_keys("p")
    term.wait_for("PAUSED")
    session.replace_dump(os.path.join(HERE, "input/slab.gz"))
    with open(session.dump, "ab") as dump, open(session.original, "rb") as more:
        dump.write(subprocess.run(["gzip", "-c"], stdin=more, check=True,
                                  capture_output=True).stdout)
    time.sleep(0.6)
    expect(any(re.match("total +3.9K", line) for line in term.read_screen()),
           "it went on while it paused", term.read_screen())
    term.press_keys("o")
    term.wait_for("PAUSED, by objects")
    term.press_keys("Space")
    term.wait_for("^total +7.7K")
    session.replace_dump(session.original)
    term.press_keys("q")
    session.expect_exit_status(0)


def test_resize(session):
    """The screen is redrawn after a change of size, without old lines."""
    term = session.terminal
    session.start_ownertop()
    # Pause, so that only the change of size can cause the redraw.
    term.press_keys("p")
    term.wait_for("PAUSED")
    for columns, rows in ((50, 10), (120, 40), (30, 5), (80, 20)):
        term.resize_window(columns, rows)
        time.sleep(0.5)
        screen = term.wait_for(r"^\d+-\d+-\d+ ")
        expect(re.match(r"\d+-\d+-\d+ ", screen[0]), "no status line on top", screen)
        expect(sum(line.startswith("total") for line in screen) <= 1,
               "the total is there twice", screen)
        shown = parse_table_rows(screen)
        expect([row[0] for row in shown] ==
               [str(n + 1) for n in range(len(shown))], "ranks", screen)
        if rows >= 10:
            expect(any(line.startswith("total") for line in screen),
                   "the total does not fit", screen)
    expect(len(shown) == 4, "not as many groups as fit", screen)
    term.press_keys("q")
    session.expect_exit_status(0)


def test_shrink(session):
    """A shorter table leaves no lines of the longer one."""
    term = session.terminal
    session.start_ownertop()
    session.replace_dump(os.path.join(HERE, "input/no_pfn.txt"))
    screen = term.wait_for("INCOMPLETE")
    last = [n for n, line in enumerate(screen) if line.startswith("first: ")][0]
    expect(not any(screen[last + 1:]), "remains", screen)
    session.replace_dump(session.original)
    term.wait_for("dentry")
    term.press_keys("q")
    session.expect_exit_status(0)


def test_interrupt(session):
    """^C stops ownertop and restores the terminal."""
    session.start_ownertop()
    session.terminal.press_keys("C-c")
    session.terminal.wait_for(r"^\$ $|^\^?C?\$")
    session.expect_terminal_restored()
    session.print_screen_marker()


def test_stop(session):
    """^Z returns to the shell, and fg continues ownertop."""
    term = session.terminal
    term.type_line(session.command)
    term.wait_for(RUNNING)
    term.press_keys("C-z")
    term.wait_for("Stopped")
    session.expect_terminal_restored()
    term.type_line("fg")
    term.wait_for(RUNNING)
    term.press_keys("o")
    term.wait_for("by objects")
    term.press_keys("q")
    term.wait_for(r"^\$")
    session.expect_terminal_restored()
    session.print_screen_marker()


def test_terminate(session):
    """SIGTERM stops ownertop and restores the terminal."""
    term = session.terminal
    # In the foreground from the start: a background job may be stopped by the terminal.
    term.type_line(f"sh -c 'echo $$ > pid; exec {session.command}'; echo ended $?")
    term.wait_for(RUNNING)
    with open(os.path.join(os.path.dirname(session.dump), "pid"), encoding="ascii") as pid:
        os.kill(int(pid.read()), signal.SIGTERM)
    session.expect_exit_status(128 + signal.SIGTERM)


def test_damage(session):
    """Messages about the input are shown in the first line of the screen."""
    session.replace_dump(os.path.join(HERE, "input/no_pfn.txt"))
    screen = session.start_ownertop()
    expect(any("INCOMPLETE" in line for line in screen), "no complaint", screen)
    session.terminal.resize_window(200, 20)
    session.terminal.wait_for("quit  .*/dump:7: the record has no PFN line")
    # tmux does not restore the normal screen completely after a change of size.
    session.terminal.resize_window(80, 20)
    session.terminal.press_keys("q")
    session.expect_exit_status(1)
    session.replace_dump(session.original)


def test_this_machine(session):
    """The kernel is asked for call chains only, which it answers at once; ages on request."""
    term = session.terminal
    kernel = StandIn(os.path.dirname(session.dump))
    command = shlex.join(["env", *(f"{k}={v}" for k, v in kernel.environment.items()),
                          session.ownertop, "--live=0.2", "-d", "1"])
    term.type_line(command + "; echo ended $?")
    screen = term.wait_for("by bytes; b h o sort")
    expect(screen[1].split() == ["#", "BYTES", "%", "HELD", "OBJECTS"], "other columns", screen)
    expect(re.match(" +1 +1.6K +95.2% +2.0K +8$", screen[2]), "other figures", screen)
    term.press_keys("q")
    session.expect_exit_status(0)
    term.type_line(command + " -s youngest; echo ended $?")
    screen = term.wait_for("by youngest; b h o sort")
    expect(screen[1].split()[-1] == "OLDEST", "no ages", screen)
    kernel.read_sentences()
    term.press_keys("b")
    term.wait_for("by bytes; b h o sort")
    screen = term.wait_until(lambda screen: kernel.read_sentences(), "sentence")
    time.sleep(0.5)
    expect(all("oldest" in sentence for sentence in kernel.read_sentences()),
           "other sentences", screen)
    expect(term.read_screen()[1].split()[-1] == "OLDEST", "ages have gone", term.read_screen())
    term.press_keys("q")
    session.expect_exit_status(0)


def test_without_terminal(session):
    """Without a terminal, tables are printed one after the other, without escapes."""
    words = shlex.split(session.command)
    with subprocess.Popen(words, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE) as process:
        output = b""
        while output.count(b"\ntotal") < 3:
            output += os.read(process.stdout.fileno(), 65536)
        process.terminate()
    expect(b"\033" not in output, "escapes", [output.decode()])


TESTS = (test_sort_keys, test_depth, test_all_frames, test_pause, test_resize, test_shrink,
         test_interrupt, test_stop, test_terminate, test_damage, test_this_machine,
         test_without_terminal)


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
                    session.terminal.stop_server()
                    session = Session(sys.argv[1], directory)
        finally:
            session.terminal.stop_server()
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
