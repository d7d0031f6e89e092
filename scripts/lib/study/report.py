# SPDX-License-Identifier: Apache-2.0
"""The tables of a study, from its document."""

from typing import Callable, List, Optional, Tuple

from figures_table import Table

from study import rows
from study.estimate import Estimate
from study.matrix import CENTRAL, EXTENTS, FACTORS, PLATFORM
from study.published import ROWS, Row
from study.samples import Samples, time_of_switch

NOTHING = "-"


def text_of(found: Optional[Estimate]) -> str:
    return NOTHING if found is None else found.text(1)


def known(samples: Samples, wanted: rows.Rows) -> rows.Rows:
    return [(title, variant) for title, variant in wanted if samples.all(variant)]


def every(samples: Samples) -> rows.Rows:
    """The rows of all variants. One that has two rows is in the first one only."""
    wanted = known(samples, [*rows.BASELINES, *rows.STEPS, *rows.OTHERS, *rows.REMOVED])
    by_variant = {variant: title for title, variant in reversed(wanted)}
    return [(title, variant) for title, variant in wanted if by_variant[variant] == title]


def switch_table(samples: Samples) -> Table:
    found, before = [], None
    for title, variant in known(samples, [*rows.BASELINES, *rows.STEPS, *rows.OTHERS]):
        is_step = (title, variant) in rows.STEPS
        step = samples.difference(variant, before) if before and is_step else None
        over = samples.difference(variant, rows.FLOOR_NAME) if variant != rows.FLOOR_NAME else None
        texts = [text_of(samples.mean(time_of_switch, variant)), text_of(over), text_of(step)]
        found.append((title, [*texts, f"{len(samples.valid(variant))} of {len(samples.all(variant))}"]))
        before = variant if is_step else None
    return Table(
        "Time of a context switch between two tasks that wake each other on one CPU, ns",
        ["a switch", "more than the floor", "more than the row above", "runs that count"],
        found,
        [
            "Mean and confidence interval of 95 % over the runs, which begin at other times; differences are of runs that",
            "begin at the same time. A run does not count if its watchdog had tasks take turns without the agent.",
        ],
    )


def removed_table(samples: Samples) -> Table:
    found = []
    for title, variant in known(samples, rows.REMOVED):
        more = samples.difference(variant, rows.ALL)
        count = f"{len(samples.valid(variant))} of {len(samples.all(variant))}"
        found.append((title, [text_of(samples.mean(time_of_switch, variant)), text_of(more), count]))
    return Table("Each optimisation removed singly, ns", ["a switch", "more than with all", "runs that count"], found)


def published_table(samples: Samples) -> Table:
    return Table(
        "Published and simulated",
        ["published", "simulated", "ratio", "fitted to it"],
        [(row.title, published_texts(row, samples)) for row in ROWS],
        [
            "A switch here is all from one task's wake-up of the other and its wait to the other's return from its own wait. No",
            "source says whether the published figures are that, or what the agent adds to it: both are shown. FIFO: 10 us and",
            "a switch, by the same with the agent on the host, both with prestage.",
        ],
    )


def published_texts(row: Row, samples: Samples) -> List[str]:
    if row.simulated is None:
        return [row.published(), "not simulated: the workload is missing", NOTHING, NOTHING]
    found = row.simulated(samples)
    if found is None:
        return [row.published(), "no run counts", NOTHING, row.fitted]
    return [row.published(), f"{found.text(1)} {row.unit}", row.ratio(found), row.fitted]


def share(part: str, of: str) -> Callable[[dict], float]:
    return lambda result: 100 * result[of].get(part, 0) / max(1, sum(result[of].values()))


def of_device(name: str) -> Callable[[dict], float]:
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
    for title, variant in every(samples):
        if variant == rows.FLOOR_NAME:
            continue
        means = [(samples.mean(of, variant), digits) for _, of, digits in COUNTS]
        found.append((title, [NOTHING if one is None else f"{one.mean:,.{digits}f}" for one, digits in means]))
    return Table(
        "What crosses the link for a switch, and what became of decisions; means",
        [name for name, _, _ in COUNTS],
        found,
        [
            "With those of the boot, and with what starts and ends the agent: about 290 reads in all. Bytes are those on the wire.",
            "A read that was prefetched is waited for only as far as it is still under way.",
        ],
    )


def factor_tables(samples: Samples, extent: str) -> List[Table]:
    found = []
    for name in EXTENTS[extent].factors:
        factor = FACTORS[name]
        levels = sorted([factor.central, *factor.levels])
        lines = []
        for title, variant in every(samples):
            at = [samples.mean(time_of_switch, variant, *point(name, level)) for level in levels]
            if any(samples.all(variant, *point(name, level)) for level in factor.levels):
                lines.append((title, [text_of(each) for each in at]))
        if lines:
            columns = [f"{level:g} {factor.unit}".strip() for level in levels]
            found.append(Table(f"Time of a context switch, ns, by: {factor.title}", columns, lines))
    return found


def point(factor: str, level: float) -> Tuple[str, float]:
    return ("", 0.0) if level == FACTORS[factor].central else (factor, level)


def tables(document: dict) -> List[Table]:
    samples = Samples(document)
    found = [published_table(samples), switch_table(samples), removed_table(samples), counts_table(samples)]
    found += factor_tables(samples, document["extent"])
    return [table for table in found if table.rows]


def head(document: dict) -> List[str]:
    """What the tables are about, line by line."""
    kernel = document["inputs"][f"linux {document['kernel']}"]
    rounds = sorted({(run["warm_up"], run["rounds"]) for run in document["runs"]})
    switches = ", ".join(f"{2 * (each - warm_up)}" for warm_up, each in rounds)
    return [
        f"Study {document['study']}, extent {document['extent']}: {len(document['runs'])} runs, "
        f"{switches} switches each",
        f"Linux {document['kernel']}, SHA-256 {kernel}",
        f"platform {PLATFORM} with {', '.join(CENTRAL)}; CPU 1 runs the tasks",
    ]


def failures(document: dict) -> List[str]:
    return [f"FAILED: {each}" for each in document["failures"]]


def text(document: dict) -> str:
    parts = ["\n".join(head(document)), *(table.text() for table in tables(document)), *failures(document)]
    return "\n\n".join(parts) + "\n"
