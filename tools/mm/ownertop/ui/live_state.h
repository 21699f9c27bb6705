/* SPDX-License-Identifier: GPL-2.0 */
/* The state of live mode, which live.c changes and live_screen.c draws. */
#ifndef OWNERTOP_LIVE_STATE_H
#define OWNERTOP_LIVE_STATE_H

#include "ask/answer.h"
#include "ui/history.h"

#define INPUT_MAX 128

/* The question that the user is answering on the message line. */
enum prompt {
	PROMPT_NONE,
	PROMPT_FILTER,
	PROMPT_GROUP,
	PROMPT_SAVE,
};

struct live_state {
	struct options o;	/* options of the command line; keys change order and depth */
	char * const *paths;
	int nr_paths;
	struct answer a;
	time_t time;		/* of the answer */
	struct output_options output;
	struct history history;
	bool paused;
	bool help;
	bool by_growth;		/* sort by the change since the mark */

	u32 *shown;		/* groups on the screen or above and below it, in order */
	u32 nr_shown;
	u32 nr_found;		/* groups that the filter holds for */
	struct figures found;	/* their sums */
	u32 selected;		/* position in @shown */
	u32 top;		/* position of the first group on the screen */
	u64 unfolded;		/* hash of the group with its chains below it; 0: none */

	enum prompt prompt;
	char input[INPUT_MAX];	/* the answer so far */
	char filter[INPUT_MAX];	/* text that a group must contain; "": none */
	char message[256];	/* about the last key; "": none */
};

/* Does the text of a group, as shown, contain the filter, regardless of case? */
bool live_filter_holds(const struct live_state *l, const struct group *g);
/* Draw the screen. Moves l->top so that the selected group is on it. */
void live_draw(struct live_state *l);

#endif
