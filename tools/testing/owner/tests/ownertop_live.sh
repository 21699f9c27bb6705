#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Run ownertop in a guest, on the kernel that it reads, while a module that leaks a known
# number of objects is loaded. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

seen="$work/err $work/out"
# More objects than any other chain holds after boot.
requests=8000

# The guest has no shared libraries, so copy ownertop's.
pack_guest_files()
{
	build_ownertop && mkdir "$work/extra" &&
		cp build/ownertop/ownertop "$modules/owner_leak.ko" \
			"$modules/owner_truth.ko" \
			"$modules/owner_corners.ko" \
			"$modules/owner_pages.ko" "$work/extra" &&
		ldd build/ownertop/ownertop | grep -o '/[^ ]*' | xargs -I{} cp {} "$work/extra"
} >"$work/err" 2>&1

# run_ownertop_guest APPEND CMD FILE...: run CMD and split its output into files at lines "==="
run_ownertop_guest()
{
	append=$1 cmd=$2
	shift 2
	tools/testing/owner/guest/guest.py run "$kernel" --append "$append" \
		--cmd "ownertop() { /extra/ld-linux-x86-64.so.2 --library-path /extra /extra/ownertop \"\$@\"; }
			debug=/sys/kernel/debug; $cmd" \
		--timeout 900 --extra "$work/extra" >"$work/out" 2>"$work/err" || return 1
	split_output "$@"
}

# show_first_group REPORT: of the first group of a report in JSON, "objects bytes function"
show_first_group()
{
	sed -n 's/.*"rank": 1, "objects": \([0-9]*\), "bytes": \([0-9]*\).*"stack": \["\([a-z_]*\).*/\1 \2 \3/p' \
		"$work/$1"
}

report_is_complete() { file_has "$work/$1" '"complete": true'; }
leak="$requests $((requests * 200)) leak_open_session"

ok "is packed with its libraries" pack_guest_files
ok "runs where it reads" run_ownertop_guest slab_owner=on "ownertop --live=0.2 -s objects -n 1 >/tmp/live & live=\$!
	until [ -s /tmp/live ]; do sleep 0.1; done
	insmod /extra/owner_leak.ko requests=$requests
	until grep -q leak_open_session /tmp/live; do sleep 0.1; done; kill \$live
	ownertop -s objects --json -n 1; echo ===
	cat \$debug/slab_owner | gzip | ownertop -s objects --json -n 1 -; echo ===
	ownertop -s objects --json -n 1 \$debug/slab_owner_stacks/show_stacks; echo ===
	ownertop -s objects --json -n 1 \$debug/slab_owner_stacks/show_handles \
		\$debug/slab_owner_stacks/show_stacks_handles; echo ===
	ownertop explain; echo ===
	ownertop --live=0.2 -c 3 --json -s objects -n 1; echo ===
	cat /tmp/live" plain packed stacks handles explained live_json live
# The kernel answers fields that records do not have: memory nodes and handles. ownertop
# answers from records if the kernel cannot group by a field.
ok "asks the kernel" run_ownertop_guest slab_owner=on "insmod /extra/owner_leak.ko requests=$requests
	leak='module == owner_leak && size == 200'
	ownertop --json 'group=stack.1,nid sort=objects top=1 if '\"\$leak\"; echo ===
	ownertop --json --func 'leak_open_sess*' -g nid,stack 'if nid == 0' -n 1; echo ===
	ownertop tree -g nid,comm,stack 'if module == owner_leak' --callees --min 20; echo ===
	ownertop \"group=handle,kind format=tsv if \$leak\"; echo ===
	ownertop --json -s objects -g stack,age.1h -n 1 'if size == 200'; echo ===
	ownertop --json -g nid -n 1 'if kind == slab,page,percpu && nid == 0' 2>&1; echo ===
	ownertop \"if \$leak && age < 1h\" -g kind --json; echo ===
	ownertop 'group=cachr' 2>&1; true" asked focus tree tsv by_age pages young wrong
ok "asked: exact" equals "$(show_first_group asked)" "$leak"
ok "asked: the node" file_has "$work/asked" '"nid": 0'
ok "focus: exact" equals "$(show_first_group focus)" "$leak"
ok "tree: the leak" file_has "$work/tree" "^ +2.0M +100.0% +100.0% +leak_open_session"
ok "tree: its node" file_has "$work/tree" " nid 0\$"
ok "tsv: exact" equals "$(awk -F '\t' '$1 == "group" { print $2, $3, $4, $5, ($12 > 0), $13 }' "$work/tsv")" \
	"1 $requests $((requests * 200)) $((requests * 256)) 1 slab"
ok "by age: made of records" file_has "$work/by_age" '"stack": \["leak_open_session'
ok "pages: what is not there is told" file_has "$work/pages" '^This needs .* booted with page_owner=on'
ok "young: exact" file_has "$work/young" "\"objects\": $requests, .*\"kind\": \"slab\""
ok "wrong: told as the kernel would" equals "$(sed -n 3p "$work/wrong")" "        ^~~~~"
for way in plain packed stacks handles; do
	ok "$way: the leak is first, exact" equals "$(show_first_group $way)" "$leak"
	ok "$way: all was read" report_is_complete $way
done
# In words: the leak is first, its age is known, and the proposed commands name it.
ok "explain: the leak is the first owner" file_has "$work/explained" \
	"^ *[0-9.]*%: 2.0M in $requests objects, .*[0-9]+s old: kmalloc-256, leak_open_session"
ok "explain: proposes to look at the leak" file_has "$work/explained" \
	'^ownertop .* --func leak_open_session'
# Each update is one line with a whole answer.
show_live_json() { tr -d '\r' <"$work/live_json" | grep -c '^{.*"complete": true.*"stack": \["leak_open_session.*}$'; }
ok "live, JSON: a line for each update" equals "$(show_live_json)" 3
# Without ages the kernel answers from counters, with ages it walks the objects. The
# planted chains allocate nothing between the two answers.
ok "answers from counters" run_ownertop_guest slab_owner=on "insmod /extra/owner_leak.ko requests=$requests
	insmod /extra/owner_truth.ko
	ask() { (echo \"\$*\" >&0; cat <&0) 0<>\$debug/owner/query; }
	for ages in '' sort=oldest; do
		ask \"group=kind,stack.full \$ages format=tsv if module == owner_leak,owner_truth\"; echo ===
	done
	ownertop --live=0.2 -c 2 -d 1 'if module == owner_leak' >/tmp/live; cat /tmp/live; echo ===
	ownertop --live=0.2 -c 2 -d 1 -s oldest 'if module == owner_leak' >/tmp/live
	cat /tmp/live" counted walked live_counted live_walked
# show_group_sums ANSWER: of each group, "objects bytes held records kind chain"
# show_missing_ages ANSWER: whether the ages of slab objects are missing
show_group_sums() { awk -F '\t' '$1 == "group" { print $2, $3, $4, $5, $9, $12, $13 }' "$work/$1" | sort; }
show_missing_ages() { awk -F '\t' '$1 == "group" && $12 == "slab" { print ($7 == "-") ($8 == "-") }' "$work/$1" | sort -u; }
ok "counters: tell no ages" equals "$(show_missing_ages counted)" 11
ok "walk: tells ages" equals "$(show_missing_ages walked)" 00
ok "counters and walk: many chains" [ "$(show_group_sums walked | wc -l)" -ge 10 ]
ok "counters and walk: alike" equals "$(show_group_sums counted)" "$(show_group_sums walked)"
ok "live, counted: exact" file_has "$work/live_counted" "^ +1 +2.0M +100.0% +437.5K +$requests\$"
ok "live, by age: exact" file_has "$work/live_walked" "^ +1 +2.0M +100.0% +437.5K +$requests +[0-9]+s\$"
# The kernel names the charged cgroup by its path; an object without one has no path.
ok "asks by cgroups" run_ownertop_guest slab_owner=on "mount -t cgroup2 none /sys/fs/cgroup
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir '/sys/fs/cgroup/a planter' && echo \$\$ >'/sys/fs/cgroup/a planter/cgroup.procs'
	insmod /extra/owner_truth.ko; grep -w truth_accounted \$debug/owner_truth; echo ===
	ownertop -g cgroup --csv 'if module == owner_truth && cgroup == \"/a planter\"'; echo ===
	ownertop -g cgroup 'if cgroup == /a' \$debug/slab_owner" accounted charged records
ok "cgroups: exact" equals "$(tr -d '\r' <"$work/charged" | awk -F , '$1 == "group" { print $3, $4, $8 }')" \
	"$(cut -d ' ' -f 3,4 "$work/accounted") \"/a planter\""
ok "cgroups: records do not tell" file_has "$work/records" '^undecided: .* does not tell their cgroup'

# Frames of an unloaded module, or of freed init text, are plain addresses. A copy of
# kallsyms that was made before has their names.
ok "lets a module go" run_ownertop_guest slab_owner=on "insmod /extra/owner_corners.ko corner=leave
	left() { ownertop --json -d 1 -g stack \"\$@\" 'if size == 500' \$debug/slab_owner; }
	unnamed() { ownertop folded \"\$@\" \$debug/slab_owner 2>/dev/null | grep -o '\(^\|;\)0x[0-9a-f]*' | wc -l; }
	cat /proc/kallsyms >/tmp/kallsyms; left; echo ===; rmmod owner_corners
	left; echo ===; left --kallsyms /tmp/kallsyms; echo ===
	unnamed; unnamed --kallsyms /tmp/kallsyms" there gone named unnamed
ok "it had a name" file_has "$work/there" '"objects": 3, .*"stack": \["corner_alloc\+.* \[owner_corners\]"\]'
ok "which is an address then" file_has "$work/gone" '"objects": 3, .*"stack": \["0x[0-9a-f]*"\]'
ok "kallsyms names it as the kernel did" equals "$(grep '"rank": 1,' "$work/named")" \
	"$(grep '"rank": 1,' "$work/there")"
# Addresses of the modules' init functions remain: they were freed before the copy was
# made.
most_are_named() { awk 'NR == 1 { all = $1 } END { exit !($1 < all / 4) }' "$work/unnamed"; }
ok "and what only boots" most_are_named

# The source line comes from the debug information of vmlinux and the module.
line=$(grep -n 'kmalloc(sizeof(\*session)' tools/testing/owner/modules/owner_leak.c | cut -d : -f 1)
resolve_frames()
{
	build/ownertop/ownertop -s objects --json -n 1 -d 2 "$work/dump" --vmlinux "build/$kernel/vmlinux" \
		--modules "$modules" >"$work/out" 2>"$work/err"
}
ok "is dumped" run_ownertop_guest "slab_owner=on page_owner=on" "insmod /extra/owner_leak.ko requests=$requests &&
	cat \$debug/slab_owner && echo === && cat \$debug/page_owner" dump page_dump
ok "is resolved with vmlinux and the module" resolve_frames
ok "every function was found" equals "$(cat "$work/err")" ""
ok "the line that leaks is named" file_has "$work/out" "leak_open_session\+[^ ]* [^ ]*owner_leak.c:$line \[owner_leak\]"

# Inlined functions are named, and the allocator's own frames are skipped.
fold_page_callers()
{
	build/ownertop/ownertop folded -g func "$work/$1" --vmlinux "build/$kernel/vmlinux" \
		--modules "$modules" >"$work/out" 2>"$work/err"
}
ok "pages are resolved" fold_page_callers page_dump
ok "no page is the allocator's" equals \
	"$(grep -cE '^(set_page_owner|.*save_stack_trace|.*prep_new_page|.*folio_alloc|.*alloc_pages)' "$work/out")" 0
ok "functions that have pages" [ "$(wc -l <"$work/out")" -ge 40 ]

ok "page_owner_sort of 6.12 says the same in each of its modes" \
	tools/mm/ownertop/tests/against_page_owner_sort.py build/ownertop/ownertop \
	build/tree/tools/mm/page_owner_sort.c "$work/page_dump"

# The kernel's estimate from samples equals ownertop's.
ok "estimates of samples" run_ownertop_guest 'slab_owner=on owner="sample=1/8 if size == 200"' \
	"insmod /extra/owner_leak.ko requests=$requests
	ownertop -g func 'if module == owner_leak' -s objects --csv; echo ===
	ownertop -g func 'if module == owner_leak' -s objects --csv \$debug/slab_owner; echo ===
	ownertop -g func 'if module == owner_leak' --live=0.2 -c 2 >/tmp/live
	cat /tmp/live" asked_sampled read_sampled live_sampled
# show_leak_estimate ANSWER: of the leak, "objects records error"
show_leak_estimate() { awk -F , '$1 == "group" && $2 == 1 { print $3, $8, $9 }' "$work/$1"; }
estimate_is_near()
{
	show_leak_estimate "$1" | awk -v all="$requests" '{ off = $1 - all }
		END { exit !(NR == 1 && $2 < all / 6 && $3 > 0 && off < 5 * $3 && off > -5 * $3) }'
}
estimates_are_alike()
{
	echo "$(show_leak_estimate asked_sampled) $(show_leak_estimate read_sampled)" |
		awk '{ exit !($2 == $5 && $1 - $4 < 0.001 * $1 + 1 && $4 <= $1) }'
}
ok "samples: the leak is estimated" estimate_is_near asked_sampled
ok "samples: alike" estimates_are_alike
ok "samples: live tells the errors" file_has "$work/live_sampled" '^estimated from [0-9]+ samples'
# page_owner is off in the guests above: its own allocations would count as the leak's.
ok "reads pages as well" run_ownertop_guest "slab_owner=on page_owner=on" \
	"ownertop --json -n 1 \$debug/page_owner \$debug/slab_owner; echo ===
	ownertop --json -n 1 \$debug/page_owner_stacks/show_stacks" both pages
ok "pages of slabs are set aside" file_has "$work/both" '"set_aside": {"objects": [1-9]'
ok "page_owner: all was read" report_is_complete both
ok "page_owner_stacks: all was read" report_is_complete pages
# For pages, too, the kernel's answer equals the result of reading. Only a result of
# reading counts filtered records, and only the kernel's answer knows the cache of a slab's
# pages.
planted='module == owner_pages'
ok "asks for pages" run_ownertop_guest "slab_owner=on page_owner=on" "insmod /extra/owner_pages.ko
	cat \$debug/owner_pages; echo ===
	csv() { ownertop --csv -s objects -n 0 \"\$@\"; }
	both=\"\$debug/slab_owner \$debug/page_owner\"
	csv -g func,comm 'if kind == page && $planted'; echo ===
	csv -g func,comm 'if kind == page && $planted' \$debug/page_owner; echo ===
	csv -g func,kind 'if kind == slab,page,percpu && $planted'; echo ===
	csv -g func,kind 'if kind == slab,page,percpu && $planted' \$both; echo ===
	csv -g func,nid 'if $planted && order == 2 && gfp == __GFP_COMP'; echo ===
	csv -g func,order 'if kind == page && func == pages_compound'; echo ===
	csv -g func 'if kind == slab,page && func == pages_compound && gfp != GFP_ATOMIC'; echo ===
	csv -g kind 'if kind == slab,page'; echo ===
	csv -g cache 'if kind == page && cache == kmalloc-64'; echo ===
	(echo 'if kind == page && func == pages_compound' >&0; cat <&0) \
		0<>\$debug/owner/query >/tmp/records
	cat /tmp/records; echo ===
	csv -g func /tmp/records; echo ===
	ownertop --live=0.2 -c 2 -g func 'if kind == page && $planted' >/tmp/live
	cat /tmp/live" planted asked_pages read_pages asked_all read_all by_node by_order by_gfp \
	by_kind by_cache records of_records live_pages
# show_planted_groups ANSWER: of the planted groups, "FUNCTION MODULE,... OBJECTS BYTES HELD"
show_planted_groups()
{
	tr -d '\r' <"$work/$1" | grep -F '[owner_pages]' |
		awk -F , '{ print $8, $9, $3, $4, $5 }' | tr -d '"' | sort
}
# The planted "FUNCTION OBJECTS BYTES"
show_planted_truth()
{
	tr -d '\r' <"$work/planted" | awk '{ n[$1] += $3; bytes[$1] += $3 * 4096 * 2 ^ $2 }
		END { for (f in n) print f, n[f], bytes[f] }' | sort
}
was_answered_by_kernel() { file_has "$work/$1" '^total' && file_lacks "$work/$1" '^filtered_out'; }
show_planted_sums() { show_planted_groups "$1" | awk '{ print $1, $(NF - 2), $(NF - 1) }'; }
ok "pages: as planted" equals "$(show_planted_sums asked_pages)" "$(show_planted_truth)"
ok "pages: asked as read" equals "$(show_planted_groups asked_pages)" "$(show_planted_groups read_pages)"
ok "pages and objects: asked as read" equals "$(show_planted_groups asked_all)" "$(show_planted_groups read_all)"
ok "pages and objects: of both" [ "$(show_planted_groups asked_all | grep -c ' slab ')" -ge 1 ]
for way in asked_pages asked_all by_node by_kind by_cache; do
	ok "$way: was asked" was_answered_by_kernel "$way"
done
for way in read_pages read_all by_order by_gfp; do
	ok "$way: was read" file_has "$work/$way" '^filtered_out'
done
compound="pages_compound [owner_pages]"
ok "pages: by gfp and order" equals "$(show_planted_groups by_node)" "$compound 0 5 81920 81920"
ok "pages: by order" equals "$(show_planted_groups by_order)" "$compound 2 5 81920 81920"
ok "pages: gfp of both is read" equals "$(show_planted_groups by_gfp)" "$compound  5 81920 81920"
ok "pages: of slabs are set aside" file_has "$work/by_kind" '^set_aside,,[1-9]'
ok "pages: of a cache" file_has "$work/by_cache" '^group,1,[1-9].*"kmalloc-64"'
ok "pages: one by one" equals "$(grep -c '^Page allocated' "$work/records")" 5
ok "pages: the kernel's own records" file_has "$work/records" '^# generation'
ok "pages: can be read again" equals "$(show_planted_groups of_records)" "$compound  5 81920 81920"
ok "live: pages" [ "$(grep -c '20  *[0-9]*s  *pages_ordered \[owner_pages\]' "$work/live_pages")" -ge 2 ]
ok "asks for pages alone" run_ownertop_guest "page_owner=on" "insmod /extra/owner_pages.ko
	ownertop --csv -n 0 -g func,comm 'if kind == page && $planted'" alone
ok "pages alone: as planted" equals "$(show_planted_sums alone)" "$(show_planted_truth)"
ok "live: several tables" [ "$(grep -c ' total$' "$work/live")" -ge 4 ]
ok "live: the leak was not there" equals "$(grep -m1 -A1 'CALL CHAIN' "$work/live" | grep -c leak_open_session)" 0
ok "live: and came" equals "$(grep -A1 'CALL CHAIN' "$work/live" | tail -n 1 | grep -c leak_open_session)" 1
ok "live: nothing was damaged" file_lacks "$work/live" INCOMPLETE
finish_tests
