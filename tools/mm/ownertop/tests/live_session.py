# SPDX-License-Identifier: GPL-2.0
"""ownertop --live in a terminal, which is tmux.

A shell runs ownertop in it, so that the state of the terminal after ownertop exits can be
checked as well.
"""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# Seconds until what does not come is an error, also on a busy host.
PATIENCE = 120.0
RUNNING = r"; \d+ of \d+ groups"


class Terminal:
    """A separate tmux server with one window."""

    def __init__(self, directory):
        # After a failed test, the socket of the server before may still be there.
        self.socket = os.path.join(tempfile.mkdtemp(dir=directory), "tmux")
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
        """Wait until the condition holds for the screen, and the screen is drawn completely."""
        end = time.monotonic() + PATIENCE
        before = None
        while time.monotonic() < end:
            screen = self.read_screen()
            if screen == before and condition(screen):
                return screen
            before = screen
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
    """Return the changes, the figure beside them and the fields of each group on the screen."""
    pattern = re.compile(r"[> ] +(\d\S*) +(\S+) +(\S+) +(\d\S*)  (?!total)(.*)")
    rows = (pattern.match(line) for line in screen)
    return [row.groups() for row in rows if row]


def find_total(screen):
    """Return the figures of the total, or an empty list."""
    return next((line.split() for line in screen if re.search(r"\S  total", line)), [])


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

    def quit_ownertop(self, status=0):
        """Press q, and check the exit status and the restored terminal."""
        self.terminal.press_keys("q")
        self.expect_exit_status(status)

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
