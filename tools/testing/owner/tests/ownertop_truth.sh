#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A module holds a known number of objects at three moments. ownertop must show exactly
# those from dumps of a kernel file, alone and compared. FILE is slab_owner, alloc_traces
# (of slab_debug=U) or allocinfo (of a kernel with allocation profiling). Prints TAP.
usage='KERNEL FILE'
. "$(dirname "$0")/prelude.sh"

file=$2
ownertop=build/ownertop/ownertop
seen=$work/seen

# For the guest's shell: copy the sizes, or the alloc_traces file, of each cache that a
# truth names to the place where ownertop looks for them.
# shellcheck disable=SC2016
functions='
	copy() { mkdir -p $2/${1%/*}; cat /sys/$1 >$2/$1; }
	caches() { cut -d " " -f 1 $1/truth | grep -v percpu | sort -u; }
	copy_sizes() {
		for cache in $(caches $1); do
			copy kernel/slab/$cache/object_size $1
			copy kernel/slab/$cache/slab_size $1
		done; }
	copy_traces() {
		for cache in $(caches $1); do
			copy kernel/debug/slab/$cache/alloc_traces $1
		done; }'
case $file in
slab_owner)
	append=slab_owner=on
	# shellcheck disable=SC2016
	copy='cat /sys/kernel/debug/slab_owner >$moment/slab_owner'
	;;
alloc_traces)
	append=slab_debug=U
	# shellcheck disable=SC2016
	copy='copy_traces $moment'
	;;
allocinfo)
	append=sysctl.vm.mem_profiling=1
	# shellcheck disable=SC2016
	copy='cat /proc/allocinfo >$moment/allocinfo'
	;;
*)
	echo "$0: $file: not slab_owner, alloc_traces or allocinfo" >&2
	exit 2
	;;
esac

# take_dumps CMD: run CMD in a guest and copy the files that it creates in its directory to
# $work
take_dumps()
{
	# shellcheck disable=SC2086 # two words or none
	tools/testing/owner/guest/guest.py run "$kernel" --append "$append" $cpus --timeout 900 \
		--extra "$modules" --cmd "set -e
			$functions
			mkdir /tmp/dumps; cd /tmp/dumps
			$1
			tar -c ." >"$work/dumps.tar" 2>"$seen" &&
		tar -x -C "$work" -f "$work/dumps.tar" 2>"$seen"
}

views_are_exact()
{
	tools/testing/owner/tests/check_growth.py "$ownertop" "$file" "$work" "$@" >"$seen" 2>&1
}

# Check objects planted by every allocation function. SLUB's traces do not know per-CPU
# areas. They attribute an object resized in place to its first allocation, and lose the
# requested size.
check_all_alloc_functions()
{
	sed -e '/^percpu /d' -e 's/ truth_shrink 24 .*/ truth_kmalloc;truth_shrink 24 24576/' \
		"$work/all/truth" >"$work/truth"
	"$ownertop" --json --no-skip -d 0 -n 0 -g stack,cache \
		"$work"/all/kernel/debug/slab/*/alloc_traces >"$work/report" 2>"$seen" &&
		tools/testing/owner/tests/check_truth.py "$work/truth" report "$work/report" >"$seen" 2>&1
}

ok "ownertop builds" build_ownertop
ok "plants, and is dumped at each moment" take_dumps "insmod /extra/owner_growth.ko
	for moment in 0 1 2; do
		echo \$moment >/sys/kernel/debug/owner_growth
		mkdir \$moment
		cat /sys/kernel/debug/owner_growth >\$moment/truth
		copy_sizes \$moment
		$copy
	done"
ok "something is planted and changes" equals "$(wc -l <"$work/0/truth") $(cmp -s "$work/0/truth" \
	"$work/1/truth" && echo alike)" "6 "
ok "each view of $file is exact, and what grew, too" \
	views_are_exact tools/testing/owner/modules/owner_growth.c
if [ "$file" = alloc_traces ]; then
	ok "plants in all ways" take_dumps "insmod /extra/owner_truth.ko; mkdir all
		cat /sys/kernel/debug/owner_truth >all/truth
		copy_sizes all; copy_traces all"
	ok "each way is exact" check_all_alloc_functions
fi
finish_tests
