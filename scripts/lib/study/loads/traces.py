# SPDX-License-Identifier: Apache-2.0
"""What is read from a run whose scheduling was traced: by scheduling-trace, and from the guest's files."""

import pathlib
import re
import subprocess
from typing import Dict, List

from study.loads.load import BadResult

PROGRAM = "guest/scheduling/trace/scheduling-trace"  # in the folder of the project's build
TRACE, STAMPS, PARAMETERS = "trace", "stamps", "parameters"  # the guest's files
SECONDS = 300  # of wall time
SPREAD = ("count", "mean", "p50", "p99", "min", "max")


def output(words: List[str], folder: pathlib.Path) -> List[str]:
    """What a program prints that runs in this folder, except for the names of traces."""
    try:
        run = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise BadResult(str(failure)) from None
    if run.returncode != 0:
        raise BadResult(run.stderr.strip())
    return [line for line in run.stdout.splitlines() if not line.startswith("trace ")]


def account(lines: List[str]) -> Dict[str, int]:
    """Lines `NAME NUMBER`."""
    return {name: int(number) for name, number in (line.rsplit(" ", 1) for line in lines)}


def switches(lines: List[str]) -> Dict[str, Dict[str, Dict[str, int]]]:
    """Parts of switches by kind, in order: `KIND PART count N mean N ...`."""
    found: Dict[str, Dict[str, Dict[str, int]]] = {}
    for line in lines:
        kind, *words = line.split()
        if words[1:2] == ["count"]:
            found.setdefault(kind, {})[words[0]] = {name: int(words[2 + 2 * index]) for index, name in enumerate(SPREAD)}
    return found


def parameters(text: str) -> Dict[str, str]:
    """Those of the guest's modules, by module and name: lines `/sys/module/MODULE/parameters/NAME:VALUE`."""
    return {f"{module}.{name}": value
            for module, name, value in re.findall(r"(?m)^/sys/module/(\w+)/parameters/(\w+):(.*)$", text)}  # fmt: skip


def accounted(build: pathlib.Path, share: pathlib.Path) -> Dict[str, int]:
    """What became of each message and decision of a run. Raises BadResult if its trace shows a mistake."""
    return account(output([str((build / PROGRAM).resolve()), "account", TRACE], share))


def read(build: pathlib.Path, share: pathlib.Path) -> dict:
    """What the files of a run say. `build`: the folder of the project's build."""
    program = str((build / PROGRAM).resolve())
    stamps = ["--stamps", STAMPS] if (share / STAMPS).exists() else []
    return {
        "account": accounted(build, share),
        "switches": switches(output([program, "switches", *stamps, TRACE], share)),
        "parameters": parameters((share / PARAMETERS).read_text()),
    }
