#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# ok() calls the checks by name: shellcheck disable=SC2317
#
# The plugin of make bench-misses counts instructions and misses exactly. Prints TAP.
. "$(dirname "$0")/prelude.sh"

program=$work/cache_misses

build_plugin()
{
	gcc -O2 -Wall -Werror -shared -fPIC -o "$work/cache_misses.so" \
		tools/testing/owner/bench/cache_misses.c 2>"$work/err"
}

build_program()
{
	gcc -m32 -nostdlib -static -Wl,-Ttext=0x100000 -Wl,--build-id=none -o "$program" \
		tools/testing/owner/tests/cache_misses.S 2>"$work/err"
}

# run_program PROCESSORS
run_program()
{
	timeout 300 qemu-system-x86_64 -nodefaults -no-user-config -no-reboot -display none \
		-accel tcg -icount shift=0,sleep=off -smp "$1" -kernel "$program" \
		-plugin "$work/cache_misses.so,out=$work/out" >"$work/err" 2>&1
}

# report_equals NUMBER LINE
report_equals() { [ "$(sed -n "$1p" "$work/out")" = "$2" ]; }

ok "the plugin compiles" build_plugin
ok "the program is built" build_program
ok "the program runs" run_program 1
# The sections, instructions, L1 misses and L2 misses. The end mark is an instruction as well.
ok "memory that was never used misses both caches" report_equals 1 "1 3073 1024 1024"
ok "64 KiB in turn miss L1 each time" report_equals 2 "1 3073 1024 0"
ok "a load across two lines uses both" report_equals 3 "1 1537 513 0"
ok "32 KiB stay in L1" report_equals 4 "1 1537 0 0"
# 512 lines are in L1 and 1,024 in L2, but those that follow replace them before their turn.
ok "2 MiB miss L2" report_equals 6 "1 98305 32768 32768"
ok "there is no other report" equals "$(wc -l <"$work/out")" 6
# Two processors would share the counts.
ok "a second processor is refused" command_fails run_program 2
ok "... with a message" grep -q "^cache_misses: the guest has more than one CPU" "$work/err"
finish_tests
