#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Run the KUnit suites of KASAN and SLUB while slab_owner tracks every object and the
# other users of the stack depot are on. Prints the kernel's own KTAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

cp "build/$kernel/lib/slub_kunit.ko" "build/$kernel/mm/kasan/kasan_test.ko" "$work" || exit 1
# Both suites provoke reports on purpose, so do not search the console for warnings.
# KFENCE would serve one allocation every 100 ms, and KASAN does not report on its objects.
tools/testing/owner/guest/guest.py run "$kernel" --timeout 900 --mem 1G --smp 4 --extra "$work" \
	--append "slab_owner=on page_owner=on kmemleak=on kunit.enable=1 kfence.sample_interval=0" --cmd '
	insmod /extra/slub_kunit.ko && insmod /extra/kasan_test.ko &&
	cat /sys/kernel/debug/kunit/slub_test/results /sys/kernel/debug/kunit/kasan/results'
