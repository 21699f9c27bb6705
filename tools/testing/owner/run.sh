#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# make run: build the kernel, boot it, load a module that leaks, and print ownertop's
# report of the leak.
set -eu
cd "$(dirname "$0")/../../.."
bench=tools/testing/owner

"$bench/kernels/kernels.py" x86_64
echo "ownertop: building"
mkdir -p build/ownertop
flock build/ownertop.lock make -s -C tools/mm/ownertop O="$PWD/build/ownertop"

dump=build/run.slab_owner
extra=build/x86_64/owner-modules
echo "guest: booting with slab_owner=on and loading a module that leaks"
"$bench/guest/guest.py" run x86_64 --append slab_owner=on --extra "$extra" --timeout 120 \
	--console build/run.console \
	--cmd 'insmod /extra/owner_leak.ko && cat /sys/kernel/debug/slab_owner' >"$dump"
echo
build/ownertop/ownertop -v --top 3 "$dump"
cat <<END

What to try next:
  build/ownertop/ownertop --depth 0 --top 1 $dump   # the whole chain; --help says more
  make shell APPEND=slab_owner=on                 # then: head /sys/kernel/debug/slab_owner
  less README.md                                  # slab_owner on a kernel of your own
END
