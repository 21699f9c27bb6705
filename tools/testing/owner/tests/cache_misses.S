/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program without a kernel that QEMU's -kernel starts, because it has a multiboot header. It
 * loads from memory in patterns whose cache misses are known, and reports each of them.
 */
#include "../modules/owner_marks.h"

#define MULTIBOOT	0x1badb002
#define MEMORY		0x400000
#define CACHE_LINE	64
/* The command of the keyboard's controller that resets the machine. */
#define RESET		0xfe
#define CONTROLLER	0x64

/* Load from @lines lines one after another, from offset @offset of each. */
.macro load_lines lines, offset
	mov $MEMORY + \offset, %eax
	mov $\lines, %ecx
	nopl MARK_BEGIN(%eax,%eax)
1:	mov (%eax), %ebx
	add $CACHE_LINE, %eax
	loop 1b
	nopl MARK_END(%eax,%eax)
	nopl MARK_REPORT(%eax,%eax)
.endm

	.text
	.balign 4
	.long MULTIBOOT, 0, -MULTIBOOT
	.globl _start
_start:
	/* 64 KiB: too much for L1 */
	load_lines 1024, 0
	load_lines 1024, 0
	/* 32 KiB, where each load is of two lines */
	load_lines 512, 62
	load_lines 512, 62
	/* 2 MiB: too much for L2 */
	load_lines 32768, 0
	load_lines 32768, 0
	mov $RESET, %al
	out %al, $CONTROLLER
1:	jmp 1b
