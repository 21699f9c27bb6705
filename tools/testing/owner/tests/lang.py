#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The language's documentation against the language: lang.py SENTENCE.

SENTENCE is the program that reads sentences. Each example of the text must be
understood where the text says it is written; each word and each limit must be
in the text; each message must be one that KUnit expects. Prints TAP.
"""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[4]
OWNER = ROOT / "mm/owner"
LANG = OWNER / "lang"
TEXT = (ROOT / "Documentation/mm/slab_owner_language.rst").read_text()
KUNIT = (OWNER / "tests/lang_errors_kunit.c").read_text()
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')

count = 0
failed = False


def ok(good: bool, name: str, why: str = "") -> None:
    global count, failed
    count += 1
    failed |= not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    if not good and why:
        print(textwrap.indent(why.rstrip(), "# "))


def examples() -> list[tuple[str, str]]:
    """Where each is written, and its text."""
    found = []
    for block in re.findall(r"^::\n\n((?:\t.*\n)+)", TEXT, re.M):
        block = textwrap.dedent(block)
        if where := re.match(r"# (control|query)\n", block):
            found.append((where[1], block))
        elif boot := re.match(r'owner="([^"]*)"\n', block):
            found.append(("control", boot[1]))
    return found


def understand(where: str, text: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.argv[1], where], input=text, capture_output=True, text=True)


def test_examples() -> None:
    ok(len(examples()) >= 10, "ten tasks", f"there are {len(examples())}")
    for where, text in examples():
        name = text.removeprefix(f"# {where}\n").split("\n", 1)[0]
        first = understand(where, text)
        ok(first.returncode == 0 and bool(first.stdout), f"{where}: {name.replace('#', '')}",
           first.stderr)
        again = understand(where, first.stdout)
        ok(again.stdout == first.stdout, "  and what is printed of it", again.stderr)


def test_wrong_example() -> None:
    """The text shows one error, as it is rendered."""
    shown = textwrap.dedent(re.search(r"^(\tno field.*\n(?:\t.*\n)+)", TEXT, re.M)[0])
    got = understand("control", shown.split("\n")[1])
    ok(got.returncode == 1 and got.stderr == shown, "the error that is shown", got.stderr)


def test_words_are_told() -> None:
    tables = re.findall(r"(\w+)\[\w+(?: \+ 1)?\] = \{(.*?)\};",
                        (LANG / "words.c").read_text(), re.S)
    for table, body in tables:
        words = [word for word in STRING.findall(body) if word]
        missing = [word for word in words
                   if not re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", TEXT)]
        if words:
            ok(not missing, f"{table} are in the text", ", ".join(missing))


def test_limits_are_told() -> None:
    limits = re.findall(r"#define (\w+)\s+(\d+)\b", (LANG / "lang.h").read_text())
    limits = [(name, value) for name, value in limits
              if name.endswith(("_MAX", "_DEFAULT"))]
    missing = [name for name, value in limits if not re.search(rf"\b{value}\b", TEXT)]
    ok(len(limits) >= 8 and not missing, "limits are in the text", ", ".join(missing))


def test_messages_are_expected() -> None:
    """As KUnit compares whole messages, it is enough that each form of one is there."""
    expected = {message.replace('" FIELDS_OF_CONTROL', "") for message in STRING.findall(KUNIT)}
    forms = []
    for path in sorted(LANG.glob("*.c")):
        for call in re.findall(r"owner_lang_fail\(p,(?:[^\"]|\"(?:[^\"\\]|\\.)*\")*?;",
                               path.read_text()):
            forms += STRING.findall(call)[:1]
    ok(len(forms) >= 50, "messages are found", f"only {len(forms)}")
    for form in forms:
        pattern = re.sub(r"%0?\d*(?:zu|[sducx])", "\0", form)
        pattern = re.escape(pattern).replace("\0", ".+")
        ok(any(re.match(pattern, message) for message in expected), f"tested: {form}")


test_examples()
test_wrong_example()
test_words_are_told()
test_limits_are_told()
test_messages_are_expected()
print(f"1..{count}")
sys.exit(failed)
