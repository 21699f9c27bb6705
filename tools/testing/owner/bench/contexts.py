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
EVERYWHERE = {"off": (2, 2), "sampled": (24, 18), "depth-1": (189, 160)}


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


CONTEXTS = [
    ContextRow("task", "a task", (420, 350), (1190, 650), (894, 700),
               bound=(11630, 1000), arm64=(589, 600)),
    ContextRow("kworker", "a kworker", (412, 350), (1190, 650), (894, 700)),
    ContextRow("hrtimer", "an hrtimer, in hard interrupt", (454, 400), (1270, 650), (933, 700),
               bound=(1870, 1000), arm64=(605, 600)),
    ContextRow("timer", "a timer, in softirq", (436, 400), (1210, 650), (924, 700),
               arm64=(557, 600)),
    ContextRow("tasklet", "a tasklet, at local_bh_enable()", (409, 400), (1180, 650), (895, 700)),
    ContextRow("irq_work", "irq_work, in hard interrupt", (484, 400), (1260, 650), (949, 700)),
    ContextRow("chains-1", "the end of 1 chain", (428, 350), (1200, 650), (912, 700)),
    ContextRow("chains-16", "the end of 16 chains in turn", (473, 420), (1270, 0), (1010, 0)),
    ContextRow("chains-64", "the end of 64 chains", (494, 420), (1310, 0), (1050, 0)),
    ContextRow("chains-256", "the end of 256 chains", (507, 420), (1350, 0), (1090, 0)),
    ContextRow("chains-1024", "the end of 1,024 chains", (533, 420), (1410, 0), (1140, 0),
               arm64=(722, 600)),
    ContextRow("chains-4096", "the end of 4,096 chains", (891, 450), (6740, 0), (3320, 0)),
    ContextRow("untraced", "the chain of the next three, untraced", (431, 350), (9560, 650),
               (965, 700)),
    ContextRow("kretprobe", "a chain with a kretprobe", (1650, 900), (9720, 0), (2640, 0),
               bound=(1850, 1000)),
    ContextRow("graph", "a chain with a function-graph frame", (1640, 900), (2720, 0), (2600, 0),
               arm64=(2080, 900)),
    ContextRow("fexit", "a chain with a BPF fexit trampoline", (436, 900), (1230, 0), (996, 0)),
    ContextRow("init", "a chain through a module's init text", (464, 1500), (1190, 0), (973, 0)),
]
