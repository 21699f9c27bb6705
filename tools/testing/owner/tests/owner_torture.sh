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

# Threads and timers have no program: their objects say so, where there are user chains.
user_rule=
if [ -z "$words" ] && grep -q '^CONFIG_SLAB_OWNER_USER=y' "build/$kernel/.config"; then
	user_rule="echo 'user=on if cache ~ torture*' >$debug/owner/control"
fi

# The clock of an x86_64 guest counts ticks, and loses those that come while the host runs
# something else: seconds of the guest can take ten times as long on the host. So there is no
# limit for the whole. The module prints a line every two seconds of the guest if an object was
# freed; two minutes of the host without a line are a hang. The console has the stacks of all
# tasks then.
run_torture_guest()
{
	# shellcheck disable=SC2086 # two words or none
	tools/testing/owner/guest/guest.py run "$kernel" --append "slab_owner=on $words" $cpus --mem 1G \
		--stall 120 --console "$work/console" \
		--extra "$modules" --cmd "
	$user_rule
	insmod /extra/owner_torture.ko &
	torture=\$!
	until grep -q torture/ /proc/[0-9]*/comm 2>/dev/null; do
		kill -0 \$torture || exit
	done
	read -r now _ </proc/uptime; end=\$((\${now%.*} + $seconds))
	# Inject faults into the torture threads only: this shell must be able to fork.
	if cd $debug/failslab 2>/dev/null; then
		echo 0 >verbose; echo -1 >times; echo N >ignore-gfp-wait; echo Y >task-filter
		for task in /proc/[0-9]*; do
			read -r name <\$task/comm || continue
			[ \"\${name#torture/}\" = \"\$name\" ] || echo 1 >\$task/make-it-fail
		done
		echo 3 >probability
	fi
	# Each read begins and ends while objects are allocated, however long it takes.
	while read -r began _ </proc/uptime; do
		grep -c '\\[owner_torture\\]' $debug/slab_owner >>/tmp/seen
		$find_reasons
		cat $debug/owner/caches >/dev/null 2>&1
		read -r ended _ </proc/uptime
		echo \$began \$ended >>/tmp/reads
		[ \${ended%.*} -lt \$end ] || break
		sleep 1
	done
	[ ! -e $debug/failslab ] || echo 0 >$debug/failslab/probability
	kill \$torture || exit
	wait \$torture
	# Wait until RCU and the delayed counters have freed their objects.
	sleep 6
	awk '{ seen += \$1 } END { print \"seen:\", seen }' /tmp/seen
	awk '{ s = \$2 - \$1; sum += s; if (s > longest) longest = s }
		END { print \"reads:\", NR, \"mean\", sum / NR, \"s, longest\", longest, \"s\" }' /tmp/reads
	[ ! -e /tmp/reasons ] || sed 's/^/user: /' /tmp/reasons
	echo left: \$(grep -c '\\[owner_torture\\]' $debug/slab_owner)
	rmmod owner_torture
	dmesg | grep -o 'torture: [0-9].*' | grep -v ' pairs in '
	$compare_counter
	cat $debug/owner/stats $debug/owner/caches" >"$work/out" 2>"$seen"
}

# For the guest's shell: collect the reasons why objects have no user chain. A timer has one
# object half of the time, and a query sees those of all CPUs at once, so ask it several times.
find_reasons=
[ -z "$user_rule" ] || find_reasons="
	exec 6<>$debug/owner/query
	for try in 1 2 3 4 5 6 7 8 9; do
		echo 'group=user.1 format=tsv if module == owner_torture' >&6
		cat <&6
	done | grep -o '([a-z-]*)' | cat - /tmp/reasons 2>/dev/null | sort -u >/tmp/reasons.new
	exec 6<&-
	mv /tmp/reasons.new /tmp/reasons
"

show_output_value() { awk -v name="$1:" '$1 == name { print $2 }' "$work/out"; }
ok "it runs for $seconds s" run_torture_guest
sed -n 's/^torture: /# /p; s/^reads: /# reads of slab_owner: /p' "$work/out"
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
if [ -n "$user_rule" ]; then
	ok "objects say why they have no user chain" equals "$(awk '$1 == "user:" { print $2 }' \
		"$work/out" | sort | tr '\n' ' ')" "(interrupt) (kernel-thread) "
fi
ok "what is counted is what is found" counter_agrees_with_walk
if [ "$recipe" = debug ]; then
	ok "records could not always be had" [ "$(show_output_value lost_no_records | tail -n 1)" -gt 100 ]
fi
finish_tests
