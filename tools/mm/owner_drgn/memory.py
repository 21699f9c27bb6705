# SPDX-License-Identifier: GPL-2.0
"""Bulk reads, lists, and notes about what could not be read."""

from collections import Counter
from typing import Any, Callable, Iterator, List, Optional, TypeVar

from drgn import FaultError, Program, sizeof

T = TypeVar("T")

# No structure is larger. A larger size is the result of damage.
READ_MAX = 64 << 20
PREFIX = "owner_drgn."


def cached(prog: Program, make: Callable[[Program], T]) -> T:
    """Return make(prog), which is called once for each program."""
    key = PREFIX + make.__module__ + "." + make.__name__
    if key not in prog.cache:
        prog.cache[key] = make(prog)
    value: T = prog.cache[key]
    return value


def forget_cached(prog: Program) -> None:
    """Forget what cached() has returned, because the memory of @prog has changed."""
    for key in [key for key in prog.cache if str(key).startswith(PREFIX)]:
        del prog.cache[key]


class Notes:
    """Counts what was left out of an answer, by subject and reason."""

    def __init__(self, _prog: Optional[Program] = None) -> None:
        self.counts: "Counter[tuple[str, str]]" = Counter()

    def add(self, subject: str, reason: str, count: int = 1) -> None:
        """Count @count more: notes.add("slabs", "records at unreadable addresses")."""
        self.counts[subject, reason] += count

    def lines(self) -> List[str]:
        """The notes as sentences, without a comment sign."""
        return [f"note: {count} {subject}: {reason}"
                for (subject, reason), count in self.counts.items()]


def notes_of(prog: Program) -> Notes:
    """The notes of @prog, to which all functions of this package add."""
    return cached(prog, Notes)


def read_memory(prog: Program, address: int, size: int) -> Optional[bytes]:
    """Read @size bytes. None if any of them is not in the dump."""
    if not 0 <= size <= READ_MAX or not 0 <= address < 1 << 64:
        return None
    try:
        return prog.read(address, size)
    except (FaultError, ValueError, OverflowError):
        return None


def read_number(prog: Program, address: int, size: int) -> Optional[int]:
    """Read an unsigned number in the byte order of the machine."""
    data = read_memory(prog, address, size)
    return None if data is None else int.from_bytes(data, byte_order(prog))


def read_string(prog: Program, address: int, limit: int = 512) -> Optional[bytes]:
    """Read a string of less than @limit bytes that ends with NUL. None if there is none."""
    found = b""
    while len(found) < limit:
        # A read within 64 aligned bytes does not reach into the next page.
        size = min(64 - address % 64, limit - len(found))
        data = read_memory(prog, address, size)
        if data is None:
            return None
        end = data.find(0)
        if end >= 0:
            return found + data[:end]
        found += data
        address += size
    return None


def byte_order(prog: Program) -> Any:
    """The machine's byte order, for int.from_bytes()."""
    return cached(prog, _find_byte_order)


def _find_byte_order(prog: Program) -> str:
    platform = prog.platform
    assert platform is not None
    return "little" if "IS_LITTLE_ENDIAN" in str(platform.flags) else "big"


def word_size(prog: Program) -> int:
    """Number of bytes of a pointer."""
    return prog.type("unsigned long").size or 8


def read_variable(prog: Program, name: str, file: Optional[str] = None) -> int:
    """The value of a variable of at most one word, unsigned; 0 if it cannot be read.

    @file is where it is defined, if other files have variables of that name.
    """
    variable = prog.variable(name, file) if file else prog.variable(name)
    value = read_number(prog, variable.address_ or 0, min(sizeof(variable), 8))
    if value is None:
        notes_of(prog).add("variables", f"{name} cannot be read")
    return value or 0


def walk_list(prog: Program, head: int, subject: str, limit: int = 1 << 20) -> Iterator[int]:
    """Yield the addresses of the struct list_head in a list, without its head.

    If a link is damaged, the rest is read from the other end. Each entry is yielded
    once, and a cycle ends. @subject names the entries in a note.
    """
    size = word_size(prog)
    seen = {head}
    for offset in (0, size):
        address = read_number(prog, head + offset, size)
        while address is not None and address not in seen and len(seen) <= limit:
            # Do not yield an entry whose links cannot be read.
            after = read_number(prog, address + offset, size)
            if after is None:
                address = None
                break
            seen.add(address)
            yield address
            address = after
        if address == head:
            return
        if offset == 0:
            notes_of(prog).add("lists", f"the list of {subject} is damaged")
