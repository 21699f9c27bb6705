#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test ownertop's flame graphs in a browser: boxes, search, zoom, comparison."""

import collections
import os
import re
import subprocess
import sys
import tempfile

import browser
import oracle

ODD = """Slab object allocated via order 0, size 64, slab 64, cache </script><b>x, \
pid 1, tgid 1 (a"b'<i>&amp;\x1b[m\u202e), ts 1 ns
PFN 0x1 object 0 index 0
 plant+0x1/0x2

"""

BOTH_HALVES = """Slab object allocated via order 0, size 30, slab 30, cache c, pid 1, tgid 1 (a), \
ts 1 ns
PFN 0x1 object 0 index 0
 plant+0x1/0x2
 entry+0x1/0x2
 user libc.so.6+0x20@bb
 user main+0x10@aa

Slab object allocated via order 0, size 40, slab 40, cache c, pid 2, tgid 2 (b), ts 1 ns
PFN 0x1 object 0 index 1
 plant+0x1/0x2
 entry+0x1/0x2
 user (kernel-thread)

"""

ALL = """[...document.querySelectorAll("#chart div")].map(div => {
    const { left, width, top, height } = div.getBoundingClientRect();
    const node = nodes[div.dataset.id];
    return { name: node.name, id: node.id, label: div.textContent, left, width,
         x: left + Math.min(width, 20) / 2, y: top + height / 2,
         colour: getComputedStyle(div).backgroundColor, class: div.className,
         flat: node.sums, path: (function path(n) {
            return n.parent ? [...path(n.parent), n.name] : [];
         })(node).join(";") };
})"""


class FlameChecker(browser.PageChecker):
    """Open flame graphs in the browser and count errors."""

    def __init__(self, program, work, chromium):
        super().__init__(chromium, os.path.join(work, "flame.html"))
        self.program = program
        self.skip = oracle.read_skip_list(program)

    def open_flame_graph(self, *arguments, fragment=""):
        """Write a flame graph and open it in the browser."""
        with open(self.page, "wb") as out:
            subprocess.run([self.program, "flame", "--page-size", str(oracle.PAGE_SIZE),
                            *arguments], check=True, stdout=out)
        self.browser.open_page(f"file://{self.page}{fragment}")

    def read_flame_boxes(self):
        """Return the boxes of the flame graph by path."""
        return {frame["path"]: frame for frame in self.browser.evaluate_javascript(ALL)}

    def check_plain_page(self, dump):
        """Check boxes and their widths, then search, zoom, tooltip and another figure."""
        cum = collections.Counter()
        objects = collections.Counter()
        for rec in oracle.read_records(dump, 0, self.skip):
            path = oracle.list_chain_functions(rec)
            for i in range(len(path) + 1):
                cum[";".join(path[:i])] += rec["held"]
                objects[";".join(path[:i])] += 1
        total = cum[""]
        self.open_flame_graph(dump)
        self.expect("frames", cum, self.browser.evaluate_javascript("""
            Object.fromEntries(nodes.map(n => [
            (function path(n) { return n.parent ? [...path(n.parent), n.name] : []; })(n)
            .join(";"), n.sums[2]]))"""))
        self.expect("summary", True, self.read_visible_text("#notes").startswith(
            f"{len(cum) - 1} frames, {objects['']:,} objects"))
        drawn = self.read_flame_boxes()
        full = drawn[""]["width"]
        for path, frame in drawn.items():
            if abs(frame["width"] - full * cum[path] / total) > 0.6:
                self.expect(f"width of {path}", full * cum[path] / total, frame["width"])
        undrawn = [p for p in cum if p not in drawn and full * cum[p] / total > 1]
        self.expect("undrawn", [], undrawn)

        # The widest box that is narrower than the whole graph.
        path = max((p for p in cum if cum[p] < total), key=lambda p: cum[p])
        name = path.split(";")[-1]
        self.check_search(name[1:-1].upper(), cum, total)
        self.browser.evaluate_javascript("document.activeElement.select()")
        self.check_search("no such function", cum, total)
        self.browser.evaluate_javascript("document.activeElement.select()")
        self.browser.press_key("Backspace")
        self.browser.evaluate_javascript("document.activeElement.blur(), change({ search: '' })")

        frame = drawn[path]
        self.browser.send_mouse_event("mouseMoved", frame["x"], frame["y"])
        tip = self.read_visible_text("#tip")
        for wanted in (name, f"{objects[path]:,}", f"{100 * cum[path] / total:.1f}%"):
            self.expect(f"tip has {wanted}", True, wanted in tip)

        self.browser.click(frame["x"], frame["y"])
        drawn = self.read_flame_boxes()
        self.expect("zoomed width", full, drawn[path]["width"])
        self.expect("zoomed away", [], [p for p in drawn if not path.startswith(p)
                                        and not p.startswith(path)])
        self.expect("address", f"#zoom={frame['id']}",
                    self.browser.evaluate_javascript("location.hash"))
        self.browser.press_key("Escape")
        self.expect("reset width", frame["width"], self.read_flame_boxes()[path]["width"])

        self.browser.evaluate_javascript("document.querySelector('#measures button').click()")
        drawn = self.read_flame_boxes()
        for path, frame in drawn.items():
            if abs(frame["width"] - full * objects[path] / objects[""]) > 0.6:
                self.expect(f"objects of {path}", objects[path], frame["width"])
        self.open_flame_graph(dump, fragment=f"#zoom={frame['id']}&search=a")
        self.expect("recalled", [frame["id"], "a"],
                    self.browser.evaluate_javascript("[state.zoom.id, at('search').value]"))

    def check_search(self, word, cum, total):
        """Check the search for a word: only the topmost matches are counted."""
        self.browser.press_key("/")
        self.browser.type_text(word)
        tops = set()
        for path in cum:
            names = path.split(";")
            for i, name in enumerate(names):
                if path and word.lower() in name.lower():
                    tops.add(";".join(names[:i + 1]))
                    break
        matched = sum(cum[path] for path in tops)
        self.expect(f"matched {word}", f"{100 * matched / total:.1f}%",
                    re.search(r"([\d.]+%) of what is shown", self.read_visible_text("#matched"))[1])
        drawn = self.read_flame_boxes()
        self.expect(f"highlighted {word}",
                    sorted(p for p in drawn if p and word.lower() in p.split(";")[-1].lower()),
                    sorted(p for p in drawn if "match" in drawn[p]["class"].split()))

    def check_diff(self, old, new):
        """Check the colours of a diff: boxes that grew are red, boxes that shrank are blue."""
        sums = collections.defaultdict(lambda: [0, 0])
        for side, dump in enumerate((old, new)):
            for rec in oracle.read_records(dump, 0, self.skip):
                path = oracle.list_chain_functions(rec)
                for i in range(len(path) + 1):
                    sums[";".join(path[:i])][side] += rec["held"]
        self.open_flame_graph("--since", old, new)
        seen = set()
        for path, frame in self.read_flame_boxes().items():
            before, after = sums[path]
            red, green, blue = map(int, re.findall(r"\d+", frame["colour"])[:3])
            got = (red > max(green, blue)) - (blue > max(red, green))
            seen.add(got)
            self.expect(f"colour of {path}", (after > before) - (after < before), got)
        self.expect("colours", {-1, 0, 1}, seen)

    def check_both_halves(self, dump):
        """Check that user frames call those of the kernel, and are hatched, unlike these."""
        with open(dump, "w", encoding="ascii") as out:
            out.write(BOTH_HALVES)
        self.open_flame_graph(dump)
        drawn = self.read_flame_boxes()
        outer, inner = "user main+0x10@aa", "user main+0x10@aa;user libc.so.6+0x20@bb"
        self.expect("both halves", {
            "": 70, outer: 30, inner: 30, inner + ";entry": 30, inner + ";entry;plant": 30,
            "user (kernel-thread)": 40, "user (kernel-thread);entry": 40,
            "user (kernel-thread);entry;plant": 40,
        }, {path: frame["flat"][1] for path, frame in drawn.items()})
        for path, frame in drawn.items():
            name = path.split(";")[-1]
            is_user = name.startswith("user ")
            self.expect(f"hatching of {path}", is_user, self.browser.evaluate_javascript(
                f"getComputedStyle(document.querySelector('[data-id=\"{frame['id']}\"]'))"
                ".backgroundImage.includes('gradient')"))
            self.expect(f"label of {path}", name[5:] if is_user else name or "total",
                        frame["label"].split("  ")[0].split(" 70B")[0])
        self.expect("colours of programs", 4, len({drawn[path]["colour"] for path in (
            outer, inner, inner + ";entry", "user (kernel-thread)")}))
        self.browser.send_mouse_event("mouseMoved", drawn[outer]["x"], drawn[outer]["y"])
        self.expect("tip of a user frame", True,
                    self.read_visible_text("#tip").startswith("user main+0x10@aa"))
        self.expect("key", True, "program" in self.read_visible_text("#key"))
        self.open_flame_graph("--callees", dump)
        self.expect("callees", True, "plant;entry;user libc.so.6+0x20@bb;user main+0x10@aa" in
                    self.read_flame_boxes())

    def check_odd_names(self, dump):
        """Check that names with HTML and control characters in them are shown as text."""
        with open(dump, "w", encoding="utf-8") as out:
            out.write(ODD)
        self.open_flame_graph("-g", "cache,comm,stack", dump)
        self.expect("odd names", ["total", "</script><b>x", "a\"b'<i>&amp;\\x1b[m\\u202e",
                                  "plant"],
                    self.browser.evaluate_javascript("nodes.map(n => n.name)"))
        self.expect("odd labels", "</script><b>x", self.browser.evaluate_javascript(
            "document.querySelectorAll('#chart div')[1].textContent").split("  ")[0])

    def check_incomplete(self, dump):
        """Check that the page reports damaged input."""
        with open(dump, "w", encoding="utf-8") as out:
            out.write(ODD + ODD[:40])
        with open(self.page, "wb") as out:
            status = subprocess.run([self.program, "flame", dump], check=False, stdout=out,
                                    stderr=subprocess.DEVNULL).returncode
        self.browser.open_page(f"file://{self.page}")
        self.expect("status", 1, status)
        self.expect("alarm", True, self.read_visible_text("#alarm").startswith(
            "INCOMPLETE: damaged places 1"))


def main():
    """Return exit status 0 without errors, or 77 without a browser."""
    if not browser.find_chromium():
        print("needs Chromium: apt-get install chromium-headless-shell")
        return 77
    with tempfile.TemporaryDirectory() as work, browser.Browser() as chromium:
        check = FlameChecker(sys.argv[1], work, chromium)
        old, new = os.path.join(work, "old"), os.path.join(work, "new")
        options = ("--records", "2000", "--chains", "60")
        oracle.make_dump(old, "page.txt", *options)
        check.check_plain_page(old)
        check.check_no_browser_errors("plain")
        oracle.make_dump(old, "slab.txt", *options)
        check.check_plain_page(old)
        # A dump with a few more call chains, so that some of the others shrink.
        oracle.make_dump(new, "slab.txt", "--records", "1000", "--chains", "30")
        with open(new, "a", encoding="ascii") as more, open(old, encoding="ascii") as whole:
            more.write("\n\n".join(whole.read().split("\n\n")[1:1200]) + "\n\n")
        check.check_diff(old, new)
        check.check_no_browser_errors("diff")
        check.check_both_halves(old)
        check.check_no_browser_errors("both halves")
        check.check_odd_names(old)
        check.check_no_browser_errors("odd names")
        check.check_incomplete(old)
    return check.wrong > 0


if __name__ == "__main__":
    sys.exit(main())
