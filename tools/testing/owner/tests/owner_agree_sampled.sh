#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Ask sentences about planted objects that were sampled, once of a guest's kernel and once
# of ownertop, which reads that kernel's records, and compare the estimates. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

agree=tools/testing/owner/tests/owner_agree_sampled.py
# Sample by objects and by bytes at rates far from 1, and track one part completely.
rules="sample=2K if size < 1000; sample=1/4 if size >= 1000; sample=all if size == 40,180"

exit_with_output()
{
	head -n 20 "$work/err" "$work/out" 2>/dev/null | sed 's/^/# /'
	echo "Bail out! $1"
	exit 1
}

build_ownertop >"$work/err" 2>&1 ||
	exit_with_output "ownertop does not build"
{
	mkdir "$work/extra" && cp "$modules/owner_truth.ko" "$modules/owner_leak.ko" "$work/extra" &&
		$agree sentences >"$work/extra/sentences"
} >"$work/err" 2>&1 || exit_with_output "there is nothing to ask"

# shellcheck disable=SC2016 # for the guest's shell
tools/testing/owner/guest/guest.py run "$kernel" \
	--append "slab_owner=on kfence.sample_interval=0 owner=\"$rules\"" \
	--mem 64M --timeout 900 --extra "$work/extra" --cmd '
	debug=/sys/kernel/debug
	ask() { exec 3<>$debug/owner/query; echo "$1" >&3 2>/dev/null; cat <&3; }
	insmod /extra/owner_truth.ko; insmod /extra/owner_leak.ko requests=400; sleep 1
	cat $debug/slab_owner; echo ===
	while IFS= read -r sentence; do ask "$sentence"; echo ===; done </extra/sentences' \
	>"$work/out" 2>"$work/err" || exit_with_output "the guest failed"

awk -v directory="$work/" 'BEGIN { name = "records" }
	/^===$/ && name == "records" { name = "answers"; next }
	{ print >(directory name) }' "$work/out"
$agree compare build/ownertop/ownertop "$work/extra/sentences" "$work/answers" "$work/records"
