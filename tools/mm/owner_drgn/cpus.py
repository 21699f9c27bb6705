# SPDX-License-Identifier: GPL-2.0
"""Where each CPU has its copies of per-CPU variables."""

from typing import Dict

from drgn import FaultError, Program
from drgn.helpers.linux.cpumask import for_each_possible_cpu

from .memory import cached, notes_of, read_number, word_size


def percpu_offsets(prog: Program) -> Dict[int, int]:
    """The offset of each possible CPU's copy of a per-CPU variable, by number of the CPU."""
    return cached(prog, _read_percpu_offsets)


def _read_percpu_offsets(prog: Program) -> Dict[int, int]:
    offsets: Dict[int, int] = {}
    try:
        array = prog.variable("__per_cpu_offset").address_ or 0
        for cpu in for_each_possible_cpu(prog):
            offset = read_number(prog, array + cpu * word_size(prog), word_size(prog))
            if offset is None:
                notes_of(prog).add("CPUs", "their per-CPU areas cannot be found")
            else:
                offsets[cpu] = offset
    except (FaultError, LookupError) as error:
        notes_of(prog).add("CPUs", f"their per-CPU areas cannot be found: {error}")
    return offsets
