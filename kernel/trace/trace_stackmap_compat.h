/* SPDX-License-Identifier: GPL-2.0 */
/* Linux 7.3 and Linux 6.12 name parts of tracing differently. The code has the names of 7.3. */
#ifndef _TRACE_STACKMAP_COMPAT_H
#define _TRACE_STACKMAP_COMPAT_H

#include <linux/kconfig.h>

#include "trace.h"

#ifdef TRACE_ITER
#define TRACE_HAS_SNAPSHOT_BUFFER	IS_ENABLED(CONFIG_TRACER_SNAPSHOT)
#else
#define TRACE_ITER(flag)		TRACE_ITER_##flag
#define TRACE_HAS_SNAPSHOT_BUFFER	IS_ENABLED(CONFIG_TRACER_MAX_TRACE)
#define snapshot_buffer			max_buffer
#endif

#endif /* _TRACE_STACKMAP_COMPAT_H */
