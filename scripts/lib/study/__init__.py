# SPDX-License-Identifier: Apache-2.0
"""Timing studies: scripts/study. The modules in the order of their use are listed in scripts/README.md."""
