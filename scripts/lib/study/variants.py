# SPDX-License-Identifier: Apache-2.0
"""The variants of a study: who decides which task a CPU runs, and by what way host and agent speak to each other.

A new variant is an entry of VARIANTS. It says which modules the guest loads and with what parameters, the options of
`schedule`, and the values of the platform file by which its machine differs. A table gets a row for it in rows.py.
"""

import dataclasses
from typing import Dict, FrozenSet, Iterable, Optional, Tuple

# The optimisations of Wave in the order in which the ladder adds them. All but the last are parameters of a module.
OPTIMISATIONS = {
    "agent_cached": "the agent reaches the queues through its cache",
    "write_combining": "messages are written by write combining",
    "write_through": "decisions are read by write through",
    "prefetch_decisions": "that read starts before it is needed",
    "prestage": "a decision is made before it is needed",
}
PARAMETERS = [name for name in OPTIMISATIONS if name != "prestage"]


@dataclasses.dataclass(frozen=True)
class Variant:
    name: str
    modules: Tuple[Tuple[str, Tuple[str, ...]], ...] = ()  # in the order of loading: name, NAME=VALUE of its parameters
    schedule: Optional[Tuple[str, ...]] = None  # options; None: there is no agent, and the fair class decides
    platform: Tuple[str, ...] = ()  # KEY=VALUE

    def programs(self) -> Tuple[str, ...]:
        return () if self.schedule is None else ("schedule",)


def wave_name(on: FrozenSet[str]) -> str:
    if not on or on == set(OPTIMISATIONS):
        return "wave-all" if on else "wave-none"
    return "-".join(["wave", *(name for name in OPTIMISATIONS if name in on)])


def wave(on: Iterable[str]) -> Variant:
    """Queues by MMIO with these optimisations."""
    found = frozenset(on)
    parameters = tuple(f"{name}={int(name in found)}" for name in PARAMETERS)
    prestage = ("--prestage",) if "prestage" in found else ()
    return Variant(
        wave_name(found),
        modules=(("oae_sched", ()), ("oae_sched_queue", parameters)),
        schedule=("--transport", "queue", *prestage),
    )


def ports(*options: str, carry: bool = True) -> Variant:
    """Swap ports: a CPU swaps for its decision, and sends events. Those that can come with something else do so, or none."""
    name = "-".join(["ports", *(option.strip("-") for option in options), *(() if carry else ("each_sent",))])
    return Variant(
        name,
        modules=(("oae_sched", ()), ("oae_sched_port", (f"carry_events={int(carry)}",))),
        schedule=("--transport", "port", *options),
    )


# An agent on the host and its CPUs tell each other by memory what has happened and what is decided; only kicks are interrupts.
# What one has stored, the other sees up to a slice too early or too late.
SPIN_SLICE = 20  # ns


def host(*options: str) -> Variant:
    """The agent is a thread that spins on CPU 0."""
    name = "-".join(["host", *(option.strip("-") for option in options)])
    return Variant(
        name,
        modules=(("oae_sched", ()),),
        schedule=("--agent-cpu", "0", *options),
        platform=(f"simulation.spin_slice={SPIN_SLICE}ns",),
    )


# By how many of the optimisations are on, and by which one is not.
LADDER = [wave(list(OPTIMISATIONS)[:length]) for length in range(len(OPTIMISATIONS) + 1)]
WITHOUT = {name: wave(set(OPTIMISATIONS) - {name}) for name in OPTIMISATIONS}
FLOOR = Variant("floor")
ON_HOST = [host(), host("--prestage")]
PORTS = [ports(carry=False), ports(), ports("--prestage", carry=False), ports("--prestage")]

def crossed(of: Variant, name: str, *options: str, parameters: Tuple[str, ...] = ()) -> Variant:
    """The same, but with a property of the other way: further options of `schedule`, and parameters of the last module."""
    *others, (module, given) = of.modules
    return dataclasses.replace(
        of,
        name=f"{of.name}-{name}",
        modules=(*others, (module, (*given, *parameters))),
        schedule=(*(of.schedule or ()), *options),
    )


# One property of queues or of swap ports at a time. A decision through a port counts by the rule of the owner unless said
# otherwise.
CROSSED = [
    crossed(LADDER[-1], "owner", "--rule", "owner"),
    crossed(LADDER[-1], "owner-liveness", "--rule", "owner", "--watchdog-by", "liveness"),
    crossed(LADDER[-1], "pushed", parameters=("decisions_pushed=1",)),
    crossed(PORTS[-1], "barrier", "--rule", "barrier"),
]

VARIANTS: Dict[str, Variant] = {each.name: each for each in [FLOOR, *ON_HOST, *LADDER, *WITHOUT.values(), *PORTS, *CROSSED]}
