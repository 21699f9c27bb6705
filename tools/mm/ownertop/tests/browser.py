# SPDX-License-Identifier: GPL-2.0
"""Control a headless Chromium: open pages, click, type, evaluate JavaScript."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile

NAMES = ("chromium-headless-shell", "chromium")
PATIENCE = 120


def find_chromium():
    """Return the path of the browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """A browser that is controlled with the DevTools protocol through pipes, fd 3 and 4."""

    def __init__(self, width=1200, height=800):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        # Move them to numbers other than 3 and 4, which become the pipes.
        given = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (commands, answers)]

        def move_descriptors():
            os.dup2(given[0], 3)
            os.dup2(given[1], 4)

        self.process = subprocess.Popen(
            [find_chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--window-size={width},{height}",
             f"--user-data-dir={self.profile.name}"],
            stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=move_descriptors)
        for fd in (commands, answers, *given):
            os.close(fd)
        self.number = 0
        self.pending = b""
        self.events = []
        self.session = None
        target = self.send_command("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send_command("Target.attachToTarget", targetId=target,
                                         flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send_command(domain + ".enable")

    def read_message(self):
        """Return the next message of the browser."""
        while b"\0" not in self.pending:
            if not select.select([self.answers], [], [], PATIENCE)[0]:
                raise RuntimeError(f"the browser said nothing for {PATIENCE} s")
            more = os.read(self.answers, 1 << 16)
            if not more:
                raise RuntimeError("the browser has gone")
            self.pending += more
        text, self.pending = self.pending.split(b"\0", 1)
        return json.loads(text)

    def send_command(self, method, **params):
        """Send a command and wait for its result."""
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.commands, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.read_message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open_page(self, url):
        """Load a page, even if it is loaded already, and wait until it is complete."""
        for there in ("about:blank", url):
            self.events.clear()
            self.send_command("Page.navigate", url=there)
            while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
                self.events.append(self.read_message())

    def evaluate_javascript(self, expression):
        """Return the value of a JavaScript expression in the page."""
        answer = self.send_command("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def send_mouse_event(self, kind, x, y):
        """Move the mouse, or press and release its button."""
        self.send_command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                          clickCount=1)

    def click(self, x, y):
        """Move the mouse to a point and click."""
        self.send_mouse_event("mouseMoved", x, y)
        self.send_mouse_event("mousePressed", x, y)
        self.send_mouse_event("mouseReleased", x, y)

    def press_key(self, key):
        """Press and release a key."""
        text = {"text": key} if len(key) == 1 else {}
        self.send_command("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.send_command("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type_text(self, text):
        """Type text into the element that has the focus."""
        self.send_command("Input.insertText", text=text)

    def save_screenshot(self, path):
        """Save a screenshot, to debug a failure."""
        with open(path, "wb") as image:
            image.write(base64.b64decode(self.send_command("Page.captureScreenshot")["data"]))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.profile.cleanup()


class PageChecker:
    """Look at one page in the browser and count errors."""

    def __init__(self, chromium, page):
        self.browser = chromium
        self.page = page
        self.wrong = 0

    def expect(self, what, want, got):
        """Count an error unless both values are equal."""
        if want != got:
            self.wrong += 1
            print(f"{what}: want {want!r}, got {got!r}")

    def read_visible_text(self, selector):
        """Return the visible text of an element of the page."""
        return self.browser.evaluate_javascript(f"document.querySelector({selector!r}).innerText")

    def check_no_browser_errors(self, what):
        """Check that the browser has no errors, and has fetched only the page."""
        for event in self.browser.events:
            params = event.get("params", {})
            if event["method"] in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.expect(f"{what}: errors", None, params)
            if event["method"] == "Network.requestWillBeSent":
                url = params["request"]["url"].split("#")[0]
                self.expect(f"{what}: fetched", f"file://{self.page}", url)
