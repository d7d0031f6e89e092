// SPDX-License-Identifier: GPL-2.0
/* Registers a function that BPF programs may call: those of type struct_ops, such as schedulers of sched_ext, and those of
 * type syscall, which a test can run. The kernel finds it by the module's BTF.
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/init.h>
#include <linux/module.h>

__bpf_kfunc_start_defs();

__bpf_kfunc u64 kfunc_probe_twice(u64 number)
{
	return 2 * number;
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(kfunc_probe_ids)
BTF_ID_FLAGS(func, kfunc_probe_twice)
BTF_KFUNCS_END(kfunc_probe_ids)

static const struct btf_kfunc_id_set kfunc_probe_set = {
	.owner = THIS_MODULE,
	.set = &kfunc_probe_ids,
};

static int __init kfunc_probe_init(void)
{
	int error = register_btf_kfunc_id_set(BPF_PROG_TYPE_STRUCT_OPS, &kfunc_probe_set);

	return error ? error : register_btf_kfunc_id_set(BPF_PROG_TYPE_SYSCALL, &kfunc_probe_set);
}

/* The kernel forgets the functions with the module's BTF. */
static void __exit kfunc_probe_exit(void)
{
}

module_init(kfunc_probe_init);
module_exit(kfunc_probe_exit);
MODULE_DESCRIPTION("Test: a function of a module for BPF programs");
MODULE_LICENSE("GPL");
