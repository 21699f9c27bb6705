#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A month in an hour: tasks, memory cgroups, modules and mounts are made and removed all the
# time. At the end the depot, the records and per-CPU memory take what they took at the
# beginning, within 5%, and objects that were planted before have the right counts and ages.
# Prints TAP.
usage='KERNEL MINUTES'
. "$(dirname "$0")/prelude.sh"

minutes=$2
seen="$work/out $work/guest.err"

# shellcheck disable=SC2016 # for the guest's shell
churn='
	cd /
	# Give each thing a moment of its own, so that all are made and removed while others are.
	churn_tasks() { i=0; while [ $((i += 1)) -le 50 ]; do (: | cat); done; }
	churn_cgroup()
	{
		mkdir /cgroup/$1 || return
		(echo 0 >/cgroup/$1/cgroup.procs; mkdir /tmp/$1
			i=0; while [ $((i += 1)) -le 20 ]; do echo $i >/tmp/$1/$i; done; rm -r /tmp/$1)
		rmdir /cgroup/$1
	}
	churn_mount()
	{
		mkdir -p /mounts/$1 && mount -t tmpfs -o size=1M none /mounts/$1 || return
		i=0; while [ $((i += 1)) -le 20 ]; do echo $i >/mounts/$1/$i; done
		umount /mounts/$1
	}
	churn_module() { insmod /extra/owner_passing.ko && rmmod owner_passing; }
	churn_all()
	{
		churn_tasks && churn_cgroup $1 && churn_mount $1 && churn_module || return
		rounds=$((rounds + 1))
	}
	# Drop caches, and wait until RCU, workqueues and the depot have freed what is unused.
	settle()
	{
		i=0
		while [ $((i += 1)) -le 3 ]; do
			sync; echo 3 >/proc/sys/vm/drop_caches; sleep 10
		done
	}
	measure()
	{
		settle
		awk -v name=$1 "
			FILENAME ~ /owner/ && /^(tracked|percpu|slabs|bytes):/ { print name, \$1, \$2 }
			/^refcounted_in_use:/ { print name, \$1, \$2 }
			/^class_[0-9]+_bytes:|^classless_bytes:/ { bytes += \$2 }
			/^Percpu:/ { print name, \$1, \$2 }
			END { print name, \"depot_bytes:\", bytes }" \
			/sys/kernel/debug/owner/stats /sys/kernel/debug/stackdepot/stats /proc/meminfo
		exec 3<>/sys/kernel/debug/owner/query
		read -r from _ </proc/uptime
		echo "group=module sort=oldest if module == owner_leak" >&3
		answer=$(grep "^objects" <&3)
		read -r to _ </proc/uptime
		echo "$1 planted: from $from s, to $to s, $answer"
		exec 3>&-
	}'
run_churn_guest()
{
	# shellcheck disable=SC2086 # two words or none
	tools/testing/owner/guest/guest.py run "$kernel" --append "slab_owner=on" $cpus \
		--stall 900 --extra "$modules" --console "$work/console" \
		--cmd "$churn
	mkdir /cgroup; mount -t cgroup2 none /cgroup; echo +memory >/cgroup/cgroup.subtree_control
	read -r from _ </proc/uptime
	insmod /extra/owner_leak.ko requests=5000; read -r to _ </proc/uptime
	echo planting: from \$from s, to \$to s
	# The first rounds fill caches that stay.
	rounds=0
	while [ \$rounds -lt 20 ]; do churn_all \$((rounds % 5)) || exit; done
	measure before
	read -r now _ </proc/uptime; end=\$((\${now%.*} + $minutes * 60)); rounds=0
	while read -r now _ </proc/uptime && [ \${now%.*} -lt \$end ]; do
		churn_all \$((rounds % 5)) || exit
		[ \$((rounds % 10)) -ne 0 ] || echo \$rounds rounds at \$now s
	done
	echo rounds: \$rounds
	measure after" >"$work/out" 2>"$work/guest.err"
}
ok "runs for $minutes minutes" run_churn_guest

echo "# $(grep '^rounds: ' "$work/out")"
ok "everything was made and removed" [ "$(sed -n 's/^rounds: //p' "$work/out")" -ge $((minutes * 2)) ]

show() { awk -v moment="$1" -v name="$2:" '$1 == moment && $2 == name { print $3 }' "$work/out"; }
# is_near AFTER BEFORE ALLOWED: 5% more or less at most, or ALLOWED.
is_near()
{
	allowed=$(($2 / 20))
	[ "$allowed" -ge "$3" ] || allowed=$3
	[ "$1" -le $(($2 + allowed)) ] && [ "$1" -ge $(($2 - allowed)) ]
}
for name in tracked percpu slabs bytes refcounted_in_use depot_bytes Percpu; do
	before=$(show before $name)
	after=$(show after $name)
	echo "# $name: ${before:-no figure} before, ${after:-no figure} after"
	# The depot keeps up to four pools of 16 KiB that have no records.
	allowed=0
	[ $name != depot_bytes ] || allowed=65536
	ok "$name is what it was, within 5%" is_near "${after:--1}" "${before:-0}" $allowed
done

# planted_fact MOMENT WORD: the number behind the word in the line of the planted objects.
planted_fact()
{
	sed -n "s/^$1 planted: \(.*\)/\1/p" "$work/out" | tr -d ',' |
		awk -v word="$2" '{ for (i = 1; i < NF; i++) if ($i == word) print $(i + 1) }'
}
sed -n 's/^[a-z]* planted: /# planted: /p' "$work/out"
for moment in before after; do
	ok "$moment: the planted objects are counted" \
		equals "$(planted_fact $moment objects) $(planted_fact $moment bytes)" "5000 1000000"
done
# The objects were planted, and the answer was made, between two readings of the clock. Ages count
# ticks, and a tick can be late where a host does not run a virtual CPU: allow one second.
ages_are_right()
{
	planting=$(sed -n 's/^planting: from \(.*\) s, to \(.*\) s/\1 \2/p' "$work/out")
	awk -v planted_from="${planting% *}" -v planted_to="${planting#* }" \
		-v from="$(planted_fact after from)" -v to="$(planted_fact after to)" \
		-v oldest="$(planted_fact after oldest)" -v youngest="$(planted_fact after youngest)" \
		'BEGIN { exit !(youngest >= from - planted_to - 1 && oldest >= youngest &&
				oldest <= to - planted_from + 1) }'
}
ok "... and as old as they are" ages_are_right
finish_tests
