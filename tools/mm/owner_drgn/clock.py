# SPDX-License-Identifier: GPL-2.0
"""The times and weights of records: see mm/owner/record.c and sample.c."""

from typing import Dict, List, NamedTuple, Tuple

from drgn import Program, sizeof

from .format import owner_format
from .layout import Layout
from .memory import cached, notes_of, read_memory, read_variable

WEIGHT_SHIFT = 16       # of the fraction of a weight, before it is printed
ONE = 1 << 32           # 1 in the units of probabilities and costs
# Largest valid age: OWNER_TICKS_MAX of the kernel.
TICKS_MAX = 0xffffffff - (0xffffffff >> 4)


class Clock(NamedTuple):
    """When the dump was taken, in ticks, and how ticks become ns."""

    now: int
    tick_ns: int
    clock_at_tick_0: int

    def _ticks_since(self, time: int) -> int:
        """Below 0 for a record that the live kernel made after the clock was read."""
        ticks = self.now - time & 0xffffffff
        return ticks if ticks <= TICKS_MAX else ticks - (1 << 32)

    def age_ns(self, time: int) -> int:
        """Age of a record in nanoseconds."""
        return max(self._ticks_since(time), 0) * self.tick_ns

    def time_to_ns(self, time: int) -> int:
        """Nanoseconds since boot of a record's time."""
        ticks = self.now - self._ticks_since(time)
        return self.clock_at_tick_0 + ticks * self.tick_ns & (1 << 64) - 1

    def now_ns(self) -> int:
        """When the dump was taken."""
        return self.clock_at_tick_0 + self.now * self.tick_ns & (1 << 64) - 1


def _read_clock(prog: Program) -> Clock:
    form = owner_format(prog)
    return Clock(read_variable(prog, "jiffies_64") >> form.ticks_shift, form.tick_ns,
                 read_variable(prog, "clock_at_tick_0"))


def owner_clock(prog: Program) -> Clock:
    """The clock of records."""
    return cached(prog, _read_clock)


def _compute_probability(cost: int) -> int:
    """1 - exp(-cost), as compute_probability() of the kernel computes it."""
    cost = min(cost, 23 << 32)
    doublings = 0
    while cost >> 26:
        cost >>= 1
        doublings += 1
    square = cost * cost & (1 << 64) - 1
    probability = cost - (square >> 33) + (square * cost >> 64) // 6
    for _ in range(doublings):
        probability = 2 * probability - (probability * probability >> 32)
    return min(max(probability, 1), ONE - 1)


def _read_rates(prog: Program) -> List[Tuple[int, int]]:
    """Cost of each byte and of each object, by the number of the rate."""
    variable = prog.variable("rates", "mm/owner/sample.c")
    layout = Layout(prog, "struct owner_rate", "per_byte", "per_object")
    data = read_memory(prog, variable.address_ or 0, sizeof(variable))
    if data is None:
        notes_of(prog).add("tables of rates", "they cannot be read, and weights are 1")
        return []
    return [(per_byte, per_object) for per_byte, per_object in layout.iterate(data)]


def _make_weights(_prog: Program) -> Dict[Tuple[int, int], str]:
    return {}


def owner_sample_weight(prog: Program, rate: int, size: int) -> str:
    """How many objects a sampled record stands for, as the kernel prints it: "12.345"."""
    weights = cached(prog, _make_weights)
    if (rate, size) not in weights:
        rates = cached(prog, _read_rates)
        per_byte, per_object = rates[rate] if rate < len(rates) else (ONE, ONE)
        probability = _compute_probability(size * per_byte + per_object & (1 << 64) - 1)
        weight = (1 << 32 + WEIGHT_SHIFT) // probability
        thousandths = weight * 1000 + (1 << WEIGHT_SHIFT - 1) >> WEIGHT_SHIFT
        weights[rate, size] = f"{thousandths // 1000}.{thousandths % 1000:03}"
    return weights[rate, size]
