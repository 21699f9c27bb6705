#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The series, as mail, applies with git am to pristine source and gives the
# assembled tree. Prints TAP.
set -u
cd "$(dirname "$0")/../../../.." || exit 1
. tools/testing/owner/tests/tap.sh

work=$(mktemp -d)
seen=$work/seen
trap 'rm -rf "$work"; git -C build/tree worktree prune' EXIT
export GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost

written() { tools/testing/owner/tree.py series >"$seen" 2>&1; }
applied()
{
	git -C build/tree worktree add -q --detach "$work/tree" base >"$seen" 2>&1 &&
		git -C "$work/tree" am "$PWD"/build/series/*.patch >>"$seen" 2>&1
}
equals_assembled()
{
	tools/testing/owner/tree.py assemble >"$seen" 2>&1 || return 1
	git -C build/tree add -A -n . >/dev/null
	# What is in one and not in the other, our files and patched ones alike.
	diff -rq --exclude=.git "$work/tree" build/tree >"$seen" 2>&1
}
has_cover() { has build/series/0000-cover-letter.txt "^Subject: \[PATCH 0/[0-9]+\] "; }
each_mail_has_a_message()
{
	for mail in build/series/*.patch; do
		sed -n '/^$/,/^---$/p' "$mail" | grep -q '[a-z]' || { echo "$mail" >"$seen"; return 1; }
	done
}

ok "make series writes mails" written
ok "there is a cover letter" has_cover
ok "each mail says why" each_mail_has_a_message
ok "git am takes them on pristine source" applied
ok "what they make equals the assembled tree" equals_assembled
finish
