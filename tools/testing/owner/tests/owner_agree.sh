#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Ask random sentences about planted objects, once of a guest's kernel and once of ownertop, which
# reads a dump of that kernel, and compare the answers. With "vmcore", ownertop also reads what
# drgn finds in a vmcore of the guest. Prints TAP.
usage='KERNEL SENTENCES [vmcore]'
. "$(dirname "$0")/prelude.sh"

agree=tools/testing/owner/tests/owner_agree.py
# Seconds between the first and the last planted object. Sentences ask for objects older
# than 22 s, and the first ones are answered before the last object reaches that age.
gap=24

way=run
output=
which=
if [ "${3:-}" = vmcore ]; then
	way=vmcore
	output="--output $work/core"
	which=records
fi

exit_with_output()
{
	head -n 20 "$work/err" "$work/out" 2>/dev/null | sed 's/^/# /'
	echo "Bail out! $1"
	exit 1
}

{
	build_ownertop &&
		build_sentence &&
		mkdir "$work/extra" && cp "$modules/owner_truth.ko" "$modules/owner_leak.ko" "$work/extra" &&
		$agree sentences "$2" $which >"$work/extra/sentences"
} >"$work/err" 2>&1 || exit_with_output "ownertop or the language does not build"
build/lang/sentence query <"$work/extra/sentences" >"$work/out" 2>"$work/err" ||
	exit_with_output "not all sentences are valid"

# Each command ends before the next starts, so that the number of processes is stable
# while objects are read.
# shellcheck disable=SC2016,SC2086 # for the guest's shell; two words or none
tools/testing/owner/guest/guest.py $way "$kernel" $output \
	--append "slab_owner=on kfence.sample_interval=0" \
	--mem 64M --timeout 900 --extra "$work/extra" --cmd '
	debug=/sys/kernel/debug
	ask() { exec 3<>$debug/owner/query; echo "$1" >&3 2>/dev/null; cat <&3; }
	insmod /extra/owner_truth.ko; sleep '$gap'; insmod /extra/owner_leak.ko requests=40; sleep 1
	ask "mode=stack_handle format=tsv if module == owner_truth,owner_leak"; echo ===
	cat $debug/slab_owner; echo ===
	print_uptime() { read -r now _ </proc/uptime; echo $now; }
	while IFS= read -r sentence; do print_uptime; ask "$sentence"; echo ===; done </extra/sentences
	print_uptime' >"$work/out" 2>"$work/err" || exit_with_output "the guest failed"

awk -v directory="$work/" 'BEGIN { split("objects records", name, " "); i = 1 }
	/^===$/ && i <= 2 { i++; next }
	{ print >(directory (i <= 2 ? name[i] : "answers")) }' "$work/out"
echo "# the guest took $(awk 'NR == 1 { from = $1 } END { print $1 - from }' "$work/answers") s to answer"
if [ -e "$work/core" ]; then
	run_drgn tools/mm/slab_owner.py --records >"$work/vmcore" 2>"$work/err" ||
		exit_with_output "drgn does not read the vmcore"
fi
$agree compare build/ownertop/ownertop "$work/extra/sentences" "$work/answers" \
	"$work/objects" "$work/records" ${output:+"$work/vmcore"}
