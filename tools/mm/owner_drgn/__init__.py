# SPDX-License-Identifier: GPL-2.0
"""Read slab_owner's and page_owner's records with drgn, on vmcores and live.

memory.py    bulk reads, lists, and notes about what could not be read
layout.py    places of a structure's members, by debug information
format.py    the structures by which the kernel describes its formats
geometry.py  page frames, their struct pages and their addresses
text.py      prints names without control characters
kallsyms.py  names of frames, as the kernel prints them
depot.py     the stack depot: handles to frames, tasks and counters
clock.py     times and weights of records
caches.py    slab caches
slabs.py     slabs, their objects and the owners of these
cpus.py      where each CPU has its copies of per-CPU variables
sheaves.py   arrays of free objects that CPUs and nodes keep
freelists.py objects that are free
percpu.py    per-CPU areas
pages.py     pages and their owners
user.py      user chains
leaks.py     objects to which no pointer leads
leak_table.py  a table of them
frames.py    page frames in which the kernel keeps pointers
stacks.py    kernel stacks
pointers.py  words that point to objects
records.py   prints records in the grammar of /sys/kernel/debug/slab_owner
page_records.py  prints records of pages in the grammar of /sys/kernel/debug/page_owner
stats.py     counts
ask.py       answers the questions of slab_owner.py's command line

Functions take the program first, as drgn's helpers do, and yield data. They never raise
drgn.FaultError because of damaged memory: what they leave out is counted in
notes_of(prog).
"""
