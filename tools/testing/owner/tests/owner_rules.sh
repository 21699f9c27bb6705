#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Test rules on the boot line and in owner/control. With "modules", test rules that are
# written and read by several tasks while modules come and go. Prints TAP.
usage='KERNEL [modules]'
. "$(dirname "$0")/prelude.sh"

seen=$work/console

# find_hits WORD: the hits of the rule that contains the word, from standard input.
find_hits() { sed -n "s/.*$1.*# [0-9]*: \(.*, \)*\([0-9]*\) hits*\(, .*\)*$/\2/p"; }

# Two tasks write tables of one rule and of four, two read them.
# shellcheck disable=SC2016,SC2086 # for the guest; two words or none
test_with_modules()
{
	ok "rules change while modules come and go" run_guest "slab_owner=on kfence.sample_interval=0" \
		"$let_modules_pass"'
		control=/sys/kernel/debug/owner/control
		for writer in 1 2; do
			i=0
			while [ $((i += 1)) -le 15 ]; do
				echo "clear; depth=2" >$control || echo refused
				echo "clear; depth=3 if func ~ passing_*; depth=4 if module ~ owner_[lp]*
					free=on if cache == kmalloc-32; sample=1/4 if size == 77" >$control ||
					echo refused
			done &
			writers="$writers $!"
		done
		for reader in 1 2; do
			i=0
			while [ $((i += 1)) -le 30 ]; do
				echo rules: $(grep -c "# [0-9]*: [0-9]" $control)
			done &
			writers="$writers $!"
		done
		wait $writers; echo ===
		echo "clear; depth=3 if module == owner_leak && cache == kmalloc-256
			depth=4 if func == passing_init && size == 77" >$control
		insmod /extra/owner_leak.ko requests=100
		before=$(cat /tmp/passed)
		while [ "$(cat /tmp/passed)" -lt $((before + 3)) ]; do sleep 1; done
		cat $control' --smp 4
	split_output changes rules
	ok "each reader finds one table or the other" \
		equals "$(sort -u "$work/changes" | paste -s -d ";")" "rules: 1;rules: 4"
	ok "a rule about a module that stays is exact" equals \
		"$(find_hits owner_leak <"$work/rules")" 100
	ok "one about a function of a module that comes is followed" [ \
		"$(find_hits passing_init <"$work/rules")" -ge 20 ]
}

if [ "${2:-}" = modules ]; then
	test_with_modules
	finish_tests
fi

# boot_with_rules RULES: boot with rules on the command line
boot_with_rules()
{
	tools/testing/owner/guest/guest.py run "$kernel" --append "slab_owner=on owner=\"$1\"" \
		--console "$work/console" --cmd true >/dev/null 2>"$work/err"
}

ok "boots with rules" boot_with_rules "depth=2; depth=1 if size < 64; depth=8 if comm != 'my prog'"
ok "of which nothing is to be said" file_lacks "$work/console" "slab_owner: owner="
ok "boots with a wrong rule" boot_with_rules "depth=2; depth=1 if sizee < 64"
ok "of which is said what is wrong" \
	file_has "$work/console" "owner= .* no effect: no field is called 'sizee': did you mean 'size'"
ok "and where" file_has "$work/console" "^ {13}\^~~~~"

control=/sys/kernel/debug/owner/control
ok "boots with rules in two places" sh -c "tools/testing/owner/guest/guest.py run '$kernel' \\
	--append 'slab_owner=on owner=depth=2 owner=\"depth=1 if size < 64\"' --cmd 'cat $control' \\
	>'$work/out' 2>'$work/err'"
ok "both are in force" equals "$(sed -n 's/\t# [12]: .*//p' "$work/out" | paste -s -d ";")" \
	"depth=2;depth=1 if size < 64"
ok "control takes rules" sh -c "tools/testing/owner/guest/guest.py run '$kernel' \\
	--append slab_owner=ready --cmd '
	cd /tmp
	cat $control; echo ===
	printf \"depth=4 if cache == kmalloc-64\\ntrack=off if cache == kmalloc-8\\n\" >$control
	cat $control >read; cat read; echo ===
	{ echo \"depth=5; depth=4 if cachr == a\" >$control; } 2>/dev/null || echo refused
	cat $control; echo ===
	cat $control >again; cat again >$control && cat $control; echo ===
	cat /sys/kernel/debug/owner/caches' >'$work/out' 2>'$work/err'"
show_output_section() { awk -v n="$1" '/^===$/ { i++; next } i == n' "$work/out"; }
ok "ready captures nothing" equals "$(show_output_section 0)" "# no rules: nothing"
# Pages and per-CPU areas are hits of no rule.
hide_counts() { show_output_section "$1" | sed 's/otherwise: [0-9]* caches.*/otherwise: N caches/'; }
ok "rules are shown with the number of their caches" equals "$(hide_counts 1)" "depth=4 if cache == kmalloc-64	# 1: 1 cache
track=off if cache == kmalloc-8	# 2: 1 cache
# otherwise: N caches"
ok "a wrong text changes nothing, and says why" \
	equals "$(hide_counts 2)" "refused
depth=4 if cache == kmalloc-64	# 1: 1 cache
track=off if cache == kmalloc-8	# 2: 1 cache
# otherwise: N caches
# no field is called 'cachr': did you mean 'cache'?
#   depth=4 if cachr == a
#              ^~~~~"
ok "what is read can be written back" \
	equals "$(hide_counts 3)" "depth=4 if cache == kmalloc-64	# 1: 1 cache
track=off if cache == kmalloc-8	# 2: 1 cache
# otherwise: N caches"
ok "what a rule is about is tracked" [ "$(show_output_section 4 | awk '$1 == "kmalloc-64" { print $3 }')" -gt 0 ]
ok "nothing else is" equals "$(show_output_section 4 | awk '!/^#/ && $1 != "kmalloc-64" { n += $3 } END { print n }')" 0

# Each refused sentence has an error in the file and in the log. Of a long sentence both
# show the part around the caret.
ok "what control refuses" sh -c "tools/testing/owner/guest/guest.py run '$kernel' --console '$work/console' \\
	--append 'slab_owner=ready page_owner=on' --cmd '
	refused() { { cat >/tmp/text; dd if=/tmp/text of=$control bs=100000; } 2>/dev/null && echo taken
		grep \"^#\" $control | grep -v \"# no rules\|# otherwise\"; echo ===; }
	{ printf \"depth=4 if comm == \"; printf \"%0990d\" 0; echo \" && paid\"; } | refused
	yes \"# a comment\" | head -c 65537 | refused
	yes \"# a comment\" | head -c 65536 | refused
	echo \"depth=4 if size > 8; sample=64K if kind == page\" | refused
	for i in \$(seq 255); do echo sample=\${i}K; done | refused
	echo sample=256K | refused
	echo depth=2 sample=1/3 | refused
	echo depth=2 sample=255K | refused
	cat $control' >'$work/out' 2>'$work/err'"
# The wrong word is at the end of a line, with the caret below it.
caret_is_below_word()
{
	grep -a -A 2 -e "$2" "$3" | awk -v word="$1" '
		NR == 2 { at = index($0, word); left = length($0) - length(word) }
		NR == 3 { shown = at == left + 1 && substr($0, at) == "^~~~" && $0 !~ /[~^].*\^/ }
		END { exit !shown }'
}
show_output_section 0 >"$work/long"
long="no field is called 'paid': did you mean 'pid'?$"
ok "a long rule whose error is at its end" caret_is_below_word paid "^# $long" "$work/long"
tr -d "\r" <"$work/console" >"$work/log"
ok "in the log as well" caret_is_below_word paid "owner: control: $long" "$work/log"
ok "a text that is too long" equals "$(show_output_section 1)" "# at most 65536 bytes can be written at once, not 65537"
ok "and none that is not" equals "$(show_output_section 2)" taken
ok "samples of pages" equals "$(show_output_section 3)" \
	"# pages are not sampled, and this rule is about pages only: leave 'sample' out
#   sample=64K if kind == page
#   ^~~~~~"
ok "as many rates as there can be" equals "$(show_output_section 4)" taken
ok "and no more" equals "$(show_output_section 5)" \
	"# there have been 255 different sample= since boot: say one again
#   sample=256K
#   ^~~~~~~~~~~"
ok "of whatever kind" file_has "$work/out" "^#   depth=2 sample=1/3$"
ok "but those that have been" equals "$(show_output_section 7)" taken

# Without memory cgroups no object has a cgroup.
ok "boots without memory cgroups" sh -c "tools/testing/owner/guest/guest.py run '$kernel' \\
	--append 'slab_owner=ready cgroup_disable=memory' --cmd '
	{ echo \"depth=4 if task_cgroup == /a\" >$control; } 2>/dev/null || cat $control; echo ===
	exec 3<>/sys/kernel/debug/owner/query
	{ echo \"group=comm,cgroup\" >&3; } 2>/dev/null || cat <&3' >'$work/out' 2>'$work/err'"
none="there are no memory cgroups: they need CONFIG_MEMCG, and no cgroup_disable=memory"
ok "rules do not ask for them" equals "$(show_output_section 0)" "# no rules: nothing
# $none
#   depth=4 if task_cgroup == /a
#   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~"
ok "nor do queries" equals "$(show_output_section 1)" "$none
  group=comm,cgroup
  ^~~~~~~~~~~~~~~~~"

# Each example of rules in the documentation, as it is written there. The boot line's
# example is first, so that rule 2 exists and can be deleted.
text=Documentation/mm/slab_owner_language.rst
mkdir "$work/extra"
awk -v place="$work/extra/" '/^\t# control$/ { n++; example = place n }
	!/^\t/ { example = "" }
	example { sub("^\t", ""); print >example }' "$text"
boot_line=$(sed -n 's/^\t\(owner=".*"\)$/\1/p' "$text")
ok "the examples of the text" sh -c "tools/testing/owner/guest/guest.py run '$kernel' \\
	--append 'slab_owner=on $boot_line' --extra '$work/extra' --cmd '
	cat $control; echo ===
	for example in \$(grep -l ^del /extra/*) \$(grep -L ^del /extra/*); do
		grep -q ^del \$example || { echo clear >$control; }
		cat \$example >$control || echo refused; cat $control
	done' >'$work/out' 2>'$work/err'"
strip_rule_use() { sed -n 's/\t# [0-9]*: .*//p' "$1"; }
show_output_section 0 >"$work/boot"
show_output_section 1 >"$work/control"
ok "the boot line's rules" \
	equals "$(strip_rule_use "$work/boot" | paste -s -d ";" | sed 's/;/; /g')" "$(echo "$boot_line" | cut -d '"' -f 2)"
ok "and what the others leave" equals "$(strip_rule_use "$work/control")" "sample=1M
$(sed '/^#/d; /^del/d' "$work"/extra/*)"
ok "there were four" equals "$(find "$work/extra" -type f | wc -l)" 4

# Effects of some examples: in state ready, only what the rules select is captured. A
# script runs under its own name. While it has /proc/version open, it holds an object of 32 bytes.
cat >"$work/extra/mysqld" <<'END'
#!/bin/sh
for i in 1 2 3 4 5 6 7 8 9; do >/tmp/$1$i; done
exec 4</proc/version
[ $# = 1 ] || { exec 3<>/sys/kernel/debug/owner/query; echo "$2" >&3; cat <&3; }
END
chmod +x "$work/extra/mysqld"
echo "$boot_line" | cut -d '"' -f 2 >"$work/extra/boot_line"
ok "what the examples do" sh -c "tools/testing/owner/guest/guest.py run '$kernel' \\
	--append 'slab_owner=ready kfence.sample_interval=0' --extra '$work/extra' --cmd '
	ask() { exec 3<>/sys/kernel/debug/owner/query; echo \"\$1 format=tsv \$2\" >&3; cat <&3; echo ===; }
	rules() { echo clear >$control; cat >$control; }
	for name in mysqld-helper other; do cp /extra/mysqld /tmp/\$name; done
	rules <\$(grep -l mysqld, /extra/*)
	/extra/mysqld a; /tmp/mysqld-helper b; /tmp/other c
	ask group=comm
	rules </extra/boot_line; echo \"sample=all if comm == other && cache ~ kmalloc-*\" >$control
	/tmp/other d \"group=stack.full format=tsv if comm == other && size < 64\"; echo ===
	{ echo depth=2; cat \$(grep -l maple_node /extra/*); } | rules
	sleep 1000 &
	ask group=cache \"if cache == maple_node,vm_area_struct\"
	kill \$!' >'$work/out' 2>'$work/err'"
list_group_names() { show_output_section "$1" | awk -F '\t' '$1 == "group" { print $NF }' | sort | paste -s -d " "; }
ok "one service, and nothing else" equals "$(list_group_names 0)" "mysqld mysqld-helper"
ok "no more than the caller of what is small" sh -c \
	"echo '$(list_group_names 1)' | grep '+0x' | grep -v ';'"
ok "not what is too busy" equals "$(list_group_names 2)" vm_area_struct

# Rules about functions and modules: before the module is loaded, while it is loaded, and
# after it is unloaded and another module has its addresses.
show_rule_hits() { show_output_section "$1" | find_hits "$2"; }
ok "rules follow modules" sh -c "tools/testing/owner/guest/guest.py run '$kernel' \\
	--append 'slab_owner=ready kfence.sample_interval=0' --extra '$modules' --cmd '
	printf \"%s\n\" \"depth=3 if module == owner_leak && cache == kmalloc-256\" \\
		\"depth=4 if func ~ user_open_* && cache == kmalloc-256\" \\
		\"depth=5 if func == user_init && size == 201\" >$control
	insmod /extra/owner_leak.ko requests=100; cat $control; echo ===
	insmod /extra/owner_user.ko; cat $control; echo ===
	rmmod owner_user; rmmod owner_leak; insmod /extra/owner_truth.ko; cat $control; echo ===
	insmod /extra/owner_leak.ko requests=50; cat $control; echo ===
	echo \"clear; depth=6 if module == owner_leak && cache == kmalloc-256\" >$control
	insmod /extra/owner_user.ko; cat $control; echo ===
	printf \"%s\n\" clear \"depth=7 if func == user_init && cache == kmalloc-256\" >$control
	rmmod owner_user; insmod /extra/owner_user.ko; cat $control' >'$work/out' 2>'$work/err'"
ok "of a module that comes" equals "$(show_rule_hits 0 owner_leak)" 100
ok "of a function that comes, once it is called" equals "$(show_rule_hits 0 user_open) $(show_rule_hits 1 user_open)" "0 30"
ok "of none that has gone" equals "$(show_rule_hits 2 owner_leak) $(show_rule_hits 2 user_open)" "100 30"
ok "of one that comes again" equals "$(show_rule_hits 3 owner_leak)" 150
ok "of one that is there already" equals "$(show_rule_hits 4 owner_leak)" 30
ok "of a function that is there while its module is initialized" equals "$(show_rule_hits 5 user_init)" 30

# A cgroup is named by its path. Check objects that a task in it allocates and objects
# that are charged to it.
ok "rules and queries about a memory cgroup" sh -c "tools/testing/owner/guest/guest.py run '$kernel' \\
	--append 'slab_owner=ready page_owner=on kfence.sample_interval=0' \\
	--extra '$modules' --cmd '
	ask() { exec 3<>/sys/kernel/debug/owner/query; echo \"\$1\" >&3; cat <&3; }
	mount -t cgroup2 none /sys/fs/cgroup && echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir /sys/fs/cgroup/a /sys/fs/cgroup/b
	printf \"%s\n\" \"depth=4 if task_cgroup ~ /[ax] && cache ~ owner_truth*\" \\
		\"depth=2 if cache == shmem_inode_cache\" >$control
	(exec sh -c \"echo \\\$\\\$ >/sys/fs/cgroup/b/cgroup.procs; insmod /extra/owner_truth.ko\")
	cat $control; echo ===
	rmmod owner_truth
	(exec sh -c \"echo \\\$\\\$ >/sys/fs/cgroup/a/cgroup.procs; insmod /extra/owner_truth.ko
		dd if=/dev/zero of=/tmp/a bs=64k count=16 2>/dev/null
		for i in 1 2 3 4 5 6 7 8 9; do >/tmp/a\\\$i; done\")
	(exec sh -c \"echo \\\$\\\$ >/sys/fs/cgroup/b/cgroup.procs
		for i in 1 2 3 4 5 6 7; do >/tmp/b\\\$i; done\")
	cat $control; echo ===
	ask \"group=cgroup,cache format=tsv if cache ~ owner_truth*\"; echo ===
	ask \"group=cache format=tsv if cgroup == /a\"; echo ===
	ask \"group=cgroup format=tsv if kind == page && func ~ shmem_*\"; echo ===
	ask \"group=gfp format=tsv if kind == page && cgroup == /a && func ~ shmem_*\"; echo ===
	ask \"group=gfp\"; echo ===
	ask \"group=cgroup,cache format=tsv if cache == shmem_inode_cache\"' >'$work/out' 2>'$work/err'"
ok "of another cgroup it is not" equals "$(show_rule_hits 0 cgroup)" 0
ok "of this it is" [ "$(show_rule_hits 1 cgroup)" -gt 50 ]
show_group_cell() { show_output_section "$1" | awk -F '\t' -v key="$2" '$1 == "group" && $(NF - 1) " " $NF ~ key { print $3 }'; }
ok "objects by the cgroup that they are charged to" equals "$(show_group_cell 2 '^/a owner_truth_acct$')" 19
ok "and those that are not" equals "$(show_group_cell 2 '^- owner_truth$')" 40
ok "neighbours of two cgroups" \
	equals "$(show_group_cell 7 '^/a shmem_inode_cache$') $(show_group_cell 7 '^/b shmem_inode_cache$')" "10 7"
ok "only those of a cgroup" equals "$(show_group_cell 3 ' owner_truth')" 19
ok "pages by their cgroup" [ "$(show_group_cell 4 ' /a$')" -ge 256 ]
ok "pages by their gfp flags" [ "$(show_group_cell 5 ' GFP_[A-Z_|]*$')" -ge 256 ]
ok "of slab objects these are not known" equals "$(show_output_section 6 | sed -n "s/^.gfp./gfp/p")" \
	"gfp is kept of pages only: say kind == page"
finish_tests
