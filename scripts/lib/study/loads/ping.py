# SPDX-License-Identifier: Apache-2.0
"""Context switches: two tasks on one CPU wake each other in turn."""

import re

from study.loads import load
from study.loads.load import BadResult, Files, Load
from study.variants import VARIANTS

CPU = 1  # runs the tasks; CPU 0 is left to an agent on the host, and to the rest of the system
POLICY = "fifo-central"


class Ping(Load):
    """A run's size is how long the tasks run before their rounds count, in us, and the rounds that count. What it costs to
    start a program and to end it depends on the memory that the kernel happens to give it, and is no part of a switch. In each
    turn a task computes for a random time of up to 2.5 us, so that it does not fall into step with an agent. That is taken off."""

    name = "ping"
    title = "context switches"
    platform = ("hosts[0].vcpus=4",)
    programs = ("guest/scheduling/schedule", "tests/system/tasks")
    seconds = 4

    def command(self, run) -> str:
        variant = VARIANTS[run.variant]
        if variant.schedule is None:
            begin = f"taskset {1 << CPU:x}"
        else:
            begin = load.under(variant, POLICY, str(CPU), run.schedule())
        warm_up, rounds = run.size
        words = f"{begin} sh -c '{load.shift(run.seed)}; tasks --warm-up {warm_up} --vary {run.seed} ping 2 {rounds}'"
        return " && ".join([*load.begin(variant), load.output(words)])

    def result(self, run, files: Files) -> dict:
        text = files.text()
        said = re.search(r"(?m)^switches (\d+) in (\d+) ns\ncomputed (\d+) times in (\d+) ns\nping (\d+) done", text)
        if not said:
            raise BadResult("the tasks have not said how long their switches took")
        switches, ns, computed, computed_ns, all_switches = map(int, said.groups())
        found = {"switches": switches, "ns": ns - computed_ns, "all_switches": all_switches}
        if computed != switches:
            raise BadResult(f"the tasks have computed {computed} times")
        if found["switches"] != 2 * run.size[1]:
            raise BadResult(f"the tasks have counted {found['switches']} switches")
        self.check(found)
        return {**found, **load.counted(VARIANTS[run.variant], text), **load.device(files.stats)}

    def check(self, result: dict) -> None:
        if not result["switches"] > 0:
            raise BadResult("there was no switch")
        if not result["ns"] > 0:
            raise BadResult("the switches took no time")
        if result["all_switches"] < result["switches"]:
            raise BadResult("more switches count than there were")


PING = Ping()
