# SPDX-License-Identifier: Apache-2.0
"""Published figures of Wave (Humphries et al., ASPLOS 2025), and what is simulated of them."""

import dataclasses
from typing import Callable, List, Optional, Tuple

from figures.table import Table

from study.chapters.cells import NOTHING
from study.estimate import Estimate
from study.samples import Samples
from study.variants import FLOOR, LADDER, ON_HOST

NONE, ALL = LADDER[0].name, LADDER[-1].name
HOST, HOST_PRESTAGED = (each.name for each in ON_HOST)
REQUEST = 10_000  # ns of service of a GET


@dataclasses.dataclass(frozen=True)
class Found:
    """The results from which rows are taken, by load."""

    ping: Samples
    saturation: Samples
    mixed: Samples
    traced: Samples


@dataclasses.dataclass(frozen=True)
class Row:
    """A published figure from `low` to `high`, and the function that takes the simulated one from the results."""

    title: str
    unit: str
    low: float
    high: float
    fitted: str  # what was fitted to it
    simulated: Callable[[Found], Optional[Estimate]]

    def published(self) -> str:
        ends = [f"{end:,.10g}" for end in dict.fromkeys((self.low, self.high))]
        return " to ".join(ends) + f" {self.unit}"

    def ratio(self, found: Estimate) -> str:
        """Simulated by published, of both ends of a range."""
        ratios = sorted({found.mean / end for end in (self.low, self.high)})
        return " to ".join(f"{each:.2f}" for each in ratios)


def time_of_switch(result: dict) -> float:
    return result["ns"] / result["switches"]


def time(variant: str) -> Callable[[Found], Optional[Estimate]]:
    return lambda found: found.ping.mean(time_of_switch, variant)


def more(variant: str, than: str) -> Callable[[Found], Optional[Estimate]]:
    return lambda found: found.ping.difference(time_of_switch, variant, than)


def traced(variant: str) -> Callable[[Found], Optional[Estimate]]:
    return lambda found: found.traced.mean(lambda result: result["switches"]["stamped"]["whole"]["mean"], variant)


def slower(found: Found) -> Optional[Estimate]:
    """How much longer, in percent, a worker takes for a request and a switch than with an agent on the host."""
    return found.ping.paired(
        lambda mine, its: 100 * ((REQUEST + time_of_switch(mine)) / (REQUEST + time_of_switch(its)) - 1), ALL, HOST_PRESTAGED)  # fmt: skip


def thousands(result: dict) -> float:
    return result["rate"] / 1000


def rate(variant: str) -> Callable[[Found], Optional[Estimate]]:
    return lambda found: found.saturation.mean(thousands, variant)


def gain(found: Found) -> Optional[Estimate]:
    return found.saturation.paired(lambda mine, its: mine["rate"] / its["rate"], ALL, NONE)


def lost(samples: Samples) -> Optional[Estimate]:
    """How much less, in percent, is served than with an agent on the host."""
    return samples.paired(lambda mine, its: 100 * (1 - mine["rate"] / its["rate"]), ALL, HOST_PRESTAGED)


ROWS: List[Row] = [
    Row("host's read of the device", "ns", 750, 750, "the link's latencies",
        lambda found: found.ping.mean(lambda result: result["read_ns"], ALL)),
    Row("context switch, no optimisation", "ns", 13_300, 13_300, "nothing", time(NONE)),
    Row("context switch, all optimisations", "ns", 3_300, 4_000, "nothing", time(ALL)),
    Row("what all optimisations save", "ns", 9_300, 10_000, "nothing", more(NONE, ALL)),
    Row("no optimisation, more than the fair class", "ns", 13_300, 13_300, "nothing", more(NONE, FLOOR.name)),
    Row("all optimisations, more than the fair class", "ns", 3_300, 4_000, "nothing", more(ALL, FLOOR.name)),
    Row("from instruction to instruction, no optimisation", "ns", 13_300, 13_300, "nothing", traced(NONE)),
    Row("from instruction to instruction, all optimisations", "ns", 3_300, 4_000, "nothing", traced(ALL)),
    Row("FIFO, slower than on the host, requests of 10 us", "%", 1.1, 7.4, "nothing; by arithmetic from switches", slower),
    Row("requests served, no optimisation", "K/s", 258, 258, "workers; memory latency", rate(NONE)),
    Row("requests served, all optimisations", "K/s", 895, 895, "workers", rate(ALL)),
    Row("all by none", "times", 3.47, 3.47, "nothing", gain),
    Row("all optimisations, fewer than on the host", "%", 1.1, 7.4, "nothing", lambda found: lost(found.saturation)),
    Row("the same, Shinjuku among RANGEs", "%", 1.1, 7.4, "nothing", lambda found: lost(found.mixed)),
]  # fmt: skip


def band(title: str) -> Tuple[float, float]:
    """What is published in the row of this title, from the lowest to the highest figure."""
    (found,) = [(row.low, row.high) for row in ROWS if row.title == title]
    return found


def texts(row: Row, found: Found) -> List[str]:
    simulated = row.simulated(found)
    if simulated is None:
        return [row.published(), "no run counts", NOTHING, row.fitted]
    return [row.published(), f"{simulated.text(1)} {row.unit}", row.ratio(simulated), row.fitted]


def tables(document: dict) -> List[Table]:
    loads = ("ping", "saturation", "saturation-mixed", "traced-ping")
    found = Found(*(Samples(document, load) for load in loads))
    return [
        Table(
            "Published and simulated",
            ["published", "simulated", "ratio", "fitted to it"],
            [(row.title, texts(row, found)) for row in ROWS],
            [
                "A switch here is all from one task's wake-up of the other and its wait to the other's return from its own wait. No",
                "source says whether the published figures are that, or what the agent adds to it: both are shown. The third way to see",
                "it is from the last instruction of the task that waits to the first of the other one, as they have it. FIFO: 10 us and",
                "a switch, by the same with the agent on the host, both with prestage. Requests served: the highest rate at which",
                "99 % of GETs of 10 us are answered within 200 us.",
            ],
        )
    ]


def plots(_: dict) -> List[str]:
    return []
