#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Check the stack depot's bound on a running kernel. Prints TAP. TASKS tasks leave an object
# each while BOUND bounds the depot.
usage='KERNEL [TASKS BOUND]'
. "$(dirname "$0")/prelude.sh"

# boot_with_statistics WORDS [COMMAND]: leaves the statistics of the depot and of slab_owner
# in $work/out. Each of 300 tasks leaves a file behind. COMMAND runs before the chains of
# owner_leak are saved.
# shellcheck disable=SC2016 # for the guest's shell
boot_with_statistics()
{
	tools/testing/owner/guest/guest.py run "$kernel" --append "$1" --timeout 900 --mem "$mem" \
		--extra "$modules" --console "$work/console" --cmd '
		for i in $(seq 300); do (: >/tmp/$i); done
		'"${2:-:}"'
		insmod /extra/owner_leak.ko requests=3000 || exit
		cd /sys/kernel/debug
		grep -s . stackdepot/stats owner/stats | tr : " "
		echo "slab_owner no_room $(grep -s -c "^ stack_depot_no_room+" slab_owner)"
		[ ! -e page_owner_stacks ] || cat page_owner_stacks/show_stacks >/dev/null' >"$work/out" 2>"$work/err"
}

read_figure() { awk -v file="$1" -v name="$2" '$1 == file && $2 == name { print $3 }' "$work/out"; }
read_depot_figure() { read_figure stackdepot/stats "$1"; }
count_bound_notices() { grep -c "stackdepot: .*bound" "$work/console"; }

# A pool has a page at least, and a bound has room for 16 pools at least.
bound=262144
mem=512M
# owner_pages allocates 8,192 pages.
[ "$recipe" != arm64-64k ] || bound=1048576 mem=2G

# slab_debug never frees its stacks.
ok "boots without a bound" boot_with_statistics "slab_owner=on page_owner=on slab_debug=U"
for name in pools refcounted_allocations refcounted_frees refcounted_in_use \
	freelist_size persistent_count persistent_bytes; do
	ok "the line $name is still there" [ -n "$(read_depot_figure $name)" ]
done
ok "no owner is lost" equals "$(read_figure owner/stats lost_no_stack)" 0
ok "nor has less than it should" equals "$(read_figure owner/stats degraded_no_stack) $(read_figure slab_owner no_room)" "0 0"
ok "both kinds of stacks are in use" \
	[ "$(read_depot_figure persistent_count)" -gt 0 -a "$(read_depot_figure refcounted_in_use)" -gt 0 ]

# Chains of two frames come first, so that the depot has shorter ones when there is no room for the
# chains of the second 300 tasks. These do not fit into what some evicted chain leaves, or those of
# the next 300 do not: it depends on what is evicted meanwhile.
# shellcheck disable=SC2016 # for the guest's shell
ok "boots and allocates within 256K" boot_with_statistics \
	'slab_owner=on owner="depth=2 if kind == slab; depth=20 if kind == page" page_owner=on stack_depot_max=256K' \
	'insmod /extra/owner_pages.ko chains=8192
	echo clear >/sys/kernel/debug/owner/control
	n=0
	until grep -q "^degraded_shorter: [1-9]" /sys/kernel/debug/owner/stats || [ $n = 9 ]; do
		n=$((n + 1))
		for i in $(seq 300); do (: >/tmp/b$n-$i; mkdir /tmp/c$n-$i; ln -s b /tmp/d$n-$i); done
	done
	find /sys /proc -maxdepth 3 >/dev/null 2>&1'
ok "its rules are in force" file_lacks "$work/console" "owner= .* no effect"
ok "the bound is what was asked for" equals "$(read_depot_figure bytes_max)" $bound
ok "and holds" [ "$(read_depot_figure bytes)" -le $bound ]
ok "reaching it is counted" [ "$(read_depot_figure bound_reached)" -gt 0 ]
ok "owners have shorter chains then" [ "$(read_figure owner/stats degraded_shorter)" -gt 0 ]
ok "and those without a chain are counted" \
	[ "$(read_figure owner/stats degraded_no_stack)" -ge "$(read_figure slab_owner no_room)" ]
ok "but none is lost" equals "$(read_figure owner/stats lost_no_stack)" 0
ok "it is said once" equals "$(count_bound_notices)" 1

# The share for tasks has room for some 3,500 tasks of 8,000 within 1M. All of them would
# fill the depot, and no chain would find room.
ok "tasks leave an object each" boot_with_statistics "slab_owner=on stack_depot_max=${3:-1M}" \
	"insmod /extra/owner_bench_memory.ko tasks=${2:-8000} chains=1024"
ok "more than fit into the share for tasks" [ "$(read_figure owner/stats degraded_no_task)" -gt 0 ]
ok "and each object has its chain" equals \
	"$(read_figure owner/stats lost_no_stack) $(read_figure owner/stats degraded_shorter) $(read_figure owner/stats degraded_no_stack)" \
	"0 0 0"

ok "a number of pools bounds, too" boot_with_statistics "slab_owner=on stack_depot_max_pools=1024"
ok "as mainline counts them" equals "$(read_depot_figure pools_max)" 1024
ok "a bad number boots" boot_with_statistics "stack_depot_max_pools=17"
ok "and is told" file_has "$work/console" "stack_depot_max_pools=17 is outside 1024 to"
finish_tests
