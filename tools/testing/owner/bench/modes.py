# SPDX-License-Identifier: GPL-2.0
"""The modes of the benchmark: kernels, command lines, and the bounds on their cost."""

from dataclasses import dataclass

from contexts import CONTEXT_MODES, CONTEXTS, KMALLOC

BASE = "vanilla"
# The mode to which the other modes of user-mode Linux are compared.
NATIVE_BASE = "um,off"
# The mode to which the other modes of arm64 are compared.
ARM64_BASE = "arm64,off"
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
    by_age="group=cache,stack.4 if age < 1h && !(comm ~ kworker*)"
    count=$(cost "$counted" 100); stack=$(cost "$by_stack" 10); age=$(cost "$by_age" 10)
    insmod /extra/owner_bench_memory.ko objects=1000000
    count=$((($(cost "$counted" 100) - count) / 10000))
    stack=$((($(cost "$by_stack" 10) - stack) / 10000))
    age=$((($(cost "$by_age" 10) - age) / 10000))
    tell() { each=$(($2 / 100)).$(($2 % 100 / 10)); echo "owner_bench: $1 0 $each $each"; }
    tell query-counted $count; tell query-by-stack $stack; tell query-by-age $age"""


@dataclass
class BenchMode:
    """A kernel, its command line, and the guest's commands before the measurement."""
    kernel: str
    append: str = ""
    prepare: str = ":"
    # Commands that run instead of the benchmark modules.
    instead: str = ""
    # The operations to measure in each context: those whose names begin with this text.
    contexts: str | None = None
    only_contexts: bool = False


# Fill the depot with chains of objects that live on.
FILL_DEPOT = "insmod /extra/owner_bench_memory.ko chains=16384"


def make_rule_mode(sentence: str) -> BenchMode:
    """Return a mode with slab_owner=on and this rule."""
    return BenchMode("x86_64", f'slab_owner=on owner="{sentence}"')


MODES = {
    BASE: BenchMode("vanilla", contexts=""),
    "memcg": BenchMode("vanilla", prepare=IN_A_CGROUP),
    "profiling-off": BenchMode("profiling"),
    "profiling-on": BenchMode("profiling", "sysctl.vm.mem_profiling=1"),
    "slab_debug=U": BenchMode("vanilla", "slab_debug=U"),
    "page_owner": BenchMode("vanilla", "page_owner=on"),
    "page_owner,ours": BenchMode("x86_64", "page_owner=on", contexts="pages"),
    "off": BenchMode("x86_64", contexts="kmalloc"),
    "ready": BenchMode("x86_64", "slab_owner=ready"),
    "sampled": BenchMode("x86_64", "slab_owner=ready owner=sample=512K",
                         contexts="kmalloc"),
    "depth-1": BenchMode("x86_64", "slab_owner=ready owner=depth=1", contexts="kmalloc"),
    "depth-4": BenchMode("x86_64", "slab_owner=ready owner=depth=4"),
    "depth-8": BenchMode("x86_64", "slab_owner=ready owner=depth=8"),
    "on": BenchMode("x86_64", "slab_owner=on", contexts="kmalloc"),
    "on,free": BenchMode("x86_64", "slab_owner=on,free=on", contexts="kmalloc"),
    "bound": BenchMode("x86_64", "slab_owner=on stack_depot_max=256K", FILL_DEPOT,
                       contexts="kmalloc", only_contexts=True),
    # Rules that change nothing, so that the added cost is the cost of evaluating them.
    "rule-cache": make_rule_mode("depth=16 if cache == kmalloc-64"),
    "rule-task": make_rule_mode("track=off if cache == kmalloc-64 && comm == nobody"),
    "rule-func": make_rule_mode("track=off if cache == kmalloc-64 && func ~ vfs_*"),
    "rule-cgroup": make_rule_mode("track=off if cache == kmalloc-64 && task_cgroup == /nobody"),
    UNWIND: BenchMode("x86_64", "kunit.enable=1 kunit.filter_glob=stackdepot_capture",
                      instead="cat /sys/kernel/debug/kunit/stackdepot_capture/results"),
    ARM64_BASE: BenchMode("arm64", contexts="kmalloc", only_contexts=True),
    "arm64,on": BenchMode("arm64", "slab_owner=on", contexts="kmalloc", only_contexts=True),
    QUERY: BenchMode("x86_64", "slab_owner=on", instead=ASK_QUERIES),
    NATIVE_BASE: BenchMode("um"),
    "um,sampled": BenchMode("um", "slab_owner=ready owner=sample=512K"),
    "um,depth-8": BenchMode("um", "slab_owner=ready owner=depth=8"),
    "um,on": BenchMode("um", "slab_owner=on"),
    "um,page_owner": BenchMode("um", "page_owner=on"),
}
NATIVE = [name for name, mode in MODES.items() if mode.kernel == "um"]
ARM64 = [name for name, mode in MODES.items() if mode.kernel == "arm64"]


@dataclass
class CostBound:
    """The instructions that a mode may add to an operation, and the target if lower."""
    operation: str
    chain: int
    mode: str
    added: float
    target: float = 0
    over: str = BASE


BOUNDS = [
    CostBound("kmalloc-64", 8, "off", 2),
    CostBound("kmalloc-64", 8, "sampled", 22),
    CostBound("kmalloc-64", 8, "depth-1", 270, target=200),
    CostBound("kmalloc-64", 8, "depth-8", 850, target=330),
    CostBound(CALLS, 0, "on", 810, target=300),
    # A rule of a cache adds no path of its own. In each boot, other steps share a line.
    CostBound("kmalloc-64", 8, "rule-cache", 350, target=10, over="on"),
    CostBound("pages-0", 8, "page_owner,ours", 2100, target=850),
    CostBound("stack_depot_get_frames", 8, UNWIND, 930, target=300),
    # The counters answer this query, so objects cost nothing.
    CostBound("query-counted", 0, QUERY, 1.4),
    CostBound("query-by-stack", 0, QUERY, 60),
    CostBound("query-by-age", 0, QUERY, 60),
]
BOUNDS += [CostBound(f"{operation}/{row.context}", 0, mode, *row.limits[mode])
           for mode, operation in CONTEXT_MODES.items() for row in CONTEXTS if row.limits[mode][0]]
# arm64 has no kernel without our code to compare with.
BOUNDS += [CostBound(f"{KMALLOC}/{row.context}", 0, "arm64,on", *row.limits["arm64,on"],
                     over=ARM64_BASE)
           for row in CONTEXTS if row.limits["arm64,on"][0]]
