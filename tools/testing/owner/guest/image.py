# SPDX-License-Identifier: GPL-2.0
"""The initramfs of a guest: busybox, init.sh, the command, extra files."""

import os
import shutil
import stat
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import BinaryIO, Dict, Iterator, List, Optional, Tuple

INIT = Path(__file__).resolve().parent / "init.sh"
DIRECTORIES = ("bin", "sbin", "usr", "usr/bin", "usr/sbin", "proc", "sys",
               "dev", "tmp", "run", "root", "etc")
ETC = {"etc/passwd": b"root::0:0:root:/root:/bin/sh\n",
       "etc/group": b"root:x:0:\n"}
COPY_SIZE = 1 << 20
EM_MACHINES = {"x86_64": 62, "arm64": 183, "s390x": 22}
DEBIAN_NAMES = {"x86_64": "amd64", "arm64": "arm64", "s390x": "s390x"}
BIG_ENDIAN = ("s390x",)
PT_INTERP = 3


class ImageError(Exception):
    """The initramfs cannot be made; the text names the remedy."""


class CpioWriter:
    """Writes a cpio archive in the "newc" form, which the kernel unpacks."""

    def __init__(self, out: BinaryIO) -> None:
        self.out = out
        self.serial = 0

    def _write_header(self, name: str, mode: int, size: int) -> None:
        raw = os.fsencode(name) + b"\0"
        self.serial += 1
        fields = (self.serial, mode, 0, 0, 1, 0, size, 0, 0, 0, 0,
                  len(raw), 0)
        self.out.write(b"070701" + b"".join(b"%08X" % f for f in fields))
        self.out.write(raw)
        self._pad_to_four_bytes()

    def _pad_to_four_bytes(self) -> None:
        self.out.write(b"\0" * (-self.out.tell() % 4))

    def add_directory(self, name: str, mode: int = 0o755) -> None:
        """Add a directory; its parents must be there already."""
        self._write_header(name, stat.S_IFDIR | mode, 0)

    def add_content(self, name: str, content: bytes, mode: int = 0o644) -> None:
        """Add a regular file that holds content."""
        self._write_header(name, stat.S_IFREG | mode, len(content))
        self.out.write(content)
        self._pad_to_four_bytes()

    def add_symlink(self, name: str, target: str) -> None:
        """Add a symbolic link."""
        raw = os.fsencode(target)
        self._write_header(name, stat.S_IFLNK | 0o777, len(raw))
        self.out.write(raw)
        self._pad_to_four_bytes()

    def add_file(self, name: str, source: Path) -> None:
        """Add a copy of a file of the host, its mode kept."""
        with open(source, "rb") as file:
            info = os.fstat(file.fileno())
            self._write_header(name, stat.S_IFREG | stat.S_IMODE(info.st_mode),
                               info.st_size)
            start = self.out.tell()
            shutil.copyfileobj(file, self.out, COPY_SIZE)
        if self.out.tell() - start != info.st_size:
            raise ImageError(f"{source}: it changed while it was copied")
        self._pad_to_four_bytes()

    def add_tree(self, name: str, source: Path) -> None:
        """Add a directory of the host with all that is in it."""
        self.add_directory(name, stat.S_IMODE(source.stat().st_mode))
        for entry in sorted(os.scandir(source), key=lambda e: e.name):
            below = f"{name}/{entry.name}"
            if entry.is_symlink():
                self.add_symlink(below, os.readlink(entry.path))
            elif entry.is_dir():
                self.add_tree(below, Path(entry.path))
            elif entry.is_file():
                self.add_file(below, Path(entry.path))

    def add_files(self, files: Dict[str, Path]) -> None:
        """Add copies of files of the host, and the directories that they need."""
        made = set(DIRECTORIES)
        for name, source in files.items():
            for parent in reversed(Path(name).parents[:-1]):
                if str(parent) not in made:
                    self.add_directory(str(parent))
                    made.add(str(parent))
            self.add_file(name, source.resolve())

    def write_trailer(self) -> None:
        """Close the archive."""
        self._write_header("TRAILER!!!", 0, 0)


def sum_file_sizes(directory: Path) -> int:
    """The bytes of the regular files below directory."""
    return sum(os.lstat(os.path.join(top, name)).st_size
               for top, _, names in os.walk(directory) for name in names)


def _read_segment_types(image: bytes, order: str) -> Iterator[int]:
    offset, = struct.unpack_from(f"{order}Q", image, 32)
    size, count = struct.unpack_from(f"{order}HH", image, 54)
    for index in range(count):
        yield struct.unpack_from(f"{order}I", image, offset + index * size)[0]


def _check_busybox(path: Path, arch: str) -> None:
    image = path.read_bytes()
    if image[:5] != b"\x7fELF\x02":
        raise ImageError(f"{path}: not a 64-bit program")
    order = ">" if arch in BIG_ENDIAN else "<"
    machine, = struct.unpack_from(f"{order}H", image, 18)
    if machine != EM_MACHINES[arch]:
        raise ImageError(f"{path}: not built for {arch}")
    if PT_INTERP in _read_segment_types(image, order):
        raise ImageError(f"{path}: needs shared libraries; a guest needs the "
                         "static one: apt-get install busybox-static")


def _run_apt_get(state: Path, debian: str, *words: str) -> None:
    """Run apt-get for another architecture, the host's state untouched."""
    for name in ("lists/partial", "cache/archives/partial"):
        (state / name).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    options = {"APT::Architecture": debian, "APT::Architectures": debian,
               "APT::Sandbox::User": "", "Acquire::Languages": "none",
               "Dir::State": str(state), "Dir::State::lists": "lists",
               "Dir::State::status": str(state / "status"),
               "Dir::Cache": str(state / "cache")}
    command = ["apt-get", "-qq"]
    for key, value in options.items():
        command += ["-o", f"{key}={value}"]
    try:
        subprocess.run([*command, *words], cwd=state, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                       text=True)
    except FileNotFoundError as error:
        raise ImageError(f"busybox for {debian} comes from a Debian package, "
                         "and there is no apt-get here: put a static one "
                         f"at {state.parent}/busybox-{debian}") from error
    except subprocess.CalledProcessError as error:
        raise ImageError(f"apt-get {words[0]} for {debian} failed: "
                         f"{error.stderr.strip()}") from error


def _unpack_busybox(work: Path) -> Path:
    package = sorted(work.glob("busybox-static_*.deb"))[-1]
    root = work / "root"
    subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True)
    for name in ("bin/busybox", "usr/bin/busybox"):
        if (root / name).exists():
            return root / name
    raise ImageError(f"{package.name}: holds no busybox")


def _fetch_busybox(path: Path, arch: str) -> None:
    """Put Debian's busybox for arch at path."""
    debian = DEBIAN_NAMES[arch]
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as name:
        work = Path(name)
        _run_apt_get(work, debian, "update")
        _run_apt_get(work, debian, "download", "busybox-static")
        os.replace(_unpack_busybox(work), path)


def find_busybox(build: Path, arch: str) -> Path:
    """A static busybox for arch: the host's own, or one fetched once."""
    if arch == os.uname().machine:
        name = shutil.which("busybox")
        if not name:
            raise ImageError("no busybox on this host: "
                             "apt-get install busybox-static")
        path = Path(name)
    else:
        path = build.resolve() / ".guest" / f"busybox-{arch}"
        if not path.exists():
            _fetch_busybox(path, arch)
    _check_busybox(path, arch)
    return path


def _format_settings(conf: Dict[str, str]) -> bytes:
    lines: List[str] = [f"{key}='{value}'\n" for key, value in conf.items()]
    return "".join(lines).encode()


def write_initramfs(path: Path, busybox: Path, conf: Dict[str, str],
                    content: Tuple[str, str], files: Optional[Dict[str, Path]] = None) -> None:
    """Write the initramfs to path.

    content is the command and the extra directory; files are names in the guest and the
    files of the host that they are copies of.
    """
    cmd, extra = content
    with open(path, "wb") as out:
        cpio = CpioWriter(out)
        for name in DIRECTORIES:
            cpio.add_directory(name)
        for name, text in ETC.items():
            cpio.add_content(name, text)
        cpio.add_file("bin/busybox", busybox)
        cpio.add_content("init", INIT.read_bytes(), 0o755)
        cpio.add_content("guest.conf", _format_settings(conf), 0o600)
        cpio.add_content("cmd", os.fsencode(f"#!/bin/sh\n{cmd}\n"), 0o755)
        if extra:
            cpio.add_tree("extra", Path(extra))
        cpio.add_files(files or {})
        cpio.write_trailer()
