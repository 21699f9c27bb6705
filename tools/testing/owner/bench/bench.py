#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Measure the cost of an allocation, of slab_owner and of other tools.

    bench.py            every mode and operation: tables, and build/bench.tsv
    bench.py MODE...    these modes only
    bench.py --check    the operations and modes that have a bound, as TAP

A mode is a kernel and a command line. It boots on a virtual CPU that counts
instructions and loads modules/owner_bench.c. "Added" is relative to the vanilla
kernel, built from the same source and configuration. User-mode Linux runs
directly on the processor: its modes are measured in nanoseconds and compared
with each other.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from workbench import BUILD, die, print_line  # noqa: E402

from contexts import CONTEXT_MODES, CONTEXTS, KMALLOC  # noqa: E402
from measure import BOOTS, BenchFigures, measure_all_modes  # noqa: E402
from modes import ALONE, ARM64, ARM64_BASE, BASE, BOUNDS, CALLS, MODES, NATIVE  # noqa: E402
from modes import NATIVE_BASE, CostBound  # noqa: E402

# A figure may exceed its bound by this factor.
TOLERANCE = 1.03
# Which steps share a line, and which handles and hashes a set, differs by build and by boot.
CONTEXT_TOLERANCE = 1.2
# Depth of the call chain at which the table shows most operations.
CHAIN = 8
# Operations that the table shows at every depth of the call chain.
AT_EACH_CHAIN = ("kmalloc-64", "pages-0")


def write_figures_tsv(results: dict[str, BenchFigures]) -> None:
    """Write all figures to build/bench.tsv."""
    lines = ["operation\tchain\tmode\tleast\tmedian\n"]
    lines += [f"{operation}\t{chain}\t{mode}\t{figure.least:.2f}\t{figure.median:.2f}\n"
              for mode, figures in results.items()
              for (operation, chain), figure in figures.items()]
    (BUILD / "bench.tsv").write_text("".join(lines))


def should_print_table_row(operation: str, chain: int) -> bool:
    """True if the table has a row for the operation at this chain."""
    if "/" in operation:
        return False
    if operation in (*AT_EACH_CHAIN, CALLS) or operation.startswith("bytes-"):
        return True
    return chain == CHAIN and operation != "frames"


def print_added_costs(results: dict[str, BenchFigures]) -> None:
    """Print the base's figures, and the difference of each mode."""
    base = results[BASE]
    others = [name for name in results
              if name not in (BASE, *ALONE, *NATIVE) and not MODES[name].only_contexts]
    print_line(f"\n{'operation':24}{'frames':>7}{BASE:>10}"
               + "".join(f"{'+' + name:>15}" for name in others))
    for (operation, chain), figure in base.items():
        if not should_print_table_row(operation, chain):
            continue
        # An operation that counts bytes has no call chain. A system call is not at the depth
        # of the other operations.
        alone = operation == CALLS or operation.startswith("bytes-")
        frames = "" if alone else f"{base['frames', chain].median:.0f}"
        print_line(f"{operation:24}{frames:>7}{figure.median:10,.1f}"
                   + "".join(f"{results[name][operation, chain].median - figure.median:15,.1f}"
                             for name in others))
    for name in ALONE:
        for (what, frames), figure in results.get(name, {}).items():
            print_line(f"{what:24}{frames or '':>7}{figure.median:10,.1f}")
    print_line("\nInstructions for an operation and its opposite, for a call chain, or for each "
               "object of a query, and bytes; all figures are in build/bench.tsv")


def format_target(limit: tuple[float, float]) -> str:
    """The target of a limit, which is a bound and a target or 0."""
    return f"{limit[1]:g}" if limit[1] else "-"


def print_context_costs(results: dict[str, BenchFigures]) -> None:
    """Print the plain figure of each context, and what each mode adds beside its target."""
    modes = {mode: operation for mode, operation in CONTEXT_MODES.items() if mode in results}
    for operation in dict.fromkeys(modes.values()):
        columns = [mode for mode in modes if modes[mode] == operation]
        print_line(f"\n{operation + ' in':24}{BASE:>10}"
                   + "".join(f"{'+' + mode:>15}{'target':>8}" for mode in columns))
        for row in CONTEXTS:
            key = f"{operation}/{row.context}", 0
            plain = results[BASE][key].median
            print_line(f"{row.context:24}{plain:10,.1f}" + "".join(
                f"{results[mode][key].median - plain:15,.1f}{format_target(row.limits[mode]):>8}"
                for mode in columns))


def print_arm64_costs(results: dict[str, BenchFigures]) -> None:
    """Print the figures of arm64, compared with a kernel that is compiled in and off."""
    print_line(f"\n{'kmalloc-64 in':24}{ARM64_BASE:>10}{'+arm64,on':>15}{'target':>8}")
    for row in CONTEXTS:
        key = f"{KMALLOC}/{row.context}", 0
        if key in results[ARM64_BASE]:
            plain = results[ARM64_BASE][key].median
            print_line(f"{row.context:24}{plain:10,.1f}"
                       f"{results['arm64,on'][key].median - plain:15,.1f}"
                       f"{format_target(row.limits['arm64,on']):>8}")


def print_native_costs(results: dict[str, BenchFigures]) -> None:
    """Print nanoseconds of the base, and the other modes as multiples."""
    base = results[NATIVE_BASE]
    others = [name for name in NATIVE if name in results and name != NATIVE_BASE]
    print_line(f"\n{'operation':24}{'frames':>7}{NATIVE_BASE + ' ns':>12}"
               + "".join(f"{name:>15}" for name in others))
    for (operation, chain), figure in base.items():
        if should_print_table_row(operation, chain):
            print_line(f"{operation:24}{base['frames', chain].median:7.0f}{figure.median:12.1f}"
                       + "".join(f"{results[name][operation, chain].median / figure.median:14.2f}x"
                                 for name in others))
    print_line(f"\nMedians of {BOOTS} boots of user-mode Linux, natively, and ratios")


def is_measurable(bound: CostBound) -> bool:
    """True unless the bound's kernel is one that only some machines build, and is not built."""
    return bound.mode not in ARM64 or (BUILD / "arm64/arch/arm64/boot/Image").exists()


def check_bounds() -> int:
    """Check each bound; print TAP."""
    bounds = [bound for bound in BOUNDS if is_measurable(bound)]
    names = list(dict.fromkeys([BASE, *(bound.over for bound in bounds),
                                *(bound.mode for bound in bounds)]))
    only = tuple(dict.fromkeys(bound.operation for bound in BOUNDS if bound.mode not in ALONE))
    results = measure_all_modes(names, only)
    missed = 0
    for number, bound in enumerate(BOUNDS, 1):
        if bound not in bounds:
            print_line(f"ok {number} - {bound.operation}, {bound.mode} # SKIP its kernel is not "
                       "built: make kernel K=arm64")
            continue
        key = bound.operation, bound.chain
        plain = 0.0 if bound.mode in ALONE else results[bound.over][key].median
        added = results[bound.mode][key].median - plain
        in_context = "/" in bound.operation
        good = added <= bound.added * (CONTEXT_TOLERANCE if in_context else TOLERANCE)
        missed += not good
        print_line(f"{'ok' if good else 'not ok'} {number} - {bound.operation}, {bound.mode}, "
                   f"chain {bound.chain}: at most {bound.added} instructions added")
        print_line(f"# {plain:.2f} {'plain' if bound.over == BASE else bound.over}, {added:+.2f}"
                   + (f"; the target is {bound.target}" if bound.target else ""))
    print_line(f"1..{len(BOUNDS)}")
    return 1 if missed else 0


def main() -> int:
    """The program."""
    words = sys.argv[1:]
    if words == ["--check"]:
        return check_bounds()
    unknown = [word for word in words if word not in MODES]
    if unknown:
        die(f"no such mode: {', '.join(unknown)}; there are {', '.join(MODES)}")
    names = [name for name in MODES if not words or name in words]
    if set(names) - set(NATIVE):
        names.insert(0, BASE)
    if set(names) & set(NATIVE):
        names.insert(0, NATIVE_BASE)
    names = list(dict.fromkeys(names))
    results = measure_all_modes(names, memory=True)
    write_figures_tsv(results)
    if BASE in results:
        print_added_costs(results)
        print_context_costs(results)
    if ARM64_BASE in results:
        print_arm64_costs(results)
    if NATIVE_BASE in results:
        print_native_costs(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
