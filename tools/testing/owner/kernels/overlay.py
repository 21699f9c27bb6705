# SPDX-License-Identifier: GPL-2.0
"""The overlay: files of the repository that have the same path in the kernel tree."""

from workbench import ROOT, run_command

# Files of the repository that are not part of the overlay.
NOT_OVERLAY = ("README.md", "Makefile", "COPYING", ".gitignore", ".ci/",
               "patches/", "tools/testing/owner/")


def list_overlay_files() -> list[str]:
    """Paths of the overlay, committed or not."""
    listed = run_command("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).split("\n")
    return sorted(path for path in listed if path and not path.startswith(NOT_OVERLAY)
                  and (ROOT / path).is_file())
