/* SPDX-License-Identifier: GPL-2.0 */
/* flame.html, as the linker has put it into the program. */
#ifndef OWNERTOP_FLAME_PAGE_H
#define OWNERTOP_FLAME_PAGE_H

extern const char _binary_flame_html_start[];
extern const char _binary_flame_html_end[];

#endif
