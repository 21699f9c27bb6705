#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# slab_owner: each file has the inodes of files that the test creates, rules are written and read
# back, errors change nothing, and afterwards all is as it was.

. "$(dirname "$0")/owner_helpers.sh"

begin_tests slab_owner slab_owner_wanted CONFIG_SLAB_OWNER
if ! grep -q '^shmem_inode_cache[[:space:]]' "$debug/owner/caches"; then
	skip_all "needs tmpfs with inodes of its own: CONFIG_SHMEM"
fi
ktap_set_plan 24

number=300
inodes="cache == shmem_inode_cache"

create_files()
{
	# shellcheck disable=SC2016 # for the planter's shell
	plant 'while [ $((i += 1)) -le '"$number"' ]; do : >'"$files"'/$i; done'
	mine="$inodes && pid == $planter"
}

remove_files() { rm -f "$files"/*; }

[ ! -e "$control" ] || write_rules "track=on depth=8 sample=all if comm == ksft_owner"
create_files

check "the modes of files are those of the documentation" has_mode 400 slab_owner \
	slab_owner_stacks/show_stacks slab_owner_stacks/show_handles \
	slab_owner_stacks/show_stacks_handles owner/caches owner/stats owner/top
check "... and of those that can be written" has_mode 600 slab_owner_stacks/count_threshold \
	owner/control owner/query

is_inode='is["cache"] == "shmem_inode_cache"'
check "slab_owner has a record of each inode" equals \
	"$(sum_records slab_owner "$is_inode")" "$number"
check_rules "owner/query counts them" equals "$(ask_sum objects "$mine")" "$number"
check_rules "... and their bytes as slab_owner does" equals "$(ask_sum bytes "$mine")" \
	"$(sum_records slab_owner "$is_inode ? is[\"size\"] : 0")"
check_rules "... and the memory that they take" equals "$(ask_sum held "$mine")" \
	"$(sum_records slab_owner "$is_inode ? is[\"slab\"] : 0")"
check_rules "... and lists each of them" equals \
	"$(ask "format=tsv if $mine" | read_column cache object | sort | uniq -c | tr -s ' ')" \
	" $number shmem_inode_cache"

handle=$(ask "group=handle sort=objects top=1 format=tsv if $mine" | read_column handle group)
# A condition about the cache makes the query walk memory instead of reading counters.
count_chain() { ask_sum objects "$inodes && handle == $handle"; }
handle_agrees() { equals "$(sum_of_handle "$handle")" "$(count_chain)"; }
stack_agrees() { equals "$(sum_of_stack "$handle")" "$(count_chain)"; }
check_rules "show_handles agrees about their call chain" settle handle_agrees
check_rules "... and so does show_stacks" settle stack_agrees
check_rules "... which has most of them" [ "$(count_chain)" -ge $((number / 2)) ]
# Of a sample this file counts the records.
caches_agree()
{
	equals "$(awk '$1 == "shmem_inode_cache" { print $3 }' "$debug/owner/caches")" \
		"$(ask_sum records "$inodes")"
}
check_rules "owner/caches agrees about the cache" settle caches_agree

echo $((number / 2)) >"$stacks/count_threshold"
check "count_threshold is read back" equals "$(cat "$stacks/count_threshold")" $((number / 2))
check "... and omits chains with fewer objects" equals \
	"$(list_small_sums $((number / 2)))" ""

remove_files
no_record_is_left() { equals "$(sum_records slab_owner "$is_inode")" 0; }
check "no record is left of inodes that are freed" settle no_record_is_left

rules="depth=2 sample=all track=on if comm == ksft_owner
track=off if comm == ksft_owner && cache == ext4_inode_cache"
check_rules "rules are taken" write_rules "$rules"
check_rules "... and read back" equals "$(list_rules | tail -n 2)" "$rules"
create_files
check_rules "a chain is as deep as its rule says" equals "$(list_depths "$mine")" 2
check_rules "a wrong rule is refused" refuses write_rules "depth=4 if cachr == dentry"
cat "$control" >"$work/error" 2>/dev/null
check_rules "... with a caret below the wrong word" caret_is_below cachr "$work/error"
check_rules "... and the rules stay" equals "$(list_rules | tail -n 2)" "$rules"
remove_files
[ ! -e "$control" ] || write_rules "track=off if comm == ksft_owner && $inodes"
create_files
check_rules "a rule stops the tracking of a cache" equals "$(ask_sum objects "$mine")" 0
ask "group=cachr" >"$work/error" 2>/dev/null
check_rules "a wrong question has a caret below the wrong word" caret_is_below cachr "$work/error"
remove_files

restore_changes
check_rules "the rules are those from before the test" equals "$(list_rules)" "$(cat "$work/rules")"
check "... and so is count_threshold" equals "$(cat "$stacks/count_threshold")" \
	"$(cat "$work/threshold")"
ktap_finished
