#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# 1,000 random sentences about planted objects, asked of a guest's kernel and of
# ownertop, which has a dump of the same: owner_agree.sh KERNEL. Prints TAP.
set -u
cd "$(dirname "$0")/../../../.." || exit 1

kernel=${1:?usage: owner_agree.sh KERNEL}
agree=tools/testing/owner/tests/owner_agree.py
modules=build/$kernel/owner-modules
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Seconds between what is planted first and last. Sentences ask who is older than
# 22 s; those are answered before the last is as old.
gap=24

bail()
{
	head -n 20 "$work/said" "$work/out" 2>/dev/null | sed 's/^/# /'
	echo "Bail out! $1"
	exit 1
}

{
	make -s -C tools/mm/ownertop O="$PWD/build/ownertop" &&
		make -s -C tools/testing/owner/lang O="$PWD/build/lang" &&
		mkdir "$work/extra" && cp "$modules/owner_truth.ko" "$modules/owner_leak.ko" "$work/extra" &&
		$agree sentences 1000 >"$work/extra/sentences"
} >"$work/said" 2>&1 || bail "ownertop or the language does not build"
build/lang/sentence query <"$work/extra/sentences" >"$work/out" 2>"$work/said" ||
	bail "not all sentences are valid"

# One after the other, so that no process comes or goes while objects are read.
# shellcheck disable=SC2016 # for the guest's shell
tools/testing/owner/guest/guest.py run "$kernel" --append "slab_owner=on kfence.sample_interval=0" \
	--mem 64M --timeout 300 --extra "$work/extra" --cmd '
	debug=/sys/kernel/debug
	ask() { exec 3<>$debug/owner/query; echo "$1" >&3; cat <&3; }
	insmod /extra/owner_truth.ko; sleep '$gap'; insmod /extra/owner_leak.ko requests=40; sleep 1
	cut -d " " -f 1 /proc/uptime; echo ===
	ask "mode=stack_handle format=tsv if module == owner_truth,owner_leak"; echo ===
	cat $debug/slab_owner; echo ===
	while IFS= read -r sentence; do ask "$sentence"; echo ===; done </extra/sentences
	cut -d " " -f 1 /proc/uptime' >"$work/out" 2>"$work/said" || bail "the guest failed"

awk -v place="$work/" 'BEGIN { split("now objects records", name, " "); i = 1 }
	/^===$/ && i <= 3 { i++; next }
	{ print >(place (i <= 3 ? name[i] : "answers")) }' "$work/out"
echo "# the guest took $(awk -v from="$(cat "$work/now")" 'END { print $1 - from }' "$work/answers") s to answer"
$agree compare build/ownertop/ownertop "$work/extra/sentences" "$work/answers" \
	"$work/objects" "$work/records" "$(cat "$work/now")"
