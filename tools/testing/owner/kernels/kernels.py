#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Build kernels: kernels.py [--missing] NAME..., or kernels.py --make NAME WORD...

The names are x86_64 um page frame-pointers debug rt latency kmsan arm64 arm64-64k arm64-scs
kasan-tags s390x vanilla debug-vanilla kasan-tags-vanilla kmsan-vanilla profiling um-vanilla
um-profiling um-smp um-smp-vanilla um-smp-profiling um-without-rules um-without-page
um-without-report um-leaks debian debian-vanilla.
7.3/NAME is the kernel NAME of Linux 7.3, in build/7.3/NAME/.
--missing skips kernels that have an image. --make runs make with the words and the variables
of the build; with others, make would compile the whole kernel again. Objects are in
build/NAME/, the compiler's output in build/NAME.log. A build is incremental, and ccache shares
objects between trees.

The debian kernels have Debian's configuration for clouds, without its modules, debug
information and drivers that a guest does not use, unless FULL=1 is in the environment. A
machine needs FULL=1.
"""

import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from workbench import (BUILD, HERE, ROOT, VERSIONS, die, locate_version, print_line,  # noqa: E402
                       run_command)


@dataclass
class KernelRecipe:
    """How one kernel is configured and built."""
    fragments: list[str]
    arch: str = "x86_64"
    image: str = "bzImage"
    cross: str = ""
    compiler: str = "gcc"
    pristine: bool = False
    # Debian's configuration is below the fragments.
    debian: bool = False
    # The kernel has the leaks of tools/testing/owner/leaks.
    leaks: bool = False


DEBIAN_CONFIG = (BUILD / "packages/usr/src/linux-config-6.12"
                 / "config.amd64_none_cloud-amd64.xz")
FULL = os.environ.get("FULL") == "1"
DEBIAN_FAST = [] if FULL else ["debian-fast"]

KERNELS = {
    "x86_64": KernelRecipe(["base", "x86_64", "bpf", "owner", "user", "stackmap"]),
    "um": KernelRecipe(["base", "um", "owner"], arch="um", image="linux"),
    # User-mode Linux can have several CPUs in 7.3.
    "um-smp": KernelRecipe(["base", "um", "smp", "owner"], arch="um", image="linux"),
    "um-smp-vanilla": KernelRecipe(["base", "um", "smp"], arch="um", image="linux",
                                   pristine=True),
    "um-smp-profiling": KernelRecipe(["base", "um", "smp", "profiling"], arch="um",
                                     image="linux", pristine=True),
    "um-without-rules": KernelRecipe(["base", "um", "owner", "without-rules"], arch="um",
                                     image="linux"),
    "um-without-page": KernelRecipe(["base", "um", "owner", "without-page"], arch="um",
                                    image="linux"),
    "um-without-report": KernelRecipe(["base", "um", "owner", "without-report"], arch="um",
                                      image="linux"),
    "um-leaks": KernelRecipe(["base", "um", "leaks"], arch="um", image="linux", leaks=True),
    "page": KernelRecipe(["base", "um", "page"], arch="um", image="linux"),
    "frame-pointers": KernelRecipe(["base", "x86_64", "bpf", "owner", "user", "stackmap",
                                    "frame-pointers"]),
    "debug": KernelRecipe(["base", "x86_64", "owner", "user", "stackmap", "debug"]),
    "rt": KernelRecipe(["base", "x86_64", "owner", "user", "stackmap", "rt"]),
    "latency": KernelRecipe(["base", "x86_64", "owner", "user", "stackmap", "rt", "latency"]),
    "kmsan": KernelRecipe(["base", "x86_64", "owner", "user", "stackmap", "kmsan"],
                          compiler="clang"),
    "arm64": KernelRecipe(["base", "arm64", "owner", "user", "stackmap"], arch="arm64",
                          image="Image", cross="aarch64-linux-gnu-"),
    "arm64-64k": KernelRecipe(["base", "arm64", "owner", "user", "stackmap", "64k"],
                              arch="arm64", image="Image", cross="aarch64-linux-gnu-"),
    "arm64-scs": KernelRecipe(["base", "arm64", "owner", "user", "stackmap", "scs"],
                              arch="arm64", image="Image", cross="aarch64-linux-gnu-"),
    "kasan-tags": KernelRecipe(["base", "arm64", "owner", "user", "kasan-tags"], arch="arm64",
                               image="Image", cross="aarch64-linux-gnu-"),
    "s390x": KernelRecipe(["base", "s390x", "owner"], arch="s390", cross="s390x-linux-gnu-"),
    "vanilla": KernelRecipe(["base", "x86_64", "bpf"], pristine=True),
    "debug-vanilla": KernelRecipe(["base", "x86_64", "debug"], pristine=True),
    "kasan-tags-vanilla": KernelRecipe(["base", "arm64", "kasan-tags"], arch="arm64",
                                       image="Image", cross="aarch64-linux-gnu-",
                                       pristine=True),
    "kmsan-vanilla": KernelRecipe(["base", "x86_64", "kmsan"], compiler="clang", pristine=True),
    "profiling": KernelRecipe(["base", "x86_64", "profiling"], pristine=True),
    "um-vanilla": KernelRecipe(["base", "um"], arch="um", image="linux", pristine=True),
    "um-profiling": KernelRecipe(["base", "um", "profiling"], arch="um", image="linux",
                                 pristine=True),
    "debian": KernelRecipe(["debian", "debian-owner", *DEBIAN_FAST], debian=True),
    "debian-vanilla": KernelRecipe(["debian", *DEBIAN_FAST], debian=True, pristine=True),
}


def parse_options(text: str) -> dict[str, str]:
    """The options that a configuration sets."""
    return dict(re.findall(r"^(CONFIG_\w+)=(.*)$", text, re.M))


def read_debian_config() -> dict[str, str]:
    """The options of Debian's kernel for clouds; without FULL, only those that are no modules."""
    if not DEBIAN_CONFIG.is_file():
        die(f"{DEBIAN_CONFIG.relative_to(ROOT)} is missing: run 'make install-debian'")
    options = parse_options(lzma.open(DEBIAN_CONFIG, "rt").read())
    return {option: value for option, value in options.items() if FULL or value != "m"}


def merge_fragments(kernel: KernelRecipe, version: str) -> str:
    """The kernel's options. If fragments disagree, the last one wins."""
    options: dict[str, str] = {}
    for name in kernel.fragments + [version] * (version != VERSIONS[0]):
        options |= parse_options((HERE / "kernels/configs" / f"{name}.config").read_text())
    # Preemption models exclude each other, so drop the base's choice. Later kernels have the lazy
    # model in its place.
    if version != VERSIONS[0] or "y" in map(options.get, ("CONFIG_PREEMPT", "CONFIG_PREEMPT_RT")):
        options.pop("CONFIG_PREEMPT_VOLUNTARY", None)
    return "".join(f"{option}={value}\n" for option, value in options.items())


def split_name(name: str) -> tuple[str, str]:
    """The version of Linux and the recipe of the kernel 7.3/NAME, or NAME of the first version."""
    version, _, recipe = name.rpartition("/")
    return version or VERSIONS[0], recipe


def is_kernel(name: str) -> bool:
    """Whether there is a kernel of this name."""
    version, recipe = split_name(name)
    return recipe in KERNELS and version in VERSIONS and not name.startswith(f"{VERSIONS[0]}/")


class KernelBuild:
    """The build of one kernel, from configuration fragments to image."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.version, recipe = split_name(name)
        self.kernel = KERNELS[recipe]
        place = locate_version(self.version)
        base = place / ("base" if self.kernel.pristine else "")
        self.tree = base / "tree"
        self.objects = base / recipe
        self.log = BUILD / f"{name}.log"

    def find_image(self) -> Path:
        """The path of the bootable image."""
        if self.kernel.arch == "um":
            return self.objects / self.kernel.image
        arch = self.kernel.arch.replace("x86_64", "x86")
        return self.objects / "arch" / arch / "boot" / self.kernel.image

    def start_make(self, *words: str, **kwargs) -> subprocess.Popen:
        """Start make on the kernel tree, through ccache if it is installed."""
        kernel = self.kernel
        cache = "ccache " if shutil.which("ccache") else ""
        # ccache makes paths below CCACHE_BASEDIR relative, so that a clone of this
        # repository elsewhere finds the objects that this one compiled. No CCACHE_DEPEND:
        # without the preprocessor it does not see .incbin, and can take the compressed
        # kernel of another build, if both have the same size.
        environment = os.environ | {
            "CCACHE_BASEDIR": str(self.tree.parent), "CCACHE_NOHASHDIR": "1",
            "CCACHE_SLOPPINESS": "time_macros,include_file_mtime,include_file_ctime",
            "KBUILD_BUILD_TIMESTAMP": "1970-01-01", "KBUILD_BUILD_USER": "owner",
            "KBUILD_BUILD_HOST": "workbench"}
        environment.pop("MAKEFLAGS", None)
        command = ["make", "-C", str(self.tree), f"O={self.objects}", f"ARCH={kernel.arch}",
                   f"CROSS_COMPILE={kernel.cross}", f"CC={cache}{kernel.cross}{kernel.compiler}",
                   f"HOSTCC={cache}gcc", f"-j{os.cpu_count()}", *words]
        if kernel.debian:
            # An empty one keeps "+" out of the release, which would mean: from a git tree.
            command.append("LOCALVERSION=")
        return subprocess.Popen(command, env=environment, text=True, **kwargs)

    def patch_leaks(self) -> None:
        """Write the files that the leaks change into the object directory.

        Make takes a source from there before it looks for it in the tree.
        """
        patches = [path.read_text() for path in sorted((HERE / "leaks").glob("*.patch"))]
        paths = re.findall(r"^\+\+\+ b/(\S+)", "".join(patches), re.M)
        listed = self.objects / "leaks.list"
        for path in set(listed.read_text().split() if listed.exists() else []) - set(paths):
            (self.objects / path).unlink(missing_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            for path in filter(lambda path: (self.tree / path).exists(), paths):
                Path(scratch, path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(self.tree / path, Path(scratch, path))
            run_command("patch", "-p1", "--fuzz=0", "--no-backup-if-mismatch", "-s", "-f",
                        cwd=Path(scratch), input="".join(patches))
            for path in paths:
                content, target = Path(scratch, path).read_bytes(), self.objects / path
                if not target.exists() or target.read_bytes() != content:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(content)
        listed.write_text("\n".join(paths))

    def configure_kernel(self) -> None:
        """Write .config, unless the fragments and Kconfig files are unchanged."""
        self.objects.mkdir(parents=True, exist_ok=True)
        self.log.unlink(missing_ok=True)
        if self.kernel.pristine:
            link = BUILD / self.name
            if not link.is_symlink():
                link.symlink_to(self.objects.relative_to(link.parent))
        wanted = merge_fragments(self.kernel, self.version)
        below = read_debian_config() if self.kernel.debian else {}
        options = below | parse_options(wanted)
        every = "".join(f"{option}={value}\n" for option, value in options.items())
        fragment = self.objects / "owner.fragment"
        config = self.objects / ".config"
        newest = max(path.stat().st_mtime for part in ("mm", "lib")
                     for path in (self.tree / part).rglob("Kconfig*"))
        if (fragment.is_file() and fragment.read_text() == every and config.is_file()
                and config.stat().st_mtime > newest):
            return
        fragment.unlink(missing_ok=True)
        trial = self.objects / "fragment.tmp"
        trial.write_text(every)
        with self.log.open("a") as log:
            status = self.start_make(f"KCONFIG_ALLCONFIG={trial}", "allnoconfig",
                                     stdout=log, stderr=log).wait()
        if status:
            self.exit_with_build_errors("could not be configured")
        self.check_kernel_config(wanted, config.read_text())
        trial.rename(fragment)

    def check_kernel_config(self, wanted: str, got: str) -> None:
        """Exit if Kconfig dropped an option: results would be of another kernel."""
        have = parse_options(got)
        lost = [f"{option}={value} (it is {have.get(option, 'n')})"
                for option, value in parse_options(wanted).items()
                if have.get(option, "n") != value]
        if lost:
            die(f"{self.name}: Kconfig did not accept:\n  " + "\n  ".join(lost) +
                "\nA dependency is missing: add it to the fragment in "
                "tools/testing/owner/kernels/configs/.")

    def compile_kernel(self) -> None:
        """Compile, and print a line of progress every 15 s."""
        began = shown = time.monotonic()
        steps, step = 0, ""
        with self.log.open("a") as log:
            make = self.start_make(self.kernel.image, "modules", "scripts_gdb",
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            assert make.stdout
            for line in make.stdout:
                log.write(line)
                # Other lines are output of the programs that make runs.
                if line.startswith("  ") and line.strip():
                    steps, step = steps + 1, line.split()[-1]
                if time.monotonic() - shown > 15:
                    shown = time.monotonic()
                    print_line(f"{self.name}: {format_minutes(shown - began)}, {steps} steps, "
                               f"now {step}")
            status = make.wait()
        if status:
            self.exit_with_build_errors("did not build")
        # The guest of a kernel with leaks needs none.
        if not self.kernel.leaks:
            self.build_guest_modules()
        print_line(f"{self.name}: built in {format_minutes(time.monotonic() - began)}")

    def build_guest_modules(self) -> None:
        """Build the modules that the tests load into guests."""
        directory = self.objects / "owner-modules"
        directory.mkdir(exist_ok=True)
        stamp = directory / ".built"
        for source in (HERE / "modules").iterdir():
            target = directory / source.name
            if not target.exists() or target.read_bytes() != source.read_bytes():
                stamp.unlink(missing_ok=True)
                shutil.copy(source, target)
        # Make writes temporary files into this directory, which other suites copy into guests:
        # do not run make if nothing has changed.
        newest = max((self.objects / name).stat().st_mtime for name in ("vmlinux", ".config"))
        if stamp.exists() and stamp.stat().st_mtime > newest:
            return
        stamp.unlink(missing_ok=True)
        with self.log.open("a") as log:
            if self.start_make(f"M={directory}", "modules", stdout=log, stderr=log).wait():
                self.exit_with_build_errors("did not build its guest modules")
            # The guest has no libraries.
            if "bpf" in self.kernel.fragments and subprocess.run(
                    ["gcc", "-O2", "-Wall", "-static", "-o", directory / "attach_fexit",
                     directory / "attach_fexit.c"], stdout=log, stderr=log).returncode:
                self.exit_with_build_errors("did not build attach_fexit")
        stamp.touch()

    def exit_with_build_errors(self, what: str) -> None:
        """Exit with the lines of the log that explain the failure."""
        lines = self.log.read_text(errors="replace").split("\n")
        telling = ([line for line in lines if re.search(r"error:|undefined reference", line)]
                   or [line for line in lines if "***" in line])
        die(f"{self.name} {what}; the whole log is {self.log.relative_to(ROOT)}\n  "
            + "\n  ".join((telling or lines)[-15:]))


def format_minutes(seconds: float) -> str:
    """Format seconds as minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def build_kernel(name: str) -> None:
    """Configure and build one kernel."""
    work = KernelBuild(name)
    work.configure_kernel()
    if work.kernel.leaks:
        work.patch_leaks()
    work.compile_kernel()


def main() -> None:
    """The program."""
    words = sys.argv[1:]
    if words[:1] == ["--make"] and words[1:2] and is_kernel(words[1]):
        sys.exit(KernelBuild(words[1]).start_make(*words[2:]).wait())
    names = [word for word in words if word != "--missing"]
    unknown = [name for name in names if not is_kernel(name)]
    if unknown or not names:
        die(f"no such kernel: {', '.join(unknown) or '(none named)'}; "
            f"there are {', '.join(KERNELS)}, and those of {VERSIONS[1]} as {VERSIONS[1]}/NAME")
    for name in names:
        version, recipe = split_name(name)
        kernel = KERNELS[recipe]
        if kernel.debian and version != VERSIONS[0]:
            die(f"{name}: Debian's configuration is that of {VERSIONS[0]}")
        if kernel.leaks and version != VERSIONS[0]:
            die(f"{name}: the leaks are patches to {VERSIONS[0]}")
        compiler = f"{kernel.cross}{kernel.compiler}"
        if not shutil.which(compiler):
            target = recipe.removesuffix("-vanilla")
            die(f"{name} needs {compiler}: run 'make install-{target}'"
                if compiler != "gcc" else f"{compiler} is missing: run 'make install'")
    if "--missing" in words:
        names = [name for name in names if not KernelBuild(name).find_image().exists()]
    trees = {(version, "pristine" if KERNELS[recipe].pristine else "assemble")
             for version, recipe in map(split_name, names)}
    for version, what in sorted(trees, reverse=True):
        if subprocess.run([HERE / "kernels/tree.py", what],
                          env=os.environ | {"LINUX": version}).returncode:
            sys.exit(1)
    # Build two kernels at a time: one compiles while the other links.
    with ThreadPoolExecutor(2) as pool:
        for outcome in [pool.submit(build_kernel, name) for name in names]:
            outcome.result()


if __name__ == "__main__":
    main()
