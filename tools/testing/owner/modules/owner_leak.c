// SPDX-License-Identifier: GPL-2.0
/*
 * A module with a leak.
 *
 * It serves requests. Each request allocates a session and a log line, and frees the
 * log line but not the session. slabtop shows only that kmalloc-256 grows.
 */

#include <linux/jiffies.h>
#include <linux/kfence.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "owner_leak.h"

static unsigned int requests = 20000;
module_param(requests, uint, 0400);
MODULE_PARM_DESC(requests, "number of sessions to leak");

static unsigned int fenced;
module_param(fenced, uint, 0400);
MODULE_PARM_DESC(fenced, "number of sessions to leak besides, all served by KFENCE");

static bool leave;
module_param(leave, bool, 0400);
MODULE_PARM_DESC(leave, "leave the sessions behind when the module is unloaded");

#define SESSION_SIZE	200
#define LOG_SIZE	90

/* The sessions are reachable, so kmemleak does not report them. */
static LIST_HEAD(sessions);

struct session {
	struct list_head list;
	char state[SESSION_SIZE - sizeof(struct list_head)];
};

static noinline struct session *leak_open_session(void)
{
	struct session *session = kmalloc(sizeof(*session), GFP_KERNEL);

	if (session)
		list_add(&session->list, &sessions);
	return session;
}

/* owner_user.ko calls this and leaks the session, too. */
noinline bool owner_leak_open(void)
{
	bool opened = leak_open_session();

	/* Prevent a tail call, which would drop this frame from the chain. */
	barrier();
	return opened;
}
EXPORT_SYMBOL_GPL(owner_leak_open);

static noinline bool leak_write_log(void)
{
	char *line = kmalloc(LOG_SIZE, GFP_KERNEL);

	if (line)
		scnprintf(line, LOG_SIZE, "session opened");
	kfree(line);
	return line;
}

/*
 * KFENCE serves one allocation per sample interval. Close the sessions that it does not serve. The
 * deadline is below 120 s, after which the kernel reports insmod as hung.
 */
static void leak_fenced_sessions(void)
{
	unsigned long deadline = jiffies + 100 * HZ;
	struct session *session;
	unsigned int kept = 0;

	while (kept < fenced && time_before(jiffies, deadline) && leak_open_session()) {
		session = list_first_entry(&sessions, struct session, list);
		if (is_kfence_address(session)) {
			kept++;
		} else {
			list_del(&session->list);
			kfree(session);
		}
		cond_resched();
	}
	pr_info("owner_leak: KFENCE has served %u sessions\n", kept);
}

static noinline bool leak_serve_request(void)
{
	return leak_open_session() && leak_write_log();
}

static void leak_serve(struct work_struct *work)
{
	unsigned int i;

	for (i = 0; i < requests && leak_serve_request(); i++)
		cond_resched();
	pr_info("owner_leak: %u sessions of %zu bytes opened, none closed\n",
		i, sizeof(struct session));
	if (fenced)
		leak_fenced_sessions();
}

static DECLARE_WORK(leak_work, leak_serve);

static int __init leak_init(void)
{
	BUILD_BUG_ON(sizeof(struct session) != SESSION_SIZE);
	schedule_work(&leak_work);
	flush_work(&leak_work);
	return 0;
}
module_init(leak_init);

static void __exit leak_exit(void)
{
	struct session *session, *next;

	if (leave)
		return;
	list_for_each_entry_safe(session, next, &sessions, list)
		kfree(session);
}
module_exit(leak_exit);

MODULE_DESCRIPTION("A leak that slab_owner finds");
MODULE_LICENSE("GPL");
