#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Rules on the boot line and in owner/control: owner_rules.sh KERNEL. Prints TAP.
set -u
cd "$(dirname "$0")/../../../.." || exit 1
. tools/testing/owner/tests/tap.sh

kernel=${1:?usage: owner_rules.sh KERNEL}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seen=$work/console

# boot RULES
boot()
{
	tools/testing/owner/guest.py run "$kernel" --append "slab_owner=on owner=\"$1\"" \
		--console "$work/console" --cmd true >/dev/null 2>"$work/err"
}

ok "boots with rules" boot "depth=2; depth=1 if size < 64; depth=8 if comm != 'my prog'"
ok "of which nothing is to be said" lacks "$work/console" "slab_owner: owner="
ok "boots with a wrong rule" boot "depth=2; depth=1 if sizee < 64"
ok "of which is said what is wrong" \
	has "$work/console" "owner= .* no effect: no field is called 'sizee': did you mean 'size'"
ok "and where" has "$work/console" "^ {13}\^~~~~"

control=/sys/kernel/debug/owner/control
ok "control takes rules" sh -c "tools/testing/owner/guest.py run '$kernel' \\
	--append slab_owner=ready --cmd '
	cd /tmp
	cat $control; echo ===
	printf \"depth=4 if cache == kmalloc-64\\ntrack=off if cache == kmalloc-8\\n\" >$control
	cat $control >read; cat read; echo ===
	{ echo \"depth=5; depth=4 if cachr == a\" >$control; } 2>/dev/null || echo refused
	cat $control; echo ===
	cat $control >again; cat again >$control && cat $control; echo ===
	cat /sys/kernel/debug/owner/caches' >'$work/out' 2>'$work/err'"
part() { awk -v n="$1" '/^===$/ { i++; next } i == n' "$work/out"; }
seen="$work/out $work/err"
ok "ready captures nothing" is "$(part 0)" "# no rules: nothing"
ok "rules are shown with their hits" \
	is "$(part 1 | sed 's/[0-9]* hits/N hits/')" "depth=4 if cache == kmalloc-64	# 1: N hits
track=off if cache == kmalloc-8	# 2: N hits
# otherwise: N hits"
ok "a wrong text changes nothing, and says why" \
	is "$(part 2 | sed 's/[0-9]* hits/N hits/')" "refused
depth=4 if cache == kmalloc-64	# 1: N hits
track=off if cache == kmalloc-8	# 2: N hits
# otherwise: N hits
# no field is called 'cachr': did you mean 'cache'?
#   depth=4 if cachr == a
#              ^~~~~"
ok "what is read can be written back" \
	is "$(part 3 | sed 's/[0-9]* hits/N hits/')" "depth=4 if cache == kmalloc-64	# 1: N hits
track=off if cache == kmalloc-8	# 2: N hits
# otherwise: N hits"
ok "what a rule is about is tracked" [ "$(part 4 | awk '$1 == "kmalloc-64" { print $3 }')" -gt 0 ]
ok "nothing else is" is "$(part 4 | awk '!/^#/ && $1 != "kmalloc-64" { n += $3 } END { print n }')" 0
finish
