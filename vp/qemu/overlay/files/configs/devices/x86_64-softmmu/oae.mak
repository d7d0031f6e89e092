# SPDX-License-Identifier: GPL-2.0-or-later
# The host: Linux on a microvm.
CONFIG_MICROVM=y
CONFIG_ACPI_PCI=y
