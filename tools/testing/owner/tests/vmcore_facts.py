# SPDX-License-Identifier: GPL-2.0
"""Print values that drgn reads from a vmcore, for vmcore.sh. drgn sets prog."""

from typing import Any

from drgn.helpers.linux.pid import find_task

prog: Any
init = find_task(prog, 1)
names = prog["init_uts_ns"].name
print("init", init.pid.value_(), init.comm.string_().decode())
print("nodename", names.nodename.string_().decode())
print("release", names.release.string_().decode())
print("panic_timeout", prog["panic_timeout"].value_())
print(f"_stext {prog.symbol('_stext').address:x}")
