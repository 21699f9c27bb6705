#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check the documentation and the tests of the language: lang.py SENTENCE.

SENTENCE is the program that parses and prints sentences. Each example of the
documentation must be valid in its dialect. Each name and each limit must be in the
documentation. KUnit must expect each error message. Prints TAP.
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


def print_result(good: bool, name: str, why: str = "") -> None:
    global count, failed
    count += 1
    failed |= not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    if not good and why:
        print(textwrap.indent(why.rstrip(), "# "))


def find_documented_examples() -> list[tuple[str, str]]:
    """Dialect and text of each example."""
    found = []
    for block in re.findall(r"^::\n\n((?:\t.*\n)+)", TEXT, re.M):
        block = textwrap.dedent(block)
        if where := re.match(r"# (control|query)\n", block):
            found.append((where[1], block))
        elif boot := re.match(r'owner="([^"]*)"\n', block):
            found.append(("control", boot[1]))
    return found


def run_sentence_parser(dialect: str, text: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.argv[1], dialect], input=text, capture_output=True, text=True)


def test_documented_examples() -> None:
    examples = find_documented_examples()
    print_result(len(examples) >= 10, "ten tasks", f"there are {len(examples)}")
    for dialect, text in examples:
        name = text.removeprefix(f"# {dialect}\n").split("\n", 1)[0]
        first = run_sentence_parser(dialect, text)
        print_result(first.returncode == 0 and bool(first.stdout),
                     f"{dialect}: {name.replace('#', '')}", first.stderr)
        second = run_sentence_parser(dialect, first.stdout)
        print_result(second.stdout == first.stdout, "  and what is printed of it", second.stderr)


def test_documented_error() -> None:
    """The documentation prints one error exactly as the program does."""
    expected = textwrap.dedent(re.search(r"^(\tno field.*\n(?:\t.*\n)+)", TEXT, re.M)[0])
    got = run_sentence_parser("control", expected.split("\n")[1])
    print_result(got.returncode == 1 and got.stderr == expected, "the error that is shown",
                 got.stderr)


def test_names_are_documented() -> None:
    tables = re.findall(r"(\w+)\[\w+(?: \+ 1)?\] = \{(.*?)\};",
                        (LANG / "words.c").read_text(), re.S)
    for table, body in tables:
        words = [word for word in STRING.findall(body) if word]
        missing = [word for word in words
                   if not re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", TEXT)]
        if words:
            print_result(not missing, f"{table} are in the text", ", ".join(missing))


def test_limits_are_documented() -> None:
    limits = re.findall(r"#define (\w+)\s+(\d+)\b", (LANG / "lang.h").read_text())
    limits = [(name, value) for name, value in limits
              if name.endswith(("_MAX", "_DEFAULT"))]
    missing = [name for name, value in limits if not re.search(rf"\b{value}\b", TEXT)]
    print_result(len(limits) >= 8 and not missing, "limits are in the text", ", ".join(missing))


def test_messages_are_expected() -> None:
    """KUnit compares complete messages, so each format string must match one of them."""
    expected = {message.replace('" FIELDS_OF_CONTROL', "") for message in STRING.findall(KUNIT)}
    formats = []
    for path in sorted(LANG.glob("*.c")):
        for call in re.findall(r"owner_lang_fail\(p,(?:[^\"]|\"(?:[^\"\\]|\\.)*\")*?;",
                               path.read_text()):
            formats += STRING.findall(call)[:1]
    print_result(len(formats) >= 50, "messages are found", f"only {len(formats)}")
    for text in formats:
        pattern = re.sub(r"%0?\d*(?:zu|[sducx])", "\0", text)
        pattern = re.escape(pattern).replace("\0", ".+")
        print_result(any(re.match(pattern, message) for message in expected), f"tested: {text}")


test_documented_examples()
test_documented_error()
test_names_are_documented()
test_limits_are_documented()
test_messages_are_expected()
print(f"1..{count}")
sys.exit(failed)
