# SPDX-License-Identifier: Apache-2.0
"""The tables of a study, from its document."""

from typing import List

from figures.table import Table

from study.chapters import CHAPTERS
from study.loads import LOADS
from study.matrix import PLATFORM


def tables(document: dict) -> List[Table]:
    return [table for chapter in CHAPTERS for table in chapter.tables(document) if table.rows]


def plots(document: dict) -> List[str]:
    return [plot for chapter in CHAPTERS for plot in chapter.plots(document)]


def head(document: dict) -> List[str]:
    """What the tables are about, line by line."""
    kernel = document["inputs"][f"linux {document['kernel']}"]
    found = [
        f"Study {document['study']}, extent {document['extent']}: {len(document['runs'])} runs",
        f"Linux {document['kernel']}, SHA-256 {kernel}",
    ]
    more = sorted({each for run in document["runs"] for each in run["more"]})
    if more:
        found.append(f"all runs with {', '.join(more)}")
    for name, load in LOADS.items():
        count = sum(run["load"] == name for run in document["runs"])
        if count:
            found.append(f"{name}, {count} runs: {load.title}; platform {PLATFORM} with {', '.join(load.platform)}")
    return found


def failures(document: dict) -> List[str]:
    return [f"FAILED: {each}" for each in document["failures"]]


def text(document: dict) -> str:
    parts = ["\n".join(head(document)), *(table.text() for table in tables(document)), *failures(document)]
    return "\n\n".join(parts) + "\n"
