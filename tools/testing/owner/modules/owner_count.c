// SPDX-License-Identifier: GPL-2.0
/* Count how often functions of the kernel are called while this module is loaded. */

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>

#define FUNCTIONS_MAX	16

static char *functions[FUNCTIONS_MAX];
static unsigned int nr_functions;
module_param_array(functions, charp, &nr_functions, 0400);
MODULE_PARM_DESC(functions, "functions whose calls to count");

#ifdef CONFIG_KPROBES
static struct kprobe probes[FUNCTIONS_MAX];
static DEFINE_PER_CPU(unsigned long[FUNCTIONS_MAX], calls);

static int count_call(struct kprobe *probe, struct pt_regs *regs)
{
	this_cpu_inc(calls[probe - probes]);
	return 0;
}

static int __init count_init(void)
{
	unsigned int i;
	int error;

	for (i = 0; i < nr_functions; i++) {
		probes[i].symbol_name = functions[i];
		probes[i].pre_handler = count_call;
		error = register_kprobe(&probes[i]);
		if (error) {
			pr_err("owner_count: %s cannot be probed\n", functions[i]);
			while (i--)
				unregister_kprobe(&probes[i]);
			return error;
		}
	}
	return 0;
}

static void __exit count_exit(void)
{
	unsigned long sum;
	unsigned int i;
	int cpu;

	for (i = 0; i < nr_functions; i++) {
		unregister_kprobe(&probes[i]);
		sum = probes[i].nmissed;
		for_each_possible_cpu(cpu)
			sum += per_cpu(calls[i], cpu);
		pr_info("owner_count: calls %s %lu\n", functions[i], sum);
	}
}
module_exit(count_exit);
#else
static int __init count_init(void)
{
	return -EOPNOTSUPP;
}
#endif
module_init(count_init);

MODULE_DESCRIPTION("Count calls of functions");
MODULE_LICENSE("GPL");
