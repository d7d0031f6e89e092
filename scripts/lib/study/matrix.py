# SPDX-License-Identifier: Apache-2.0
"""The matrix of runs: for each load a central point, and one factor at a time that differs from it."""

import dataclasses
from typing import Dict, List, Tuple

from study.factors import FACTORS, Level
from study.loads import LOADS, faults, services
from study.variants import CROSSED, FLOOR, LADDER, ON_HOST, PORTS, VARIANTS, WITHOUT

PLATFORM = "scheduling"
KERNEL = "newest"  # the only one that has sched_ext


@dataclasses.dataclass(frozen=True)
class Run:
    """One run: a guest of its own. By the seed, its load begins at another time, or comes at other times."""

    load: str
    variant: str
    factor: str  # "" at the central point
    level: float
    seed: int
    size: Tuple[int, ...]  # as the load has it
    more: Tuple[str, ...] = ()  # KEY=VALUE of the platform file, which all runs of a study have

    def _level(self) -> Level:
        return FACTORS[self.factor].levels[self.level] if self.factor else Level()

    def values(self) -> Tuple[str, ...]:
        """What the platform file is overridden with: KEY=VALUE, in order. Of several values of a key, the last one counts."""
        every = (*LOADS[self.load].platform, *VARIANTS[self.variant].platform, *self._level().platform, *self.more)
        found = dict(each.split("=", 1) for each in every)
        return tuple(f"{key}={value}" for key, value in sorted(found.items()))

    def schedule(self) -> Tuple[str, ...]:
        return self._level().schedule

    def settings(self) -> Dict[str, float]:
        return dict(self._level().settings)


@dataclasses.dataclass(frozen=True)
class Part:
    """How much of the matrix is run of a load."""

    load: str
    seeds: int
    size: Tuple[int, ...]
    variants: Tuple[str, ...]  # at the central point
    factors: Tuple[str, ...] = ()
    swept: Tuple[str, ...] = ()  # the variants at the other levels of the factors

    def runs(self) -> List[Run]:
        points = [(variant, "", 0.0) for variant in self.variants]
        points += [
            (variant, factor, level)
            for factor in self.factors
            for level in FACTORS[factor].levels
            for variant in self.swept
        ]
        return [Run(self.load, *point, seed, self.size) for point in points for seed in range(self.seeds)]


ALL = tuple(VARIANTS)
ON_HOST_NAMES = tuple(each.name for each in ON_HOST)
# The whole ladder, to see what each step gains
RUNGS = (FLOOR.name, ON_HOST[1].name, *(each.name for each in LADDER), WITHOUT["agent_cached"].name, *(each.name for each in PORTS))
# Those of which throughput and latencies are compared
SERVING = (FLOOR.name, *(each.name for each in ON_HOST), LADDER[0].name, LADDER[-1].name, PORTS[1].name, PORTS[3].name)
PRESTAGED = (FLOOR.name, ON_HOST[1].name, LADDER[-1].name, PORTS[3].name)
# Without the floor, which knows no policy
SERVED_BY_AGENT, PRESTAGED_BY_AGENT = SERVING[1:], PRESTAGED[1:]
# Those that leave a CPU free which an agent on the host would need
OFF_HOST = tuple(name for name in SERVING if name not in ON_HOST_NAMES)
TRACED = (*SERVED_BY_AGENT, *(each.name for each in CROSSED))


def traced_parts(seeds: int, rounds: int, spin: int, moves: int) -> Tuple[Part, ...]:
    return (Part("traced-ping", seeds, (rounds,), TRACED), Part("traced-spin", seeds, (spin,), TRACED),
            Part("traced-move", seeds, (moves,), TRACED))  # fmt: skip


def fault_parts(seeds: int) -> Tuple[Part, ...]:
    return tuple(Part(each.name, seeds, (), each.variants) for each in faults.ALL)


def mixed_parts(seeds: int, size: Tuple[int, int], *factors: str) -> Tuple[Part, ...]:
    found = []
    for each in services.MIXED:
        # Under two policies with the same threads, the floor would do the same.
        variants = PRESTAGED_BY_AGENT if each is services.MIXED[-1] else PRESTAGED
        found.append(Part(each.name, seeds, size, variants, factors, variants))
    return tuple(found)


OF_MACHINES = ("link", "memory", "interrupt", "core")
# After that, the kernel has done what it puts off when a program starts: up to 22 ms later it takes 11 us, by swap ports 31 us.
WARM_UP = 30_000
STEADY = (WARM_UP, 1_000)
SHORT = (500, 4_000)  # 40 lie beyond p99
LONG = (1_000, 32_000)  # 32 lie beyond p99.9
EXTENTS: Dict[str, Tuple[Part, ...]] = {
    "whole": (
        Part("ping", 5, STEADY, ALL),
        Part("ping", 3, STEADY, (), ("link",), RUNGS),
        Part("ping", 5, STEADY, (), ("slice",), SERVING),
        Part("ping", 5, STEADY, (), ("spin-slice",), ON_HOST_NAMES),
        Part("ping", 1, STEADY, (), ("memory", "interrupt", "core", "rings"), SERVING),
        Part("ping", 2, STEADY, (), ("hits",), PRESTAGED_BY_AGENT),
        Part("requests", 10, SHORT, SERVING, ("churn", "link", "slice"), PRESTAGED),
        Part("requests", 10, SHORT, (), ("hits",), PRESTAGED_BY_AGENT),
        Part("requests", 3, LONG, (), ("rate",), PRESTAGED),
        Part("saturation", 3, (5_000, 500), ALL),
        Part("saturation", 1, (5_000, 500), (), (*OF_MACHINES, "workers"), PRESTAGED),
        Part("saturation", 3, (5_000, 500), (), ("slice",), PRESTAGED),
        Part("saturation", 3, (5_000, 500), (), ("cores",), OFF_HOST),
        Part("saturation-rocksdb", 2, (5_000, 500), SERVING),
        Part("requests-rocksdb", 2, SHORT, SERVING, ("rate",), PRESTAGED),
        Part("saturation-per-cpu", 2, (5_000, 500), SERVED_BY_AGENT),
        Part("requests-per-cpu", 2, SHORT, SERVED_BY_AGENT),
        Part("saturation-mixed", 2, (50_000, 1_000), PRESTAGED_BY_AGENT),
        *mixed_parts(2, (20_000, 80_000), "mixed-rate"),
        Part("vm", 2, (200_000,), SERVING),
        Part("vm", 2, (200_000,), (), ("tasks-cpus",), OFF_HOST),
        *traced_parts(3, 1_000, 3_000, 100),
        *fault_parts(2),
    ),
    "quick": (
        Part("ping", 3, (WARM_UP, 500), ALL),
        Part("ping", 1, (WARM_UP, 500), (), ("link",), SERVING),
        Part("saturation", 1, (5_000, 500), SERVING),
        Part("requests", 2, (500, 3_000), SERVING, ("churn",), PRESTAGED),
        Part("requests-rocksdb", 1, (500, 3_000), (FLOOR.name, LADDER[-1].name)),
        Part("requests-per-cpu", 1, (500, 3_000), (LADDER[-1].name,)),
        *(Part(each.name, 1, (10_000, 50_000), (LADDER[-1].name,)) for each in services.MIXED),
        Part("vm", 1, (100_000,), (FLOOR.name, ON_HOST[1].name, LADDER[-1].name)),
        *traced_parts(2, 300, 1_500, 25),
        *fault_parts(1),
    ),
    "smallest": (
        Part("ping", 1, (5_000, 100), (FLOOR.name, LADDER[3].name, LADDER[5].name)),
        Part("traced-ping", 1, (50,), (LADDER[5].name,)),
    ),
}  # fmt: skip


def runs(extent: str, more: Tuple[str, ...] = ()) -> List[Run]:
    """All runs, those of a machine together."""
    return [dataclasses.replace(run, more=more) for part in EXTENTS[extent] for run in part.runs()]
