#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check that each function that a C comment names as name() exists.

A name is accepted if it is a function or macro of this repository or of build/tree, or
is in the list "known_functions". Names that build/tree has are remembered in
build/lint.functions. Prints each name that is not found, with file and line.
"""

import re
import subprocess
import sys

from sources import Comment, is_c_file, list_our_files, parse_comments, read_c_without_comments

from workbench import BUILD, HERE, TREE

NAME = re.compile(r"(?<![\w.>/\"'-])([A-Za-z_]\w+)\(\)")
# A definition, or a macro, or a function whose name a macro is given.
DEFINED = re.compile(r"\b([A-Za-z_]\w+)[ \t]*\(")
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
MEMBER = re.compile(r"\(\*(\w+)\)\s*\(")
SEARCHED = ("include", "mm", "kernel", "lib", "fs", "arch/x86", "arch/um", "arch/arm64",
            "drivers/base", "security/keys", "net/core", "init", "tools/mm", "tools/include")
CACHE = BUILD / "lint.functions"
ALLOWED = HERE / "lint/known_functions"


def find_named_functions() -> list[tuple[Comment, int, str]]:
    """Every name() in the comments of C files and patches, with its line."""
    found = []
    for path in list_our_files():
        if is_c_file(path) or path.endswith(".patch"):
            for comment in parse_comments(path):
                for number, line in enumerate(comment.text.split("\n")):
                    found += [(comment, comment.line + number, name)
                              for name in NAME.findall(line)]
    return found


def find_defined_functions() -> set[str]:
    """Names that the code of this repository defines.

    A call counts only if its name is defined in the same repository, so look at lines
    that are not indented, and at macros.
    """
    names: set[str] = set()
    for path in list_our_files():
        if is_c_file(path):
            text = read_c_without_comments(path)
            names.update(MACRO.findall(text))
            names.update(MEMBER.findall(text))
            for line in text.split("\n"):
                if line[:1] not in ("", " ", "\t", "#", "}"):
                    names.update(DEFINED.findall(line))
    return names


def load_allowed_functions() -> set[str]:
    """The list of names that no source here defines: a name and the reason a line."""
    lines = (line.split("#")[0].split() for line in ALLOWED.read_text().split("\n"))
    return {words[0] for words in lines if words}


def find_kernel_functions(wanted: set[str]) -> set[str]:
    """The subset of the wanted names that build/tree defines."""
    known = set(CACHE.read_text().split()) if CACHE.is_file() else set()
    unknown = sorted(wanted - known)
    if unknown:
        words = "|".join(unknown)
        pattern = (rf"^([A-Za-z_][^;=]*[ *\t])?({words})[ \t]*\("
                   rf"|^[ \t]*#[ \t]*define[ \t]+({words})\b")
        done = subprocess.run(["git", "-C", TREE, "grep", "-hE", pattern, "--", *SEARCHED],
                              stdout=subprocess.PIPE, text=True, errors="replace", check=False)
        called = re.findall(r"(\w+)[ \t]*\(", done.stdout)
        known |= {*called, *MACRO.findall(done.stdout)} & set(unknown)
        CACHE.write_text("\n".join(sorted(known)) + "\n")
    return known


def main() -> int:
    """Print each named function that does not exist; return 1 if there is one."""
    named = find_named_functions()
    missing = {name for _, _, name in named} - find_defined_functions() - load_allowed_functions()
    missing -= find_kernel_functions(missing)
    for comment, line, name in named:
        if name in missing:
            print(f"{comment.path}:{line}: {name}() does not exist")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
