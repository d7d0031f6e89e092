# SPDX-License-Identifier: Apache-2.0
"""The FITO diagnostic: by what host and agent were kept in step, by variant, and the evidence for that."""

from typing import Dict, List, Tuple

from figures.table import Table

from study import diagnostic
from study.chapters.cells import NOTHING
from study.chapters.faults import TITLES
from study.chapters.traced import Variants, variants_of
from study.loads import faults, traced
from study.samples import Samples

Verdicts = List[Tuple[str, List[diagnostic.Verdict]]]  # by title of a variant


def verdicts_of(variants: Variants) -> Verdicts:
    """All runs of a variant have the same configuration but for the number of CPUs, and count together."""
    found = []
    for title, results in variants:
        figures = [each["account"] for each in results]
        found.append((title, diagnostic.diagnose(results[0]["configuration"], *figures)))
    return found


def verdict_table(variants: Verdicts, load: str) -> Table:
    rows = [(title, [each.verdict.replace(" in this run", "") for each in verdicts]) for title, verdicts in variants]
    return Table(
        f"FITO diagnostic: by what host and agent were kept in step; {load}",
        [criterion.name for criterion in diagnostic.CRITERIA], rows,
        ["Relied on is what has acted in a run. guest/scheduling/FITO.md says what counts."],
    )  # fmt: skip


def evidence_rows(columns: List[Dict[str, diagnostic.Evidence]], mark: str) -> List[Tuple[str, List[str]]]:
    names = dict.fromkeys(name for column in columns for name in column)
    return [(mark + name, [f"{column[name].uses:,}" if name in column else NOTHING for column in columns]) for name in names]


def evidence_table(variants: Verdicts, load: str) -> Table:
    rows: List[Tuple[str, List[str]]] = []
    for index, criterion in enumerate(diagnostic.CRITERIA):
        rows.append((criterion.name, [""] * len(variants)))
        for mark, kind in (("  ", "evidence"), ("  not counted: ", "notes")):
            columns = [{each.name: each for each in getattr(verdicts[index], kind)} for _, verdicts in variants]
            rows += evidence_rows(columns, mark)
    return Table(f"How often each of these has acted; {load}", [title for title, _ in variants], rows)


def of_faults(document: dict) -> Variants:
    """The traced runs of all faults, by variant."""
    every = [Samples(document, load.name) for load in faults.ALL if load.traced]
    found = [(title, [each for samples in every for each in samples.all(variant)]) for variant, title in TITLES.items()]
    return [(title, results) for title, results in found if results]


def tables(document: dict) -> List[Table]:
    found = []
    loads = [(load.title, variants_of(document, load.name)) for load in traced.ALL]
    for title, variants in [*loads, ("agents that fail, or the way to them; Shinjuku", of_faults(document))]:
        verdicts = verdicts_of(variants)
        found += [verdict_table(verdicts, title), evidence_table(verdicts, title)] if verdicts else []
    return found


def plots(_: dict) -> List[str]:
    return []
