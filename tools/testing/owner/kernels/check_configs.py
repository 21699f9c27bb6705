#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check the configuration fragments without building a kernel; print TAP."""

import re
import sys
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from workbench import HERE, TREE, VERSIONS, print_line  # noqa: E402

from kernels import KERNELS  # noqa: E402

FRAGMENTS = HERE / "kernels/configs"
# Fragments that leave drivers out, and the directories whose options they must not touch:
# those would change what make bench-load measures.
FAST = "debian-fast"
MEASURED = ("mm", "fs/ext4", "fs/notify", "net/unix")
# Kernels that benchmarks compare: a kernel, its base, and the fragment that makes the difference.
PAIRS = (("debian", "debian-vanilla", "debian-owner"), ("um", "um-vanilla", "owner"),
         ("um-profiling", "um-vanilla", "profiling"), ("um-smp", "um-smp-vanilla", "owner"),
         ("um-smp-profiling", "um-smp-vanilla", "profiling"))


def list_options(name: str) -> list[str]:
    """The options of a fragment, in its order."""
    return re.findall(r"^CONFIG_(\w+)=", (FRAGMENTS / f"{name}.config").read_text(), re.M)


def find_repeated_options() -> list[str]:
    """Options that a fragment sets twice: the first value would be lost without a word."""
    return [f"{path.name}: {option}" for path in FRAGMENTS.glob("*.config")
            for option, times in Counter(list_options(path.stem)).items() if times > 1]


def find_stray_fragments() -> list[str]:
    """Fragments that no kernel has, and fragments of kernels that do not exist."""
    used = {name for kernel in KERNELS.values() for name in kernel.fragments}
    used |= {FAST, *VERSIONS[1:]}
    return sorted(used ^ {path.stem for path in FRAGMENTS.glob("*.config")})


def find_measured_options() -> list[str]:
    """Options of the fast fragment that Kconfig files of the measured directories define."""
    defined = {option for directory in MEASURED for path in (TREE / directory).glob("Kconfig*")
               for option in re.findall(r"^(?:menu)?config (\w+)", path.read_text(), re.M)}
    return [option for option in list_options(FAST) if option in defined]


def find_pair_differences() -> list[str]:
    """Fragments that only one of two compared kernels has, except for the compared one."""
    fragments = {name: set(kernel.fragments) for name, kernel in KERNELS.items()}
    return [f"{name} and {base}: {fragment}" for name, base, compared in PAIRS
            for fragment in sorted((fragments[name] ^ fragments[base]) - {compared})]


CHECKS = [
    ("no fragment sets an option twice", find_repeated_options),
    ("each fragment belongs to a kernel", find_stray_fragments),
    (f"{FAST} changes no memory management", find_measured_options),
    ("compared kernels differ by the compared options only", find_pair_differences),
]


def main() -> int:
    """The program."""
    failed = 0
    for number, (name, find_errors) in enumerate(CHECKS, 1):
        errors = find_errors()
        failed += bool(errors)
        print_line(f"{'not ok' if errors else 'ok'} {number} - {name}")
        for error in errors:
            print_line(f"# {error}")
    print_line(f"1..{len(CHECKS)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
