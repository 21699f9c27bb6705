/* SPDX-License-Identifier: GPL-2.0 */
/* The version of ownertop: --version prints it, and the Debian package has it. */
#ifndef OWNERTOP_VERSION_H
#define OWNERTOP_VERSION_H

#define OWNERTOP_VERSION "1.0"

#endif
