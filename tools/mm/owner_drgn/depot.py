# SPDX-License-Identifier: GPL-2.0
"""The stack depot: handles to frames, tasks and counters.

A record is persistent or evictable; both are in pools, and a handle leads to a record.
An evictable record belongs to a handle only if its generation is the handle's.
"""

from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from drgn import Program

from .format import stack_depot_format
from .layout import Layout, member_offset
from .memory import cached, notes_of, read_memory, read_number, read_variable, word_size

POOLS_MAX = 1 << 20


class DepotRecord(NamedTuple):
    """A record of the depot."""

    handle: int
    evictable: bool
    data: bool                  # words of a task, or of a user chain, not frames
    refcount: int
    counters: Tuple[int, ...]   # empty if the record has none
    words: Tuple[int, ...]      # frames, or words of data


class OwnerTask(NamedTuple):
    """A task as it was when a record was filled."""

    pid: int
    tgid: int
    comm: bytes


UNKNOWN_TASK = OwnerTask(0, 0, b"?")


class Depot:
    """Finds records in the pools."""

    def __init__(self, prog: Program) -> None:
        self.prog = prog
        self.format = stack_depot_format(prog)
        self.word = word_size(prog)
        self.handle = Layout(prog, "union handle_parts", "pool_index_plus_1", "offset", "extra")
        self.record = Layout(prog, "struct stack_record", "hash", "size", "handle", "count")
        self.entries = member_offset(prog, "struct stack_record", "entries")
        self.max_frames: int = prog.type("struct stack_record").member("entries").type.length or 0
        self.tag = member_offset(prog, "struct evictable_pool", "tag")
        self.unit = member_offset(prog, "struct evictable_pool", "unit")
        self.frame_base = read_variable(prog, "stack_depot_frame_base")
        self.pools = self._read_pools()
        self.headers: Dict[int, Optional[bytes]] = {}
        self.tasks: Dict[int, OwnerTask] = {}
        self.records: Dict[int, Optional[DepotRecord]] = {}

    def _read_pools(self) -> List[int]:
        """Addresses of the pools, by index."""
        number = read_variable(self.prog, "pools_num")
        array = read_variable(self.prog, "stack_pools")
        data = read_memory(self.prog, array, number * self.word) if number <= POOLS_MAX else None
        if data is None:
            notes_of(self.prog).add("depots", "the array of pools cannot be read")
            return []
        return [int.from_bytes(data[i:i + self.word], self.handle.order)
                for i in range(0, len(data), self.word)]

    def read_pool_units(self, index: int) -> Optional[bytes]:
        """The state of each unit of a pool of evictable records. None if it is no such pool."""
        if index not in self.headers:
            self.headers[index] = self._read_header(self.pools[index])
        return self.headers[index]

    def _read_header(self, pool: int) -> Optional[bytes]:
        tag = read_number(self.prog, pool + self.tag, self.word)
        if tag is None:
            notes_of(self.prog).add("pools", "they cannot be read")
        if tag != self.format.evictable_tag:
            return None
        return read_memory(self.prog, pool + self.unit,
                           self.format.pool_bytes // self.format.unit_bytes)

    def find_record(self, handle: int) -> Optional[DepotRecord]:
        """The record of a handle. None if the handle is wild or stale."""
        if handle not in self.records:
            self.records[handle] = self._find_record(handle)
        return self.records[handle]

    def _find_record(self, handle: int) -> Optional[DepotRecord]:
        form = self.format
        index, offset, extra = self._split_handle(handle)
        index -= 1
        offset <<= form.offset_shift
        if not 0 <= index < len(self.pools) or offset + self.entries > form.pool_bytes:
            return None
        units = self.read_pool_units(index)
        if units is not None:
            unit, rest = divmod(offset, form.unit_bytes)
            if rest or units[unit] != form.unit_carved | extra:
                return None
        record = self._decode(self.pools[index] + offset, form.pool_bytes - offset,
                              units is not None)
        if record and self._is_handle_of(record, handle):
            return record
        return None

    def _split_handle(self, handle: int) -> List[int]:
        """Index of the pool plus 1, offset, extra bits."""
        return self.handle.unpack(handle.to_bytes(self.handle.size, self.handle.order))

    def _is_handle_of(self, record: DepotRecord, handle: int) -> bool:
        if record.evictable:
            return record.handle == handle
        # The extra bits of a persistent record's handle may have any value.
        return self._split_handle(record.handle)[:2] == self._split_handle(handle)[:2]

    def _decode(self, address: int, room: int, evictable: bool) -> Optional[DepotRecord]:
        """Decode the record at @address, which has @room bytes at most."""
        form = self.format
        data = read_memory(self.prog, address, self.entries)
        if data is None:
            return None
        kind, size, handle, refcount = self.record.unpack(data.ljust(self.record.size, b"\0"))
        # Only the hash of an evictable record has flags in its bits.
        kind = kind if evictable else 0
        counters = form.counters if kind & form.hash_counted else 0
        width = 4 if kind & form.hash_packed else self.word
        # A damaged size must not lead out of the pool.
        size = min(size, self.max_frames,
                   (room - self.entries - counters * self.word) // width)
        if size < 0:
            return None
        data = read_memory(self.prog, address + self.entries, counters * self.word + size * width)
        if data is None:
            return None
        numbers = self._split(data[:counters * self.word], self.word)
        words = self._split(data[counters * self.word:], width)
        if kind & form.hash_packed:
            words = [self.frame_base + word & (1 << 8 * self.word) - 1 for word in words]
        signed = [n - (n >> 8 * self.word - 1 << 8 * self.word) for n in numbers]
        return DepotRecord(handle, evictable, bool(kind & form.hash_data), refcount,
                           tuple(signed), tuple(words))

    def _split(self, data: bytes, width: int) -> List[int]:
        order = self.handle.order
        return [int.from_bytes(data[i:i + width], order) for i in range(0, len(data), width)]

    def find_task(self, handle: int) -> OwnerTask:
        """The task of a handle; UNKNOWN_TASK if the handle leads to no task."""
        if handle not in self.tasks:
            self.tasks[handle] = self._decode_task(handle)
        return self.tasks[handle]

    def _decode_task(self, handle: int) -> OwnerTask:
        record = self.find_record(handle) if handle else None
        if not record or not record.data or len(record.words) < 2:
            if handle:
                notes_of(self.prog).add("tasks", "their handles lead to no task in the depot")
            return UNKNOWN_TASK
        pid, tgid = (word - (word >> 31 << 32) for word in (record.words[0] & 0xffffffff,
                                                            record.words[0] >> 32))
        comm = b"".join(word.to_bytes(self.word, self.handle.order) for word in record.words[1:3])
        return OwnerTask(pid, tgid, comm[:-1].split(b"\0")[0])


def stack_depot_record(prog: Program, handle: int) -> Optional[DepotRecord]:
    """Look up a handle. None if it is 0, wild, or its record has been evicted."""
    return cached(prog, Depot).find_record(handle)


def stack_depot_frames(prog: Program, handle: int) -> Optional[Tuple[int, ...]]:
    """The return addresses of a call chain, innermost first.

    None if the depot has no chain of this handle.
    """
    record = stack_depot_record(prog, handle)
    return record.words if record and not record.data else None


def stack_depot_counters(prog: Program, handle: int) -> Tuple[int, ...]:
    """The counters of a chain, by enum owner_counter and in its units; empty if it has none.

    CPUs keep parts of the counts (include/linux/stackdepot/refs.h), which are not added.
    """
    record = stack_depot_record(prog, handle)
    return record.counters if record else ()


def owner_task(prog: Program, handle: int) -> OwnerTask:
    """The task of a record's handle; UNKNOWN_TASK, "?", if there is none."""
    return cached(prog, Depot).find_task(handle)


def for_each_evictable_record(prog: Program) -> Iterator[DepotRecord]:
    """All records in use that can be evicted: chains and tasks of owners."""
    depot = cached(prog, Depot)
    form = depot.format
    for index, _ in enumerate(depot.pools):
        for unit, state in enumerate(depot.read_pool_units(index) or b""):
            if not state & form.unit_carved:
                continue
            record = depot._decode(depot.pools[index] + unit * form.unit_bytes,
                                   form.pool_bytes - unit * form.unit_bytes, True)
            if record and record.refcount > 0:
                yield record
