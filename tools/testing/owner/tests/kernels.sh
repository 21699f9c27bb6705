#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Each kernel builds: kernels.sh KERNEL... Prints TAP, and progress between.
set -u
cd "$(dirname "$0")/../../../.." || exit 1
. tools/testing/owner/tests/prelude.sh

# All at once, so that one's link fills the time of another's compilation.
tools/testing/owner/kernels/kernels.py "$@" 2>&1 | sed -u 's/^/# progress: /'
for kernel in "$@"; do
	# Before the next line, which builds nothing more and writes the log anew.
	ok "$kernel: no warning about our files" lacks "build/$kernel.log" \
		"(mm/owner/|lib/stackdepot|owner_leak).*(warning:|WARNING:)|(warning:|WARNING:).*owner_leak"
	ok "$kernel builds" tools/testing/owner/kernels/kernels.py "$kernel"
done
finish
