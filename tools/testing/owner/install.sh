#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Install the Debian packages that are missing: install.sh install | install-tests |
# install-arm64 | install-kasan-tags | install-s390x. The Makefile calls it before each target.
set -eu

# Sources and tools to build kernels and ownertop, and the machines that boot them.
run="linux-source-6.12 build-essential flex bison bc libelf-dev libssl-dev cpio kmod
	xz-utils patch git python3 ccache qemu-system-x86 busybox-static
	dwarves pkg-config libsmartcols-dev libjson-c-dev libxxhash-dev zlib1g-dev libzstd-dev
	libdw-dev"
# Style and static checks, readers of a vmcore, tools of the tests.
tests="sparse shellcheck flake8 codespell python3-drgn python3-ply python3-git
	bsdextrautils bsdutils bzip2 man-db time clang libclang-rt-14-dev zstd tmux
	gdb golang-go chromium-headless-shell kexec-tools makedumpfile python3-numpy crash
	systemd lintian fakeroot"
# Unpacked below build/ only: if they were installed, they would serve on all interfaces.
unpacked="prometheus prometheus-node-exporter"
arm64="gcc-aarch64-linux-gnu qemu-system-arm"
s390x="gcc-s390x-linux-gnu qemu-system-misc"

case "${1:-}" in
install)	wanted=$run ;;
install-tests)	wanted="$run $tests" ;;
install-arm64 | install-kasan-tags)	wanted=$arm64 ;;
install-s390x)	wanted=$s390x ;;
*)		echo "usage: $0 install|install-tests|install-arm64|install-kasan-tags|install-s390x" >&2
		exit 2 ;;
esac

unpack_servers()
{
	mkdir -p build/packages
	(
		cd build/packages
		# shellcheck disable=SC2086 # a list of words
		apt-get download $unpacked || { apt-get update && apt-get download $unpacked; }
		for package in *.deb; do
			dpkg -x "$package" .
		done
		rm -f -- *.deb
	) >build/install.log 2>&1
}

missing=
for package in $wanted; do
	case "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" in
	*"ok installed") ;;
	*) missing="$missing $package" ;;
	esac
done
if [ "$1" != install-tests ] || [ -x build/packages/usr/bin/prometheus ]; then
	unpacked=
fi
[ -n "$missing$unpacked" ] || exit 0

if [ -n "$missing" ] && [ "$(id -u)" != 0 ]; then
	echo "error: packages are missing; as root: apt-get install$missing" >&2
	exit 1
fi
mkdir -p build
export DEBIAN_FRONTEND=noninteractive
install_missing()
{
	echo "install:$missing"
	# shellcheck disable=SC2086 # a list of words
	{ apt-get update && apt-get install -y --no-install-recommends $missing; } \
		>build/install.log 2>&1
}
if { [ -n "$missing" ] && ! install_missing; } || { [ -n "$unpacked" ] && ! unpack_servers; }; then
	tail -n 5 build/install.log >&2
	echo "error: the packages could not be installed; see build/install.log" >&2
	exit 1
fi
