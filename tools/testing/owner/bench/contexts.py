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
EVERYWHERE = {"off": (2, 2), "sampled": (24, 18), "depth-1": (220, 200)}


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
# walked with all checks, and gets its first frame or the overflow chain (some 4,100). Which of them
# a context meets differs by build.
AT_BOUND = 4500

# Addresses of the kernel differ in each boot, and with them which return addresses and
# handles meet in one slot of a table: bench.py allows for that.
CONTEXTS = [
    ContextRow("task", "a task", (710, 350), (1320, 650), (1250, 700),
               bound=(AT_BOUND, 1000), arm64=(600, 600)),
    ContextRow("kworker", "a kworker", (710, 350), (1330, 650), (1250, 700)),
    ContextRow("hrtimer", "an hrtimer, in hard interrupt", (720, 400), (1360, 650), (1250, 700),
               bound=(AT_BOUND, 1000), arm64=(620, 600)),
    ContextRow("timer", "a timer, in softirq", (690, 400), (1320, 650), (1250, 700),
               arm64=(600, 600)),
    ContextRow("tasklet", "a tasklet, at local_bh_enable()", (650, 400), (1200, 650), (1170, 700)),
    ContextRow("irq_work", "irq_work, in hard interrupt", (820, 400), (1400, 650), (1260, 700)),
    ContextRow("chains-1", "the end of 1 chain", (710, 350), (1320, 650), (1240, 700)),
    ContextRow("chains-16", "the end of 16 chains in turn", (720, 420), (1360, 0), (1270, 0)),
    ContextRow("chains-64", "the end of 64 chains", (710, 420), (1380, 0), (1270, 0)),
    ContextRow("chains-256", "the end of 256 chains", (710, 420), (1360, 0), (1270, 0)),
    ContextRow("chains-1024", "the end of 1,024 chains", (710, 420), (1390, 0), (1280, 0),
               arm64=(730, 600)),
    ContextRow("chains-4096", "the end of 4,096 chains", (1100, 450), (7500, 0), (3500, 0)),
    ContextRow("untraced", "the chain of the next three, untraced", (730, 350), (1360, 650),
               (1330, 700)),
    ContextRow("kretprobe", "a chain with a kretprobe", (3800, 900), (6500, 0), (4900, 0),
               bound=(AT_BOUND, 1000)),
    ContextRow("graph", "a chain with a function-graph frame", (3800, 900), (6700, 0), (4900, 0),
               arm64=(1250, 900)),
    ContextRow("fexit", "a chain with a BPF fexit trampoline", (900, 900), (1720, 0), (1500, 0)),
    ContextRow("init", "a chain through a module's init text", (860, 1500), (1570, 0), (1270, 0)),
]
