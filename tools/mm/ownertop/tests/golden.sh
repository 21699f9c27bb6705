#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Run one golden case and print its stdout, its stderr and its exit status.
#
# usage: golden.sh OWNERTOP COMMAND
set -u

ownertop=$1
command=$2

# The page size of the machine that wrote the dumps.
page_size=4096

ownertop()
{
	(exec -a ownertop "$ownertop" --page-size $page_size "$@")
}

# at_width COLUMNS ownertop ARGUMENT...: run it in a terminal with so many columns
at_width()
{
	local columns=$1 words

	shift
	shift	# "ownertop"
	words=$(printf '%q ' "$ownertop" --page-size $page_size "$@")
	script -qec "stty cols $columns -onlcr; $words" /dev/null < /dev/null
}

# at_size COLUMNS ROWS ownertop ARGUMENT...: run it in a terminal of that size, with a pager
# that marks its lines
at_size()
{
	local columns=$1 rows=$2 words

	shift 3
	words=$(printf '%q ' "$ownertop" --page-size $page_size "$@")
	PAGER="sed 's/^/paged: /'" script -qec "stty cols $columns rows $rows -onlcr; $words" \
		/dev/null < /dev/null
}

# with_drgn STATUS ownertop ARGUMENT...: run it with a drgn that prints slab.txt, and its own
# arguments on stderr, and ends with STATUS
with_drgn()
{
	local place result status=$1

	shift
	place=$(mktemp -d)
	printf '#!/bin/sh\ncat slab.txt; echo "drgn $*" >&2; exit %s\n' "$status" > "$place/drgn"
	chmod +x "$place/drgn"
	PATH=$place:$PATH OWNERTOP_READER=slab.txt "$@"
	result=$?
	rm -r "$place"
	return "$result"
}

# written_hourly OLD NEW COMMAND...: run it on copies of OLD and NEW with modification
# times that are an hour apart
written_hourly()
{
	local old=$1 new=$2 copies

	shift 2
	copies=$(mktemp -d)
	cp "$old" "$new" "$copies"
	touch -d @1000000000 "$copies/$old"
	touch -d @1000003600 "$copies/$new"
	(cd "$copies" && "$@" "$old" "$new")
	rm -r "$copies"
}

# read_error_after FILE ownertop ARGUMENT...: run it with a standard input that returns FILE
# and then fails with EIO, as a failing disk does. A pseudo-terminal does that after its
# other side was closed.
read_error_after()
{
	local file=$1

	shift
	shift	# "ownertop"
	python3 -c 'import os, pty, sys, tty
here, there = pty.openpty()
tty.setraw(there)
with open(sys.argv[1], "rb") as file:
    os.write(there, file.read())
os.close(there)
os.dup2(here, 0)
os.execv(sys.argv[2], ["ownertop", *sys.argv[3:]])' "$file" "$ownertop" "$@"
}

cd "$(dirname "$0")/input" || exit 2
export LC_ALL=C.UTF-8
err=$(mktemp)
trap 'rm -f "$err"' EXIT
eval "$command" 2> "$err"
status=$?
if [ -s "$err" ]; then
	echo "--- stderr"
	cat "$err"
fi
echo "--- status $status"
