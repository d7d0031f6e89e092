# SPDX-License-Identifier: GPL-2.0-or-later
# The host: Linux on a microvm; EDU is there for the benchmarks' baseline only.
CONFIG_MICROVM=y
CONFIG_ACPI_PCI=y
CONFIG_EDU=y
