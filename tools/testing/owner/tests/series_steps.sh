#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# After each part of the series, or with "mails" after each mail, as bisection needs, the kernel
# builds without a warning, and ownertop does if its Makefile is there. A mail that changes nothing
# of the kernel but tools/ and Documentation/ needs no kernel to be built. Prints TAP.
usage='[mails]'
. "$(dirname "$0")/prelude.sh"

seen=$work/seen
# Keep the object directory one level from the tree, as kernels.py does, so that paths are
# equal and ccache hits.
steps=$PWD/build/steps
tree=$steps/tree
export GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost
export CCACHE_BASEDIR="$steps" CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
compiler=gcc
! command -v ccache >/dev/null || compiler="ccache gcc"

make_um_kernel()
{
	make -s -C "$tree" O="$steps/um" ARCH=um CC="$compiler" -j"${JOBS:-$(nproc)}" "$@" >>"$seen" 2>&1
}

# build_step MAIL...: apply mails, and build what is there then.
build_step()
{
	: >"$seen"
	before=$(git -C "$tree" rev-parse HEAD)
	git -C "$tree" am "$@" >>"$seen" 2>&1 || return 1
	changed=$(git -C "$tree" diff --name-only "$before") && [ -n "$changed" ] || return 1
	if echo "$changed" | grep -qvE '^(tools|Documentation)/'; then
		make_um_kernel KCONFIG_ALLCONFIG="$PWD/build/um/owner.fragment" allnoconfig &&
			make_um_kernel vmlinux && file_lacks "$seen" "warning:" || return 1
	fi
	[ ! -e "$tree/tools/mm/ownertop/Makefile" ] ||
		make -s -C "$tree/tools/mm/ownertop" O="$steps/ownertop" >>"$seen" 2>&1
}

tools/testing/owner/kernels/tree.py series >"$seen" || exit 1
mkdir -p "$steps/um"
git -C build/tree worktree prune
[ -e "$tree" ] || git -C build/tree worktree add -q --detach "$tree" base
git -C "$tree" am --abort 2>/dev/null
git -C "$tree" checkout -qf --detach base && git -C "$tree" clean -qfd
for part in "$PWD"/build/series/*/; do
	name=$(basename "$part")
	if [ "${1:-}" != mails ]; then
		ok "$name" build_step "$part"*.patch
		continue
	fi
	for mail in "$part"*.patch; do
		ok "$name/$(basename "$mail" .patch)" build_step "$mail"
	done
done
finish_tests
