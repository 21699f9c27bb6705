#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# After each mail of the series mm/ and lib/ build, as bisection needs. A mail that changes
# only tools/ and Documentation/ changes nothing that is built here. Prints TAP.
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
	make -C "$tree" O="$steps/um" ARCH=um CC="$compiler" -j"$(nproc)" "$@" >>"$seen" 2>&1
}

build_each_step()
{
	: >"$seen"
	git -C "$tree" am "$1" >>"$seen" 2>&1 || return 1
	changed=$(git -C "$tree" diff --name-only HEAD~) && [ -n "$changed" ] || return 1
	echo "$changed" | grep -qvE '^(tools|Documentation)/' || return 0
	make_um_kernel KCONFIG_ALLCONFIG="$PWD/build/um/owner.fragment" allnoconfig &&
		make_um_kernel mm/ lib/ && file_lacks "$seen" "warning:"
}

tools/testing/owner/kernels/tree.py series >"$seen" || exit 1
mkdir -p "$steps/um"
git -C build/tree worktree prune
[ -e "$tree" ] || git -C build/tree worktree add -q --detach "$tree" base
git -C "$tree" am --abort 2>/dev/null
git -C "$tree" checkout -qf --detach base && git -C "$tree" clean -qfd
for mail in build/series/*.patch; do
	ok "$(basename "$mail" .patch)" build_each_step "$PWD/$mail"
done
finish_tests
