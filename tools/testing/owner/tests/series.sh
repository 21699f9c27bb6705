#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The mails of the series apply to the pristine source with git am, and the result equals
# the assembled tree. Prints TAP.
. "$(dirname "$0")/prelude.sh"

seen=$work/seen
trap 'rm -rf "$work"; git -C build/tree worktree prune' EXIT
export GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost

write_mails() { tools/testing/owner/kernels/tree.py series >"$seen" 2>&1; }
# The index has the whole kernel; check out only the files that the mails touch.
apply_mails()
{
	git -C build/tree worktree add -q --no-checkout --detach "$work/tree" base >"$seen" 2>&1 &&
		sed -n 's|^+++ b/|/|p' build/series/*.patch |
			git -C "$work/tree" sparse-checkout set --no-cone --stdin >>"$seen" 2>&1 &&
		git -C "$work/tree" checkout -q >>"$seen" 2>&1 &&
		git -C "$work/tree" am "$PWD"/build/series/*.patch >>"$seen" 2>&1
}
result_equals_tree()
{
	tools/testing/owner/kernels/tree.py assemble >"$seen" 2>&1 || return 1
	git -C "$work/tree" diff --name-only base HEAD | sort >"$work/mailed"
	{ git -C build/tree diff --name-only base
	  git -C build/tree ls-files --others; } | sort >"$work/assembled"
	cmp "$work/mailed" "$work/assembled" >"$seen" 2>&1 || return 1
	while read -r file; do
		git -C "$work/tree" show "HEAD:$file" | cmp - "build/tree/$file" || return 1
	done <"$work/mailed" >"$seen" 2>&1
}
has_cover() { file_has build/series/0000-cover-letter.txt "^Subject: \[PATCH 0/[0-9]+\] "; }
each_mail_has_a_message()
{
	for mail in build/series/*.patch; do
		sed -n '/^$/,/^---$/p' "$mail" | grep -q '[a-z]' || { echo "$mail" >"$seen"; return 1; }
	done
}

ok "make series writes mails" write_mails
ok "there is a cover letter" has_cover
ok "each mail says why" each_mail_has_a_message
ok "git am takes them on pristine source" apply_mails
ok "what they make equals the assembled tree" result_equals_tree
finish_tests
