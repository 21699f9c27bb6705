#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Boot with lockdown=integrity, as a machine under Secure Boot does. Files of mode 0400 are
# read, all others cannot be opened, and owner/top answers. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

seen="$work/out $work/console"

# Modules without a signature cannot be loaded, so files hold most: one inode each.
files=5000
# shellcheck disable=SC2016 # for the guest's shell
list_and_open='
	dmesg | grep "Kernel is locked down"; echo ===
	mkdir /tmp/files; while [ $((i += 1)) -le '$files' ]; do >/tmp/files/$i; done
	cd /sys/kernel/debug
	for file in page_owner slab_owner page_owner_stacks/* slab_owner_stacks/* owner/*; do
		mode=$(stat -c %a $file)
		if error=$(cat $file 2>&1 >/tmp/content); then
			echo "$file $mode read $(wc -c </tmp/content)"
		else
			echo "$file $mode ${error##*: }"
		fi
		cp /tmp/content /tmp/$(echo $file | tr / _)
	done; echo ===
	cat /tmp/owner_top'
ok "boots locked down" run_guest \
	"slab_owner=on page_owner=on lockdown=integrity kfence.sample_interval=0" \
	"$list_and_open"
split_output state files top
ok "is locked down" file_has "$work/state" "locked down from command line"
seen=$work/files

# The documentation lists each file with its mode.
list_documented()
{
	awk '/^(slab_owner|owner|page_owner)/ && $2 ~ /^0[46]00$/ { print $1, $2 + 0 }' \
		Documentation/mm/slab_owner.rst |
	if grep -q '^CONFIG_SLAB_OWNER_USER=y' "build/$kernel/.config"; then
		cat
	else
		grep -v '^owner/binaries '
	fi
	for file in show_stacks show_handles show_stacks_handles; do
		echo "page_owner_stacks/$file 400"
	done
	echo "page_owner_stacks/count_threshold 600"
}
ok "each file has the documented mode" equals "$(cut -d ' ' -f 1,2 "$work/files" | sort)" \
	"$(list_documented | sort)"
# owner/binaries is empty without a rule with user=on.
ok "files of mode 0400 are read, and have content" equals \
	"$(awk '$2 == 400 && !($3 == "read" && ($4 || $1 == "owner/binaries"))' "$work/files")" ""
ok "all others cannot be opened" \
	equals "$(awk '$2 != 400' "$work/files" | sort)" "owner/control 600 Operation not permitted
owner/query 600 Operation not permitted
page_owner_stacks/count_threshold 600 Operation not permitted
slab_owner_stacks/count_threshold 600 Operation not permitted"

seen=$work/top
ok "top says who holds most, and how much" \
	equals "$(awk '$3 ~ /%$/ { print ($4 >= '$files' && $4 < '$files' + 100), $5; exit }' "$work/top")" \
	"1 shmem_alloc_inode"
ok "... in ten rows of slab objects and ten of pages" \
	equals "$(grep -c '^ *[0-9.]* [KMG]*i*B  *[0-9.]*%' "$work/top")" 20
ok "... of 80 columns" equals "$(awk 'length > 80' "$work/top")" ""
ok "... the largest first" equals "$(awk '/^[0-9]/ { last = 100 }
	$3 ~ /%$/ { share = $3 + 0; if (share > last) print; last = share }' "$work/top")" ""

ok "boots without page_owner" run_guest "slab_owner=on" "cat $debug/owner/top"
ok "top says how to track pages" file_has "$work/out" "^pages are not tracked: boot with page_owner=on"
ok "boots without slab_owner" run_guest "page_owner=on" "cat $debug/owner/top"
ok "top says how to track slab objects" \
	file_has "$work/out" "^slab objects are not tracked: boot with slab_owner=on"
finish_tests
