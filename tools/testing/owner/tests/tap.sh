# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What the shell tests share: sourced, not run. A test's name is said once, and
# what it saw is shown when it fails.

number=0
failed=0

# ok NAME COMMAND...: the command's success is the test's; $seen is shown otherwise
ok()
{
	name=$1
	shift
	number=$((number + 1))
	if "$@"; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		echo "# failed: $*"
		[ -z "${seen:-}" ] || head -c 4000 "$seen" | sed 's/^/# /'
		failed=1
	fi
}

# skip NAME WHY
skip()
{
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

# The plan comes last, so that a script that ends early has none.
finish()
{
	echo "1..$number"
	exit "$failed"
}

is() { [ "$1" = "$2" ] || { echo "# expected '$2', got '$1'"; return 1; }; }
has() { grep -qE -e "$2" "$1"; }
lacks() { [ -f "$1" ] && ! grep -E -e "$2" "$1" | sed 's/^/# found: /' | grep .; }
