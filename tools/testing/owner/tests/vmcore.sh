#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# ok() calls the checks by name, and the guest expands what CMD names:
# shellcheck disable=SC2317,SC2016
#
# Take a vmcore of a guest and read it with drgn, by default of x86_64. Prints TAP.
usage='[KERNEL]'
. "$(dirname "$0")/prelude.sh"

guest=tools/testing/owner/guest/guest.py
build=${BUILD:-$PWD/build}
kernel=${1:-x86_64}
# Debian's drgn needs Debian's python3, which may not be the first in PATH.
drgn=/usr/bin/drgn
tests=10
label=$kernel

skip_all_tests()
{
	for _ in $(seq $tests); do
		skip_test vmcore "$1"
	done
	finish_tests
}

[ -e "$build/$kernel/vmlinux" ] ||
	skip_all_tests "no kernel; make kernel K=$kernel"
[ -x "$drgn" ] || skip_all_tests "no $drgn; apt-get install python3-drgn"

seen="$work/out $work/err $work/facts"
mkdir "$work/tmp"
export TMPDIR="$work/tmp"

take_vmcore()
{
	"$guest" vmcore "$kernel" --build "$build" --output "$work/core" \
		--timeout 120 --cmd '
		hostname planted
		echo 31337 >/proc/sys/kernel/panic
		sed -n "s/ T _stext$//p" /proc/kallsyms
		exit 6' >"$work/out" 2>"$work/err"
	status=$?
	read -r stext <"$work/out"
}

# KASLR chooses the address that the kernel was linked for once in some hundred boots. Try
# again then.
take_relocated_vmcore()
{
	linked=$(nm "$build/$kernel/vmlinux" | sed -n 's/ T _stext$//p')
	take_vmcore
	[ "$stext" != "$linked" ] || take_vmcore
}

drgn_found_fact() { grep -qx "$1" "$work/facts"; }
status_is() { [ "$status" = "$1" ]; }
kernel_was_relocated() { [ -n "$stext" ] && [ "$stext" != "$linked" ]; }
nothing_is_left() { ! grep -q . "$work/left"; }

# List what is left of the guest: each of its processes has a path below $TMPDIR on its
# command line.
list_leftovers()
{
	for line in /proc/[0-9]*/cmdline; do
		{ tr '\0' ' ' <"$line"; } 2>/dev/null
		echo
	done | grep -F "$TMPDIR/" | grep -v grep >"$work/left"
	ls "$TMPDIR" >>"$work/left"
}

um_vmcore_is_refused()
{
	mkdir -p "$work/build/um"
	: >"$work/build/um/linux"
	"$guest" vmcore um --build "$work/build" --cmd true 2>"$work/err"
	[ $? = 123 ] && grep -q 'of an x86_64 guest only' "$work/err"
}

take_relocated_vmcore
list_leftovers
ok "CMD's status passes through" status_is 6
ok "no machine is left behind" nothing_is_left
ok "KASLR has moved the kernel" kernel_was_relocated
"$drgn" -c "$work/core" -s "$build/$kernel/vmlinux" \
	tools/testing/owner/tests/vmcore_facts.py >"$work/facts" 2>"$work/err"
status=$?
ok "drgn opens the vmcore" status_is 0
ok "drgn finds _stext where the guest had it" drgn_found_fact "_stext $stext"
ok "drgn finds init by its pid" drgn_found_fact 'init 1 init'
ok "the host name CMD set reads back" drgn_found_fact 'nodename planted'
ok "the sysctl CMD set reads back" drgn_found_fact 'panic_timeout 31337'
ok "the release is the kernel's" \
	drgn_found_fact "release $(cat "$build/$kernel/include/config/kernel.release")"
ok "a vmcore of um is refused" um_vmcore_is_refused
finish_tests
