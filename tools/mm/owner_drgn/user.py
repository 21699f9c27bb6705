# SPDX-License-Identifier: GPL-2.0
"""User chains: which code of a program asked for the memory. See mm/owner/user/user.h.

A record's handle of a task can be that of a context, which is the task and one more word: the
handle of a user chain, or the reason why there is none.
"""

from typing import Dict, List, Optional, Tuple

from drgn import Program, sizeof

from .depot import stack_depot_record
from .format import owner_format
from .layout import member_offset
from .memory import byte_order, cached, notes_of, read_memory, read_variable
from .memory import word_size
from .text import escape_name

BINARIES_MAX = 1 << 16
PREFIX = "OWNER_USER_"
# Reasons whose text is not made of the words of their enumerator.
TEXTS = {"WORKER": "user-worker", "32BIT": "32-bit"}
SEPARATORS = b" ,;"


def _dev_text(dev: int) -> str:
    """A dev_t as the kernel's MAJOR() and MINOR() split it."""
    return f"{dev >> 20}:{dev & (1 << 20) - 1}"


class UserChains:
    """Decodes the user half of contexts."""

    def __init__(self, prog: Program) -> None:
        self.prog = prog
        self.format = owner_format(prog).values
        # 0: this kernel has no contexts.
        self.context_words = self.format.get("context_words", 0)
        self.texts: Dict[int, Tuple[str, ...]] = {}
        if not self.context_words:
            return
        self.reasons = self._read_enumerators("enum owner_user_reason")
        # The number of reasons is none of them.
        self.reasons.pop(len(self.reasons) - 1, None)
        special = self._read_enumerators("enum owner_user_place")
        self.special_places = {name: number for number, name in special.items()}
        self.binaries = self._read_binaries()
        self.names: Dict[int, str] = {}

    def _read_enumerators(self, name: str) -> Dict[int, str]:
        return {one.value: one.name[len(PREFIX):]
                for one in self.prog.type(name).enumerators or ()}

    def _read_binaries(self) -> List[int]:
        """Addresses of the files that user chains have frames in."""
        array = read_variable(self.prog, "owner_binaries")
        number = read_variable(self.prog, "owner_nr_binaries")
        word = word_size(self.prog)
        if not array or not number:
            return []
        data = read_memory(self.prog, array, number * word) if number <= BINARIES_MAX else None
        if data is None:
            notes_of(self.prog).add("user chains", "the array of files cannot be read")
            return []
        return [int.from_bytes(data[i:i + word], byte_order(self.prog))
                for i in range(0, len(data), word)]

    def _reason_text(self, reason: int) -> str:
        word = self.reasons.get(reason, f"reason-{reason}")
        return f"({TEXTS.get(word, word.lower().replace('_', '-'))})"

    def _read_member(self, address: int, name: str) -> bytes:
        """The bytes of a member of a struct owner_binary; empty if they cannot be read."""
        kind = "struct owner_binary"
        return read_memory(self.prog, address + member_offset(self.prog, kind, name),
                           sizeof(self.prog.type(kind).member(name).type)) or b""

    def _read_file(self, place: int) -> str:
        """The name and the id of a file, with "%s" for the offset between them."""
        address = self.binaries[place - 1] if 0 < place <= len(self.binaries) else 0
        name = self._read_member(address, "name").split(b"\0")[0] if address else b""
        if not name:
            notes_of(self.prog).add("user frames", "their files cannot be read")
            return "?+%s@0:0:0"
        order = byte_order(self.prog)
        size = int.from_bytes(self._read_member(address, "build_id_size"), order)
        if size:
            file_id = self._read_member(address, "build_id")[:size].hex()
        else:
            dev, ino = (int.from_bytes(self._read_member(address, member), order)
                        for member in ("dev", "ino"))
            file_id = f"{_dev_text(dev)}:{ino}"
        return escape_name(name, SEPARATORS).replace("%", "%%") + f"+%s@{file_id}"

    def _token(self, word: int) -> str:
        shift = self.format["user_place_shift"]
        place, offset = word >> shift, word & (1 << shift) - 1
        if place == self.special_places.get("PLACE_VDSO"):
            return f"[vdso]+{offset:#x}"
        if place == self.special_places.get("PLACE_ANON"):
            return "[anon]"
        if place == self.special_places.get("PLACE_REASON"):
            return self._reason_text(offset)
        if place not in self.names:
            self.names[place] = self._read_file(place)
        return self.names[place] % f"{offset:#x}"

    def _read_words(self, handle: int) -> Optional[Tuple[int, ...]]:
        record = stack_depot_record(self.prog, handle)
        if record and record.data:
            return record.words
        notes_of(self.prog).add("user chains", "their handles lead to no chain in the depot")
        return None

    def _decode(self, handle: int) -> Tuple[str, ...]:
        context = stack_depot_record(self.prog, handle) if handle else None
        if not context or not context.data or not self.context_words or \
                len(context.words) != self.context_words:
            return ()
        last = context.words[-1]
        reason = last >> self.format["user_reason_shift"]
        if reason:
            return (self._reason_text(reason),)
        words = self._read_words(last & 0xffffffff)
        return tuple(self._token(word) for word in words or ())

    def find_tokens(self, handle: int) -> Tuple[str, ...]:
        """The frames of a context's user chain, innermost first; none if it has none."""
        if handle not in self.texts:
            self.texts[handle] = self._decode(handle)
        return self.texts[handle]


def owner_user_frames(prog: Program, handle: int) -> Tuple[str, ...]:
    """The user chain of a record, by its handle of a task: "file+0xoffset@build-id", ...

    The last one, or the only one, can be a reason, "(fault)". Empty if no rule asked for it.
    """
    return cached(prog, UserChains).find_tokens(handle)
