# SPDX-License-Identifier: Apache-2.0
"""Traced runs: parts of a context switch, ages of decisions, what became of them, and what was done in vain."""

from typing import Callable, Dict, List, Mapping, Tuple

from figures.table import Table

from study import diagnostic, rows
from study.chapters import cells
from study.chapters.cells import NOTHING
from study.loads import traced
from study.samples import Samples

Variants = List[Tuple[str, List[dict]]]  # titles, and results of runs

PARTS = {
    "until_stopping": "until it stops",
    "until_look": "until the look",
    "until_claim": "in vain",
    "claim": "claim",
    "insertion": "insertion",
    "report": "report",
    "until_on_cpu": "until ON_CPU",
    "until_user": "until its own",
    "whole": "whole",
}


def mean_of(results: List[dict], value: Callable[[dict], float]) -> float:
    return sum(value(each) for each in results) / len(results)


def sums(results: List[dict]) -> Dict[str, int]:
    return diagnostic.together([each["account"] for each in results])


def means_of_parts(results: List[dict]) -> List[int]:
    """Means over the runs, by part; the last one is the whole's. Rounded so that those of the parts add up to it."""
    found, sum_of_all, before = [], 0, 0
    for part in list(PARTS)[:-1]:
        sum_of_all += sum(each["switches"]["stamped"][part]["mean"] for each in results)
        until = (2 * sum_of_all + len(results)) // (2 * len(results))
        found.append(until - before)
        before = until
    return [*found, before]


def switches_table(variants: Variants, load: str) -> Table:
    lines = []
    for title, results in variants:
        results = [each for each in results if each["switches"].get("stamped")]
        if not results:
            continue
        count = sum(each["switches"]["stamped"]["whole"]["count"] for each in results)
        p99 = max(each["switches"]["stamped"]["whole"]["p99"] for each in results)
        lines.append((title, [f"{count:,}", *(f"{mean:,}" for mean in means_of_parts(results)), f"{p99:,}"]))
    return Table(
        f"Parts of a context switch, from the last instruction of a task that blocks to the first of the next; means, ns; {load}",
        ["switches", *PARTS.values(), "whole, p99"],
        lines,
        [
            "in vain: looks that found nothing, and what follows them, until the CPU looks for the decision that it carries out.",
            "claim: the look that finds it. insertion: until T3. Each part contains what a record of the trace costs, about 20 ns.",
        ],
    )


def ages_table(variants: Variants, load: str) -> Table:
    lines = []
    for title, results in variants:
        texts = [f"{mean_of(results, lambda each, name=name: each['account'].get(name, 0)):,.0f}"
                 for name in ("age_p50", "age_p99")]  # fmt: skip
        lines.append((title, [*texts, f"{max(each['account'].get('age_max', 0) for each in results):,}"]))
    return Table(
        f"Age of decisions that CPUs have claimed: from the newest message on which they rest (T1) to T3, ns; {load}",
        ["p50", "p99", "max"], lines, ["Means of the runs, and the maximum of all."],
    )  # fmt: skip


def ages_histogram(variants: Variants, load: str) -> Table:
    counts = [(title, {int(name.split()[1]): number for name, number in sums(results).items() if name.startswith("age_below ")})
              for title, results in variants]  # fmt: skip
    limits = sorted({limit for _, found in counts for limit in found})
    lines = [(title, [f"{found[limit]:,}" if limit in found else NOTHING for limit in limits]) for title, found in counts]
    return Table(
        f"Decisions by age; {load}", [f"< {limit:,}" for limit in limits], lines,
        ["Below so many ns, and not below half of that."],
    )  # fmt: skip


# Columns: a title, a value of the sums of figures, and how it is written.
Column = Tuple[str, Callable[[Mapping], float], str]


def figure(name: str) -> Callable[[Mapping], float]:
    return lambda found: found.get(name, 0)


def share(name: str, of: str) -> Callable[[Mapping], float]:
    return lambda found: 100 * found.get(name, 0) / found[of] if found.get(of) else 0


def table_of(title: str, columns: List[Column], variants: Variants, notes: List[str]) -> Table:
    lines = []
    for name, results in variants:
        found = sums(results)
        lines.append((name, [format(value(found), form) for _, value, form in columns]))
    return Table(title, [column for column, _, _ in columns], lines, notes)


STALE: List[Column] = [
    ("carried out", lambda found: found["right"] + found["stale"], ",.0f"),
    ("stale", figure("stale"), ",.0f"),
    ("stale, %", lambda found: 100 * found["stale"] / max(1, found["right"] + found["stale"]), ".2f"),
    ("a better task waited, ns", figure("stale_waited"), ",.0f"),
    ("no task ran while one waited, ns", figure("idle_while_waiting"), ",.0f"),
]

DECISIONS: List[Column] = [
    ("made", figure("decisions"), ",.0f"),
    ("ran", figure("ran"), ",.0f"),
    ("taken back", figure("taken_back"), ",.0f"),
    ("aborted", diagnostic.aborted, ",.0f"),
    ("withdrawn", figure("withdrawn"), ",.0f"),
    ("lost", figure("unaccounted"), ",.0f"),
    ("messages lost", figure("lost"), ",.0f"),
]

WASTED: List[Column] = [
    ("freed CPUs", figure("freed"), ",.0f"),
    ("prestaged, %", share("freed prestaged", "freed"), ".1f"),
    ("in time, %", share("freed in_time", "freed"), ".1f"),
    ("refused, %", share("freed refused", "freed"), ".1f"),
    ("late, %", share("freed late", "freed"), ".1f"),
    ("nothing to do, %", share("freed nothing", "freed"), ".1f"),
    ("looks in vain", figure("looks_in_vain"), ",.0f"),
    ("while a task waited", figure("looks_missed"), ",.0f"),
    ("NOT_READY", lambda found: found.get("port swap_not_ready", 0) + found.get("port send_not_ready", 0), ",.0f"),
    ("swaps without a task, though one waited", figure("port idle_missed"), ",.0f"),
    ("too late to revoke", figure("port late"), ",.0f"),
]


def rates_table(variants: Variants, load: str) -> Table:
    lines = [(title, [f"{mean_of(results, lambda each, name=name: each['account'][name]):,.0f}"
                      for name in ("messages_a_second", "decisions_a_second")]) for title, results in variants]  # fmt: skip
    return Table(f"Messages and decisions a second, from the first message to the last, means; {load}", ["messages", "decisions"], lines)


def variants_of(document: dict, load: str) -> Variants:
    """Those with runs that count. The steps between them are not traced, so that the last one gets another title."""
    samples = Samples(document, load)
    titles = {rows.ALL: "Wave's queues, all optimisations"}
    found = [(titles.get(variant, title), samples.valid(variant)) for title, variant in cells.every(samples)]
    return [(title, list(results.values())) for title, results in found if results]


def tables_of(variants: Variants, load: str) -> List[Table]:
    """All tables of a load. `load`: its title."""
    return [
        switches_table(variants, load),
        ages_table(variants, load),
        ages_histogram(variants, load),
        table_of(f"Decisions that are carried out, compared with those of an agent without latency; {load}", STALE, variants,
                 ["A better task waited: from T3 of each stale decision until the task that should have run begins."]),
        table_of(f"What became of each decision; {load}", DECISIONS, variants, []),
        table_of(f"What CPUs found when they looked for a decision; {load}", WASTED, variants,
                 ["Freed: CPUs whose task stopped, by what their first look found. Prestaged decisions needed no interrupt."]),
        rates_table(variants, load),
    ]  # fmt: skip


def tables(document: dict) -> List[Table]:
    return [table for load in traced.ALL for table in tables_of(variants_of(document, load.name), load.title)]


def plots(_: dict) -> List[str]:
    return []
