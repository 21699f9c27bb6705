#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The language as userspace compiles it, against its documentation. Prints TAP.
set -u
cd "$(dirname "$0")/../../../.." || exit 1

make -s -C tools/testing/owner/lang O="$PWD/build/lang" || exit 1
exec tools/testing/owner/tests/lang.py build/lang/sentence
