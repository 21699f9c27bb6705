#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A module leaks until memory ends. The kernel's report names its functions: after the OOM
# killer, after a page allocation failure with interrupts disabled, and after sysrq-m. Prints
# TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

seen="$work/row $work/guest.err"
leak='echo 1000 >/proc/self/oom_score_adj; insmod /extra/owner_oom.ko'
reports='oom-killer|page allocation failure|Call Trace|[Oo]ut of memory'

# run_oom_guest APPEND CMD: the guest's memory ends on purpose.
run_oom_guest()
{
	append=$1
	cmd=$2
	shift 2
	run_guest "$append" "$cmd" --mem 256M --smp 2 --provokes "$reports" "$@"
}

# The lines of slab_owner's report, without the time.
show_rows() { sed -n 's/^\(\[[^]]*\] \)*slab_owner: /slab_owner /p' "$1"; }

# first_row FILE PATTERN: the row of the largest chain, which follows the header, matches.
first_row()
{
	show_rows "$1" | sed -n '/at least 1% of [0-9]* MiB:$/ { n; p; q }' >"$work/row"
	file_has "$work/row" "$2"
}

# The leak of 1 KiB objects is first and holds more than half of memory: "SIZE MiB P% N objects".
row="^slab_owner *[0-9]+ MiB +([5-9][0-9])% +[0-9]{6} objects  oom_leak_record \[owner_oom\] < "

ok "leaks until memory ends" run_oom_guest slab_owner=on "
	dmesg -c >/dev/null; echo m >/proc/sysrq-trigger; dmesg -c; echo ===
	($leak); dmesg -c"
split_output few killed

# A kernel that counts preemption says so if a slow guest had no time for all chains.
ok "nothing is printed of chains that hold little" file_lacks "$work/few" "slab_owner: .*(chains that|%)"
ok "... by sysrq-m" file_has "$work/few" "Mem-Info:"

ok "the OOM killer came" file_has "$work/killed" "insmod invoked oom-killer"
ok "... and the leak is first" first_row "$work/killed" "$row"
ok "... with its callers" file_has "$work/row" "oom_leak_batch \[owner_oom\] < "
# Other tasks may run out of memory, too, and be reported.
ok "a header precedes one to ten lines" equals \
	"$(show_rows "$work/killed" | awk '
		/at least 1% of [0-9]* MiB:$/ { bad += headers++ && !rows; rows = 0; next }
		{ bad += ++rows > 10 }
		END { print (headers >= 1), (rows >= 1), bad + 0 }')" "1 1 0"
ok "... of 160 columns" equals "$(show_rows "$work/killed" | awk 'length > 160')" ""
ok "... each of 1% of memory" \
	equals "$(show_rows "$work/killed" | awk '/%/ && !/at least/ && / 0% /')" ""

# A failure is reported once in ten seconds: this guest has no other before. The report has half
# a millisecond here, in which a busy host need not run the guest: its clock counts instructions.
ok "leaks with interrupts disabled" \
	run_oom_guest slab_owner=on "dmesg -c >/dev/null; ($leak atomic=1); dmesg" --icount --smp 1
ok "an allocation failed with interrupts disabled" \
	file_has "$work/out" "page allocation failure: order:0, .*GFP_ATOMIC"
ok "... and the leak is first" first_row "$work/out" "$row"
ok "... below oom_leak_atomically" file_has "$work/row" "oom_leak_atomically \[owner_oom\]"

ok "boots with oom=off" run_oom_guest slab_owner=on,oom=off "dmesg -c >/dev/null; ($leak); dmesg"
ok "... and the OOM killer came" file_has "$work/out" "insmod invoked oom-killer"
ok "... and nothing is printed" file_lacks "$work/out" "slab_owner: "

ok "samples, and tracks pages" run_oom_guest "slab_owner=on owner=sample=64K page_owner=on" \
	"dmesg -c >/dev/null; ($leak); dmesg"
ok "the leak of samples is first" first_row "$work/out" \
	"^slab_owner *[0-9]+ MiB +[0-9]+% +[0-9]+ objects  oom_leak_record "
ok "... and the header says so" file_has "$work/out" \
	"slab_owner: .* most slab memory \(estimated\), each at least"
# Each record of 1,024 bytes is sampled with the probability p = 1 - exp(-1024/65536), without
# regard to the others. The number of samples is binomial, so in one run of a thousand million
# it is six standard deviations from the mean. The leak ends when the OOM killer is called,
# before the report. The bytes are those of the objects, but for the rounding of each weight to
# less than two bytes, and of the sum to three digits.
samples_are_as_many_as_probable()
{
	awk '/records of 1024 bytes leaked/ { leaked = $(NF - 5) }
		/slab_owner: .*oom_leak_record / && !objects {
			for (i = 1; i < NF && $i != "objects"; i++) continue
			objects = $(i - 1); estimate = $(i - 4); unit = $(i - 3) }
		END {
			p = 1 - exp(-1024 / 65536); deviation = sqrt(leaked * (1 - p) / p)
			samples = objects * p; bytes = objects / 1024
			digits = length(int(bytes)) < 3 ? 3 - length(int(bytes)) : 0
			allowed = 0.5 / 10 ^ digits + (2 * samples + 1024) / 2 ^ 20
			printf "# %d of %d records estimated, from %.1f samples: ", objects, leaked, samples
			printf "%.2f standard deviations too many\n", (objects - leaked) / deviation
			printf "# %s %s estimated, %.3f MiB by their number\n", estimate, unit, bytes
			exit objects < leaked - 6 * deviation || objects > leaked + 6 * deviation ||
				unit != "MiB" || estimate - bytes > allowed ||
				bytes - estimate > allowed }' "$work/out"
}
ok "... and the samples and their estimate are right" samples_are_as_many_as_probable
ok "the pages of slabs are found, too" file_has "$work/out" "page_owner: .* pages  .*kmalloc"
finish_tests
