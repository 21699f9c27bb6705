# SPDX-License-Identifier: GPL-2.0
"""The pristine kernel source: unpack it, commit it, read files of it.

The source is committed once in the tree and tagged "base".
"""

import functools
import os
import shutil
import subprocess
from pathlib import Path

from manifest import MANIFEST, find_edited_files, load_manifest, exit_if_tree_was_edited

from workbench import (BUILD, LINUX, PLACE, PRISTINE, TREE, VERSIONS, die, print_line, run_command,
                       run_git)


def find_source_archive() -> Path:
    """The source archive: LINUX_SOURCE, or the archive of Debian's package."""
    named = os.environ.get("LINUX_SOURCE")
    if named:
        if not Path(named).is_file():
            die(f"LINUX_SOURCE={named} is not a file: name a linux-{LINUX} tar archive")
        return Path(named)
    # The first version is a package of this system, the others are unpacked from a later one's.
    first = LINUX == VERSIONS[0]
    archive = (Path("/") if first else BUILD / "packages") / f"usr/src/linux-source-{LINUX}.tar.xz"
    if not archive.is_file():
        die(f"{archive} is missing: run 'make install{'' if first else f'-{LINUX}'}', "
            "or name an archive with LINUX_SOURCE=")
    return archive


def fingerprint_archive(archive: Path) -> str:
    """A text that changes if the archive changes."""
    stat = archive.stat()
    return f"{archive} {stat.st_size} {stat.st_mtime_ns}"


def unpack_base_tree() -> None:
    """Unpack the source into the tree and commit it, unless that is done."""
    archive = find_source_archive()
    stamp = TREE / ".git/owner-source"
    if stamp.is_file() and stamp.read_text() == fingerprint_archive(archive):
        return
    if TREE.exists() and stamp.is_file():
        print_line(f"tree: {archive.name} has changed, making the tree anew")
        exit_if_tree_was_edited(find_edited_files(load_manifest()))
    shutil.rmtree(TREE, ignore_errors=True)
    shutil.rmtree(PRISTINE, ignore_errors=True)
    MANIFEST.unlink(missing_ok=True)
    fresh = PLACE / "tree.new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    print_line(f"tree: unpacking {archive.name}")
    run_command("tar", "xf", archive, "-C", fresh, "--strip-components=1")
    if not (fresh / "mm/slub.c").is_file():
        die(f"{archive} does not look like a kernel: it has no mm/slub.c")
    print_line("tree: committing the base")
    run_git("init", "-q", "-b", "main", cwd=fresh)
    run_git("config", "gc.auto", "0", cwd=fresh)
    run_git("add", "-A", "-f", cwd=fresh)
    run_git("commit", "-q", "-m", f"base: {archive.name}", cwd=fresh)
    run_git("tag", "base", cwd=fresh)
    (fresh / ".git/owner-source").write_text(fingerprint_archive(archive))
    fresh.rename(TREE)
    list_base_files.cache_clear()


def check_out_pristine_tree() -> None:
    """Check the pristine source out at base/tree."""
    unpack_base_tree()
    if not (PRISTINE / "Makefile").is_file():
        print_line("tree: laying out the pristine tree")
        run_git("worktree", "prune")
        run_git("worktree", "add", "-q", "--detach", PRISTINE, "base")


@functools.cache
def list_base_files() -> frozenset[str]:
    """The files of the pristine source, which unpack_base_tree() has committed."""
    return frozenset(run_git("ls-tree", "-r", "-z", "--name-only", "base").split("\0"))


def read_base_file(path: str) -> bytes | None:
    """The content of a file of the pristine source, None if there is no such file."""
    # Do not start git for a file that only the overlay has: there are more than 1,000 of them.
    if path not in list_base_files():
        return None
    done = subprocess.run(["git", "show", f"base:{path}"], cwd=TREE, capture_output=True)
    return done.stdout if done.returncode == 0 else None
