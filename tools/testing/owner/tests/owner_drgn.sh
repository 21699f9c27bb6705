#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# ok() calls the checks by name: shellcheck disable=SC2317
#
# slab_owner.py reads a vmcore: what was planted is exact, and records are those that the
# live files showed just before, with the kernel at a random address, names of modules, and
# chains of a module that was unloaded. Damaged dumps are read. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

tests=tools/testing/owner/tests
reader=tools/mm/slab_owner.py
seen="$work/err $work/seen"
# Cases of damage; two processes run half of them each.
cases=200
# The copies of a dump that are damaged on disk.
copies=6
# find_ownertop() of the reader searches PATH.
export PATH="$PWD/build/ownertop:/usr/bin:$PATH"

# Each of these has its own way through the reader: sampled objects have weights, and
# owner_truth_rcu has records of who freed its objects. no_hash_pointers: the live files
# show addresses as the reader does.
rules="sample=1/2 if cache == kernfs_node_cache; free=on if cache == owner_truth_rcu"

# take_planted_dump vmcore|kdump: leaves what the guest printed in files of $work
take_planted_dump()
{
	take_dump "$1" "slab_owner=on page_owner=on no_hash_pointers owner=\"$rules\"" "
		insmod /extra/owner_pages.ko; insmod /extra/owner_truth.ko
		insmod /extra/owner_leak.ko requests=5; insmod /extra/owner_user.ko; rmmod owner_user
		sleep 3
		cat $debug/owner_truth; echo ===
		cat $debug/slab_owner; echo ===
		cat $debug/page_owner; echo ===
		cat $debug/owner_pages; echo ===
		cat $debug/owner/stats
		sleep 3" && split_output truth records pages planted stats
}

# ask ARGUMENT...: leave the answer in $work/got, and what else was said in $work/err
ask() { run_drgn "$reader" "$@" >"$work/got" 2>"$work/err"; }

print_records_without_notes()
{
	ask --records --source "$1" && cp "$work/got" "$work/dump.$1" && [ ! -s "$work/err" ]
}

reports_truth() { "$tests/check_truth.py" "$work/truth" records "$1" >"$work/seen" 2>&1; }
reports_pages() { "$tests/check_pages.py" truth "$@" >"$work/seen" 2>&1; }

# The guest's shell and its tools go on to allocate and free after the file was read.
equals_live_file() { "$tests/compare_records.py" "$1" "$2" "$3" >"$work/seen" 2>&1; }

# find_object PATTERN: address of an object whose record has that line
find_object()
{
	awk -v pattern="$1" 'BEGIN { RS = "" } $0 ~ pattern && match($0, /object ffff[0-9a-f]+/) {
		print "0x" substr($0, RSTART + 7, RLENGTH - 7); exit }' "$work/dump.slab"
}

# add ADDRESS NUMBER: the shell's own numbers are too small for addresses
add() { python3 -c "print(hex($1 + $2))"; }

object_has_owner()
{
	address=$(find_object 'cache owner_truth,')
	ask --object "$address" && cp "$work/got" "$work/first" &&
		file_has "$work/got" "^object $address: index [0-9]+, cache owner_truth, object size 200, .*, allocated$" &&
		file_has "$work/got" "^allocated by pid [0-9]+, tgid [0-9]+ \(insmod\), size 200, [0-9]+ ms ago:$" &&
		file_has "$work/got" "^ truth_(own_cache|bulk)\+0x[0-9a-f]+/0x[0-9a-f]+ \[owner_truth\]$"
}

# An address within the object has the same answer, but for its distance from the start.
interior_address_has_owner()
{
	ask --object "$(add "$address" 77)" &&
		file_has "$work/got" "^object $address: 0x[0-9a-f]+ is \+77 bytes from it; index" &&
		[ "$(tail -n +2 "$work/got")" = "$(tail -n +2 "$work/first")" ]
}

object_on_tail_page_has_owner()
{
	tail=$("$tests/check_dump.py" pick "$work/dump.slab" | tail -n 1)
	ask --object "0x$tail" &&
		file_has "$work/got" "^object 0x$tail: index [0-9]+, .*, allocated$" &&
		file_has "$work/got" "^allocated by pid [0-9]+"
}

# The module allocated 24 objects of this cache and freed the last 12 of them.
freed_object_has_last_owner()
{
	for address in $("$tests/check_dump.py" beside "$work/dump.slab" owner_truth_rcu); do
		ask --object "0x$address" && grep -q '^freed by' "$work/got" && break
	done
	file_has "$work/got" 'cache owner_truth_rcu, .*, free$' && file_lacks "$work/got" '^allocated by' &&
		file_has "$work/got" '^freed by pid [0-9]+, tgid [0-9]+ \(insmod\), size [0-9]+, [0-9]+ ms ago:$' &&
		file_has "$work/got" '^ truth_typesafe\+'
}

# page_has_record FUNCTION: --page says of the first page that it has allocated what the live
# file says
page_has_record()
{
	awk -v name=" $1[.+]" 'BEGIN { RS = "" } $0 ~ name { print $0 "\n"; exit }' \
		"$work/pages" >"$work/page"
	ask --page "$(sed -n 's/^PFN \(0x[0-9a-f]*\) .*/\1/p' "$work/page")" &&
		sed '/^Last freed/,$d' "$work/got" | diff "$work/page" - >"$work/seen"
}

# A module's functions have no names when it is gone, in the live file and here.
unloaded_frames_have_no_names()
{
	awk 'BEGIN { RS = "" } /owner_leak_open\+/ { print $0 "\n" }' "$work/dump.slab" >"$work/seen"
	file_has "$work/seen" '^ owner_leak_open\+0x[0-9a-f]+/0x[0-9a-f]+ \[owner_leak\]$' &&
		file_has "$work/seen" '^ 0xffffffffc[0-9a-f]+$' && file_lacks "$work/seen" '\[owner_user\]'
}

weights_are_printed()
{
	grep -c 'cache kernfs_node_cache, weight 2\.000, pid' "$work/dump.slab" >"$work/seen" &&
		[ "$(cat "$work/seen")" -gt 100 ]
}

# The lines that both files have; the guest went on to allocate objects and pages.
stats_agree()
{
	ask --stats && cp "$work/got" "$work/dump.stats" &&
		awk -F ': ' 'NR == FNR { live[$1] = $2; next }
			!($1 in live) { next }
			/^(lost|degraded|page_failures)/ { both++; bad += $2 != live[$1] }
			/^(tracked|percpu|slabs|slots|bytes):/ {
				both++; bad += $2 < live[$1] * 0.9 || $2 > live[$1] * 1.1 }
			bad { print $0 ", and live " live[$1]; exit }
			END { exit bad || both != 13 }' \
			"$work/stats" "$work/dump.stats" >"$work/seen"
}

# Cache, objects, bytes
sentence_is_answered()
{
	ask 'group=cache sort=objects format=tsv if cache ~ owner_truth*' &&
		equals "$(awk '$1 == "group" { printf "%s %s %s; ", $NF, $3, $4 }' "$work/got")" \
			"owner_truth 40 8000; owner_truth_acct 19 3800; owner_truth_rcu 12 2400; "
}

# Which kinds are read depends on the sentence, without --source.
sentence_about_pages_is_answered()
{
	ask 'group=kind,func format=tsv if func ~ pages_* && order >= 0' &&
		cp "$work/got" "$work/by_order" && file_has "$work/by_order" '^group.*	page	pages_single ' &&
		ask 'group=kind format=tsv if kind != slab' &&
		equals "$(awk '$1 == "group" { print $NF }' "$work/got" | sort | paste -s -d ' ')" \
			"page percpu"
}

# refuses PATTERN STATUS COMMAND...: the message has PATTERN
refuses()
{
	pattern=$1
	wanted=$2
	shift 2
	"$@"
	equals $? "$wanted" && file_has "$work/err" "$pattern" && file_lacks "$work/err" Traceback
}

ask_without_debug_information()
{
	objcopy --strip-debug "$vmlinux" "$work/vmlinux" &&
		/usr/bin/drgn -q -c "$work/core" -s "$work/vmlinux" "$reader" --records 2>"$work/err"
}

# ask_damaged PLACE=NUMBER... -- ARGUMENT...
ask_damaged()
{
	places=
	while [ "$1" != -- ]; do
		places="$places $1"
		shift
	done
	shift
	# shellcheck disable=SC2086 # words without spaces
	run_drgn "$tests/with_damage.py" $places -- "$reader" "$@" >"$work/got" 2>"$work/err"
}

# The list of caches leads to nowhere after its first entry. The other direction has the rest.
broken_list_is_read()
{
	ask_damaged 'prog["slab_caches"].next.next=0x1234' -- --records --source slab &&
		file_has "$work/err" 'note: 1 lists: the list of slab caches is damaged' &&
		file_has "$work/got" '^# note: 1 lists' &&
		grep -v '^#' "$work/got" | cmp - "$work/dump.slab" >"$work/seen"
}

run_cases() { run_drgn "$tests/damage_vmcore.py" "$1" $((cases / 2)) >"$work/cases.$1" 2>&1; }

damaged_memory_is_read()
{
	run_cases 0 &
	run_cases $((cases / 2))
	status=$?
	wait $! || status=1
	cat "$work"/cases.* >"$work/seen"
	return "$status"
}

# Damage is added to the file: the last copy has that of all before.
damaged_files_are_read()
{
	for i in $(seq 1 "$copies"); do
		"$tests/damage_core.py" pages "$work/core" "$i" 2 || return 1
		for words in "--records --source slab,percpu,page" --stats; do
			# shellcheck disable=SC2086 # one word or more
			timeout 600 /usr/bin/drgn -q -c "$work/core" -s "$vmlinux" "$reader" $words \
				>"$work/got" 2>"$work/err"
			case $? in 0 | 1) ;; *) return 1 ;; esac
			! grep -q Traceback "$work/err" || return 1
		done
	done
}

compare_dump_with_live_files()
{
	for source in slab percpu page; do
		ok "records of $source are printed, without notes" print_records_without_notes $source
	done
	cat "$work/dump.slab" "$work/dump.percpu" >"$work/dump"
	ok "planted objects are exact" reports_truth "$work/dump"
	ok "planted pages are exact" reports_pages "$work/planted" "$work/dump.page"
	ok "records are those of the live file" equals_live_file "$work/records" "$work/dump" 1000
	ok "records of pages, too" equals_live_file "$work/pages" "$work/dump.page" 1000
}

ok "ownertop builds" build_ownertop
ok "QEMU takes a vmcore" take_planted_dump vmcore
compare_dump_with_live_files
ok "sampled records have the weight of their rate" weights_are_printed
ok "a module that is gone has left addresses" unloaded_frames_have_no_names
ok "--object: a planted object" object_has_owner
ok "--object: an address within it" interior_address_has_owner
ok "--object: an object on a tail page" object_on_tail_page_has_owner
ok "--object: a free object, and who freed it" freed_object_has_last_owner
ok "--object: no slab" refuses 'is not in an object of a slab' 1 ask --object 0xffffffff81000000
for name in pages_single pages_movable pages_compound; do
	ok "--page: $name" page_has_record $name
done
ok "--page: no memory" refuses 'page frame 0x7ffffff has no owner' 1 ask --page 0x7ffffff
ok "--stats agrees with owner/stats" stats_agree
ok "a sentence is answered exactly" sentence_is_answered
ok "a sentence about pages is answered" sentence_about_pages_is_answered
ok "a wrong sentence is refused" refuses 'grup' 2 ask 'grup=cache'
ok "a wrong option is refused" refuses 'unrecognized arguments: --recods' 2 ask --recods
ok "a wrong source is refused" refuses "no source 'slub'" 2 ask --records --source slub
ok "a wrong address is refused" refuses "'0x12g' is no number" 2 ask --object 0x12g
ok "a vmlinux without debug information is refused" \
	refuses 'there is no debug information' 1 ask_without_debug_information
ok "a newer format of records is refused" refuses \
	'owner_format has version 99, and this reader knows version 3' 1 \
	ask_damaged 'prog["owner_format"].version=99' -- --records
ok "a newer format of the depot is refused" refuses \
	'stack_depot_format has version 99, and this reader knows version 1' 1 \
	ask_damaged 'prog["stack_depot_format"].version=99' -- --records
ok "a format that is not in the dump is refused" refuses 'owner_format at .* cannot be read' 1 \
	ask_damaged 'prog["owner_format"].version=none' -- --records
ok "a broken list is read from its other end" broken_list_is_read
ok "damage in memory, $cases cases" damaged_memory_is_read
ok "damage in files, $copies copies" damaged_files_are_read

# Of a guest that panicked, after makedumpfile
label=kdump
ok "a crash kernel saves the memory" take_planted_dump kdump
compare_dump_with_live_files
ok "--object: a planted object" object_has_owner
ok "--page: pages_single" page_has_record pages_single
ok "a sentence is answered exactly" sentence_is_answered
finish_tests
