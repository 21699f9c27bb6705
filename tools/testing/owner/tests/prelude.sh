# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What the shell tests share: sourced, not run. A test's name is said once, and
# what it saw is shown when it fails.

number=0
failed=0

# ok NAME COMMAND...: the command's success is the test's; the files that $seen
# names are shown otherwise. $label, if set, stands before each name.
ok()
{
	name=${label:+$label: }$1
	shift
	number=$((number + 1))
	if "$@"; then
		echo "ok $number - $name"
		return
	fi
	echo "not ok $number - $name"
	failed=1
	echo "# failed: $*"
	for file in ${seen:-}; do
		[ ! -e "$file" ] || head -n 60 "$file" | cut -c 1-300 | sed "s/^/# ${file##*/}: /"
	done
}

# skip NAME WHY
skip()
{
	number=$((number + 1))
	echo "ok $number - ${label:+$label: }$1 # SKIP $2"
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

# For the guest's shell: handles that nobody's record explains, which is all that the
# depot's evictable side has in use, less the chains and the tasks of what is owned.
# Reading owner/stats has CPUs give back what they keep ready. The files are read one
# after another: what goes or comes meanwhile is in some of them only, and they are read
# again.
# shellcheck disable=SC2016,SC2034 # for the guest's shell, and for who sources this
unexplained='
	cd /sys/kernel/debug
	for again in 1 2 3 4 5 6 7 8 9 10; do
		awk "
			/^refcounted_in_use/ { before = in_use; in_use = \$2 }
			/^handle:/ { chains++ }
			match(\$0, /pid [0-9]+, tgid [0-9]+ .*\), ts/) {
				tasks += !seen[substr(\$0, RSTART, RLENGTH)]++ }
			END { print \"unexplained:\", in_use - chains - tasks
				exit before != in_use }" \
			owner/stats stackdepot/stats slab_owner slab_owner_stacks/show_handles \
			owner/stats stackdepot/stats >/unexplained && break
		sleep 1
	done
	cat /unexplained
	cd /'
