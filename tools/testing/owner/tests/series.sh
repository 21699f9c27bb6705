#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The mails of the series for a version of Linux apply to its pristine source with git am, and
# the result equals the assembled tree. No mail is too long, and none is without a message. Prints
# TAP.
usage='[VERSION]'
. "$(dirname "$0")/prelude.sh"

seen=$work/seen
place=build${1:+/$1}
export LINUX="${1:-}"
trap 'rm -rf "$work"; git -C "$place/tree" worktree prune' EXIT
export GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost

write_mails() { tools/testing/owner/kernels/tree.py series >"$seen" 2>&1; }
# The index has the whole kernel; check out only the files that the mails touch.
apply_mails()
{
	git -C "$place/tree" worktree add -q --no-checkout --detach "$work/tree" base >"$seen" 2>&1 &&
		sed -n 's|^+++ b/|/|p' "$place"/series/*/*.patch |
			git -C "$work/tree" sparse-checkout set --no-cone --stdin >>"$seen" 2>&1 &&
		git -C "$work/tree" checkout -q >>"$seen" 2>&1 &&
		git -C "$work/tree" am "$PWD/$place/series"/*/*.patch >>"$seen" 2>&1
}
result_equals_tree()
{
	tools/testing/owner/kernels/tree.py assemble >"$seen" 2>&1 || return 1
	git -C "$work/tree" diff --name-only base HEAD | sort >"$work/mailed"
	{ git -C "$place/tree" diff --name-only base
	  git -C "$place/tree" ls-files --others; } | sort >"$work/assembled"
	cmp "$work/mailed" "$work/assembled" >"$seen" 2>&1 || return 1
	git -C "$place/tree" hash-object --no-filters --stdin-paths <"$work/mailed" >"$work/blobs"
	paste "$work/blobs" "$work/mailed" >"$work/assembled"
	git -C "$work/tree" ls-tree -r --full-tree HEAD |
		awk -F '[ \t]' 'NR == FNR { mailed[$0]; next } $4 in mailed { print $3 "\t" $4 }' \
			"$work/mailed" - >"$work/hashes"
	LC_ALL=C sort -k 2 "$work/assembled" >"$work/wanted"
	[ -s "$work/wanted" ] && LC_ALL=C sort -k 2 "$work/hashes" | diff "$work/wanted" - >"$seen" 2>&1
}
# Each cover letter has a subject, the number of mails, a text, each mail's subject, and a
# diffstat that ends with totals.
covers_list_mails()
{
	for part in "$place"/series/*/; do
		cover=${part}0000-cover-letter.txt
		count=$(find "$part" -name '*.patch' | wc -l)
		echo "$cover: no subject with the number of mails, $count, no text, or no diffstat" >"$seen"
		file_has "$cover" "^Subject: \\[PATCH 0/$count\\] .+" &&
			file_has "$cover" '^[^ ]+( [^ ]+){6}' &&
			file_has "$cover" '^ [0-9]+ files? changed, ' || return 1
		for mail in "$part"*.patch; do
			subject=$(git mailinfo /dev/null /dev/null <"$mail" | sed -n 's/^Subject: //p')
			if ! grep -qxF "  ${subject:-none}" "$cover"; then
				echo "$cover does not list $mail: '$subject'" >"$seen"
				return 1
			fi
		done
	done
}
# print_long_mails LIMIT: the mails that add more lines beside tests and documentation.
print_long_mails()
{
	for mail in "$place"/series/*/*.patch; do
		git apply --numstat "$mail" | awk -F '\t' -v limit="$1" -v mail="${mail#"$place/series/"}" '
			$3 !~ /^(Documentation|tools\/testing)\/|\/tests\/|README$|\.8\.in$/ { sum += $1 }
			END { if (sum > limit) print substr(mail, 1, index(mail, "/") + 4) }'
	done
}
# The fifth column of the table has the reason.
long_mails_have_a_reason()
{
	print_long_mails 600 >"$work/long"
	awk -F '\t' '$5 != "" { print $1 }' "$place/series/table" >"$work/reasons"
	[ -s "$work/long" ] && diff "$work/long" "$work/reasons" >"$seen" 2>&1
}
each_mail_has_a_message()
{
	for mail in "$place"/series/*/*.patch; do
		sed -n '/^$/,/^---$/p' "$mail" | grep -q '[a-z]' || { echo "$mail" >"$seen"; return 1; }
	done
}

ok "make series writes mails" write_mails
ok "each cover letter has a text and lists the mails" covers_list_mails
ok "mails of more than 600 lines have a reason" long_mails_have_a_reason
ok "none has more than 700" equals "$(print_long_mails 700)" ""
ok "each mail says why" each_mail_has_a_message
ok "git am takes them on pristine source" apply_mails
ok "what they make equals the assembled tree" result_equals_tree
finish_tests
