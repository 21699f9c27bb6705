/* SPDX-License-Identifier: GPL-2.0 */
/* Groups by parts of chains and by buckets. For query_kunit.c. */
#ifndef _MM_OWNER_TESTS_QUERY_GROUPS_KUNIT_H
#define _MM_OWNER_TESTS_QUERY_GROUPS_KUNIT_H

/* From another function, and from two places in it. */
static noinline void query_plant_two(void *two[2])
{
	two[0] = kmalloc(1000, GFP_KERNEL);
	two[1] = kmalloc(10, GFP_KERNEL);
	barrier();
}

/* Other flags than in query_plant(), or the compiler makes one function of both. */
static noinline void *query_plant_again(struct kmem_cache *from)
{
	void *object = kmem_cache_alloc(from, GFP_NOFS);

	barrier();
	return object;
}

static void expect_group_first_frame(struct kunit *test, void *function)
{
	unsigned long size, offset, frame = query->groups[0]->key[1];

	KUNIT_ASSERT_EQ(test, query->nr_groups, 1);
	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset(frame - 1, &size, &offset));
	KUNIT_EXPECT_EQ(test, frame - 1 - offset, (unsigned long)function);
}

static void test_chains_are_cut(struct kunit *test)
{
	u64 frames;

	ask_query(test, "group=stack if func == query_plant");
	expect_group_first_frame(test, query_plant);
	frames = query->groups[0]->key[0];
	ask_query(test, "group=stack.full if func == query_plant");
	KUNIT_EXPECT_GE(test, query->groups[0]->key[0], frames);
	ask_query(test, "group=stack.2 if func == query_plant");
	expect_group_first_frame(test, query_plant);
	KUNIT_EXPECT_EQ(test, query->groups[0]->key[0], 2);
	ask_query(test, "group=stack.1 if func == query_plant_other");
	expect_group_first_frame(test, query_plant_other);
	print_query_group(0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, "\n query_plant_other+0x"));
}

/* The outermost frames of both chains are the same, but not those of the complete chains. */
static void test_outermost_frames(struct kunit *test)
{
	u64 chain[OWNER_FRAMES_MAX + 1], count;

	ask_query(test, "group=stack if func == query_plant");
	KUNIT_ASSERT_EQ(test, query->nr_groups, 1);
	memcpy(chain, query->groups[0]->key, query->groups[0]->words * sizeof(u64));
	count = chain[0];
	KUNIT_ASSERT_GT(test, count, 3);
	ask_query(test, "group=stack.-3 if func ~ query_plant*");
	KUNIT_ASSERT_EQ(test, query->nr_groups, 1);
	KUNIT_EXPECT_EQ(test, query->groups[0]->sum.estimate.objects, ALL);
	KUNIT_ASSERT_EQ(test, query->groups[0]->key[0], 3);
	KUNIT_EXPECT_MEMEQ(test, query->groups[0]->key + 1, chain + 1 + count - 3,
			   3 * sizeof(u64));
	ask_query(test, "group=stack.-64 if func == query_plant");
	KUNIT_ASSERT_EQ(test, query->groups[0]->key[0], count);
	KUNIT_EXPECT_MEMEQ(test, query->groups[0]->key, chain, (1 + count) * sizeof(u64));
	expect_group_first_frame(test, query_plant);
}

/* Check how many objects each group has whose key is that number alone. */
static void expect_buckets(struct kunit *test, const u64 (*buckets)[2], unsigned int n)
{
	unsigned int i, j;

	KUNIT_ASSERT_EQ(test, query->nr_groups, n);
	for (i = 0; i < n; i++) {
		for (j = 0; j < n && query->groups[j]->key[0] != buckets[i][0]; j++)
			continue;
		KUNIT_ASSERT_LT_MSG(test, j, n, "no bucket %llu", buckets[i][0]);
		KUNIT_EXPECT_EQ_MSG(test, query->groups[j]->sum.estimate.objects, buckets[i][1],
				    "bucket %llu", buckets[i][0]);
	}
	expect_groups_add_up(test);
}

/* Objects of 8, 16, 32, 64, 128 and 200 bytes were planted. */
static void test_size_buckets(struct kunit *test)
{
	static const u64 by_64[][2] = { { 0, 3 }, { 64, 1 }, { 128, 1 }, { 192, PLANTED } };
	static const u64 by_log2[][2] = {
		{ 8, 1 }, { 16, 1 }, { 32, 1 }, { 64, 1 }, { 128, PLANTED + 1 },
	};

	ask_query(test, "group=size.64 if func ~ query_plant*");
	expect_buckets(test, by_64, ARRAY_SIZE(by_64));
	ask_query(test, "group=size.log2 if func ~ query_plant*");
	expect_buckets(test, by_log2, ARRAY_SIZE(by_log2));
	ask_query(test, "group=size.4K if func ~ query_plant*");
	print_query_group(0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, ", size 0\n"));
}

/* Records that differ only in their time are of different groups, in any order of times. */
static void test_age_buckets(struct kunit *test)
{
	static const u64 hour = 3600 * NSEC_PER_SEC;
	const u64 by_hours[][2] = { { 0, 8 }, { hour, 8 }, { 2 * hour, 7 }, { 3 * hour, 7 },
				    { 4 * hour, 7 } };
	const u64 by_log2[][2] = { { 1024 * NSEC_PER_SEC, 8 }, { 4096 * NSEC_PER_SEC, 8 },
				   { 8192 * NSEC_PER_SEC, 21 } };
	u32 half_hour = hour / 2 / OWNER_TICK_NS;
	unsigned int i;

	for (i = 0; i < PLANTED; i++)
		find_object_record(objects[i])->time =
			owner_record_time_now() - (2 * (i % 5) + 1) * half_hour;
	ask_query(test, "group=age.1h if cache == owner_kunit");
	expect_buckets(test, by_hours, ARRAY_SIZE(by_hours));
	ask_query(test, "group=age.log2 if cache == owner_kunit");
	expect_buckets(test, by_log2, ARRAY_SIZE(by_log2));
	ask_query(test, "group=age.1h if cache == owner_kunit && age >= 2h");
	expect_buckets(test, by_hours + 2, 3);
	ask_query(test, "group=age.1h sort=oldest if cache == owner_kunit");
	print_query_group(0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, ", age 4h\n"));
	ask_query(test, "group=age.1h sort=oldest format=tsv if cache == owner_kunit");
	print_query_with(owner_query_show_head);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, "age.1h\n"));
	print_query_group(0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, "\t14400000000000\n"));
}

/* Groups that hold less than min= are left out, with top= and without. */
static void test_min(struct kunit *test)
{
	u64 held = PLANTED * cache->size;

	ask_query(test, "group=size min=%llu if func ~ query_plant*", held);
	KUNIT_EXPECT_EQ(test, query->nr_groups, 6);
	KUNIT_ASSERT_EQ(test, query->nr_shown, 1);
	KUNIT_EXPECT_EQ(test, query->groups[0]->sum.estimate.objects, PLANTED);
	expect_groups_add_up(test);
	print_query_with(owner_query_show_tail);
	KUNIT_EXPECT_TRUE(test, strstarts(answer, "not shown: groups 5, objects 5, bytes 248, "));
	ask_query(test, "group=size min=%llu if func ~ query_plant*", held + 1);
	KUNIT_EXPECT_EQ(test, query->nr_shown, 0);
	ask_query(test, "group=size sort=objects min=1 top=2 if func ~ query_plant*");
	KUNIT_EXPECT_EQ(test, query->nr_shown, 2);
	ask_query(test, "group=size sort=oldest top=5 min=%llu if func ~ query_plant*", held);
	KUNIT_ASSERT_EQ(test, query->nr_shown, 1);
	KUNIT_EXPECT_EQ(test, query->groups[0]->sum.estimate.objects, PLANTED);
}

/* Two call sites in a function are two groups by return address, and one by function. */
static void test_functions(struct kunit *test)
{
	unsigned int i;
	void *two[2];

	query_plant_two(two);
	ask_query(test, "group=stack.1 if func == query_plant_two");
	KUNIT_EXPECT_EQ(test, query->nr_groups, 2);
	for (i = 0; i < 2; i++) {
		ask_query(test, "group=stack.func%s if func == query_plant_two", i ? "" : ".2");
		KUNIT_ASSERT_EQ(test, query->nr_groups, 1);
		KUNIT_EXPECT_EQ(test, query->groups[0]->sum.estimate.objects, 2);
		print_query_group(0);
		KUNIT_EXPECT_NOT_NULL(test, strstr(answer, "\n query_plant_two\n "));
		KUNIT_EXPECT_EQ(test, !strstr(answer, "\n kthread\n"), !i);
	}
	ask_query(test, "group=stack.func.1 if func ~ query_plant*");
	KUNIT_EXPECT_EQ(test, query->nr_groups, 3);
	expect_groups_add_up(test);
	ask_query(test, "group=stack.func.-2 format=tsv if func ~ query_plant*");
	KUNIT_ASSERT_EQ(test, query->nr_groups, 1);
	print_query_group(0);
	KUNIT_EXPECT_PTR_EQ(test, strchr(answer, ';'), strrchr(answer, ';'));
	KUNIT_EXPECT_NOT_NULL(test, strchr(answer, ';'));
	KUNIT_EXPECT_NULL(test, strstr(answer, "+0x"));
	kfree(two[0]);
	kfree(two[1]);
}

static void expect_sizes(struct kunit *test, const u64 *sizes, unsigned int n)
{
	unsigned int i;

	KUNIT_ASSERT_EQ(test, query->nr_shown, n);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ_MSG(test, query->groups[i]->key[1], sizes[i], "group %u", i);
	expect_groups_add_up(test);
}

/* Groups of one function follow each other, although groups of others are between in size. */
static void test_each(struct kunit *test)
{
	static const u64 two_each[] = { 200, 1000, 10, 128, 64 }, one_each[] = { 200, 1000, 128 };
	void *two[2];

	query_plant_two(two);
	ask_query(test, "group=func,size each=func top=2 sort=bytes if func ~ query_plant*");
	expect_sizes(test, two_each, ARRAY_SIZE(two_each));
	print_query_with(owner_query_show_tail);
	KUNIT_EXPECT_TRUE(test, strstarts(answer, "not shown: groups 3, objects 3, bytes 56, "));
	ask_query(test, "group=func,size each=func top=1 sort=bytes if func ~ query_plant*");
	expect_sizes(test, one_each, ARRAY_SIZE(one_each));
	ask_query(test, "group=func,size each=func top=9 sort=bytes min=%zu if func ~ query_plant*",
		  PLANTED * kmem_cache_size(cache));
	expect_sizes(test, two_each, 1);
	ask_query(test, "group=func,size each=size top=1 if func ~ query_plant*");
	KUNIT_EXPECT_EQ(test, query->nr_shown, 8);
	ask_query(test, "group=size,module each=module top=3 sort=bytes if func ~ query_plant*");
	KUNIT_EXPECT_EQ(test, query->nr_shown, 3);
	kfree(two[0]);
	kfree(two[1]);
}

/* Count the slabs of objects that were allocated one after the other. */
static unsigned int count_slabs(void * const *first, unsigned int n)
{
	unsigned int i, j, slabs = 0;

	for (i = 0; i < n; i++) {
		for (j = 0; j < i && virt_to_slab(first[j]) != virt_to_slab(first[i]); j++)
			continue;
		slabs += i == j;
	}
	return slabs;
}

/* Two functions have objects in one slab: both count it, and the total counts it once. */
static void test_slabs(struct kunit *test)
{
	unsigned int slabs = count_slabs(objects, PLANTED);
	void *all[PLANTED + 1];
	char text[32];

	memcpy(all, objects, sizeof(objects));
	all[PLANTED] = query_plant_again(cache);
	ask_query(test, "group=func sort=slabs if cache == owner_kunit");
	KUNIT_ASSERT_EQ(test, query->nr_groups, 2);
	KUNIT_EXPECT_EQ(test, *owner_query_group_slabs(query->groups[0]), slabs);
	KUNIT_EXPECT_EQ(test, *owner_query_group_slabs(query->groups[1]), 1);
	KUNIT_EXPECT_EQ(test, query->slabs, count_slabs(all, PLANTED + 1));
	KUNIT_EXPECT_EQ(test, query->groups[0]->sum.estimate.objects, PLANTED);
	print_query_group(0);
	sprintf(text, ", slabs %u, func ", slabs);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, text));
	print_query_with(owner_query_show_tail);
	sprintf(text, ", slabs %llu\n# slabs: ", query->slabs);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, text));
	ask_query(test, "group=cache sort=slabs top=1 format=tsv if func ~ query_plant*");
	print_query_with(owner_query_show_head);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, "\tbytes_error\tslabs\tcache\n"));
	print_query_group(0);
	sprintf(text, "\t%u\towner_kunit\n", count_slabs(all, PLANTED + 1));
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, text));
	kmem_cache_free(cache, all[PLANTED]);
}

/* Save a chain whose frames are in these functions. Returns 0 if one does not exist. */
static depot_stack_handle_t save_chain_of(const char * const *functions, unsigned int n)
{
	unsigned long frames[4];
	unsigned int i;

	for (i = 0; i < n; i++) {
		frames[i] = kallsyms_lookup_name(functions[i]);
		if (!frames[i])
			return 0;
		frames[i] += 4;
	}
	return stack_depot_save_flags(frames, n, GFP_KERNEL,
				      STACK_DEPOT_FLAG_CAN_ALLOC | STACK_DEPOT_FLAG_GET);
}

/* The system call is that of the outermost frame in an entry. */
static void expect_syscall(struct kunit *test, const char *outer, const char *inner)
{
	const char * const functions[] = { "query_plant", inner, "schedule", outer };
	const char * const none[] = { "query_plant", "schedule" };
	depot_stack_handle_t handle = save_chain_of(functions, 4), other = save_chain_of(none, 2);
	struct owner_query_chain *chain;

	KUNIT_ASSERT_EQ(test, parse_sentence("if syscall == getpid || syscall ~ getpp*"), 0);
	KUNIT_ASSERT_EQ(test, owner_query_prepare(query), 0);
	chain = owner_query_get_chain(query->chains, handle);
	owner_query_chain_syscall(chain, answer);
	KUNIT_EXPECT_STREQ(test, answer, "getpid");
	KUNIT_EXPECT_EQ(test, chain->entry, 4);
	KUNIT_EXPECT_TRUE(test, owner_query_chain_matches(chain, &query->sentence,
							  &query->sentence.comparisons[0]));
	KUNIT_EXPECT_FALSE(test, owner_query_chain_matches(chain, &query->sentence,
							   &query->sentence.comparisons[1]));
	chain = owner_query_get_chain(query->chains, other);
	KUNIT_EXPECT_FALSE(test, owner_query_chain_matches(chain, &query->sentence,
							   &query->sentence.comparisons[0]));
	KUNIT_EXPECT_EQ(test, chain->entry, 0);
	stack_depot_put(handle);
	stack_depot_put(other);
}

static void test_syscall(struct kunit *test)
{
	static const char * const heads[] = { "__x64_sys_", "__arm64_sys_", "sys_" };
	char outer[32], inner[32];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(heads); i++) {
		snprintf(outer, sizeof(outer), "%sgetpid", heads[i]);
		snprintf(inner, sizeof(inner), "%sgetppid", heads[i]);
		if (kallsyms_lookup_name(outer))
			break;
	}
	KUNIT_ASSERT_LT(test, i, ARRAY_SIZE(heads));
	expect_syscall(test, outer, inner);
	/* A thread of the kernel has none. */
	ask_query(test, "group=syscall if func ~ query_plant*");
	KUNIT_ASSERT_EQ(test, query->nr_groups, 1);
	print_query_group(0);
	KUNIT_EXPECT_NOT_NULL(test, strstr(answer, ", syscall -\n"));
	ask_query(test, "group=cache if func ~ query_plant* && syscall ~ *");
	KUNIT_EXPECT_EQ(test, query->nr_groups, 0);
	ask_query(test, "group=kind if func ~ query_plant* && syscall != read");
	KUNIT_EXPECT_EQ(test, query->total.estimate.objects, ALL);
}

#endif /* _MM_OWNER_TESTS_QUERY_GROUPS_KUNIT_H */
