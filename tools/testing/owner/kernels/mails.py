# SPDX-License-Identifier: GPL-2.0
"""The series as mail, for git am: a directory for each part.

patches/README tells the form of the files in patches/parts/, which say what is in each mail.
"""

import os
import re
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from overlay import list_overlay_files
from parts import Mail, Part, load_parts, names_patch
from patches import Patch, load_patch_series
from pristine import read_base_file, unpack_base_tree

from workbench import PLACE, ROOT, die, name_path, print_line, run_git

SERIES = PLACE / "series"
# Lines that a mail may add, in files that are neither tests nor documentation.
MAIL_LINES = 600
NOT_CODE = re.compile(r"^(Documentation|tools/testing)/|/tests/|(^|/)README$|\.8\.in$")
# The objects and folders that a line of a Makefile of the kernel builds.
BUILT = re.compile(r"((?:obj-.*?|\w+-y)\s*[:+]?=)((?:\s+\S+(?:\.o|/))+)")


@dataclass
class SeriesState:
    """The files that the mails up to one have added, and those that are left."""
    patches: dict[str, Patch]
    left: set[str]
    files: dict[str, bytes] = field(default_factory=dict)
    # The options whose blocks are in a Kconfig file; all, if the file has no entry.
    options: dict[str, set[str]] = field(default_factory=dict)


def split_options(content: str) -> list[tuple[str, str]]:
    """The blocks of a Kconfig file, each with its option; the text before the first has none."""
    blocks = re.split(r"(?<=\n\n)(?=(?:#.*\n)*(?:menu)?config \w+\n)", content)
    return [(found[1] if (found := re.search(r"^(?:menu)?config (\w+)$", block, re.M)) else "",
             block) for block in blocks]


def cut_options(content: bytes, options: set[str]) -> bytes:
    """A Kconfig file without the blocks of other options."""
    kept = [block for name, block in split_options(content.decode()) if name in options | {""}]
    return ("".join(kept).rstrip("\n") + "\n").encode()


def cut_makefile(content: bytes, folder: str, added: set[str]) -> bytes:
    """A Makefile without the objects and folders whose files no mail has added yet."""
    text = content.decode()

    def has_files(word: str) -> bool:
        if word.endswith("/"):
            return f"{folder}/{word}Makefile" in added
        parts = re.findall(rf"^{re.escape(word[:-2])}-y\s*[:+]?=(.*)$", text, re.M)
        if parts:
            return any(map(has_files, " ".join(parts).split()))
        return f"{folder}/{word[:-2]}.c" in added

    lines = []
    for line in text.split("\n"):
        found = BUILT.fullmatch(line)
        if found:
            words = [word for word in found[2].split() if has_files(word)]
            if not words:
                continue
            if words != found[2].split():
                line = f"{found[1]} {' '.join(words)}"
        lines.append(line)
    return "\n".join(lines).encode()


def take_files(state: SeriesState, mail: Mail, word: str) -> set[str]:
    """The files of the overlay that a word of a mail names; they are left for no other mail."""
    path, _, options = word.partition(":")
    if options:
        known = {name for name, _ in split_options((ROOT / path).read_text())}
        shown = state.options.setdefault(path, set())
        for option in options.split(","):
            if option not in known or option in shown:
                die(f"{mail.where}: {word}: {path} has no option {option} that is left")
            shown.add(option)
        state.left.discard(path)
        return {path}
    taken = {name for name in state.left
             if name == path or name.startswith(path.rstrip("/") + "/")
             or PurePosixPath(name).match(path) and name.count("/") == path.count("/")}
    if not taken:
        die(f"{mail.where}: {word} names no file of the overlay that is left")
    state.left -= taken
    return taken


def collect_mail_files(state: SeriesState, mail: Mail) -> dict[str, bytes]:
    """The content of the files that a mail changes."""
    files: dict[str, bytes] = {}
    taken: set[str] = set()
    for word in mail.words:
        if names_patch(word):
            files |= state.patches.pop(word).after
        else:
            taken |= take_files(state, mail, word)
    added = taken | state.files.keys()
    # A Makefile changes with the files of its folder.
    for path in taken | {name for name in state.files if name.endswith("/Makefile")
                         and read_base_file(name) is None}:
        content = (ROOT / path).read_bytes()
        if path in state.options:
            content = cut_options(content, state.options[path])
        elif path.endswith("/Makefile"):
            content = cut_makefile(content, path.rpartition("/")[0], added)
        files[path] = content
    return {path: content for path, content in files.items() if content != state.files.get(path)}


def make_changes(parts: list[Part]) -> list[dict[str, bytes]]:
    """The files that each mail of the parts changes."""
    state = SeriesState({patch.name: patch for patch in load_patch_series()},
                        set(list_overlay_files()))
    changes = []
    for mail in [mail for part in parts for mail in part.mails]:
        if not mail.message:
            mail.message = next((state.patches[word].message for word in mail.words
                                 if names_patch(word)), "")
        if not mail.message:
            die(f"{mail.where} has no message")
        changes.append(collect_mail_files(state, mail))
        if not changes[-1]:
            die(f"{mail.where} changes nothing")
        state.files |= changes[-1]
    left = state.left | {path for path in list_overlay_files()
                         if path in state.files and state.files[path] != (ROOT / path).read_bytes()}
    if left:
        die("no mail has: " + ", ".join(sorted(left)))
    return changes


def commit_mails(parts: list[Part], changes: list[dict[str, bytes]]) -> list[str]:
    """Commit each mail to the branch "series" of the tree. Return: the commits."""
    when = f"workbench <workbench@localhost> {int(time.time())} +0000"
    stream = bytearray()
    last = "refs/tags/base^0"
    mails = [mail for part in parts for mail in part.mails]
    for number, (mail, files) in enumerate(zip(mails, changes), 1):
        message = mail.message.strip().encode() + b"\n"
        stream += (f"commit refs/heads/series\nmark :{number}\ncommitter {when}\n"
                   f"data {len(message)}\n").encode() + message + f"\nfrom {last}\n".encode()
        for path, content in sorted(files.items()):
            mode = 755 if os.access(ROOT / path, os.X_OK) else 644
            stream += f"M 100{mode} inline {path}\ndata {len(content)}\n".encode()
            stream += content + b"\n"
        last = f":{number}"
    source, marks = PLACE / "series.import", PLACE / "series.marks"
    source.write_bytes(stream)
    with source.open("rb") as opened:
        run_git("fast-import", "--force", "--quiet", f"--export-marks={marks}", stdin=opened)
    commits = dict(line.split() for line in marks.read_text().splitlines())
    source.unlink()
    marks.unlink()
    return [commits[f":{number}"] for number in range(1, len(mails) + 1)]


def count_lines(commit: str) -> tuple[int, int]:
    """The lines that a commit adds: of code, and of tests and documentation."""
    counts = [0, 0]
    for line in run_git("diff-tree", "--numstat", "-r", "--no-renames", f"{commit}~",
                        commit).splitlines():
        more, _, path = line.split("\t")
        counts[bool(NOT_CODE.search(path))] += int(more) if more != "-" else 0
    return counts[0], counts[1]


def list_mails(parts: list[Part], commits: list[str]) -> str:
    """A table: mail, lines of code, of tests and documentation, subject, reason for the length."""
    rows, wrong = [], []
    left = iter(commits)
    for part in parts:
        for number, mail in enumerate(part.mails, 1):
            code, other = count_lines(next(left))
            subject = mail.message.splitlines()[0]
            if code > MAIL_LINES and not mail.reason:
                wrong.append(f'{mail.where}: "{subject}" adds {code} lines beside tests and '
                             f"documentation, {MAIL_LINES} at most: split it, or say why not in a "
                             'line that begins with "!! "')
            if code <= MAIL_LINES and mail.reason:
                wrong.append(f'{mail.where}: "{subject}" adds {code} lines, which need no reason: '
                             f'remove "!! {mail.reason}"')
            rows.append(f"{part.name}/{number:04}\t{code}\t{other}\t{subject}\t{mail.reason}")
    if wrong:
        die("\n".join(wrong))
    return "\n".join(rows) + "\n"


def write_part(part: Part, first: str, last: str, directory: Path) -> None:
    """Write the mails and the cover letter of a part."""
    # Mail does not preserve the line ends and bytes of test data, so encode it.
    attributes = PLACE / "series.attributes"
    attributes.write_text("**/tests/input/** binary\n**/tests/golden/** binary\n")
    run_git("-c", f"core.attributesFile={attributes}", "format-patch", "-q", "--no-signature",
            "--binary", "--numbered", "-o", directory, f"{first}..{last}")
    log = run_git("log", "--reverse", "--format=  %s", f"{first}..{last}")
    stat = run_git("diff", "--stat", "--summary", first, last)
    subject, body = part.cover.split("\n", 1)
    (directory / "0000-cover-letter.txt").write_text(
        f"Subject: [PATCH 0/{len(part.mails)}] {subject}\n{body.rstrip()}\n\n{log}\n{stat}")


def write_series() -> None:
    """Write the mails of each part to series/PART/."""
    unpack_base_tree()
    parts = load_parts()
    commits = commit_mails(parts, make_changes(parts))
    table = list_mails(parts, commits)
    shutil.rmtree(SERIES, ignore_errors=True)
    last, position = "base", 0
    for part in parts:
        first, position = last, position + len(part.mails)
        last = commits[position - 1]
        write_part(part, first, last, SERIES / part.name)
    (SERIES / "table").write_text(table)
    print_line(f"series: {len(commits)} mails in {len(parts)} parts, each with a cover letter, in "
               f"{name_path(SERIES)}/; apply with: git am -s {name_path(SERIES)}/*/*.patch")
