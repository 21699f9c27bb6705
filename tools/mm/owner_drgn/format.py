# SPDX-License-Identifier: GPL-2.0
"""The structures by which the kernel describes its formats to readers of a dump.

See mm/owner/report/format.c and lib/stackdepot/format.c.
"""

from typing import Dict, List

from drgn import Program

from .layout import Layout
from .memory import cached, read_memory

OWNER_FORMAT = 3
STACK_DEPOT_FORMAT = 1


class FormatError(Exception):
    """The dump cannot be read; the text says why."""


class Format:
    """The members of a format structure, as attributes."""

    def __init__(self, values: Dict[str, int]) -> None:
        self.values = values

    def __getattr__(self, name: str) -> int:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(f"this kernel's format has no {name}") from None


def _has_debug_information(prog: Program) -> bool:
    """True if there is a type that each kernel has."""
    try:
        prog.type("struct task_struct")
    except LookupError:
        return False
    return True


def _read_format(prog: Program, name: str, known: int, limits: Dict[str, int]) -> Format:
    """Read the structure and variable @name. Larger values than @limits are damage."""
    try:
        type_ = prog.type(f"struct {name}")
        address = prog.variable(name).address_
    except LookupError:
        if not _has_debug_information(prog):
            raise FormatError("there is no debug information of the kernel: name a vmlinux with "
                              "drgn -s that was built with CONFIG_DEBUG_INFO_DWARF5") from None
        raise FormatError(f"the kernel does not have slab_owner, or the debug information does "
                          f"not belong to it: there is no variable {name}") from None
    names: List[str] = [member.name for member in type_.members or () if member.name]
    layout = Layout(prog, f"struct {name}", *names)
    data = read_memory(prog, address or 0, layout.size)
    if data is None:
        raise FormatError(f"{name} at {address:#x} cannot be read: the dump is cut off, or the "
                          f"debug information does not belong to it, or QEMU took the dump "
                          f"without -p, which drgn before version 0.0.27 cannot read")
    values = dict(zip(names, layout.unpack(data)))
    if values["version"] not in (0, known):
        raise FormatError(f"{name} has version {values['version']}, and this reader knows "
                          f"version {known}: use the reader of that kernel's tools/mm")
    for member, limit in limits.items():
        if not 0 < values.get(member, 1) <= limit:
            values["version"] = 0
    if not values["version"]:
        raise FormatError(f"{name} at {address:#x} is damaged: "
                          + ", ".join(f"{key} {value}" for key, value in values.items()))
    return Format(values)


def _read_owner_format(prog: Program) -> Format:
    form = _read_format(prog, "owner_format", OWNER_FORMAT,
                        {"tick_ns": 10 ** 9, "size_bits": 31})
    # These can be 0.
    for name, limit in (("ticks_shift", 16), ("block_order", 30),
                        ("context_words", 16), ("user_reason_shift", 48),
                        ("user_place_shift", 56)):
        if form.values.get(name, 0) > limit:
            raise FormatError(f"owner_format is damaged: {name} is {form.values[name]}")
    return form


def _read_depot_format(prog: Program) -> Format:
    return _read_format(prog, "stack_depot_format", STACK_DEPOT_FORMAT,
                        {"pool_bytes": 1 << 24, "offset_shift": 16, "counters": 16,
                         "unit_bytes": 1 << 12})


def owner_format(prog: Program) -> Format:
    """How records are encoded. Raises FormatError if this reader cannot read them."""
    return cached(prog, _read_owner_format)


def stack_depot_format(prog: Program) -> Format:
    """How the depot is encoded. Raises FormatError if this reader cannot read it."""
    return cached(prog, _read_depot_format)
