#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Allocate and free objects in every way at once while the files are read, with fault
# injection where the kernel has it. Afterwards no record and no handle may be left. The
# words are added to the kernel's command line. Prints TAP.
usage='KERNEL SECONDS [WORD...]'
. "$(dirname "$0")/prelude.sh"

seconds=$2
shift 2
words=$*
seen=$work/seen

# Beside other load, a guest loses ticks: its seconds are longer than the host's.
run_torture_guest()
{
	# shellcheck disable=SC2086 # two words or none
	tools/testing/owner/guest/guest.py run "$kernel" --append "slab_owner=on $words" $cpus --mem 1G \
		--timeout $((3 * seconds + 300)) --console "$work/console" \
		--extra "$modules" --cmd "
	insmod /extra/owner_torture.ko seconds=$seconds &
	torture=\$!
	sleep 1
	# Inject faults into the torture threads only: this shell must be able to fork.
	if cd $debug/failslab 2>/dev/null; then
		echo 0 >verbose; echo -1 >times; echo N >ignore-gfp-wait; echo Y >task-filter
		for task in /proc/[0-9]*; do
			read -r name <\$task/comm || continue
			[ \"\${name#torture/}\" = \"\$name\" ] || echo 1 >\$task/make-it-fail
		done
		echo 3 >probability
	fi
	while kill -0 \$torture 2>/dev/null; do
		grep -c '\\[owner_torture\\]' $debug/slab_owner >>/tmp/seen
		cat $debug/owner/caches >/dev/null 2>&1
		sleep 1
	done
	[ ! -e $debug/failslab ] || echo 0 >$debug/failslab/probability
	wait \$torture || exit
	# Wait until RCU and the delayed counters have freed their objects.
	sleep 6
	awk '{ seen += \$1 } END { print \"seen:\", seen }' /tmp/seen
	echo left: \$(grep -c '\\[owner_torture\\]' $debug/slab_owner)
	rmmod owner_torture
	dmesg | grep -o 'torture: [0-9].*'
	cat $debug/owner/stats $debug/owner/caches $debug/owner/stats" >"$work/out" 2>"$seen"
}

show_output_value() { awk -v name="$1:" '$1 == name { print $2 }' "$work/out"; }
# Compare the counter of tracked objects, read before and after a walk, with the number
# of records that the walk finds. The walk's own table grows meanwhile, and RCU frees
# objects.
counter_agrees_with_walk()
{
	walked=$(awk 'NF == 6 && $1 !~ /#/ { n += $3 } END { print n }' "$work/out")
	caches=$(awk 'NF == 6 && $1 !~ /#/' "$work/out" | wc -l)
	counted=$(show_output_value tracked | sort -n)
	least=${counted%%[!0-9]*}
	most=${counted##*[!0-9]}
	echo "counted $least to $most, found $walked in $caches caches" >"$seen"
	[ "$walked" -gt 1000 ] && [ "$walked" -ge $((least - 50)) ] &&
		[ "$walked" -le $((most + caches * 6)) ]
}

ok "it runs for $seconds s" run_torture_guest
sed -n 's/^torture: /# /p' "$work/out"
grep -E '^(lost|degraded)' "$work/out" | sort -u | sed 's/^/# /'
ok "its chains own objects" [ "$(show_output_value seen)" -gt 0 ]
ok "no chain of it owns anything at the end" equals "$(show_output_value left)" 0
ok "its caches have gone" equals "$(grep -c '^torture[_a-z]* ' "$work/out")" 0
ok "the depot has its chains" [ "$(sed -n 's/^torture: \(.*\) chains in use$/\1/p' "$work/out")" -gt 100 ]
# A lost reference keeps a chain or a task in the depot.
# With free=on a freed object's record keeps handles until the object is allocated again.
case $words in
*free=on*)
	skip_test "no handle is left" "free=on keeps some, which no file shows" ;;
*)
	ok "no handle is left" equals "$(show_torture_left)" "0 chains and 0 tasks" ;;
esac
ok "what is counted is what is found" counter_agrees_with_walk
if [ "$kernel" = debug ]; then
	ok "records could not always be had" [ "$(show_output_value lost_no_records | tail -n 1)" -gt 100 ]
fi
finish_tests
