#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# KASAN's and SLUB's own KUnit suites, with every object tracked and everything
# that uses the stack depot on beside us: kunit_neighbours.sh KERNEL. Prints the
# kernel's own KTAP.
set -u
cd "$(dirname "$0")/../../../.." || exit 1

kernel=${1:?usage: kunit_neighbours.sh KERNEL}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "build/$kernel/lib/slub_kunit.ko" "build/$kernel/mm/kasan/kasan_test.ko" "$work" || exit 1
# Both provoke reports on purpose, so the console is no measure. KFENCE would take
# an allocation in a hundred milliseconds from under the test that made it, and
# KASAN has nothing to say about that one.
exec tools/testing/owner/guest/guest.py run "$kernel" --timeout 900 --mem 1G --smp 4 --extra "$work" \
	--append "slab_owner=on page_owner=on kmemleak=on kunit.enable=1 kfence.sample_interval=0" --cmd '
	insmod /extra/slub_kunit.ko && insmod /extra/kasan_test.ko &&
	cat /sys/kernel/debug/kunit/slub_test/results /sys/kernel/debug/kunit/kasan/results'
