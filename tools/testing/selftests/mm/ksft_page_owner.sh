#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# page_owner: each file has the pages of a file that the test writes, rules decide about them, and
# afterwards all is as it was.

. "$(dirname "$0")/owner_helpers.sh"

begin_tests page_owner page_owner_get_stacks CONFIG_PAGE_OWNER
ktap_set_plan 18

# A file of 4 MiB, which the shell itself writes
bytes=$((4 << 20))
pages=$((bytes / $(stat -f -c %S "$files")))
write_file()
{
	# shellcheck disable=SC2016 # for the planter's shell
	plant 'while [ $((i += 1)) -le 64 ]; do printf %65536s x; done >'"$files/written"
	mine="kind == page && pid == $planter"
}

[ ! -e "$control" ] || write_rules "track=on depth=16 if comm == ksft_owner"
write_file

check "the modes of files are those of the documentation" has_mode 400 page_owner \
	page_owner_stacks/show_stacks page_owner_stacks/show_handles \
	page_owner_stacks/show_stacks_handles
check "... and of those that can be written" has_mode 600 page_owner_stacks/count_threshold \
	owner/control owner/query

count_pages() { sum_records page_owner 'pages(is["order"])'; }
count_bytes() { ask_sum bytes "$mine"; }
owned=$(count_pages)
check "page_owner has a record of each page" [ "$owned" -ge "$pages" ]
agrees() { equals "$(count_bytes)" $(($(count_pages) * bytes / pages)); }
check_rules "owner/query counts them" settle agrees
check_rules "... and lists each of them" equals \
	"$(ask "format=tsv if $mine" | read_column pid object | sort -u)" "$planter"

# The chain that has most of them. Other tasks write to tmpfs as well.
handle=$(ask "group=handle sort=bytes top=1 format=tsv if $mine" | read_column handle group)
count_chain() { echo $(($(ask_sum bytes "kind == page && handle == $handle") * pages / bytes)); }
handle_agrees() { equals "$(sum_of_handle "$handle")" "$(count_chain)"; }
stack_agrees() { equals "$(sum_of_stack "$handle")" "$(count_chain)"; }
check_rules "show_handles agrees about their call chain" settle handle_agrees
check_rules "... and so does show_stacks" settle stack_agrees
check_rules "... which has most of them" [ "$(count_chain)" -ge $((pages / 2)) ]

echo $((pages / 2)) >"$stacks/count_threshold"
check "count_threshold is read back" equals "$(cat "$stacks/count_threshold")" $((pages / 2))
check "... and omits chains with fewer pages" equals \
	"$(list_small_sums $((pages / 2)))" ""

rm "$files/written"
# Its slabs stay.
pages_have_gone() { equals $((owned - $(count_pages))) "$pages"; }
check "no record is left of pages that are freed" settle pages_have_gone

rules="depth=2 track=on if kind == page && comm == ksft_owner"
check_rules "rules are taken" write_rules "$rules"
check_rules "... and read back" equals "$(list_rules | tail -n 1)" "$rules"
write_file
check_rules "a chain is as deep as its rule says" equals "$(list_depths "$mine")" 2
rm "$files/written"
[ ! -e "$control" ] || write_rules "track=off if kind == page && comm == ksft_owner"
write_file
check_rules "a rule stops the tracking of pages" equals "$(ask_sum objects "$mine")" 0
ask "group=order,gpf if kind == page" >"$work/error" 2>/dev/null
check_rules "a wrong question has a caret below the wrong word" caret_is_below gpf "$work/error"
rm "$files/written"

restore_changes
check_rules "the rules are those from before the test" equals "$(list_rules)" "$(cat "$work/rules")"
check "... and so is count_threshold" equals "$(cat "$stacks/count_threshold")" \
	"$(cat "$work/threshold")"
ktap_finished
