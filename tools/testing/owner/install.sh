#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Install the Debian packages that are missing: install.sh install | install-tests |
# install-debian | install-kmsan | install-arm64 | install-arm64-64k | install-arm64-scs |
# install-kasan-tags | install-s390x | install-7.3. The Makefile calls it before each target.
set -eu

# Sources and tools to build kernels and ownertop, and the machines that boot them.
run="linux-source-6.12 build-essential flex bison bc libelf-dev libssl-dev cpio kmod
	xz-utils patch git python3 ccache qemu-system-x86 busybox-static
	dwarves pkg-config libsmartcols-dev libjson-c-dev libxxhash-dev zlib1g-dev
	libdw-dev zstd"
# Style and static checks, readers of a vmcore, tools of the tests.
tests="sparse shellcheck flake8 codespell python3-drgn
	bsdextrautils bsdutils bzip2 lz4 man-db time clang libclang-rt-14-dev tmux
	gdb golang-go chromium-headless-shell kexec-tools makedumpfile python3-numpy crash
	systemd lintian fakeroot trace-cmd libtraceevent-dev valgrind rt-tests e2fsprogs"
# Unpacked below build/ only: if they were installed, they would serve on all interfaces.
servers="prometheus prometheus-node-exporter"
# The configurations of Debian's kernels, and what makes a root of Debian 13 in an ext4 image.
configurations="linux-config-6.12"
debian="mmdebstrap e2fsprogs"
kmsan="clang"
arm64="gcc-aarch64-linux-gnu qemu-system-arm"
s390x="gcc-s390x-linux-gnu qemu-system-misc"
# Of a later Debian, whose lists and key are kept below build/: the system's lists stay as they are.
later="trixie-backports"
sources="linux-source-7.3"

case "${1:-}" in
install)	wanted=$run unpacked= ;;
install-tests)	wanted="$run $tests" unpacked=$servers ;;
install-debian)	wanted=$debian unpacked=$configurations ;;
install-kmsan)	wanted=$kmsan unpacked= ;;
install-arm64 | install-arm64-64k | install-arm64-scs | install-kasan-tags)
		wanted=$arm64 unpacked= ;;
install-s390x)	wanted=$s390x unpacked= ;;
install-7.3)	wanted="" unpacked=$sources ;;
*)		echo "usage: $0 install|install-tests|install-K for K=debian kmsan arm64 arm64-64k arm64-scs kasan-tags s390x 7.3" >&2
		exit 2 ;;
esac

# Print the server of this system's release, which its lists name.
print_mirror()
{
	# shellcheck disable=SC2016 # for apt-get
	apt-get indextargets --format '$(REPO_URI)' "Created-By: Packages" \
		"Release: $(. /etc/os-release && echo "$VERSION_CODENAME")" | head -n 1
}

# Make apt-get use the release $later alone.
use_later_release()
{
	mirror=$(print_mirror)
	[ -n "$mirror" ] || { apt-get update && mirror=$(print_mirror); } >build/install.log 2>&1
	mkdir -p "$PWD/build/apt/lists/partial" "$PWD/build/apt/cache/archives/partial"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $later main" \
		>build/apt/sources.list
	cat >build/apt/apt.conf <<-END
		Dir::Etc::SourceList "$PWD/build/apt/sources.list";
		Dir::Etc::SourceParts "/dev/null";
		Dir::State::Lists "$PWD/build/apt/lists";
		Dir::Cache "$PWD/build/apt/cache";
	END
	export APT_CONFIG="$PWD/build/apt/apt.conf"
}

unpack_packages()
{
	mkdir -p build/packages
	[ "$unpacked" != "$sources" ] || use_later_release
	(
		cd build/packages || exit 1
		# shellcheck disable=SC2086 # a list of words
		apt-get download $absent ||
			{ apt-get update && apt-get download $absent; } || exit 1
		for package in *.deb; do
			dpkg -x "$package" . || exit 1
			rm "$package"
		done
	) >build/install.log 2>&1
}

missing=
for package in $wanted; do
	case "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" in
	*"ok installed") ;;
	*) missing="$missing $package" ;;
	esac
done
absent=
for package in $unpacked; do
	[ -d "build/packages/usr/share/doc/$package" ] || absent="$absent $package"
done
[ -n "$missing$absent" ] || exit 0

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
if { [ -n "$missing" ] && ! install_missing; } || { [ -n "$absent" ] && ! unpack_packages; }; then
	tail -n 5 build/install.log >&2
	echo "error: the packages could not be installed; see build/install.log" >&2
	exit 1
fi
