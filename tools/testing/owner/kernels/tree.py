#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Assemble a kernel tree from Debian's source, our files and our patches.

    tree.py assemble    build/tree = pristine source + our files + patches
    tree.py pristine    build/base/tree = the source alone
    tree.py refresh     carry edits made in build/tree back to files and patches
    tree.py series      build/series/ = the same change as mail, for git am
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from workbench import BUILD, PRISTINE, ROOT, TREE, die, run, say  # noqa: E402

PATCHES = ROOT / "patches/6.12"
SERIES = BUILD / "series"
MANIFEST = BUILD / "tree.manifest"
# What the repository holds beside the overlay: its own doors and workbench.
NOT_OVERLAY = ("README.md", "Makefile", "COPYING", ".gitignore", ".ci/",
               "patches/", "tools/testing/owner/")
LEFT_BY_EDITORS = ("~", ".orig", ".rej", ".swp", ".pyc")
# An identity for the commits under the tree; nothing that is mailed carries it.
IDENT = {"GIT_AUTHOR_NAME": "workbench", "GIT_AUTHOR_EMAIL": "workbench@localhost",
         "GIT_COMMITTER_NAME": "workbench", "GIT_COMMITTER_EMAIL": "workbench@localhost"}


def git(*words: str | Path, cwd: Path = TREE) -> str:
    return run("git", *words, cwd=cwd, env=os.environ | IDENT)


# --- The pristine source ---------------------------------------------------

def source() -> Path:
    """The source archive: LINUX_SOURCE, or the one that Debian installs."""
    named = os.environ.get("LINUX_SOURCE")
    if named:
        if not Path(named).is_file():
            die(f"LINUX_SOURCE={named} is not a file: name a linux-6.12 tar archive")
        return Path(named)
    archive = Path("/usr/src/linux-source-6.12.tar.xz")
    if not archive.is_file():
        die(f"{archive} is missing: run 'make install', or "
            "'apt-get install linux-source-6.12', or name an archive with LINUX_SOURCE=")
    return archive


def fingerprint(archive: Path) -> str:
    stat = archive.stat()
    return f"{archive} {stat.st_size} {stat.st_mtime_ns}"


def make_base() -> None:
    """Unpack the source once and put a git commit under it."""
    archive = source()
    stamp = TREE / ".git/owner-source"
    if stamp.is_file() and stamp.read_text() == fingerprint(archive):
        return
    if TREE.exists() and stamp.is_file():
        say(f"tree: {archive.name} has changed, making the tree anew")
        refuse_edits(edited_files(load_manifest()))
    shutil.rmtree(TREE, ignore_errors=True)
    shutil.rmtree(PRISTINE, ignore_errors=True)
    MANIFEST.unlink(missing_ok=True)
    fresh = BUILD / "tree.new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    say(f"tree: unpacking {archive.name}")
    run("tar", "xf", archive, "-C", fresh, "--strip-components=1")
    if not (fresh / "mm/slub.c").is_file():
        die(f"{archive} does not look like a kernel: it has no mm/slub.c")
    say("tree: committing the base")
    git("init", "-q", "-b", "main", cwd=fresh)
    git("config", "gc.auto", "0", cwd=fresh)
    git("add", "-A", "-f", cwd=fresh)
    git("commit", "-q", "-m", f"base: {archive.name}", cwd=fresh)
    git("tag", "base", cwd=fresh)
    (fresh / ".git/owner-source").write_text(fingerprint(archive))
    fresh.rename(TREE)


def make_pristine() -> None:
    make_base()
    if not (PRISTINE / "Makefile").is_file():
        say("tree: laying out the pristine tree")
        git("worktree", "prune")
        git("worktree", "add", "-q", "--detach", PRISTINE, "base")


def base_file(path: str) -> bytes | None:
    done = subprocess.run(["git", "show", f"base:{path}"], cwd=TREE, capture_output=True)
    return done.stdout if done.returncode == 0 else None


# --- What the tree should hold ---------------------------------------------

@dataclass
class Patch:
    """One patch of the series, and the files it touches before and after.

    A patch that is a message alone is one that 'refresh' is about to fill.
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


def overlay_files() -> list[str]:
    listed = run("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).split("\n")
    return sorted(path for path in listed if path and not path.startswith(NOT_OVERLAY)
                  and (ROOT / path).is_file())


def load_series() -> list[Patch]:
    """Apply the series to the base, in memory, and return each step."""
    state: dict[str, bytes] = {}
    patches = []
    for line in (PATCHES / "series").read_text().split("\n"):
        name = line.split("#")[0].strip()
        if not name:
            continue
        if not (PATCHES / name).is_file():
            die(f"patches/6.12/series names {name}, which is not there")
        patch = Patch(name, (PATCHES / name).read_text())
        apply(patch, state)
        patches.append(patch)
    return patches


def apply(patch: Patch, state: dict[str, bytes]) -> None:
    paths = re.findall(r"^\+\+\+ b/(\S+)", patch.text, re.M)
    if not paths:
        return
    with tempfile.TemporaryDirectory() as scratch:
        for path in paths:
            content = state.get(path) or base_file(path)
            if content is None:
                die(f"patches/6.12/{patch.name} touches {path}, which the kernel does not have; "
                    "a file of ours belongs into the overlay, at its path")
            patch.before[path] = content
            target = Path(scratch, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        done = subprocess.run(
            ["patch", "-p1", "--fuzz=0", "--no-backup-if-mismatch", "-s", "-f"],
            cwd=scratch, input=patch.text, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            explain_reject(patch, done.stdout, Path(scratch))
        for path in paths:
            patch.after[path] = Path(scratch, path).read_bytes()
    state.update(patch.after)


def explain_reject(patch: Patch, output: str, scratch: Path) -> None:
    """Say which hunk of which file did not apply, and what to do about it."""
    version = re.search(r"SUBLEVEL = (\d+)", (base_file("Makefile") or b"").decode())
    rejects = []
    for reject in sorted(scratch.rglob("*.rej")):
        path = reject.relative_to(scratch).as_posix().removesuffix(".rej")
        for hunk in re.split(r"^(?=@@ )", reject.read_text(), flags=re.M)[1:]:
            rejects.append(f"file {path}, hunk {hunk_number(patch, path, hunk)}:\n{hunk.rstrip()}")
    die(f"patches/6.12/{patch.name} does not apply to Linux 6.12."
        f"{version[1] if version else '?'}\n"
        + "\n".join(rejects or [output.strip()]) +
        "\nWhat to do: the kernel's lines around this hunk have changed. Compare the hunk with\n"
        f"  git -C {TREE.relative_to(ROOT)} show base:FILE\n"
        f"then correct it in patches/6.12/{patch.name} and run 'make tree' again.\n"
        "Nothing was written to the tree.")


def hunk_number(patch: Patch, path: str, hunk: str) -> str:
    section = patch.text.split(f"\n+++ b/{path}", 1)[-1].split("\n--- ", 1)[0]
    starts = re.findall(r"^@@ -(\d+)", section, re.M)
    start = re.match(r"@@ -(\d+)", hunk)
    if start and start[1] in starts:
        return f"{starts.index(start[1]) + 1} of {len(starts)}"
    return "?"


def desired() -> dict[str, bytes]:
    files = {}
    for patch in load_series():
        files.update(patch.after)
    for path in overlay_files():
        if path in files or base_file(path) is not None:
            die(f"{path} is in the overlay, but the kernel has a file of that name: use a patch")
        files[path] = (ROOT / path).read_bytes()
    return files


# --- Writing the tree ------------------------------------------------------

def load_manifest() -> dict[str, str]:
    """What we last wrote into the tree: path to hash."""
    return json.loads(MANIFEST.read_text()) if MANIFEST.is_file() else {}


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def edited_files(manifest: dict[str, str]) -> list[str]:
    """Files in the tree that differ from what we wrote there."""
    if not TREE.exists():
        return []
    edited = [path for path, known in manifest.items()
              if digest(read_tree(path) or b"") != known]
    # Not by .gitignore: the one in Debian's source hides every new file.
    others = git("diff", "--name-only", "--no-renames", "base").split("\n")
    others += git("ls-files", "--others").split("\n")
    return sorted(set(edited) | {path for path in others if path and path not in manifest
                                 and not path.endswith(LEFT_BY_EDITORS)})


def read_tree(path: str) -> bytes | None:
    return (TREE / path).read_bytes() if (TREE / path).is_file() else None


def refuse_edits(paths: list[str]) -> None:
    if paths:
        die("edited in build/tree and not carried back:\n  " + "\n  ".join(paths) +
            "\nRun 'make refresh' to keep the edits, or 'git -C build/tree checkout FILE' "
            "and remove build/tree.manifest to drop them.")


def write_if_changed(path: Path, content: bytes, mode: int) -> bool:
    if path.is_file() and path.read_bytes() == content:
        path.chmod(mode)
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    return True


def assemble() -> None:
    make_base()
    files = desired()
    manifest = load_manifest()
    # Edits to files that are not written here stay; one that the repository has as well is
    # none, nor is one that takes the last hunk of a file away.
    refuse_edits([path for path in edited_files(manifest)
                  if (path in files or path in manifest)
                  and read_tree(path) != files.get(path, base_file(path))])
    changed = []
    for path in sorted(manifest.keys() - files.keys()):
        content = base_file(path)
        if content is None:
            (TREE / path).unlink(missing_ok=True)
        else:
            (TREE / path).write_bytes(content)
        changed.append(path)
    for path, content in files.items():
        mode = 0o755 if os.access(ROOT / path, os.X_OK) else 0o644
        if write_if_changed(TREE / path, content, mode):
            changed.append(path)
    MANIFEST.write_text(json.dumps({path: digest(content) for path, content in files.items()}))
    if changed:
        shown = ", ".join(changed[:4]) + (f" and {len(changed) - 4} more" if changed[4:] else "")
        say(f"tree: {len(changed)} file(s) written: {shown}")
    else:
        say("tree: up to date")


# --- Carrying edits back ---------------------------------------------------

def refresh(wanted: str | None, only: list[str]) -> None:
    manifest = load_manifest()
    if not manifest:
        die("build/tree is not there yet: run 'make tree' first")
    patches = load_series()
    if wanted and wanted not in [patch.name for patch in patches]:
        die(f"PATCH={wanted} is not in patches/6.12/series")
    overlay = set(overlay_files())
    stale: list[str] = []
    edits: dict[str, dict[str, bytes]] = {}
    carried = []
    for path in edited_files(manifest):
        if only and path not in only:
            continue
        content = read_tree(path)
        owners = [patch.name for patch in patches if path in patch.after]
        in_base = bool(owners) or base_file(path) is not None
        if path in overlay and manifest.get(path) != digest((ROOT / path).read_bytes()):
            stale.append(path)
        elif content is None:
            die(f"{path} is gone from build/tree: remove it from the repository instead")
        elif not in_base:
            if path.startswith(NOT_OVERLAY):
                die(f"{path} is new in build/tree, but that path is the workbench's: move it")
            write_if_changed(ROOT / path, content, (TREE / path).stat().st_mode & 0o777)
            carried.append(path)
        else:
            owner = owners[-1] if owners else wanted
            if owner is None:
                die(f"{path} is edited in build/tree, but no patch touches it: say which one "
                    "takes the edit, 'make refresh PATCH=name.patch'")
            edits.setdefault(owner, {})[path] = content
            carried.append(path)
    if stale:
        die("changed both in the repository and in build/tree:\n  " + "\n  ".join(stale) +
            "\nMake the two equal by hand first; nothing else is lost.")
    for patch in patches:
        if patch.name in edits:
            patch.after.update(edits[patch.name])
            rewrite(patch)
    if not carried:
        say("refresh: nothing was edited in build/tree")
        return
    say("refresh: carried back " + ", ".join(carried))
    assemble()


def rewrite(patch: Patch) -> None:
    """Write the patch anew from its files' two states, its message kept."""
    diffs = []
    with tempfile.TemporaryDirectory() as scratch:
        old, new = Path(scratch, "old"), Path(scratch, "new")
        for path, content in sorted(patch.after.items()):
            old.write_bytes(patch.before.get(path) or base_file(path) or b"")
            new.write_bytes(content)
            diffs.append(subprocess.run(
                ["diff", "-up", "--label", f"a/{path}", "--label", f"b/{path}", old, new],
                text=True, stdout=subprocess.PIPE).stdout)
    (PATCHES / patch.name).write_text(f"Subject: {patch.message}---\n\n" + "".join(diffs))


# --- The same change as mail -----------------------------------------------

@dataclass
class Topic:
    """One mail of the series: a patch, or overlay files with a message."""
    message: str
    files: dict[str, bytes]


def load_topics() -> list[Topic]:
    """patches/6.12/topics: the order in which each step builds."""
    patches = {patch.name: patch for patch in load_series()}
    overlay = set(overlay_files())
    topics = []
    for line in (PATCHES / "topics").read_text().split("\n"):
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] in patches:
            patch = patches.pop(words[0])
            topics.append(Topic(patch.message, patch.after))
            continue
        if not (PATCHES / words[0]).is_file():
            die(f"patches/6.12/topics names {words[0]}, which is neither a patch of the series "
                "nor a message file beside it")
        taken = {path for path in overlay for root in words[1:]
                 if path == root or path.startswith(root + "/")}
        if not taken:
            die(f"patches/6.12/topics: {words[0]} takes no file of the overlay")
        overlay -= taken
        topics.append(Topic((PATCHES / words[0]).read_text(),
                            {path: (ROOT / path).read_bytes() for path in taken}))
    if patches or overlay:
        die("patches/6.12/topics has no place for: " + ", ".join([*patches, *sorted(overlay)]))
    return topics


def series() -> None:
    make_base()
    topics = load_topics()
    work = BUILD / "series.work"
    shutil.rmtree(work, ignore_errors=True)
    git("worktree", "prune")
    # Only the files that change: a whole tree is not needed to write mails.
    git("worktree", "add", "-q", "--no-checkout", "--detach", work, "base")
    git("read-tree", "base", cwd=work)
    for topic in topics:
        for path, content in topic.files.items():
            mode = 0o755 if os.access(ROOT / path, os.X_OK) else 0o644
            write_if_changed(work / path, content, mode)
            git("add", "-f", path, cwd=work)
        commit(work, topic.message)
    shutil.rmtree(SERIES, ignore_errors=True)
    # Test data has line ends and bytes of its own, which mail would not keep.
    attributes = BUILD / "series.attributes"
    attributes.write_text("**/tests/input/** binary\n**/tests/expect/** binary\n")
    git("-c", f"core.attributesFile={attributes}", "format-patch", "-q", "--no-signature",
        "--binary", "-o", SERIES, "base", cwd=work)
    cover = (PATCHES / "cover.txt").read_text()
    log = git("log", "--reverse", "--format=  %s", "base..HEAD", cwd=work)
    stat = git("diff", "--stat", "--summary", "base", "HEAD", cwd=work)
    subject, body = cover.split("\n", 1)
    (SERIES / "0000-cover-letter.txt").write_text(
        f"Subject: [PATCH 0/{len(topics)}] {subject}\n{body.rstrip()}\n\n{log}\n{stat}")
    git("worktree", "remove", "--force", work)
    say(f"series: {len(topics)} patches and a cover letter in {SERIES.relative_to(ROOT)}/; "
        "apply with: git am -s build/series/*.patch")


def commit(work: Path, message: str) -> None:
    done = subprocess.run(["git", "commit", "-q", "-F", "-"], cwd=work, text=True, input=message,
                          env=os.environ | IDENT, capture_output=True)
    if done.returncode:
        die(f"a topic could not be committed: {done.stdout}{done.stderr}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["assemble", "pristine", "refresh", "series"])
    parser.add_argument("--patch", help="refresh: the patch that takes edits to a file "
                        "no patch touches yet")
    parser.add_argument("files", nargs="*", help="refresh: only these files of the tree")
    arguments = parser.parse_intermixed_args()
    BUILD.mkdir(exist_ok=True)
    if arguments.what == "refresh":
        refresh(arguments.patch, arguments.files)
    else:
        {"assemble": assemble, "pristine": make_pristine, "series": series}[arguments.what]()


if __name__ == "__main__":
    main()
