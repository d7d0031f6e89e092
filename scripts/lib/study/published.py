# SPDX-License-Identifier: Apache-2.0
"""Published figures of Wave (Humphries et al., ASPLOS 2025), and what is simulated of them."""

import dataclasses
from typing import Callable, List, Optional

from study.estimate import Estimate
from study.samples import Samples
from study.variants import FLOOR, LADDER, ON_HOST

NONE, ALL = LADDER[0].name, LADDER[-1].name
HOST, HOST_PRESTAGED = (each.name for each in ON_HOST)
REQUEST = 10_000  # ns of service of a GET


@dataclasses.dataclass(frozen=True)
class Row:
    """A published figure from `low` to `high`, and the function that takes the simulated one from samples, if there is one."""

    title: str
    unit: str
    low: float
    high: float
    fitted: str  # what was fitted to it
    simulated: Optional[Callable[[Samples], Optional[Estimate]]] = None

    def published(self) -> str:
        ends = [f"{end:,.10g}" for end in dict.fromkeys((self.low, self.high))]
        return " to ".join(ends) + f" {self.unit}"

    def ratio(self, found: Estimate) -> str:
        """Simulated by published, of both ends of a range."""
        ratios = sorted({found.mean / end for end in (self.low, self.high)})
        return " to ".join(f"{each:.2f}" for each in ratios)


def time(samples: Samples, variant: str) -> Optional[Estimate]:
    return samples.mean(lambda result: result["ns"] / result["switches"], variant)


def slower(samples: Samples, than: str) -> Optional[Estimate]:
    """How much longer, in percent, a worker takes for a request and a switch than with an agent on the host."""
    return samples.paired(lambda mine, its: 100 * ((REQUEST + mine) / (REQUEST + its) - 1), ALL, than)


ROWS: List[Row] = [
    Row("host's read of the device", "ns", 750, 750, "the link's latencies",
        lambda samples: samples.mean(lambda result: result["read_ns"], ALL)),
    Row("context switch, no optimisation", "ns", 13_300, 13_300, "nothing", lambda samples: time(samples, NONE)),
    Row("context switch, all optimisations", "ns", 3_300, 4_000, "nothing", lambda samples: time(samples, ALL)),
    Row("what all optimisations save", "ns", 9_300, 10_000, "nothing", lambda samples: samples.difference(NONE, ALL)),
    Row("no optimisation, more than the fair class", "ns", 13_300, 13_300, "nothing",
        lambda samples: samples.difference(NONE, FLOOR.name)),
    Row("all optimisations, more than the fair class", "ns", 3_300, 4_000, "nothing",
        lambda samples: samples.difference(ALL, FLOOR.name)),
    Row("FIFO, slower than on the host, requests of 10 us", "%", 1.1, 7.4, "nothing; by arithmetic from switches",
        lambda samples: slower(samples, HOST_PRESTAGED)),
    Row("RocksDB, no optimisation", "K requests/s", 258, 258, ""),
    Row("RocksDB, all optimisations", "K requests/s", 895, 895, ""),
]  # fmt: skip
