# SPDX-License-Identifier: GPL-2.0
"""Names of frames, as the kernel prints them.

Read from the kernel's own tables in the dump, those of modules included, so that neither
System.map nor the modules' files are needed. An address in an unloaded module has no name.
"""

from bisect import bisect_left, bisect_right
from typing import Dict, List, NamedTuple, Optional, Tuple

from drgn import Program

from .layout import Layout, member_offset
from .memory import byte_order, cached, notes_of, read_memory, read_string, walk_list
from .memory import word_size
from .text import escape_name

SYMBOLS_MAX = 1 << 23
MODULES_MAX = 1 << 14
SYMBOLS_PER_MARKER = 256
BIG_SYMBOL = 0x80
SHN_UNDEF = 0


def _symbol_address(prog: Program, name: str) -> int:
    return prog.symbol(name).address


class KernelSymbols:
    """The symbols of the kernel itself, from the tables of kernel/kallsyms.c."""

    def __init__(self, prog: Program) -> None:
        self.prog = prog
        self.order = byte_order(prog)
        self.names = self.tokens = self.token_index = 0
        self.markers: List[int] = []
        self.addresses: List[int] = []
        self.blocks: Dict[int, List[str]] = {}
        self.ranges: List[Tuple[int, int]] = []
        try:
            self._read_tables()
        except LookupError as error:
            notes_of(prog).add("kernels", f"addresses have no names: {error}")

    def _read_table(self, name: str, count: int, width: int, signed: bool = False) -> List[int]:
        data = read_memory(self.prog, _symbol_address(self.prog, name), count * width)
        if data is None:
            notes_of(self.prog).add("tables of symbols", f"{name} cannot be read")
            return []
        return [int.from_bytes(data[i:i + width], self.order, signed=signed)
                for i in range(0, len(data), width)]

    def _read_tables(self) -> None:
        prog = self.prog
        self.ranges = [(_symbol_address(prog, "_stext"), _symbol_address(prog, "_end")),
                       (_symbol_address(prog, "__init_begin"), _symbol_address(prog, "__init_end"))]
        number = (self._read_table("kallsyms_num_syms", 1, 4) or [0])[0]
        if not 0 < number <= SYMBOLS_MAX:
            notes_of(prog).add("tables of symbols", "kallsyms_num_syms is damaged")
            return
        self.addresses = self._read_addresses(number)
        blocks = -(-number // SYMBOLS_PER_MARKER)
        self.markers = self._read_table("kallsyms_markers", blocks, 4)
        self.token_index = _symbol_address(prog, "kallsyms_token_index")
        self.tokens = _symbol_address(prog, "kallsyms_token_table")
        self.names = _symbol_address(prog, "kallsyms_names")

    def _read_addresses(self, number: int) -> List[int]:
        """The addresses of the symbols, in ascending order."""
        offsets = self._read_table("kallsyms_offsets", number, 4, True)
        try:
            base = (self._read_table("kallsyms_relative_base", 1, word_size(self.prog)) or [0])[0]
        except LookupError:
            # Newer kernels: each offset is that from its own place in the table.
            place = _symbol_address(self.prog, "kallsyms_offsets")
            return [place + 4 * i + offset for i, offset in enumerate(offsets)]
        # Only with CONFIG_KALLSYMS_ABSOLUTE_PERCPU, offsets from the base are negative.
        if any(offset < 0 for offset in offsets):
            return [offset if offset >= 0 else base - 1 - offset for offset in offsets]
        return [base + offset for offset in offsets]

    def has_address(self, address: int) -> bool:
        """Does @address belong to the kernel itself?"""
        return any(start <= address < end for start, end in self.ranges)

    def find_symbol(self, address: int) -> Optional[Tuple[str, int, int]]:
        """Name, offset and size, as get_symbol_pos() of the kernel finds them."""
        addresses = self.addresses
        index = max(bisect_right(addresses, address) - 1, 0)
        if not addresses:
            return None
        start = addresses[index]
        # The first of several names of an address.
        index = bisect_left(addresses, start)
        after = bisect_right(addresses, start)
        end = addresses[after] if after < len(addresses) else self.ranges[0][1]
        name = self._symbol_name(index)
        return (name, address - start, end - start) if name else None

    def _symbol_name(self, index: int) -> str:
        block, place = divmod(index, SYMBOLS_PER_MARKER)
        if block not in self.blocks:
            self.blocks[block] = self._expand_block(block)
        names = self.blocks[block]
        return names[place] if place < len(names) else ""

    def _expand_block(self, block: int) -> List[str]:
        """The names of 256 symbols."""
        if block >= len(self.markers):
            return []
        at = self.names + self.markers[block]
        names: List[str] = []
        while len(names) < SYMBOLS_PER_MARKER:
            head = read_memory(self.prog, at, 2)
            if not head:
                break
            length, skip = head[0], 1
            if length & BIG_SYMBOL:
                length, skip = length & ~BIG_SYMBOL | head[1] << 7, 2
            data = read_memory(self.prog, at + skip, length)
            if data is None:
                break
            # The first character is the symbol's type.
            names.append("".join(self._token(code) for code in data)[1:])
            at += skip + length
        return names

    def _token(self, code: int) -> str:
        return cached(self.prog, _read_tokens)[code]


def _read_tokens(prog: Program) -> List[str]:
    """The texts that one byte of a compressed name stands for."""
    symbols = cached(prog, KernelSymbols)
    data = read_memory(prog, symbols.token_index, 512)
    if data is None:
        notes_of(prog).add("tables of symbols", "kallsyms_token_index cannot be read")
        return ["?"] * 256
    texts = []
    for i in range(256):
        place = int.from_bytes(data[2 * i:2 * i + 2], symbols.order)
        text = read_string(prog, symbols.tokens + place, 128)
        texts.append("?" if text is None else escape_name(text))
    return texts


class Module(NamedTuple):
    """A loaded module."""

    name: str
    text: List[Tuple[int, int]]             # (start, end) of its functions
    kallsyms: int                           # address of its struct mod_kallsyms


class ModuleSymbols:
    """The modules in the dump, and their symbols."""

    def __init__(self, prog: Program) -> None:
        self.prog = prog
        self.order = byte_order(prog)
        self.modules: List[Module] = []
        self.symbols: Dict[int, List[Tuple[int, str]]] = {}
        try:
            self._read_modules()
        except LookupError:
            # Without CONFIG_MODULES
            pass

    def _read_modules(self) -> None:
        prog = self.prog
        head = prog.variable("modules").address_ or 0
        layout = Layout(prog, "struct module", "state", "kallsyms")
        offsets = {name: member_offset(prog, "struct module", name) for name in ("list", "name")}
        unformed = prog.constant("MODULE_STATE_UNFORMED").value_()
        for node in walk_list(prog, head, "modules", MODULES_MAX):
            address = node - offsets["list"]
            data = read_memory(prog, address, layout.size)
            name = read_string(prog, address + offsets["name"], 64)
            if data is None or not name:
                notes_of(prog).add("modules", "they cannot be read")
                continue
            state, kallsyms = layout.unpack(data)
            if state != unformed:
                text = self._find_text(data)
                self.modules.append(Module(escape_name(name), text, kallsyms))

    def _find_text(self, data: bytes) -> List[Tuple[int, int]]:
        """Where the module has functions, from the bytes of its struct module."""
        prog = self.prog
        type_ = prog.type("struct module")
        try:
            # ac3b43283923 ("module: replace module_layout with module_memory") (in v6.4)
            member = type_.member("mem")
            layout = Layout(prog, "struct module_memory", "base", "size")
            kinds = [prog.constant(name).value_() for name in ("MOD_TEXT", "MOD_INIT_TEXT")]
            text = [layout.unpack(data, member.bit_offset // 8 + kind * layout.size)
                    for kind in kinds]
        except LookupError:
            layout = Layout(prog, "struct module_layout", "base", "text_size")
            text = [layout.unpack(data, type_.member(name).bit_offset // 8)
                    for name in ("core_layout", "init_layout")]
        return [(base, base + size) for base, size in text if base and size]

    def find_symbol(self, address: int) -> Optional[Tuple[str, int, int, str]]:
        """Name, offset, size and module, as find_kallsyms_symbol() of the kernel finds them.

        Data has no name: where a module has data, init functions of another one may have been.
        """
        for module in self.modules:
            for start, end in module.text:
                if start <= address < end:
                    return self._find_in_module(module, start, end, address)
        return None

    def _find_in_module(self, module: Module, start: int, end: int,
                        address: int) -> Optional[Tuple[str, int, int, str]]:
        symbols = self._read_symbols(module)
        index = bisect_right(symbols, (address, "\U0010ffff")) - 1
        if index < 0 or symbols[index][0] < start:
            return None
        value = symbols[index][0]
        following = symbols[index + 1][0] if index + 1 < len(symbols) else end
        # Of several names of an address, the list has the first only.
        return symbols[index][1], address - value, min(following, end) - value, module.name

    def _read_symbols(self, module: Module) -> List[Tuple[int, str]]:
        """(value, name) of a module's symbols, sorted, one for each value."""
        if module.kallsyms not in self.symbols:
            found: Dict[int, str] = {}
            for value, name in self._read_symbol_table(module):
                found.setdefault(value, name)
            self.symbols[module.kallsyms] = sorted(found.items())
        return self.symbols[module.kallsyms]

    def _read_symbol_table(self, module: Module) -> List[Tuple[int, str]]:
        prog = self.prog
        layout = Layout(prog, "struct mod_kallsyms", "symtab", "num_symtab", "strtab")
        word = 64 if word_size(prog) == 8 else 32
        symbol = Layout(prog, f"struct elf{word}_sym", "st_name", "st_shndx", "st_value")
        data = read_memory(prog, module.kallsyms, layout.size)
        table, number, strings = layout.unpack(data) if data else (0, 0, 0)
        data = read_memory(prog, table, number * symbol.size) if number else None
        if data is None:
            notes_of(prog).add("modules", "their symbols cannot be read")
            return []
        symbols = []
        for at in range(symbol.size, len(data), symbol.size):
            name_at, section, value = symbol.unpack(data, at)
            name = read_string(prog, strings + name_at) if section != SHN_UNDEF else None
            if name and not name.startswith((b".L", b"L0", b"$")):
                symbols.append((value, escape_name(name)))
        return symbols


def _read_names(_prog: Program) -> Dict[int, str]:
    return {}


def symbol_name(prog: Program, address: int) -> str:
    """Print a frame as the kernel does: name+0xoffset/0xsize [module], or in hexadecimal."""
    names = cached(prog, _read_names)
    if address not in names:
        names[address] = _find_name(prog, address)
    return names[address]


def _find_name(prog: Program, address: int) -> str:
    kernel = cached(prog, KernelSymbols)
    if kernel.has_address(address):
        symbol = kernel.find_symbol(address)
        if symbol:
            return "%s+%#x/%#x" % symbol if symbol[1] else "%s+0x0/%#x" % symbol[::2]
    else:
        found = cached(prog, ModuleSymbols).find_symbol(address)
        if found:
            return "%s+%#x/%#x [%s]" % found
    return f"{address:#x}"


def kernel_symbol_ranges(prog: Program) -> List[Tuple[int, int]]:
    """(start, end) of the kernel's image: text, data and bss, and the init sections."""
    return cached(prog, KernelSymbols).ranges


def for_each_module(prog: Program) -> List[Module]:
    """The modules that are loaded."""
    return cached(prog, ModuleSymbols).modules
