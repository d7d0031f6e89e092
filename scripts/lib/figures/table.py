# SPDX-License-Identifier: Apache-2.0
"""The output of scripts/figures: tables and requirements."""

import dataclasses
from typing import List, Optional, Tuple


class Failure(Exception):
    """Figures are not available; the message says why."""


@dataclasses.dataclass
class Table:
    """A title, and rows that have a name and a text for each column."""

    title: str
    columns: List[str]
    rows: List[Tuple[str, List[str]]]
    notes: List[str] = dataclasses.field(default_factory=list)

    def text(self) -> str:
        """Formats the table: names to the left, texts to the right, each column as narrow as possible."""
        first = 2 + max(len(name) for name, _ in self.rows)
        widths = [2 + max(map(len, texts)) for texts in zip(self.columns, *(texts for _, texts in self.rows))]

        def line(name: str, texts: List[str]) -> str:
            return (f"{name:{first}}" + "".join(f"{text:>{width}}" for text, width in zip(texts, widths))).rstrip()

        lines = [self.title, "", line("", self.columns)]
        lines += [line(f"  {name}", texts) for name, texts in self.rows]
        return "\n".join(lines + [f"  {note}" for note in self.notes])


@dataclasses.dataclass
class Requirement:
    """A requirement, its source, the measured value, and whether that meets it; None if there is nothing to judge."""

    what: str
    source: str
    found: str
    met: Optional[bool]

    def text(self) -> str:
        verdict = {True: "met", False: "NOT MET", None: "not modelled"}[self.met]
        return f"  {verdict:12}  {self.what}: {self.found}"


def required_text(requirements: List[Requirement]) -> str:
    """Groups requirements by their source, in order."""
    sources = list(dict.fromkeys(each.source for each in requirements))
    return "\n\n".join(
        "\n".join([f"Required by {source}", *(each.text() for each in requirements if each.source == source)])
        for source in sources
    )


def ns(picoseconds: float) -> str:
    return f"{picoseconds / 1000:,.2f}"


def us(picoseconds: float) -> str:
    return f"{picoseconds / 1e6:,.3f}"


def rtts(picoseconds: float, rtt: float) -> str:
    """Formats a time as round trips of the wire or link."""
    return f"{picoseconds / rtt:.2f}"
