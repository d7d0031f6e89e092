# SPDX-License-Identifier: Apache-2.0
"""Loads whose scheduling is traced: where the time of a context switch goes, what became of each decision, and by what host
and agent were kept in step."""

from study.loads import load, traces
from study.loads.load import SHARE, BadResult, Files, Load
from study.variants import VARIANTS

class Traced(Load):
    """A run's size is what `tasks` takes last: rounds, or us of CPU time."""

    platform = ("hosts[0].vcpus=4",)
    programs = ("guest/scheduling/schedule", "tests/system/tasks")
    tools = (traces.PROGRAM,)
    seconds = 2

    def __init__(self, name: str, title: str, tasks: str, policy: str, cpus: str, stamps: bool = False):
        self.name, self.title, self.tasks, self.policy, self.cpus, self.stamps = name, title, tasks, policy, cpus, stamps

    def command(self, run) -> str:
        variant = VARIANTS[run.variant]
        stamps = f"--stamps {SHARE}/{traces.STAMPS} " if self.stamps else ""
        words = load.under(variant, self.policy, self.cpus, (*run.schedule(), "--trace", f"{SHARE}/{traces.TRACE}"))
        traced = load.output(f"{words} tasks {stamps}{self.tasks} {run.size[0]}")
        return " && ".join([*load.begin(variant), load.shift(run.seed), traced, traces.TELL_PARAMETERS])

    def result(self, run, files: Files) -> dict:
        variant = VARIANTS[run.variant]
        counted = load.counted(variant, files.text())
        found = {**counted, **traces.evidence(files, variant, self.policy), "switches": traces.switches_of(files)}
        self.check(found)
        return found

    def check(self, result: dict) -> None:
        account = result["account"]
        if account["fallbacks"] != result["fallbacks"]:
            raise BadResult("the trace has another number of fallbacks")
        # Before an agent is given up, messages may be lost.
        if account["unaccounted"] or (account["lost"] and not result["fallbacks"]):
            raise BadResult("decisions or messages were lost")
        if self.stamps and not result["fallbacks"] and not result["switches"]["stamped"]["whole"]["count"] > 0:
            raise BadResult("there was no switch")


PING = Traced("traced-ping", "two tasks wake each other on one CPU; FIFO", "ping 2", "fifo-central", "1", stamps=True)
SPIN = Traced("traced-spin", "eight tasks compute on three CPUs; Shinjuku", "spin 8", "shinjuku", "1-3")
MOVE = Traced("traced-move", "four tasks go from CPU to CPU, of three; Shinjuku", "move 4", "shinjuku", "1-3")
ALL = (PING, SPIN, MOVE)
