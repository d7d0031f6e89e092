# SPDX-License-Identifier: Apache-2.0
"""The factors of a study: quantities by which a run can differ from one at the central point, and their levels."""

import dataclasses
from typing import Dict, Tuple

from study.variants import SPIN_SLICE


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
    "spin-slice": Factor(
        "how long a vCPU runs before a sibling does while an agent on the host spins, which must not matter", "ns", SPIN_SLICE,
        platform("simulation.spin_slice", "ns", 10),
    ),
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
