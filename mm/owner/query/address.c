// SPDX-License-Identifier: GPL-2.0
/* Which addresses does an expression require? Their objects are found without a walk. */

#include <linux/kasan.h>

#include "query.h"

/* Can the expression hold for an object that has none of its addresses? */
static bool holds_elsewhere(const struct owner_sentence *s)
{
	const struct owner_field_values elsewhere = {
		.known_fields = BIT(OWNER_FIELD_ADDRESS),
		.absent_fields = BIT(OWNER_FIELD_ADDRESS),
	};

	return owner_lang_evaluate_known_fields(s, &elsewhere) != OWNER_VERDICT_FALSE;
}

/* Addresses of one slab may differ in their tags: without them, they are neighbours. */
static u64 reset_tag(u64 address)
{
	if (address > ULONG_MAX)
		return address;
	return (unsigned long)kasan_reset_tag((void *)(unsigned long)address);
}

/* Insert an address in ascending order, once. */
static void insert_address(struct owner_query *query, u64 address)
{
	unsigned int i = query->nr_addresses, j;

	while (i && query->addresses[i - 1] >= address)
		i--;
	if (i < query->nr_addresses && query->addresses[i] == address)
		return;
	for (j = query->nr_addresses++; j > i; j--)
		query->addresses[j] = query->addresses[j - 1];
	query->addresses[i] = address;
}

/**
 * owner_query_collect_addresses() - collect the addresses that the expression requires
 * @query: has its sentence; @addresses is filled, empty if other objects can match
 */
void owner_query_collect_addresses(struct owner_query *query)
{
	const struct owner_sentence *s = &query->sentence;
	const struct owner_comparison *c = s->comparisons;
	unsigned int i;

	query->nr_addresses = 0;
	query->next_address = 0;
	query->no_object = NULL;
	if (!(s->fields_used & BIT(OWNER_FIELD_ADDRESS)) || holds_elsewhere(s))
		return;
	for (; c < s->comparisons + s->nr_comparisons; c++)
		for (i = 0; c->field == OWNER_FIELD_ADDRESS && i < c->nr_values; i++)
			insert_address(query, reset_tag(s->values[c->first_value + i].low));
}

/**
 * owner_query_has_address() - has the object that was found last a required address?
 * @query: has found an object
 *
 * Return: true if it has, and if the expression requires none.
 */
bool owner_query_has_address(const struct owner_query *query)
{
	unsigned int i;

	for (i = 0; i < query->nr_addresses; i++)
		if (owner_object_has_address(&query->object, query->addresses[i]))
			return true;
	return !query->nr_addresses;
}

/**
 * owner_query_address_matches() - has the object that was found last an address of a comparison?
 * @query: has found an object
 * @comparison: a comparison of its sentence, with address
 *
 * Return: true if it has.
 */
bool owner_query_address_matches(const struct owner_query *query,
				 const struct owner_comparison *comparison)
{
	const union owner_value *value = &query->sentence.values[comparison->first_value];
	const union owner_value *end = value + comparison->nr_values;

	for (; value < end; value++)
		if (owner_object_has_address(&query->object, value->low))
			return true;
	return false;
}
