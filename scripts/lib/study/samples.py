# SPDX-License-Identifier: Apache-2.0
"""The results of a document by variant and point of the matrix, and what is computed from several of them."""

import statistics
from typing import Callable, Dict, List, Optional, Tuple

from study.estimate import Estimate, estimate

Point = Tuple[str, str, float]  # variant, factor, level
Figure = Callable[[dict], float]  # of a result


def decided(result: dict) -> bool:
    """Whether the agent has decided all the time. Otherwise the watchdog has had tasks take turns."""
    return not result.get("fallbacks", 0)


class Samples:
    """The results of a load."""

    def __init__(self, document: dict, load: str):
        self._by_point: Dict[Point, Dict[int, dict]] = {}
        for run in document["runs"]:
            if run["load"] == load:
                point = (run["variant"], run["factor"], run["level"])
                self._by_point.setdefault(point, {})[run["seed"]] = run["result"]

    def all(self, variant: str, factor: str = "", level: float = 0.0) -> List[dict]:
        return list(self._by_point.get((variant, factor, level), {}).values())

    def valid(self, variant: str, factor: str = "", level: float = 0.0) -> Dict[int, dict]:
        """The results by seed, without those of runs in which the watchdog has acted."""
        found = self._by_point.get((variant, factor, level), {})
        return {seed: result for seed, result in found.items() if decided(result)}

    def counted(self, variant: str, factor: str = "", level: float = 0.0) -> str:
        """How many of the runs count."""
        return f"{len(self.valid(variant, factor, level))} of {len(self.all(variant, factor, level))}"

    def mean(self, of: Figure, variant: str, factor: str = "", level: float = 0.0) -> Optional[Estimate]:
        values = [of(result) for result in self.valid(variant, factor, level).values()]
        return estimate(values) if values else None

    def across(self, of: Callable[..., float], *points: Point) -> Optional[Estimate]:
        """`of` the results of several points, by seed."""
        first, *others = [self.valid(*point) for point in points]
        values = [of(found, *(other[seed] for other in others))
                  for seed, found in first.items() if all(seed in other for other in others)]  # fmt: skip
        return estimate(values) if values else None

    def paired(
        self, of: Callable[[dict, dict], float], one: str, other: str, factor: str = "", level: float = 0.0
    ) -> Optional[Estimate]:
        """`of` the results of two variants, by seed."""
        return self.across(of, (one, factor, level), (other, factor, level))

    def difference(self, of: Figure, one: str, other: str, factor: str = "", level: float = 0.0) -> Optional[Estimate]:
        """How much more `of` one is than that of the other one, by seed."""
        return self.paired(lambda mine, its: of(mine) - of(its), one, other, factor, level)

    def slope(self, of: Callable[..., float], at: Dict[float, List[Point]]) -> Optional[Estimate]:
        """How `of` the results of points grows with a quantity, by whose values the points are given: the slope of the least
        squares of each seed that all points have."""
        results = {value: [self.valid(*point) for point in points] for value, points in at.items()}
        found: List[Dict[int, dict]] = [of_point for points in results.values() for of_point in points]
        seeds = [seed for seed in found[0] if all(seed in of_point for of_point in found)] if len(at) > 1 else []
        slopes = [
            statistics.linear_regression(
                list(results), [of(*(of_point[seed] for of_point in points)) for points in results.values()]
            ).slope
            for seed in seeds
        ]
        return estimate(slopes) if slopes else None
