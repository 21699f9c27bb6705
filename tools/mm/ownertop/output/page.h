/* SPDX-License-Identifier: GPL-2.0 */
/* Write a page of HTML that loads no other file: page.html, and behind it the page of a view. */
#ifndef OWNERTOP_PAGE_H
#define OWNERTOP_PAGE_H

#include <stdio.h>

#include "model/answer.h"

/* The bytes of pages, which the linker has put into the program. */
extern const char _binary_page_html_start[];
extern const char _binary_page_html_end[];
extern const char _binary_flame_html_start[];
extern const char _binary_flame_html_end[];
extern const char _binary_trend_html_start[];
extern const char _binary_trend_html_end[];

/*
 * Begin a page, and its data with the members that all pages have. The caller prints the other
 * members.
 */
void page_begin(const struct answer *a, FILE *out);
/* End the data, and print the page of a view behind it. */
void page_end(const char *view, const char *view_end, FILE *out);

#endif
