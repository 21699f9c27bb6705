#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Test tree.py in a copy of this repository: it assembles the tree and carries edits back.
# The copy has a clone of build/tree. Prints TAP.
. "$(dirname "$0")/prelude.sh"

seen=$work/seen

# Copy the files of the work tree, committed or not. The clone shares git objects with
# build/tree.
mkdir -p "$work/repo/build"
git ls-files -co --exclude-standard | while read -r file; do
	[ -f "$file" ] && echo "$file"
done | cpio --quiet -pdm "$work/repo"
tools/testing/owner/kernels/tree.py assemble >"$seen" || exit 1
git clone -q --shared --no-checkout build/tree "$work/repo/build/tree"
git -C "$work/repo/build/tree" sparse-checkout set mm include/linux lib Documentation/mm \
	Documentation/admin-guide
git -C "$work/repo/build/tree" checkout -q --detach base 2>"$seen"
cp build/tree/.git/owner-source "$work/repo/build/tree/.git/"
cd "$work/repo" || exit 1
git init -q . && git add -A && git -c user.name=t -c user.email=t@localhost commit -qm t

run_tree_py() { tools/testing/owner/kernels/tree.py "$@" >"$seen" 2>&1; }
ours=mm/owner/slab/alloc.c
hooked=mm/slub.c
# The last patch in the order of the mails that touches the file takes its edits.
patch=patches/6.12/slub-hooks.patch

ok "assembles from a base" run_tree_py assemble
ok "lays our files over it" cmp $ours build/tree/$ours
ok "applies the patches" grep -q slab_owner build/tree/$hooked
touch "$work/before"
sleep 1
ok "assembles again" run_tree_py assemble
ok "and writes nothing" equals "$(find build/tree -newer "$work/before" -type f -not -path '*/.git/*')" ""
echo "/* edited */" >>$ours
ok "assembles after an edit" run_tree_py assemble
ok "and writes only what changed" equals \
	"$(cd build/tree && find . -newer "$work/before" -type f -not -path './.git/*')" "./$ours"

echo "/* in the tree */" >>build/tree/$ours
ok "an edit in the tree is not overwritten" command_fails run_tree_py assemble
ok "and is named" grep -qxF "  $ours" "$seen"
ok "with what to do" file_has "$seen" "Run 'make refresh' to keep the edits"
ok "refresh carries it back" run_tree_py refresh
ok "to our file" grep -q "in the tree" $ours

echo "/* new */" >build/tree/mm/owner/fresh.h
ok "refresh carries a new file back" run_tree_py refresh
ok "to the overlay" grep -q "new" mm/owner/fresh.h
ok "a file that no mail has stops make series" command_fails run_tree_py series
ok "and is named" grep -qxF "error: no mail has: mm/owner/fresh.h" "$seen"
rm mm/owner/fresh.h

sed -i '/^!! /d' patches/parts/*.txt
ok "a long mail without a reason stops make series" command_fails run_tree_py series
ok "and is named" file_has "$seen" "^error: patches/parts/.*adds [67][0-9][0-9] lines"
ok "with what to do" file_has "$seen" "split it, or say why"

sed -i '0,/slab_owner_alloc(s, p\[i\]/s//\/* hook *\/ &/' build/tree/$hooked
ok "refresh carries an edit of a hook back" run_tree_py refresh
ok "to its patch" grep -q '^+.*hook \*/ slab_owner_alloc' "$patch"
ok "whose message is kept" file_has "$patch" "^Subject: "
ok "and which still applies" run_tree_py assemble

echo "/* stray */" >>build/tree/mm/util.c
ok "an edit that no patch takes is refused" command_fails run_tree_py refresh
ok "and told how to place it" file_has "$seen" "PATCH="
ok "a named patch takes it" run_tree_py refresh --patch "$(basename "$patch")"
ok "and holds it" file_has "$patch" '^\+/\* stray \*/'
git -C build/tree checkout -q base -- mm/util.c
ok "refresh takes a file's last hunk away" run_tree_py refresh
ok "from its patch" file_lacks "$patch" mm/util.c

sed -i 's/^ #include <linux\/kasan.h>$/ #include <linux\/nowhere.h>/' patches/6.12/*.patch
ok "a hunk that does not apply stops" command_fails run_tree_py assemble
ok "with its file and number" file_has "$seen" "file mm/slab.h, hunk 1 of [0-9]+"
ok "with the hunk" file_has "$seen" "nowhere.h"
ok "and what to do" file_has "$seen" "What to do"
finish_tests
