/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OWNERTOP_TESTS_PLANTED_H
#define OWNERTOP_TESTS_PLANTED_H

void *take(int size);
void keep(void *object);
void outer(void);
void direct(void);
void small(void);
void large(void);
void _start(void);

#endif
