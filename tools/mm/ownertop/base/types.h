/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Integer types, named as in the kernel. u64 is "unsigned long long" on all machines, so that
 * "%llu" prints it.
 */
#ifndef OWNERTOP_TYPES_H
#define OWNERTOP_TYPES_H

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

#define U32_MAX (~0U)
#define U64_MAX (~0ULL)
#define S64_MIN (-0x7fffffffffffffffLL - 1)

#endif
