# SPDX-License-Identifier: Apache-2.0
"""What is read from a run whose scheduling was traced: by scheduling-trace, and from the files of the guest and its machine."""

import pathlib
import re
import subprocess
from typing import Dict, List

from study.loads import load
from study.loads.load import SHARE, BadResult, Files
from study.variants import Variant

PROGRAM = "guest/scheduling/trace/scheduling-trace"  # in the folder of the project's build
TRACE, STAMPS, PARAMETERS = "trace", "stamps", "parameters"  # the guest's files
SECONDS = 300  # of wall time
RULES = ("barrier", "owner")  # by their numbers in settings.h
WATCHDOGS = ("waiting", "liveness")
COMPLETION_TIMEOUT = 50_000_000  # ns: the root complex's, unless a platform file says otherwise
TELL_PARAMETERS = f"grep -H '' /sys/module/oae_sched*/parameters/* > {SHARE}/{PARAMETERS}"  # the guest's command
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


def run_tool(files: Files, *words: str) -> List[str]:
    return output([str((files.build / PROGRAM).resolve()), *words, TRACE], files.share)


def switches_of(files: Files) -> Dict[str, Dict[str, Dict[str, int]]]:
    stamps = ("--stamps", STAMPS) if (files.share / STAMPS).exists() else ()
    return switches(run_tool(files, "switches", *stamps))


def signs(text: str) -> Dict[str, int]:
    """By which signs `schedule` has noticed that the agent failed, and how often."""
    found = re.findall(r"(?m)^fault noticed by (\w+) at ", text)
    return {f"noticed {sign}": found.count(sign) for sign in dict.fromkeys(found)}


def transport(variant: Variant) -> str:
    words = variant.schedule
    return words[words.index("--transport") + 1] if "--transport" in words else "memory"


def figures(files: Files, *options: str) -> Dict[str, int]:
    """What became of each message and decision, and what the guest and its machine have counted besides. Raises BadResult if the
    trace shows a mistake. The options are those of `scheduling-trace account`."""
    found = {**account(run_tool(files, "account", *options)), **signs(files.text())}
    counters = files.stats["counters"]
    timeouts = [name for name in counters if name.startswith("host.") and name.endswith(".completion_timeouts")]
    found["interrupts"] = load.device(files.stats)["device"]["interrupts"]
    found["completion_timeouts"] = sum(counters[name] for name in timeouts)
    return found


def evidence(files: Files, variant: Variant, policy: str, *options: str) -> dict:
    """What the diagnostic asks of a run: its configuration and its figures."""
    counted = figures(files, *options)
    told = parameters(files.text(PARAMETERS))
    numbers = {name.split(".")[1]: int(value) for name, value in told.items() if value.isdigit()}
    of_trace = {name: counted[name] for name in ("cpus", "time_slice", "prestage", "watchdog")}
    configuration = {**numbers, **of_trace, "transport": transport(variant), "policy": policy, "rule": RULES[counted["rule"]],
                     "watchdog_by": WATCHDOGS[counted["watchdog_by"]], "completion_timeout": COMPLETION_TIMEOUT}  # fmt: skip
    return {"account": counted, "configuration": configuration}
