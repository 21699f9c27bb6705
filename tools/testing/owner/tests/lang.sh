#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Check the language, compiled for user space, against its documentation. Prints TAP.
. "$(dirname "$0")/prelude.sh"

make -s -C tools/testing/owner/lang O="$PWD/build/lang" || exit 1
tools/testing/owner/tests/lang.py build/lang/sentence
