# SPDX-License-Identifier: Apache-2.0
"""Differences between variants by factor, of runs of the same seed, and where the one variant overtakes the other."""

import dataclasses
import math
from typing import Callable, List, Optional, Tuple

from figures.table import Table

from study import plot
from study.chapters import cells
from study.chapters.cells import NOTHING
from study.chapters.published import thousands, time_of_switch
from study.chapters.serving import quantile
from study.estimate import Estimate
from study.factors import FACTORS
from study.loads.ping import PING
from study.loads.serve import REQUESTS, SATURATION
from study.samples import Figure, Point, Samples
from study.variants import FLOOR, LADDER, ON_HOST, PORTS

Course = List[Tuple[float, Optional[Estimate]]]  # by level, in order


@dataclasses.dataclass(frozen=True)
class Side:
    name: str
    variant: str


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two variants; their difference is how much more the one is than the other."""

    one: Side
    other: Side

    def title(self) -> str:
        return f"{self.one.name}, more than {self.other.name}"


QUEUES = Side("queues", LADDER[-1].name)
SWAPS = Side("swap ports", PORTS[-1].name)
HOST = Side("an agent on the host", ON_HOST[-1].name)
THE_FLOOR = Side("the floor", FLOOR.name)
NO_OPTIMISATION = Side("queues, no optimisation", LADDER[0].name)
PAIRS = [Pair(SWAPS, QUEUES), Pair(QUEUES, HOST), Pair(SWAPS, HOST), Pair(QUEUES, THE_FLOOR), Pair(NO_OPTIMISATION, QUEUES)]

# Variants that a factor does not concern. They are not run at its levels: their central point stands for all of them.
UNCONCERNED = {"hits": (FLOOR.name,), "cores": tuple(each.name for each in ON_HOST)}


@dataclasses.dataclass(frozen=True)
class Measure:
    load: str
    title: str
    unit: str
    digits: int
    of: Figure
    more_is_better: bool = False
    there: Callable[[dict], bool] = lambda result: True


def answers(name: str) -> Measure:
    """A quantile of the times of answers, if all runs have enough requests beyond it."""
    return Measure(REQUESTS.name, f"time of an answer, {name}", "us", 2, quantile(name),
                   there=lambda result: name in result["latency_ns"])  # fmt: skip


MEASURES = [
    Measure(PING.name, "time of a context switch", "ns", 1, time_of_switch),
    Measure(SATURATION.name, "requests served in time", "K/s", 1, thousands, more_is_better=True),
    answers("median"),
    answers("p99"),
]


def at(variant: str, factor: str, level: float) -> Point:
    return (variant, "", 0.0) if variant in UNCONCERNED.get(factor, ()) else (variant, *cells.point(factor, level))


def between(samples: Samples, measure: Measure, one: Point, other: Point) -> Optional[Estimate]:
    if not all(map(measure.there, (*samples.all(*one), *samples.all(*other)))):
        return None
    return samples.across(lambda mine, its: measure.of(mine) - measure.of(its), one, other)


def course(samples: Samples, measure: Measure, pair: Pair, factor: str) -> Course:
    return [
        (level, between(samples, measure, *(at(side.variant, factor, level) for side in (pair.one, pair.other))))
        for level in cells.levels_of(factor)
    ]


def courses(samples: Samples, measure: Measure, factor: str) -> List[Tuple[Pair, Course]]:
    """Of those pairs of which the difference is known at several levels."""
    found = [(pair, course(samples, measure, pair, factor)) for pair in PAIRS]
    return [(pair, each) for pair, each in found if sum(value is not None for _, value in each) > 1]


def sign(value: Estimate) -> int:
    """0 if the interval includes 0."""
    return 0 if abs(value.mean) <= value.half else int(math.copysign(1, value.mean))


def crossover(pair: Pair, measure: Measure, factor: str, found: Course) -> str:
    """Where the one overtakes the other."""
    known = [(level, value) for level, value in found if value is not None]
    if not all(math.isfinite(value.half) for _, value in known):
        return "one run has no interval"
    signs = {sign(value) for _, value in known}
    if len(signs) == 1 and 0 not in signs:
        ahead = pair.one if (signs == {1}) == measure.more_is_better else pair.other
        return f"none; ahead at all levels: {ahead.name}"
    texts, clear = [], None  # the last level at which the interval does not include 0
    for index, (level, value) in enumerate(known):
        if sign(value) == 0:
            continue
        if clear is None:
            if index:
                texts.append(unresolved(factor, known[0][0], level))
        elif index - clear > 1:
            texts.append(unresolved(factor, known[clear][0], level))
        elif sign(known[clear][1]) != sign(value):
            texts.append(f"at {cells.level_text(factor, float(f'{zero(known[clear], known[index]):.3g}'))}")
        clear = index
    if clear != len(known) - 1:
        texts.append(unresolved(factor, known[clear or 0][0], known[-1][0]))
    return "; ".join(texts)


def zero(before: Tuple[float, Estimate], after: Tuple[float, Estimate]) -> float:
    """Where a straight line between two points is 0."""
    share = before[1].mean / (before[1].mean - after[1].mean)
    return before[0] + share * (after[0] - before[0])


def unresolved(factor: str, begin: float, end: float) -> str:
    return f"between {begin:,g} and {cells.level_text(factor, end)}, not resolved"


def text_of(value: Optional[Estimate], digits: int) -> str:
    return NOTHING if value is None else ("+" if round(value.mean, digits) > 0 else "") + value.text(digits)


NOTES = [
    "Differences are of runs of the same seed; ± is half of a confidence interval of 95 %. Queues are those with all optimisations",
    "unless said otherwise; swap ports and the agent on the host are those with prestage. A crossover is interpolated linearly",
    "between two levels whose differences have opposite signs; it is not resolved where an interval includes 0.",
]


def title_of(measure: Measure) -> str:
    return f"Differences: {measure.title}, {measure.unit}"


def difference_table(samples: Samples, measure: Measure, factor: str) -> Table:
    lines = []
    for pair, found in courses(samples, measure, factor):
        texts = [text_of(value, measure.digits) for _, value in found]
        lines.append((pair.title(), [*texts, crossover(pair, measure, factor, found)]))
    columns = [cells.level_text(factor, level) for level in cells.levels_of(factor)]
    return Table(f"{title_of(measure)}, by: {FACTORS[factor].title}", [*columns, "crossover"], lines)


def agreement_table(samples: Samples, measure: Measure, factor: str) -> Table:
    """What each variant has at a level, less what it has at the central point."""
    levels = sorted(FACTORS[factor].levels)
    lines = []
    for title, variant in cells.every(samples):
        found = [between(samples, measure, (variant, factor, level), (variant, "", 0.0)) for level in levels]
        if any(value is not None for value in found):
            texts = [text for value in found for text in (text_of(value, measure.digits), included(value))]
            lines.append((title, [cells.text_of(samples.mean(measure.of, variant), measure.digits), *texts]))
    columns = [text for level in levels for text in (f"more at {cells.level_text(factor, level)}", "includes 0")]
    return Table(
        f"Agreement: {measure.title}, {measure.unit}, by: {FACTORS[factor].title}",
        [f"at {cells.level_text(factor, FACTORS[factor].central)}", *columns], lines,
        ["Differences are of runs of the same seed. Of twenty intervals of 95 % around a difference that is none, one misses 0 by chance."],
    )  # fmt: skip


def included(value: Optional[Estimate]) -> str:
    if value is None:
        return NOTHING
    return "one run" if not math.isfinite(value.half) else "no" if sign(value) else "yes"


MUST_AGREE = ("slice", "spin-slice")


def tables(document: dict) -> List[Table]:
    """The first table of differences explains all of them."""
    by_factor, agreement = [], []
    for measure in MEASURES:
        samples = Samples(document, measure.load)
        for factor in cells.factors_of(document["extent"], measure.load):
            if factor in MUST_AGREE:
                agreement.append(agreement_table(samples, measure, factor))
            else:
                by_factor.append(difference_table(samples, measure, factor))
    for table in [table for table in by_factor if table.rows][:1]:
        table.notes = NOTES
    return by_factor + agreement


def plots(document: dict) -> List[str]:
    found = []
    for measure in MEASURES:
        samples = Samples(document, measure.load)
        for factor in cells.factors_of(document["extent"], measure.load):
            if factor not in MUST_AGREE:
                drawn = [plot.Line(pair.title(), [(level, value) for level, value in each if value is not None])
                         for pair, each in courses(samples, measure, factor)]  # fmt: skip
                found += cells.factor_plot(factor, title_of(measure), measure.unit, drawn)
    return found
