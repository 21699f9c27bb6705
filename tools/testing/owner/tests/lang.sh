#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Check the language, compiled for user space, against its documentation. Prints TAP.
. "$(dirname "$0")/prelude.sh"

build_sentence || exit 1
tools/testing/owner/tests/lang.py build/lang/sentence
