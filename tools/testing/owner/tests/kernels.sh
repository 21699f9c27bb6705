#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Build kernels and look for warnings about our files. Prints TAP, and progress lines in
# between.
usage='KERNEL...'
. "$(dirname "$0")/prelude.sh"

# Build all in one run: one kernel compiles while another links.
tools/testing/owner/kernels/kernels.py "$@" 2>&1 | tee "$work/progress" | sed -u 's/^/# progress: /'
seen=$work/errors
sed -n '/^error:/,$p' "$work/progress" >"$seen"
for kernel in "$@"; do
	ok "$kernel builds" file_has "$work/progress" "^$kernel: built in"
	ok "$kernel: no warning about our files" file_lacks "build/$kernel.log" \
		"(mm/owner/|lib/stackdepot|owner_leak).*(warning:|WARNING:)|(warning:|WARNING:).*owner_leak"
done
finish_tests
