# SPDX-License-Identifier: Apache-2.0
"""The JSON file of a study: what was run, from what, and every result. Tables and page are made of it alone."""

import dataclasses
import json
import pathlib
from typing import Dict, List

from study import guest
from study.inputs import Inputs
from study.matrix import EXTENTS, FACTORS, Run
from study.variants import VARIANTS

FORMAT = 1


class BadDocument(Exception):
    """The file is not one of a study; the message says why."""


def make(study: str, extent: str, inputs: Inputs, results: Dict[Run, dict], failures: List[str]) -> dict:
    return {
        "format": FORMAT,
        "study": study,
        "extent": extent,
        "kernel": inputs.release,
        "inputs": inputs.hashes,
        "failures": failures,
        "runs": [
            {**dataclasses.asdict(run), "values": list(run.values()), "command": guest.command(run),
             "key": inputs.key(run), "result": result}
            for run, result in sorted(results.items(), key=lambda each: dataclasses.astuple(each[0]))
        ],
    }  # fmt: skip


def check(document: dict) -> None:
    if document["format"] != FORMAT:
        raise BadDocument(f"its format is {document['format']}, and not {FORMAT}")
    if document["extent"] not in EXTENTS:
        raise BadDocument(f"there is no extent '{document['extent']}'")
    for run in document["runs"]:
        if run["variant"] not in VARIANTS:
            raise BadDocument(f"there is no variant '{run['variant']}'")
        if run["factor"] and run["level"] not in FACTORS[run["factor"]].levels:
            raise BadDocument(f"the factor {run['factor']} has no level {run['level']}")
        if not run["result"]["ns"] > 0 or not run["result"]["switches"] > 0:
            raise BadDocument("a run took no time")


def read(path: pathlib.Path) -> dict:
    try:
        document = json.loads(path.read_text())
        check(document)
        return document
    except OSError as failure:
        raise BadDocument(failure.strerror) from None
    except (ValueError, KeyError, TypeError) as mistake:
        raise BadDocument(f"it is no file of a study ({type(mistake).__name__}: {mistake})") from None
