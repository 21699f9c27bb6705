# SPDX-License-Identifier: GPL-2.0
"""Kernel stacks, and the parts of them that are in use.

A stack keeps what returned functions have left below the stack pointer. Pointers there
are stale.
"""

from typing import Any, Iterator, List, NamedTuple

from drgn import Object, Program
from drgn.helpers.linux.cpumask import for_each_possible_cpu
from drgn.helpers.linux.percpu import per_cpu
from drgn.helpers.linux.pid import for_each_task

from .frames import FrameMap, Range
from .memory import notes_of


class Stacks(NamedTuple):
    """Addresses of stacks."""

    all: List[Range]
    in_use: List[Range]
    registers: List[int]        # values of the registers of tasks that run


def _iterate_tasks(prog: Program) -> Iterator[Object]:
    """All tasks, those that idle CPUs run included."""
    seen = set()
    idle = (per_cpu(prog["runqueues"], cpu).idle for cpu in for_each_possible_cpu(prog))
    for tasks in (idle, for_each_task(prog)):
        try:
            for task in tasks:
                if task and task.value_() not in seen:
                    seen.add(task.value_())
                    yield task
        except Exception as error:  # pylint: disable=broad-except # as in _read_registers()
            notes_of(prog).add("lists of tasks", f"they are damaged: {error}")


def _read_stack_pointer(task: Object) -> int:
    """Where a task that does not run has saved its stack pointer. 0 if that is not known."""
    thread = task.thread
    for names in (("sp",), ("cpu_context", "sp"), ("ksp",)):
        try:
            value: Any = thread
            for name in names:
                value = value.member_(name)
            return int(value.value_())
        except LookupError:
            continue
    return 0


def _is_running(task: Object) -> bool:
    try:
        return bool(task.on_cpu)
    except AttributeError:
        # Without CONFIG_SMP.
        return True


def _read_registers(prog: Program, task: Object) -> List[int]:
    try:
        return list(prog.stack_trace(task)[0].registers().values())
    except Exception as error:  # pylint: disable=broad-except
        # drgn raises Exception itself where it has no better type.
        notes_of(prog).add("tasks that ran", f"their registers cannot be read: {error}")
        return []


def _clear_vmapped_stack(prog: Program, task: Object, frames: FrameMap) -> None:
    """The page frames of a stack in a vmalloc() area must not be scanned as others are."""
    try:
        area = task.stack_vm_area
    except AttributeError:
        # The stack of the first task is in the kernel's image, and is searched with it.
        return
    try:
        for index in range(area.nr_pages if area else 0):
            pfn = frames.geometry.pfn_of_page(area.pages[index].value_())
            if pfn is not None:
                frames.clear_frames(pfn, 1)
    except Exception:  # pylint: disable=broad-except # as in _read_registers()
        notes_of(prog).add("stacks", "their page frames cannot be found")


def _is_irq_stack_used(prog: Program, cpu: int) -> bool:
    try:
        return bool(per_cpu(prog["hardirq_stack_inuse"], cpu))
    except KeyError:
        # Older kernels have it in a structure.
        return bool(per_cpu(prog["pcpu_hot"], cpu).hardirq_stack_inuse)


def _add_irq_stacks(prog: Program, stacks: Stacks) -> None:
    """x86: an interrupt stack is in use while a CPU handles an interrupt."""
    try:
        for cpu in for_each_possible_cpu(prog):
            stack = per_cpu(prog["irq_stack_backing_store"], cpu)
            used = _is_irq_stack_used(prog, cpu)
            address = stack.address_ or 0
            whole = address, address + stack.type_.size
            stacks.all.append(whole)
            if used:
                stacks.in_use.append(whole)
    except Exception:  # pylint: disable=broad-except # as in _read_registers()
        # Other architectures and kernels: these stacks are scanned as per-CPU areas are.
        pass


def find_stacks(prog: Program, frames: FrameMap) -> Stacks:
    """The stacks of all tasks and of interrupts."""
    stacks = Stacks([], [], [])
    # THREAD_SIZE is a macro; the stack of the first task has this size.
    size = prog.symbol("__end_init_stack").address - prog.symbol("__start_init_stack").address
    geo = frames.geometry
    for task in _iterate_tasks(prog):
        try:
            base = task.stack.value_()
            running = _is_running(task)
            pointer = 0 if running else _read_stack_pointer(task)
        except Exception:  # pylint: disable=broad-except # as in _read_registers()
            notes_of(prog).add("tasks", "they cannot be read")
            continue
        if geo.pfn_of_virt(base) is None:
            _clear_vmapped_stack(prog, task, frames)
        else:
            stacks.all.append((base, base + size))
        in_use = pointer if base <= pointer < base + size else base
        stacks.in_use.append((in_use & ~7, base + size))
        if running:
            stacks.registers.extend(_read_registers(prog, task))
    _add_irq_stacks(prog, stacks)
    return stacks
