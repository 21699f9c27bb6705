#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The hooks compile in the smallest kernel of a version of Linux, which has none of their options.
# Prints TAP.
usage='[VERSION]'
. "$(dirname "$0")/prelude.sh"

export LINUX="${1:-}"
tree=build${1:+/$1}/tree
objects="mm/slub.o mm/slab_common.o mm/percpu.o mm/show_mem.o kernel/fork.o fs/exec.o"
cache=
command -v ccache >/dev/null && cache="ccache "

run_make()
{
	make -s -C "$tree" O="$work/smallest" ARCH=x86_64 CC="${cache}gcc" -j2 "$@" >>"$work/out" 2>&1
}

configure()
{
	tools/testing/owner/kernels/tree.py assemble >"$work/out" && mkdir "$work/smallest" &&
		run_make tinyconfig &&
		sed -i "s/^.*CONFIG_64BIT .*/CONFIG_64BIT=y/" "$work/smallest/.config" &&
		run_make olddefconfig
}

ok "tinyconfig for 64 bits" configure
ok "it has none of our options" \
	equals "$(grep -cE '^CONFIG_(SLAB_OWNER|PAGE_OWNER|STACKDEPOT|STACKTRACE)=y' "$work/smallest/.config")" 0
# shellcheck disable=SC2086 # a list of words
ok "files with hooks compile" run_make $objects
finish_tests
