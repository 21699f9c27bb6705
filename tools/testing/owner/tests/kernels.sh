#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Build kernels and look for warnings about our files. Prints TAP, and progress lines in
# between.
usage='KERNEL...'
. "$(dirname "$0")/prelude.sh"

# Build all in one run: one kernel compiles while another links.
tools/testing/owner/kernels/kernels.py "$@" 2>&1 | sed -u 's/^/# progress: /'
for kernel in "$@"; do
	# Read the log first: the next build finds nothing to do and overwrites it.
	ok "$kernel: no warning about our files" file_lacks "build/$kernel.log" \
		"(mm/owner/|lib/stackdepot|owner_leak).*(warning:|WARNING:)|(warning:|WARNING:).*owner_leak"
	ok "$kernel builds" tools/testing/owner/kernels/kernels.py "$kernel"
done
finish_tests
