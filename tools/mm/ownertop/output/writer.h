/* SPDX-License-Identifier: GPL-2.0 */
/* Write an answer as a view in a format: one function for each of them. */
#ifndef OWNERTOP_WRITER_H
#define OWNERTOP_WRITER_H

#include "model/answer.h"
#include "output/terminal.h"

enum output_format {
	FORMAT_TEXT,		/* text for people, or the only format of the view */
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_TSV,		/* TSV, as the kernel answers queries */
	FORMAT_HTML,		/* a page for a browser */
	NR_FORMATS
};

/* The options of ownertop that change what writers print. */
struct output_options {
	const char *view;	/* name of the view */
	const struct owner_sentence *sentence;	/* the query, as TSV repeats it */
	double least_percent;	/* least share of a node of a tree */
	const char *old;	/* path of the older dump, or NULL */
	char * const *inputs;	/* paths of the inputs; none: this machine is read */
	int nr_inputs;
	struct terminal term;	/* the terminal that is written to */
	bool unfold;		/* print call chains below rows, a frame in each line */
	char *selection_arguments;	/* explain: arguments that select the same records */
	bool callers;		/* functions: print a line with the callers of each function */
	bool summary;		/* on a terminal: print a few lines on the answer first */
	bool repeats;		/* the view is printed again every few seconds */
	bool ages_if_all;	/* show ages only if every group has one */
};

typedef void (*view_writer)(const struct answer *a, const struct output_options *o, FILE *out);

void write_table(const struct answer *a, const struct output_options *o, FILE *out);
void write_table_json(const struct answer *a, const struct output_options *o, FILE *out);
void write_table_csv(const struct answer *a, const struct output_options *o, FILE *out);
void write_tsv(const struct answer *a, const struct output_options *o, FILE *out);

void write_diff(const struct answer *a, const struct output_options *o, FILE *out);
void write_diff_json(const struct answer *a, const struct output_options *o, FILE *out);
void write_diff_csv(const struct answer *a, const struct output_options *o, FILE *out);

void write_trend(const struct answer *a, const struct output_options *o, FILE *out);
void write_trend_json(const struct answer *a, const struct output_options *o, FILE *out);
void write_trend_csv(const struct answer *a, const struct output_options *o, FILE *out);
void write_trend_html(const struct answer *a, const struct output_options *o, FILE *out);

void write_tree(const struct answer *a, const struct output_options *o, FILE *out);
void write_tree_json(const struct answer *a, const struct output_options *o, FILE *out);

void write_functions(const struct answer *a, const struct output_options *o, FILE *out);
void write_functions_json(const struct answer *a, const struct output_options *o, FILE *out);
void write_functions_csv(const struct answer *a, const struct output_options *o, FILE *out);

void write_prom(const struct answer *a, const struct output_options *o, FILE *out);
void write_explain(const struct answer *a, const struct output_options *o, FILE *out);
void write_explain_json(const struct answer *a, const struct output_options *o, FILE *out);

void write_folded(const struct answer *a, const struct output_options *o, FILE *out);
void write_pprof(const struct answer *a, const struct output_options *o, FILE *out);
void write_flame(const struct answer *a, const struct output_options *o, FILE *out);

#endif
