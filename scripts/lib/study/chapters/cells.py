# SPDX-License-Identifier: Apache-2.0
"""What the tables and plots of all chapters share."""

from typing import Callable, List, Optional, Tuple
from xml.sax.saxutils import escape

from figures.table import Table

from study import plot, rows
from study.estimate import Estimate
from study.factors import FACTORS
from study.matrix import EXTENTS
from study.samples import Figure, Samples

NOTHING = "-"
Mean = Callable[[str, str, float], Optional[Estimate]]  # of a variant at a point: factor and level


def text_of(found: Optional[Estimate], digits: int = 1) -> str:
    return NOTHING if found is None else found.text(digits)


def known(samples: Samples, wanted: rows.Rows) -> rows.Rows:
    return [(title, variant) for title, variant in wanted if samples.all(variant)]


def every(samples: Samples) -> rows.Rows:
    """The rows of all variants. One that has two rows is in the first one only."""
    wanted = known(samples, [*rows.BASELINES, *rows.STEPS, *rows.OTHERS, *rows.REMOVED])
    by_variant = {variant: title for title, variant in reversed(wanted)}
    return [(title, variant) for title, variant in wanted if by_variant[variant] == title]


def point(factor: str, level: float) -> Tuple[str, float]:
    return ("", 0.0) if level == FACTORS[factor].central else (factor, level)


def levels_of(factor: str) -> List[float]:
    return sorted([FACTORS[factor].central, *FACTORS[factor].levels])


def level_text(factor: str, level: float) -> str:
    return f"{level:,g} {FACTORS[factor].unit}".strip()


def factors_of(extent: str, load: str) -> List[str]:
    return list(dict.fromkeys(factor for part in EXTENTS[extent] if part.load == load for factor in part.factors))


def sweeps(samples: Samples, factor: str, mean: Mean) -> List[Tuple[str, List[Tuple[float, Optional[Estimate]]]]]:
    """For each variant that was run at other levels of the factor: its title, and levels and means."""
    return [
        (title, [(level, mean(variant, *point(factor, level))) for level in levels_of(factor)])
        for title, variant in every(samples)
        if any(samples.all(variant, factor, level) for level in FACTORS[factor].levels)
    ]


def factor_tables(samples: Samples, extent: str, load: str, what: str, mean: Mean, digits: int = 1) -> List[Table]:
    """A table of `what`, for each factor of a load."""
    found = []
    for name in factors_of(extent, load):
        lines = [(title, [text_of(value, digits) for _, value in at]) for title, at in sweeps(samples, name, mean)]
        if lines:
            columns = [level_text(name, level) for level in levels_of(name)]
            found.append(Table(f"{what}, by: {FACTORS[name].title}", columns, lines))
    return found


def figure(heading: str, chart: str) -> str:
    return f"<figure><figcaption>{escape(heading)}</figcaption>\n{chart}\n</figure>"


def factor_plots(samples: Samples, extent: str, load: str, what: str, unit: str, mean: Mean) -> List[str]:
    """A plot of `what`, for each factor of a load."""
    found = []
    for name in factors_of(extent, load):
        drawn = [plot.Line(title, [(level, value) for level, value in at if value is not None])
                 for title, at in sweeps(samples, name, mean)]  # fmt: skip
        found += factor_plot(name, what, unit, drawn)
    return found


def factor_plot(name: str, what: str, unit: str, drawn: List[plot.Line]) -> List[str]:
    """A plot of those lines that have several points, if there are any."""
    drawn = [line for line in drawn if len(line.points) > 1]
    if not drawn:
        return []
    factor = FACTORS[name]
    across = ", ".join(each for each in (factor.title, factor.unit) if each)
    return [figure(f"{what}, by: {factor.title}", plot.lines(factor.title, across, unit, drawn))]


def mean_of(samples: Samples, of: Figure) -> Mean:
    return lambda variant, factor, level: samples.mean(of, variant, factor, level)
