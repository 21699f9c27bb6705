/* SPDX-License-Identifier: GPL-2.0 */
/* What tools/mm/page_owner_sort does, for scripts that call it. */
#ifndef OWNERTOP_PAGE_OWNER_SORT_H
#define OWNERTOP_PAGE_OWNER_SORT_H

/* @argv[0] is the program, options follow. Returns the exit status. */
int page_owner_sort_main(int argc, char *argv[]);

#endif
