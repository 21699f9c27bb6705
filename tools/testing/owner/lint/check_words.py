#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check that names and comments use the words that the glossary defines.

The list "banned_words" has the refused words and the reasons. The glossary is a comment
of mm/owner/owner.h and has at most 40 lines; the whole header has at most 130. With paths
as arguments, only files below them are checked. Prints each hit with file and line.
"""

import io
import keyword
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from sources import (Comment, is_c_file, is_python_file, line_number_at, list_our_files,
                     parse_comments, read_c_without_comments, read_file)

from workbench import HERE

BANNED = HERE / "lint/banned_words"
GLOSSARY = "mm/owner/owner.h"
GLOSSARY_LINES = 40
HEADER_LINES = 130
# A line of the glossary: words, tabs, the meaning.
ENTRY = re.compile(r"^[a-zA-Z, -]+\t+\w", re.M)
IDENTIFIER = re.compile(r"\b[A-Za-z_]\w*\b")
# A sentence begins after an empty line, a full stop, or the marks of a list.
SENTENCE = re.compile(r"(?:\A|\n[ \t]*\n|[.!?:][)\"]?\s+|\n[ \t]*[-*][ \t]+)([A-Z][^.!?]*[.!?]?)")


@dataclass
class BannedWord:
    """One line of the list banned_words."""
    kind: str
    pattern: re.Pattern[str]
    reason: str


def load_banned_words() -> dict[str, list[BannedWord]]:
    """Read the list banned_words; return its lines by kind."""
    bans: dict[str, list[BannedWord]] = {"name": [], "code": [], "opening": [], "phrase": []}
    for number, line in enumerate(BANNED.read_text().split("\n"), 1):
        if not line or line.startswith("#"):
            continue
        words = line.split("\t")
        if len(words) != 3 or words[0] not in bans:
            sys.exit(f"{BANNED}:{number}: not a kind, a pattern and a reason with tabs between")
        kind, pattern, reason = words
        flags = re.I if kind == "phrase" else 0
        if kind == "phrase":
            pattern = pattern.replace(" ", r"\s+")
        elif kind == "opening":
            pattern = pattern.replace(" ", r"\s+") + r"\b(?![-'])"
        bans[kind].append(BannedWord(kind, re.compile(pattern, flags), reason))
    return bans


def list_python_identifiers(text: str) -> Iterator[tuple[int, str]]:
    """The identifiers of a Python program, with their lines."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
            yield token.start[0], token.string


def list_identifiers(path: str) -> Iterator[tuple[int, str]]:
    """The identifiers of a C or Python file, with their lines."""
    if is_c_file(path):
        for number, line in enumerate(read_c_without_comments(path).split("\n"), 1):
            for name in IDENTIFIER.findall(line):
                yield number, name
    elif is_python_file(path):
        yield from list_python_identifiers(read_file(path))


def check_identifiers(path: str, bans: dict[str, list[BannedWord]]) -> Iterator[tuple[int, str]]:
    """Find identifiers and pieces of code that the list banned_words refuses."""
    for line, name in dict.fromkeys(list_identifiers(path)):
        for ban in bans["name"]:
            if ban.pattern.fullmatch(name):
                yield line, f"the name {name}: {ban.reason}"
    if is_c_file(path):
        text = read_c_without_comments(path)
        for ban in bans["code"]:
            for found in ban.pattern.finditer(text):
                yield line_number_at(text, found.start()), f"{found[0]}: {ban.reason}"


def check_comment(comment: Comment, bans: dict[str, list[BannedWord]]) -> Iterator[tuple[int, str]]:
    """Find openings of sentences and phrases that the list banned_words refuses."""
    text = comment.text
    for sentence in SENTENCE.finditer(text):
        if sentence[1].endswith("?"):
            continue
        for ban in bans["opening"]:
            if ban.pattern.match(sentence[1]):
                start = sentence.start(1)
                told = " ".join(text[start:start + 50].split())
                yield comment.line + text.count("\n", 0, start), f"\"{told}\": {ban.reason}"
    for ban in bans["phrase"]:
        for found in ban.pattern.finditer(text):
            yield (comment.line + text.count("\n", 0, found.start()),
                   f"\"{' '.join(found[0].split())}\": {ban.reason}")


def check_glossary() -> Iterator[tuple[int, str]]:
    """Check that the glossary exists, and that it and its header are short."""
    length = read_file(GLOSSARY).count("\n")
    if length > HEADER_LINES:
        yield 1, f"the header has {length} lines, more than {HEADER_LINES}"
    for comment in parse_comments(GLOSSARY):
        if len(ENTRY.findall(comment.text)) >= 10:
            lines = comment.text.strip().count("\n") + 1
            if lines > GLOSSARY_LINES:
                yield comment.line, f"the glossary has {lines} lines, more than {GLOSSARY_LINES}"
            return
    yield 1, "there is no glossary: a comment with lines of a word, tabs and its meaning"


def main() -> int:
    """Print each refused word; return 1 if there is one."""
    bans = load_banned_words()
    below = tuple(sys.argv[1:])
    wrong = 0
    for path in list_our_files():
        if below and not path.startswith(below):
            continue
        found = list(check_identifiers(path, bans))
        for comment in parse_comments(path):
            found += check_comment(comment, bans)
        if path == GLOSSARY:
            found += check_glossary()
        for line, text in sorted(set(found)):
            print(f"{path}:{line}: {text}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
