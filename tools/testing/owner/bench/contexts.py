# SPDX-License-Identifier: GPL-2.0
"""The contexts in which owner_bench_contexts.c measures pairs, and the bounds on their cost."""

from dataclasses import dataclass, field

# The function below which the contexts "kretprobe", "graph" and "fexit" run. The module
# registers the kretprobe; the commands below attach the other tracers.
TRACED = "blocking_notifier_call_chain"

# Measure all contexts of one operation, or of both if $operation is empty.
MEASURE_CONTEXTS = f"""
    measure_context() {{
        insmod /extra/owner_bench_contexts.ko only=$operation $1
        rmmod owner_bench_contexts
    }}
    measure_context
    if [ -e /sys/kernel/btf/vmlinux ]; then
        /extra/attach_fexit {TRACED} \
            insmod /extra/owner_bench_contexts.ko only=$operation contexts=fexit
        rmmod owner_bench_contexts
    fi
    mount -t tracefs none /sys/kernel/tracing
    if grep -q function_graph /sys/kernel/tracing/available_tracers 2>/dev/null; then
        echo {TRACED} >/sys/kernel/tracing/set_ftrace_filter
        echo function_graph >/sys/kernel/tracing/current_tracer
        measure_context contexts=graph
        echo nop >/sys/kernel/tracing/current_tracer
    fi
    """

KMALLOC = "kmalloc-64"
PAGE = "pages-0"

# Modes of which each context is shown, and the operation that they run there.
CONTEXT_MODES = {
    "off": KMALLOC,
    "sampled": KMALLOC,
    "depth-1": KMALLOC,
    "on": KMALLOC,
    "on,free": KMALLOC,
    "bound": KMALLOC,
    "page_owner,ours": PAGE,
}
# Instructions that these modes may add in every context: a bound, and a target.
EVERYWHERE = {"off": (2, 2), "sampled": (24, 18), "depth-1": (270, 200)}


@dataclass
class ContextRow:
    """A context, and the instructions that modes may add there: a bound and a target."""
    context: str
    label: str
    on: tuple[float, float]
    free: tuple[float, float]
    page: tuple[float, float]
    # At the bound of the depot, and on arm64: only in some contexts.
    bound: tuple[float, float] = (0, 0)
    arm64: tuple[float, float] = (0, 0)
    limits: dict[str, tuple[float, float]] = field(init=False)

    def __post_init__(self) -> None:
        self.limits = EVERYWHERE | {"on": self.on, "on,free": self.free, "bound": self.bound,
                                    "page_owner,ours": self.page, "arm64,on": self.arm64}


# At the bound of the depot, a chain that the depot has costs as much as anywhere. Another one is
# walked with all checks, and gets its first frame or the overflow chain (some 5,500). Which of them
# a context meets differs by build.
AT_BOUND = 6600

# Addresses of the kernel differ in each build, and numbers that its hashes use in each boot, and
# with them which return addresses and handles meet in one slot of a table: bench.py allows for
# that.
CONTEXTS = [
    ContextRow("task", "a task", (800, 350), (1430, 650), (1380, 700),
               bound=(AT_BOUND, 1000), arm64=(600, 600)),
    ContextRow("kworker", "a kworker", (820, 350), (1390, 650), (1380, 700)),
    ContextRow("hrtimer", "an hrtimer, in hard interrupt", (1190, 400), (2420, 650), (1970, 700),
               bound=(AT_BOUND, 1000), arm64=(620, 600)),
    ContextRow("timer", "a timer, in softirq", (950, 400), (1740, 650), (1580, 700),
               arm64=(600, 600)),
    ContextRow("tasklet", "a tasklet, at local_bh_enable()", (870, 400), (1600, 650), (1650, 700)),
    ContextRow("irq_work", "irq_work, in hard interrupt", (1040, 400), (1650, 650), (1450, 700)),
    ContextRow("chains-1", "the end of 1 chain", (800, 350), (1420, 650), (1380, 700)),
    ContextRow("chains-16", "the end of 16 chains in turn", (800, 420), (1480, 0), (1450, 0)),
    ContextRow("chains-64", "the end of 64 chains", (830, 420), (1480, 0), (1460, 0)),
    ContextRow("chains-256", "the end of 256 chains", (850, 420), (1590, 0), (1490, 0)),
    ContextRow("chains-1024", "the end of 1,024 chains", (850, 420), (1600, 0), (1520, 0),
               arm64=(730, 600)),
    ContextRow("chains-4096", "the end of 4,096 chains", (1650, 450), (10500, 0), (4850, 0)),
    ContextRow("untraced", "the chain of the next three, untraced", (960, 350), (2050, 650),
               (1480, 700)),
    ContextRow("kretprobe", "a chain with a kretprobe", (1320, 900), (2600, 0), (4850, 0),
               bound=(AT_BOUND, 1000)),
    ContextRow("graph", "a chain with a function-graph frame", (1320, 900), (2650, 0), (4900, 0),
               arm64=(1250, 900)),
    ContextRow("fexit", "a chain with a BPF fexit trampoline", (1120, 900), (2450, 0), (1730, 0)),
    ContextRow("init", "a chain through a module's init text", (980, 1500), (1950, 0), (1500, 0)),
]
