#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Questions to /sys/kernel/debug/owner/query about what a module is known to hold:
# owner_query.sh KERNEL [OBJECTS], of which that many stay while others come and go.
# Prints TAP.
set -u
cd "$(dirname "$0")/../../../.." || exit 1
. tools/testing/owner/tests/prelude.sh

kernel=${1:?usage: owner_query.sh KERNEL [OBJECTS]}
objects=${2:-100000}
check=tools/testing/owner/tests/check_truth.py
text=Documentation/mm/slab_owner_language.rst
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seen=$work/seen
# User-mode Linux has one processor.
cpus="--smp 4"
[ "$kernel" != um ] || cpus=

# In the guest: the answer to a sentence, or what is wrong with it. cat reads what
# fits into a page at a time; with a number, so many bytes are read at once.
# shellcheck disable=SC2016 # for the guest's shell
ask='query=/sys/kernel/debug/owner/query
	ask() {
		(exec 3<>$query; echo "$1" >&3 2>/dev/null || echo "refused"
		dd bs="${2:-64k}" <&3 2>/dev/null)
	}'

# guest CMD FILE...: what CMD prints is cut into files where it prints "==="
guest()
{
	cmd=$1
	shift
	# shellcheck disable=SC2086 # two words or none
	tools/testing/owner/guest/guest.py run "$kernel" --cmd "$ask
		$cmd" --append "slab_owner=on kfence.sample_interval=0" $cpus --timeout 300 \
		--extra "build/$kernel/owner-modules" --console "$work/console" >"$work/out" 2>"$seen" || return 1
	awk -v names="$*" -v place="$work/" 'BEGIN { split(names, name, " "); i = 1 }
		/^===$/ { i++; next } { print >(place name[i]) }' "$work/out"
}

reports() { "$check" "$work/truth" "$@" >"$seen" 2>&1; }

# Groups, what is not shown and what went into other are the total, in each column.
adds_up()
{
	awk -F '\t' '/^(#|row)/ { next }
		{ for (i = 2; i <= 6; i++) sum[$1 == "total", i] += $i; rows[$1]++ }
		END {
			for (i = 2; i <= 6; i++) {
				print i, sum[0, i], sum[1, i]
				bad += sum[0, i] != sum[1, i] || !sum[1, i]
			}
			exit bad || rows["total"] != 1 || rows["group"] != "'"$2"'"
		}' "$work/$1" >"$seen"
}

# Without what stands before and after.
records_of() { grep -v '^# \|^total: ' "$work/$1" >"$work/$1.only"; }

# What the answer's last line counts is what it shows.
counts_records()
{
	is "$(sed -n 's/^total: objects \([0-9]*\), bytes \([0-9]*\), .*/\1 \2/p' "$work/$1")" \
		"$(sed -n 's/.* allocated via order 0, size \([0-9]*\),.*/\1/p' "$work/$1" |
			awk '{ bytes += $1 } END { print NR, bytes }')"
}

# The guest goes on while it is asked: a few objects come and go.
total_is_tracked()
{
	awk '/^(tracked|percpu):/ { tracked += $2 }
		/^total:/ { sub(",", "", $5); total = $5 }
		END { print tracked, total; d = tracked - total; exit d > 200 || d < -200 || !total }' \
		"$work/stats" "$work/total" >"$seen"
}

# Answers, each between two counts of what is tracked: what stays is exact in each, and
# the total is what is tracked within what others can hold.
holds_while_busy()
{
	awk -F '\t' -v held="$objects" '
		/^(tracked|percpu):/ { split($0, count, " "); tracked += count[2] }
		/^counted$/ { if (total) {
				low = tracked < before ? tracked : before
				high = tracked > before ? tracked : before
				print "total", total, "tracked", before, tracked, "groups", shown
				bad += total < low - 5000 || total > high + 5000 || shown != 20
				total = shown = 0
			} else {
				before = tracked
			}
			tracked = 0 }
		$1 == "group" { shown++ }
		$1 == "group" && /hold_one/ { exact += $3 == held && $4 == held * 64 }
		$1 == "total" { total = $3; answers++ }
		/^busy$/ { busy = 1 }
		END { print answers, "answers", exact, "exact, busy", busy
			exit bad || !busy || answers != 3 || exact != answers }' \
		"$work/busy" >"$seen"
}

ok "plants and is asked" guest "insmod /extra/owner_truth.ko
	cat /sys/kernel/debug/owner_truth; echo ===
	ask 'group=stack,cache format=tsv'; echo ===
	ask 'group=stack,cache format=tsv if module == owner_truth' 777; echo ===
	ask 'group=stack,cache format=tsv top=5 groups=50'; echo ===
	ask 'mode=records'; echo ===
	ask 'if module == owner_truth' 777; echo ===
	ask 'mode=records format=tsv if module == owner_truth'; echo ===
	cat /sys/kernel/debug/owner/stats; echo ===
	ask group=kind" truth query module top records pieces rows stats total
ok "exactly what was planted" reports query "$work/query"
ok "the same if only that is asked for, and read in pieces" reports query "$work/module"
ok "groups add up" adds_up query "$(grep -c '^group' "$work/query")"
ok "top groups, those not shown and the smallest add up" adds_up top 5
ok "some were not shown" is "$(awk -F '\t' '$1 == "not_shown" { print $2 }' "$work/top")" 45
ok "some were beyond those kept" \
	[ "$(awk -F '\t' '$1 == "other" { print $2 }' "$work/top")" -gt 20 ]
records_of records
ok "each record" reports records "$work/records.only"
ok "without handles" is "$(grep -c '^handle' "$work/records")" 0
ok "as many as are said" counts_records records
records_of pieces
ok "each record, in pieces" reports records "$work/pieces.only"
ok "as many as are said, in pieces" counts_records pieces
ok "a row each, and none has a weight" \
	is "$(awk -F '\t' '$1 == "row" { while ($++i != "weight" && i < NF) continue; weight = i }
		$1 == "object" && $weight == "-" { rows++ } END { print rows }' "$work/rows")" \
	"$(grep -c ' allocated via ' "$work/pieces.only")"
ok "the total is what is tracked" total_is_tracked

# shellcheck disable=SC2016 # for the guest's shell
ok "is asked while every CPU allocates" guest 'counted() {
		grep -E "^(tracked|percpu):" /sys/kernel/debug/owner/stats; echo counted
	}
	insmod /extra/owner_bench_memory.ko objects='"$objects"'
	insmod /extra/owner_torture.ko seconds=1000 &
	sleep 2
	for i in 1 2 3; do counted; ask "group=stack top=20 format=tsv"; counted; done
	kill $! && echo busy
	wait' busy
ok "what stays is exact, the total what is tracked" holds_while_busy
sed 's/^/# /' "$seen"
ok "the kernel complained of nothing then" \
	lacks "$work/console" "BUG:|WARNING:|Oops|Call Trace|possible recursive|inconsistent lock"

# Each example of the text that is a query, in one line.
awk '/^\t# query$/ { getline; sub("\t", ""); print }' "$text" >"$work/examples"
asked=$(sed "s/.*/ask '&' >\/tmp\/answer; echo \"\$(grep -c '^total' \/tmp\/answer) &\"/" "$work/examples")
ok "the examples of the text are asked" guest "insmod /extra/owner_truth.ko
	$asked" examples.asked
while read -r example; do
	ok "answered: $(echo "$example" | tr -d '#')" \
		grep -qxF "1 $example" "$work/examples.asked"
done <"$work/examples"
ok "there were eight" is "$(wc -l <"$work/examples.asked")" 8

# shellcheck disable=SC2016 # for the guest's shell
ok "is asked what is wrong" guest '
	ask "group=cachr"; echo ===
	dmesg | grep -c cachr; echo ===
	ask "source=slab,page"; echo ===
	ask "group=comm if comm == $(head -c 5000 /dev/zero | tr "\0" x)"; echo ===
	exec 4<>$query 5<>$query
	cat <&4; echo ===
	echo "group=kind if kind == slab" >&4
	echo "group=kind if kind == percpu" >&5
	cat <&5; cat <&4; cat <&4; echo ===
	echo wrong >&4; echo "group=kind if kind == slab" >&4; cat <&4; echo ===
	echo "group=stack.full" >&4; dd bs=100 count=1 of=/dev/null <&4 2>/dev/null; insmod /extra/owner_truth.ko
	cat <&4 >/tmp/rest; tail -n 1 /tmp/rest; echo ===
	ls -l $query' \
	wrong logged page long unasked two again generation mode
printf 'refused\nno field is called '\''cachr'\'': did you mean '\''cache'\''?\n  group=cachr\n        ^~~~~\n' >"$work/expected"
ok "an error is read back, with its place" cmp "$work/wrong" "$work/expected"
ok "and is in the log once" is "$(cat "$work/logged")" 2
ok "pages are page_owner's" has "$work/page" "^page_owner is off: for pages boot with page_owner=on"
ok "what is too long is refused" has "$work/long" "^at most 4096 bytes can be written"
ok "who has not asked is told how" has "$work/unasked" "^# write a sentence, then read"
ok "two readers do not disturb each other" \
	is "$(sed -n 's/.*, kind //p' "$work/two" | tr '\n' ' ')" "percpu slab "
ok "after an error a right sentence is answered" has "$work/again" "^total: groups 1, "
ok "a module that comes meanwhile is told of" \
	has "$work/generation" "^# generation [0-9]+: a module came or went meanwhile"
ok "nobody else may ask" has "$work/mode" "^-rw-------"
# What a module holds through another is the other's, who allocated it.
ok "two modules in a chain" guest "insmod /extra/owner_leak.ko requests=40; insmod /extra/owner_user.ko
	ask 'group=module format=tsv if func == user_open_session'; echo ===
	ask 'group=module format=tsv if module == owner_user && module == owner_leak'" \
	by_func by_both
objects_by() { awk -F '\t' '$1 == "group" { print $NF, $3 }' "$work/$1"; }
ok "the one that is nearest to the allocation has it" is "$(objects_by by_func)" "owner_leak 30"
ok "both are in it" is "$(objects_by by_both)" "owner_leak 30"
ok "the kernel complained of nothing" \
	lacks "$work/console" "BUG:|WARNING:|Oops|Call Trace|possible recursive|inconsistent lock"
finish
