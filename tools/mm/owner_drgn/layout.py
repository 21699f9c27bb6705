# SPDX-License-Identifier: GPL-2.0
"""Places of a structure's members, and values of enumerators, by debug information."""

import struct
from typing import Any, Dict, Iterator, List, Tuple

from drgn import Program, Type, TypeKind, sizeof

from .memory import byte_order

CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}


def _resolve_typedefs(type_: Type) -> Type:
    while type_.kind == TypeKind.TYPEDEF:
        type_ = type_.type
    return type_


class Layout:
    """Reads some members of a structure from its bytes.

    drgn reads an object member by member; a Layout decodes bytes that were read at once.
    A member that is a structure with one member, as atomic_t, is read as that member.
    """

    def __init__(self, prog: Program, type_name: str, *names: str) -> None:
        """Raises LookupError if the kernel has no such type or member."""
        self.type = prog.type(type_name)
        self.size = self.type.size or 0
        self.order = byte_order(prog)
        self._bits: List[Tuple[int, int, bool]] = []
        self._offsets: Dict[str, int] = {}
        for name in names:
            self._add(name)

    def _add(self, name: str) -> None:
        member = self.type.member(name)
        type_ = _resolve_typedefs(member.type)
        while type_.kind == TypeKind.STRUCT and type_.members and len(type_.members) == 1:
            type_ = _resolve_typedefs(type_.members[0].type)
        width = member.bit_field_size or sizeof(type_) * 8
        shift = member.bit_offset
        if self.order == "big":
            shift = self.size * 8 - shift - width
        signed = type_.kind == TypeKind.INT and type_.is_signed
        self._bits.append((shift, width, signed))
        self._offsets[name] = member.bit_offset // 8

    def offset(self, name: str) -> int:
        """Offset of a member, in bytes."""
        return self._offsets[name]

    def unpack(self, data: bytes, start: int = 0) -> List[int]:
        """Decode the structure at @start of @data: its members in the order of names."""
        whole = int.from_bytes(data[start:start + self.size], self.order)
        values = []
        for shift, width, signed in self._bits:
            value = whole >> shift & (1 << width) - 1
            if signed and value >> width - 1:
                value -= 1 << width
            values.append(value)
        return values

    def iterate(self, data: bytes, start: int = 0) -> Iterator[Tuple[Any, ...]]:
        """Decode an array of the structure, whose members are unsigned and in this order.

        Much faster than unpack().
        """
        code = "<" if self.order == "little" else ">"
        at = 0
        members = sorted(zip(self._offsets.values(), (bits[1] for bits in self._bits)))
        assert members == list(zip(self._offsets.values(), (bits[1] for bits in self._bits)))
        for offset, width in members:
            code += f"{offset - at}x{CODES[width // 8]}"
            at = offset + width // 8
        code += f"{self.size - at}x"
        view = memoryview(data)[start:]
        return struct.Struct(code).iter_unpack(view[:len(view) // self.size * self.size])


def member_offset(prog: Program, type_name: str, name: str) -> int:
    """Offset of a member, in bytes. Raises LookupError if there is none."""
    return prog.type(type_name).member(name).bit_offset // 8


def enumerator(prog: Program, name: str, missing: int) -> int:
    """The value of an enumerator. @missing if the kernel has none of this name."""
    try:
        return int(prog.constant(name).value_())
    except LookupError:
        return missing
