# SPDX-License-Identifier: GPL-2.0
#
# User chains of slab_owner: which code of a program asked for the memory (mm/owner/user/user.h).

import gdb
from linux.owner_names import integer, read_memory

PREFIX = "OWNER_USER_"
# Reasons whose text is not made of the words of their enumerator.
TEXTS = {"WORKER": "user-worker", "32BIT": "32-bit"}
SEPARATORS = b" ,;\\"


def enumerators(name):
    return {field.enumval: field.name[len(PREFIX):]
            for field in gdb.lookup_type("enum " + name).fields()}


def escape(name):
    return "".join(chr(c) if 32 <= c < 127 and c not in SEPARATORS else "\\%03o" % c for c in name)


class UserChains:
    """Prints the user half of the handles of tasks."""

    def __init__(self, form, fetch, notes):
        # Kernels without user chains have no context_words.
        self.context_words = form.get("context_words", 0)
        self.form, self.fetch, self.notes = form, fetch, notes
        self.texts = {}
        self.files = {}
        if self.context_words:
            self.reasons = enumerators("owner_user_reason")
            # The number of reasons is none of them.
            self.reasons.pop(len(self.reasons) - 1, None)
            self.special_places = enumerators("owner_user_place")

    def reason(self, number):
        word = self.reasons.get(number, "reason-%d" % number)
        return "(%s)" % TEXTS.get(word, word.lower().replace("_", "-"))

    def file(self, place):
        """The name and the id of a file."""
        if place not in self.files:
            try:
                self.files[place] = self.read_file(place)
            except gdb.MemoryError:
                self.notes["files of user frames cannot be read"] += 1
                self.files[place] = "?", "0:0:0"
        return self.files[place]

    def read_file(self, place):
        if not 0 < place <= int(gdb.parse_and_eval("owner_nr_binaries")):
            raise gdb.MemoryError("no such file")
        binary = gdb.parse_and_eval("owner_binaries")[place - 1].dereference()
        name, size, dev = binary["name"], int(binary["build_id_size"]), int(binary["dev"])
        name = read_memory(integer(name.address), name.type.sizeof).split(b"\0")[0]
        if size:
            build_id = binary["build_id"]
            data = read_memory(integer(build_id.address), build_id.type.sizeof)
            return escape(name), data[:size].hex()
        return escape(name), "%d:%d:%d" % (dev >> 20, dev & 0xfffff, int(binary["ino"]))

    def frame(self, word):
        shift = self.form["user_place_shift"]
        place, offset = word >> shift, word & ((1 << shift) - 1)
        special = self.special_places.get(place)
        if special == "PLACE_REASON":
            return self.reason(offset)
        if special == "PLACE_ANON":
            return "[anon]"
        if special == "PLACE_VDSO":
            return "[vdso]+0x%x" % offset
        return "%s+0x%x@%s" % (self.file(place)[0], offset, self.file(place)[1])

    def frames(self, handle):
        words = self.fetch(handle) if handle and self.context_words else None
        if not words or len(words) != self.context_words:
            return []
        reason = words[-1] >> self.form["user_reason_shift"]
        if reason:
            return [self.reason(reason)]
        return [self.frame(word) for word in self.fetch(words[-1] & 0xffffffff) or ()]

    def text(self, handle):
        """The lines of the user chain of a task's handle; none if no rule asked for it."""
        if handle not in self.texts:
            self.texts[handle] = "".join(" user %s\n" % frame for frame in self.frames(handle))
        return self.texts[handle]
