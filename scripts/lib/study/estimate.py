# SPDX-License-Identifier: Apache-2.0
"""Means with confidence intervals."""

import dataclasses
import math
import statistics
from typing import List

# Student's t, two-sided 95 %, by degrees of freedom from 1; more than 30 count as 30.
QUANTILES = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
             2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A mean, and half of its confidence interval of 95 %; infinite for one value."""

    mean: float
    half: float
    count: int

    def text(self, digits: int = 0) -> str:
        half = f" ± {self.half:,.{digits}f}" if math.isfinite(self.half) else " (one run)"
        return f"{self.mean:z,.{digits}f}{half}"


def estimate(values: List[float]) -> Estimate:
    mean = statistics.fmean(values)
    if len(values) == 1:
        return Estimate(mean, math.inf, 1)
    quantile = QUANTILES[min(len(values) - 1, len(QUANTILES)) - 1]
    return Estimate(mean, quantile * statistics.stdev(values) / math.sqrt(len(values)), len(values))
