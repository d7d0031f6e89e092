# SPDX-License-Identifier: Apache-2.0
"""Costs of the protocol in simulated time: scripts/figures."""
