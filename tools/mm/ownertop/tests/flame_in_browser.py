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
pid 1, tgid 1 (a"b'<i>&amp;), ts 1 ns
PFN 0x1 object 0 index 0
 plant+0x1/0x2

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


class Checker:
    """Open pages and count errors."""

    def __init__(self, program, work, chromium):
        self.program = program
        self.page = os.path.join(work, "flame.html")
        self.skip = oracle.skip_list(program)
        self.browser = chromium
        self.wrong = 0

    def expect(self, what, want, got):
        """Count an error unless both values are equal."""
        if want != got:
            self.wrong += 1
            print(f"{what}: want {want!r}, got {got!r}")

    def open(self, *arguments, fragment=""):
        """Write a page and open it."""
        with open(self.page, "wb") as out:
            subprocess.run([self.program, "flame", "--page-size", str(oracle.PAGE_SIZE),
                            *arguments], check=True, stdout=out)
        self.browser.open(f"file://{self.page}{fragment}")

    def text(self, selector):
        """Return the visible text."""
        return self.browser.ask(f"document.querySelector({selector!r}).innerText")

    def frames(self):
        """Return the boxes by path."""
        return {frame["path"]: frame for frame in self.browser.ask(ALL)}

    def plain(self, dump):
        """Check boxes and their widths, then search, zoom, tooltip and another figure."""
        cum = collections.Counter()
        objects = collections.Counter()
        for rec in oracle.records(dump, 0, self.skip):
            path = oracle.path(rec)
            for i in range(len(path) + 1):
                cum[";".join(path[:i])] += rec["bytes"]
                objects[";".join(path[:i])] += 1
        total = cum[""]
        self.open(dump)
        self.expect("frames", cum, self.browser.ask("""Object.fromEntries(nodes.map(n => [
            (function path(n) { return n.parent ? [...path(n.parent), n.name] : []; })(n)
            .join(";"), n.sums[1]]))"""))
        self.expect("summary", True, self.text("#notes").startswith(
            f"{len(cum) - 1} frames, {objects['']:,} objects"))
        drawn = self.frames()
        full = drawn[""]["width"]
        for path, frame in drawn.items():
            if abs(frame["width"] - full * cum[path] / total) > 0.6:
                self.expect(f"width of {path}", full * cum[path] / total, frame["width"])
        undrawn = [p for p in cum if p not in drawn and full * cum[p] / total > 1]
        self.expect("undrawn", [], undrawn)

        # The largest function that some call chains do not contain.
        path = max((p for p in cum if cum[p] < total), key=lambda p: cum[p])
        name = path.split(";")[-1]
        self.search(name[1:-1].upper(), cum, total)
        self.browser.ask("document.activeElement.select()")
        self.search("no such function", cum, total)
        self.browser.ask("document.activeElement.select()")
        self.browser.key("Backspace")
        self.browser.ask("document.activeElement.blur(), change({ search: '' })")

        frame = drawn[path]
        self.browser.mouse("mouseMoved", frame["x"], frame["y"])
        tip = self.text("#tip")
        for wanted in (name, f"{objects[path]:,}", f"{100 * cum[path] / total:.1f}%"):
            self.expect(f"tip has {wanted}", True, wanted in tip)

        self.browser.click(frame["x"], frame["y"])
        drawn = self.frames()
        self.expect("zoomed width", full, drawn[path]["width"])
        self.expect("zoomed away", [], [p for p in drawn if not path.startswith(p)
                                        and not p.startswith(path)])
        self.expect("address", f"#zoom={frame['id']}", self.browser.ask("location.hash"))
        self.browser.key("Escape")
        self.expect("reset width", frame["width"], self.frames()[path]["width"])

        self.browser.ask("document.querySelector('#measures button').click()")
        drawn = self.frames()
        for path, frame in drawn.items():
            if abs(frame["width"] - full * objects[path] / objects[""]) > 0.6:
                self.expect(f"objects of {path}", objects[path], frame["width"])
        self.open(dump, fragment=f"#zoom={frame['id']}&search=a")
        self.expect("recalled", [frame["id"], "a"],
                    self.browser.ask("[state.zoom.id, at('search').value]"))

    def search(self, word, cum, total):
        """Search for a word: only the topmost matches are counted."""
        self.browser.key("/")
        self.browser.type(word)
        tops = set()
        for path in cum:
            names = path.split(";")
            for i, name in enumerate(names):
                if path and word.lower() in name.lower():
                    tops.add(";".join(names[:i + 1]))
                    break
        matched = sum(cum[path] for path in tops)
        self.expect(f"matched {word}", f"{100 * matched / total:.1f}%",
                    re.search(r"([\d.]+%) of what is shown", self.text("#matched"))[1])
        drawn = self.frames()
        self.expect(f"highlighted {word}",
                    sorted(p for p in drawn if p and word.lower() in p.split(";")[-1].lower()),
                    sorted(p for p in drawn if "match" in drawn[p]["class"].split()))

    def diff(self, old, new):
        """Boxes that grew are red, boxes that shrank are blue, all others are grey."""
        sums = collections.defaultdict(lambda: [0, 0])
        for side, dump in enumerate((old, new)):
            for rec in oracle.records(dump, 0, self.skip):
                path = oracle.path(rec)
                for i in range(len(path) + 1):
                    sums[";".join(path[:i])][side] += rec["bytes"]
        self.open("--diff", old, new)
        seen = set()
        for path, frame in self.frames().items():
            before, after = sums[path]
            red, _, blue = map(int, re.findall(r"\d+", frame["colour"])[:3])
            got = (red > blue) - (red < blue)
            seen.add(got)
            self.expect(f"colour of {path}", (after > before) - (after < before), got)
        self.expect("colours", {-1, 0, 1}, seen)

    def odd_names(self, dump):
        """Names that contain HTML are shown as text."""
        with open(dump, "w", encoding="ascii") as out:
            out.write(ODD)
        self.open("-g", "cache,comm,stack", dump)
        self.expect("odd names", ["total", "</script><b>x", "a\"b'<i>&amp;", "plant"],
                    self.browser.ask("nodes.map(n => n.name)"))
        self.expect("odd labels", "</script><b>x", self.browser.ask(
            "document.querySelectorAll('#chart div')[1].textContent").split("  ")[0])

    def incomplete(self, dump):
        """Damaged input is reported on the page."""
        with open(dump, "w", encoding="ascii") as out:
            out.write(ODD + ODD[:40])
        with open(self.page, "wb") as out:
            status = subprocess.run([self.program, "flame", dump], check=False, stdout=out,
                                    stderr=subprocess.DEVNULL).returncode
        self.browser.open(f"file://{self.page}")
        self.expect("status", 1, status)
        self.expect("alarm", True, self.text("#alarm").startswith("INCOMPLETE: damaged places 1"))

    def silence(self, what):
        """The browser has no errors, and has fetched only the page."""
        for event in self.browser.events:
            params = event.get("params", {})
            if event["method"] in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.expect(f"{what}: errors", None, params)
            if event["method"] == "Network.requestWillBeSent":
                url = params["request"]["url"].split("#")[0]
                self.expect(f"{what}: fetched", f"file://{self.page}", url)


def main():
    """Return exit status 0 without errors, or 77 without a browser."""
    if not browser.find():
        print("needs Chromium: apt-get install chromium-headless-shell")
        return 77
    with tempfile.TemporaryDirectory() as work, browser.Browser() as chromium:
        check = Checker(sys.argv[1], work, chromium)
        old, new = os.path.join(work, "old"), os.path.join(work, "new")
        options = ("--records", "2000", "--chains", "60")
        oracle.make_dump(old, "page.txt", *options)
        check.plain(old)
        check.silence("plain")
        oracle.make_dump(old, "slab.txt", *options)
        check.plain(old)
        # A dump with a few more call chains, so that some of the others shrink.
        oracle.make_dump(new, "slab.txt", "--records", "1000", "--chains", "30")
        with open(new, "a", encoding="ascii") as more, open(old, encoding="ascii") as whole:
            more.write("\n\n".join(whole.read().split("\n\n")[1:1200]) + "\n\n")
        check.diff(old, new)
        check.silence("diff")
        check.odd_names(old)
        check.silence("odd names")
        check.incomplete(old)
    return check.wrong > 0


if __name__ == "__main__":
    sys.exit(main())
