#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test --live in a terminal: press keys and check the screen."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

from live_session import HERE, RUNNING, Session, expect, find_total, parse_table_rows
from stand_in import StandIn


def test_sort_keys(session):
    """The keys b, h and o sort the groups."""
    term = session.terminal
    screen = session.start_ownertop()
    expect("ext4_inode_cache" in parse_table_rows(screen)[0][4], "held", screen)
    term.press_keys("o")
    screen = term.wait_for("by objects;")
    expect(screen[2].split()[:4] == ["OBJECTS", "GROWTH", "TICK", "HELD"], "columns", screen)
    expect("kmalloc-256" in parse_table_rows(screen)[0][4], "objects", screen)
    term.press_keys("h")
    screen = term.wait_for("by held;")
    expect("ext4_inode_cache" in parse_table_rows(screen)[0][4], "held", screen)
    session.quit_ownertop()


def make_chain_condition(frames):
    """Return a condition: the first group shows these frames below it, and then the next."""
    def screen_has_frames(screen):
        shown = [line.strip() for line in screen[4:4 + len(frames)]]
        return shown == frames and parse_table_rows(screen[4 + len(frames):5 + len(frames)])
    return screen_has_frames


CHAIN = ["ext4_alloc_inode+0x1b/0x160 [ext4]", "alloc_inode+0x1e/0xb0", "iget_locked+0xba/0x200"]


def test_unfold_and_depth(session):
    """Enter shows and hides the chain of a group; + and - change its depth."""
    term = session.terminal
    session.start_ownertop()
    term.press_keys("Enter")
    term.wait_until(make_chain_condition(CHAIN[:2]), "chain of two frames")
    term.press_keys("Enter")
    term.wait_until(make_chain_condition([]), "line for each group")
    for key, frames in (("+", 3), ("-", 2), ("-", 1), ("-", 1)):
        term.press_keys(key)
        term.press_keys("Enter")
        term.wait_until(make_chain_condition(CHAIN[:frames]), f"{frames} frames")
        term.press_keys("Enter")
        term.wait_until(make_chain_condition([]), "line for each group")
    session.quit_ownertop()


def test_unfold_user(session):
    """Enter shows the user chain, too, and alone if groups have no other."""
    term = session.terminal
    dump = shlex.quote(os.path.join(HERE, "input/user.txt"))
    for fields, wanted in (("stack,user", ("fill_queue", "user libc.so.6")),
                           ("user", ("user libc.so.6", "user (cycle)"))):
        term.type_line(f"{session.ownertop} --live=0.2 -g {fields} {dump}; echo ended $?")
        term.wait_for(RUNNING)
        term.press_keys("Enter")
        for text in wanted:
            term.wait_for("^ {7}" + re.escape(text))
        session.quit_ownertop()


def test_changes(session):
    """GROWTH is the change since the mark, TICK that since the last update."""
    term = session.terminal
    term.type_line(session.command.replace("--live=0.2", "--live=2") + "; echo ended $?")
    screen = term.wait_for(RUNNING)
    expect(all(row[1:3] == (".", ".") for row in parse_table_rows(screen)), "changes", screen)
    session.replace_dump(os.path.join(HERE, "input/slab_later.txt"))
    screen = term.wait_for(r"\+768B +\+768B +5  kmalloc-256")
    expect(find_total(screen)[:3] == ["4.8K", "+704B", "+704B"], "total", screen)
    screen = term.wait_for(r"\+768B +\. +5  kmalloc-256")
    session.replace_dump(session.original)
    term.wait_for(r" \. +-768B +2  kmalloc-256")
    session.quit_ownertop()


def test_sort_by_growth(session):
    """The order is by growth, and by what is held among groups that grew alike; h and c choose."""
    term = session.terminal
    session.start_ownertop()
    session.replace_dump(os.path.join(HERE, "input/slab_later.txt"))
    screen = term.wait_for(r"\+768B")
    rows = parse_table_rows(screen)
    expect(rows[0][4].startswith("kmalloc-256"), "growth is not first", screen)
    same = [row[0] for row in rows if row[1] == "."]
    expect(len(same) > 2 and same[0] == "2.1K", "unchanged groups", screen)
    term.press_keys("h")
    screen = term.wait_for("by held;")
    expect(parse_table_rows(screen)[0][0] == "2.1K", "held is not first", screen)
    term.press_keys("c")
    screen = term.wait_for("by growth;")
    expect(parse_table_rows(screen)[0][4].startswith("kmalloc-256"), "order", screen)
    session.replace_dump(session.original)
    session.quit_ownertop()


def test_top(session):
    """-n is the number of groups that are shown after they are sorted by growth."""
    term = session.terminal
    term.type_line(session.command + " -n 1; echo ended $?")
    term.wait_for(RUNNING)
    session.replace_dump(os.path.join(HERE, "input/slab_later.txt"))
    screen = term.wait_for(r"\+768B +. +5  kmalloc-256")
    expect(len(parse_table_rows(screen)) == 1, "more groups", screen)
    session.replace_dump(session.original)
    session.quit_ownertop()


def test_mark(session):
    """The key m counts growth from the answer on the screen."""
    term = session.terminal
    session.start_ownertop()
    session.replace_dump(os.path.join(HERE, "input/slab_later.txt"))
    term.wait_for(r"\+768B +\. +5  kmalloc-256")
    term.press_keys("m")
    term.wait_for(r" \. +\. +5  kmalloc-256")
    session.replace_dump(session.original)
    screen = term.wait_for(r"-768B +\S+ +2  kmalloc-256")
    expect(find_total(screen)[1] == "-704B", "total", screen)
    session.quit_ownertop()


def test_filter(session):
    """/ shows the groups that contain a text, and their total."""
    term = session.terminal
    session.start_ownertop()
    term.press_keys("/")
    term.press_keys("-l", "LEAK_")
    term.wait_for("^/LEAK_")
    term.press_keys("Enter")
    screen = term.wait_for("of 2 groups;")
    expect(screen[1] == "groups with 'LEAK_'", "filter", screen)
    expect(all("leak_" in row[4] for row in parse_table_rows(screen)), "others", screen)
    expect(any(line.endswith(" 3  total of 2 groups") for line in screen), "total", screen)
    expect(find_total(screen)[0] == "704B", "total", screen)
    term.press_keys("/", "x", "Escape")
    term.wait_for("^groups with 'LEAK_'$")
    term.press_keys("/", *["BSpace"] * 5, "Enter")
    term.wait_for(r"of 7 groups;")
    session.quit_ownertop()


def test_expression(session):
    """The expression that objects are chosen by is shown, beside the text of /."""
    term = session.terminal
    session.replace_dump(session.original)
    term.type_line(session.command + " --cache 'kmalloc-*'; echo ended $?")
    screen = term.wait_for(RUNNING)
    expect(screen[1] == "if cache ~ kmalloc-*", "expression", screen)
    term.press_keys("/")
    term.press_keys("-l", "cg")
    term.press_keys("Enter")
    term.wait_for("^groups with 'cg'; if cache ~ kmalloc-[*]$")
    session.quit_ownertop()


def test_long_names(session):
    """Columns hold with names that are longer than a column."""
    term = session.terminal
    with open(session.original, encoding="utf-8") as file:
        text = file.read()
    long = "ext4_\u00e9" + "x" * 40
    with open(session.dump, "w", encoding="utf-8") as file:
        file.write(text.replace("ext4_inode_cache", long))
    term.type_line(session.command + " -g cache,pid; echo ended $?")
    screen = term.wait_for(RUNNING)
    column = screen[2].index("PID")
    rows = screen[3:3 + len(parse_table_rows(screen))]
    expect(all(re.match(r"[ .](-|\d+) *$", row[column - 1:]) for row in rows), "columns", screen)
    expect(any("ext4_\u00e9" + "x" * 24 + ".." in row for row in rows), "cut", screen)
    session.quit_ownertop()
    session.replace_dump(session.original)


def test_group(session):
    """The key g groups by other fields, and says what is wrong with them."""
    term = session.terminal
    session.start_ownertop()
    term.press_keys("g")
    term.press_keys("-l", "cachx")
    term.press_keys("Enter")
    term.wait_for("^group: no field is called 'cachx'")
    term.press_keys("g")
    term.press_keys("-l", "comm")
    term.press_keys("Enter")
    screen = term.wait_until(lambda screen: screen[2].split()[4:] == ["COMM"], "column COMM")
    expect(any(row[4].strip() == "systemd" for row in parse_table_rows(screen)), "groups", screen)
    session.quit_ownertop()


def test_scroll(session):
    """The selected group is always on the screen."""
    term = session.terminal
    session.start_ownertop()
    term.resize_window(80, 7)
    term.wait_until(lambda screen: len(parse_table_rows(screen)) == 3, "three groups")
    for key, wanted in (("Down", 2), ("j", 3), ("End", 7), ("Up", 6), ("NPage", 7), ("Home", 1)):
        term.press_keys(key)
        screen = term.wait_for(f"; {wanted} of 7 groups")
        expect(sum(line.startswith(">") for line in screen) == 1, f"{key}: selected", screen)
    term.resize_window(80, 20)
    session.quit_ownertop()


def test_save(session):
    """The key w writes the table to a file, or says why it cannot."""
    term = session.terminal
    session.start_ownertop()
    term.press_keys("w")
    term.wait_for("^write to file: ownertop.txt_")
    term.press_keys("Enter")
    term.wait_for("^written to ownertop.txt")
    with open("ownertop.txt", encoding="utf-8") as table:
        text = table.read()
    expect("ext4_alloc_inode" in text and "\ntotal " in text, "no table", [text])
    term.press_keys("w", "/", "Enter")
    term.wait_for("^write: ownertop.txt/: ")
    session.quit_ownertop()


def test_help(session):
    """The key ? shows the keys, and any key hides them."""
    term = session.terminal
    session.start_ownertop()
    term.press_keys("?")
    term.wait_for("sort by growth since the mark")
    term.press_keys("q")
    term.wait_for(RUNNING)
    session.quit_ownertop()


def test_pause(session):
    """The key p freezes the screen, and p continues."""
    term = session.terminal
    session.start_ownertop()
    term.press_keys("p")
    term.wait_for("PAUSED")
    session.replace_dump(os.path.join(HERE, "input/slab_later.txt"))
    time.sleep(0.6)
    expect(find_total(term.read_screen())[0] == "4.1K", "it went on", term.read_screen())
    term.press_keys("o")
    term.wait_for("PAUSED, by objects")
    term.press_keys("Space")
    term.wait_until(lambda screen: find_total(screen)[:1] == ["12"], "12 objects")
    session.replace_dump(session.original)
    session.quit_ownertop()


def make_size_condition(columns):
    """Return a condition: one table, with a status line on top, of at most so many columns."""
    return lambda screen: (re.match(r"\d+-\d+-\d+ ", screen[0])
                           and all(len(line) <= columns for line in screen)
                           and sum("  total" in line for line in screen) == (columns > 45))


def test_resize(session):
    """The screen is redrawn after a change of size, without old lines."""
    term = session.terminal
    session.start_ownertop()
    # Pause, so that only the change of size can cause the redraw.
    term.press_keys("p")
    term.wait_for("PAUSED")
    for columns, rows in ((50, 10), (120, 40), (30, 5), (80, 20)):
        term.resize_window(columns, rows)
        term.wait_until(make_size_condition(columns), f"table of {columns} columns")
    # The terminal moves the old lines to the new size before ownertop draws.
    term.wait_until(lambda screen: len(parse_table_rows(screen)) == 7, "all groups")
    session.quit_ownertop()


def test_shrink(session):
    """Fewer groups leave no lines of the others."""
    term = session.terminal
    session.start_ownertop()
    session.replace_dump(os.path.join(HERE, "input/no_pfn.txt"))
    screen = term.wait_for("INCOMPLETE")
    last = [n for n, line in enumerate(screen) if "  total" in line][0]
    expect(not any(screen[last + 1:]), "remains", screen)
    session.replace_dump(session.original)
    term.wait_for("ext4_inode_cache")
    session.quit_ownertop()


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
    """Messages about the input have a line of their own."""
    session.replace_dump(os.path.join(HERE, "input/no_pfn.txt"))
    screen = session.start_ownertop()
    expect(any("INCOMPLETE" in line for line in screen), "no complaint", screen)
    expect(screen[1].startswith("INCOMPLETE: ") and
           "/dump:7: the record has no PFN line" in screen[1], "no line of its own", screen)
    session.quit_ownertop(1)
    session.replace_dump(session.original)


def test_this_machine(session):
    """The kernel is asked for call chains only, which it answers at once; ages on request."""
    term = session.terminal
    kernel = StandIn(os.path.dirname(session.dump))
    command = shlex.join(["env", *(f"{k}={v}" for k, v in kernel.environment.items()),
                          session.ownertop, "--live=0.2", "-d", "1"])
    term.type_line(command + "; echo ended $?")
    screen = term.wait_for(RUNNING)
    expect(screen[2].split() == ["HELD", "GROWTH", "TICK", "OBJECTS", "CALL", "CHAIN"],
           "other columns", screen)
    expect(parse_table_rows(screen)[0][:4] == ("2.0K", ".", ".", "8"), "other figures", screen)
    session.quit_ownertop()
    term.type_line(command + " -s oldest; echo ended $?")
    screen = term.wait_for("by oldest;")
    expect("OLDEST" in screen[2].split(), "no ages", screen)
    kernel.read_sentences()
    term.press_keys("h")
    term.wait_for(RUNNING)
    screen = term.wait_until(lambda screen: kernel.read_sentences(), "sentence")
    time.sleep(0.5)
    expect(all("oldest" in sentence for sentence in kernel.read_sentences()),
           "other sentences", screen)
    term.wait_until(lambda screen: "OLDEST" in screen[2].split(), "ages")
    session.quit_ownertop()


def test_count(session):
    """-c ends live mode after some updates, on a terminal as elsewhere."""
    session.terminal.type_line(session.command + " -c 2; echo ended $?")
    session.expect_exit_status(0)
    done = subprocess.run([*shlex.split(session.command), "-c", "3", "--json"],
                          capture_output=True, text=True, check=True)
    updates = [json.loads(line) for line in done.stdout.splitlines()]
    expect(len(updates) == 3, "not three lines", done.stdout.splitlines())
    expect(all(update["total"]["objects"] == 9 and update["time"] > 0 for update in updates),
           "other figures", done.stdout.splitlines())


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


TESTS = (test_sort_keys, test_unfold_and_depth, test_unfold_user, test_changes,
         test_sort_by_growth, test_top, test_mark, test_filter, test_expression,
         test_long_names, test_group,
         test_scroll, test_save, test_help, test_count, test_pause, test_resize, test_shrink,
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
