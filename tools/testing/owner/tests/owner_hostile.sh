#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A program uses our files in debugfs as no program should, while objects are allocated and freed.
# Before and after, what modules plant is shown exactly; no rule is half applied, and nothing is
# left of answers and rules. A WORD with "=" is added to the kernel's command line. Another is a
# fault injection of the kernel, such as failslab: 10% of what the program attempts fails then,
# and system calls fail as often as without slab_owner. Prints TAP.
usage='KERNEL SECONDS [WORD...]'
. "$(dirname "$0")/prelude.sh"

seconds=$2
shift 2
fault=
# KFENCE serves objects in its own form.
words=kfence.sample_interval=0
for word; do
	case $word in
	*=*) words="$words $word" ;;
	*) fault=$word ;;
	esac
done
pages=
case " $words " in *' page_owner=on '*) pages=y ;; esac
# kmemleak ends when it has no memory of its own, and takes pages while owner_pages plants some.
[ -n "$fault$pages" ] || [ "$recipe" != debug ] || words="$words kmemleak=on"
seed=${SEED:-$(date +%s)}

# The documentation's sentences, and what the fuzzer of the language has found. A line of the corpus
# begins with the dialect.
# shellcheck disable=SC2016 # a pattern
list_sentences()
{
	sed -n 's/^\t//p; s/.*``\([^`]*\)``.*/\1/p' Documentation/mm/*owner*.rst |
		grep -E '^([a-z]+=|if |mark|clear|del )'
	sed 's/^.//' tools/testing/owner/lang/corpus
	sed -n 's/^"\(.*\)"$/\1/p' tools/testing/owner/lang/words.dict
}

pack_guest_files()
{
	mkdir "$work/extra" && list_sentences >"$work/extra/sentences" &&
		for program in fuzz_files try_calls; do
			gcc -O2 -Wall -Wextra -static -pthread -o "$work/extra/$program" \
				"tools/testing/owner/hostile/$program.c" || return
		done &&
		cp "$modules/owner_truth.ko" "$modules/owner_pages.ko" "$modules/owner_torture.ko" \
			"$work/extra"
} >"$work/out" 2>"$work/err"

# shellcheck disable=SC2016 # for the guest's shell
guest_functions='
	cd /sys/kernel/debug
	times=2000000000
	# inject PERCENT: only into tasks that ask for it. Memory that may wait fails, too, and single
	# pages.
	inject()
	{
		[ -n "$fault" ] || return 0
		cd $fault && echo 0 >verbose && echo Y >task-filter && echo $times >times || exit
		[ ! -e ignore-gfp-wait ] || echo N >ignore-gfp-wait
		[ ! -e min-order ] || echo 0 >min-order
		echo $1 >probability
		cd ..
	}
	show_injected() { [ -z "$fault" ] || echo injected $((times - $(cat $fault/times))); }
	show_slabs() { cat owner_truth; echo ===; cat slab_owner; echo ===; }
	show_pages() { cat owner_pages; echo ===; cat page_owner; echo ===; }
	# Objects of open files, answers and rules, but for those of this question: the files call
	# through these functions. debugfs and vmalloc() keep objects of their own, and the first rules
	# of a kind make buffers that stay.
	show_own()
	{
		for rule in "free=on if func == a" "user=on if pid == 1" clear; do
			echo $rule >owner/control
		done 2>/dev/null
		# RCU, workqueues and the delayed counters free memory a while later.
		sleep 6
		exec 6<>owner/query
		echo "group=stack.full if func ~ full_proxy_* && !(func == debugfs_file_get,alloc_vmap_area) && age > 2s" >&6
		cat <&6; exec 6<&-
	}
'

run_hostile_guest()
{
	# shellcheck disable=SC2086 # words or none
	tools/testing/owner/guest/guest.py run "$kernel" --append "slab_owner=on $words" $cpus \
		--mem 1G --stall 900 --extra "$work/extra" --console "$work/console" --cmd "
	fault=$fault; $guest_functions
	# The first and the last: no other module gets the addresses of its text.
	insmod /extra/owner_torture.ko 2>/dev/null &
	torture=\$!
	until threads=\$(grep -l ^torture/ /proc/[0-9]*/comm 2>/dev/null); do
		kill -0 \$torture || exit
	done
	renice -n 10 -p \$(echo \$threads | tr ' ' '\n' | cut -d/ -f3)
	insmod /extra/owner_truth.ko && show_slabs
	[ -z '$pages' ] || { insmod /extra/owner_pages.ko && show_pages; }
	show_own; echo ===
	inject 10
	/extra/fuzz_files $seconds $seed /extra/sentences; echo status \$?
	show_injected; inject 0
	cat owner/control; echo ===
	for file in *_owner_stacks/count_threshold; do echo 0 >\$file; done
	show_own; echo ===
	show_slabs
	[ -z '$pages' ] || show_pages
	rmmod owner_truth; insmod /extra/owner_truth.ko; show_slabs
	kill \$torture; wait \$torture
	sleep 6
	# The counters, which the records do not correct, of chains whose objects are all freed
	echo held \$(grep -c '\[owner_torture\]' slab_owner_stacks/show_stacks)
	rmmod owner_torture
	dmesg | grep 'torture: [0-9]' | grep -v ' pairs in '
	if [ -e kmemleak ]; then
		# A pointer can be in a register the first time.
		echo scan >kmemleak; sleep 6; echo scan >kmemleak; cat kmemleak
	fi
	$compare_counter
	cat owner/stats" >"$work/out" 2>"$work/err"
}

slabs_are_exact()
{
	tools/testing/owner/tests/check_truth.py "$work/truth.$1" records "$work/records.$1" \
		>"$seen" 2>&1
}
pages_are_exact()
{
	tools/testing/owner/tests/check_pages.py truth "$work/pages.$1" "$work/page_records.$1" \
		>"$seen" 2>&1
}
show_number() { sed -n "s/^$1:* \([0-9]*\)$/\1/p" "$work/out" | tail -n 1; }

ok "is packed" pack_guest_files
echo "# seed $seed"
ok "runs for $seconds s" run_hostile_guest
# list_parts MOMENT: the files of what the guest shows then
list_parts()
{
	echo "truth.$1 records.$1"
	[ -z "$pages" ] || echo "pages.$1 page_records.$1"
}
# shellcheck disable=SC2046 # a list of words
split_output $(list_parts before) own.before fuzz own.after $(list_parts after) truth.anew records.anew end
sed 's/^/# /' "$work/fuzz"
grep -E '^(lost|degraded)' "$work/end" | sed 's/^/# /'
seen=$work/differences
for moment in before after anew; do
	ok "objects that are planted are shown exactly: $moment" slabs_are_exact $moment
done
for moment in ${pages:+before after}; do
	ok "... and pages: $moment" pages_are_exact "$moment"
done
done_well='^(accepted|refused|reads|signals|killed|checked|rewritten) [1-9]'
ok "everything was done" equals "$(grep -cE "$done_well" "$work/fuzz")" 7
ok "no rule is half applied" equals "$(show_number status) $(show_number wrong)" "0 0"
# Pages that were freed keep the chains by which they were allocated, and what an interrupt
# allocates keeps the task that it interrupted.
[ -n "$pages" ] || ok "no chain is left" equals "$(show_torture_left | cut -d ' ' -f 1)" 0
# Before records can be allocated, objects have none. Faults let others go without.
[ -n "$fault" ] || ok "no object was lost but early ones" equals \
	"$(grep '^lost' "$work/end" | grep -v lost_early | grep -vc ': 0$')" 0
count_own() { sed -n 's/^objects \(.*\), waste.*/\1/p' "$work/own.$1" | sort; }
ok "no object is left" equals "$(count_own after)" "$(count_own before)"
ok "no chain counts objects that are freed" equals "$(show_number held)" 0
ok "what is counted is what is found" counter_agrees_with_walk
[ -n "$fault" ] || finish_tests

# run_calls_guest on|off
run_calls_guest()
{
	# shellcheck disable=SC2086 # words or none
	run_guest "$words slab_owner=$1" "fault=$fault; $guest_functions
		inject 10; /extra/try_calls $calls; show_injected" $cpus --extra "$work/extra" &&
		cp "$work/out" "$work/calls.$1"
}
# No error of a call comes more often than without owners, by six standard deviations.
calls_fail_alike()
{
	awk 'NF != 3 { next }
		FNR == NR { off[$1 " " $2] = $3; all[$1 " " $2]; next }
		{ on[$1 " " $2] = $3; all[$1 " " $2] }
		END { for (result in all) {
				spread = 6 * sqrt(on[result] + off[result]) + 5
				alike = on[result] <= off[result] + spread
				printf "# %s: without owners %d times, with owners %d%s\n", result,
					off[result], on[result], alike ? "" : ": not alike"
				bad += !alike
			}
			exit bad || !length(all) }' "$work/calls.off" "$work/calls.on"
}
calls=5000
seen="$work/out $work/guest.err"
ok "faults were injected" [ "$(grep -cE '^injected [1-9]' "$work/fuzz")" = 1 ]
for owners in off on; do
	ok "calls are tried with slab_owner=$owners" run_calls_guest $owners
done
ok "owners let no call fail" calls_fail_alike
finish_tests
