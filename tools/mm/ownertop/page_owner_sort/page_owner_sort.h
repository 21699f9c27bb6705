/* SPDX-License-Identifier: GPL-2.0 */
/* Replace tools/mm/page_owner_sort, for scripts that call it. */
#ifndef OWNERTOP_PAGE_OWNER_SORT_H
#define OWNERTOP_PAGE_OWNER_SORT_H

/* Run page_owner_sort. @argv: "page_owner_sort" and its arguments. Returns the exit status. */
int page_owner_sort_main(int argc, char *argv[]);

#endif
