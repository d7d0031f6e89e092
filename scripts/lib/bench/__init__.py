# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: scripts/bench."""
