#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Objects come and go by every way at once, with allocations that fail where the
# kernel can make them, while the files are read; then nothing of it is left:
# owner_torture.sh KERNEL SECONDS [WORD...], with the words on the boot line.
# Prints TAP.
set -u
cd "$(dirname "$0")/../../../.." || exit 1
. tools/testing/owner/tests/prelude.sh

kernel=${1:?usage: owner_torture.sh KERNEL SECONDS [WORD...]}
seconds=${2:?usage: owner_torture.sh KERNEL SECONDS [WORD...]}
shift 2
words=$*
debug=/sys/kernel/debug
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seen=$work/seen
# User-mode Linux has one processor.
cpus="--smp 4"
[ "$kernel" != um ] || cpus=

tortures()
{
	# shellcheck disable=SC2086 # two words or none
	tools/testing/owner/guest/guest.py run "$kernel" --append "slab_owner=on $words" $cpus --mem 1G \
		--timeout $((seconds + 300)) --console "$work/console" \
		--extra "build/$kernel/owner-modules" --cmd "
	$unexplained
	insmod /extra/owner_torture.ko seconds=$seconds &
	torture=\$!
	sleep 1
	# For the torturers only: this shell could not even fork.
	if cd $debug/failslab 2>/dev/null; then
		echo 0 >verbose; echo -1 >times; echo N >ignore-gfp-wait; echo Y >task-filter
		for task in /proc/[0-9]*; do
			read -r name <\$task/comm || continue
			[ \"\${name#torture/}\" = \"\$name\" ] || echo 1 >\$task/make-it-fail
		done
		echo 3 >probability
	fi
	while kill -0 \$torture 2>/dev/null; do
		cat $debug/slab_owner $debug/owner/caches >/dev/null 2>&1
		sleep 1
	done
	[ ! -e $debug/failslab ] || echo 0 >$debug/failslab/probability
	wait \$torture || exit
	dmesg | grep -o 'torture: [0-9].*'
	# What waits for a grace period, or for who counts it, goes.
	rmmod owner_torture; sleep 6
	$unexplained
	cat $debug/owner/stats $debug/owner/caches $debug/owner/stats
	echo left: \$(grep -c '\\[owner_torture\\]' $debug/slab_owner)" >"$work/out" 2>"$seen"
}

value() { awk -v name="$1:" '$1 == name { print $2 }' "$work/out"; }
before() { value unexplained | head -n 1; }
after() { value unexplained | tail -n 1; }
# Owners as counted one by one, before and after a walk finds them. The walk makes its
# table meanwhile, and what has been given to RCU goes.
agree()
{
	walked=$(awk 'NF == 6 && $1 !~ /#/ { n += $3 } END { print n }' "$work/out")
	caches=$(awk 'NF == 6 && $1 !~ /#/' "$work/out" | wc -l)
	counted=$(value tracked | sort -n)
	least=${counted%%[!0-9]*}
	most=${counted##*[!0-9]}
	echo "counted $least to $most, found $walked in $caches caches" >"$seen"
	[ "$walked" -gt 1000 ] && [ "$walked" -ge $((least - 50)) ] &&
		[ "$walked" -le $((most + caches * 6)) ]
}

ok "it runs for $seconds s" tortures
sed -n 's/^torture: /# /p' "$work/out"
grep -E '^(lost|degraded)' "$work/out" | sort -u | sed 's/^/# /'
ok "no chain of it owns anything" is "$(value left)" 0
ok "its caches have gone" is "$(grep -c '^torture[_a-z]* ' "$work/out")" 0
echo "# handles that no record explains: $(before) before, $(after) after"
# Who freed an object last has handles as well.
case $words in
*free=on*)
	skip "no handle is left" "free=on keeps some, which no file shows" ;;
*)
	ok "no handle is left" [ "$(after)" -le $(($(before) + 5)) ] ;;
esac
ok "what is counted is what is found" agree
if [ "$kernel" = debug ]; then
	ok "records could not always be had" [ "$(value lost_no_records | tail -n 1)" -gt 100 ]
fi
ok "the kernel complained of nothing" \
	lacks "$work/console" "BUG:|WARNING:|Oops|Call Trace|possible recursive|inconsistent lock"
finish
