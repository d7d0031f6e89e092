# SPDX-License-Identifier: Apache-2.0
"""The chapters of a report, in their order. A chapter is a module with tables(document) and plots(document)."""

from study.chapters import published, serving, switches

CHAPTERS = (published, switches, serving)
