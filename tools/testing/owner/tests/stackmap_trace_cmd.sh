#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# ok() calls the checks by name: shellcheck disable=SC2317
#
# trace-cmd records two instances, one with ids and one with whole stacks, and reports the same
# stacks of both. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

extra=$work/extra
mkdir "$extra"
seen="$work/err"
ok "the plugin builds" make -s -C tools/tracing/stackmap OUT="$extra/" 2>"$work/err"
# The guest has no shared libraries.
cp "$(command -v trace-cmd)" "$extra"
ldd "$extra/trace-cmd" | awk '$2 == "=>" { print $3 } $1 ~ "^/" { print $1 }' |
	xargs -I FILE cp FILE "$extra"

record_and_report()
{
	tools/testing/owner/guest/guest.py run "$kernel" --timeout 300 --smp 1 --mem 1G \
		--extra "$extra" --cmd "
		mount -t tracefs none /sys/kernel/tracing
		mkdir /tmp/plugins; cp /extra/plugin_stackmap.so /tmp/plugins; cd /tmp
		export TRACEEVENT_PLUGIN_DIR=/tmp/plugins
		trace_cmd='/extra/ld-linux-x86-64.so.2 --library-path /extra /extra/trace-cmd'
		events='-e kmem:kmalloc -e kmem:kfree -e kmem:kmem_cache_alloc -O stacktrace'
		\$trace_cmd record \$events -O stackmap -B whole \$events \
			ls -lR /proc/self /sys/kernel/slab >/dev/null || exit
		cat /sys/kernel/tracing/stack_map >/tmp/stack_map
		\$trace_cmd report -O stackmap:file=/tmp/stack_map
		echo ===
		\$trace_cmd report -O stackmap:file=/tmp/none 2>&1 >/dev/null | head -n 20
		echo ===
		echo id=1 hits=many >/tmp/bad
		\$trace_cmd report -O stackmap:file=/tmp/bad 2>&1 >/dev/null | head -n 20" \
		>"$work/out" 2>"$work/err"
}
ok "trace-cmd records and reports" record_and_report
split_output report missing bad

# list_stacks PREFIX: the command's stacks of an instance, each in a line, in an order that an
# interrupt between two writes does not change. PREFIX matches the start of the instance's lines.
list_stacks()
{
	awk -v prefix="$1" '
		/^[^\t]/ { end_stack(); if ($0 ~ prefix && /ls-.*: kernel_stack/) stack = $NF }
		/^\t=>/ && stack { stack = stack " " $2 }
		END { end_stack() }
		function end_stack() { if (stack) print stack; stack = "" }' "$work/report" | sort
}
list_stacks "^ " >"$work/ids"
list_stacks ^whole: >"$work/whole"
count_stacks() { grep -c "^ .*: $1: " "$work/report"; }
seen="$work/err $work/report"
ok "many events have ids" [ "$(count_stacks 'kernel_stack_ids*')" -gt 100 ]
ok "... few have whole stacks" [ "$(($(count_stacks kernel_stack) * 100))" -lt \
	"$(count_stacks 'kernel_stack_ids*')" ]
ok "the other instance has whole stacks, some of more than eight frames" \
	[ "$(awk 'NF > 8' "$work/whole" | wc -l)" -gt 100 ]
seen="$work/difference"
stacks_agree() { diff "$work/ids" "$work/whole" >"$work/difference"; }
ok "the report has the same stacks of both" stacks_agree
seen="$work/missing $work/bad"
ok "a missing map is named, with what to do" grep -q "cannot open /tmp/none" "$work/missing"
ok "a damaged map is named, with the line" grep -q "/tmp/bad:1: expected id=N" "$work/bad"
finish_tests
