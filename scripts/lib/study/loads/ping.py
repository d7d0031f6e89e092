# SPDX-License-Identifier: Apache-2.0
"""Context switches: two tasks on one CPU wake each other in turn."""

import re

from study.loads import load
from study.loads.load import BadResult, Files, Load
from study.variants import VARIANTS

CPU = 1  # runs the tasks; CPU 0 is left to an agent on the host, and to the rest of the system
POLICY = "fifo-central"


class Ping(Load):
    """A run's size is the rounds that do not count, and those that do. Both are loads of their own, and only the difference
    of their times counts."""

    name = "ping"
    title = "context switches"
    platform = ("hosts[0].vcpus=4",)
    programs = ("guest/scheduling/schedule", "tests/system/tasks")

    def command(self, run) -> str:
        variant = VARIANTS[run.variant]
        if variant.schedule is None:
            begin = f"taskset {1 << CPU:x}"
        else:
            begin = load.under(variant, POLICY, str(CPU), run.schedule())
        loads = "; ".join([load.shift(run.seed), *(f"tasks ping 2 {rounds}" for rounds in run.size)])
        return " && ".join([*load.begin(variant), load.output(f"{begin} sh -c '{loads}'")])

    def result(self, run, files: Files) -> dict:
        text = files.text()
        done = [(int(count), int(ns)) for count, ns in re.findall(r"(?m)^ping (\d+) done in (\d+) ns$", text)]
        if [count for count, _ in done] != [2 * rounds for rounds in run.size]:
            raise BadResult(f"the loads have counted {[count for count, _ in done]} switches")
        found = {"switches": done[1][0] - done[0][0], "ns": done[1][1] - done[0][1], "all_switches": done[0][0] + done[1][0]}
        self.check(found)
        return {**found, **load.counted(VARIANTS[run.variant], text), **load.device(files.stats)}

    def check(self, result: dict) -> None:
        if not result["switches"] > 0:
            raise BadResult("there was no switch")
        if not result["ns"] > 0:
            raise BadResult("the longer load takes no longer than the shorter one")


PING = Ping()
