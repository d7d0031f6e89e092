# SPDX-License-Identifier: Apache-2.0
"""By how much a context switch grows with the latency of the link: how often it should wait for a crossing of the link, which
follows from the protocols alone, and the slope that was measured."""

import dataclasses
from typing import Dict, List, Tuple

from figures.table import Table

from study import rows
from study.chapters import cells
from study.chapters.cells import NOTHING, text_of
from study.chapters.published import time_of_switch
from study.chapters.switches import of_device, samples_of
from study.loads.ping import PING
from study.samples import Point, Samples
from study.variants import CROSSED, FLOOR, LADDER, ON_HOST, OPTIMISATIONS, PORTS, WITHOUT, Variant

FACTOR = "link"


@dataclasses.dataclass(frozen=True)
class Path:
    """What one switch waits for at the link. A read, a swap and a SEND each cross it twice. Nobody waits for a message of the
    queues, which is a posted write, nor for an interrupt that crosses the link beside a read."""

    reads: int = 0  # of the host's processor, one after the other; each swap and each SEND is one of them
    calls: int = 0  # crossings of messages and interrupts for which the CPU waits besides
    hidden: int = 0  # of all these crossings, those during which something else is done, as long as the link is short

    def long(self) -> int:
        return 2 * self.reads + self.calls

    def short(self) -> int:
        return self.long() - self.hidden


NOWHERE = Path()
# The CPU reads the number of its slot in vain, while the message that the task has blocked goes to the agent and the agent's
# interrupt comes back. After that it reads the number again, and then the five words of the decision one by one.
BY_WORDS = Path(reads=1 + 6)
ALL_ON = Path(reads=1, hidden=2)  # begins as the task stops, and ends while the kernel is on its way to the look
# A swap takes the decision. A SEND says that a task is woken, and another one that the task runs.
SWAPPED = Path(reads=1 + 2)

PATHS: Dict[str, Path] = {
    FLOOR.name: NOWHERE,
    **{each.name: NOWHERE for each in ON_HOST},
    **{each.name: BY_WORDS for each in LADDER[:3]},
    LADDER[3].name: Path(reads=1 + 1),  # each look is one read of a line
    LADDER[4].name: Path(reads=1 + 1, hidden=2),  # the second one begins in the interrupt's handler
    LADDER[5].name: ALL_ON,
    # The decision comes too late for the look, which is prefetched and in vain. Only then the CPU says that it idles, is
    # interrupted, and reads once more, prefetched again.
    WITHOUT["agent_cached"].name: Path(reads=1 + 1, calls=2, hidden=4),
    WITHOUT["write_combining"].name: ALL_ON,
    WITHOUT["write_through"].name: Path(reads=6),
    WITHOUT["prefetch_decisions"].name: Path(reads=1),
    # Sent: that a task is woken, that one has blocked, that the CPU idles, that a decision has ended, that a task runs. The agent
    # learns at the third crossing what was sent to it, so that its interrupt comes at the fourth. Meanwhile the CPU sends that
    # a task has blocked, swaps in vain, and sends that it idles: two crossings more, if the agent takes no longer than these.
    PORTS[0].name: Path(reads=5 + 2, hidden=2),
    # The swap in vain carries that a task has blocked, and the end of a decision comes with the message that its task runs.
    PORTS[1].name: Path(reads=3 + 2),
    PORTS[2].name: Path(reads=4 + 1),
    PORTS[3].name: SWAPPED,
    CROSSED[0].name: ALL_ON,
    CROSSED[1].name: ALL_ON,
    CROSSED[3].name: SWAPPED,
}


def run_at(samples: Samples, variant: str) -> List[float]:
    """The latencies at which there are runs that count."""
    return [level for level in cells.levels_of(FACTOR) if samples.valid(variant, *cells.point(FACTOR, level))]


def swept(samples: Samples) -> rows.Rows:
    return [(title, variant) for title, variant in cells.every(samples) if len(run_at(samples, variant)) > 1]


def slopes(samples: Samples, of, variants: List[str]) -> List[str]:
    """By least squares over all latencies at which all these variants were run, and between neighbours of all latencies."""
    levels = [level for level in cells.levels_of(FACTOR) if all(level in run_at(samples, each) for each in variants)]
    points: Dict[float, List[Point]] = {
        level: [(each, *cells.point(FACTOR, level)) for each in variants] for level in levels
    }
    found = [text_of(samples.slope(of, points), 2)]
    for pair in neighbours():
        known = all(level in points for level in pair)
        found.append(text_of(samples.slope(of, {level: points[level] for level in pair}), 2) if known else NOTHING)
    return found


def neighbours() -> List[Tuple[float, float]]:
    levels = cells.levels_of(FACTOR)
    return list(zip(levels, levels[1:]))


def slope_columns() -> List[str]:
    return ["slope, all latencies", *(f"{low:,g} to {cells.level_text(FACTOR, high)}" for low, high in neighbours())]


def slope_table(samples: Samples) -> Table:
    lines = []
    for title, variant in swept(samples):
        path = PATHS.get(variant)
        told = [NOTHING] * 3 if path is None else [str(path.reads), str(path.short()), str(path.long())]
        counted = [samples.mean(of_device(name), variant) for name in ("reads", "interrupts")]
        texts = [NOTHING if each is None else f"{each.mean:.2f}" for each in counted]
        lines.append((title, [told[0], *texts, *told[1:], *slopes(samples, time_of_switch, [variant])]))
    return Table(
        "How a context switch grows with the latency of the link, in ns for each ns one way",
        ["reads", "counted", "interrupts", "crossings, short link", "long link", *slope_columns()],
        lines,
        [
            "Reads and crossings follow from the protocols, not from runs: a read, a swap or a SEND crosses the link twice. As long as",
            "the link is short, the kernel or the agent works while some are under way. Reads and interrupts for a switch are counted",
            "at the central point. Of the reads, less than half a read for a switch belongs to the boot, and to the agent's start and",
            "end. Slopes are by least squares over the runs of each seed.",
        ],
    )


def steps(samples: Samples) -> List[Tuple[str, Variant, Variant]]:
    """Of those that were run at several latencies: a title, and what is without and with it."""
    there = {variant for _, variant in swept(samples)}
    lengths = [length for length, variant in enumerate(LADDER) if variant.name in there]
    names = list(OPTIMISATIONS)
    found = [(", ".join(names[low:high]), LADDER[low], LADDER[high]) for low, high in zip(lengths, lengths[1:])]
    found += [(f"{name}, as the last", variant, LADDER[-1]) for name, variant in WITHOUT.items() if variant != LADDER[-2]]
    found += [
        ("swap ports: events come with others", PORTS[0], PORTS[1]),
        ("swap ports: prestage", PORTS[1], PORTS[3]),
        ("swap ports, prestage: events come with others", PORTS[2], PORTS[3]),
        ("queues, all, instead of swap ports, prestage", PORTS[3], LADDER[-1]),
    ]
    return [(title, without, with_it) for title, without, with_it in found if {without.name, with_it.name} <= there]


def gain_table(samples: Samples) -> Table:
    lines = []
    for title, without, with_it in steps(samples):
        told = [NOTHING] * 2
        if without.name in PATHS and with_it.name in PATHS:
            saved = (PATHS[without.name], PATHS[with_it.name])
            told = [str(saved[0].short() - saved[1].short()), str(saved[0].long() - saved[1].long())]
        measured = slopes(samples, lambda one, other: time_of_switch(one) - time_of_switch(other), [without.name, with_it.name])
        lines.append((title, [*told, *measured]))
    return Table(
        "How what is saved of a context switch grows with the latency of the link, in ns for each ns one way",
        ["crossings saved, short link", "long link", *slope_columns()], lines,
        ["The differences of the table above, and slopes of the differences of runs of the same seed."],
    )  # fmt: skip


def tables(document: dict) -> List[Table]:
    if FACTOR not in cells.factors_of(document["extent"], PING.name):
        return []
    samples = samples_of(document)
    return [slope_table(samples), gain_table(samples)]


def plots(_: dict) -> List[str]:
    return []
