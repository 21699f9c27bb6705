/* SPDX-License-Identifier: GPL-2.0 */
/* The bytes of flame.html, which the linker has put into the program. */
#ifndef OWNERTOP_FLAME_PAGE_H
#define OWNERTOP_FLAME_PAGE_H

extern const char _binary_flame_html_start[];
extern const char _binary_flame_html_end[];

#endif
