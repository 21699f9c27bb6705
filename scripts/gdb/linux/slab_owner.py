# SPDX-License-Identifier: GPL-2.0
#
# Tell who allocated slab objects and per-CPU areas: lx-slabowner, lx-slabowner-top.
#
# Records and the stack depot are described by types, and by two structures with what types
# lack: owner_format (mm/owner/report/format.c) and stack_depot_format (lib/stackdepot/format.c).
# Memory may be damaged or missing: what cannot be read is counted, and told after the answer.

import math
import struct
from collections import Counter

import gdb
from linux import constants, mm, owner_names, owner_user, stackdepot, utils
from linux.owner_names import WORD, integer, read_memory, read_string

# The version of struct owner_format that is known here.
OWNER_FORMAT = 3
# Limits for what damaged memory may claim.
KFENCE_OBJECTS_MAX = 1 << 16
PERCPU_BITS_MAX = 20
# Bit of the word of a struct page that leads from a tail page to its head
TAIL = 1
# section_mem_map has flags in its low bits.
SECTION_FLAGS_END = 1 << 6


def offset_of(type_name, member, older=None):
    """The offset of a member that may be in unnamed members. Older kernels may name it @older."""
    try:
        return integer(gdb.parse_and_eval("&((%s *)0)->%s" % (type_name, member)))
    except gdb.error:
        if not older:
            raise
    return offset_of(type_name, older)


def owner_format():
    try:
        values = gdb.parse_and_eval("owner_format")
    except gdb.error:
        raise gdb.GdbError("the kernel has no owner_format: it was built without "
                           "CONFIG_OWNER_REPORT or CONFIG_VMCORE_INFO")
    try:
        version = int(values["version"])
        found = {field.name: int(values[field.name]) for field in values.type.fields()}
    except gdb.MemoryError:
        raise gdb.GdbError("owner_format cannot be read: with KASLR, load the symbols at the "
                           "kernel's offset: symbol-file -o OFFSET vmlinux")
    if version != OWNER_FORMAT:
        raise gdb.GdbError("owner_format is version %d, and these scripts know %d: use the scripts "
                           "of that kernel, or with KASLR load the symbols at the kernel's offset"
                           % (version, OWNER_FORMAT))
    if not found["exts_records"]:
        raise gdb.GdbError("the kernel was built without CONFIG_SLAB_OWNER")
    return found


class Owners:
    """Everything that one command needs; a live kernel changes between two commands."""

    def __init__(self):
        self.format = owner_format()
        stackdepot.depot_format()
        self.pages = mm.page_ops().ops
        self.notes = Counter()
        self.chains = {}
        self.tasks = {}
        self.users = owner_user.UserChains(self.format, self.fetch, self.notes)
        self.caches = {}
        self.names = owner_names.Names(self.notes)
        self.record_size = gdb.lookup_type("struct owner_record").sizeof
        self.offsets = {name: offset_of("struct owner_record", name)
                        for name in ("stack", "task", "size_and_rate", "time")}
        self.slab_type = int(gdb.parse_and_eval("PGTY_slab"))
        self.page_size = gdb.lookup_type("struct page").sizeof
        self.type_offset = offset_of("struct page", "page_type")
        self.head_offset = offset_of("struct page", "compound_info", "compound_head")
        self.exts_offset = offset_of("struct slab", "obj_exts")
        self.first_record = offset_of("struct owner_slab_records", "record")
        self.first_freed = offset_of("struct owner_freed_records", "record")
        self.slab_pointer = gdb.lookup_type("struct slab").pointer()
        self.ticks = int(gdb.parse_and_eval("jiffies_64")) >> self.format["ticks_shift"]
        self.clock = int(gdb.parse_and_eval("clock_at_tick_0"))

    def tell_notes(self):
        for text, count in sorted(self.notes.items()):
            gdb.write("note: %d %s\n" % (count, text))

    # --- Chains and tasks ---

    def fetch(self, handle):
        """The words of a handle, None if it leads nowhere."""
        if handle:
            words, count = stackdepot.stack_depot_fetch(
                gdb.Value(handle).cast(utils.get_uint_type()))
            if count:
                return words
        self.notes["handles lead nowhere"] += 1
        return None

    def chain(self, handle):
        if handle not in self.chains:
            frames = self.fetch(handle) or []
            self.chains[handle] = "".join(" %s\n" % self.names.find(f) for f in frames)
        return self.chains[handle]

    def task(self, handle):
        if handle not in self.tasks:
            words = self.fetch(handle) if handle else None
            text = "pid 0, tgid 0 (?)"
            if words and len(words) > 1:
                comm = struct.pack("<%dQ" % (len(words) - 1), *words[1:]).split(b"\0")[0]
                comm = "".join(chr(c) if 32 <= c < 127 and c != 92 else "\\%03o" % c for c in comm)
                text = "pid %d, tgid %d (%s)" % (words[0] & 0xffffffff, words[0] >> 32, comm)
            self.tasks[handle] = text
        return self.tasks[handle]

    # --- Records ---

    def time(self, ticks):
        """ns since boot, as owner_record_time_to_ns() computes them."""
        age = (self.ticks - ticks) & 0xffffffff
        return (self.clock + (self.ticks - age) * self.format["tick_ns"]) & WORD

    def weight(self, size, rate):
        """How many objects a record stands for: see mm/owner/sample.c."""
        if not rate:
            return 1
        values = gdb.parse_and_eval("rates")[rate]
        cost = size * int(values["per_byte"]) + int(values["per_object"])
        return 1 / -math.expm1(-cost / 2 ** 32) if cost else 1

    def unpack(self, data, index):
        """stack, task, size, rate and time of a record."""
        stack, task, size, time = (
            struct.unpack_from("<I", data, index * self.record_size + self.offsets[name])[0]
            for name in ("stack", "task", "size_and_rate", "time"))
        bits = self.format["size_bits"]
        return stack, task, size & ((1 << bits) - 1), size >> bits, time

    def cache(self, pointer):
        """Name, size and left red zone of a cache, None if it cannot be read."""
        address = integer(pointer)
        if address not in self.caches:
            try:
                self.caches[address] = (read_string(integer(pointer["name"])),
                                        int(pointer["size"]), int(pointer["red_left_pad"]))
            except gdb.MemoryError:
                self.caches[address] = None
        if not self.caches[address] or not self.caches[address][1]:
            self.notes["slabs have a cache that cannot be read"] += 1
            return None
        return self.caches[address]

    def records_address(self, slab):
        exts = integer(slab["obj_exts"])
        if not exts & self.format["exts_records"]:
            return 0
        return exts & ~self.format["exts_mask"]

    def records(self, slab):
        """The bytes of the slab's records, None if it has none."""
        address = self.records_address(slab)
        if not address:
            return None
        try:
            return read_memory(address + self.first_record,
                               int(slab["objects"]) * self.record_size)
        except gdb.MemoryError:
            self.notes["slabs have records that cannot be read"] += 1
            return None

    def freed(self, slab, index):
        """The record of the last free of an object, None if there is none."""
        address = self.records_address(slab)
        if not address:
            return None
        kind = gdb.lookup_type("struct owner_slab_records").pointer()
        try:
            exts = integer(gdb.Value(address).cast(kind)["obj_exts"])
            if not exts & self.format["exts_records"]:
                return None
            start = (exts & ~self.format["exts_mask"]) + self.first_freed
            record = self.unpack(read_memory(start + index * self.record_size, self.record_size),
                                 0)
        except gdb.MemoryError:
            self.notes["slabs have records that cannot be read"] += 1
            return None
        return record if record[0] or record[1] else None

    # --- Slabs ---

    def slab_of(self, page):
        """The slab at the struct page with this address."""
        return gdb.Value(page).cast(self.slab_pointer).dereference()

    def page_words(self, page, data=None, at=0):
        """The page's type, and the word that leads to its head, 0 if it is no tail page."""
        if data is None:
            data = read_memory(page, self.page_size)
        kind = struct.unpack_from("<I", data, at + self.type_offset)[0] >> 24
        word = struct.unpack_from("<Q", data, at + self.head_offset)[0]
        return kind, word if word & TAIL else 0

    def head_of(self, page, word):
        """The address of the head of a tail page.

        In kernels that can free struct pages of huge pages, the word can be a mask for the
        tail's address: the negative of a power of two."""
        head = word - TAIL
        size = WORD + 1 - head
        return page & head if size & size - 1 == 0 else head

    def find_slab(self, address):
        """The slab of an address and its page frame, None if the address is not in a slab."""
        pfn = (address - self.pages.PAGE_OFFSET) >> self.pages.PAGE_SHIFT
        if pfn < 0 or not self.pages.pfn_valid(pfn):
            return None
        page = integer(self.pages.pfn_to_page(pfn))
        kind, word = self.page_words(page)
        if word:
            page = self.head_of(page, word)
            kind, word = self.page_words(page)
        if kind != self.slab_type or word:
            return None
        start = integer(self.pages.pfn_to_page(0))
        return self.slab_of(page), (page - start) // self.page_size

    def each_root(self):
        """Numbers of the arrays of struct mem_section that exist."""
        count = self.pages.NR_SECTION_ROOTS
        if not constants.LX_CONFIG_SPARSEMEM_EXTREME:
            return range(count)
        try:
            table = read_memory(integer(gdb.parse_and_eval("mem_section")), 8 * count)
        except gdb.MemoryError:
            self.notes["tables of memory sections could not be read"] += 1
            return []
        return [i for i, (address,) in enumerate(struct.iter_unpack("<Q", table)) if address]

    def each_section(self):
        """The first page frames of all sections that have struct pages."""
        sections = gdb.parse_and_eval("mem_section")
        struct_pages = integer(self.pages.pfn_to_page(0))
        for root in self.each_root():
            for index in range(self.pages.SECTIONS_PER_ROOT):
                try:
                    found = integer(sections[root][index]["section_mem_map"])
                except gdb.MemoryError:
                    self.notes["arrays of memory sections could not be read"] += 1
                    break
                if not found & self.pages.SECTION_HAS_MEM_MAP:
                    continue
                if not 0 <= found - struct_pages < SECTION_FLAGS_END:
                    self.notes["memory sections are damaged"] += 1
                    continue
                yield (root * self.pages.SECTIONS_PER_ROOT + index) * self.pages.PAGES_PER_SECTION

    def each_block(self):
        """The first page frames of all blocks of memory that have struct pages."""
        step = self.pages.PAGES_PER_SUBSECTION
        for section in self.each_section():
            for pfn in range(section, section + self.pages.PAGES_PER_SECTION, step):
                try:
                    if self.pages.pfn_valid(pfn):
                        yield pfn
                except gdb.MemoryError:
                    self.notes["memory sections are damaged"] += 1
                    break

    def each_slab(self):
        """All slabs that have records."""
        step = self.pages.PAGES_PER_SUBSECTION
        start = integer(self.pages.pfn_to_page(0))
        for pfn in self.each_block():
            first = start + pfn * self.page_size
            try:
                data = read_memory(first, step * self.page_size)
            except gdb.MemoryError:
                self.notes["blocks of 512 pages could not be read"] += 1
                continue
            for at in range(0, len(data), self.page_size):
                kind, word = self.page_words(0, data, at)
                if kind == self.slab_type and not word and \
                        data[at + self.exts_offset] & self.format["exts_records"]:
                    yield self.slab_of(first + at)

    def first_object(self, start, red_left):
        """The address of object 0 of a slab. KFENCE puts its one object at either end of a page."""
        try:
            # Pages with an object alternate with guard pages. The first pair has no object.
            pool = integer(gdb.parse_and_eval("__kfence_pool"))
            index = (start - pool) // (2 << self.pages.PAGE_SHIFT) - 1
            if 0 <= index < KFENCE_OBJECTS_MAX:
                first = integer(gdb.parse_and_eval("kfence_metadata[%d].addr" % index))
                if 0 <= first - start < 1 << self.pages.PAGE_SHIFT:
                    return first
        except (gdb.error, gdb.MemoryError):
            # Without CONFIG_KFENCE, or not in the dump.
            pass
        return start + red_left

    # --- Per-CPU areas ---

    def each_area(self):
        """The address, size and record of each per-CPU area that has an owner."""
        kind = gdb.lookup_type("struct owner_percpu_record")
        node_at, owner_at, number_at, area_at, size_at = (
            offset_of("struct owner_percpu_record", name)
            for name in ("node", "owner", "number", "area", "size"))
        try:
            bits = integer(gdb.parse_and_eval("owner_percpu_bits"))
            if bits > PERCPU_BITS_MAX:
                raise ValueError
            buckets = 1 << bits
            table = integer(gdb.parse_and_eval("owner_percpu_table"))
            heads = struct.unpack("<%dQ" % (2 * buckets), read_memory(table, 16 * buckets)) \
                if table else ()
        except (gdb.MemoryError, ValueError):
            self.notes["tables of per-CPU areas could not be read"] += 1
            return
        for bucket in range(len(heads) // 2):
            node, last = heads[2 * bucket], -1
            while node != table + 16 * bucket:
                try:
                    data = read_memory(node - node_at, kind.sizeof)
                except gdb.MemoryError:
                    data = None
                # Numbers increase along a bucket, unless the list is a cycle.
                if data is None or struct.unpack_from("<Q", data, number_at)[0] <= last:
                    self.notes["lists do not end where they should"] += 1
                    break
                last, node, area, size = (struct.unpack_from("<Q", data, at)[0] for at in
                                          (number_at, node_at, area_at, size_at))
                record = self.unpack(data[owner_at:], 0)
                if record[0] or record[1]:
                    yield area, size, record


class LxSlabOwner(gdb.Command):
    """Tell who allocated a slab object or a per-CPU area: lx-slabowner ADDR

ADDR can be inside of the object, and is the start of the area. The last free follows, if the
kernel recorded it (slab_owner=on,free=on)."""

    def __init__(self):
        super().__init__("lx-slabowner", gdb.COMMAND_DATA)

    def invoke(self, arg, from_tty):
        argv = gdb.string_to_argv(arg)
        if len(argv) != 1:
            raise gdb.GdbError("usage: lx-slabowner ADDR")
        address = int(gdb.parse_and_eval(argv[0])) & WORD
        owners = Owners()
        try:
            found = owners.find_slab(address)
            cache = owners.cache(found[0]["slab_cache"]) if found else None
        except gdb.MemoryError as error:
            raise gdb.GdbError("the page of 0x%x cannot be read: %s" % (address, error))
        if cache:
            self.show(owners, address, found, cache)
        elif not self.show_area(owners, address):
            raise gdb.GdbError("0x%x is not in a slab" % address)
        owners.tell_notes()

    def show_area(self, owners, address):
        """Print the record of a per-CPU area. Return False if it has none."""
        for area, size, record in owners.each_area():
            if area == address:
                self.show_record(owners, "Per-CPU area", (size, size, "percpu", 0, area, 0),
                                 record)
                return True
        return False

    def show_record(self, owners, what, place, record):
        asked, held, cache, pfn, address, index = place
        stack, task, _, rate, time = record
        weight = "weight %.3f, " % owners.weight(asked, rate) if rate else ""
        gdb.write("%s allocated via order 0, size %d, slab %d, cache %s, %s%s, ts %d ns\n"
                  "PFN 0x%x object %016x index %d\n%s%s\n" %
                  (what, asked, held, cache, weight, owners.task(task), owners.time(time), pfn,
                   address, index, owners.chain(stack), owners.users.text(task)))

    def show(self, owners, address, found, cache):
        (slab, pfn), (name, size, red_left) = found, cache
        start = owners.pages.PAGE_OFFSET + (pfn << owners.pages.PAGE_SHIFT)
        first = owners.first_object(start, red_left)
        # The bytes before an object are its left red zone.
        index, objects = max(address - first + red_left, 0) // size, int(slab["objects"])
        if index >= objects:
            raise gdb.GdbError("0x%x is behind the last object of its slab" % address)
        data = owners.records(slab)
        record = owners.unpack(data, index) if data else (0, 0, 0, 0, 0)
        gdb.write("%x: object %d of %d in a slab of %s, %d bytes each\n\n" %
                  (first + index * size, index, objects, name, size))
        if record[0] or record[1]:
            self.show_record(owners, "Slab object",
                             (record[2], size, name, pfn, first + index * size, index), record)
        else:
            gdb.write("It has no owner: it is free, or was not tracked.\n\n")
        freed = owners.freed(slab, index)
        if freed:
            gdb.write("%s by %s, ts %d ns\n%s%s\n" %
                      ("Its place was freed last" if record[0] else "Freed", owners.task(freed[1]),
                       owners.time(freed[4]), owners.chain(freed[0]),
                       owners.users.text(freed[1])))


class LxSlabOwnerTop(gdb.Command):
    """Show the call chains that hold most memory of slabs and per-CPU areas: lx-slabowner-top [N]

N is their number, 10 if it is not given."""

    def __init__(self):
        super().__init__("lx-slabowner-top", gdb.COMMAND_DATA)

    def invoke(self, arg, from_tty):
        argv = gdb.string_to_argv(arg)
        if len(argv) > 1 or argv and not argv[0].isdigit():
            raise gdb.GdbError("usage: lx-slabowner-top [N]")
        owners = Owners()
        totals = self.add_up(owners)
        held = sum(total[0] for total in totals.values())
        ranked = sorted(totals.items(), key=lambda item: (-item[1][0], item[0]))
        gdb.write("%.0f slab objects and per-CPU areas hold %.0f bytes, from %d call chains\n\n" %
                  (sum(total[2] for total in totals.values()), held, len(totals)))
        for stack, (bytes_held, asked, objects) in ranked[:int(argv[0]) if argv else 10]:
            gdb.write("%.0f bytes held (%.1f%%), %.0f requested, by %.0f objects of\n%s\n" %
                      (bytes_held, 100 * bytes_held / held, asked, objects, owners.chain(stack)))
        owners.tell_notes()

    def add_up(self, owners):
        """Bytes held, bytes requested and objects of each chain."""
        totals = {}
        for slab in owners.each_slab():
            try:
                cache = owners.cache(slab["slab_cache"])
                data = owners.records(slab)
            except gdb.MemoryError:
                owners.notes["slabs could not be read"] += 1
                continue
            if not cache or not data:
                continue
            for index in range(len(data) // owners.record_size):
                stack, task, asked, rate, _ = owners.unpack(data, index)
                if stack or task:
                    self.add_object(totals, stack, owners.weight(asked, rate), cache[1], asked)
        for _, size, (stack, _, asked, rate, _) in owners.each_area():
            self.add_object(totals, stack, owners.weight(asked, rate), size, size)
        return totals

    def add_object(self, totals, stack, weight, held, asked):
        total = totals.setdefault(stack, [0, 0, 0])
        total[0] += weight * held
        total[1] += weight * asked
        total[2] += weight


LxSlabOwner()
LxSlabOwnerTop()
