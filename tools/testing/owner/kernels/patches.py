# SPDX-License-Identifier: GPL-2.0
"""The patches: apply them in memory, write a patch again after an edit."""

import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from parts import list_patch_names
from pristine import read_base_file

from workbench import LINUX, PATCHES, TREE, die, name_path


@dataclass
class Patch:
    """One patch, and the files it touches before and after.

    A patch may be a message without a diff; "refresh" then adds the first one.
    """
    name: str
    text: str
    before: dict[str, bytes] = field(default_factory=dict)
    after: dict[str, bytes] = field(default_factory=dict)

    @property
    def message(self) -> str:
        """The patch's commit message, a subject line and a body."""
        head = self.text.split("\n--- ", 1)[0].split("\n---\n", 1)[0]
        lines = [line for line in head.split("\n") if not line.startswith("From: ")]
        text = "\n".join(lines).strip()
        return re.sub(r"^Subject:\s*(\[[^]]*\]\s*)?", "", text) + "\n"


def load_patch_series() -> list[Patch]:
    """Apply the patches to the base, in memory and in the order of the mails, and return them."""
    state: dict[str, bytes] = {}
    patches = []
    for name in list_patch_names():
        patch = Patch(name, (PATCHES / name).read_text())
        apply_patch(patch, state)
        patches.append(patch)
    return patches


def apply_patch(patch: Patch, state: dict[str, bytes]) -> None:
    """Apply one patch; state has the files that earlier patches changed."""
    paths = re.findall(r"^\+\+\+ b/(\S+)", patch.text, re.M)
    if not paths:
        return
    with tempfile.TemporaryDirectory() as scratch:
        for path in paths:
            content = state.get(path) or read_base_file(path)
            if content is None:
                die(f"{name_path(PATCHES / patch.name)} touches {path}, which the kernel does not "
                    "have; a file of ours belongs into the overlay, at its path")
            patch.before[path] = content
            target = Path(scratch, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        done = subprocess.run(
            ["patch", "-p1", "--fuzz=0", "--no-backup-if-mismatch", "-s", "-f"],
            cwd=scratch, input=patch.text, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            exit_with_rejected_hunks(patch, done.stdout, Path(scratch))
        for path in paths:
            patch.after[path] = Path(scratch, path).read_bytes()
    state.update(patch.after)


def exit_with_rejected_hunks(patch: Patch, output: str, scratch: Path) -> None:
    """Exit with the hunks that did not apply, and the remedy."""
    version = re.search(r"SUBLEVEL = (\d+)", (read_base_file("Makefile") or b"").decode())
    rejects = []
    for reject in sorted(scratch.rglob("*.rej")):
        path = reject.relative_to(scratch).as_posix().removesuffix(".rej")
        for hunk in re.split(r"^(?=@@ )", reject.read_text(), flags=re.M)[1:]:
            number = format_hunk_position(patch, path, hunk)
            rejects.append(f"file {path}, hunk {number}:\n{hunk.rstrip()}")
    name = name_path(PATCHES / patch.name)
    die(f"{name} does not apply to Linux {LINUX}."
        f"{version[1] if version else '?'}\n"
        + "\n".join(rejects or [output.strip()]) +
        "\nWhat to do: the kernel's lines around this hunk have changed. Compare the hunk with\n"
        f"  git -C {name_path(TREE)} show base:FILE\n"
        f"then correct it in {name} and run 'make tree' again.\n"
        "Nothing was written to the tree.")


def format_hunk_position(patch: Patch, path: str, hunk: str) -> str:
    """The position of a rejected hunk among the hunks of its file, as "2 of 5"."""
    section = patch.text.split(f"\n+++ b/{path}", 1)[-1].split("\n--- ", 1)[0]
    starts = re.findall(r"^@@ -(\d+)", section, re.M)
    start = re.match(r"@@ -(\d+)", hunk)
    if start and start[1] in starts:
        return f"{starts.index(start[1]) + 1} of {len(starts)}"
    return "?"


def rewrite_patch(patch: Patch) -> None:
    """Write the patch file from its files' contents; the message stays."""
    diffs = []
    with tempfile.TemporaryDirectory() as scratch:
        old, new = Path(scratch, "old"), Path(scratch, "new")
        for path, content in sorted(patch.after.items()):
            old.write_bytes(patch.before.get(path) or read_base_file(path) or b"")
            new.write_bytes(content)
            diffs.append(subprocess.run(
                ["diff", "-up", "--label", f"a/{path}", "--label", f"b/{path}", old, new],
                text=True, stdout=subprocess.PIPE).stdout)
    (PATCHES / patch.name).write_text(f"Subject: {patch.message}---\n\n" + "".join(diffs))
