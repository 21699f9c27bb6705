// SPDX-License-Identifier: GPL-2.0
/* Blocks in the form that page_owner_sort prints them. */
#include "page_owner_sort/blocks.h"

static void print_text(struct text t, FILE *out)
{
	fwrite(t.s, 1, t.len, out);
}

static void print_allocator(u32 allocator, FILE *out)
{
	fputs("allocated by ", out);
	if (allocator & ALLOCATOR_CMA)
		fputs("CMA ", out);
	if (allocator & ALLOCATOR_SLAB)
		fputs("SLAB ", out);
	if (allocator & ALLOCATOR_VMALLOC)
		fputs("VMALLOC ", out);
	if (allocator & ALLOCATOR_OTHERS)
		fputs("OTHERS ", out);
}

static void print_block(struct blocks *b, const struct block *block, FILE *out)
{
	fprintf(out, "%llu times, %llu pages", block->times, block->pages);
	if (!b->cull) {
		fputs(", ", out);
		print_allocator(block->allocator, out);
		fputs(":\n", out);
		print_text(block_header(b, block, &b->left), out);
		print_text(block_stack(b, block), out);
		putc('\n', out);
		return;
	}
	if (b->cull & BLOCK_BIT(BLOCK_PID) || b->filter_pid)
		fprintf(out, ", PID %d", block->pid);
	if (b->cull & BLOCK_BIT(BLOCK_TGID) || b->filter_tgid)
		fprintf(out, ", TGID %d", block->tgid);
	if (b->cull & BLOCK_BIT(BLOCK_COMM) || b->filter_comm) {
		fputs(", task_comm_name: ", out);
		print_text(b->names.v[b->header_comm[block->header]], out);
	}
	if (b->cull & BLOCK_BIT(BLOCK_ALLOCATOR)) {
		fputs(", ", out);
		print_allocator(block->allocator, out);
	}
	if (b->cull & BLOCK_BIT(BLOCK_STACK)) {
		fputs(":\n", out);
		print_text(block_stack(b, block), out);
	}
	putc('\n', out);
}

void blocks_print(struct blocks *b, FILE *out)
{
	u32 i;

	for (i = 0; i < b->v.n; i++) {
		struct block block = block_at(b, b->order[i]);

		print_block(b, &block, out);
	}
}
