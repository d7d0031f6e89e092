# SPDX-License-Identifier: Apache-2.0
"""Results of benchmarks, the goals for them, and their table."""

import dataclasses
from typing import Optional

# What a goal limits: the ratio of what was measured to its baseline, the difference of the two, or what was measured.
RATIO, EXCESS, VALUE = "ratio", "excess", "value"


@dataclasses.dataclass(frozen=True)
class Goal:
    """A limit. Mostly it is for the ratio, so that it means the same on every machine."""

    limit: float
    more_is_better: bool
    of: str = RATIO


def at_least(limit: float, of: str = RATIO) -> Goal:
    return Goal(limit, True, of)


def at_most(limit: float, of: str = RATIO) -> Goal:
    return Goal(limit, False, of)


@dataclasses.dataclass
class Result:
    value: float
    baseline: float
    unit: str
    baseline_unit: str
    baseline_name: str
    goal: Optional[Goal] = None

    @property
    def ratio(self) -> float:
        return self.value / self.baseline

    @property
    def judged(self) -> float:
        """What the goal limits."""
        of = self.goal.of if self.goal else RATIO
        return {RATIO: self.ratio, EXCESS: self.value - self.baseline, VALUE: self.value}[of]

    @property
    def met(self) -> Optional[bool]:
        """Whether the goal is met, if there is one."""
        if self.goal is None:
            return None
        return self.judged >= self.goal.limit if self.goal.more_is_better else self.judged <= self.goal.limit


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _row(name: str, measured: str, against: str, judged: str, goal: str, verdict: str) -> str:
    return f"{name:10}{measured:>20}  {against:56}{judged:>10}  {goal:26}{verdict}".rstrip()


HEAD = _row("", "measured", "against", "result", "goal", "")


def line(name: str, result: Result) -> str:
    """The row of the table."""
    goal, judged, verdict = "", number(result.judged), ""
    if result.goal:
        unit = {RATIO: "", EXCESS: f" {result.unit} more", VALUE: f" {result.unit}"}[result.goal.of]
        goal = f"at {'least' if result.goal.more_is_better else 'most'} {number(result.goal.limit)}{unit}"
        verdict = "met" if result.met else "NOT MET"
    against = f"{number(result.baseline)} {result.baseline_unit} {result.baseline_name}"
    return _row(name, f"{number(result.value)} {result.unit}", against, judged, goal, verdict)
