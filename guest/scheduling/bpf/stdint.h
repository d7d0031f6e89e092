/* SPDX-License-Identifier: GPL-2.0 */
/* In BPF, the kernel's own types stand in for this header. */
#include "vmlinux.h"
