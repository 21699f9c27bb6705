#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# ok() calls the checks by name: shellcheck disable=SC2317
#
# The readers with the drgn and crash of Debian 13: of a dump they say to the last character
# what they say with this host's. drgn reads a guest's own memory. Prints TAP.
usage='KERNEL'
. "$(dirname "$0")/prelude.sh"

tests=tools/testing/owner/tests
reader=tools/mm/slab_owner.py
seen="$work/err $work/seen"
root=$work/root

# The root has what the tools read in /owner. The extension is built with the header of the
# root's crash.
make_root()
{
	made=$(tools/testing/owner/guest/debian_root.py crash python3-drgn 2>"$work/err") &&
		cp -a "$made" "$root" && mkdir "$root/owner" &&
		cp -r "$vmlinux" "$reader" tools/mm/owner_drgn "$modules/owner_truth.ko" "$root/owner" &&
		make -s -C tools/mm/crash O="$work/extension" CRASH="chroot $root crash" \
			CRASH_INCLUDE="$root/usr/include/crash" 2>"$work/err" &&
		cp "$work/extension/owner.so" "$root/owner"
}

# --- a dump ---------------------------------------------------------------------------

# take_planted_dump vmcore|kdump
take_planted_dump()
{
	take_dump "$1" "slab_owner=on,free=on page_owner=on init_on_alloc=1" "
		insmod /extra/owner_truth.ko; insmod /extra/owner_unreferenced.ko
		insmod /extra/owner_leak.ko requests=5; insmod /extra/owner_user.ko; rmmod owner_user
		sleep 3
		cat $debug/owner_truth; sleep 2" &&
		mv "$work/out" "$work/truth" && ln -f "$work/core" "$root/owner/core"
}

# drgn_agrees ARGUMENT...: leaves the answer in $work/there. drgn 0.0.22 cannot unwind all tasks
# that ran, and a note says that.
drgn_agrees()
{
	run_drgn "$reader" "$@" >"$work/here" 2>"$work/here.err"
	wanted=$?
	chroot "$root" drgn -q -c /owner/core -s /owner/vmlinux /owner/slab_owner.py "$@" \
		>"$work/there" 2>"$work/err"
	equals $? "$wanted" && [ -s "$work/there" ] &&
		sed -i '/note: .*: their registers cannot be read/d' "$work/here" "$work/here.err" &&
		cmp "$work/here" "$work/there" >"$work/seen" 2>&1 &&
		diff "$work/here.err" "$work/err" >"$work/seen"
}

# The records of other modules and of pages are left out.
records_are_planted()
{
	awk 'BEGIN { RS = ""; ORS = "\n\n" } /^(Slab|Per-CPU) .*\[owner_truth\]/' "$1" \
		>"$work/planted"
	"$tests/check_truth.py" "$work/truth" records "$work/planted" >"$work/seen" 2>&1
}

# The place of a planted object, and its page frame
find_planted_object()
{
	grep -A 1 'cache owner_truth,' "$1" |
		sed -n 's/^PFN \(.*\) object \(.*\) index.*/\1 0x\2/p' | head -n 1
}

# run_other_crash OPTIONS COMMAND...: as run_crash(). OPTIONS are words.
run_other_crash()
{
	options=$1
	shift
	{
		echo "extend /owner/owner.so"
		printf '%s\n' "$@"
		echo quit
	} >"$root/owner/input"
	# shellcheck disable=SC2086 # words
	timeout -s KILL 600 chroot "$root" crash -s $options --no_crashrc /owner/vmlinux \
		/owner/core -i /owner/input </dev/null >"$work/answer" 2>&1
}

# The file "there" is in the root.
crash_agrees()
{
	run_crash "owner -r $work/here" "owner ${object#0x} > $work/object" \
		"owner -t 9 > $work/top" "owner -s > $work/stats" || return
	run_other_crash "$1" "owner -r /owner/there" "owner ${object#0x} > /owner/object" \
		"owner -t 9 > /owner/top" "owner -s > /owner/stats" || return
	mv "$work/here" "$work/there"
	for answer in there object top stats; do
		[ -s "$work/$answer" ] &&
			cmp "$work/$answer" "$root/owner/$answer" >"$work/answer" 2>&1 || return
		rm "$root/owner/$answer"
	done
}

panic_is_shown()
{
	run_other_crash "" sys bt && file_has "$work/answer" "PANIC: .*sysrq triggered crash" &&
		file_has "$work/answer" "^ *#[0-9]+ .* sysrq_handle_crash at"
}

compare_versions()
{
	ok "a dump is taken" take_planted_dump "$1"
	ok "drgn: records" drgn_agrees --records --source slab,percpu,page
	ok "drgn: planted objects are exact" records_are_planted "$work/there"
	# shellcheck disable=SC2046 # two words
	set -- $(find_planted_object "$work/there")
	frame=$1
	object=$2
	ok "drgn: --object" drgn_agrees --object "$object"
	ok "drgn: --page" drgn_agrees --page "$frame"
	ok "drgn: --stats" drgn_agrees --stats
	ok "drgn: --unreferenced" drgn_agrees --unreferenced --records
	seen=$work/answer
	ok "crash: all answers" crash_agrees "--minimal"
	seen="$work/err $work/seen"
	ok "crash: planted objects are exact" records_are_planted "$work/there"
}

# --- a guest's own memory ----------------------------------------------------------------

# The file is read before and after: drgn itself allocates objects.
read_live()
{
	tools/testing/owner/guest/guest.py run "$kernel" --append "slab_owner=on no_hash_pointers" \
		--mem 1G --timeout 600 --extra "$root" --cmd "
		insmod /extra/owner/owner_truth.ko; sleep 2
		mount -o bind /proc /extra/proc; mount -o bind /dev /extra/dev
		ask() { chroot /extra drgn -q -s /owner/vmlinux /owner/slab_owner.py \"\$@\"; }
		cat $debug/slab_owner >/tmp/before
		ask --records >/tmp/drgn || exit
		cat $debug/slab_owner >/tmp/after
		object=\$(grep -A 1 'cache owner_truth,' /tmp/before |
			sed -n 's/.* object \(.*\) index.*/0x\1/p' | head -n 1)
		cat $debug/owner_truth
		for file in /tmp/before /tmp/drgn /tmp/after $debug/owner/stats; do
			echo ===; cat \$file
		done
		echo ===; ask --object \$object
		echo ===; ask --stats" >"$work/out" 2>"$work/err" &&
		split_output truth before live after stats object counts
}

# equals_file FILE1 FILE2: records that both have are equal, but for later allocations
equals_file() { "$tests/compare_records.py" "$1" "$2" 2000 >"$work/seen" 2>&1; }

# Within 10%: drgn runs between the two.
tracked_agrees()
{
	awk '$1 == "tracked:" { n[FILENAME] = $2; last = $2 }
		END { for (file in n) bad += n[file] < last * 0.9 || n[file] > last * 1.1
			exit bad || last < 1000 }' "$work/stats" "$work/counts"
}

ok "Debian 13's root and the extension are made" make_root
chroot "$root" sh -c 'drgn --version; crash --version' 2>/dev/null |
	sed -n 's/^\(drgn [0-9.]*\) .*/# \1/p; s/^crash [0-9]/# &/p'
ok "this host's extension is built" build_crash_extension
ok "drgn reads a guest's own memory" read_live
ok "live: planted objects are exact" records_are_planted "$work/live"
ok "live: records are those of the file before" equals_file "$work/before" "$work/live"
ok "live: records are those of the file after" equals_file "$work/live" "$work/after"
ok "live: --object" file_has "$work/object" '^allocated by pid [0-9]+, tgid [0-9]+ \(insmod\), size'
ok "live: --stats" tracked_agrees
label=vmcore
compare_versions vmcore
label=kdump
compare_versions kdump
# After a panic, crash 8.0.6 needs no --minimal.
ok "crash in full: all answers" crash_agrees ""
ok "crash in full: the panic" panic_is_shown
finish_tests
