# SPDX-License-Identifier: GPL-2.0
#
# Names of frames as the kernel prints them, from the tables in its memory.
#
# gdb shortens the names of clones, and knows modules only if somebody has loaded their files.

import bisect
import struct

import gdb
from linux import modules, utils

# Limits for what damaged memory may claim.
NAME_MAX = 512
SYMBOLS_MAX = 1 << 23
NAMES_MAX = 1 << 28
MODULES_MAX = 4096

# Elf64_Sym
SYMBOL = "<IBBHQQ"

WORD = (1 << 64) - 1


def read_memory(address, size):
    return gdb.selected_inferior().read_memory(address & WORD, size).tobytes()


def read_string(address):
    """Read a string, whose last page may be the last that there is."""
    text = b""
    while b"\0" not in text and len(text) < NAME_MAX:
        try:
            text += read_memory(address + len(text), 64 - (address + len(text)) % 64)
        except gdb.MemoryError:
            break
    return text.split(b"\0")[0].decode("utf-8", "backslashreplace")


def read_strings(address, last):
    """Read a table of strings, the last of which begins at the offset @last."""
    if last > NAMES_MAX:
        raise gdb.MemoryError("a name is at offset %d" % last)
    return read_memory(address, last) + read_string(address + last).encode() + b"\0"


def integer(value):
    """The value of a pointer or a number, without a sign."""
    return int(value.cast(utils.get_ulong_type()))


def address_of(symbol):
    return integer(gdb.parse_and_eval("&" + symbol))


class KernelNames:
    """Names of addresses in the kernel's image, from kallsyms."""

    def __init__(self):
        count = int(gdb.parse_and_eval("kallsyms_num_syms"))
        if not 0 < count < SYMBOLS_MAX:
            raise gdb.MemoryError("kallsyms_num_syms is %d" % count)
        self.addresses = self.read_addresses(count)
        self.names = self.read_table("kallsyms_names", "kallsyms_token_table")
        tokens = self.read_table("kallsyms_token_table", "kallsyms_token_index")
        index = struct.unpack("<256H", read_memory(address_of("kallsyms_token_index"), 512))
        self.tokens = [tokens[at:].split(b"\0", 1)[0] for at in index]
        self.starts = self.find_starts(count)
        self.first = address_of("_stext")
        self.last = address_of("_end")

    def read_addresses(self, count):
        place = address_of("kallsyms_offsets")
        offsets = struct.unpack("<%di" % count, read_memory(place, 4 * count))
        base = utils.gdb_eval_or_none("kallsyms_relative_base")
        if base is None:
            # Newer kernels: each offset is that from its own place in the table.
            return [place + 4 * i + o for i, o in enumerate(offsets)]
        base = integer(base)
        # Per-CPU symbols are absolute if, and only if, others have negative offsets.
        if min(offsets) < 0:
            return [o if o >= 0 else base - 1 - o & WORD for o in offsets]
        return [base + o for o in offsets]

    def read_table(self, start, end):
        size = address_of(end) - address_of(start)
        if not 0 < size < NAMES_MAX:
            raise gdb.MemoryError("%s is behind %s" % (start, end))
        return read_memory(address_of(start), size)

    def name_at(self, at):
        """Where the tokens of a name begin and end."""
        length = self.names[at]
        if length & 0x80:
            at += 1
            length = length & 0x7f | self.names[at] << 7
        return at + 1, at + 1 + length

    def find_starts(self, count):
        starts, at = [], 0
        for _ in range(count):
            starts.append(at)
            at = self.name_at(at)[1]
        return starts

    def has(self, address):
        return self.first <= address <= self.last

    def find(self, address):
        at = bisect.bisect_right(self.addresses, address)
        value = self.addresses[at - 1]
        end = self.addresses[at] if at < len(self.addresses) else self.last
        # Of symbols at one address, the first names it.
        start, stop = self.name_at(self.starts[bisect.bisect_left(self.addresses, value)])
        # The first character is the type.
        name = b"".join(self.tokens[token] for token in self.names[start:stop])[1:]
        return "%s+0x%x/0x%x" % (name.decode("ascii", "backslashreplace"), address - value,
                                 end - value)


# The tables of the kernel's image do not change, and a remote target is slow. By address.
KERNEL_NAMES = {}


def kernel_names():
    where = address_of("kallsyms_names")
    if where not in KERNEL_NAMES:
        KERNEL_NAMES[where] = KernelNames()
    return KERNEL_NAMES[where]


class ModuleNames:
    """Names of addresses in one module, from its own table of symbols."""

    def __init__(self, module):
        self.name = module["name"].string()
        self.ranges = []
        # Where a module has data, which has symbols, init functions of another may have been.
        for kind in ("MOD_TEXT", "MOD_INIT_TEXT"):
            memory = module["mem"][gdb.parse_and_eval(kind)]
            self.ranges.append((integer(memory["base"]), int(memory["size"])))
        self.symbols = sorted(self.read_symbols(module["kallsyms"].dereference()))

    def read_symbols(self, kallsyms):
        count = min(int(kallsyms["num_symtab"]), SYMBOLS_MAX)
        table = read_memory(integer(kallsyms["symtab"]), count * struct.calcsize(SYMBOL))
        found = list(struct.iter_unpack(SYMBOL, table))
        strings = read_strings(integer(kallsyms["strtab"]), max(name for name, *_ in found))
        for i, (name, _, _, section, value, _) in enumerate(found):
            if i and section:
                text = strings[name:].split(b"\0", 1)[0].decode("ascii", "backslashreplace")
                if text and not text.startswith((".L", "L0", "$")):
                    yield value, i, text

    def has(self, address):
        return any(start <= address < start + size for start, size in self.ranges)

    def find(self, address):
        """Name an address between the symbols of its memory, as the kernel does."""
        start, size = next(memory for memory in self.ranges
                           if memory[0] <= address < sum(memory))
        at = bisect.bisect_right(self.symbols, (address, SYMBOLS_MAX, ""))
        if not at or self.symbols[at - 1][0] < start:
            return "0x%x" % address
        value = self.symbols[at - 1][0]
        # Of symbols at one address, the first names it.
        first = bisect.bisect_left(self.symbols, (value, 0, ""))
        end = self.symbols[at][0] if at < len(self.symbols) else start + size
        return "%s+0x%x/0x%x [%s]" % (self.symbols[first][2], address - value,
                                      min(end, start + size) - value, self.name)


class Names:
    """Names of all addresses. @notes counts what could not be read."""

    def __init__(self, notes):
        self.known = {}
        self.tables = []
        try:
            self.tables.append(kernel_names())
        except (gdb.error, gdb.MemoryError, IndexError):
            notes["tables of symbols could not be read"] += 1
        seen = set()
        try:
            for module in modules.module_list():
                # A damaged list can be a cycle.
                if int(module) in seen or len(seen) > MODULES_MAX:
                    notes["lists do not end where they should"] += 1
                    break
                seen.add(int(module))
                self.tables.append(ModuleNames(module))
        except (gdb.error, gdb.MemoryError, UnicodeDecodeError):
            notes["modules could not be read"] += 1

    def find(self, address):
        if address not in self.known:
            self.known[address] = next((table.find(address) for table in self.tables
                                        if table.has(address)), "0x%x" % address)
        return self.known[address]
