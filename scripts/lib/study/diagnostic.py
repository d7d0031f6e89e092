# SPDX-License-Identifier: Apache-2.0
"""The FITO diagnostic ("forward in time only"): by which of four means a run keeps host and agent in step. It is scored in the
same way for every variant, from the run's configuration and from what was counted. guest/scheduling/FITO.md says what each
criterion means, and which code each mechanism is in.

A configuration has these keys; those that a variant lacks may be missing:
    transport ("memory", "queue" or "port"), policy (as of `schedule`), time_slice (ns), prestage (0: off), cpus (how many),
    rule ("barrier" or "owner"), watchdog (ns; 0: off), watchdog_by ("waiting" or "liveness"), completion_timeout (ns), and
    parameters of the modules: period_us, patience_us, silence_ms, tries, answer_timeout_ms
Figures are the lines of `scheduling-trace account`, by name; interrupts and completion_timeouts as the machine counts them; and
"noticed SIGN", how often `schedule` has noticed by a sign that the agent failed.
"""

import dataclasses
from typing import Callable, Dict, List, Mapping, Optional, Sequence

RELIED = "relied on"
UNUSED = "configured, not used in this run"
ABSENT = "absent"

SLICED = ("shinjuku", "vm")
ON_DEVICE = ("queue", "port")
CLASS_TIMEOUT = 30  # s: scheduler.bpf.c


class BadConfiguration(Exception):
    """A run cannot be scored; the message says why."""


@dataclasses.dataclass(frozen=True)
class Mechanism:
    """Something by which a variant can keep the two in step."""

    name: str
    setting: Callable[[Mapping], Optional[str]]  # from the configuration; None: this run does not have it
    uses: Callable[[Mapping], int]  # from the figures: how often it has acted


@dataclasses.dataclass(frozen=True)
class Criterion:
    name: str
    mechanisms: List[Mechanism]
    notes: List[Mechanism]  # what looks alike, but does not count


@dataclasses.dataclass(frozen=True)
class Evidence:
    name: str
    setting: str
    uses: int


@dataclasses.dataclass(frozen=True)
class Verdict:
    criterion: str
    verdict: str
    evidence: List[Evidence]
    notes: List[Evidence]


def aborted(figures: Mapping) -> int:
    """Decisions that the kernel has refused."""
    return sum(number for name, number in figures.items() if name.startswith("aborted "))


def claimed(figures: Mapping) -> int:
    return figures["decisions"] - figures["withdrawn"]


def found_at_once(figures: Mapping) -> int:
    return sum(figures[f"freed {how}"] for how in ("prestaged", "in_time", "refused"))


def uncalled(figures: Mapping) -> int:
    """At least so many decisions were found neither as a task stopped nor after a call: a period was over."""
    return max(0, claimed(figures) - found_at_once(figures) - figures["interrupts"])


def periods(figures: Mapping) -> int:
    return max(0, figures["kicks"] - figures["interrupts"])


def noticed(*signs: str) -> Callable[[Mapping], int]:
    return lambda figures: sum(figures.get(f"noticed {sign}", 0) for sign in signs)


def withdrawn(figures: Mapping) -> int:
    return figures["withdrawn"]


def port(name: str) -> Callable[[Mapping], int]:
    return lambda figures: figures.get(f"port {name}", 0)


def never(_: Mapping) -> int:
    """A run in which it has acted fails, and has no figures."""
    return 0


def always(text: str = "") -> Callable[[Mapping], Optional[str]]:
    return lambda configuration: text


def by(transports, text: str = "") -> Callable[[Mapping], Optional[str]]:
    return lambda configuration: text if configuration["transport"] in transports else None


def parameter(name: str, unit: str, transports=("port",)) -> Callable[[Mapping], Optional[str]]:
    """Of a module. 0 switches off what it limits."""

    def setting(configuration: Mapping) -> Optional[str]:
        value = configuration.get(name, 0)
        return f"{value:,} {unit}" if value and configuration["transport"] in transports else None

    return setting


def time_slice(configuration: Mapping) -> Optional[str]:
    return f"{configuration['time_slice']:,} ns" if configuration["policy"] in SLICED else None


def runtimes(configuration: Mapping) -> Optional[str]:
    return "vm" if configuration["policy"] == "vm" else None


def begins(configuration: Mapping) -> Optional[str]:
    """Only where there is one queue, and a choice."""
    choice = configuration["prestage"] and configuration["cpus"] > 1 and configuration["policy"] != "fifo-per-cpu"
    return f"{configuration['cpus']} CPUs" if choice else None


def watchdog(configuration: Mapping) -> Optional[str]:
    patience = configuration["watchdog"]
    by_what = configuration.get("watchdog_by", "waiting")
    return f"{patience:,} ns, by {by_what}" if patience else None


def barrier_rule(configuration: Mapping) -> str:
    return f"rule: {configuration.get('rule', 'barrier')}"


CLOCKS = Criterion(
    "clocks for truth",
    [
        Mechanism("time slices, after which the policy has a task leave", time_slice, lambda figures: figures["decided PREEMPT"]),
        Mechanism("measured runtimes, by which the policy orders tasks", runtimes, lambda figures: figures["decisions"]),
        Mechanism("times at which tasks began, by which the policy chooses the CPU to prestage for", begins,
                  lambda figures: figures["decided PRESTAGE"]),
    ],
    [
        Mechanism("barriers, which are logical clocks: decisions that were compared", always(), claimed),
        Mechanism("stamps of the newest message, upon which nobody acts: decisions with one", always(),
                  lambda figures: figures["decisions"]),
    ],
)  # fmt: skip

TIMEOUTS = Criterion(
    "timeouts for safety",
    [
        Mechanism("the scheduler's watchdog", watchdog, noticed("watchdog", "liveness")),
        Mechanism("the watchdog of sched_ext", always(f"{CLASS_TIMEOUT} s"), never),
        Mechanism("the completion timeout of the link", parameter("completion_timeout", "ns", ON_DEVICE),
                  lambda figures: figures["completion_timeouts"]),
        Mechanism("the limit of an agent's answer to requests", parameter("answer_timeout_ms", "ms", ON_DEVICE), never),
        Mechanism("the period of a port, by decisions for which no call came", parameter("period_us", "us"), uncalled),
        Mechanism("the patience of a CPU for room, by events that it then kept", parameter("patience_us", "us"), port("kept")),
        Mechanism("the limit of an agent's silence", parameter("silence_ms", "ms"), noticed("silence")),
    ],
    [
        Mechanism("periods that were over, and in which nothing had been missed", parameter("period_us", "us"), periods),
        Mechanism("answers NOT_READY, which come in one round trip and are asked for again", parameter("tries", "tries"),
                  lambda figures: port("swap_not_ready")(figures) + port("send_not_ready")(figures)),
    ],
)  # fmt: skip

LATEST = Criterion(
    "latest wins or abort",
    [
        Mechanism("decisions that the kernel refuses, since task or CPU has changed", barrier_rule, aborted),
        Mechanism("decisions that a change takes back before the task runs", always(), lambda figures: figures["taken_back"]),
        Mechanism("decisions that the agent takes back or replaces", always(), withdrawn),
        Mechanism("messages that came after a newer one, and are ignored", always(), lambda figures: figures["superseded"]),
    ],
    [
        Mechanism("decisions that the CPU had before the agent wanted them back: the first wins", by(("port",)), port("late")),
    ],
)  # fmt: skip

LOGS = Criterion(
    "no step back without a log",
    [
        Mechanism("numbers of decisions and their ends in the ring, by which the agent learns whether it has got one back",
                  by(("queue",)), withdrawn),
        Mechanism("the journal of a port, by which a swap in doubt is settled or reversed", by(("port",)),
                  lambda figures: port("doubts")(figures) + port("reversed")(figures)),
    ],
    [
        Mechanism("steps back without a log: an offer is withdrawn in the interaction itself, and only counted", by(("port",)),
                  port("revoked")),
        Mechanism("steps back without a log: a slot in shared memory is exchanged atomically", by(("memory",)), withdrawn),
        Mechanism("agents that began anew and learnt all from the kernel, not from a log", always(),
                  lambda figures: figures["resumed"]),
    ],
)  # fmt: skip

CRITERIA = [CLOCKS, TIMEOUTS, LATEST, LOGS]


def found(mechanisms: List[Mechanism], configuration: Mapping, runs: Sequence[Mapping]) -> List[Evidence]:
    settings = [(each, each.setting(configuration)) for each in mechanisms]
    return [Evidence(each.name, setting, sum(map(each.uses, runs))) for each, setting in settings if setting is not None]


def verdict(criterion: Criterion, configuration: Mapping, runs: Sequence[Mapping]) -> Verdict:
    evidence = found(criterion.mechanisms, configuration, runs)
    used = any(each.uses for each in evidence)
    return Verdict(criterion.name, RELIED if used else UNUSED if evidence else ABSENT, evidence,
                   found(criterion.notes, configuration, runs))  # fmt: skip


def diagnose(configuration: Mapping, *runs: Mapping) -> List[Verdict]:
    """The verdict on each criterion, from the figures of runs of this configuration."""
    if configuration["transport"] not in ("memory", *ON_DEVICE):
        raise BadConfiguration(f"there is no transport '{configuration['transport']}'")
    if any(figures["unaccounted"] or (figures["lost"] and not figures["fallbacks"]) for figures in runs):
        raise BadConfiguration("decisions or messages were lost, so that counts say nothing")
    return [verdict(each, configuration, runs) for each in CRITERIA]


def together(runs: List[Mapping]) -> Dict[str, int]:
    """The figures of several runs, added up."""
    sums: Dict[str, int] = {}
    for figures in runs:
        for name, number in figures.items():
            sums[name] = sums.get(name, 0) + number
    return sums
