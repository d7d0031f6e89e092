# SPDX-License-Identifier: Apache-2.0
"""How a context switch shortens with the share of decisions that are prestaged. Each switch has its decision before it needs it, or
has not, and the first ones are evenly spread: by arithmetic, the mean is on the straight line between none and all."""

from typing import Callable, List

from figures.table import Table

from study import rows
from study.chapters import cells
from study.chapters.cells import text_of
from study.chapters.published import time_of_switch
from study.chapters.switches import samples_of, share
from study.loads.ping import PING
from study.samples import Point, Samples

FACTOR = "hits"
WHOLE = 100  # %


def above_line(percent: float) -> Callable[[dict, dict, dict], float]:
    """How much longer a switch takes than on the line between a run with none and one with all of them, at this share."""

    def of(found: dict, none: dict, every: dict) -> float:
        low, high = time_of_switch(none), time_of_switch(every)
        return time_of_switch(found) - (low + percent / WHOLE * (high - low))

    return of


def swept(samples: Samples) -> rows.Rows:
    """Those that were run with none, with all, and with a share between."""
    between = cells.levels_of(FACTOR)[1:-1]
    return [(title, variant) for title, variant in cells.every(samples)
            if samples.valid(*at(variant, 0)) and samples.valid(*at(variant, WHOLE))
            and any(samples.valid(*at(variant, level)) for level in between)]  # fmt: skip


def at(variant: str, level: float) -> Point:
    return (variant, *cells.point(FACTOR, level))


def line_table(samples: Samples) -> Table:
    none, *between, every = cells.levels_of(FACTOR)
    lines = []
    for title, variant in swept(samples):
        ends = [at(variant, none), at(variant, every)]
        texts = [text_of(samples.mean(time_of_switch, *end)) for end in ends]
        for level in between:
            texts.append(text_of(samples.mean(share("PRESTAGE", "decisions"), *at(variant, level))))
            texts.append(text_of(samples.across(above_line(level), at(variant, level), *ends)))
        lines.append((title, texts))
    columns = [text for level in between for text in (f"{level:g} %: prestaged, %", "more than the line, ns")]
    return Table(
        "Time of a context switch by the share of prestaged decisions, and how far that is from a straight line",
        [f"{none:g} %: ns", f"{every:g} %: ns", *columns], lines,
        ["The line is between none and all of the same seed. Prestaged are decisions as counted, with those of the warm-up."],
    )  # fmt: skip


def tables(document: dict) -> List[Table]:
    return [line_table(samples_of(document))] if FACTOR in cells.factors_of(document["extent"], PING.name) else []


def plots(_: dict) -> List[str]:
    return []
