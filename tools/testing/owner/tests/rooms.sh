#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Without a room of mm/owner, the rest builds, and its KUnit tests pass. User-mode Linux never has
# user/. Prints TAP.
usage=
. "$(dirname "$0")/prelude.sh"

# A function of each room that can be left out.
rooms="control:owner_rules_write lang:owner_lang_parse page:owner_pages_find_next_tracked
	query:owner_query_generation report:owner_show_mem rules:owner_symbol_ranges_find
	user:owner_user_attach"

list_missing_rooms()
{
	for room in $rooms; do
		grep -q " ${room#*:}\$" "build/$1/System.map" || echo "${room%:*}"
	done | paste -s -d ' '
}
run_kunit() { tools/testing/owner/tests/kunit.sh "$@" >"$seen" 2>&1; }

# test_without KERNEL ROOMS
test_without()
{
	label=$1
	seen=$work/seen
	ok "without $2" equals "$(list_missing_rooms "$1")" "$2"
	ok "KUnit" run_kunit "$1" 'kunit.filter=module!=page_kunit'
	case $2 in *page*) return ;; esac
	ok "KUnit of pages" run_kunit "$1" page_owner=on slab_owner=off kunit.filter_glob=owner_page
}

test_without um "user"
test_without um-without-rules "control lang query rules user"
test_without um-without-report "report user"
test_without um-without-page "page user"
finish_tests
