#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Make the Debian package linux-image-RELEASE of a kernel in build/, which
# kernels.py has built, in build/packages-of-KERNEL/. Prints its path.
#
# usage: make_packages.sh [KERNEL]
set -eu

cd "$(dirname "$(readlink -f "$0")")/../../../.."
kernel=${1:-debian}
objects=build/$kernel
image=$objects/arch/x86/boot/bzImage
if [ ! -e "$image" ]; then
	echo "error: $image is missing: run 'make kernel K=$kernel'" >&2
	exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
output=build/packages-of-$kernel
release=$(cat "$objects/include/config/kernel.release")
name=linux-image-$release
maintainer=${MAINTAINER:-"$(git config user.name) <$(git config user.email)>"}
# The time of the sources, so that two packages of one build are equal.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

mkdir -p "$root/DEBIAN" "$root/boot" "$root/usr/share/doc/$name" "$output"
if ! MAKEFLAGS='' make -C "$objects" ARCH=x86_64 LOCALVERSION= \
	INSTALL_MOD_PATH="$root/usr" INSTALL_MOD_STRIP=1 modules_install > "$work/messages" 2>&1; then
	cat "$work/messages" >&2
	exit 1
fi
# They name the machine on which the kernel was built.
rm -f "$root/usr/lib/modules/$release/build" "$root/usr/lib/modules/$release/source"
cp "$image" "$root/boot/vmlinuz-$release"
cp "$objects/System.map" "$root/boot/System.map-$release"
cp "$objects/.config" "$root/boot/config-$release"
cat > "$root/usr/share/doc/$name/copyright" <<EOF
Linux and slab_owner are free software under version 2 of the GNU General
Public License, /usr/share/common-licenses/GPL-2.
EOF

# write_script SCRIPT: run the hooks that make an initrd and enter the kernel in the boot menu
write_script()
{
	cat > "$root/DEBIAN/$1" <<EOF
#!/bin/sh
set -e
export INITRD=Yes DEB_MAINT_PARAMS="\$*"
[ ! -d /etc/kernel/$1.d ] ||
	run-parts --arg=$release --arg=/boot/vmlinuz-$release /etc/kernel/$1.d
EOF
	chmod 755 "$root/DEBIAN/$1"
}

for script in preinst postinst prerm postrm; do
	write_script "$script"
done
cat > "$root/DEBIAN/control" <<EOF
Package: $name
Version: ${release%%-*}-1
Architecture: amd64
Maintainer: $maintainer
Installed-Size: $(du -sk "$root" | cut -f 1)
Depends: kmod, initramfs-tools | linux-initramfs-tool
Section: kernel
Priority: optional
Description: Linux with slab_owner, in the configuration of Debian's kernel
 Each slab object has an owner if slab_owner=on is on the boot line: the call
 chain that allocated it, the task, the size and the time. The package ownertop
 shows which call chains own the memory.
EOF
chmod -R u=rwX,go=rX "$root"
package=$output/${name}_${release%%-*}-1_amd64.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$package" > /dev/null
echo "$package"
