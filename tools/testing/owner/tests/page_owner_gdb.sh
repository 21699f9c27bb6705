#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Run gdb's lx-dump-page-owner on planted pages of a vmcore, and compare its output with
# the file page_owner of the same guest. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

seen="$work/err $work/gdb"

take_vmcore()
{
	tools/testing/owner/guest/guest.py vmcore "$kernel" --append "page_owner=on nokaslr page_owner_depth=$1" \
		--output "$work/core" --mem 256M --timeout 900 --extra "$modules" \
		--cmd "insmod /extra/owner_pages.ko; cat /sys/kernel/debug/page_owner" \
		>"$work/page_owner" 2>"$work/err"
}

# find_record FRAME: find the first record of the file whose chain has the frame; leaves
# $work/record and $pfn
find_record()
{
	awk -v frame="^ $1[+]" 'BEGIN { RS = ""; FS = "\n" }
		{ for (i = 3; i <= NF && $i !~ frame; i++); if (i > NF) next
		  print; exit }' "$work/page_owner" >"$work/record"
	pfn=$(sed -n 's/^PFN 0x\([0-9a-f]*\) .*/\1/p' "$work/record")
	pfn=$((0x$pfn))
}

run_gdb_command()
{
	gdb -batch -nx -iex "set auto-load safe-path /" -iex "set debuginfod enabled off" \
		-ex "source build/$kernel/vmlinux-gdb.py" -ex "$1" \
		"build/$kernel/vmlinux" "$work/core" >"$work/gdb" 2>"$work/err"
}

read_record_head() { sed -n 's/.*order \([0-9]*\), .*pid:* \([0-9]*\), tgid:* \([0-9]*\) (\(.*\)), ts \([0-9]*\) ns.*/\1 \2 \3 \4 \5/p' "$1" | head -n 1; }
# Functions of vmlinux only: gdb does not know where modules are loaded.
list_frames_of_file() { sed -n 's/^ \([a-z_0-9.]*\)+.*[0-9a-f]$/\1/p' "$work/record"; }
list_frames_of_gdb()
{
	awk '/stack trace:$/ { exit } match($0, /<[a-z_0-9.]+[+]/) {
		print substr($0, RSTART + 1, RLENGTH - 2) }' "$work/gdb"
}

# Count the frames of the allocation: the chain of the last free is printed after it.
count_frames_of_gdb() { awk '/stack trace:$/ { exit } /^ *0x/ { n++ } END { print n }' "$work/gdb"; }

if [ ! -x /usr/bin/gdb ]; then
	skip_test "gdb reads page_owner" "no gdb; apt-get install gdb"
	finish_tests
fi
for depth in 16 40; do
	label="depth $depth"
	ok "a vmcore is taken" take_vmcore $depth
	find_record pages_deep
	ok "gdb dumps a page" run_gdb_command "lx-dump-page-owner --pfn $pfn"
	ok "it is allocated" file_has "$work/gdb" "page_owner tracks the page as allocated"
	ok "order, task and time are the file's" equals "$(read_record_head "$work/gdb")" "$(read_record_head "$work/record")"
	ok "so is the call chain" equals "$(list_frames_of_gdb)" "$(list_frames_of_file)"
	ok "as deep" equals "$(count_frames_of_gdb)" "$(grep -c '^ ' "$work/record")"
done
label=
find_record pages_ordered
ok "gdb dumps another" run_gdb_command "lx-dump-page-owner --pfn $pfn"
ok "that is the file's, too" equals "$(read_record_head "$work/gdb")" "$(read_record_head "$work/record")"
ok "gdb dumps all pages" run_gdb_command "lx-dump-page-owner"
list_pages_of_file()
{
	awk 'BEGIN { RS = ""; FS = "\n" } / pages_/ {
		match($1, /order [0-9]+/); order = substr($1, RSTART + 6, RLENGTH - 6)
		match($2, /0x[0-9a-f]+/); print order, substr($2, RSTART, RLENGTH) }' "$work/page_owner" |
	while read -r order pfn; do echo "$order $((pfn))"; done | sort
}
list_pages_of_gdb()
{
	sed -n 's/^Page allocated via order \([0-9]*\),.*/\1/p; s/^PFN: \([0-9]*\),.*/\1/p' "$work/gdb" |
	paste -d ' ' - - | sort
}
list_pages_of_file >"$work/file_pages"
list_pages_of_gdb >"$work/gdb_pages"
ok "some hundred are planted" [ "$(wc -l <"$work/file_pages")" -gt 300 ]
ok "each of them is there" equals "$(comm -12 "$work/file_pages" "$work/gdb_pages" | wc -l)" \
	"$(wc -l <"$work/file_pages")"
ok "a page frame that there is not is refused" run_gdb_command "lx-dump-page-owner --pfn 99999999"
ok "... with a word" file_has "$work/gdb" "pfn is invalid"
finish_tests
