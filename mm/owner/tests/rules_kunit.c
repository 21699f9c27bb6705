// SPDX-License-Identifier: GPL-2.0
/*
 * Rules: the last match that names a setting decides it, changes are atomic, wrong sentences
 * change nothing.
 * Each test saves the rules that it finds and restores them at its end.
 */

#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/gfp.h>
#include <linux/kallsyms.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <asm/sections.h>

#include "../../slab.h"
#include "../capture.h"
#include "../cgroup.h"
#include "../rules/rules.h"
#include "../rules/symbol_ranges.h"
#include "../rules/table.h"
#include "../sample.h"
#include "kill.h"
#include "rules_change_kunit.h"

#define TEXT_SIZE	SZ_128K

static char *text, *saved;
static char error_text[OWNER_ERROR_TEXT_SIZE];
/* @cache and @other are as those of kmalloc(): the size differs between allocations. */
static struct kmem_cache *other, *one_size;

static void print_rules(char *buf)
{
	struct seq_file m = { .buf = buf, .size = TEXT_SIZE - 1 };

	owner_rules_show(&m);
	buf[m.count] = '\0';
}

static int write_rules(const char *sentences)
{
	error_text[0] = '\0';
	return owner_rules_write(sentences, strlen(sentences), error_text, sizeof(error_text));
}

/* Apply the rules to an allocation from @s as SLUB's hook does, and return the choice. */
static struct owner_choice choose_for_object(struct kmem_cache *s, size_t size, gfp_t flags,
					     struct stack_depot_caller caller)
{
	struct owner_choice choice = { .word = READ_ONCE(s->owner_choice) };

	return choice.cache < OWNER_CACHE_STORED ?
	       owner_choose_object_tracking(s, flags, size, 0, caller) : choice;
}

/*
 * The tests give each rule another depth to identify it. This function takes the
 * place of SLUB's hook: the call chain starts in its caller, so do not inline it.
 */
static noinline unsigned int choose_depth_for_object(struct kmem_cache *s, size_t size, gfp_t flags)
{
	unsigned int depth;

	rcu_read_lock();
	depth = choose_for_object(s, size, flags, STACK_DEPOT_CALLER).depth;
	rcu_read_unlock();
	return depth;
}

static noinline unsigned int choose_depth_for_kind(enum owner_kind kind, size_t size)
{
	if (kind == OWNER_KIND_PAGE)
		return owner_choose_pages_depth(GFP_KERNEL, get_order(size), 0, STACK_DEPOT_CALLER,
						OWNER_DEPTH);
	return owner_choose_percpu_tracking(GFP_KERNEL, size, STACK_DEPOT_CALLER).depth;
}

static void test_no_rules(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), OWNER_DEPTH);
	KUNIT_EXPECT_EQ(test, choose_depth_for_kind(OWNER_KIND_PAGE, 8), OWNER_DEPTH);
	print_rules(text);
	KUNIT_EXPECT_STREQ(test, text, "# no rules: everything\n");
}

static void test_rule_is_handed_out(struct kunit *test)
{
	struct owner_choice choice;

	KUNIT_ASSERT_EQ(test, write_rules("depth=7 track=off if cache == owner_rules_a;"
				    "sample=1/4 if cache == owner_rules_b;"
				    "sample=1K if cache == owner_rules_b && size > 100"), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), 0);
	rcu_read_lock();
	choice = choose_for_object(cache, 8, GFP_KERNEL, STACK_DEPOT_CALLER);
	KUNIT_EXPECT_EQ(test, choice.rate, 0);
	choice = choose_for_object(other, 8, GFP_KERNEL, STACK_DEPOT_CALLER);
	KUNIT_EXPECT_EQ(test, choice.depth, OWNER_DEPTH);
	KUNIT_EXPECT_EQ(test, choice.rate, owner_register_rate(0, 4));
	choice = choose_for_object(other, 101, GFP_KERNEL, STACK_DEPOT_CALLER);
	KUNIT_EXPECT_EQ(test, choice.rate, owner_register_rate(1024, 0));
	rcu_read_unlock();
}

/* A setting that a rule leaves out is left to the rules before it. */
static void test_settings_are_merged(struct kunit *test)
{
	struct owner_choice choice;

	KUNIT_ASSERT_EQ(test, write_rules("sample=1M free=on; depth=1 if size < 64;"
				    "user=off free=off if cache ~ *_b"), 0);
	rcu_read_lock();
	choice = choose_for_object(cache, 63, GFP_KERNEL, STACK_DEPOT_CALLER);
	KUNIT_EXPECT_EQ(test, choice.depth, 1);
	KUNIT_EXPECT_EQ(test, choice.rate, owner_register_rate(SZ_1M, 0));
	KUNIT_EXPECT_TRUE(test, choice.free);
	choice = choose_for_object(other, 64, GFP_KERNEL, STACK_DEPOT_CALLER);
	KUNIT_EXPECT_EQ(test, choice.depth, OWNER_DEPTH);
	KUNIT_EXPECT_EQ(test, choice.rate, owner_register_rate(SZ_1M, 0));
	KUNIT_EXPECT_FALSE(test, choice.free);
	rcu_read_unlock();

	/* track=off stays in force until a later rule says track=on. */
	KUNIT_ASSERT_EQ(test, write_rules("clear; track=off; depth=3 if cache ~ *_a;"
				    "track=on if cache ~ *_b"), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(other, 8, GFP_KERNEL), OWNER_DEPTH);
	KUNIT_EXPECT_EQ(test, choose_depth_for_kind(OWNER_KIND_PAGE, 8), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_kind(OWNER_KIND_PERCPU, 8), 0);
	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=2; sample=64K if kind == page,slab"), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_kind(OWNER_KIND_PAGE, 8), 2);
}

/* kmem_cache_alloc() asks for one size: the cache keeps its choice. */
static void test_size_of_cache(struct kunit *test)
{
	struct owner_choice choice;

	KUNIT_ASSERT_EQ(test, write_rules("depth=3; depth=4 if size == 88"), 0);
	rcu_read_lock();
	choice = choose_for_object(one_size, 88, GFP_KERNEL, STACK_DEPOT_CALLER);
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, choice.depth, 4);
	choice.word = READ_ONCE(one_size->owner_choice);
	KUNIT_EXPECT_GE(test, choice.cache, OWNER_CACHE_STORED);
	rcu_read_lock();
	choose_for_object(cache, 88, GFP_KERNEL, STACK_DEPOT_CALLER);
	rcu_read_unlock();
	choice.word = READ_ONCE(cache->owner_choice);
	KUNIT_EXPECT_EQ(test, choice.cache, OWNER_CACHE_PER_ALLOCATION);
}

static void test_last_wins(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, write_rules("depth=1; depth=2 if cache ~ owner_rules_*\n"
				    "depth=3 if cache ~ *_a; depth=4 if kind == page"), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), 3);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(other, 8, GFP_KERNEL), 2);
	KUNIT_EXPECT_EQ(test, choose_depth_for_kind(OWNER_KIND_PAGE, 8), 4);
	KUNIT_EXPECT_EQ(test, choose_depth_for_kind(OWNER_KIND_PERCPU, 8), 1);

	/* A change of the rules clears the rule that a cache keeps. */
	KUNIT_ASSERT_EQ(test, write_rules("depth=5 if cache == owner_rules_a"), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), 5);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(other, 8, GFP_KERNEL), 2);
}

/* The number of outcomes that this CPU keeps of a rule's comparisons with a cgroup. */
static unsigned int count_known_outcomes(unsigned int number)
{
	struct owner_rule_table *table = rcu_access_pointer(owner_rules_table);

	return hweight32(this_cpu_read(table->entries[number]->cpu->known));
}

/* Comparisons with a cgroup do not evict each other's outcomes, in one rule or in several. */
static void test_cgroup_outcomes_are_kept(struct kunit *test)
{
	unsigned int depth, known[2], i;

	if (!owner_cgroup_of_task(NULL))
		kunit_skip(test, "there are no memory cgroups");
	KUNIT_ASSERT_EQ(test, write_rules("clear;"
				    "depth=3 if task_cgroup == /a || task_cgroup == /b;"
				    "depth=4 if task_cgroup == /c || task_cgroup == /d"), 0);
	migrate_disable();
	depth = choose_depth_for_object(cache, 8, GFP_KERNEL);
	for (i = 0; i < 2; i++)
		known[i] = count_known_outcomes(i + 1);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, depth, OWNER_DEPTH);
	KUNIT_EXPECT_EQ(test, known[0], 2);
	KUNIT_EXPECT_EQ(test, known[1], 2);
}

static noinline unsigned int choose_depth_here(void)
{
	unsigned int depth = choose_depth_for_object(cache, 8, GFP_KERNEL);

	/* Prevent a tail call, which would remove this function from the chain. */
	barrier();
	return depth;
}

static void test_asks_of_allocation(struct kunit *test)
{
	char rule[64];

	KUNIT_ASSERT_EQ(test, write_rules("depth=1; depth=2 if size >= 1K && cache ~ *_a"), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 1023, GFP_KERNEL), 1);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 1024, GFP_KERNEL), 2);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(other, 1024, GFP_KERNEL), 1);

	KUNIT_ASSERT_EQ(test, write_rules("depth=3 if gfp == __GFP_ZERO && size < 100"), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 99, GFP_ATOMIC), 1);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 99, GFP_ATOMIC | __GFP_ZERO), 3);

	/* Names of flags are those that are printed: GFP_KERNEL stands for three flags. */
	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=3 if gfp == GFP_NOFS,__GFP_FS"), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), OWNER_DEPTH);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_NOFS | __GFP_ZERO), 3);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_NOWAIT | __GFP_FS), 3);

	snprintf(rule, sizeof(rule), "clear; depth=5 if order == 2; depth=6 if held > %lu",
		 4 * PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, write_rules(rule), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_kind(OWNER_KIND_PAGE, PAGE_SIZE), OWNER_DEPTH);
	KUNIT_EXPECT_EQ(test, choose_depth_for_kind(OWNER_KIND_PAGE, 4 * PAGE_SIZE), 5);
	KUNIT_EXPECT_EQ(test, choose_depth_for_kind(OWNER_KIND_PAGE, 8 * PAGE_SIZE), 6);
	KUNIT_EXPECT_EQ(test, choose_depth_for_kind(OWNER_KIND_PERCPU, 4 * PAGE_SIZE),
			OWNER_DEPTH);

	snprintf(rule, sizeof(rule), "clear; depth=7 if pid == %d && tgid == %d && ts > 0ns",
		 current->pid, current->tgid);
	KUNIT_ASSERT_EQ(test, write_rules(rule), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), 7);
	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=8 if comm == nobody"), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), OWNER_DEPTH);
}

/* Rules compare func and module with the call chain, by symbol ranges or by name. */
static void test_asks_of_chain(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, write_rules("depth=1; depth=4 if func == choose_depth_here"), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), 1);
	KUNIT_EXPECT_EQ(test, choose_depth_here(), 4);
	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=5 if func ~ choose_depth_he?*,nobody"),
			0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), OWNER_DEPTH);
	KUNIT_EXPECT_EQ(test, choose_depth_here(), 5);
	KUNIT_ASSERT_EQ(test,
			write_rules("clear; depth=6 if func ~ test_* && func!=choose_depth_here"),
			0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), 6);
	KUNIT_EXPECT_EQ(test, choose_depth_here(), OWNER_DEPTH);
	/* All rules share one unwinding, and each finds the outcomes of its own comparisons. */
	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=1 if func == nobody;"
				    "depth=2 if func == nobody || func == choose_depth_here;"
				    "depth=3 if func == nobody && func == choose_depth_here;"
				    "depth=4 if cache == nobody && func == choose_depth_here"), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_here(), 2);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), OWNER_DEPTH);
	/* This pattern matches thousands of ranges. */
	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=7 if func ~ *e*o*"), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_here(), 7);
	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=8 if module ~ *"), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_here(), OWNER_DEPTH);
}

struct symbol_agreement {
	struct kunit *test;
	const struct owner_sentence *sentence;
	const struct owner_symbol_ranges *ranges;
	unsigned int visited;		/* symbols */
	unsigned int found;		/* frames in the ranges */
};

/*
 * Check that the symbol ranges of a rule match a kernel function if its name matches.
 * Check every seventh function only, because a lookup by name is slow.
 */
static int compare_ranges_with_names(void *data, const char *name, unsigned long address)
{
	struct symbol_agreement *agree = data;
	const struct owner_sentence *s = agree->sentence;
	/*
	 * @address as a return address belongs to the previous function, since the call
	 * is before it. One byte further, it belongs to this function.
	 */
	unsigned long frame = address + agree->visited % 2;
	bool found;

	if (address <= (unsigned long)_stext || address >= (unsigned long)_etext ||
	    agree->visited++ % 7)
		return 0;
	found = owner_symbol_ranges_contain(agree->ranges, &frame, 1);
	agree->found += found;
	KUNIT_EXPECT_EQ_MSG(agree->test, found, owner_frame_matches(s, s->comparisons, frame),
			    "%s, %pS", s->words, (void *)frame);
	return 0;
}

/* Symbol ranges select the same kernel functions as a comparison of names. */
static void test_places_are_names(struct kunit *test)
{
	static const char * const patterns[] = {
		"kfree", "k*", "*lock", "__*init*", "*", "nobody", "a[cd]*,vm*,*_open",
		/* several thousand separate ranges */
		"*[ae]*", "*_*",
	};
	struct owner_sentence *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct owner_lang_error error;
	unsigned int i;
	char text[64];

	KUNIT_ASSERT_NOT_NULL(test, s);
	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		struct symbol_agreement agree = { .test = test, .sentence = s };
		int length = snprintf(text, sizeof(text), "depth=1 if func ~ %s", patterns[i]);

		KUNIT_ASSERT_TRUE(test, owner_lang_parse(s, OWNER_CONTROL, text, length, &error));
		agree.ranges = owner_symbol_ranges_find(s, s->comparisons);
		KUNIT_ASSERT_NOT_ERR_OR_NULL_MSG(test, agree.ranges, "%s", patterns[i]);
		kallsyms_on_each_symbol(compare_ranges_with_names, &agree);
		KUNIT_EXPECT_GT(test, agree.visited, 1000);
		kunit_info(test, "%s: %u of %u\n", patterns[i], agree.found,
			   DIV_ROUND_UP(agree.visited, 7));
		kvfree(agree.ranges);
	}
}

/*
 * If there is no memory for a rule's ranges when a module is loaded, the rule compares names, and
 * owner/control says so, until the next module is loaded or unloaded.
 */
static void test_no_memory_for_ranges(struct kunit *test)
{
	struct owner_symbol_ranges *ranges, *again;
	const struct owner_sentence *s;
	struct owner_rule_entry *entry;

	if (!IS_ENABLED(CONFIG_MODULES))
		kunit_skip(test, "without modules, ranges never change");
	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=5 if func == choose_depth_here"), 0);
	entry = rcu_access_pointer(owner_rules_table)->entries[1];
	ranges = rcu_access_pointer(entry->ranges[0]);
	RCU_INIT_POINTER(entry->ranges[0], NULL);
	KUNIT_EXPECT_EQ(test, choose_depth_here(), 5);
	print_rules(text);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "hit, slow until a module comes or goes: "));

	s = entry->sentence;
	again = owner_symbol_ranges_update(NULL, s, s->comparisons, NULL, true);
	KUNIT_EXPECT_NOT_NULL(test, again);
	rcu_assign_pointer(entry->ranges[0], again ?: ranges);
	KUNIT_EXPECT_EQ(test, choose_depth_here(), 5);
	print_rules(text);
	KUNIT_EXPECT_NULL(test, strstr(text, "slow"));
	if (again)
		kvfree_rcu_mightsleep(ranges);
}

/* A rule without free= uses the default that the kernel command line sets. */
static void test_free(struct kunit *test)
{
	bool default_free;

	rcu_read_lock();
	default_free = choose_for_object(cache, 8, GFP_KERNEL, STACK_DEPOT_CALLER).free;
	rcu_read_unlock();
	KUNIT_ASSERT_EQ(test, write_rules("free=on if cache ~ *_a; free=off if cache ~ *_b"), 0);
	rcu_read_lock();
	KUNIT_EXPECT_TRUE(test, choose_for_object(cache, 8, GFP_KERNEL, STACK_DEPOT_CALLER).free);
	KUNIT_EXPECT_FALSE(test, choose_for_object(other, 8, GFP_KERNEL, STACK_DEPOT_CALLER).free);
	rcu_read_unlock();
	KUNIT_ASSERT_EQ(test, write_rules("depth=3"), 0);
	rcu_read_lock();
	KUNIT_EXPECT_TRUE(test, choose_for_object(one_size, 88, GFP_KERNEL,
						  STACK_DEPOT_CALLER).free == default_free);
	rcu_read_unlock();
}

/* A rule decides for caches, or is looked up for each allocation: then it has hits. */
static void test_shows_use(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, 0,
			write_rules("depth = 1 if cache~owner_rules_*;"
				    "depth=2 if cache ~ *_? && comm == b\n"
				    "track=off if cache == owner_rules_b # not these\n"
				    "depth=3 if cache ~ *_a && size == 8"));
	choose_depth_for_object(cache, 8, GFP_KERNEL);
	choose_depth_for_object(cache, 8, GFP_KERNEL);
	choose_depth_for_object(cache, 9, GFP_KERNEL);
	choose_depth_for_object(other, 8, GFP_KERNEL);
	print_rules(text);
	*strstr(text, "# otherwise") = '\0';
	/* Rule 1 also decides for @one_size. */
	KUNIT_EXPECT_STREQ(test, text, "depth=1 if cache ~ owner_rules_*\t# 1: 1 cache, 1 hit\n"
			   "depth=2 if cache ~ *_? && comm == b\t# 2: 1 cache evaluates it (comm), 0 hits\n"
			   "track=off if cache == owner_rules_b\t# 3: 1 cache\n"
			   "depth=3 if cache ~ *_a && size == 8\t# 4: 1 cache evaluates it (size), 2 hits\n");
}

static void expect_use(struct kunit *test, const char *rule, const char *use)
{
	const char *line, *end;

	print_rules(text);
	line = strstr(text, rule);
	KUNIT_ASSERT_NOT_NULL(test, line);
	end = strchr(line, '\n');
	line += strlen(rule);
	KUNIT_EXPECT_TRUE_MSG(test, strlen(use) == end - line && !strncmp(line, use, end - line),
			      "%.*s", (int)(end - line), line);
}

/* owner/control says why a rule has no effect. */
static void test_shows_uselessness(struct kunit *test)
{
	struct owner_choice choice;

	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=1 if cache == owner_rules_a;"
				    "sample=1K depth=2 if cache ~ owner_rules_*;"
				    "free=on if cache == no_such_cache"), 0);
	expect_use(test, "owner_rules_a\t# 1: ", "0 hits, never reached: later rules decide");
	expect_use(test, "no_such_cache\t# 3: ", "0 hits, matches nothing");
	KUNIT_ASSERT_EQ(test, write_rules("clear; free=on"), 0);
	print_rules(text);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, ", per-CPU areas\n# otherwise: "));
	KUNIT_ASSERT_EQ(test, write_rules("clear; track=off; depth=16 if comm == nobody"), 0);
	expect_use(test, "nobody\t# 2: ", "0 hits, never reached: track=off decides");
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), 0);
	choice.word = READ_ONCE(cache->owner_choice);
	KUNIT_EXPECT_EQ(test, choice.cache, OWNER_CACHE_STORED);
	KUNIT_ASSERT_EQ(test, 0,
			write_rules("clear;"
				    "depth=1 if cache ~ *_a && (func == a_ || module != b)"));
	expect_use(test, "# 1: ",
		   "1 cache evaluates it (func,module), 0 hits, no function has this name: func == a_, no module has this name: module != b");
}

/* Cut the comments behind rules, which change with the kernel's own allocations. */
static void cut_use(char *rules)
{
	char *from, *to = rules;

	for (from = rules; *from; ) {
		if (strstarts(from, "\t# "))
			from = strchrnul(from, '\n');
		else
			*to++ = *from++;
	}
	*to = '\0';
}

/* The printed rules can be written back. A rule that is not removed keeps its hits. */
static void test_reads_back(struct kunit *test)
{
	char *again = text + TEXT_SIZE / 2;

	KUNIT_ASSERT_EQ(test, write_rules("depth=1; depth=2 if cache ~ 'a b',*_a || size > 1M"),
			0);
	print_rules(text);
	KUNIT_ASSERT_EQ(test, write_rules("clear"), 0);
	KUNIT_ASSERT_EQ(test, write_rules(text), 0);
	print_rules(again);
	*strstr(text, "# otherwise") = '\0';
	*strstr(again, "# otherwise") = '\0';
	cut_use(text);
	cut_use(again);
	KUNIT_EXPECT_STREQ(test, again, text);

	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=1; depth=2 if comm == nobody"), 0);
	choose_depth_for_object(other, 8, GFP_KERNEL);
	KUNIT_ASSERT_EQ(test, write_rules("depth=3 if comm == nobody"), 0);
	print_rules(text);
	/* At least one hit: the kernel allocates objects at the same time. */
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "depth=1\t# 1: "));
	KUNIT_EXPECT_NULL(test, strstr(text, "# 1: 0 hits"));
}

static void test_removes(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, write_rules("depth=1; depth=2 if cache ~ *_a; depth=3 if size > 0"),
			0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), 3);
	KUNIT_ASSERT_EQ(test, write_rules("del 3"), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), 2);
	KUNIT_ASSERT_EQ(test, write_rules("del 1"), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), 2);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(other, 8, GFP_KERNEL), OWNER_DEPTH);
	KUNIT_EXPECT_EQ(test, write_rules("del 2"), -EINVAL);
	KUNIT_EXPECT_STREQ(test, error_text,
			   "there is no rule 2: the last is 1\n  del 2\n  ^~~~~\n");
	KUNIT_ASSERT_EQ(test, write_rules("clear"), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), OWNER_DEPTH);

	/* Numbers are those before the write. */
	KUNIT_ASSERT_EQ(test, write_rules("depth=1; depth=2 if size > 8; depth=3 if size > 9"), 0);
	KUNIT_ASSERT_EQ(test, write_rules("del 1; del 2"), 0);
	print_rules(text);
	KUNIT_EXPECT_TRUE(test, strstarts(text, "depth=3 if size > 9\t# 1: "));
	KUNIT_EXPECT_EQ(test, write_rules("del 1; del 1"), -EINVAL);
	KUNIT_EXPECT_TRUE(test, strstarts(error_text, "this text has removed or replaced rule 1 "));

	KUNIT_ASSERT_EQ(test, write_rules("depth=1 if cache ~ *_a"), 0);
	KUNIT_ASSERT_EQ(test, write_rules("del if size>9"), 0);
	print_rules(text);
	KUNIT_EXPECT_TRUE(test, strstarts(text, "depth=1 if cache ~ *_a\t# 1: "));
	KUNIT_EXPECT_EQ(test, write_rules("del if size > 9"), -EINVAL);
	KUNIT_EXPECT_STREQ(test, error_text, "no rule has this condition\n"
			   "  del if size > 9\n  ^~~~~~~~~~~~~~~\n");
}

/* A rule replaces an older one with the same condition in its place; without one, it is first. */
static void test_replaces(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, write_rules("depth=1 if cache ~ *_a; depth=2 if cache ~ *rules*"),
			0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), 2);
	KUNIT_ASSERT_EQ(test, write_rules("depth=3 if cache ~ \"*_a\""), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), 2);
	KUNIT_EXPECT_EQ(test, write_rules("del 3"), -EINVAL);
	KUNIT_ASSERT_EQ(test, write_rules("depth=4 sample=1K"), 0);
	KUNIT_ASSERT_EQ(test, write_rules("depth=5"), 0);
	print_rules(text);
	KUNIT_EXPECT_TRUE(test, strstarts(text, "depth=5\t# 1: "));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "\ndepth=3 if cache ~ *_a\t# 2: "));
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), 2);
	KUNIT_EXPECT_EQ(test, choose_depth_for_kind(OWNER_KIND_PERCPU, 8), 5);
}

/* After an error in the ninth sentence, the first eight have no effect either. */
static void test_all_or_nothing(struct kunit *test)
{
	char *before = text + TEXT_SIZE / 2;

	KUNIT_ASSERT_EQ(test, write_rules("depth=1 if cache ~ *_a; depth=2 if cache ~ *_b"), 0);
	print_rules(before);
	KUNIT_EXPECT_EQ(test, write_rules("del 1; depth=3 if cache ~ *_a; clear; depth=4;"
				    "depth=5 if size > 1; depth=6 if size > 2; depth=2;"
				    "track=off\n depth=8 if cachr == a\n depth=9"), -EINVAL);
	KUNIT_EXPECT_STREQ(test, error_text, "no field is called 'cachr': did you mean 'cache'?\n"
			   "  depth=8 if cachr == a\n"
			   "             ^~~~~\n");
	print_rules(text);
	/* The kernel's own allocations change the hits of the default rule. */
	*strstr(before, "# otherwise") = '\0';
	*strstr(text, "# otherwise") = '\0';
	KUNIT_EXPECT_STREQ(test, text, before);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(cache, 8, GFP_KERNEL), 1);
	KUNIT_EXPECT_EQ(test, choose_depth_for_object(other, 8, GFP_KERNEL), 2);
}

static void test_refuses(struct kunit *test)
{
	unsigned int i;
	int length;

	for (i = 0, length = 0; i < 64; i++)
		length += sprintf(text + length, "depth=1 if size == %u;", i);
	KUNIT_EXPECT_EQ(test, write_rules(text), 0);
	KUNIT_EXPECT_EQ(test, write_rules("depth=2 if size == 7"), 0);
	KUNIT_EXPECT_EQ(test, write_rules("depth=1 if size == 64"), -EINVAL);
	KUNIT_EXPECT_STREQ(test, error_text, "there are at most 64 rules\n"
			   "  depth=1 if size == 64\n"
			   "  ^~~~~~~~~~~~~~~~~~~~~\n");
}

/* A task that is killed does not look up all symbols, and the rules stay. */
static void test_is_killed(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=7"), 0);
	set_fatal_signal(true);
	KUNIT_EXPECT_EQ(test, write_rules("depth=3 if func ~ k*"), -EINTR);
	set_fatal_signal(false);
	print_rules(text);
	KUNIT_EXPECT_TRUE(test, strstarts(text, "depth=7\t"));
}

/* Only rules that stay are looked up, and there is a bound on their comparisons. */
static void test_bounds_lookups(struct kunit *test)
{
	unsigned int i;
	int length;

	for (i = 0, length = 0; i < 32; i++)
		length += sprintf(text + length,
				  "depth=1 if func == nobody_%u && module == nobody;", i);
	KUNIT_EXPECT_EQ(test, write_rules(text), 0);
	KUNIT_EXPECT_EQ(test, write_rules("depth=1 if module == one"), -EINVAL);
	KUNIT_EXPECT_TRUE(test, strstarts(error_text, "all rules together can compare func and "));
	KUNIT_EXPECT_EQ(test, write_rules("del 1; depth=1 if module == one"), 0);
}

/* Texts that are refused spend none of the numbers of rates. */
static void test_refused_rates(struct kunit *test)
{
	unsigned int i, before = owner_count_rates();

	for (i = 0; i < 2 * OWNER_RATES; i++) {
		snprintf(text, TEXT_SIZE, "sample=%u; no such rule", 12345 + i);
		KUNIT_ASSERT_EQ(test, write_rules(text), -EINVAL);
		KUNIT_ASSERT_FALSE(test, strstarts(error_text, "there have been"));
	}
	KUNIT_EXPECT_EQ(test, owner_count_rates(), before);
}

/* A per-CPU area is on no node. */
static void test_node_of_areas(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=9"), 0);
	KUNIT_ASSERT_EQ(test, write_rules("depth=3 if nid > 0; depth=4 if nid == 0"), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_kind(OWNER_KIND_PERCPU, 8), 9);
	KUNIT_EXPECT_EQ(test, choose_depth_for_kind(OWNER_KIND_PAGE, 8), 4);
	KUNIT_ASSERT_EQ(test, write_rules("clear; depth=9; depth=5 if nid != 0"), 0);
	KUNIT_EXPECT_EQ(test, choose_depth_for_kind(OWNER_KIND_PERCPU, 8), 5);
}

static int init_rules_test(struct kunit *test)
{
	text = vmalloc(TEXT_SIZE);
	saved = vmalloc(TEXT_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_ASSERT_NOT_NULL(test, saved);
	cache = kmem_cache_create("owner_rules_a", 64, 0, SLAB_NO_MERGE, NULL);
	other = kmem_cache_create("owner_rules_b", 64, 0, SLAB_NO_MERGE, NULL);
	KUNIT_ASSERT_NOT_NULL(test, cache);
	KUNIT_ASSERT_NOT_NULL(test, other);
	one_size = kmem_cache_create("owner_rules_one", 88, 0, SLAB_NO_MERGE, NULL);
	KUNIT_ASSERT_NOT_NULL(test, one_size);
	cache->flags |= SLAB_KMALLOC;
	other->flags |= SLAB_KMALLOC;
	print_rules(saved);
	return write_rules("clear");
}

static void exit_rules_test(struct kunit *test)
{
	write_rules("clear");
	write_rules(saved);
	kmem_cache_destroy(cache);
	kmem_cache_destroy(other);
	kmem_cache_destroy(one_size);
	vfree(saved);
	vfree(text);
}

static struct kunit_case owner_rules_cases[] = {
	KUNIT_CASE(test_no_rules),
	KUNIT_CASE(test_rule_is_handed_out),
	KUNIT_CASE(test_settings_are_merged),
	KUNIT_CASE(test_size_of_cache),
	KUNIT_CASE(test_last_wins),
	KUNIT_CASE(test_cgroup_outcomes_are_kept),
	KUNIT_CASE(test_asks_of_allocation),
	KUNIT_CASE(test_asks_of_chain),
	KUNIT_CASE(test_places_are_names),
	KUNIT_CASE(test_no_memory_for_ranges),
	KUNIT_CASE(test_free),
	KUNIT_CASE(test_shows_use),
	KUNIT_CASE(test_shows_uselessness),
	KUNIT_CASE(test_reads_back),
	KUNIT_CASE(test_removes),
	KUNIT_CASE(test_replaces),
	KUNIT_CASE(test_all_or_nothing),
	KUNIT_CASE(test_changes_under_readers),
#ifdef CONFIG_SMP
	KUNIT_CASE(test_change_waits_for_readers),
#endif
	KUNIT_CASE(test_refuses),
	KUNIT_CASE(test_is_killed),
	KUNIT_CASE(test_bounds_lookups),
	KUNIT_CASE(test_refused_rates),
	KUNIT_CASE(test_node_of_areas),
	{}
};

static struct kunit_suite owner_rules_suite = {
	.name = "owner_rules",
	.init = init_rules_test,
	.exit = exit_rules_test,
	.test_cases = owner_rules_cases,
};

kunit_test_suite(owner_rules_suite);
