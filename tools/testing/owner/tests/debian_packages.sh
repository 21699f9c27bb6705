#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# ok() calls the checks by name, and chroot and the guest expand what CMD names:
# shellcheck disable=SC2317,SC2016
#
# Install the packages of a Debian kernel and of ownertop in a clean Debian 13, boot it with the
# kernel and the initrd in its /boot and systemd, and look at owners there. Prints TAP.
usage='[KERNEL]'
. "$(dirname "$0")/prelude.sh"

kernel=${1:-debian}
root=$work/root
seen="$work/messages $work/lines"
require_debian_root packages

make_packages()
{
	mkdir -p build/deb &&
		image=$(tools/testing/owner/kernels/make_packages.sh "$kernel") &&
		program=$(O=$PWD/build/deb tools/mm/ownertop/debian/make_deb.sh)
}

# The hooks run before mmdebstrap removes apt's lists, so apt finds what the packages need.
install_packages()
{
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
		'Label: Debian' | head -n 1)
	mmdebstrap --variant=minbase --mode=root --include=systemd-sysv,udev,initramfs-tools \
		--customize-hook="upload $image /tmp/image.deb" \
		--customize-hook="upload $program /tmp/ownertop.deb" \
		--customize-hook='chroot "$1" apt-get install -y --no-install-recommends \
			/tmp/image.deb /tmp/ownertop.deb' \
		trixie "$root" "$mirror"
}

# A unit prints to the serial port, and ends the machine. A getty would hang up the port.
add_unit()
{
	cat >"$root/usr/local/sbin/show-owners" <<-'EOF'
		#!/bin/sh
		exec >/dev/ttyS0 2>&1
		echo "show release $(uname -r)"
		echo "show init $(cat /proc/1/comm)"
		head -n 20 /sys/kernel/debug/slab_owner | sed 's/^/show owner /'
		ownertop | head -n 12 | sed 's/^/show top /'
		echo show end
		sync
		reboot -ff
	EOF
	chmod 755 "$root/usr/local/sbin/show-owners"
	cat >"$root/etc/systemd/system/show-owners.service" <<-'EOF'
		[Unit]
		Requires=sys-kernel-debug.mount
		After=sys-kernel-debug.mount multi-user.target
		[Service]
		ExecStart=/usr/local/sbin/show-owners
	EOF
	mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
	ln -s /dev/null "$root/etc/systemd/system/serial-getty@ttyS0.service"
	ln -s ../show-owners.service "$root/etc/systemd/system/multi-user.target.wants/"
}

boot_root()
{
	cp "$root/boot/vmlinuz-$release" "$root/boot/initrd.img-$release" "$work/" &&
		mkfs.ext4 -q -d "$root" "$work/disk" 2G &&
		timeout 1800 qemu-system-x86_64 -nodefaults -no-user-config -no-reboot -display none \
			-nic none -machine pc -cpu max,la57=off -accel tcg -m 1G \
			-kernel "$work/vmlinuz-$release" -initrd "$work/initrd.img-$release" \
			-append "root=/dev/vda rw console=ttyS0 panic=-1 no_timer_check slab_owner=on" \
			-drive "file=$work/disk,format=raw,if=none,id=root" \
			-device virtio-blk-pci,disable-modern=on,vectors=0,drive=root \
			-serial "file:$work/console" </dev/null
}

# As guest.py does for its guests.
search_console()
{
	PYTHONPATH=tools/testing/owner/guest python3 -c '
import pathlib, sys, complaints
console = pathlib.Path(sys.argv[1])
complaints.keep_console(console, sys.argv[2], complaints.find_complaints(console))' \
		"$work/console" "$kernel"
}

# The console has the kernel's and systemd's lines between.
shows()
{
	tr -d '\r' <"$work/console" | sed -n "s/^.*show \($1 .*\)/\1/p;/show end/q" | grep -qE "$2"
}
has_run_to_the_end() { grep -q 'show end' "$work/console"; }

release=$(cat "build/$kernel/include/config/kernel.release") || exit 1
make_packages >"$work/messages" 2>&1
ok "the packages are made" equals $? 0
install_packages >"$work/messages" 2>&1
ok "apt installs them in a clean Debian 13" equals $? 0
ok "an initrd was made" [ -s "$root/boot/initrd.img-$release" ]
add_unit
boot_root >"$work/messages" 2>&1
tail -n 60 "$work/console" >"$work/lines" 2>/dev/null
ok "it boots, and its unit ends" has_run_to_the_end
search_console
ok "the release is the package's" shows release "$release"
ok "systemd is the first process" shows init systemd
ok "slab_owner has call chains" shows owner ' [a-z_]+\+0x'
ok "ownertop has a table" shows top 'HELD +% +WASTE'
[ -z "${SHOW:-}" ] || grep -a 'show ' "$work/console"
finish_tests
