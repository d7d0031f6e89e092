# SPDX-License-Identifier: Apache-2.0
"""The matrix of runs: for each load a central point, and one factor at a time that differs from it."""

import dataclasses
from typing import Dict, List, Tuple

from study.loads import LOADS, faults, services
from study.variants import CROSSED, FLOOR, LADDER, ON_HOST, PORTS, VARIANTS, WITHOUT

PLATFORM = "scheduling"
KERNEL = "newest"  # the only one that has sched_ext


@dataclasses.dataclass(frozen=True)
class Level:
    """How a run differs from one at the central point."""

    platform: Tuple[str, ...] = ()  # KEY=VALUE
    schedule: Tuple[str, ...] = ()  # options
    settings: Tuple[Tuple[str, float], ...] = ()  # of the load, by name


@dataclasses.dataclass(frozen=True)
class Factor:
    """A quantity, and its levels other than the central one."""

    title: str
    unit: str
    central: float
    levels: Dict[float, Level]


def link(one_way: int) -> Level:
    return Level(tuple(f"pcie_links[0].latency_{direction}={one_way}ns" for direction in ("down", "up")))


def platform(key: str, unit: str, *levels: float) -> Dict[float, Level]:
    return {level: Level((f"{key}={level:g}{unit}",)) for level in levels}


def setting(name: str, *levels: float) -> Dict[float, Level]:
    return {level: Level(settings=((name, level),)) for level in levels}


FACTORS = {
    "link": Factor("latency of the link, one way", "ns", 184, {latency: link(latency) for latency in (100, 500, 1000, 2000)}),
    "memory": Factor(
        "what the queues' memory adds to an access of the agent that its cache does not answer", "ns", 20,
        platform("ipus[0].endpoint.queue_function.memory_latency", "ns", 0, 90),
    ),
    "interrupt": Factor(
        "what an interrupt takes from the root complex to its processor", "ns", 1080,
        platform("hosts[0].root_complex.interrupt_latency", "ns", 0, 540),
    ),
    "core": Factor("rate of the agent's core", "GIPS", 2.5, platform("ipus[0].instruction_rate", "GIPS", 1, 5)),
    "rings": Factor("vCPUs of the host, each with a ring", "", 4, platform("hosts[0].vcpus", "", 2, 8)),
    "slice": Factor("how long a vCPU runs before a sibling does, which must not matter", "ns", 1000,
                    platform("simulation.vcpu_slice", "ns", 100)),
    "workers": Factor("CPUs of workers", "", 12, setting("workers", 2, 4, 8)),
    "cores": Factor("CPUs of workers, with the one that an agent on the host would need", "", 12, setting("workers", 13)),
    "rate": Factor("requests a second", "", 100_000, setting("rate", 200_000, 300_000, 400_000, 600_000, 800_000)),
    "mixed-rate": Factor("requests a second, 0.5 % of them RANGEs", "", 100_000, setting("rate", 50_000, 75_000, 125_000)),
    "tasks-cpus": Factor("CPUs of the tasks, with the one that an agent on the host would need", "", 3, setting("cpus", 4)),
    "hits": Factor(
        "share of prestaged decisions, of those that could be", "%", 100,
        {share: Level(schedule=(f"--prestage={share}%",)) for share in (0, 25, 50, 75)},
    ),
    "churn": Factor("changes of workers a second", "", 0, setting("churn", 1_000, 10_000, 100_000)),
}  # fmt: skip


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
        every = (*LOADS[self.load].platform, *self._level().platform, *VARIANTS[self.variant].platform, *self.more)
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
SWEPT = (FLOOR.name, *(each.name for each in ON_HOST), LADDER[0].name, LADDER[3].name, LADDER[4].name, LADDER[5].name,
         WITHOUT["agent_cached"].name, *(each.name for each in PORTS))  # fmt: skip
# Those of which throughput and latencies are compared
SERVING = (FLOOR.name, *(each.name for each in ON_HOST), LADDER[0].name, LADDER[-1].name, PORTS[1].name, PORTS[3].name)
PRESTAGED = (FLOOR.name, ON_HOST[1].name, LADDER[-1].name, PORTS[3].name)

# Those that are traced
TRACED = (*(each.name for each in ON_HOST), LADDER[0].name, LADDER[-1].name, PORTS[1].name, PORTS[3].name,
          *(each.name for each in CROSSED))  # fmt: skip


def traced_parts(seeds: int, rounds: int, spin: int, moves: int) -> Tuple[Part, ...]:
    return (Part("traced-ping", seeds, (rounds,), TRACED), Part("traced-spin", seeds, (spin,), TRACED),
            Part("traced-move", seeds, (moves,), TRACED))  # fmt: skip


def fault_parts(seeds: int) -> Tuple[Part, ...]:
    return tuple(Part(each.name, seeds, (), each.variants) for each in faults.ALL)


SERVED_BY_AGENT, PRESTAGED_BY_AGENT = SERVING[1:], PRESTAGED[1:]  # without the floor, which knows no policy


def mixed_parts(seeds: int, size: Tuple[int, int], *factors: str) -> Tuple[Part, ...]:
    found = []
    for each in services.MIXED:
        # Under two policies with the same threads, the floor would do the same.
        variants = PRESTAGED_BY_AGENT if each is services.MIXED[-1] else PRESTAGED
        found.append(Part(each.name, seeds, size, variants, factors, variants))
    return tuple(found)


LONG = (1_000, 32_000)  # so many that 30 lie beyond p99.9
OF_MACHINES = ("link", "memory", "interrupt", "core", "slice")
EXTENTS: Dict[str, Tuple[Part, ...]] = {
    "whole": (
        Part("ping", 10, (100, 1000), ALL),
        Part("ping", 2, (100, 1000), (), (*OF_MACHINES, "rings"), SWEPT),
        Part("ping", 2, (100, 1000), (), ("hits",), PRESTAGED[1:]),
        Part("saturation", 3, (10_000, 500), ALL),
        Part("saturation", 1, (10_000, 500), (), (*OF_MACHINES, "workers"), SERVING),
        Part("saturation", 3, (10_000, 500), (), ("cores",), tuple(name for name in SERVING if name not in ON_HOST_NAMES)),
        Part("requests", 3, LONG, SERVING, ("rate", "churn", "link"), PRESTAGED),
        Part("requests", 3, LONG, (), ("hits",), PRESTAGED_BY_AGENT),
        Part("saturation-rocksdb", 3, (10_000, 500), SERVING),
        Part("requests-rocksdb", 3, LONG, SERVING, ("rate",), PRESTAGED),
        Part("saturation-per-cpu", 3, (10_000, 500), SERVED_BY_AGENT),
        Part("requests-per-cpu", 3, LONG, SERVED_BY_AGENT),
        *mixed_parts(3, (20_000, 80_000), "mixed-rate"),
        Part("vm", 3, (200_000,), SERVING),
        Part("vm", 3, (200_000,), (), ("tasks-cpus",), tuple(name for name in SERVING if name not in ON_HOST_NAMES)),
        *traced_parts(5, 1_000, 3_000, 100),
        *fault_parts(5),
    ),
    "quick": (
        Part("ping", 3, (100, 500), ALL),
        Part("ping", 1, (100, 500), (), ("link",), SWEPT),
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
        Part("ping", 1, (20, 100), (FLOOR.name, LADDER[3].name, LADDER[5].name)),
        Part("traced-ping", 1, (50,), (LADDER[5].name,)),
    ),
}  # fmt: skip


def runs(extent: str, more: Tuple[str, ...] = ()) -> List[Run]:
    """All runs, those of a machine together."""
    return [dataclasses.replace(run, more=more) for part in EXTENTS[extent] for run in part.runs()]
