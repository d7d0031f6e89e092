# SPDX-License-Identifier: Apache-2.0
"""Plots as SVG. Each mark carries its numbers in data attributes, from which its place is computed."""

import dataclasses
import math
from typing import Callable, List, Optional, Tuple
from xml.sax.saxutils import escape, quoteattr

from study.estimate import Estimate

WIDTH, ROW, LABELS, RIGHT, TOP = 900, 26, 330, 90, 12
HEIGHT, LEFT, BOTTOM, HEAD, LEGEND = 300, 84, 60, 28, 20  # of plots with axes
DECADES = 100  # by which levels differ at least if they are placed by their logarithms
DIGIT = 8.3  # the widest of a font of 13 px
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
    """An end that is below 0 is cut off there."""
    begin = f"M{number(x_low)} {y - 4}v8m0 -4" if x_low >= LABELS else f"M{LABELS} {y}"
    return tag("path", d=f"{begin}H{number(x_high)}m0 -4v8", class_="interval")


def upright(x: float, y_low: float, y_high: float, colour: str, value: Estimate) -> str:
    path = f"M{number(x - 4)} {number(y_low)}h8m-4 0V{number(y_high)}m-4 0h8"
    return tag("path", d=path, class_="interval", style=f"stroke: {colour}", data_half=repr(value.half))


def half_of(value: Estimate) -> float:
    """Half of the interval that is drawn: one run has none."""
    return value.half if math.isfinite(value.half) else 0.0


def bars(title: str, rows: List[Bar]) -> str:
    """A horizontal bar for each row, its confidence interval, and a band where something is published."""
    ends = [row.value.mean + half_of(row.value) for row in rows if row.value]
    ends += [row.published[1] for row in rows if row.published]
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
        half = half_of(row.value) * scale
        marks.append(interval(end - half, end + half, y + ROW / 2 - 1))
        marks.append(tag("text", f"{row.value.mean:,.0f}", x=number(end + half + 6), y=y + 16))
    return svg(TOP + len(rows) * ROW + 6, title, marks)


@dataclasses.dataclass(frozen=True)
class Line:
    label: str
    points: List[Tuple[float, Estimate]]  # at least one


@dataclasses.dataclass(frozen=True)
class Axis:
    """Where values are, and which of them are marked."""

    ticks: List[float]
    place: Callable[[float], float]


def scaled(low: float, high: float, begin: float, end: float) -> Callable[[float], float]:
    return lambda value: begin + (value - low) / (high - low) * (end - begin)


def step_of(extent: float) -> float:
    """The largest of 1, 2, 5, 10, ... that is in this three times or more."""
    power = 10 ** math.floor(math.log10(extent / 3))
    return max(step * power for step in (1, 2, 5) if step * power <= extent / 3)


def vertical(values: List[float]) -> Axis:
    """From below the smallest to above the largest, and 0 is always there."""
    low, high = min(0.0, *values), max(0.0, *values)
    step = step_of((high - low) or 1.0)
    first, last = math.floor(low / step), math.ceil(high / step)
    if first == last:
        last += 1
    return Axis([each * step for each in range(first, last + 1)], scaled(first * step, last * step, HEIGHT - BOTTOM, HEAD))


def horizontal(levels: List[float]) -> Axis:
    """From 0 on, with a mark at each level. Levels that span decades are placed by their logarithms, and 0 a decade below."""
    smallest = min(level for level in levels if level > 0)
    if max(levels) < DECADES * smallest:
        return Axis(levels, scaled(0, axis_end(max(levels)), LEFT, WIDTH - RIGHT))
    by_log = scaled(math.log10(smallest) - 1, math.log10(max(levels)), LEFT, WIDTH - RIGHT)
    return Axis(levels, lambda level: by_log(math.log10(level or smallest / 10)))


def readable(axis: Axis, texts: List[str]) -> List[bool]:
    """Which of the marks can have a text below that is not in the way of the one before."""
    found, free = [], -math.inf
    for tick, text in zip(axis.ticks, texts):
        half = len(text) * DIGIT / 2
        found.append(axis.place(tick) - half > free)
        if found[-1]:
            free = axis.place(tick) + half
    return found


def axes(across: str, unit: str, x_axis: Axis, y_axis: Axis) -> List[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    marks = [tag("path", d=f"M{LEFT} {HEAD}V{bottom}H{right}", class_="axis"),
             tag("path", d=f"M{LEFT} {number(y_axis.place(0))}H{right}", class_="axis"),
             tag("text", unit, x=4, y=12),
             tag("text", across, x=(LEFT + right) / 2, y=bottom + 40, text_anchor="middle")]  # fmt: skip
    for tick in y_axis.ticks:
        y = y_axis.place(tick)
        marks.append(tag("path", d=f"M{LEFT} {number(y)}h-4", class_="axis"))
        marks.append(tag("text", f"{tick:,.10g}", x=LEFT - 8, y=number(y + 4), text_anchor="end", class_="tick"))
    texts = [f"{tick:,.10g}" for tick in x_axis.ticks]
    for tick, text, shown in zip(x_axis.ticks, texts, readable(x_axis, texts)):
        x = number(x_axis.place(tick))
        marks.append(tag("path", d=f"M{x} {bottom}v4", class_="axis"))
        if shown:
            marks.append(tag("text", text, x=x, y=bottom + 20, text_anchor="middle", class_="tick"))
    return marks


def lines(title: str, across: str, unit: str, drawn: List[Line]) -> str:
    """Means and their confidence intervals against a quantity, with a legend below. One of its levels is above 0."""
    values = [value for line in drawn for _, value in line.points]
    y_axis = vertical([end for value in values for end in (value.mean - half_of(value), value.mean + half_of(value))])
    x_axis = horizontal(sorted({x for line in drawn for x, _ in line.points}))
    marks = axes(across, unit, x_axis, y_axis)
    for index, line in enumerate(drawn):
        colour = COLOURS[index % len(COLOURS)]
        places = [(x_axis.place(x), y_axis.place(value.mean)) for x, value in line.points]
        marks.append(tag("polyline", points=" ".join(f"{number(x)},{number(y)}" for x, y in places), class_="line",
                         stroke=colour))  # fmt: skip
        for (x, y), (at, value) in zip(places, line.points):
            if half_of(value):
                ends = [y_axis.place(value.mean + sign * value.half) for sign in (-1, 1)]
                marks.append(upright(x, *ends, colour, value))
            marks.append(tag("circle", cx=number(x), cy=number(y), r=3, fill=colour, class_="point", data_x=repr(at),
                             data_value=repr(value.mean)))  # fmt: skip
        y = HEIGHT + index * LEGEND
        marks.append(tag("rect", x=LEFT, y=y - 10, width=12, height=12, fill=colour))
        marks.append(tag("text", line.label, x=LEFT + 18, y=y))
    return svg(HEIGHT + len(drawn) * LEGEND, title, marks)
