/* SPDX-License-Identifier: GPL-2.0 */
/* Groups by parts of chains and by buckets. For query_kunit.c. */
#ifndef _MM_OWNER_TESTS_QUERY_GROUPS_KUNIT_H
#define _MM_OWNER_TESTS_QUERY_GROUPS_KUNIT_H

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
	ask_query(test, "group=size sort=youngest top=5 min=%llu if func ~ query_plant*", held);
	KUNIT_ASSERT_EQ(test, query->nr_shown, 1);
	KUNIT_EXPECT_EQ(test, query->groups[0]->sum.estimate.objects, PLANTED);
}

#endif /* _MM_OWNER_TESTS_QUERY_GROUPS_KUNIT_H */
