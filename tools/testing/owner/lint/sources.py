# SPDX-License-Identifier: GPL-2.0
"""Read the repository's own files: which ones exist, their comments, their code."""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from workbench import ROOT, run_command  # noqa: E402

# A C comment, or a string or character that may look as if it held one.
C_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
# A comment of a shell script, Makefile or configuration: the hash begins a word.
HASH = re.compile(r"(?:^|(?<=[ \t]))#(?!!)([^\n]*)")
HASH_FILES = (".sh", ".config", "Makefile", "Kconfig", "/run", "suites", "skips", ".gitignore")
# Captured output and generated inputs are not written by hand.
DATA = re.compile(r"/(input|expect)/|/corpus$|\.gz$|^COPYING$")


@dataclass
class Comment:
    """A comment's text with its markers removed, and the line it starts in."""
    path: str
    line: int
    text: str


def list_our_files() -> list[str]:
    """Every file of the repository that a person writes, committed or not."""
    listed = run_command("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).split("\n")
    return sorted(path for path in listed
                  if path and (ROOT / path).is_file() and not DATA.search(path))


def read_file(path: str) -> str:
    """The text of a file of the repository."""
    return (ROOT / path).read_text(errors="replace")


def is_c_file(path: str) -> bool:
    """True for C sources and headers."""
    return path.endswith((".c", ".h"))


def is_python_file(path: str) -> bool:
    """True for Python programs and modules."""
    return path.endswith(".py")


def replace_with_spaces(text: str) -> str:
    """Replace all characters but newlines by spaces, so that line numbers stay right."""
    return re.sub(r"[^\n]", " ", text)


def strip_comment_markers(text: str) -> str:
    """The text of a C comment without its markers; an empty line ends a paragraph."""
    text = re.sub(r"^/\*+|\*/$|^//", "", text)
    return "\n".join(re.sub(r"^\s*\*? ?", "", line).rstrip() for line in text.split("\n"))


def line_number_at(text: str, offset: int) -> int:
    """The number of the line that holds an offset, from 1 up."""
    return text.count("\n", 0, offset) + 1


def parse_c_comments(path: str, text: str) -> Iterator[Comment]:
    """The comments of C code."""
    for token in C_TOKEN.finditer(text):
        if token[0].startswith("/"):
            yield Comment(path, line_number_at(text, token.start()),
                          strip_comment_markers(token[0]))


def parse_patch_comments(path: str, text: str) -> Iterator[Comment]:
    """The comments that a patch adds."""
    added = "\n".join(line[1:] if line.startswith("+") and not line.startswith("+++") else ""
                      for line in text.split("\n"))
    yield from parse_c_comments(path, added)


def parse_hash_comments(path: str, text: str) -> Iterator[Comment]:
    """Comments that follow a hash; lines that follow each other are one comment."""
    block: list[str] = []
    first = 0
    for number, line in enumerate([*text.split("\n"), ""], 1):
        found = HASH.search(line)
        alone = bool(found) and not line[:found.start()].strip() if found else False
        if block and not alone:
            yield Comment(path, first, "\n".join(block))
            block = []
        if found and alone:
            first = first if block else number
            block.append(found[1].strip())
        elif found:
            yield Comment(path, number, found[1].strip())


def parse_python_comments(path: str, text: str) -> Iterator[Comment]:
    """The comments and docstrings of a Python program."""
    lines = text.split("\n")
    block: list[str] = []
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT or token.string.startswith("#!"):
            continue
        row = token.start[0]
        alone = not lines[row - 1][:token.start[1]].strip()
        if block and (row != last + 1 or not alone):
            yield Comment(path, last - len(block) + 1, "\n".join(block))
            block = []
        block.append(token.string.lstrip("#").strip())
        last = row
    if block:
        yield Comment(path, last - len(block) + 1, "\n".join(block))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            docstring = ast.get_docstring(node)
            if docstring:
                yield Comment(path, node.body[0].lineno, docstring)


def parse_comments(path: str) -> Iterator[Comment]:
    """All comments of one file, in any of the languages that are used here."""
    if is_c_file(path):
        yield from parse_c_comments(path, read_file(path))
    elif is_python_file(path):
        yield from parse_python_comments(path, read_file(path))
    elif path.endswith(".patch"):
        yield from parse_patch_comments(path, read_file(path))
    elif path.endswith(HASH_FILES):
        yield from parse_hash_comments(path, read_file(path))


def read_c_without_comments(path: str) -> str:
    """A C file's code: comments, strings and characters are blanked."""
    return C_TOKEN.sub(lambda token: replace_with_spaces(token[0]), read_file(path))
