#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Assemble a kernel tree from Debian's source, the overlay and the patches.

    tree.py assemble    build/tree = pristine source + overlay + patches
    tree.py pristine    build/base/tree = the pristine source
    tree.py refresh     carry edits made in build/tree back to files and patches
    tree.py series      build/series/PART/ = overlay and patches as mail, for git am

With LINUX=7.3 in the environment, these directories are in build/7.3/, and the source and
the patches are of that version.
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from workbench import (LINUX, PATCHES, PLACE, ROOT, TREE, VERSIONS, die, name_path,  # noqa: E402
                       print_line)

from mails import write_series  # noqa: E402
from manifest import (find_edited_files, hash_content, load_manifest, read_tree_file,  # noqa: E402
                      exit_if_tree_was_edited, save_manifest, write_file_if_changed)
from overlay import NOT_OVERLAY, list_overlay_files  # noqa: E402
from patches import load_patch_series, rewrite_patch  # noqa: E402
from pristine import check_out_pristine_tree, read_base_file, unpack_base_tree  # noqa: E402


def collect_tree_files() -> dict[str, bytes]:
    """The content of each file that the tree has beside the pristine source."""
    files = {}
    for patch in load_patch_series():
        files.update(patch.after)
    for path in list_overlay_files():
        if path in files or read_base_file(path) is not None:
            die(f"{path} is in the overlay, but the kernel has a file of that name: use a patch")
        files[path] = (ROOT / path).read_bytes()
    return files


def assemble_tree() -> None:
    """Write the overlay and the patched files into the tree."""
    unpack_base_tree()
    files = collect_tree_files()
    manifest = load_manifest()
    # Only edits that this would overwrite matter. A file that equals the repository's
    # version, or the pristine one if no patch touches it any more, has no edit.
    exit_if_tree_was_edited([path for path in find_edited_files(manifest)
                             if (path in files or path in manifest)
                             and read_tree_file(path) != files.get(path, read_base_file(path))])
    changed = []
    for path in sorted(manifest.keys() - files.keys()):
        content = read_base_file(path)
        if content is None:
            (TREE / path).unlink(missing_ok=True)
        else:
            (TREE / path).write_bytes(content)
        changed.append(path)
    for path, content in files.items():
        mode = 0o755 if os.access(ROOT / path, os.X_OK) else 0o644
        if write_file_if_changed(TREE / path, content, mode):
            changed.append(path)
    save_manifest(files)
    if changed:
        shown = ", ".join(changed[:4]) + (f" and {len(changed) - 4} more" if changed[4:] else "")
        print_line(f"tree: {len(changed)} file(s) written: {shown}")
    else:
        print_line("tree: up to date")


def carry_edits_back(wanted: str | None, only: list[str]) -> None:
    """Carry edits back; the patch "wanted" takes edits to files that no patch touches."""
    manifest = load_manifest()
    if not manifest:
        die(f"{name_path(TREE)} is not there yet: run 'make tree' first")
    patches = load_patch_series()
    if wanted and wanted not in [patch.name for patch in patches]:
        die(f"PATCH={wanted} is not in {name_path(PATCHES)}")
    overlay = set(list_overlay_files())
    stale: list[str] = []
    edits: dict[str, dict[str, bytes]] = {}
    carried = []
    for path in find_edited_files(manifest):
        if only and path not in only:
            continue
        content = read_tree_file(path)
        owners = [patch.name for patch in patches if path in patch.after]
        in_base = bool(owners) or read_base_file(path) is not None
        if path in overlay and manifest.get(path) != hash_content((ROOT / path).read_bytes()):
            stale.append(path)
        elif content is None:
            die(f"{path} is gone from {name_path(TREE)}: remove it from the repository instead")
        elif not in_base:
            if path.startswith(NOT_OVERLAY):
                die(f"{path} is new in {name_path(TREE)}, but that path is the workbench's: "
                    "move it")
            write_file_if_changed(ROOT / path, content, (TREE / path).stat().st_mode & 0o777)
            carried.append(path)
        else:
            owner = owners[-1] if owners else wanted
            if owner is None:
                die(f"{path} is edited in {name_path(TREE)}, but no patch touches it: say which "
                    "one takes the edit, 'make refresh PATCH=name.patch'")
            edits.setdefault(owner, {})[path] = content
            carried.append(path)
    if stale:
        die(f"changed both in the repository and in {name_path(TREE)}:\n  " + "\n  ".join(stale) +
            "\nMake the two equal by hand first; nothing else is lost.")
    for patch in patches:
        if patch.name in edits:
            patch.after.update(edits[patch.name])
            rewrite_patch(patch)
    if not carried:
        print_line(f"refresh: nothing was edited in {name_path(TREE)}")
        return
    print_line("refresh: carried back " + ", ".join(carried))
    assemble_tree()


def main() -> None:
    """The program."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["assemble", "pristine", "refresh", "series"])
    parser.add_argument("--patch", help="refresh: the patch that takes edits to a file "
                        "no patch touches yet")
    parser.add_argument("files", nargs="*", help="refresh: only these files of the tree")
    arguments = parser.parse_intermixed_args()
    if LINUX not in VERSIONS:
        die(f"LINUX={LINUX} is no version that there are patches for: {', '.join(VERSIONS)}")
    PLACE.mkdir(parents=True, exist_ok=True)
    if arguments.what == "refresh":
        carry_edits_back(arguments.patch, arguments.files)
    else:
        {"assemble": assemble_tree, "pristine": check_out_pristine_tree,
         "series": write_series}[arguments.what]()


if __name__ == "__main__":
    main()
