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
# Instructions that these modes may add in every context, and the target if lower.
EVERYWHERE = {"off": (2, 0), "sampled": (22, 18), "depth-1": (223, 160)}


@dataclass
class ContextRow:
    """A context, and the instructions that modes may add there: a bound and a target."""
    context: str
    label: str
    on: tuple[float, float]
    free: tuple[float, float]
    page: tuple[float, float]
    bound: tuple[float, float] = (0, 0)
    arm64: tuple[float, float] = (0, 0)
    limits: dict[str, tuple[float, float]] = field(init=False)

    def __post_init__(self) -> None:
        self.limits = EVERYWHERE | {"on": self.on, "on,free": self.free, "bound": self.bound,
                                    "page_owner,ours": self.page, "arm64,on": self.arm64}


CONTEXTS = [
    ContextRow("task", "a task", (395, 350), (870, 650), (757, 700), (8500, 1000)),
    ContextRow("kworker", "a kworker", (395, 350), (870, 650), (757, 700)),
    ContextRow("hrtimer", "an hrtimer, in hard interrupt", (2250, 400), (4000, 650), (3700, 700),
               (8500, 1000)),
    ContextRow("timer", "a timer, in softirq", (2250, 400), (4000, 650), (3700, 700)),
    ContextRow("tasklet", "a tasklet, at local_bh_enable()", (2250, 400), (4000, 650), (3700, 700)),
    ContextRow("irq_work", "irq_work, in hard interrupt", (2250, 400), (4000, 650), (3700, 700)),
    ContextRow("chains-1", "the end of 1 chain", (395, 350), (870, 650), (757, 700)),
    ContextRow("chains-16", "the end of 16 chains in turn", (3000, 420), (4700, 0), (4700, 0)),
    ContextRow("chains-64", "the end of 64 chains", (3000, 420), (4700, 0), (4700, 0)),
    ContextRow("chains-256", "the end of 256 chains", (3000, 420), (6000, 0), (4700, 0)),
    ContextRow("chains-1024", "the end of 1,024 chains", (3500, 420), (6500, 0), (5600, 0)),
    ContextRow("chains-4096", "the end of 4,096 chains", (3800, 450), (6500, 0), (5800, 0)),
    ContextRow("untraced", "the chain of the next three, untraced", (395, 350), (870, 650),
               (757, 700)),
    ContextRow("kretprobe", "a chain with a kretprobe", (15400, 900), (30000, 0), (28000, 0),
               (32000, 1000)),
    ContextRow("graph", "a chain with a function-graph frame", (15400, 900), (30000, 0),
               (28000, 0)),
    ContextRow("fexit", "a chain with a BPF fexit trampoline", (15400, 900), (30000, 0),
               (28000, 0)),
    ContextRow("init", "a chain through a module's init text", (15400, 1500), (30000, 0),
               (28000, 0)),
]
