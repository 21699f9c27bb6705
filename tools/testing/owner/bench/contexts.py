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
EVERYWHERE = {"off": (2, 2), "sampled": (24, 18), "depth-1": (165, 160)}


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


# At the bound of the depot, a capture gets the overflow chain (some 850 instructions) or a shorter
# chain (some 1,000). Which of them the depot has for a context differs by build. A chain with a
# kretprobe asks the tracer for its frame in each of three walks.
AT_BOUND = 1000

# Addresses of the kernel differ in each boot, and with them which return addresses and
# handles meet in one slot of a table: bench.py allows for that.
CONTEXTS = [
    ContextRow("task", "a task", (340, 350), (670, 650), (700, 700),
               bound=(AT_BOUND, 1000), arm64=(600, 600)),
    ContextRow("kworker", "a kworker", (345, 350), (670, 650), (700, 700)),
    ContextRow("hrtimer", "an hrtimer, in hard interrupt", (370, 400), (720, 650), (700, 700),
               bound=(AT_BOUND, 1000), arm64=(620, 600)),
    ContextRow("timer", "a timer, in softirq", (360, 400), (740, 650), (700, 700),
               arm64=(600, 600)),
    ContextRow("tasklet", "a tasklet, at local_bh_enable()", (350, 400), (705, 650), (700, 700)),
    ContextRow("irq_work", "irq_work, in hard interrupt", (400, 400), (770, 650), (715, 700)),
    ContextRow("chains-1", "the end of 1 chain", (345, 350), (670, 650), (700, 700)),
    ContextRow("chains-16", "the end of 16 chains in turn", (375, 420), (750, 0), (720, 0)),
    ContextRow("chains-64", "the end of 64 chains", (385, 420), (750, 0), (740, 0)),
    ContextRow("chains-256", "the end of 256 chains", (385, 420), (760, 0), (760, 0)),
    ContextRow("chains-1024", "the end of 1,024 chains", (405, 420), (800, 0), (800, 0),
               arm64=(730, 600)),
    ContextRow("chains-4096", "the end of 4,096 chains", (465, 450), (1200, 0), (1050, 0)),
    ContextRow("untraced", "the chain of the next three, untraced", (350, 350), (670, 650),
               (700, 700)),
    ContextRow("kretprobe", "a chain with a kretprobe", (445, 900), (1010, 0), (900, 0),
               bound=(1200, 1000)),
    ContextRow("graph", "a chain with a function-graph frame", (435, 900), (1010, 0), (900, 0),
               arm64=(1250, 900)),
    ContextRow("fexit", "a chain with a BPF fexit trampoline", (385, 900), (760, 0), (740, 0)),
    ContextRow("init", "a chain through a module's init text", (390, 1500), (760, 0), (760, 0)),
]
