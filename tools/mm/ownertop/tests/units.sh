#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test the systemd units with systemd-analyze. Skip it without that program.
#
# usage: units.sh OWNERTOP
set -eu

ownertop=$1
units=$(dirname "$(readlink -f "$0")")/../systemd
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! command -v systemd-analyze > /dev/null; then
	echo "no systemd-analyze (package systemd)"
	exit 77
fi
cp "$units"/*.timer "$work"
for unit in "$units"/*.service.in; do
	sed "s,@bindir@,$(dirname "$ownertop"),g" "$unit" > "$work/$(basename "$unit" .in)"
done
# systemd-analyze exits with status 0 after some errors, but prints them.
systemd-analyze verify --man=no "$work"/*.service "$work"/*.timer 2>&1 | tee "$work/messages"
[ ! -s "$work/messages" ]
# The commands of the units are valid.
while read -r words; do
	# shellcheck disable=SC2086 # a list of words
	$words --help > /dev/null
done < <(sed -n 's/^ExecStart=//p' "$work"/*.service)
