#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test that ownertop prints for a file what it prints for a pipe.

A pipe returns other numbers of bytes to each read, so records lie elsewhere in the buffer. Damage,
comments, sampled records and records of pages lie everywhere in the dumps, also at the ends of the
buffer.

usage: file_and_pipe.py OWNERTOP DIR
"""

import itertools
import random
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
VIEWS = (["table", "--top", "0"], ["table", "-g", "stack,comm,pid,handle", "--top", "0"],
         ["table", "-g", "cache,func,module,cgroup,gfp,nid,age", "--top", "0"],
         ["table", "-g", "user,binary,ufunc", "--top", "0"],
         ["table", "-g", "user.2", "--by", "function", "--top", "0", "if binary != fetch"],
         ["table", "--by", "function", "--top", "0"], ["tree"], ["functions"],
         ["table", "--known", str(HERE / "input/known.txt"), "--top", "0"],
         ["table", "--now", "3h",
          "if comm != bash && age > 1s && func ~ *alloc* && gfp == GFP_KERNEL"],
         ["explain", "--now", "3h"],
         ["table", "--json", "-d", "0", "-g", "kind,cache,comm,pid,tgid,stack,user"])
# Bytes of a dump: several buffers.
SIZE = 5 * 1024 * 1024


def read_records(*names):
    """Return the records of some golden inputs, also damaged ones, and their comments."""
    return [record + b"\n\n" for name in names
            for record in (HERE / "input" / name).read_bytes().split(b"\n\n") if record]


def make_dump(records, seed, size=SIZE):
    """Return a dump of these records, repeated in random order."""
    rng, dump = random.Random(seed), []
    while size > 0:
        dump.append(rng.choice(records))
        size -= len(dump[-1])
    return b"".join(dump)


def number_names(dump):
    """Number the functions of a dump, so that new names appear in all of it."""
    rng, number = random.Random(1), itertools.count()
    return re.sub(rb"^ (\w+)\+",
                  lambda m: b" %s_%d+" % (m[1], rng.randrange(1 + next(number) // 2000)), dump,
                  flags=re.MULTILINE)


def number_user_frames(dump):
    """Number the offsets of user frames, so that new frames appear in all of it."""
    rng, number = random.Random(2), itertools.count()
    return re.sub(rb"^ user fetch\+0x(\w+)",
                  lambda m: b" user fetch+0x%s%x" % (m[1], rng.randrange(
                      1 + next(number) // 50)), dump, flags=re.MULTILINE)


def make_owners(owners, records=90_000):
    """Return a dump of records with this number of distinct call chains."""
    record = (b"Page allocated via order 0, mask 0x0(GFP_KERNEL), pid 1, tgid 1 (sh), ts %d ns\n"
              b"PFN 0x%x type Unmovable Block 0 type Unmovable Flags 0x0()\n alloc_%d+0x1/0x2\n\n")
    return b"".join(record % (number, number, number % owners)
                    for number in range(max(owners, records)))


def make_dumps():
    """Yield a name and the bytes of each dump."""
    pages, slabs = read_records("page.txt"), read_records("slab.txt")
    damaged = [record for record in read_records(
        "odd_headers.txt", "odd_frames.txt", "cut_page.txt", "missing_fields.txt",
        "junk_between.txt", "no_blank.txt", "many_damaged.txt", "crlf.txt")
        if b"Slab" not in record and b"CPU" not in record]
    yield "pages", make_dump(pages, 1)
    yield "slab objects", make_dump(slabs, 2)
    yield "much damage", make_dump(pages + damaged, 3)
    yield "rare damage", number_names(make_dump(pages * 20_000 + damaged, 4, 2 * SIZE))
    yield "owners that repeat", make_owners(50_000, 250_000)
    yield "owners everywhere", make_owners(180_000)
    yield "pages, then slab objects", make_dump(pages, 5) + make_dump(slabs, 6)
    yield "slab objects, then pages", make_dump(slabs, 7) + make_dump(
        pages + read_records("page_of_slab.txt", "page_backing.txt"), 8)
    yield "sampled", make_dump(read_records("sampled.txt"), 9)
    yield "handles", make_dump(read_records("page_handles.txt", "page.txt"), 10)
    yield "user chains", number_user_frames(make_dump(read_records("user.txt", "slab.txt"), 12))
    # A record of more than 128 KiB is damage, wherever in the buffer it begins.
    long = slabs[1].replace(b"\n\n", b"\n" + b"x" * 300_000 + b"\n\n")
    yield "long records", make_dump(slabs * 2000 + [long], 11)


def run(ownertop, view, path, in_pipe):
    """Return the exit status, the output and the messages of a view."""
    with open(path, "rb") as source:
        if in_pipe:
            source = subprocess.Popen(["cat"], stdin=source, stdout=subprocess.PIPE).stdout
        done = subprocess.run([ownertop, *view, "/dev/stdin"], stdin=source,
                              capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def main():
    """Compare all views of all dumps."""
    ownertop, work = sys.argv[1], Path(sys.argv[2])
    failed = 0
    for name, dump in make_dumps():
        path = work / "dump"
        path.write_bytes(dump)
        for view in VIEWS:
            one, two = (run(ownertop, view, path, in_pipe) for in_pipe in (True, False))
            if one != two:
                failed += 1
                print(f"{name}: {' '.join(view)}: a file and a pipe differ")
                for a, b in zip(one, two):
                    if a != b:
                        print("pipe:", str(a)[:600], "\nfile:", str(b)[:600])
        path.unlink()
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
