#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test the page of "ownertop trend --html" in a browser: figures, lines, sliders, keys, names."""

import os
import re
import subprocess
import sys
import tempfile

import browser

HOURS = (0, 1, 3, 4)
# Objects of each chain, of 1024 bytes, in dumps that were taken at these hours.
OBJECTS = {
    "leak": (100, 200, 400, 500),
    "large": (900, 900, 900, 900),
    "saw": (600, 700, 60, 90),
    "falls": (300, 200, 100, 0),
    "slow": (10, 11, 13, 14),
    "still": (5, 5, 5, 5),
    "small": (1, 2, 1, 2),
}
ODD = "</script><img src=x onerror='hacked=1'>\"&amp;\x1b[31m\u202ex"
KEYS = {"ArrowLeft": 37, "Tab": 9, "Enter": 13}

ROWS = """[...document.querySelectorAll("tbody tr[data-rank], tfoot tr")].map(
    tr => [...tr.cells].map(cell => cell.innerText.trim()))"""
LINES = """Object.fromEntries([...document.querySelectorAll("svg .line")].map(line => [
    line.querySelector("title").textContent.replace(/^\\d+: c: /, ""),
    { d: line.querySelector("path").getAttribute("d"),
      mark: (({ stroke, strokeDasharray }) => stroke + strokeDasharray)(
          getComputedStyle(line.querySelector("path:not(.hit)"))),
      number: line.querySelector("text").textContent }]))"""


def figure(size):
    """Return a size as ownertop prints it."""
    for unit in ("B", "K", "M"):
        if size < 1024:
            break
        size /= 1024
    return f"{size:.1f}{unit}" if unit != "B" else f"{size:.0f}B"


def signed(size):
    """Return a change of a size as ownertop prints it."""
    return ("-" if size < 0 else "+" if size else "") + figure(abs(size))


def fit_slope(values):
    """Return the slope of a straight line by least squares, per hour."""
    n = len(HOURS)
    mean_x, mean_y = sum(HOURS) / n, sum(values) / n
    return (sum((x - mean_x) * (y - mean_y) for x, y in zip(HOURS, values)) /
            sum((x - mean_x) ** 2 for x in HOURS))


def write_dump(path, objects, cache="c", comm="a"):
    """Write a dump with so many objects of each chain."""
    with open(path, "w", encoding="utf-8") as out:
        for name, n in objects.items():
            out.write((f"Slab object allocated via order 0, size 1000, slab 1024, cache {cache}, "
                       f"pid 1, tgid 1 ({comm}), ts 1 ns\nPFN 0x1 object 0 index 0\n"
                       f" {name}+0x1/0x2\n entry+0x3/0x4\n\n") * n)


class TrendChecker(browser.PageChecker):
    """Open pages of trends in the browser and count errors."""

    def __init__(self, program, work, chromium):
        super().__init__(chromium, os.path.join(work, "trend.html"))
        self.program = program
        self.dumps = [os.path.join(work, f"dump{hour}") for hour in HOURS]

    def open_trend(self, *options, hours=HOURS):
        """Write the page of the dumps and open it in the browser. Returns the exit status."""
        times = "--time=" + ",".join(f"{hour}h" for hour in hours)
        dumps = self.dumps if hours == HOURS else self.dumps[:1] * len(hours)
        status = subprocess.run([self.program, "trend", "--html", times, "-o", self.page, *options,
                                 *dumps], check=False, stderr=subprocess.DEVNULL).returncode
        self.browser.open_page(f"file://{self.page}")
        return status

    def press(self, key, text=""):
        """Press a key as a keyboard does, so that the browser acts on it."""
        for kind in ("keyDown", "keyUp"):
            self.browser.send_command("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                                      text=text, windowsVirtualKeyCode=KEYS[key])

    def list_expected_row(self, name, values, first, last):
        """Return the cells of a row, without its rank and R2."""
        values = [n * 1024 for n in values]
        up = sum(after > before for before, after in zip(values, values[1:]))
        return [signed(round(fit_slope(values))), f"{up}/3", figure(values[first]),
                figure(values[last]), signed(values[last] - values[first]), name]

    def check_table(self, what, names, first=0, last=3):
        """Compare the rows with those of these names, then the total and the rest."""
        sums = {"total": tuple(map(sum, zip(*OBJECTS.values()))),
                f"rest: {len(OBJECTS) - len(names)} of {len(OBJECTS)} groups": tuple(
                    map(sum, zip(*(OBJECTS[name] for name in OBJECTS if name not in names))))}
        want = [self.list_expected_row(f"c: {name} < entry", OBJECTS[name], first, last)
                for name in names]
        want += [self.list_expected_row(name, values, first, last)
                 for name, values in sums.items()]
        rows = self.browser.evaluate_javascript(ROWS)
        self.expect(what, want, [row[1:3] + row[4:] for row in rows])

    def check_lines(self, what, names, first=None):
        """Check that lines are proportional to figures, or to their growth since the dump."""
        lines = self.browser.evaluate_javascript(LINES)
        self.expect(f"{what}: lines", sorted(f"{name} < entry" for name in names), sorted(lines))
        heights = {}
        for name in names:
            numbers = list(map(float, re.findall(r"-?[\d.]+", lines[f"{name} < entry"]["d"])))
            xs, ys = numbers[::2], numbers[1::2]
            for hour, x in zip(HOURS, xs):
                want = xs[0] + (xs[-1] - xs[0]) * hour / HOURS[-1]
                self.expect(f"{what}: {name} at {hour}h", True, abs(x - want) < 0.2)
            for n, y in zip(OBJECTS[name], ys):
                heights[n - (0 if first is None else OBJECTS[name][first])] = y
        low, high = min(heights), max(heights)
        self.expect(f"{what}: up is more", True, heights[high] < heights[low] - 50)
        for n, y in heights.items():
            want = heights[low] + (heights[high] - heights[low]) * (n - low) / (high - low)
            self.expect(f"{what}: {n}", True, abs(y - want) < 0.2)

    def check_views(self):
        """Check the figures of both orders, and the lines and their marks."""
        self.open_trend()
        self.expect("fastest", "+100.0K per hour\ngrows fastest, 3 of 3 times: "
                    "c: leak < entry", self.read_visible_text("#heads div"))
        self.expect("title", "ownertop: 4 dumps, "
                    f"{self.dumps[0]} to {self.dumps[3]}",
                    self.browser.evaluate_javascript("document.title"))
        # The first three grow fastest, the others are the largest of the remaining ones.
        self.open_trend("-n", "3")
        shown = ["leak", "slow", "small", "large", "still", "saw"]
        self.check_table("growth", shown)
        self.check_lines("growth", shown, 0)
        lines = self.browser.evaluate_javascript(LINES)
        self.expect("marks of lines", len(lines), len({line["mark"] for line in lines.values()}))
        self.expect("numbers of lines", [str(i + 1) for i in range(len(shown))],
                    sorted(line["number"] for line in lines.values()))
        self.browser.evaluate_javascript("document.querySelector('button[value=held]').click()")
        shown.sort(key=lambda name: -OBJECTS[name][3])
        self.check_table("held", shown)
        self.check_lines("held", shown)
        self.expect("pressed", ["false", "true"], self.browser.evaluate_javascript(
            "[...document.querySelectorAll('#controls button')].map(b => b.ariaPressed)"))
        self.open_trend("-n", "0")
        self.expect("without a rest", [*OBJECTS][0:1] + ["total"], [
            self.browser.evaluate_javascript(ROWS)[i][-1].replace("c: ", "").split(" ")[0]
            for i in (0, len(OBJECTS))])

    def check_sliders(self):
        """Check that the sliders choose the dumps that are compared, by keys."""
        self.open_trend("-n", "3")
        shown = [row[-1].split()[1] for row in self.browser.evaluate_javascript(ROWS)[:-2]]
        self.browser.evaluate_javascript("at('to').focus()")
        self.press("ArrowLeft")
        self.check_table("to 3h", shown, 0, 2)
        total = [sum(n[i] for n in OBJECTS.values()) * 1024 for i in (0, 2)]
        self.expect("compared", f"Total {figure(total[0])} → {figure(total[1])}, "
                    f"{signed(total[1] - total[0])}, from {self.dumps[0]} (0s) "
                    f"to {self.dumps[2]} (3h)", self.read_visible_text("#compared"))
        self.press("ArrowLeft")
        self.press("ArrowLeft")
        self.browser.evaluate_javascript(
            "at('from').value = 1; at('from').dispatchEvent(new Event('input'))")
        # The dumps may be compared backwards.
        self.check_table("backwards", shown, 1, 0)
        self.check_lines("backwards", shown, 1)

    def check_keys(self):
        """Check that rows are buttons that show the frames, which keep the focus."""
        self.open_trend()
        self.browser.evaluate_javascript("at('to').focus()")
        self.press("Tab")
        self.press("Tab")
        self.expect("second row", "c: slow < entry",
                    self.browser.evaluate_javascript("document.activeElement.innerText.trim()"))
        self.expect("line of the focus", ["2"], self.list_thick_lines())
        self.press("Enter", "\r")
        self.expect("frames", "objects 10 → 14, bytes 9.8K → 13.7K, held 10.0K → 14.0K\n"
                    "cache: c\nstack:\nslow+0x1/0x2\nentry+0x3/0x4",
                    self.read_visible_text(".detail"))
        self.expect("expanded", "true c: slow < entry", self.browser.evaluate_javascript(
            "document.activeElement.ariaExpanded + ' ' + document.activeElement.textContent"))
        # A click near the line closes the row that a key has opened; one on a row opens another.
        x, y = self.browser.evaluate_javascript("""(() => {
            const path = document.querySelector(".line[data-rank='2'] path"), box = at("chart")
                .getBoundingClientRect(), p = path.getPointAtLength(path.getTotalLength() / 2);
            return [box.left + p.x, box.top + p.y + 5]; })()""")
        self.browser.click(x, y)
        self.expect("closed", 0, self.browser.evaluate_javascript(
            "document.querySelectorAll('.detail').length"))
        x, y = self.browser.evaluate_javascript("""(() => {
            const { left, top, height } = document.querySelector("tbody tr").cells[1]
                .getBoundingClientRect(); return [left + 3, top + height / 2]; })()""")
        self.browser.click(x, y)
        self.expect("clicked", True, "leak+0x1/0x2" in self.read_visible_text(".detail"))
        self.browser.send_mouse_event("mouseMoved", 1, 1)
        self.expect("thick", ["1"], self.list_thick_lines())

    def list_thick_lines(self):
        """Return the numbers of the lines that are drawn thick."""
        return self.browser.evaluate_javascript(
            "[...document.querySelectorAll('.lit')].map(line => line.dataset.rank)")

    def check_screen_reader(self):
        """Check the names and states that a screen reader tells."""
        self.open_trend()
        nodes = self.browser.send_command("Accessibility.getFullAXTree")["nodes"]
        told = {}
        for node in nodes:
            role = node.get("role", {}).get("value")
            state = {p["name"]: p["value"].get("value") for p in node.get("properties", ())}
            told.setdefault(role, []).append((node.get("name", {}).get("value"), state))
        self.expect("picture", ["held over 4h: the total, and lines of 7 groups. "
                                "The table has the figures."],
                    [name for role in ("image", "img", "graphics-document")
                     for name, _ in told.get(role, ())])
        self.expect("sliders", ["from", "to"], [name for name, _ in told["slider"]])
        self.expect("sliders' dumps", [f"{self.dumps[0]} (0s)", f"{self.dumps[3]} (4h)"],
                    self.browser.evaluate_javascript(
                        "['from', 'to'].map(id => at(id).getAttribute('aria-valuetext'))"))
        self.expect("columns", ["#", "GROWTH/H", "UP", "R2", "FROM", "TO", "CHANGE",
                                "CACHE, STACK"], [name for name, _ in told["columnheader"]])
        self.expect("rows", len(OBJECTS),
                    [state.get("expanded") for _, state in told["button"]].count(False))

    def check_small_window(self):
        """Check that a small window shows the page without scrolling sideways."""
        for i, dump in enumerate(self.dumps):
            write_dump(dump, {"long_" * 24: i + 1})
        for width in (1280, 360):
            self.browser.send_command("Emulation.setDeviceMetricsOverride", width=width, height=640,
                                      deviceScaleFactor=1, mobile=False)
            self.open_trend("-d", "0")
            self.expect(f"sideways at {width}", True, self.browser.evaluate_javascript(
                "document.documentElement.scrollWidth <= innerWidth"))
            self.expect(f"UP at {width}", width > 640, self.browser.evaluate_javascript(
                "document.querySelector('th:nth-child(3)').checkVisibility()"))
        self.browser.send_command("Emulation.clearDeviceMetricsOverride")

    def check_odd_names(self):
        """Check that names with HTML and control characters in them are shown as text."""
        for i, dump in enumerate(self.dumps):
            write_dump(dump, {"plant": i + 1}, ODD, ODD)
        self.open_trend("-g", "cache,comm,stack")
        shown = ODD.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
        self.expect("odd row", f"{shown}: {shown}: plant < entry",
                    self.browser.evaluate_javascript(
                        "document.querySelector('tbody button').textContent"))
        self.browser.evaluate_javascript("document.querySelector('tbody button').click()")
        self.expect("odd detail", True, f"cache: {shown}\ncomm: {shown}\n" in
                    self.read_visible_text(".detail"))
        self.expect("hacked", [True, 0], self.browser.evaluate_javascript(
            "[typeof hacked === 'undefined', document.images.length]"))

    def check_edges(self):
        """Check a trend without growth, one by objects, damage, many dumps and groups."""
        for i, dump in enumerate(self.dumps):
            write_dump(dump, {"falls": 9 - i})
        self.open_trend("-s", "objects")
        self.expect("no growth", "no growth\nof any group in 4h",
                    self.read_visible_text("#heads div"))
        self.expect("objects", "6 objects total\n-0.7 per hour in 4h",
                    self.read_visible_text("#heads div:last-child"))
        self.expect("objects of a row", ["-0.7", "0/3", "9", "6", "-3"],
                    [self.browser.evaluate_javascript(ROWS)[0][i] for i in (1, 2, 4, 5, 6)])
        with open(self.dumps[3], "a", encoding="ascii") as out:
            out.write("Slab object allocated via")
        self.expect("status", 1, self.open_trend())
        self.expect("alarm", True, self.read_visible_text("#alarm").startswith(
            "INCOMPLETE: damaged places 1"))
        self.open_trend(hours=range(150))
        self.expect("sliders of many dumps", ["0", "149"], self.browser.evaluate_javascript(
            "['from', 'to'].map(id => at(id).value)"))
        for dump in self.dumps:
            write_dump(dump, {f"f{i}": 1 for i in range(600)})
        self.open_trend("-n", "0")
        self.expect("rows that are listed", 500, self.browser.evaluate_javascript(
            "document.querySelectorAll('tbody tr').length"))
        self.expect("note", True, self.read_visible_text("#notes").startswith(
            "500 of 600 groups are listed"))


def main():
    """Return exit status 0 without errors, or 77 without a browser."""
    if not browser.find_chromium():
        print("needs Chromium: apt-get install chromium-headless-shell")
        return 77
    with tempfile.TemporaryDirectory() as work, browser.Browser() as chromium:
        check = TrendChecker(sys.argv[1], work, chromium)
        for i, dump in enumerate(check.dumps):
            write_dump(dump, {name: objects[i] for name, objects in OBJECTS.items()})
        for part in (check.check_views, check.check_sliders, check.check_keys,
                     check.check_screen_reader, check.check_odd_names, check.check_edges,
                     check.check_small_window):
            part()
            check.check_no_browser_errors(part.__name__)
    return check.wrong > 0


if __name__ == "__main__":
    sys.exit(main())
