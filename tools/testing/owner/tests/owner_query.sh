#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Ask /sys/kernel/debug/owner/query about objects that a module planted, alone and while
# other CPUs allocate and OBJECTS objects stay; with "modules", while modules come and go.
# Prints TAP.
usage='KERNEL [OBJECTS [modules]]'
. "$(dirname "$0")/prelude.sh"

objects=${2:-100000}
check=tools/testing/owner/tests/check_truth.py
text=Documentation/mm/slab_owner_language.rst
seen=$work/seen

# For the guest's shell: ask SENTENCE [BYTES] prints the answer or the error. It is read
# in pieces of 64 KiB, or of BYTES bytes.
# shellcheck disable=SC2016 # for the guest's shell
ask='query=/sys/kernel/debug/owner/query
	ask() {
		(exec 3<>$query; echo "$1" >&3 2>/dev/null || echo "refused"
		dd bs="${2:-64k}" <&3 2>/dev/null)
	}'

passing=
[ "${3:-}" != modules ] || passing=$let_modules_pass

# run_query_guest CMD FILE...: run CMD and split its output into files at lines "===". The guest
# gets the boot parameters of $boot, too.
boot=
run_query_guest()
{
	# shellcheck disable=SC2086 # two words or none
	run_guest "slab_owner=on kfence.sample_interval=0 $boot" "$ask
		$passing
		$1" $cpus || return 1
	shift
	split_output "$@"
}

reports_truth() { "$check" "$work/truth" "$@" >"$seen" 2>&1; }

# In each column, groups, groups not shown and the rest (other) add up to the total.
groups_add_up_to_total()
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

# Records without the lines before and after them.
extract_records() { grep -v '^# \|^total: ' "$work/$1" >"$work/$1.only"; }

# The last line counts exactly the records above it.
total_counts_records()
{
	equals "$(sed -n 's/^total: objects \([0-9]*\), bytes \([0-9]*\), .*/\1 \2/p' "$work/$1")" \
		"$(sed -n 's/.* allocated via order 0, size \([0-9]*\),.*/\1/p' "$work/$1" |
			awk '{ bytes += $1 } END { print NR, bytes }')"
}

# The guest keeps running meanwhile, so a few objects are allocated and freed.
total_is_tracked()
{
	awk '/^(tracked|percpu):/ { tracked += $2 }
		/^total:/ { sub(",", "", $5); total = $5 }
		END { print tracked, total; d = tracked - total; exit d > 200 || d < -200 || !total }' \
		"$work/stats" "$work/total" >"$seen"
}

# While objects come and go, the total cannot be compared with the number of tracked objects
# before or after: kfree_rcu() delays frees, by thousands of objects and for as long as the
# kernel's threads do not run. What holds at any load: the objects that stay are exact in
# each answer, its rows add up to its total, and the total has at least what stays.
answers_are_exact_while_busy()
{
	awk -F '\t' -v held="$objects" '
		/^(tracked|percpu):/ { split($0, count, " "); tracked += count[2] }
		/^counted$/ { if (total) {
				print "total", total, "tracked", before, tracked, "groups", shown
				bad += total < held || total != sum || shown != 20
				total = shown = sum = 0
			} else {
				before = tracked
			}
			tracked = 0 }
		$1 ~ /^(group|not_shown|other)$/ { sum += $3 }
		$1 == "group" { shown++ }
		$1 == "group" && /hold_one/ { exact += $3 == held && $4 == held * 64 }
		$1 == "total" { total = $3; answers++ }
		/^busy$/ { busy = 1 }
		END { print answers, "answers", exact, "exact, busy", busy
			exit bad || !busy || answers != 3 || exact != answers }' \
		"$work/busy" >"$seen"
}

ok "plants and is asked" run_query_guest "insmod /extra/owner_truth.ko
	cat /sys/kernel/debug/owner_truth; echo ===
	ask 'group=stack,cache format=tsv'; echo ===
	ask 'group=stack,cache format=tsv if module == owner_truth' 777; echo ===
	ask 'group=stack,cache format=tsv top=5'; echo ===
	ask 'mode=stack'; echo ===
	ask 'if module == owner_truth' 777; echo ===
	ask 'format=tsv if module == owner_truth'; echo ===
	ask 'top=7 if module == owner_truth' 777; echo ===
	ask 'top=7 format=tsv if module == owner_truth || func == alloc_oops'; echo ===
	ask 'top=100000 if module == owner_truth'; echo ===
	cat /sys/kernel/debug/owner/stats; echo ===
	ask group=kind" truth query module top records pieces rows \
	some_pieces some_rows all_pieces stats total
ok "exactly what was planted" reports_truth query "$work/query"
ok "the same if only that is asked for, and read in pieces" reports_truth query "$work/module"
ok "groups add up" groups_add_up_to_total query "$(grep -c '^group' "$work/query")"
ok "top groups and those not shown add up" groups_add_up_to_total top 5
ok "some were not shown" \
	[ "$(awk -F '\t' '$1 == "not_shown" { print $2 }' "$work/top")" -gt 65 ]
ok "none was folded" equals "$(awk -F '\t' '$1 == "other" { print $2 }' "$work/top")" 0
extract_records records
ok "each record" reports_truth records "$work/records.only"
ok "without handles" equals "$(grep -c '^handle' "$work/records")" 0
ok "as many as are said" total_counts_records records
extract_records pieces
ok "each record, in pieces" reports_truth records "$work/pieces.only"
ok "as many as are said, in pieces" total_counts_records pieces
ok "a row each, and none has a weight" \
	equals "$(awk -F '\t' '$1 == "row" { while ($++i != "weight" && i < NF) continue; weight = i }
		$1 == "object" && $weight == "-" { rows++ } END { print rows }' "$work/rows")" \
	"$(grep -c ' allocated via ' "$work/pieces.only")"
# The last line says that names may be wrong, if a module came or went.
show_end() { grep -v '^# generation ' "$1" | tail -n 2; }
for some in pieces rows; do
	ok "top= ends a list of objects, in $some" \
		equals "$(grep -c ' allocated via \|^object' "$work/some_$some") $(show_end "$work/some_$some")" \
		"7 $(grep '^\(# \)*total: objects 7, ' "$work/some_$some")
# ended at top=7: the total is of the objects above, there may be more"
done
extract_records some_pieces
extract_records all_pieces
# Frames in freed init text get the names of a module that is loaded there: leave out frames.
if [ -n "$passing" ]; then
	for records in pieces some_pieces all_pieces; do
		grep ' allocated via ' "$work/$records.only" >"$work/$records.heads"
		mv "$work/$records.heads" "$work/$records.only"
	done
fi
ok "these are the first of all" \
	cmp -n "$(stat -c %s "$work/some_pieces.only")" "$work/some_pieces.only" "$work/pieces.only"
ok "a top= beyond the last object leaves none out" \
	cmp "$work/all_pieces.only" "$work/pieces.only"
ok "... and does not end the list" equals "$(grep -c '^# ended' "$work/all_pieces")" 0
# Modules that come and go allocate and free many objects.
[ -n "$passing" ] || ok "the total is what is tracked" total_is_tracked

# shellcheck disable=SC2016 # for the guest's shell
ok "is asked while every CPU allocates" run_query_guest 'counted() {
		grep -E "^(tracked|percpu):" /sys/kernel/debug/owner/stats; echo counted
	}
	insmod /extra/owner_bench_memory.ko objects='"$objects"'
	insmod /extra/owner_torture.ko &
	torture=$!
	sleep 2
	for i in 1 2 3; do counted; ask "group=stack top=20 format=tsv"; counted; done
	kill $torture && echo busy
	wait $torture; echo ===
	cat /sys/kernel/debug/owner/stats; echo ===
	ask "group=stack top=20"' busy stats total
ok "what stays is exact, and rows add up to their total" answers_are_exact_while_busy
sed 's/^/# /' "$seen"

# The other tests ask once, and do not depend on what else the guest does.
[ -z "$passing" ] || finish_tests

# The module has waited for delayed frees before it ended.
ok "afterwards the total is what is tracked" total_is_tracked

# Each example of a query in the documentation is one line below "# query".
awk '/^\t# query$/ { getline; sub("\t", ""); print }' "$text" >"$work/examples"
boot=page_owner=on
# shellcheck disable=SC2016 # for the guest's shell
ok "the examples of the text are asked" run_query_guest 'insmod /extra/owner_truth.ko
	ask_example() {
		ask "$1" >/tmp/answer
		echo "$(grep -c "^total" /tmp/answer) $1"
		grep -q "^objects\|^group\|^Slab object\|^Page allocated" /tmp/answer || echo "# nothing: $1"
	}
	'"$(sed "s/.*/ask_example '&'/" "$work/examples")" examples.asked
while read -r example; do
	ok "answered: $(echo "$example" | tr -d '#')" \
		grep -qxF "1 $example" "$work/examples.asked"
done <"$work/examples"
boot=
ok "there were eighteen" equals "$(grep -vc '^#' "$work/examples.asked")" 18
ok "... which find objects, but for those an hour old, and a handle and an address of another machine" \
	equals "$(sed -n 's/^# nothing: .*if //p' "$work/examples.asked" | paste -s -d ';')" \
	"cache == kmalloc-64 && age > 1h && !(comm ~ kworker*);handle == 1074790400;address == 0xffff888012345678"

# shellcheck disable=SC2016 # for the guest's shell
ok "a module leaves objects behind" run_query_guest '
	insmod /extra/owner_leak.ko requests=40 leave=1; rmmod owner_leak
	ask "group=module,stack.1 if module == owner_leak && size == 200"; echo ===
	ask "top=1 format=tsv if module == owner_leak && size == 200"' left left_rows
ok "the module is named" file_has "$work/left" "^objects 40, bytes 8000, .*, module owner_leak$"
ok "... behind the address of its function" \
	file_has "$work/left" "^ 0x[0-9a-f]{8,16} \[owner_leak unloaded\]$"
ok "... in rows, too" file_has "$work/left_rows" "^object.*	0x[0-9a-f]{8,16} \[owner_leak unloaded\];"

# shellcheck disable=SC2016 # for the guest's shell
ok "is asked what is wrong" run_query_guest '
	ask "group=cachr"; echo ===
	dmesg | grep -c cachr; echo ===
	ask "if kind == slab,page"; echo ===
	ask "group=comm if comm == $(head -c 5000 /dev/zero | tr "\0" x)"; echo ===
	exec 4<>$query 5<>$query
	cat <&4; echo ===
	echo "group=kind if kind == slab" >&4
	echo "group=kind if kind == percpu" >&5
	cat <&5; cat <&4; cat <&4; echo ===
	echo wrong >&4; echo "group=kind if kind == slab" >&4; cat <&4; echo ===
	echo "group=stack.full" >&4; dd bs=100 count=1 of=/dev/null <&4 2>/dev/null; insmod /extra/owner_truth.ko
	cat <&4 >/tmp/rest; tail -n 1 /tmp/rest; echo ===
	ls -l $query; echo ===
	exec 6>/sys/kernel/debug/owner/control
	i=0; while [ $((i += 1)) -le 1000 ]; do
		echo "twisted" >&4; echo "twisted" >&6
	done 2>/dev/null
	dmesg | grep -c twisted; echo ===
	ask "group=kind if func == alloc_oops || cache == kmalloc-64 || comm != a && comm == a"' \
	wrong logged page long unasked two again generation mode flood unmatched
printf 'refused\nno field is called '\''cachr'\'': did you mean '\''cache'\''?\n  group=cachr\n        ^~~~~\n' >"$work/expected"
ok "an error is read back, with its place" cmp "$work/wrong" "$work/expected"
ok "and is in the log once" equals "$(cat "$work/logged")" 2
ok "a thousand errors do not fill the log" [ "$(cat "$work/flood")" -lt 500 ]
ok "pages are page_owner's" file_has "$work/page" "^page_owner is off: for pages boot with page_owner=on"
ok "what is too long is refused" file_has "$work/long" "^at most 4096 bytes can be written"
ok "who has not asked is told how" file_has "$work/unasked" "^# write a sentence, then read"
ok "two readers do not disturb each other" \
	equals "$(sed -n 's/.*, kind //p' "$work/two" | tr '\n' ' ')" "percpu slab "
ok "after an error a right sentence is answered" file_has "$work/again" "^total: groups 1, "
ok "a module that comes meanwhile is told of" \
	file_has "$work/generation" "^# generation [0-9]+: a module came or went meanwhile"
ok "names that no object has are told" equals "$(grep "^# nothing" "$work/unmatched")" \
	"# nothing matched func == alloc_oops
# nothing matched comm == a"
ok "nobody else may ask" file_has "$work/mode" "^-rw-------"
# A task gives itself a name with escape sequences and a line break, and its cgroup one with
# escape sequences: cgroups refuse line breaks.
# shellcheck disable=SC2016,SC2086 # for the guest's shell; two words or none
ok "a task has a hostile name" run_guest "slab_owner=on page_owner=on kfence.sample_interval=0" "$ask"'
	debug=/sys/kernel/debug
	mount -t cgroup2 none /sys/fs/cgroup && echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	cgroup=$(printf "/sys/fs/cgroup/g\033[2J"); mkdir "$cgroup"
	sh -c "echo 0 >\"$cgroup/cgroup.procs\"; printf \"a\\033[2J\\nb\\134c\" >/proc/\$\$/comm; mkdir /tmp/files
		while [ \$((i += 1)) -le 50 ]; do echo >/tmp/files/\$i; done"
	cat $debug/slab_owner; echo ===
	cat $debug/page_owner; echo ===
	ask "if kind == slab,page,percpu"; echo ===
	ask "format=tsv"; echo ===
	ask "group=comm,pid"; echo ===
	ask "group=comm format=tsv if comm ~ \"a?[[]2J?b*\" && cache == shmem_inode_cache"; echo ===
	ask "group=comm if comm == \"$(printf "a\033[2J")\""; dmesg | tail -n 3; echo ===
	{ printf "depth=2 if comm == \"a\033[2J\"\n" >$debug/owner/control; } 2>/dev/null
	cat $debug/owner/control' $cpus
split_output slabs pages texts tsv groups matched sentence rule
ok "no control character of it is printed" \
	equals "$(LC_ALL=C tr -d '\n\t -~' <"$work/out" | od -c | head -n 5)" 0000000
ok "it is printed escaped" equals "$(for file in slabs pages texts tsv groups; do
	grep -cF 'a\033[2J\012b\134c' "$work/$file" | sed 's/^[1-9].*/some/'; done | tr '\n' ' ')" \
	"some some some some some "
ok "... and so is its cgroup" file_has "$work/pages" '^Charged .*to memcg g\\033\[2J$'
ok "each record stays one" equals "$(for file in slabs pages texts; do
	extract_records $file
	awk 'BEGIN { RS = ""; FS = "\n" } !/^[A-Z][^\n]* allocated via order [^\n]*, ts [0-9]* ns\nPFN /' \
		"$work/$file.only" | head -n 3; done)" ""
ok "each row stays one" equals "$(awk -F '\t' '/^row/ { n = NF } /^object/ && NF != n' "$work/tsv")" ""
# print_column NAME FILE: the values in a column of rows "object"
print_column()
{
	awk -F '\t' -v name="$1" '/^row/ { for (i = 1; i <= NF; i++) if ($i == name) column = i }
		/^object/ { print $column }' "$work/$2"
}
ok "... of its memory cgroup, among others" \
	[ "$(print_column cgroup tsv | grep -cF '/g\033[2J')" -gt 10 ]
ok "... and the address of each" equals "$(print_column address tsv | grep -cvx '0x[0-9a-f]*')" 0
ok "a sentence names it with ?" \
	equals "$(awk -F '\t' '$1 == "group" { print $3, $NF }' "$work/matched")" '50 a\033[2J\012b\134c'
ok "a sentence with a control character is refused" \
	file_has "$work/sentence" "^a word cannot hold a character 0x1b: say ~, and \? for it"
ok "... by control, too" file_has "$work/rule" "^# a word cannot hold a character 0x1b: say ~, and \? for it"

# The planter's objects of moment 1 less those of moment 0, by chain.
list_planted_growth()
{
	awk 'FNR == 1 { moment++ } { sign = moment == 1 ? -1 : 1
			objects[$2] += sign * $3; bytes[$2] += sign * $4 }
		END { for (chain in bytes) if (objects[chain] || bytes[chain])
			print chain, objects[chain], bytes[chain] }' "$work/moment0" "$work/moment1" | sort
}

list_growth()
{
	awk -F '\t' '$1 == "group" { gsub(/\+[^;]*/, "", $NF)
		split($NF, frames, ";")
		chain = frames[1]; if (frames[2] ~ /^truth/) chain = chain ";" frames[2]
		print chain, $3, $4 }' "$work/growth" | sort
}

# shellcheck disable=SC2016 # for the guest's shell
ok "growth is asked since a mark" run_query_guest 'planter=/sys/kernel/debug/owner_growth
	insmod /extra/owner_growth.ko; echo 0 >$planter; cat $planter; echo ===
	exec 3<>$query; echo "group=stack since=mark" >&3 2>/dev/null; cat <&3; echo ===
	echo mark >&3; cat <&3; echo ===
	echo 1 >$planter; cat $planter; echo ===
	echo "group=stack format=tsv since=mark if func ~ truth_*" >&3; cat <&3; echo ===
	echo 0 >$planter
	echo "group=stack format=tsv since=mark if func ~ truth_*" >&3; cat <&3 | grep -c ^group; echo ===
	echo "group=module since=mark" >&3; cat <&3' moment0 unmarked marked moment1 growth none module
ok "without a mark the file says so" \
	file_has "$work/unmarked" "^this open file has no mark: write 'mark' to it, and ask since=mark later"
ok "after a mark it says how to go on" file_has "$work/marked" "^# marked: "
ok "exactly what the planter planted and freed" equals "$(list_growth)" "$(list_planted_growth)"
ok "... with chains that shrank" file_has "$work/growth" "	-37	"
ok "what comes and goes is no growth" equals "$(cat "$work/none")" 0
ok "the answer says since when" file_has "$work/module" "^# growth of slab objects and per-CPU areas: .* at the mark [0-9]+\.[0-9]{3} s ago"

# Before the mark b makes 30 files, and after it a makes 50, and those of b are removed.
# shellcheck disable=SC2016,SC2086 # for the guest's shell; two words or none
ok "growth is asked by cache and cgroup" run_guest "slab_owner=on kfence.sample_interval=0" "$ask"'
	mount -t cgroup2 none /sys/fs/cgroup && echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir /sys/fs/cgroup/a /sys/fs/cgroup/b /tmp/a /tmp/b
	make_files() { sh -c "echo 0 >/sys/fs/cgroup/$1/cgroup.procs; i=0
		while [ \$((i += 1)) -le $2 ]; do echo >/tmp/$1/\$i; done"; }
	make_files b 30; exec 3<>$query
	echo "mark group=cache,cgroup,comm" >&3; cat <&3 >/dev/null
	make_files a 50; rm -r /tmp/b; sleep 3
	for fields in cache cache,cgroup cgroup,comm; do
		echo "group=$fields format=tsv since=mark if cache == shmem_inode_cache" >&3; cat <&3
		echo ===
	done
	echo "group=cgroup since=mark if cgroup == /b" >&3; cat <&3; echo ===
	echo "group=stack since=mark" >&3 2>/dev/null; cat <&3' $cpus
split_output by_cache by_both by_comm of_b no_chains
# list_sums FILE: the fields of each group, and its objects
list_sums()
{
	awk -F '\t' '$1 == "group" { for (i = 12; i <= NF; i++) printf "%s ", $i
		printf "%s; ", $3 }' "$work/$1"
}
# /tmp/b itself is charged to no cgroup.
ok "... by cache" equals "$(list_sums by_cache)" "shmem_inode_cache 19; "
ok "... by cache and cgroup, also what shrank" equals "$(list_sums by_both)" \
	"shmem_inode_cache /a 50; shmem_inode_cache - -1; shmem_inode_cache /b -30; "
ok "... by cgroup and task" equals "$(list_sums by_comm)" "/a sh 50; - mkdir -1; /b sh -30; "
ok "... of one cgroup" file_has "$work/of_b" "^objects -[0-9]+, .*, cgroup /b$"
ok "... but not by chain, which this mark does not have" \
	file_has "$work/no_chains" "^the mark was set without 'stack': write 'mark group=stack'"

# A task opens files in a, b and c, and goes back to the root; c is removed. Then the task ends.
# shellcheck disable=SC2016,SC2086 # for the guest's shell; two words or none
ok "tasks move between cgroups" run_guest "slab_owner=on kfence.sample_interval=0" "$ask"'
	mount -t cgroup2 none /sys/fs/cgroup && echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir /sys/fs/cgroup/a /sys/fs/cgroup/b /sys/fs/cgroup/c; mkfifo /tmp/fifo
	sh -c "move() { echo 0 >/sys/fs/cgroup/\$1/cgroup.procs; }
		move a; exec 4</etc/passwd 5</etc/passwd 6</etc/passwd
		move b; exec 7</etc/passwd 8</etc/passwd; move c; exec 9</etc/passwd
		move .; rmdir /sys/fs/cgroup/c; : >/tmp/ready; read x </tmp/fifo" &
	while [ ! -e /tmp/ready ]; do sleep 0.1; done
	of_task="if cache == filp && pid == $! && task_cgroup ~ /?,removed:*"
	ask "group=task_cgroup format=tsv $of_task"; echo ===; ask "format=tsv $of_task"; echo ===
	exec 3<>$query; echo "mark group=task_cgroup,cache" >&3; cat <&3 >/dev/null
	grown="group=task_cgroup format=tsv since=mark if cache == filp && task_cgroup != /"
	rmdir /sys/fs/cgroup/b; echo "$grown" >&3; cat <&3; echo ===
	: >/tmp/fifo; wait; echo "$grown" >&3; cat <&3; echo ===
	(exec sh -c "echo 0 >/sys/fs/cgroup/a/cgroup.procs; insmod /extra/owner_truth.ko")
	ask "group=task_cgroup,cgroup format=tsv if cache == owner_truth"' --extra "$modules" $cpus
split_output of_tasks each_object after_removal since_mark not_charged
without_number() { sed 's/removed:[0-9]*/removed/g'; }
ok "... and each object is found in that of its time" equals "$(list_sums of_tasks | without_number)" \
	"/a 3; /b 2; removed 1; "
ok "... one by one" equals "$(print_column task_cgroup each_object | sort | uniq -c |
	sed 's/removed:[0-9]*/removed/' | xargs)" "3 /a 2 /b 1 removed"
ok "... also if the cgroup is removed after a mark" equals "$(list_sums after_removal)" ""
ok "... as growth, too" equals "$(list_sums since_mark | without_number)" "removed -1; removed -2; /a -3; "
ok "... and if it is not charged" equals "$(list_sums not_charged)" "/a - 40; "

# shellcheck disable=SC2086 # two words or none
ok "slab_owner=off refuses a mark" run_guest "slab_owner=off page_owner=on" "$ask"'
	ask mark; echo ===; ask "group=stack since=mark"' $cpus
split_output mark_off since_off
ok "... in words" file_has "$work/mark_off" "^slab_owner is off: boot with slab_owner=on"
ok "... and growth" file_has "$work/since_off" "^this open file has no mark"
# truth_sizes() has 24 objects of each size.
# shellcheck disable=SC2016 # for the guest's shell
ok "asked for histograms" run_query_guest 'insmod /extra/owner_truth.ko
	insmod /extra/owner_leak.ko requests=40
	ask "group=age.1h if func == truth_own_cache,leak_open_session"; echo ===
	ask "group=size.log2 format=tsv if func == truth_sizes"; echo ===
	ask "group=size.4K sort=objects if func == truth_sizes"; echo ===
	ask "group=size sort=objects min=24K format=tsv if func == truth_sizes"; echo ===
	ask "group=stack format=tsv if func == leak_open_session"; echo ===
	ask "group=stack.-2 format=tsv if func == leak_open_session"; echo ===
	ask "group=stack.-2 if func == leak_open_session"' \
	text sizes pages_wide min chain outermost outermost_text
ok "ages: with a unit" equals "$(sed -n 's/^objects \([0-9]*\),.*, age /\1 /p' "$work/text")" "64 0ns"
ok "sizes: exact" equals "$(awk -F '\t' '$1 == "group" { print $12, $3 }' "$work/sizes" | sort -n | paste -s -d ,)" \
	"4 24,8 24,16 24,32 24,64 48,128 48,256 24,512 24,1024 24,2048 24,4096 24,8192 24"
ok "sizes: with a unit" equals "$(sed -n 's/^objects \([0-9]*\),.*, size /\1 /p' "$work/pages_wide" | sort | paste -s -d ,)" \
	"24 4K,24 8K,288 0"
ok "min: as many as hold so much, and the others in one row" \
	equals "$(awk -F '\t' '$1 == "group" { print $12, $3 } $1 == "not_shown" { print 0, $2, $3 }' "$work/min" |
		sort -n | paste -s -d ,)" "0 10 240,1024 24,2048 24,4096 24,8192 24"
last_frames=$(awk -F '\t' '$1 == "group" { n = split($NF, frame, ";"); print frame[n - 1] ";" frame[n] }' "$work/chain")
ok "outermost frames: the last of the chain" equals \
	"$(awk -F '\t' '$1 == "group" { print $3, $NF }' "$work/outermost")" "40 $last_frames"
ok "outermost frames: a line each" \
	equals "$(sed -n 's/^ //p' "$work/outermost_text" | paste -s -d ';')" "$last_frames"

# Each planted object is found again by an address in it, alone.
# shellcheck disable=SC2016 # for the guest's shell
ok "is asked for addresses" run_query_guest 'insmod /extra/owner_truth.ko
	restrict=/proc/sys/kernel/kptr_restrict
	ask "format=tsv top=1 if module == owner_truth && cache == kmalloc-128"; echo ===
	echo 2 >$restrict
	ask "format=tsv top=1 if module == owner_truth && cache == kmalloc-128"; echo ===
	ask "if address == 0xffff888012345678"; echo ===
	echo 1 >$restrict
	ask "format=tsv if module == owner_truth && kind == slab" | tee /tmp/rows; echo ===
	awk -F "\t" "/^object/ { print \$(NF - 2) }" /tmp/rows | head -n 40 >/tmp/addresses
	while read -r address; do
		ask "format=tsv if address == $(printf "0x%x" $((address + 3)))"
	done </tmp/addresses; echo ===
	ask "group=stack if address == $(paste -s -d , /tmp/addresses) && func ~ truth_*"; echo ===
	ask "if address == 0x10"' hashed zero hidden rows found group wild
ok "an address is a hash without kptr_restrict" \
	[ "$(print_column address hashed)" != "$(print_column address rows | head -n 1)" ]
ok "... and 0 if it hides all" equals "$(print_column address zero | tr -d 0)" x
ok "then none can be asked for" file_has "$work/hidden" "^addresses are hidden: 'address' needs"
list_addresses_and_chains()
{
	print_column address "$1" >"$work/addresses"
	print_column stack "$1" | paste "$work/addresses" -
}
ok "each object is found by an address in it" \
	equals "$(list_addresses_and_chains found)" "$(list_addresses_and_chains rows | head -n 40)"
ok "they are forty" equals "$(print_column address found | sort -u | wc -l)" 40
ok "they are grouped, too" file_has "$work/group" "^total: groups [0-9]+, objects 40, "
ok "an address of nothing is answered" equals "$(grep '^# nothing' "$work/wild")" \
	"# nothing matched address == 0x10 (no address that slabs have)"

# An object that a module obtains from another module belongs to the one that allocated it.
ok "two modules in a chain" run_query_guest "insmod /extra/owner_leak.ko requests=40; insmod /extra/owner_user.ko
	ask 'group=module format=tsv if func == user_open_session'; echo ===
	ask 'group=module format=tsv if module == owner_user && module == owner_leak'" \
	by_func by_both
list_objects_by_group() { awk -F '\t' '$1 == "group" { print $NF, $3 }' "$work/$1"; }
ok "the one that is nearest to the allocation has it" equals "$(list_objects_by_group by_func)" "owner_leak 30"
ok "both are in it" equals "$(list_objects_by_group by_both)" "owner_leak 30"
finish_tests
