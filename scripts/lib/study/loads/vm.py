# SPDX-License-Identifier: Apache-2.0
"""Tasks that compute all the time, as virtual CPUs do, and share CPUs."""

import re

from study.loads import load
from study.loads.load import BadResult, Files, Load
from study.variants import VARIANTS

TASKS = 7  # more than two for each CPU, so that they are shared evenly only if tasks move
CPUS = 3  # at the central point: 1 to 3. CPU 0 is left to an agent on the host.


class Vm(Load):
    """A run's size is the time in us."""

    name = "vm"
    title = f"{TASKS} tasks that compute; VM policy"
    platform = ("hosts[0].vcpus=4",)
    programs = ("guest/scheduling/schedule", "tests/system/tasks")
    seconds = 4

    def cpus(self, run) -> int:
        return int(run.settings().get("cpus", CPUS))

    def command(self, run) -> str:
        variant = VARIANTS[run.variant]
        first, last = CPUS + 1 - self.cpus(run), CPUS
        if variant.schedule is None:
            begin = f"taskset {(1 << last + 1) - (1 << first):x}"
        else:
            begin = load.under(variant, "vm", f"{first}-{last}", run.schedule())
        return " && ".join([*load.begin(variant), load.shift(run.seed), load.output(f"{begin} tasks share {TASKS} {run.size[0]}")])

    def result(self, run, files: Files) -> dict:
        text = files.text()
        units = re.search(r"(?m)^units (\d+) least (\d+) most (\d+) each (\d+) ns$", text)
        ns = re.search(rf"(?m)^share {TASKS} done in (\d+) ns$", text)
        if not units or not ns:
            raise BadResult("the tasks have not said what they have done")
        found = dict(zip(("units", "least", "most", "unit_ns"), map(int, units.groups())))
        found.update(ns=int(ns[1]), cpus=self.cpus(run))
        self.check(found)
        return {**found, **load.counted(VARIANTS[run.variant], text), **load.device(files.stats)}

    def check(self, result: dict) -> None:
        if not 0 < result["least"] <= result["most"] <= result["units"]:
            raise BadResult("a task has done nothing, or more than all together")
        if not 0 < result["units"] * result["unit_ns"] <= result["cpus"] * result["ns"]:
            raise BadResult("the tasks have done more than there was time for")


VM = Vm()
