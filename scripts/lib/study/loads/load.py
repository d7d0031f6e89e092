# SPDX-License-Identifier: Apache-2.0
"""What a load of a study has to say: what its guest does, and what that results in."""

import abc
import dataclasses
import pathlib
import re
from typing import Dict, List, Optional, Tuple

from study.variants import Variant

SHARE = "/share"
MARK = "ready"


class BadResult(Exception):
    """The output of a run is not what it has to be; the message says why."""


@dataclasses.dataclass(frozen=True)
class Files:
    """What a run has left."""

    share: pathlib.Path  # the guest's folder SHARE
    stats: dict  # the statistics of its machine
    build: pathlib.Path = pathlib.Path()  # the build's folder `cmake`, where the tools of loads are

    def text(self, name: str = "out") -> str:
        return (self.share / name).read_text()


class Load(abc.ABC):
    """A load. Its guest has the files of `programs` in SHARE. A run writes what its result needs to the file `out` there, and
    mistakes to `err`."""

    name: str
    title: str
    platform: Tuple[str, ...]  # KEY=VALUE, besides what the platform file says
    programs: Tuple[str, ...]  # in the build's folder `cmake`
    tools: Tuple[str, ...] = ()  # in the same folder: what reads the files of a run, on this machine
    firmware: Optional[str] = None  # in the same folder: what the IPU runs instead of its usual firmware
    prepares = ""  # lines of a shell script, before machines are forked
    seconds: float  # of wall time that a run takes beside another one; the time left is estimated from how loads compare

    @abc.abstractmethod
    def command(self, run) -> str:
        """The guest's command for a run, one line."""

    @abc.abstractmethod
    def result(self, run, files: Files) -> dict:
        """The result of a run. Raises BadResult, OSError, ValueError or KeyError if it has none."""

    @abc.abstractmethod
    def check(self, result: dict) -> None:
        """Raises BadResult, KeyError or TypeError if a result that was read from a file cannot be one."""

    def boot(self) -> str:
        """The guest's script until the mark. What the boot has left to do would disturb the runs."""
        return f'sleep 0.4\n{self.prepares}sh -c "$(vpctl mark {MARK})"\n'


def begin(variant: Variant) -> List[str]:
    """The first commands of a run: its programs are found, and its modules are there."""
    modules = [" ".join(["insmod", f"{SHARE}/{module}.ko", *parameters]) for module, parameters in variant.modules]
    return [f"PATH={SHARE}:$PATH", *modules]


def under(variant: Variant, policy: str, cpus: str, more: Tuple[str, ...] = ()) -> str:
    """What precedes the command whose tasks an agent schedules."""
    return " ".join(["schedule", "--policy", policy, "--cpus", cpus, *variant.schedule, *more])


ROUNDS_OF_A_TICK = 2_000  # of the guest's loop that takes 2 us for each


def shift(seed: int) -> str:
    """Moves a load against the host's tick of 4 ms. By the golden ratio, any number of seeds are spread over the whole tick. The
    CPU computes meanwhile, so that its tick goes on."""
    return f"for i in $(seq {ROUNDS_OF_A_TICK * (618 * seed % 1_000) // 1_000}); do :; done"


def output(command: str) -> str:
    return f"{command} > {SHARE}/out 2> {SHARE}/err"


def numbers(words: str, text: str) -> Dict[str, int]:
    """The lines `WORDS NAME [...] NUMBER` of `schedule` by name."""
    return {name: int(number) for name, number in re.findall(rf"(?m)^{words} (\w+)(?: sent)? (\d+)\b", text)}


def number(words: str, text: str, missing: Optional[int] = 0) -> Optional[int]:
    """The number of a line `WORDS NUMBER`, where WORDS may be a pattern."""
    found = re.search(rf"(?m)^{words} (\d+)$", text)
    return int(found[1]) if found else missing


def counted(variant: Variant, text: str) -> dict:
    """What `schedule` says of a run, if it has an agent."""
    if variant.schedule is None:
        return {}
    found = {
        "messages": sum(numbers("message", text).values()),
        "decisions": numbers("decision", text),
        "outcomes": numbers("outcome", text),
        "kicks": number("kicks", text),
        "fallbacks": number("fallbacks", text),
    }
    if not found["messages"]:
        raise BadResult("schedule has counted nothing")
    # An agent that begins anew may be told twice of a task that has just come.
    if not found["fallbacks"] and number("messages malformed", text):
        raise BadResult("the agent has refused messages, and may have lost tasks")
    ports = numbers("port", text)
    if ports:
        found["ports"] = ports
    return found


def device(stats: dict) -> dict:
    """What has crossed the link, and how long a host's read takes."""
    counters = stats["counters"]
    functions = ("ipu.endpoint.pf0", "ipu.endpoint.pf1")  # of the OAE block, and of queues
    return {
        "device": {
            **{name.removeprefix("bar_"): sum(counters[f"{function}.{name}"] for function in functions)
               for name in ("bar_reads", "bar_writes", "interrupts")},
            "bytes_down": counters["host_ipu.down.wire_bytes"],
            "bytes_up": counters["host_ipu.up.wire_bytes"],
            "line_fills": counters["ipu.queue_memory.line_fills"],
        },
        "read_ns": stats["latencies_ps"]["host.root_complex.read_latency"]["median"] / 1000,
    }  # fmt: skip
