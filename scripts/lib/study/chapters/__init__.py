# SPDX-License-Identifier: Apache-2.0
"""The chapters of a report, in their order. A chapter is a module with tables(document) and plots(document)."""

from study.chapters import crossings, differences, faults, fito, published, services, serving, shares, switches, traced

CHAPTERS = (published, switches, crossings, shares, traced, serving, services, differences, faults, fito)
