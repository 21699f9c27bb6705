#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# make lint: style, static checks, names, spelling. Prints TAP.
. "$(dirname "$0")/../tests/prelude.sh"

seen=$work/seen
tree=build/tree
tools/testing/owner/kernels/tree.py assemble >"$seen" || exit 1

git ls-files -co --exclude-standard | while read -r file; do
	[ -f "$file" ] && echo "$file"
done >"$work/files"
list_matching_files() { grep -E "$1" "$work/files"; }
kernel_c=$(list_matching_files '^(mm|lib|include|kernel|tools/testing/owner/modules)/.*\.[ch]$')
# No mail of the series has these files.
module_c=$(list_matching_files '^tools/testing/owner/modules/.*\.[ch]$')
lang_c=$(list_matching_files '^tools/testing/owner/lang/.*\.[ch]$')

# Check files as kernel code. User space code has types and libraries whose names
# checkpatch does not like.
run_checkpatch()
{
	# checkpatch starts spdxcheck.py for each file, which takes minutes, if it finds a repository.
	# check_licences() checks all files at once.
	GIT_DIR=none "$tree/scripts/checkpatch.pl" --root="$tree" --strict --quiet \
		--no-summary --terse --show-types --max-line-length=100 "$@" >"$seen" 2>&1 && [ ! -s "$seen" ]
}

# The person who mails the series adds From, Signed-off-by and MAINTAINERS.
check_patches()
{
	tools/testing/owner/kernels/tree.py series >"$seen" || return 1
	# The tree has no history in which a fixed commit could be looked up.
	mailed=MISSING_SIGN_OFF,FILE_PATH_CHANGES,EMAIL_SUBJECT,NO_AUTHOR_SIGN_OFF
	mailed=$mailed,UNKNOWN_COMMIT_ID
	# tracing_log_err() takes an array of pointers that are not const.
	mailed=$mailed,STATIC_CONST_CHAR_ARRAY
	find build/series -name '*.patch' | sort >"$work/mails"
	# shellcheck disable=SC2046 # lists of words
	run_checkpatch --showfile --ignore "$mailed" $(grep -v -e '-tools-' "$work/mails") &&
		run_checkpatch --showfile --ignore "$mailed,CAMELCASE" $(grep -e '-tools-' "$work/mails")
}

# A patch holds hooks; logic belongs into a file of ours.
check_patches_are_hooks()
{
	for patch in patches/*/*.patch; do
		added=$(grep -c '^+[^+]' "$patch")
		[ "$added" -le 150 ] || { echo "$patch adds $added lines" >"$seen"; return 1; }
	done
}

check_sparse()
{
	# shellcheck disable=SC2046 # a list of words
	tools/testing/owner/kernels/kernels.py --make x86_64 C=2 mm/owner/ lib/stackdepot/ $(list_matching_files '^kernel/trace/.*\.c$' |
		sed 's/c$/o/') >"$work/sparse" 2>&1 || { cp "$work/sparse" "$seen"; return 1; }
	# The kernel's headers have warnings; our files may have none.
	! grep -E '(^|/)(mm/owner/|lib/stackdepot/|kernel/trace/trace_stackmap)[^ ]*: (warning|error):' "$work/sparse" >"$seen"
}

check_kernel_doc()
{
	# shellcheck disable=SC2086 # a list of words
	$tree/scripts/kernel-doc -none -Werror $kernel_c >"$seen" 2>&1
}

# ShellCheck believes that functions called by ok() are unreachable.
check_shell() { list_matching_files '\.sh$|^\.ci/run$' | xargs -n 16 -P "$(nproc)" shellcheck -x -P SCRIPTDIR -e SC2317,SC1091 >"$seen" 2>&1; }
# drgn defines "prog" for its scripts.
check_python() { list_matching_files '\.py$' | xargs flake8 --max-line-length=100 --builtins=prog >"$seen" 2>&1; }
check_spelling() { grep -v '/golden/\|/input/\|/corpus$\|\.gz$' "$work/files" | xargs codespell -L nd,filp >"$seen" 2>&1; }

check_licences()
{
	list_matching_files '\.(c|h|py|sh|config|rst)$|/Makefile$|^Makefile$|Kconfig$' |
		xargs grep -L 'SPDX-License-Identifier: GPL-2.0' >"$seen"
	[ ! -s "$seen" ]
}

# Paths of one machine, promises, and spaces at the end of a line.
check_leftovers()
{
	grep -v 'tools/testing/owner/lint/lint.sh' "$work/files" |
		xargs grep -nIE '\b(TODO|FIXME|XXX)\b|/home/[a-z]|[[:space:]]$' >"$seen"
	grep -vE '^(patches/|[^:]*\.patch:|[^:]*/(golden|input)/)' "$seen" >"$work/left"
	cp "$work/left" "$seen"
	[ ! -s "$seen" ]
}

# Split a longer file by subject.
check_lengths()
{
	list_matching_files '\.(c|h|py|sh)$' | xargs wc -l | awk '$1 > 700 && $2 != "total"' >"$seen"
	[ ! -s "$seen" ]
}

# With PREEMPT_RT, a CPU that goes offline runs only hard ones, and waits for the others without an
# end. Tests use others on CPUs that stay online.
check_irq_works()
{
	list_matching_files '^((lib|mm|kernel|include)/.*\.[ch]|patches/.*\.patch)$' | grep -v /tests/ |
		xargs grep -nE '(init_irq_work|IRQ_WORK_INIT(_LAZY)?|DEFINE_IRQ_WORK)\(' >"$seen"
	[ ! -s "$seen" ]
}

# Each check prints its findings, with file and line.
check_functions() { tools/testing/owner/lint/check_comments.py >"$seen" 2>&1; }
check_words() { tools/testing/owner/lint/check_words.py >"$seen" 2>&1; }
check_prefixes() { tools/testing/owner/lint/check_symbols.py prefixes >"$seen" 2>&1; }
check_rooms() { tools/testing/owner/lint/check_symbols.py rooms >"$seen" 2>&1; }
check_cycles() { tools/testing/owner/lint/check_symbols.py cycles >"$seen" 2>&1; }

# shellcheck disable=SC2086
{
ok "checkpatch --strict: modules of the tests" run_checkpatch --no-tree -f $module_c
ok "checkpatch --strict: the fuzzer" run_checkpatch --no-tree --ignore CAMELCASE -f $lang_c
}
ok "checkpatch --strict: the series" check_patches
ok "patches hold hooks, not logic" check_patches_are_hooks
if [ -f build/x86_64/vmlinux ]; then
	ok "sparse" check_sparse
else
	skip_test "sparse" "needs a built kernel: make kernel K=x86_64"
fi
ok "kernel-doc" check_kernel_doc
ok "shellcheck" check_shell
ok "flake8" check_python
ok "codespell" check_spelling
ok "each file states its licence" check_licences
ok "no leftovers" check_leftovers
ok "no file above 700 lines" check_lengths
ok "each irq_work is hard: IRQ_WORK_INIT_HARD()" check_irq_works
ok "functions that comments name exist" check_functions
ok "words of the glossary" check_words
if [ -f build/x86_64/vmlinux ] || [ -f build/um/linux ]; then
	ok "global symbols have a prefix" check_prefixes
	ok "no file of mm/owner uses a later room" check_rooms
	ok "no cycle between files of mm/owner" check_cycles
else
	skip_test "global symbols have a prefix" "needs a built kernel: make kernel K=um"
	skip_test "no file of mm/owner uses a later room" "needs a built kernel: make kernel K=um"
	skip_test "no cycle between files of mm/owner" "needs a built kernel: make kernel K=um"
fi
finish_tests
