#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test the Debian package: lintian finds no error, it installs into an empty root, and the
# installed program finds its files. Skip it without lintian.
#
# usage: deb.sh
set -eu

here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for program in dpkg-deb dpkg-shlibdeps lintian; do
	if ! command -v "$program" > /dev/null; then
		echo "no $program"
		exit 77
	fi
done
package=$(MAINTAINER='Test <test@example.org>' "$here/../debian/make_deb.sh")
# lintian refuses to run as root unless it is told to.
lintian --allow-root --fail-on error "$package"

root=$work/root
mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info"
: > "$root/var/lib/dpkg/status"
fakeroot dpkg --root="$root" --force-depends --force-script-chrootless --log=/dev/null \
	--install "$package" > "$work/messages" 2>&1 || { cat "$work/messages"; exit 1; }
dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${Status}\n' ownertop |
	grep -q '^install ok installed$'
for file in usr/bin/ownertop usr/libexec/ownertop/record usr/share/man/man8/ownertop.8.gz \
	usr/share/ownertop/slab_owner.py \
	usr/share/ownertop/owner_drgn/records.py usr/share/ownertop/ownertop.rules.yml \
	usr/share/bash-completion/completions/ownertop \
	lib/systemd/system/ownertop-record.timer lib/systemd/system/ownertop-record.service; do
	if [ ! -s "$root/$file" ]; then
		echo "the package has no $file"
		exit 1
	fi
done
"$root/usr/bin/ownertop" --page-size 4096 "$here/input/slab.txt" | grep -q ' total$'
"$root/usr/bin/ownertop" record --help | grep -q '^Writes slab_owner'
grep -q '^ExecStart=/usr/bin/ownertop ' "$root/lib/systemd/system/ownertop-record.service"
