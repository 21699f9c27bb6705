#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [KERNEL]: build the kernel (x86_64), boot it, load a module that leaks, and print
# ownertop's report of the leak.
set -eu
kernel=${1:-x86_64}
# How make is told to take this kernel.
choice="K=${kernel##*/}"
[ "$kernel" = "${kernel##*/}" ] || choice="$choice LINUX=${kernel%/*}"
cd "$(dirname "$0")/../../.."
bench=tools/testing/owner

"$bench/kernels/kernels.py" "$kernel"
echo "ownertop: building"
mkdir -p build/ownertop
flock build/ownertop.lock make -s -C tools/mm/ownertop O="$PWD/build/ownertop"

dump=build/run.slab_owner
extra=build/$kernel/owner-modules
echo "guest: booting with slab_owner=on and loading a module that leaks"
"$bench/guest/guest.py" run "$kernel" --append slab_owner=on --extra "$extra" --timeout 120 \
	--console build/run.console \
	--cmd 'insmod /extra/owner_leak.ko && cat /sys/kernel/debug/slab_owner' >"$dump"
echo
build/ownertop/ownertop -v --top 3 "$dump"

print_hint() { printf '  %-47s # %s\n' "$1" "$2"; }
echo
echo "What to try next:"
print_hint "build/ownertop/ownertop --depth 0 --top 1 $dump" "the whole chain; --help says more"
print_hint "make shell $choice APPEND=slab_owner=on" "then: head /sys/kernel/debug/slab_owner"
print_hint "less README.md" "slab_owner on a kernel of your own"
