#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Run the KUnit suites that are built into a kernel: kunit.sh KERNEL [WORD...], with
# the words on the boot line. Prints the kernel's own KTAP, and fails if the kernel
# complains of anything meanwhile.
set -u
cd "$(dirname "$0")/../../../.." || exit 1

kernel=${1:?usage: kunit.sh KERNEL [WORD...]}
shift
# User-mode Linux has one processor.
cpus="--smp 4"
[ "$kernel" != um ] || cpus=
console=$(mktemp)
trap 'rm -f "$console"' EXIT
# KFENCE would take an object in a hundred milliseconds out of the slab in which a
# test expects it.
# shellcheck disable=SC2086 # two words or none
tools/testing/owner/guest/guest.py run "$kernel" \
	--append "slab_owner=on,free=on kunit.enable=1 kfence.sample_interval=0 $*" \
	--timeout 900 --mem 1G $cpus --console "$console" \
	--cmd 'cat /sys/kernel/debug/kunit/*/results' || exit 1
if grep -E "BUG:|WARNING:|Oops|possible recursive|inconsistent lock" "$console"; then
	echo "not ok - the kernel complained, see above"
	exit 1
fi
