#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# The first process of a guest that guest.py starts. It mounts the usual file
# systems, runs /cmd, and reports its status to the runner.
#
# The runner's /guest.conf has the settings:
#   mode     run (end after /cmd), hold (stay after /cmd), shell (a prompt),
#            kdump (panic after /cmd)
#   channel  the channel for /cmd's output: the name of a virtio port, or a ttyS
#   mark     a random word; the lines "<mark> begin" and "<mark> end <status>"
#            frame /cmd's output
#   name     the host name
#   size     shell only: rows and columns of the terminal
#   disk     the device whose ext4 is the root of /cmd, or nothing
#   systemd  1: the disk's systemd becomes the first process, and runs this script as a service
#   crash    kdump only: the command line of the crash kernel

export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/root TERM=linux
# "service": systemd runs this, and the settings are beside it.
stage=${1:-init}
disk_path=$PATH
if [ "$stage" = service ]; then
	PATH=/guest/bin:$PATH
else
	/bin/busybox --install -s
fi

print_to_console()
{
	echo "guest-init: $*" >/dev/console
}

end_machine()
{
	# The runner ends the machine at a reboot. Unlike poweroff, reboot needs
	# no firmware.
	reboot -f
	sleep 60
}

end_machine_with_error()
{
	print_to_console "$*"
	end_machine
}

# attach <type> <directory> [<options>]
mount_file_system()
{
	mkdir -p "$2" && mount -t "$1" -o "${3:-rw}" "$1" "$2" 2>/dev/null
}

mount_all()
{
	mount_file_system proc /proc || end_machine_with_error "no proc: the kernel needs CONFIG_PROC_FS"
	mount_file_system sysfs /sys || end_machine_with_error "no sysfs: the kernel needs CONFIG_SYSFS"
	mount_file_system devtmpfs /dev ||
		end_machine_with_error "no devtmpfs: the kernel needs CONFIG_DEVTMPFS"
	mount_file_system tmpfs /tmp mode=1777 ||
		end_machine_with_error "no tmpfs: the kernel needs CONFIG_TMPFS"
	mount_file_system tmpfs /run mode=755
	mount_file_system tmpfs /dev/shm mode=1777
	mount_file_system devpts /dev/pts mode=620,ptmxmode=666
	mount_file_system debugfs /sys/kernel/debug
	ln -sf /proc/self/fd /dev/fd
	ifconfig lo up 2>/dev/null
}

# Virtio ports appear a moment after boot.
find_port()
{
	tries=0
	while [ "$tries" -lt 500 ]; do
		for file in /sys/class/virtio-ports/*/name; do
			[ -e "$file" ] || continue
			read -r found <"$file"
			[ "$found" = "$channel" ] || continue
			device=${file%/name}
			device=/dev/${device##*/}
			return 0
		done
		usleep 20000
		tries=$((tries + 1))
	done
	return 1
}

open_channel()
{
	case $channel in
	ttyS*)
		device=/dev/$channel
		stty -F "$device" raw -echo ||
			end_machine_with_error "$device: the kernel needs CONFIG_SSL"
		;;
	*)
		find_port || end_machine_with_error "no virtio port named $channel:" \
			"the kernel needs CONFIG_VIRTIO_CONSOLE" \
			"and CONFIG_VIRTIO_PCI"
		;;
	esac
	exec 3<>"$device" || end_machine_with_error "$device cannot be opened"
}

# CMD writes directly to a virtio port, which is fast. The port can be opened
# only once, so /dev/stdout and /dev/stderr are a pipe into it. With a tty, CMD
# itself writes into the pipe: on a tty programs would flush each line. The
# closing line takes the pipe, so that it is last.
run_command()
{
	open_channel
	mkfifo /run/output
	ln -sf /run/output /dev/stdout
	ln -sf /run/output /dev/stderr
	cat /run/output >&3 3>&- &
	exec 4>/run/output
	out=3
	[ "${channel#ttyS}" = "$channel" ] || out=4
	echo "$mark begin" >&3
	set -- env PATH="$disk_path" sh /cmd
	[ -z "$disk" ] || set -- chroot /disk "$@"
	setsid "$@" </dev/null >&"$out" 2>&1 3>&- 4>&-
	echo "$mark end $?" >&4
}

# Output in flight would be lost with the machine: wait until the runner
# confirms the closing line.
await_receipt()
{
	read -r _ <&3
}

# The crash kernel is loaded before /cmd, so that /cmd sees the memory that the dump has.
load_crash_kernel()
{
	kexec -p /crash/kernel --initrd=/crash/initrd --command-line="$crash" >/dev/console 2>&1 ||
		end_machine_with_error "kexec cannot load the crash kernel:" \
			"the kernel needs CONFIG_KEXEC and CONFIG_CRASH_DUMP"
	rm -rf /crash
}

panic()
{
	echo c >/proc/sysrq-trigger
	end_machine_with_error "no panic: the kernel needs CONFIG_MAGIC_SYSRQ"
}

# The disk is the root of /cmd only: this script goes on with busybox.
enter_disk()
{
	mkdir -p /disk
	mount -t ext4 "$disk" /disk ||
		end_machine_with_error "$disk has no ext4: the kernel needs CONFIG_EXT4_FS" \
			"and CONFIG_VIRTIO_BLK"
	for directory in /proc /sys /dev /tmp /run; do
		mount -o rbind "$directory" "/disk$directory"
	done
	cp /cmd /disk/cmd
	[ ! -d /extra ] || { mkdir -p /disk/extra && mount -o bind /extra /disk/extra; }
}

# switch_root removes the files of the initramfs: copy those that the service needs. A getty
# would read from the console.
start_systemd()
{
	[ -x /disk/sbin/init ] ||
		end_machine_with_error "$disk has no /sbin/init: it needs the package systemd-sysv"
	mkdir -p /disk/guest/bin
	cp /init /bin/busybox /disk/guest
	/disk/guest/busybox --list | while read -r program; do
		ln -s /guest/busybox "/disk/guest/bin/$program"
	done
	echo "mode='$mode' channel='$channel' mark='$mark' size='$size' name='$name'" >/disk/guest/conf
	if [ -d /extra ]; then
		umount /disk/extra
		cp -a /extra/. /disk/extra
	fi
	cat >/disk/etc/systemd/system/guest.service <<-EOF
	[Unit]
	Description=The command of guest.py
	After=basic.target
	[Service]
	ExecStart=/guest/busybox sh /guest/init service
	StandardInput=tty-force
	StandardOutput=tty
	TTYPath=/dev/console
	EOF
	mkdir -p /disk/etc/systemd/system/multi-user.target.wants
	ln -s ../guest.service /disk/etc/systemd/system/multi-user.target.wants
	ln -s multi-user.target /disk/etc/systemd/system/default.target
	for line in ttyS0 ttyAMA0; do
		ln -s /dev/null "/disk/etc/systemd/system/serial-getty@$line.service"
	done
	exec switch_root /disk /sbin/init
}

run_shell()
{
	[ -z "$size" ] || stty rows "${size% *}" cols "${size#* }"
	export PS1='guest:\w# '
	set -- sh
	[ -z "$disk" ] || set -- chroot /disk "$@"
	setsid cttyhack "$@"
}

mode='' disk='' channel='' mark='' name='' size='' crash='' systemd=''
if [ "$stage" = service ]; then
	# shellcheck source=/dev/null
	. /guest/conf
else
	# shellcheck source=/dev/null
	. /guest.conf
	rm -f /guest.conf /linuxrc
	mount_all
	[ -z "$disk" ] || enter_disk
	[ -z "$systemd" ] || start_systemd
fi
hostname "$name"
cd / || end_machine
case $mode in
shell)
	run_shell
	;;
hold)
	run_command
	while :; do sleep 3600; done
	;;
kdump)
	load_crash_kernel
	run_command
	await_receipt
	panic
	;;
*)
	run_command
	await_receipt
	;;
esac
end_machine
