# SPDX-License-Identifier: GPL-2.0-or-later
# The IPU's cores; VIRT is there for the benchmarks' baseline only.
CONFIG_OAE_IPU=y
CONFIG_ARM_VIRT=y
