# SPDX-License-Identifier: GPL-2.0
"""The modes of the benchmark: kernels, command lines, and the bounds on their cost."""

from dataclasses import dataclass

BASE = "vanilla"
# The mode to which the other modes of user-mode Linux are compared.
NATIVE_BASE = "um,off"
# Modes that measure something else than operations, so no other mode is subtracted: the
# cost of a call chain alone, and the cost of a query per object.
UNWIND = "unwind"
QUERY = "query"
ALONE = (UNWIND, QUERY)

# One kmalloc() of 64 bytes and its kfree() in a system call: the call chain begins at the
# system call entry, at another stack depth each time.
CALLS = "kmalloc-64-calls"

# In a memory cgroup, so that __GFP_ACCOUNT charges it.
IN_A_CGROUP = """
    mkdir /cgroup
    mount -t cgroup2 none /cgroup
    echo +memory >/cgroup/cgroup.subtree_control
    mkdir /cgroup/bench
    echo $$ >/cgroup/bench/cgroup.procs"""

# Run queries with and without a million objects, and print the nanoseconds per object. A
# guest that counts instructions takes one nanosecond for each. Its clock has a resolution
# of 10 ms.
ASK_QUERIES = """
    now() { read up rest </proc/uptime; echo $(((${up%.*} * 100 + 1${up#*.} - 100) * 10000000)); }
    cost() {
        began=$(now)
        for i in $(seq $2); do
            exec 3<>/sys/kernel/debug/owner/query; echo "$1" >&3; cat <&3 >/dev/null
        done
        echo $((($(now) - began) / $2))
    }
    counted="group=stack"
    by_stack="group=stack sort=bytes,oldest"
    by_age="group=cache,stack.4 if age < 1h && comm != kworker*"
    count=$(cost "$counted" 100); stack=$(cost "$by_stack" 10); age=$(cost "$by_age" 10)
    insmod /extra/owner_bench_memory.ko objects=1000000
    count=$((($(cost "$counted" 100) - count) / 10000))
    stack=$((($(cost "$by_stack" 10) - stack) / 10000))
    age=$((($(cost "$by_age" 10) - age) / 10000))
    tell() { each=$(($2 / 100)).$(($2 % 100 / 10)); echo "owner_bench: $1 0 $each $each"; }
    tell query-counted $count; tell query-by-stack $stack; tell query-by-age $age"""


@dataclass
class Mode:
    """A kernel, its command line, and the guest's commands before the measurement."""
    kernel: str
    append: str = ""
    prepare: str = ":"
    # Commands that measure something else than the modules do.
    instead: str = ""


def rule(sentence: str) -> Mode:
    """slab_owner=on with a rule."""
    return Mode("x86_64", f'slab_owner=on owner="{sentence}"')


MODES = {
    BASE: Mode("vanilla"),
    "memcg": Mode("vanilla", prepare=IN_A_CGROUP),
    "profiling-off": Mode("profiling"),
    "profiling-on": Mode("profiling", "sysctl.vm.mem_profiling=1"),
    "slab_debug=U": Mode("vanilla", "slab_debug=U"),
    "page_owner": Mode("vanilla", "page_owner=on"),
    "page_owner,ours": Mode("x86_64", "page_owner=on"),
    "off": Mode("x86_64"),
    "ready": Mode("x86_64", "slab_owner=ready"),
    "sampled": Mode("x86_64", "slab_owner=ready owner=sample=512K"),
    "depth-1": Mode("x86_64", "slab_owner=ready owner=depth=1"),
    "depth-4": Mode("x86_64", "slab_owner=ready owner=depth=4"),
    "depth-8": Mode("x86_64", "slab_owner=ready owner=depth=8"),
    "on": Mode("x86_64", "slab_owner=on"),
    "on,free": Mode("x86_64", "slab_owner=on,free=on"),
    # Rules that change nothing, so that the added cost is the cost of evaluating them.
    "rule-cache": rule("depth=16 if cache == kmalloc-64"),
    "rule-task": rule("track=off if cache == kmalloc-64 && comm == nobody"),
    "rule-func": rule("track=off if cache == kmalloc-64 && func == vfs_*"),
    "rule-cgroup": rule("track=off if cache == kmalloc-64 && cgroup == /nobody"),
    UNWIND: Mode("x86_64", "kunit.enable=1 kunit.filter_glob=owner_unwind",
                 instead="cat /sys/kernel/debug/kunit/owner_unwind/results"),
    QUERY: Mode("x86_64", "slab_owner=on", instead=ASK_QUERIES),
    NATIVE_BASE: Mode("um"),
    "um,sampled": Mode("um", "slab_owner=ready owner=sample=512K"),
    "um,depth-8": Mode("um", "slab_owner=ready owner=depth=8"),
    "um,on": Mode("um", "slab_owner=on"),
    "um,page_owner": Mode("um", "page_owner=on"),
}
NATIVE = [name for name, mode in MODES.items() if mode.kernel == "um"]


@dataclass
class Bound:
    """The instructions that a mode may add to an operation, and the target if lower."""
    operation: str
    chain: int
    mode: str
    added: float
    target: float = 0
    over: str = BASE


BOUNDS = [
    Bound("kmalloc-64", 8, "off", 2),
    Bound("kmalloc-64", 8, "sampled", 22),
    Bound("kmalloc-64", 8, "depth-1", 222, target=122),
    Bound("kmalloc-64", 8, "depth-8", 352),
    Bound(CALLS, 0, "on", 350),
    Bound("kmalloc-64", 8, "rule-cache", 10, over="on"),
    Bound("pages-0", 8, "page_owner,ours", 757),
    Bound("owner_unwind", 8, UNWIND, 160),
    # The counters answer this query, so objects cost nothing.
    Bound("query-counted", 0, QUERY, 1),
    Bound("query-by-stack", 0, QUERY, 60),
    Bound("query-by-age", 0, QUERY, 60),
]
