# SPDX-License-Identifier: GPL-2.0
"""The series as mail, for git am.

patches/VERSION/topics lists the mails of a version of Linux. The messages of the mails that add
overlay files, and the cover letter's text, are in patches/ for all versions.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from manifest import write_file_if_changed
from overlay import list_overlay_files
from patches import load_patch_series
from pristine import unpack_base_tree

from workbench import PATCHES, PLACE, ROOT, die, name_path, print_line, run_git

MESSAGES = PATCHES.parent
SERIES = PLACE / "series"


@dataclass
class MailTopic:
    """One mail of the series: a patch, or overlay files with a message."""
    message: str
    files: dict[str, bytes]


def load_mail_topics() -> list[MailTopic]:
    """The mails in the order of "topics", which is beside the patches."""
    patches = {patch.name: patch for patch in load_patch_series()}
    overlay = set(list_overlay_files())
    topics = []
    source = PATCHES / "topics"
    for line in source.read_text().split("\n"):
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] in patches:
            patch = patches.pop(words[0])
            topics.append(MailTopic(patch.message, patch.after))
            continue
        if not (MESSAGES / words[0]).is_file():
            die(f"{name_path(source)} names {words[0]}, which is neither a patch of the series "
                f"nor a message file in {name_path(MESSAGES)}")
        taken = {path for path in overlay for root in words[1:]
                 if path == root or path.startswith(root + "/")}
        if not taken:
            die(f"{name_path(source)}: {words[0]} takes no file of the overlay")
        overlay -= taken
        topics.append(MailTopic((MESSAGES / words[0]).read_text(),
                                {path: (ROOT / path).read_bytes() for path in taken}))
    if patches or overlay:
        die(f"{name_path(source)} does not list: " + ", ".join([*patches, *sorted(overlay)]))
    return topics


def write_series() -> None:
    """Commit each topic in a scratch worktree and write the commits to series/."""
    unpack_base_tree()
    topics = load_mail_topics()
    work = PLACE / "series.work"
    shutil.rmtree(work, ignore_errors=True)
    run_git("worktree", "prune")
    # Do not check the tree out: the mails need only the files that change.
    run_git("worktree", "add", "-q", "--no-checkout", "--detach", work, "base")
    run_git("read-tree", "base", cwd=work)
    last = "base"
    for topic in topics:
        for path, content in topic.files.items():
            mode = 0o755 if os.access(ROOT / path, os.X_OK) else 0o644
            write_file_if_changed(work / path, content, mode)
        add_to_index(work, list(topic.files))
        last = commit_index(work, last, topic.message)
    run_git("update-ref", "HEAD", last, cwd=work)
    shutil.rmtree(SERIES, ignore_errors=True)
    # Mail does not preserve the line ends and bytes of test data, so encode it.
    attributes = PLACE / "series.attributes"
    attributes.write_text("**/tests/input/** binary\n**/tests/golden/** binary\n")
    run_git("-c", f"core.attributesFile={attributes}", "format-patch", "-q", "--no-signature",
            "--binary", "-o", SERIES, "base", cwd=work)
    cover = (MESSAGES / "cover.txt").read_text()
    log = run_git("log", "--reverse", "--format=  %s", "base..HEAD", cwd=work)
    stat = run_git("diff", "--stat", "--summary", "base", "HEAD", cwd=work)
    subject, body = cover.split("\n", 1)
    (SERIES / "0000-cover-letter.txt").write_text(
        f"Subject: [PATCH 0/{len(topics)}] {subject}\n{body.rstrip()}\n\n{log}\n{stat}")
    run_git("worktree", "remove", "--force", work)
    print_line(f"series: {len(topics)} patches and a cover letter in {name_path(SERIES)}/; "
               f"apply with: git am -s {name_path(SERIES)}/*.patch")


def add_to_index(work: Path, paths: list[str]) -> None:
    """Add files to the index of a worktree, which git writes once: it has the whole kernel."""
    run_git("--literal-pathspecs", "add", "-f", "--pathspec-from-file=-", "--pathspec-file-nul",
            cwd=work, input="\0".join(paths))


def commit_index(work: Path, parent: str, message: str) -> str:
    """Commit the index of a worktree, without a look at the files. Return: the commit."""
    tree = run_git("write-tree", cwd=work).strip()
    if tree == run_git("rev-parse", f"{parent}^{{tree}}", cwd=work).strip():
        die(f"a mail changes nothing: {message.splitlines()[0]}")
    return run_git("commit-tree", "-p", parent, "-F", "-", tree, cwd=work,
                   input=message.strip() + "\n").strip()
