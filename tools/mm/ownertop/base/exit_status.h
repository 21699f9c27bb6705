/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OWNERTOP_EXIT_STATUS_H
#define OWNERTOP_EXIT_STATUS_H

enum {
	STATUS_COMPLETE,		/* every record of every input is in the output */
	STATUS_INCOMPLETE,	/* the output covers what could be read */
	STATUS_FAILED,		/* usage error, or no output could be made */
};

#endif
