#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Make a Debian package of ownertop: $O/ownertop_VERSION_ARCHITECTURE.deb. The default of O is
# build/ beside the sources. MAINTAINER="Name <address>" is the packager; the default is the
# identity of git.
#
# usage: make_deb.sh
set -eu

here=$(dirname "$(readlink -f "$0")")
source=$here/..
build=${O:-$source/build}
build=$(mkdir -p "$build" && cd "$build" && pwd)
maintainer=${MAINTAINER:-"$(git config user.name) <$(git config user.email)>"}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

make -s -C "$source" O="$build"
make -s -C "$source" O="$build" DESTDIR="$root" prefix=/usr unitdir=/lib/systemd/system install \
	> /dev/null
strip --remove-section=.comment --remove-section=.note "$root/usr/bin/ownertop"
gzip -9n "$root/usr/share/man/man8/ownertop.8"

version=$("$build/ownertop" --version | cut -d ' ' -f 2)
architecture=$(dpkg --print-architecture)
# The time of the sources, so that two builds are equal.
date=$(git -C "$source" log -1 --format=%ct 2> /dev/null || date +%s)
export SOURCE_DATE_EPOCH=$date

# The libraries that the program is linked with. dpkg-shlibdeps wants a debian/control.
mkdir "$work/debian"
printf 'Source: ownertop\n\nPackage: ownertop\nArchitecture: any\n' > "$work/debian/control"
if ! (cd "$work" && dpkg-shlibdeps "-Osubstvars" root/usr/bin/ownertop) 2> "$work/messages"; then
	cat "$work/messages" >&2
	exit 1
fi
depends=$(sed -n 's/^shlibs:Depends=//p' "$work/substvars")

# fill_in FILE: print a template of this directory
fill_in()
{
	sed -e "s|@version@|$version|" -e "s|@architecture@|$architecture|" \
		-e "s|@maintainer@|$maintainer|" -e "s|@depends@|$depends|" \
		-e "s|@date@|$(date -u -R -d "@$date")|" \
		-e "s|@size@|$(du -sk "$root" | cut -f 1)|" "$here/$1"
}

doc=$root/usr/share/doc/ownertop
install -D -m 644 "$here/copyright" "$doc/copyright"
fill_in changelog.in | gzip -9n > "$doc/changelog.gz"
mkdir "$root/DEBIAN"
fill_in control.in > "$root/DEBIAN/control"
(cd "$root" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum) \
	> "$root/DEBIAN/md5sums"
# The umask of the caller must not decide who can read the files.
chmod -R u=rwX,go=rX "$root"
package=$build/ownertop_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package" > /dev/null
echo "$package"
