#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run two_threads.py under ThreadSanitizer, whose messages would make files differ from pipes.
# Takes several minutes.
#
# O=DIR: directory to build in; the default is build/ beside the sources.
set -eu

here=$(dirname "$(readlink -f "$0")")
build=${O:-$here/../build}/races
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

status=0
make -s -C "$here/.." O="$build" SANITIZE=thread
if "$here/two_threads.py" "$build/ownertop" "$work" > "$work/messages"; then
	echo "ok 1 - two threads race for nothing"
else
	echo "not ok 1 - two threads race for nothing"
	sed 's/^/# /' "$work/messages"
	status=1
fi
echo 1..1
exit $status
