# SPDX-License-Identifier: Apache-2.0
"""Context switches: their time, and what crosses the link for them."""

from typing import Callable, List, Tuple

from figures.table import Table

from study import plot, rows
from study.chapters import cells
from study.chapters.cells import NOTHING, text_of
from study.chapters.published import ALL, NONE, band, time_of_switch
from study.loads.ping import CPU, PING
from study.samples import Figure, Samples


def samples_of(document: dict) -> Samples:
    return Samples(document, PING.name)


def switch_table(samples: Samples) -> Table:
    found, before = [], None
    for title, variant in cells.known(samples, [*rows.BASELINES, *rows.STEPS, *rows.OTHERS]):
        is_step = (title, variant) in rows.STEPS
        step = samples.difference(time_of_switch, variant, before) if before and is_step else None
        over = samples.difference(time_of_switch, variant, rows.FLOOR_NAME) if variant != rows.FLOOR_NAME else None
        texts = [text_of(samples.mean(time_of_switch, variant)), text_of(over), text_of(step)]
        found.append((title, [*texts, samples.counted(variant)]))
        before = variant if is_step else None
    return Table(
        "Time of a context switch between two tasks that wake each other on one CPU, ns",
        ["a switch", "more than the floor", "more than the row above", "runs that count"],
        found,
        [
            f"CPU {CPU} runs the tasks. Mean and confidence interval of 95 % over the runs, which begin at other times; differences",
            "are of runs that begin at the same time. A run does not count if its watchdog had tasks take turns without the agent.",
        ],
    )


def removed_table(samples: Samples) -> Table:
    found = []
    for title, variant in cells.known(samples, rows.REMOVED):
        more = samples.difference(time_of_switch, variant, rows.ALL)
        found.append((title, [text_of(samples.mean(time_of_switch, variant)), text_of(more), samples.counted(variant)]))
    return Table("Each optimisation removed singly, ns", ["a switch", "more than with all", "runs that count"], found)


def share(part: str, of: str) -> Figure:
    return lambda result: 100 * result[of].get(part, 0) / max(1, sum(result[of].values()))


def of_device(name: str) -> Figure:
    return lambda result: result["device"][name] / result["all_switches"]


def read_time(result: dict) -> float:
    return of_device("reads")(result) * result["read_ns"]


COUNTS: List[Tuple[str, Callable[[dict], float], int]] = [
    ("reads", of_device("reads"), 2),
    ("these take, ns", read_time, 0),
    ("writes", of_device("writes"), 2),
    ("interrupts", of_device("interrupts"), 2),
    ("bytes down", of_device("bytes_down"), 0),
    ("bytes up", of_device("bytes_up"), 0),
    ("messages", lambda result: result["messages"] / result["all_switches"], 2),
    ("prestaged, %", share("PRESTAGE", "decisions"), 1),
    ("refused, %", lambda result: 100 - share("COMPLETE", "outcomes")(result), 2),
]


def counts_table(samples: Samples) -> Table:
    found = []
    for title, variant in cells.every(samples):
        if variant == rows.FLOOR_NAME:
            continue
        means = [(samples.mean(of, variant), digits) for _, of, digits in COUNTS]
        found.append((title, [NOTHING if one is None else f"{one.mean:,.{digits}f}" for one, digits in means]))
    return Table(
        "What crosses the link for a switch, and what became of decisions; means",
        [name for name, _, _ in COUNTS],
        found,
        [
            "With those of the boot, and with what starts and ends agent and load: 390 to 490 reads in all. Bytes are on the wire.",
            "A read that was prefetched is waited for only as far as it is still under way.",
        ],
    )


def tables(document: dict) -> List[Table]:
    samples = samples_of(document)
    found = [switch_table(samples), removed_table(samples), counts_table(samples)]
    mean = cells.mean_of(samples, time_of_switch)
    return found + cells.factor_tables(samples, document["extent"], PING.name, "Time of a context switch, ns", mean)


def ladder_plot(samples: Samples) -> List[str]:
    bands = {NONE: band("context switch, no optimisation"), ALL: band("context switch, all optimisations")}
    bars = [plot.Bar(title, samples.mean(time_of_switch, variant), bands.get(variant))
            for title, variant in cells.every(samples)]  # fmt: skip
    heading = "Time of a context switch, ns; yellow: published; lines: confidence interval of 95 %"
    return [cells.figure(heading, plot.bars(heading, bars))] if bars else []


def plots(document: dict) -> List[str]:
    samples = samples_of(document)
    mean = cells.mean_of(samples, time_of_switch)
    return ladder_plot(samples) + cells.factor_plots(
        samples, document["extent"], PING.name, "Time of a context switch, ns", "ns", mean)  # fmt: skip
