# SPDX-License-Identifier: Apache-2.0
"""The JSON file of a study: what was run, from what, and every result. Tables and page are made of it alone."""

import dataclasses
import json
import pathlib
from typing import Dict, List

from study.factors import FACTORS
from study.inputs import Inputs
from study.loads import LOADS
from study.loads.load import BadResult
from study.matrix import EXTENTS, Run
from study.variants import VARIANTS

FORMAT = 2


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
            {**dataclasses.asdict(run), "values": list(run.values()), "command": LOADS[run.load].command(run),
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
        if run["load"] not in LOADS:
            raise BadDocument(f"there is no load '{run['load']}'")
        if run["variant"] not in VARIANTS:
            raise BadDocument(f"there is no variant '{run['variant']}'")
        if run["factor"] and run["level"] not in FACTORS[run["factor"]].levels:
            raise BadDocument(f"the factor {run['factor']} has no level {run['level']}")
        LOADS[run["load"]].check(run["result"])


def read(path: pathlib.Path) -> dict:
    try:
        document = json.loads(path.read_text())
        check(document)
        return document
    except OSError as failure:
        raise BadDocument(failure.strerror) from None
    except BadResult as mistake:
        raise BadDocument(str(mistake)) from None
    except (ValueError, KeyError, TypeError) as mistake:
        raise BadDocument(f"it is no file of a study ({type(mistake).__name__}: {mistake})") from None
