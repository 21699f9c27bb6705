#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The checks of names and comments in lint/ find errors: break a copy of the repository in
# each way, and expect the check to report it. Prints TAP.
. "$(dirname "$0")/prelude.sh"

seen=$work/seen
lint=tools/testing/owner/lint
build=$PWD/build

mkdir "$work/repo"
git ls-files -co --exclude-standard | while read -r file; do
	[ -f "$file" ] && echo "$file"
done | cpio --quiet -pdm "$work/repo"
cd "$work/repo" || exit 1
git init -q . && mkdir build && ln -s "$build/tree" build/tree

# check_reports PATTERN CHECK [WORD...]: the check prints a line that matches
check_reports()
{
	pattern=$1
	check=$2
	shift 2
	"$lint/$check" "$@" >"$seen" 2>&1
	file_has "$seen" "$pattern"
}

# append_text TEXT FILE
append_text() { printf '\n%s\n' "$1" >>"$2"; }

append_text '/* Pairs with no_such_function(). */' mm/owner/walk.c
ok "a comment names a function that does not exist" \
	check_reports 'walk.c:.*no_such_function\(\)' check_comments.py
append_text 'int take_down_all;' mm/owner/report/object.c
ok "an identifier is on the list" check_reports 'object.c:.*take_down_all' check_words.py mm/owner/report/object.c
append_text '/* What is left, now and then. */' mm/owner/slab/percpu.c
ok "a sentence begins with a word on the list" check_reports 'percpu.c:.*"What is left' check_words.py mm/owner/slab/percpu.c
ok "a comment has a phrase on the list" check_reports 'percpu.c:.*"now and then"' check_words.py mm/owner/slab/percpu.c
append_text '# Whoever reads this.' "$lint/lint.sh"
ok "shell scripts are checked, too" check_reports 'lint.sh:.*Whoever' check_words.py "$lint"
append_text '"""So it goes."""' mm/owner/broken.py
ok "and docstrings" check_reports 'broken.py:.*"So it goes' check_words.py mm/owner/broken.py
for _ in $(seq 30); do
	sed -i '0,/^ \* record\t/s//&&/; 0,/^ \* record\t.*/s//&\n&/' mm/owner/owner.h
done
ok "the glossary is too long" check_reports 'owner.h:.*glossary has [0-9]+ lines' check_words.py mm/owner/owner.h
ok "its header is too long" check_reports 'owner.h:.*header has [0-9]+ lines' check_words.py mm/owner/owner.h
append_text '#include "../walk.h"' mm/owner/page/page.h
append_text '#include "page/page.h"' mm/owner/walk.h
mkdir -p build/um/mm/owner
printf 'void owner_one(void);\nvoid stray(void);\nvoid stray(void) { owner_one(); }\n' >mm/owner/left.c
printf 'void stray(void);\nvoid owner_one(void);\nvoid owner_one(void) { stray(); }\n' >mm/owner/right.c
for name in left right; do
	gcc -c -o "build/um/mm/owner/$name.o" "mm/owner/$name.c"
done
ok "a global symbol has no prefix" check_reports 'left.c: stray is not static' check_symbols.py prefixes
ok "headers include each other" \
	check_reports 'include each other.*: mm/owner/page/page.h mm/owner/walk.h' check_symbols.py cycles
ok "a header includes one of a later room" \
	check_reports 'mm/owner/walk.h includes mm/owner/page/page.h' check_symbols.py rooms
ok "files call each other" \
	check_reports 'call each other.*: mm/owner/left.c mm/owner/right.c' check_symbols.py cycles
finish_tests
