#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Run the KUnit suites that are built into a kernel. The words are added to its command
# line. Prints the kernel's own KTAP, and fails if the kernel prints a warning.
usage='KERNEL [WORD...]'
. "$(dirname "$0")/prelude.sh"

shift
# KFENCE would move one allocation every 100 ms out of the slab in which a test expects
# it.
# shellcheck disable=SC2086 # two words or none
tools/testing/owner/guest/guest.py run "$kernel" \
	--append "slab_owner=on,free=on kunit.enable=1 kfence.sample_interval=0 $*" \
	--timeout 900 --mem 1G $cpus --console "$work/console" \
	--cmd 'cat /sys/kernel/debug/kunit/*/results' || exit 1
if grep -E "BUG:|WARNING:|Oops|possible recursive|inconsistent lock" "$work/console"; then
	echo "not ok - the kernel complained, see above"
	exit 1
fi
