/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OWNERTOP_EXIT_STATUS_H
#define OWNERTOP_EXIT_STATUS_H

enum {
	STATUS_COMPLETE,	/* every record of every input is in the output */
	STATUS_INCOMPLETE,	/* some input was damaged or not read to its end */
	STATUS_FAILED,		/* wrong command line, or no output could be written */
};

#endif
