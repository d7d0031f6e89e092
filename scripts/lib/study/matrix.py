# SPDX-License-Identifier: Apache-2.0
"""The matrix of runs: a central point, and one factor at a time that differs from it."""

import dataclasses
from typing import Dict, List, Tuple

from study.variants import FLOOR, LADDER, ON_HOST, PORTS, VARIANTS, WITHOUT

PLATFORM = "scheduling"
KERNEL = "newest"  # the only one that has sched_ext
CENTRAL = ("hosts[0].vcpus=4",)  # besides what the platform file says
POLICY = "fifo-central"


@dataclasses.dataclass(frozen=True)
class Factor:
    """A quantity, and the platform's values for each level of it."""

    title: str
    unit: str
    central: float  # its level at the central point
    levels: Dict[float, Tuple[str, ...]]


def link(one_way: int) -> Tuple[str, ...]:
    return tuple(f"pcie_links[0].latency_{direction}={one_way}ns" for direction in ("down", "up"))


FACTORS = {
    "link": Factor("latency of the link, one way", "ns", 184, {latency: link(latency) for latency in (50, 500, 1000)}),
    "memory": Factor(
        "what the queues' memory adds to an access of the agent that its cache does not answer", "ns", 90,
        {added: (f"ipus[0].endpoint.queue_function.memory_latency={added}ns",) for added in (0, 300)},
    ),
    "interrupt": Factor(
        "what an interrupt takes from the root complex to its processor", "ns", 1080,
        {latency: (f"hosts[0].root_complex.interrupt_latency={latency}ns",) for latency in (0, 540)},
    ),
    "core": Factor(
        "rate of the agent's core", "GIPS", 2.5, {rate: (f"ipus[0].instruction_rate={rate}GIPS",) for rate in (1, 5)},
    ),
    "rings": Factor("vCPUs of the host, each with a ring", "", 4, {vcpus: (f"hosts[0].vcpus={vcpus}",) for vcpus in (2, 8)}),
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Run:
    """One run: a guest of its own. By the seed its load begins at another time."""

    variant: str
    factor: str  # "" at the central point
    level: float
    seed: int
    warm_up: int  # rounds of `ping` that do not count
    rounds: int  # of which the time counts

    def values(self) -> Tuple[str, ...]:
        """What the platform file is overridden with: KEY=VALUE, in order. Of several values of a key, the last one counts."""
        of_factor = FACTORS[self.factor].levels[self.level] if self.factor else ()
        found = dict(each.split("=", 1) for each in (*CENTRAL, *of_factor, *VARIANTS[self.variant].platform))
        return tuple(f"{key}={value}" for key, value in sorted(found.items()))

    def shift(self) -> int:
        """How often a loop of the shell turns before the load. It moves the load against the host's tick of 4 ms, by some
        400 us for each seed. A sleep would not do so, since it ends at a tick."""
        return 151 * self.seed


@dataclasses.dataclass(frozen=True)
class Extent:
    """How much of the matrix is run."""

    seeds: int
    warm_up: int
    rounds: int
    variants: Tuple[str, ...]  # at the central point
    factors: Tuple[str, ...]
    swept: Tuple[str, ...] = ()  # the variants at the other levels of the factors


ALL = tuple(VARIANTS)
SWEPT = (FLOOR.name, *(each.name for each in ON_HOST), LADDER[0].name, LADDER[3].name, LADDER[4].name, LADDER[5].name,
         WITHOUT["agent_cached"].name, *(each.name for each in PORTS))  # fmt: skip

EXTENTS = {
    "whole": Extent(10, 100, 1000, ALL, tuple(FACTORS), SWEPT),
    "quick": Extent(3, 100, 500, ALL, ("link",), SWEPT),
    "smallest": Extent(1, 20, 100, (FLOOR.name, LADDER[3].name, LADDER[5].name), ()),
}


def runs(extent: Extent) -> List[Run]:
    """All runs, those of a machine together."""
    points = [(variant, "", 0.0) for variant in extent.variants]
    points += [
        (variant, factor, level)
        for factor in extent.factors
        for level in FACTORS[factor].levels
        for variant in extent.swept
    ]
    return [Run(*point, seed, extent.warm_up, extent.rounds) for point in points for seed in range(extent.seeds)]
