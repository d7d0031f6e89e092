# SPDX-License-Identifier: Apache-2.0
"""The results of a document by variant and point of the matrix, and what is computed from several of them."""

from typing import Callable, Dict, List, Optional, Tuple

from study.estimate import Estimate, estimate

Point = Tuple[str, str, float]  # variant, factor, level


def time_of_switch(result: dict) -> float:
    return result["ns"] / result["switches"]


def decided(result: dict) -> bool:
    """Whether the agent has decided all the time. Otherwise the watchdog has had tasks take turns."""
    return not result.get("fallbacks", 0)


class Samples:
    def __init__(self, document: dict):
        self._by_point: Dict[Point, Dict[int, dict]] = {}
        for run in document["runs"]:
            point = (run["variant"], run["factor"], run["level"])
            self._by_point.setdefault(point, {})[run["seed"]] = run["result"]

    def all(self, variant: str, factor: str = "", level: float = 0.0) -> List[dict]:
        return list(self._by_point.get((variant, factor, level), {}).values())

    def valid(self, variant: str, factor: str = "", level: float = 0.0) -> Dict[int, dict]:
        """The results by seed, without those of runs in which the watchdog has acted."""
        found = self._by_point.get((variant, factor, level), {})
        return {seed: result for seed, result in found.items() if decided(result)}

    def fallen_back(self, variant: str, factor: str = "", level: float = 0.0) -> int:
        return sum(not decided(result) for result in self.all(variant, factor, level))

    def mean(self, of: Callable[[dict], float], variant: str, factor: str = "", level: float = 0.0) -> Optional[Estimate]:
        values = [of(result) for result in self.valid(variant, factor, level).values()]
        return estimate(values) if values else None

    def paired(
        self, of: Callable[[float, float], float], one: str, other: str, factor: str = "", level: float = 0.0
    ) -> Optional[Estimate]:
        """`of` the times of a switch of two variants, by seed."""
        ones, others = self.valid(one, factor, level), self.valid(other, factor, level)
        values = [of(time_of_switch(ones[seed]), time_of_switch(others[seed])) for seed in ones if seed in others]
        return estimate(values) if values else None

    def difference(self, one: str, other: str, factor: str = "", level: float = 0.0) -> Optional[Estimate]:
        return self.paired(lambda mine, its: mine - its, one, other, factor, level)
