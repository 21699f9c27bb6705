#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Debian 13, made once: the root of a guest, or a directory for chroot.

    debian_root.py PACKAGE...    make the directory and print its path

They are in build/debian-root/, one for each list of packages. A guest changes a copy of the
ext4 image that QEMU drops at the end; a user of the directory copies it.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, List

from image import ImageError, sum_file_sizes

SUITE = "trixie"
# Room for what the guest's commands write: sparse in the file, and dropped with the copy.
SPARE_BYTES = 2 << 30
NEEDED = {"mmdebstrap": "mmdebstrap", "mkfs.ext4": "e2fsprogs"}
CLEANED = ("var/lib/apt/lists", "var/cache/apt", "usr/share/doc", "usr/share/man",
           "usr/share/locale")


def _find_program(name: str) -> str:
    """The path of a program of the host."""
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    if not path:
        raise ImageError(f"no {name} on this host: apt-get install {NEEDED[name]}")
    return path


def _run_program(name: str, *words: str) -> None:
    """Run a program of the host; its last lines explain a failure."""
    done = subprocess.run([_find_program(name), *words], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        lines = done.stdout.strip().splitlines()[-8:]
        raise ImageError("\n  ".join([f"{name} failed:", *lines]))


def _find_mirror() -> str:
    """The address from which apt gets Debian's packages on this host."""
    done = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)",
                           "Created-By: Packages", "Label: Debian"],
                          text=True, check=False, capture_output=True)
    addresses = done.stdout.split()
    if not addresses:
        raise ImageError("apt has no list of Debian's packages on this host: run apt-get update")
    return addresses[0]


def _unpack_debian(directory: Path, packages: List[str]) -> None:
    """Install Debian's smallest system and the packages in a directory."""
    include = [f"--include={','.join(packages)}"] if packages else []
    _run_program("mmdebstrap", "--variant=minbase", "--mode=root",
                 '--aptopt=APT::Install-Recommends "false"', *include, SUITE, str(directory),
                 _find_mirror())
    for name in CLEANED:
        shutil.rmtree(directory / name, ignore_errors=True)


def _choose_path(build: Path, packages: List[str], suffix: str) -> Path:
    """The path of the root with these packages."""
    key = hashlib.sha256(" ".join([SUITE, *packages]).encode()).hexdigest()[:12]
    return build.resolve() / "debian-root" / f"{key}{suffix}"


@contextmanager
def _make_debian_directory(path: Path, packages: List[str]) -> Iterator[Path]:
    """Make a directory from which the root at @path is made."""
    if os.geteuid():
        raise ImageError("only root can make Debian's root: its files belong to several users")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        directory = Path(scratch) / "root"
        _unpack_debian(directory, packages)
        path.with_suffix(".packages").write_text(" ".join(packages) + "\n")
        yield directory


def find_debian_root(build: Path, packages: List[str]) -> Path:
    """The ext4 image of a Debian root with these packages."""
    packages = sorted(set(packages))
    image = _choose_path(build, packages, ".ext4")
    if image.exists():
        return image
    with _make_debian_directory(image, packages) as directory:
        size = sum_file_sizes(directory) * 5 // 4 + SPARE_BYTES
        partial = directory.with_name("image")
        _run_program("mkfs.ext4", "-q", "-E", "lazy_itable_init=0", "-d", str(directory),
                     str(partial), f"{size >> 20}M")
        os.replace(partial, image)
    return image


def find_debian_directory(build: Path, packages: List[str]) -> Path:
    """The directory of a Debian root with these packages."""
    packages = sorted(set(packages))
    path = _choose_path(build, packages, "")
    if not path.exists():
        with _make_debian_directory(path, packages) as directory:
            os.replace(directory, path)
    return path


def main() -> None:
    """The program."""
    try:
        print(find_debian_directory(Path(__file__).resolve().parents[4] / "build", sys.argv[1:]))
    except ImageError as error:
        sys.exit(f"debian_root.py: {error}")


if __name__ == "__main__":
    main()
