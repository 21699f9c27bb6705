# SPDX-License-Identifier: GPL-2.0
"""Slabs, their objects, and the owners of these.

SLUB keeps full slabs on no list, so a walk visits all page frames. It decodes struct pages
that are read in bulk, and the records of a slab at once.
"""

from typing import Iterator, NamedTuple, Optional, Sequence, Tuple

from drgn import Program

from .caches import SlabCache, slab_caches
from .format import owner_format
from .geometry import TAIL, geometry, read_struct_pages
from .layout import Layout, member_offset
from .memory import cached, notes_of, read_memory, read_number, word_size

ORDER_MASK = 0xff


class Slab(NamedTuple):
    """A slab: pages that a cache cuts into objects."""

    pfn: int
    page: int                   # address of its struct slab
    address: int                # of the first byte of its memory
    cache: SlabCache
    objects: int                # number of objects that fit in it
    freelist: int
    exts: int                   # slab->obj_exts


class OwnerRecord(NamedTuple):
    """A struct owner_record."""

    stack: int                  # handle of the call chain
    task: int                   # handle of the task
    size: int                   # bytes that were requested
    rate: int                   # number of the sampling rate, 0 if all are tracked
    time: int                   # in ticks, 32 bits


class OwnedObject(NamedTuple):
    """An object that has an owner."""

    source: str                 # "slab" or "percpu"
    address: int
    size: int                   # bytes that were requested
    held: int                   # bytes that the object takes
    cache: str
    pfn: int
    index: int                  # of the object in its slab
    owner: OwnerRecord


class SlabObject(NamedTuple):
    """The place of an object, owned or not."""

    slab: Slab
    index: int
    address: int


class SlabReader:
    """Decodes struct slab and the records beside slabs."""

    def __init__(self, prog: Program) -> None:
        self.prog = prog
        self.geometry = geometry(prog)
        self.format = owner_format(prog)
        self.caches = slab_caches(prog)
        self.slab = Layout(prog, "struct slab", "slab_cache", "objects", "freelist",
                           "obj_exts")
        self.page = Layout(prog, "struct page", self.geometry.head_member, "flags")
        self.type = member_offset(prog, "struct page", "page_type")
        if self.slab.order == "little":
            self.type += 3
        self.slab_type: int = prog.constant("PGTY_slab").value_()
        self.order = self._find_order_member()
        self.head = 1 << prog.constant("PG_head").value_()
        self.record = Layout(prog, "struct owner_record", "stack", "task", "size_and_rate", "time")
        self.records = Layout(prog, "struct owner_slab_records", "start", "obj_exts")
        self.records_offset = member_offset(prog, "struct owner_slab_records", "record")
        self.freed_offset = member_offset(prog, "struct owner_freed_records", "record")

    def _find_order_member(self) -> int:
        """Offset from a head page of the word whose lowest byte is the order."""
        try:
            # ebc1baf5c9b4 ("mm: free up a word in the first tail page") (in v6.6)
            return member_offset(self.prog, "struct folio", "_flags_1")
        except LookupError:
            return self.geometry.page_bytes + member_offset(self.prog, "struct page",
                                                            "compound_order")

    def find_heads(self, data: bytes) -> Iterator[int]:
        """Indexes of the struct pages in @data that may be the first of a slab."""
        step = self.geometry.page_bytes
        column = data[self.type::step]
        index = column.find(self.slab_type)
        while index >= 0:
            yield index
            index = column.find(self.slab_type, index + 1)

    def decode_slab(self, pfn: int, data: bytes, start: int) -> Optional[Slab]:
        """The slab whose struct page is at @start of @data. None if that is not one."""
        cache_address, objects, freelist, exts = self.slab.unpack(data, start)
        head, flags = self.page.unpack(data, start)
        if head & TAIL:
            return None
        notes = notes_of(self.prog)
        cache = self.caches.get(cache_address)
        if not cache:
            notes.add("slabs", "their cache is not on the list of caches")
            return None
        order = 0
        if flags & self.head:
            at = start + self.order
            order = data[at] if at < len(data) and self.slab.order == "little" else \
                self.geometry.max_order
        if objects * cache.size > self.geometry.page_size << min(order, self.geometry.max_order):
            notes.add("slabs", "their number of objects is damaged")
            return None
        return Slab(pfn, self.geometry.page_of_pfn(pfn), self.geometry.virt_of_pfn(pfn), cache,
                    objects, freelist, exts)

    def iterate_slabs(self) -> Iterator[Slab]:
        """All slabs."""
        step = self.geometry.page_bytes
        # A damaged struct page within a slab is not the beginning of another slab.
        end_of_last = 0
        for first, data in read_struct_pages(self.prog):
            for index in self.find_heads(data):
                if first + index < end_of_last:
                    continue
                slab = self.decode_slab(first + index, data, index * step)
                if slab:
                    size = slab.objects * slab.cache.size
                    end_of_last = slab.pfn + (-(-size >> self.geometry.page_shift))
                    yield slab

    def find_slab(self, pfn: int) -> Optional[Slab]:
        """The slab that the page frame belongs to."""
        geo = self.geometry
        page = geo.page_of_pfn(pfn)
        data = read_memory(self.prog, page, geo.page_bytes)
        if data is None:
            return None
        head, _ = self.page.unpack(data)
        if head & TAIL:
            head_pfn = geo.pfn_of_page(geo.head_of_tail(page, head))
            if head_pfn is None or not 0 <= pfn - head_pfn < 1 << geo.max_order:
                return None
            pfn = head_pfn
        # The second struct page has the order.
        data = read_memory(self.prog, geo.page_of_pfn(pfn), 2 * geo.page_bytes)
        if data is None or data[self.type] != self.slab_type:
            return None
        return self.decode_slab(pfn, data, 0)

    def find_records(self, slab: Slab) -> Optional[int]:
        """Address of the struct owner_slab_records of a slab. None if it has none."""
        if not slab.exts & self.format.exts_records:
            return None
        return slab.exts & ~self.format.exts_mask

    def read_records(self, slab: Slab) -> Optional[bytes]:
        """The array of owner_record of a slab, None if it has none or it is damaged."""
        address = self.find_records(slab)
        if address is None:
            return None
        data = read_memory(self.prog, address,
                           self.records_offset + slab.objects * self.record.size)
        if data is None:
            notes_of(self.prog).add("slabs", "records at unreadable addresses")
            return None
        # The records say which slab they are of.
        start = self.records.unpack(data.ljust(self.records.size, b"\0"))[0]
        if start != slab.address & 0xffffffff:
            notes_of(self.prog).add("slabs", "records that are not theirs")
            return None
        return data[self.records_offset:]

    def has_freed_records(self, slab: Slab) -> bool:
        """Does a slab have records of frees?"""
        return bool(self._find_freed_records(slab))

    def _find_freed_records(self, slab: Slab) -> Optional[int]:
        """Address of the struct owner_freed_records of a slab. None if it has none."""
        address = self.find_records(slab)
        if address is None:
            return None
        exts = read_number(self.prog, address + self.records.offset("obj_exts"),
                           word_size(self.prog))
        return exts & ~self.format.exts_mask if exts and exts & self.format.exts_records else None

    def read_freed_record(self, slab: Slab, index: int) -> Optional[OwnerRecord]:
        """The record of the last free of an object. None if none is known."""
        address = self._find_freed_records(slab)
        if not address:
            return None
        address += self.freed_offset + index * self.record.size
        data = read_memory(self.prog, address, self.record.size)
        if data is None:
            notes_of(self.prog).add("slabs", "records of frees at unreadable addresses")
            return None
        return self.decode_record(self.record.unpack(data))

    def decode_record(self, values: Sequence[int]) -> Optional[OwnerRecord]:
        """Decode the members of an owner_record. None if there is no owner."""
        stack, task, size_and_rate, time = values
        if not stack and not task:
            return None
        bits = self.format.size_bits
        return OwnerRecord(stack, task, size_and_rate & (1 << bits) - 1, size_and_rate >> bits,
                           time)

    def iterate_owned(self, slab: Slab) -> Iterator[OwnedObject]:
        """The objects of a slab that have an owner."""
        data = self.read_records(slab)
        if not data or not any(data):
            return
        bits = self.format.size_bits
        mask = (1 << bits) - 1
        step, name, pfn = slab.cache.size, slab.cache.name, slab.pfn
        address = find_first_object(self.prog, slab)
        index = -1
        for stack, task, size_and_rate, time in self.record.iterate(data):
            index += 1
            if stack or task:
                size = size_and_rate & mask
                yield OwnedObject("slab", address + index * step, size, step, name, pfn, index,
                                  OwnerRecord(stack, task, size, size_and_rate >> bits, time))


def find_first_object(prog: Program, slab: Slab) -> int:
    """Address of the object with index 0. KFENCE puts its one object at either end of a page."""
    kfence = cached(prog, _read_kfence)
    if kfence:
        pool, metadata, entry, offset = kfence
        index = ((slab.address - pool) >> geometry(prog).page_shift) // 2 - 1
        if 0 <= index < KFENCE_OBJECTS_MAX and pool < slab.address:
            address = read_number(prog, metadata + index * entry + offset, 8)
            if address is not None and 0 <= address - slab.address < geometry(prog).page_size:
                return address
    return slab.address + slab.cache.red_left_pad


KFENCE_OBJECTS_MAX = 1 << 16


def _read_kfence(prog: Program) -> Optional[Tuple[int, int, int, int]]:
    """Addresses of KFENCE's pool and metadata, size of an entry, offset of the address in it."""
    try:
        pool, metadata = (read_number(prog, prog.variable(name).address_ or 0, 8)
                          for name in ("__kfence_pool", "kfence_metadata"))
        type_ = prog.type("struct kfence_metadata")
        offset = member_offset(prog, "struct kfence_metadata", "addr")
    except LookupError:
        return None
    if not pool or not metadata:
        return None
    return pool, metadata, type_.size or 0, offset


def for_each_slab(prog: Program) -> Iterator[Slab]:
    """All slabs, by page frame."""
    return cached(prog, SlabReader).iterate_slabs()


def for_each_owned_object(prog: Program) -> Iterator[OwnedObject]:
    """All slab objects that have an owner, by page frame and index."""
    reader = cached(prog, SlabReader)
    for slab in reader.iterate_slabs():
        if slab.exts:
            yield from reader.iterate_owned(slab)


def find_slab_object(prog: Program, address: int) -> Optional[SlabObject]:
    """The place of the object that @address is in. None if it is in no object of a slab."""
    reader = cached(prog, SlabReader)
    pfn = reader.geometry.pfn_of_virt(address)
    slab = None if pfn is None else reader.find_slab(pfn)
    if not slab:
        return None
    first = find_first_object(prog, slab)
    # The bytes before an object are its left red zone.
    index = max(address - first + slab.cache.red_left_pad, 0) // slab.cache.size
    if index >= slab.objects:
        return None
    return SlabObject(slab, index, first + index * slab.cache.size)


def slab_object_owner(prog: Program, address: int) -> Optional[OwnedObject]:
    """The owner of the object that @address is in, also of an address within the object.

    None if it is in no object of a slab, or the object has no owner.
    """
    reader = cached(prog, SlabReader)
    place = find_slab_object(prog, address)
    data = reader.read_records(place.slab) if place else None
    if not place or not data:
        return None
    owner = reader.decode_record(reader.record.unpack(data, place.index * reader.record.size))
    cache = place.slab.cache
    return owner and OwnedObject("slab", place.address, owner.size, cache.size, cache.name,
                                 place.slab.pfn, place.index, owner)


def slab_object_freed_by(prog: Program, address: int) -> Optional[OwnerRecord]:
    """The record of the last free of the object at @address. None if none is known."""
    place = find_slab_object(prog, address)
    return place and cached(prog, SlabReader).read_freed_record(place.slab, place.index)
