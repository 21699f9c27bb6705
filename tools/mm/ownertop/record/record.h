/* SPDX-License-Identifier: GPL-2.0 */
/* "ownertop record": write snapshots, once or at intervals. */
#ifndef OWNERTOP_RECORD_COMMAND_H
#define OWNERTOP_RECORD_COMMAND_H

/* Run the command with its own options; argv[0] is its name. Returns the exit status. */
int record_main(int argc, char *argv[]);

#endif
