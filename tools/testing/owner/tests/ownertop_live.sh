#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# ownertop on the machine that it reads: ownertop_live.sh KERNEL. A guest runs
# it while a module of known size comes. Prints TAP.
set -u
cd "$(dirname "$0")/../../../.." || exit 1
. tools/testing/owner/tests/tap.sh

kernel=${1:?usage: ownertop_live.sh KERNEL}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seen="$work/said $work/out"
# More than any other chain holds on a machine that has just booted.
requests=8000

# The guest has no libraries: ownertop comes with its own.
pack()
{
	make -s -C tools/mm/ownertop O="$PWD/build/ownertop" && mkdir "$work/extra" &&
		cp build/ownertop/ownertop "build/$kernel/owner-modules/owner_leak.ko" "$work/extra" &&
		ldd build/ownertop/ownertop | grep -o '/[^ ]*' | xargs -I{} cp {} "$work/extra"
} >"$work/said" 2>&1

# guest APPEND CMD FILE...: what CMD prints is cut into files where it prints "==="
guest()
{
	append=$1 cmd=$2
	shift 2
	tools/testing/owner/guest.py run "$kernel" --append "$append" \
		--cmd "ownertop() { /extra/ld-linux-x86-64.so.2 --library-path /extra /extra/ownertop \"\$@\"; }
			debug=/sys/kernel/debug; $cmd" \
		--timeout 300 --extra "$work/extra" >"$work/out" 2>"$work/said" || return 1
	awk -v names="$*" -v place="$work/" 'BEGIN { split(names, name, " "); i = 1 }
		/^===$/ { i++; next } { print >(place name[i]) }' "$work/out"
}

# The first group of a report in JSON: "objects bytes function".
first()
{
	sed -n 's/.*"rank": 1, "objects": \([0-9]*\), "bytes": \([0-9]*\).*"stack": \["\([a-z_]*\).*/\1 \2 \3/p' \
		"$work/$1"
}

complete() { has "$work/$1" '"complete": true'; }
leak="$requests $((requests * 200)) leak_open_session"

ok "is packed with its libraries" pack
ok "runs where it reads" guest slab_owner=on "ownertop --live=0.2 -s objects -n 1 >/tmp/live & live=\$!
	sleep 1; insmod /extra/owner_leak.ko requests=$requests; sleep 2; kill \$live
	ownertop -s objects --json -n 1; echo ===
	cat \$debug/slab_owner | gzip | ownertop -s objects --json -n 1 -; echo ===
	ownertop -s objects --json -n 1 \$debug/slab_owner_stacks/show_stacks; echo ===
	ownertop -s objects --json -n 1 \$debug/slab_owner_stacks/show_handles \
		\$debug/slab_owner_stacks/show_stacks_handles; echo ===
	cat /tmp/live" plain packed stacks handles live
for way in plain packed stacks handles; do
	ok "$way: the leak is first, exact" is "$(first $way)" "$leak"
	ok "$way: all was read" complete $way
done
# Which line it is: from the guest's own vmlinux and module.
line=$(grep -n 'kmalloc(sizeof(\*session)' tools/testing/owner/modules/owner_leak.c | cut -d : -f 1)
resolve()
{
	build/ownertop/ownertop -s objects --json -n 1 -d 2 "$work/dump" --vmlinux "build/$kernel/vmlinux" \
		--modules "build/$kernel/owner-modules" >"$work/out" 2>"$work/said"
}
ok "is dumped" guest slab_owner=on "insmod /extra/owner_leak.ko requests=$requests && cat \$debug/slab_owner" dump
ok "is resolved with vmlinux and the module" resolve
ok "every function was found" is "$(cat "$work/said")" ""
ok "the line that leaks is named" has "$work/out" "leak_open_session\+[^ ]* [^ ]*owner_leak.c:$line \[owner_leak\]"

# Not above: what page_owner keeps of itself while the leak allocates is the leak's.
ok "reads pages as well" guest "slab_owner=on page_owner=on" \
	"ownertop --json -n 1 \$debug/page_owner \$debug/slab_owner; echo ===
	ownertop --json -n 1 \$debug/page_owner_stacks/show_stacks" both pages
ok "pages of slabs are set aside" has "$work/both" '"set_aside": {"objects": [1-9]'
ok "page_owner: all was read" complete both
ok "page_owner_stacks: all was read" complete pages
ok "live: several tables" [ "$(grep -c '^total' "$work/live")" -ge 4 ]
ok "live: the leak was not there" is "$(grep -m1 -A1 '^ *1 ' "$work/live" | grep -c leak_open_session)" 0
ok "live: and came" is "$(grep -A1 '^ *1 ' "$work/live" | tail -n 1 | grep -c leak_open_session)" 1
ok "live: nothing was damaged" lacks "$work/live" INCOMPLETE
finish
