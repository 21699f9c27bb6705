#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Assemble a kernel tree from Debian's source, the overlay and the patches.

    tree.py assemble    build/tree = pristine source + overlay + patches
    tree.py pristine    build/base/tree = the pristine source
    tree.py refresh     carry edits made in build/tree back to files and patches
    tree.py series      build/series/ = overlay and patches as mail, for git am
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from workbench import BUILD, ROOT, TREE, die, say  # noqa: E402

from mails import write_series  # noqa: E402
from manifest import (digest, edited_files, load_manifest, read_tree,  # noqa: E402
                      refuse_edits, save_manifest, write_if_changed)
from overlay import NOT_OVERLAY, overlay_files  # noqa: E402
from patches import load_series, rewrite  # noqa: E402
from pristine import base_file, make_base, make_pristine  # noqa: E402


def desired() -> dict[str, bytes]:
    """The content of each file that the tree has beside the pristine source."""
    files = {}
    for patch in load_series():
        files.update(patch.after)
    for path in overlay_files():
        if path in files or base_file(path) is not None:
            die(f"{path} is in the overlay, but the kernel has a file of that name: use a patch")
        files[path] = (ROOT / path).read_bytes()
    return files


def assemble() -> None:
    """Write the overlay and the patched files into build/tree."""
    make_base()
    files = desired()
    manifest = load_manifest()
    # Only edits that this would overwrite matter. A file that equals the repository's
    # version, or the pristine one if no patch touches it any more, has no edit.
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
    save_manifest(files)
    if changed:
        shown = ", ".join(changed[:4]) + (f" and {len(changed) - 4} more" if changed[4:] else "")
        say(f"tree: {len(changed)} file(s) written: {shown}")
    else:
        say("tree: up to date")


def refresh(wanted: str | None, only: list[str]) -> None:
    """Carry edits back; the patch "wanted" takes edits to files that no patch touches."""
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


def main() -> None:
    """The program."""
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
        {"assemble": assemble, "pristine": make_pristine, "series": write_series}[arguments.what]()


if __name__ == "__main__":
    main()
