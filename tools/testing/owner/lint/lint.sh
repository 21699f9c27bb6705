#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# make lint: style, static checks, spelling. Prints TAP.
set -u
cd "$(dirname "$0")/../../../.." || exit 1
. tools/testing/owner/tests/prelude.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seen=$work/seen
tree=build/tree
tools/testing/owner/kernels/tree.py assemble >"$seen" || exit 1

git ls-files -co --exclude-standard | while read -r file; do
	[ -f "$file" ] && echo "$file"
done >"$work/files"
files() { grep -E "$1" "$work/files"; }
kernel_c=$(files '^(mm|lib|include|tools/testing/owner/modules)/.*\.[ch]$')
tool_c=$(files '^tools/(mm|testing/owner/lang)/.*\.[ch]$')

# A file is checked as kernel code; userspace code has its own types and libraries,
# and those have names of their own.
checkpatch()
{
	# Its licence check is a Python program that wants Debian's modules.
	PATH=/usr/bin:$PATH "$tree/scripts/checkpatch.pl" --root="$tree" --strict --quiet \
		--no-summary --terse --show-types --max-line-length=100 "$@" >"$seen" 2>&1 && [ ! -s "$seen" ]
}

# The person who mails the series adds From, Signed-off-by and MAINTAINERS.
check_patches()
{
	tools/testing/owner/kernels/tree.py series >"$seen" || return 1
	mailed=MISSING_SIGN_OFF,FILE_PATH_CHANGES,EMAIL_SUBJECT,NO_AUTHOR_SIGN_OFF
	find build/series -name '*.patch' | sort >"$work/mails"
	# shellcheck disable=SC2046 # lists of words
	checkpatch --ignore "$mailed" $(grep -v -e '-tools-' "$work/mails") &&
		checkpatch --ignore "$mailed,CAMELCASE" $(grep -e '-tools-' "$work/mails")
}

# Only hooks: logic that grows in a patch belongs into a file of ours.
patches_are_hooks()
{
	for patch in patches/6.12/*.patch; do
		added=$(grep -c '^+[^+]' "$patch")
		[ "$added" -le 150 ] || { echo "$patch adds $added lines" >"$seen"; return 1; }
	done
}

run_sparse()
{
	# shellcheck disable=SC2046 # a list of words
	make -C "$tree" O="$PWD/build/x86_64" C=2 mm/owner/ $(files '^lib/stackdepot_.*\.c$' |
		sed 's/c$/o/') >"$work/sparse" 2>&1 || { cp "$work/sparse" "$seen"; return 1; }
	# The kernel's own headers have warnings of their own; ours may have none.
	! grep -E '(^|/)(mm/owner/|lib/stackdepot_)[^ ]*: (warning|error):' "$work/sparse" >"$seen"
}

run_kernel_doc()
{
	# shellcheck disable=SC2086 # a list of words
	$tree/scripts/kernel-doc -none -Werror $kernel_c >"$seen" 2>&1
}

# Functions that ok() calls look unreachable to it.
shell_scripts() { files '\.sh$|^\.ci/run$' | xargs shellcheck -x -e SC2317,SC1091 >"$seen" 2>&1; }
# drgn gives its scripts the program that they look at.
python_scripts() { files '\.py$' | xargs flake8 --max-line-length=100 --builtins=prog >"$seen" 2>&1; }
spelling() { grep -v '/expect/\|/input/\|/corpus$\|\.gz$' "$work/files" | xargs codespell -L nd >"$seen" 2>&1; }

spdx()
{
	files '\.(c|h|py|sh|config|rst)$|/Makefile$|^Makefile$|Kconfig$' |
		xargs grep -L 'SPDX-License-Identifier: GPL-2.0' >"$seen"
	[ ! -s "$seen" ]
}

# Of one machine, or a promise instead of the thing.
no_leftovers()
{
	grep -v 'tools/testing/owner/lint/lint.sh' "$work/files" |
		xargs grep -nIE '\b(TODO|FIXME|XXX)\b|/home/[a-z]|[[:space:]]$' >"$seen"
	grep -vE '^(patches/|[^:]*/(expect|input)/)' "$seen" >"$work/left"
	cp "$work/left" "$seen"
	[ ! -s "$seen" ]
}

# A file that is longer treats more than one subject.
no_long_files()
{
	files '\.(c|h|py|sh)$' | xargs wc -l | awk '$1 > 700 && $2 != "total"' >"$seen"
	[ ! -s "$seen" ]
}

# Each prints what it finds, with file and line.
comments() { tools/testing/owner/lint/check_comments.py >"$seen" 2>&1; }
words() { tools/testing/owner/lint/check_words.py >"$seen" 2>&1; }
prefixes() { tools/testing/owner/lint/check_symbols.py prefixes >"$seen" 2>&1; }
cycles() { tools/testing/owner/lint/check_symbols.py cycles >"$seen" 2>&1; }

# shellcheck disable=SC2086
{
ok "checkpatch --strict: kernel files" checkpatch --no-tree -f $kernel_c
[ -z "$tool_c" ] || ok "checkpatch --strict: tools" checkpatch --no-tree --ignore CAMELCASE -f $tool_c
}
ok "checkpatch --strict: the series" check_patches
ok "patches hold hooks, not logic" patches_are_hooks
if [ -f build/x86_64/vmlinux ]; then
	ok "sparse" run_sparse
else
	skip "sparse" "needs a built kernel: make kernel K=x86_64"
fi
ok "kernel-doc" run_kernel_doc
ok "shellcheck" shell_scripts
ok "flake8" python_scripts
ok "codespell" spelling
ok "each file states its licence" spdx
ok "no leftovers" no_leftovers
ok "no file above 700 lines" no_long_files
ok "functions that comments name exist" comments
ok "words of the glossary" words
if [ -f build/x86_64/vmlinux ] || [ -f build/um/linux ]; then
	ok "global symbols have a prefix" prefixes
	ok "no cycle between files of mm/owner" cycles
else
	skip "global symbols have a prefix" "needs a built kernel: make kernel K=um"
	skip "no cycle between files of mm/owner" "needs a built kernel: make kernel K=um"
fi
finish
