/* SPDX-License-Identifier: GPL-2.0 */
/* Functions of newer kernels, for the older kernels that lack them. Kbuild finds out what the kernel has. */
#ifndef OAE_COMPAT_H
#define OAE_COMPAT_H

#include <linux/mm.h>

#ifndef OAE_HAVE_VM_FLAGS_SET	/* Linux 6.3 has it */
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

#endif
