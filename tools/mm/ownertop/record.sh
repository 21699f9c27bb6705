#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Write snapshots of this machine: "ownertop record" runs this script. A snapshot is a directory
# that is named by its time. While its name begins with .partial-, it is being written or removed,
# or was left by a script that was killed meanwhile.
set -u
umask 077

# complain MESSAGE...: returns the exit status of a failure
complain()
{
	echo "ownertop: record: $*" >&2
	return 2
}

# attempt COMMAND...: run a command that prints messages only
attempt()
{
	message=$("$@" 2>&1) || complain "$message"
}

hint()
{
	echo "Try 'ownertop record --help'." >&2
	exit 2
}

# refuse OPTION VALUE REASON
refuse()
{
	echo "ownertop: $1: '$2' $3" >&2
	hint
}

# Is it a number from 1 to 999999999? The shell would take one that begins with 0 as octal.
is_count()
{
	case $1 in
	'' | 0* | *[!0-9]* | ??????????*)
		return 1
		;;
	esac
}

# parse_seconds TIME: set $interval
parse_seconds()
{
	is_count "${1%[smhd]}" || return
	interval=${1%[smhd]}
	case $1 in
	*s) ;;
	*m) interval=$((interval * 60)) ;;
	*h) interval=$((interval * 3600)) ;;
	*d) interval=$((interval * 86400)) ;;
	*) return 1 ;;
	esac
}

# parse_bytes SIZE: set $max_bytes
parse_bytes()
{
	case $1 in
	*[!0-9KMG]*)
		return 1
		;;
	esac
	max_bytes=$(numfmt --from=iec -- "$1" 2> /dev/null) && [ "$max_bytes" -ge 0 ] 2> /dev/null
}

print_help()
{
	cat << 'END'
Usage: ownertop record [-i TIME] [-n N] [--max-bytes SIZE] DIR
Writes slab_owner, page_owner, kallsyms, slabinfo and meminfo of this machine
to DIR/<UTC time>/, compressed. 'ownertop diff DIR' and 'trend DIR' read them.
  -i, --interval TIME    repeat, as 10m, until a signal ends it
  -n, --keep N           snapshots to keep; default 24
  --max-bytes SIZE       limit of all snapshots together, as 2G
  --root PATH            read PATH/proc and PATH/sys instead of /proc and /sys
Exit status: 0 a snapshot was written, 2 none was.
END
}

# count_bytes DIRECTORY...
count_bytes()
{
	echo $(($(find "$@" -type f -printf '%s+')0))
}

exceeds_max_bytes()
{
	[ -n "$max_bytes" ] && [ "$(count_bytes "$@")" -gt "$max_bytes" ]
}

# run COMMAND...: a trap ends the wait for it. It does not hold the lock, which would outlast a
# script that is killed.
run()
{
	"$@" 9<&- &
	child=$!
	wait "$child"
	set -- $?
	child=
	return "$1"
}

remove_partial()
{
	rm -rf "$dir"/.partial-*
}

clean_up()
{
	# zstd ends before the files are removed, and creates no other one.
	[ -z "$child" ] || { kill "$child" && wait "$child"; } 2> /dev/null
	remove_partial
}

# compress SOURCE FILE: bounded while it writes, so that it does not fill the disk
compress()
{
	trap '' XFSZ
	[ -z "$max_bytes" ] || ulimit -f $((max_bytes / 512 + 1)) 2> /dev/null
	exec zstd -q < "$1" > "$2"
}

# add_file SOURCE: copy a file to the snapshot if it can be read
add_file()
{
	name=${1##*/}.zst
	[ -r "$1" ] || return 0
	run compress "$1" "$partial/$name"
	status_of_zstd=$?
	! exceeds_max_bytes "$partial" || complain "$dir: $name: larger than --max-bytes" || return
	[ $status_of_zstd -eq 0 ] ||
		complain "$dir: $name: zstd, which compresses $1," \
			"has ended with status $status_of_zstd"
}

# first_line FILE
first_line()
{
	head -n 1 "$root/proc/sys/kernel/$1" 2> /dev/null || echo unknown
}

# write_about TIME
write_about()
{
	cat > "$partial/about" << END
time $1
boot_id $(first_line random/boot_id)
kernel $(first_line osrelease) $(first_line version) $(uname -m)
END
}

# Say why there is no dump, and how there will be one.
explain_missing_dump()
{
	boot='boot with slab_owner=on or page_owner=on'
	if ! files=$(ls -A "$debugfs" 2>&1) && [ -d "$debugfs" ]; then
		complain "$files: this needs root"
	elif [ ! -d "$debugfs" ] || [ -z "$files" ]; then
		complain "$debugfs: debugfs is not mounted there:" \
			"mount -t debugfs none $debugfs, and $boot"
	elif [ -e "$debugfs/slab_owner" ] || [ -e "$debugfs/page_owner" ]; then
		complain "$debugfs/slab_owner: not readable, nor is page_owner: this needs root"
	else
		complain "$debugfs: the kernel has neither slab_owner nor page_owner:" \
			"build it with CONFIG_SLAB_OWNER or CONFIG_PAGE_OWNER, and $boot"
	fi
}

write_partial()
{
	[ -r "$debugfs/slab_owner" ] || [ -r "$debugfs/page_owner" ] || explain_missing_dump ||
		return
	while time=$(date -u '+%s %Y%m%dT%H%M%SZ') && [ -e "$dir/${time#* }" ]; do
		sleep 1
	done
	snapshot=$dir/${time#* }
	partial=$dir/.partial-${time#* }
	attempt mkdir "$partial" || return
	for source in "$debugfs/slab_owner" "$debugfs/page_owner" "$root/proc/kallsyms" \
			"$root/proc/slabinfo" "$root/proc/meminfo"; do
		add_file "$source" || return
	done
	attempt write_about "${time% *}" && attempt sync "$partial"/* "$partial"
}

# Remove the oldest snapshots beyond the limits, but never the newest.
remove_old()
{
	set -- "$dir"/[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]T[0-9][0-9][0-9][0-9][0-9][0-9]Z
	while [ $# -gt "$keep" ] || { [ $# -gt 1 ] && exceeds_max_bytes "$@"; }; do
		# A script that is killed here leaves no half snapshot.
		attempt mv -T "$1" "$dir/.partial-old" || return
		attempt rm -r "$dir/.partial-old" || return
		shift
	done
}

write_snapshot()
{
	write_partial && attempt mv -T "$partial" "$snapshot" && attempt sync "$dir" &&
		remove_old
}

# Print the seconds since boot, which do not jump.
read_clock()
{
	cut -d . -f 1 /proc/uptime
}

root='' keep=24 max_bytes='' interval='' child=
options=$(getopt -n 'ownertop: record' -o i:n:h -l interval:,keep:,max-bytes:,root:,help -- "$@") ||
	hint
eval set -- "$options"
while [ "$1" != -- ]; do
	case $1 in
	-i | --interval)
		parse_seconds "$2" ||
			refuse --interval "$2" 'is no time of a second or more, as 5s, 2m, 1h or 3d'
		;;
	-n | --keep)
		is_count "$2" || refuse --keep "$2" 'is no number from 1 to 999999999'
		keep=$2
		;;
	--max-bytes)
		parse_bytes "$2" ||
			refuse --max-bytes "$2" 'is no number of bytes, as 512, 4K, 1M or 2G'
		;;
	--root)
		root=$2
		;;
	*)
		print_help
		exit 0
		;;
	esac
	shift 2
done
if [ $# -ne 2 ]; then
	complain 'one DIR is needed'
	hint
fi
case $2 in
-*) dir=./$2 ;;
*) dir=$2 ;;
esac
debugfs=$root/sys/kernel/debug
command -v zstd > /dev/null || complain 'zstd is missing: install the package zstd' || exit 2
message=$(mkdir "$dir" 2>&1) || [ -d "$dir" ] || complain "$message" || exit 2
command exec 9< "$dir" || exit 2
flock -n 9 || complain "$dir: another ownertop record writes to it" || exit 2

status=2
trap clean_up EXIT
trap 'exit $status' HUP INT TERM
due=$(read_clock)
while :; do
	remove_partial
	write_snapshot
	status=$?
	remove_partial
	[ -n "$interval" ] || exit $status
	# After a snapshot that took long, skip what is past.
	now=$(read_clock)
	due=$((due + ((now - due) / interval + 1) * interval))
	run sleep $((due - now))
done
