# SPDX-License-Identifier: Apache-2.0
"""Plots as SVG. Each mark carries its numbers in data attributes, from which its place is computed."""

import dataclasses
import math
from typing import List, Optional, Tuple
from xml.sax.saxutils import escape, quoteattr

from study.estimate import Estimate

WIDTH, ROW, LABELS, RIGHT, TOP = 900, 26, 330, 90, 12
HEIGHT, LEFT, BOTTOM = 300, 70, 50
COLOURS = ["#1b6ca8", "#c1440e", "#3a7d44", "#7b4b94", "#b8860b", "#444444", "#0b8a8a", "#a83279", "#7f9c1c", "#e07b91",
           "#5a5ac9", "#8c5a2b"]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Bar:
    label: str
    value: Optional[Estimate]
    published: Optional[Tuple[float, float]] = None


def axis_end(largest: float) -> float:
    """The next of 1, 2, 5, 10, ... in steps of a tenth of the power of ten below."""
    step = 10 ** math.floor(math.log10(largest)) / 2 if largest > 0 else 1
    return math.ceil(largest / step) * step


def tag(name: str, text: str = "", **attributes: object) -> str:
    """An element. An attribute's name has hyphens for underscores."""
    words = "".join(f" {key.rstrip('_').replace('_', '-')}={quoteattr(str(value))}" for key, value in attributes.items())
    return f"<{name}{words}>{escape(text)}</{name}>" if text else f"<{name}{words}/>"


def number(value: float) -> str:
    return f"{value:.2f}"


def svg(height: float, label: str, marks: List[str]) -> str:
    begin = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img" '
             f"aria-label={quoteattr(label)}>")  # fmt: skip
    return "\n".join([begin, *marks, "</svg>"])


def interval(x_low: float, x_high: float, y: float) -> str:
    path = f"M{number(x_low)} {y - 4}v8m0 -4H{number(x_high)}m0 -4v8"
    return tag("path", d=path, class_="interval")


def bars(title: str, rows: List[Bar]) -> str:
    """A horizontal bar for each row, its confidence interval, and a band where something is published."""
    ends = [row.value.mean for row in rows if row.value] + [row.published[1] for row in rows if row.published]
    largest = max(ends, default=1.0)
    scale = (WIDTH - LABELS - RIGHT) / axis_end(largest)
    marks = []
    for index, row in enumerate(rows):
        y = TOP + index * ROW
        marks.append(tag("text", row.label, x=LABELS - 8, y=y + 16, text_anchor="end"))
        if row.published:
            low, high = row.published
            marks.append(tag("rect", x=number(LABELS + low * scale), y=y, width=number(max(2.0, (high - low) * scale)),
                             height=ROW - 2, class_="published", data_low=low, data_high=high))  # fmt: skip
        if row.value is None:
            marks.append(tag("text", "no run counts", x=LABELS + 4, y=y + 16))
            continue
        end = LABELS + row.value.mean * scale
        marks.append(tag("rect", x=LABELS, y=y + 4, width=number(row.value.mean * scale), height=ROW - 10, class_="bar",
                         data_value=repr(row.value.mean)))  # fmt: skip
        half = row.value.half * scale if math.isfinite(row.value.half) else 0
        marks.append(interval(end - half, end + half, y + ROW / 2 - 1))
        marks.append(tag("text", f"{row.value.mean:,.0f}", x=number(end + half + 6), y=y + 16))
    return svg(TOP + len(rows) * ROW + 6, title, marks)


@dataclasses.dataclass(frozen=True)
class Line:
    label: str
    points: List[Tuple[float, Estimate]]  # at least one


def lines(title: str, across: str, unit: str, drawn: List[Line]) -> str:
    """Means against a quantity, both from 0 on, with a legend below."""
    right = axis_end(max(x for line in drawn for x, _ in line.points))
    top = axis_end(max(value.mean for line in drawn for _, value in line.points))
    x_scale, y_scale = (WIDTH - LEFT - RIGHT) / right, (HEIGHT - TOP - BOTTOM) / top
    marks = [tag("path", d=f"M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}", class_="axis"),
             tag("text", f"{top:,.0f} {unit}", x=LEFT - 6, y=TOP + 8, text_anchor="end"),
             tag("text", "0", x=LEFT - 6, y=HEIGHT - BOTTOM, text_anchor="end"),
             tag("text", f"{right:g}", x=WIDTH - RIGHT, y=HEIGHT - BOTTOM + 18, text_anchor="end"),
             tag("text", across, x=(LEFT + WIDTH - RIGHT) / 2, y=HEIGHT - BOTTOM + 18, text_anchor="middle")]  # fmt: skip
    for index, line in enumerate(drawn):
        colour = COLOURS[index % len(COLOURS)]
        places = [(LEFT + x * x_scale, HEIGHT - BOTTOM - value.mean * y_scale) for x, value in line.points]
        marks.append(tag("polyline", points=" ".join(f"{number(x)},{number(y)}" for x, y in places), class_="line",
                         stroke=colour))  # fmt: skip
        for (x, y), (at, value) in zip(places, line.points):
            marks.append(tag("circle", cx=number(x), cy=number(y), r=3, fill=colour, class_="point", data_x=repr(at),
                             data_value=repr(value.mean)))  # fmt: skip
        y = HEIGHT + index * 18
        marks.append(tag("rect", x=LEFT, y=y - 10, width=12, height=12, fill=colour))
        marks.append(tag("text", line.label, x=LEFT + 18, y=y))
    return svg(HEIGHT + len(drawn) * 18, title, marks)
