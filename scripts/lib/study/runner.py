# SPDX-License-Identifier: Apache-2.0
"""Makes the runs of a study, by machine, except for those whose results are in the store."""

import pathlib
from typing import Dict, List, Tuple

from study import machine
from study.inputs import Inputs
from study.loads import LOADS
from study.matrix import Run
from study.progress import Progress
from study.store import Store


def title(run: Run) -> str:
    where = f", {run.factor} {run.level:g}" if run.factor else ""
    return f"{run.load}, {run.variant}{where}, seed {run.seed}"


def by_machine(runs: List[Run]) -> Dict[Tuple[str, str, Tuple[str, ...]], List[Run]]:
    """Runs by what the guest does before machines are forked, and by what it boots on."""
    found: Dict[Tuple[str, str, Tuple[str, ...]], List[Run]] = {}
    for run in runs:
        load = LOADS[run.load]
        found.setdefault((load.boot(), load.firmware or "", run.values()), []).append(run)
    return found


def is_of_interruption(failure: BaseException) -> bool:
    """Whether a failure arose as an interruption was on its way out. shutil.rmtree, for one, closes a folder a second time if
    the interruption comes just after the first, and leaves with the error of that."""
    before = failure.__context__
    return before is not None and (isinstance(before, KeyboardInterrupt) or is_of_interruption(before))


def make(inputs: Inputs, runs: List[Run], folder: pathlib.Path, jobs: int) -> Tuple[Dict[Run, dict], List[str]]:
    """Results by run, and what has failed. What ends is stored at once, so that an interrupted study can go on."""
    store = Store(folder / "runs")
    keys = {run: inputs.key(run) for run in runs}
    results = {run: found for run in runs if (found := store.get(keys[run])) is not None}
    to_make = [run for run in runs if run not in results]
    progress = Progress(len(runs), len(results), sum(LOADS[run.load].seconds for run in to_make))
    failures = []
    for (*_, values), of_machine in by_machine(to_make).items():
        progress.say(f"boot of a machine with {', '.join(values)}")
        began = progress.clock()

        def booted(began=began):
            progress.in_boot += progress.clock() - began

        try:
            for ended in machine.run_all(inputs, of_machine, folder, jobs, booted):
                if ended.result is None:
                    failures.append(f"{title(ended.run)}: {ended.failure}")
                else:
                    results[ended.run] = ended.result
                    store.put(keys[ended.run], ended.result)
                how = " failed" if ended.result is None else ""
                progress.ended(title(ended.run) + how, ended.wall, LOADS[ended.run.load].seconds)
        except (machine.Failure, OSError) as failure:
            if is_of_interruption(failure):
                raise KeyboardInterrupt from failure
            failures.append(f"a machine with {', '.join(values)}: {failure}")
    if progress.made:
        progress.say(progress.whole())
    return results, failures
