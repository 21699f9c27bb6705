# SPDX-License-Identifier: GPL-2.0
"""Files of the tree that the workbench wrote, and edits made to them since.

tree.manifest, beside the tree, has the hash of each file that was written. A file whose
hash differs was edited in the tree.
"""

import hashlib
import json
from pathlib import Path

from workbench import PLACE, TREE, die, name_path, run_git

MANIFEST = PLACE / "tree.manifest"
LEFT_BY_EDITORS = ("~", ".orig", ".rej", ".swp", ".pyc")


def load_manifest() -> dict[str, str]:
    """The paths of the files last written into the tree, and their hashes."""
    return json.loads(MANIFEST.read_text()) if MANIFEST.is_file() else {}


def save_manifest(files: dict[str, bytes]) -> None:
    """Remember the files that were written into the tree."""
    MANIFEST.write_text(json.dumps({path: hash_content(content)
                                    for path, content in files.items()}))


def hash_content(content: bytes) -> str:
    """The hash of a file's content."""
    return hashlib.sha256(content).hexdigest()


def read_tree_file(path: str) -> bytes | None:
    """The content of a file of the tree, None if there is no such file."""
    return (TREE / path).read_bytes() if (TREE / path).is_file() else None


def find_edited_files(manifest: dict[str, str]) -> list[str]:
    """Files of the tree that were edited, added or removed since they were written."""
    if not TREE.exists():
        return []
    edited = [path for path, written in manifest.items()
              if hash_content(read_tree_file(path) or b"") != written]
    # List new files without .gitignore: the one in Debian's source ignores every new file.
    others = run_git("diff", "--name-only", "--no-renames", "base").split("\n")
    others += run_git("ls-files", "--others").split("\n")
    return sorted(set(edited) | {path for path in others if path and path not in manifest
                                 and not path.endswith(LEFT_BY_EDITORS)})


def exit_if_tree_was_edited(paths: list[str]) -> None:
    """Exit if there are edits, which writing the tree would destroy."""
    if paths:
        tree = name_path(TREE)
        die(f"edited in {tree} and not carried back:\n  " + "\n  ".join(paths) +
            f"\nRun 'make refresh' to keep the edits, or 'git -C {tree} checkout FILE' "
            f"and remove {name_path(MANIFEST)} to drop them.")


def write_file_if_changed(path: Path, content: bytes, mode: int) -> bool:
    """Write a file unless it has that content; make sees only real changes."""
    if path.is_file() and path.read_bytes() == content:
        path.chmod(mode)
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    return True
