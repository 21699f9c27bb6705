#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What is said of rules on the boot line: rules_boot.sh KERNEL. Prints TAP.
set -u
cd "$(dirname "$0")/../../../.." || exit 1
. tools/testing/owner/tests/tap.sh

kernel=${1:?usage: rules_boot.sh KERNEL}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seen=$work/console

# boot RULES
boot()
{
	tools/testing/owner/guest.py run "$kernel" --append "slab_owner=on owner=\"$1\"" \
		--console "$work/console" --cmd true >/dev/null 2>"$work/err"
}

ok "boots with rules" boot "sample=1M; depth=1 if size < 64; depth=8 if comm != 'my prog'"
ok "of which nothing is to be said" lacks "$work/console" "slab_owner: owner="
ok "boots with a wrong rule" boot "sample=1M; depth=1 if sizee < 64"
ok "of which is said what is wrong" \
	has "$work/console" "owner= .* no effect: no field is called 'sizee': did you mean 'size'"
ok "and where" has "$work/console" "^ {13}\^~~~~"
finish
