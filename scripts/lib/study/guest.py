# SPDX-License-Identifier: Apache-2.0
"""What a guest does for a run, and what its output says."""

import re
from typing import Dict

from study.matrix import POLICY, Run
from study.variants import VARIANTS

CPU = 1  # runs the tasks; CPU 0 is left to an agent on the host, and to the rest of the system
SHARE = "/share"

# Before machines are forked. What the boot has left to do would otherwise disturb the runs.
BOOT = 'sleep 0.4\nsh -c "$(vpctl mark ready)"\n'
MARK = "ready"


class BadResult(Exception):
    """The output of a run is not what it has to be; the message says why."""


def command(run: Run) -> str:
    """The guest's command, one line. Two loads run in the same way, and only their difference counts."""
    variant = VARIANTS[run.variant]
    steps = [f"PATH={SHARE}:$PATH"]
    for module, parameters in variant.modules:
        steps.append(" ".join(["insmod", f"{SHARE}/{module}.ko", *parameters]))
    if variant.schedule is None:
        begin = f"taskset {1 << CPU:x}"
    else:
        begin = " ".join(["schedule", "--policy", POLICY, "--cpus", str(CPU), *variant.schedule])
    shift = f"for i in $(seq {run.shift()}); do :; done"
    load = "; ".join([shift, *(f"tasks ping 2 {rounds}" for rounds in (run.warm_up, run.rounds))])
    steps.append(f"{begin} sh -c '{load}' > {SHARE}/out 2> {SHARE}/err")
    return " && ".join(steps)


def numbers(words: str, output: str) -> Dict[str, int]:
    """The lines `WORDS NAME [...] NUMBER` of `schedule` by name."""
    return {name: int(number) for name, number in re.findall(rf"(?m)^{words} (\w+)(?: sent)? (\d+)\b", output)}


def number(word: str, output: str) -> int:
    found = re.search(rf"(?m)^{word} (\d+)$", output)
    return int(found[1]) if found else 0


def counted(output: str) -> dict:
    """What `schedule` says of a run."""
    return {
        "messages": sum(numbers("message", output).values()),
        "decisions": numbers("decision", output),
        "outcomes": numbers("outcome", output),
        "kicks": number("kicks", output),
        "fallbacks": number("fallbacks", output),
    }


def result(run: Run, output: str, stats: dict) -> dict:
    """The result of a run from what its guest has printed and from the statistics of its machine."""
    done = [(int(count), int(ns)) for count, ns in re.findall(r"(?m)^ping (\d+) done in (\d+) ns$", output)]
    if [count for count, _ in done] != [2 * run.warm_up, 2 * run.rounds]:
        raise BadResult(f"the loads have counted {[count for count, _ in done]} switches")
    found = {"switches": done[1][0] - done[0][0], "ns": done[1][1] - done[0][1], "all_switches": done[0][0] + done[1][0]}
    if found["ns"] <= 0:
        raise BadResult("the longer load takes no longer than the shorter one")
    if VARIANTS[run.variant].schedule is not None:
        found.update(counted(output))
        if not found["messages"]:
            raise BadResult("schedule has counted nothing")
    counters = stats["counters"]
    functions = ("ipu.endpoint.pf0", "ipu.endpoint.pf1")  # of the OAE block, and of queues
    found["device"] = {
        **{name.removeprefix("bar_"): sum(counters[f"{function}.{name}"] for function in functions)
           for name in ("bar_reads", "bar_writes", "interrupts")},
        "bytes_down": counters["host_ipu.down.wire_bytes"],
        "bytes_up": counters["host_ipu.up.wire_bytes"],
        "line_fills": counters["ipu.queue_memory.line_fills"],
    }
    found["read_ns"] = stats["latencies_ps"]["host.root_complex.read_latency"]["median"] / 1000
    return found
