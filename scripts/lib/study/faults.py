# SPDX-License-Identifier: Apache-2.0
"""The load `faults`: an agent that fails under full load, or is only slow, by variant and fault. What it takes until that is
noticed, by what, and until the agent decides again; what was lost, and how long a thread had to wait."""

import dataclasses
import re
from typing import Dict, List, Optional, Tuple

from figures_table import Table

SHARE = "/share"
FILES = ("began", "out", "code")  # of which a result is made
ORDER = 0xF00  # in the memory of the queue function: tests/firmware/faulty_agent_firmware.c
PAUSES_US = (100, 1_000, 10_000, 100_000)
NOTICED_FROM_US = 20_000  # how long a task may wait for a decision
MISSED = "-"

# More threads than CPUs: two pairs wake each other in turn, and four threads spin. CPU 0 is left to an agent on the host.
CPUS = "1-2"
THREADS = 8
SPIN_US = 12_000  # CPU time of each that spins, if the agent soon works again or never does


@dataclasses.dataclass(frozen=True)
class Variant:
    title: str
    module: str  # of the transport, or "" if there is none
    options: str  # of `schedule`


VARIANTS = {
    "host": Variant("agent on the host", "", "--agent-cpu 0 --watchdog 20ms"),
    "queue": Variant("queues", "oae_sched_queue", "--transport queue"),
    "port": Variant("swap ports", "oae_sched_port", "--transport port"),
}

# What a machine needs besides what queues and ports need.
COMMON = ("hosts[0].vcpus=3", "ipus[0].cores=2", "ipus[0].endpoint.queue_function.present=true",
          "ipus[0].endpoint.queue_function.memory=256KiB")  # fmt: skip
MACHINES = {
    "hot_plug": ("pcie_links[0].hot_plug={capable: true, surprise: true}",),
    "containment": ("pcie_links[0].downstream_port_containment=true",),
}


@dataclasses.dataclass(frozen=True)
class Fault:
    title: str
    begin: str  # the guest's command
    variants: Tuple[str, ...] = ("queue", "port")
    machine: str = "hot_plug"
    spin_us: int = SPIN_US
    noticed: bool = True  # it has to be, or else must not be
    returns: bool = True  # the agent decides again


def order(kind: int, argument: int = 0) -> str:
    return f"fault order $device/resource2 {ORDER} {kind << 56 | argument}"


def pauses() -> Dict[str, Fault]:
    found = {}
    for us in PAUSES_US:
        noticed = us > NOTICED_FROM_US
        work = SPIN_US + (SPIN_US if noticed else us)
        found[f"stopped_{us}us"] = Fault(f"stopped for {us / 1000:g} ms", f"fault stop $agent {us}", ("host",), spin_us=work,
                                         noticed=noticed, returns=not noticed)  # fmt: skip
        found[f"pause_{us}us"] = Fault(f"pause of {us / 1000:g} ms", order(1, us), spin_us=work, noticed=noticed)
    return found


CUT = 'fault platform "inject host_ipu.up surprise_down"'
PULLED = 'fault platform "hot_plug host_ipu remove"'
# Link Control of the root port: its bit 4 disables the link, bit 5 trains it again.
FIND_LINK_CONTROL = "control=$(($(lspci -vs 00:01.0 | sed -n 's/.*Capabilities: .\\(..\\). Express.*/0x\\1/p') + 0x10))"
CONTROL = "fault config $root_port/config $control"

FAULTS: Dict[str, Fault] = {
    "killed": Fault("killed", "fault kill $agent", ("host",), returns=False),
    **pauses(),
    "hang": Fault("hangs", order(2), spin_us=2 * SPIN_US),
    "crash": Fault("crashes", order(3), spin_us=3 * SPIN_US),
    "retrained": Fault("link trained again", f"{CONTROL} 0x20", noticed=False),
    "cut": Fault("link cut, and back", CUT, machine="containment", spin_us=100_000),
    "disabled": Fault("link cut for good", f"{CONTROL} 0x10", machine="containment", spin_us=2 * SPIN_US, returns=False),
    "pulled": Fault("card pulled", PULLED, spin_us=2 * SPIN_US, returns=False),
    "replaced": Fault("card pulled, and back after 20 ms", f"{PULLED}; sleep 0.02; vpctl hot_plug host_ipu insert",
                      spin_us=200_000),  # fmt: skip
}


@dataclasses.dataclass(frozen=True)
class Point:
    variant: str
    fault: str

    def title(self) -> str:
        return f"{VARIANTS[self.variant].title}: {FAULTS[self.fault].title}"

    def machine(self) -> str:
        return FAULTS[self.fault].machine


def points() -> List[Point]:
    return [Point(variant, fault) for variant in VARIANTS for fault, each in FAULTS.items() if variant in each.variants]


def command(point: Point, traced: bool = False) -> str:
    """The guest's commands, in one line. An agent on the host that is killed leaves no trace."""
    variant, fault = VARIANTS[point.variant], FAULTS[point.fault]
    modules = ["oae_sched", *([variant.module] if variant.module else [])]
    trace = f"--trace {SHARE}/trace " if traced else ""
    load = f"tasks mixed {THREADS} {fault.spin_us}"
    steps = [
        f"PATH={SHARE}:$PATH; device=/sys/bus/pci/devices/0000:01:00.1; root_port=/sys/bus/pci/devices/0000:00:01.0",
        FIND_LINK_CONTROL,
        "taskset -p 6 $$ > /dev/null" if point.variant == "host" else ":",
        *(f"insmod {SHARE}/{module}.ko" for module in modules),
        f"{{ schedule {trace}{variant.options} --cpus {CPUS} --policy shinjuku --prestage {load} > {SHARE}/out 2> {SHARE}/err & }}",
        "agent=$!; while kill -0 $agent && ! pidof tasks; do usleep 1000; done > /dev/null; usleep 4000; dmesg -c > /dev/null",
        f"{{ {fault.begin}; }} > {SHARE}/began",
        f"code=0; wait $agent || code=$?; echo $code > {SHARE}/code",
        "while pidof tasks > /dev/null; do usleep 1000; done",
        f"cat /sys/kernel/sched_ext/state > {SHARE}/state; dmesg -r > {SHARE}/dmesg",
    ]
    return "; ".join(steps)


class BadResult(Exception):
    """The output of a run is not what it has to be; the message says why."""


def number(text: str, pattern: str) -> Optional[int]:
    found = re.search(rf"(?m)^{pattern}$", text)
    return int(found[1]) if found else None


def fallbacks(output: str) -> List[dict]:
    """What `schedule` says of each time that tasks took turns without the agent."""
    found = []
    for part in re.split(r"(?m)^(?=fault noticed by )", output)[1:]:
        sign, noticed = re.match(r"fault noticed by (\w+) at (\d+)\n", part).groups()
        found.append({"sign": sign, "noticed": int(noticed)})
        for name in ("fallback at", "waited", "resumed at", "decided at", "undelivered"):
            found[-1][name.split()[0]] = number(part, rf"{name} (\d+)")
    return found


def result(point: Point, files: Dict[str, str]) -> dict:
    """Figures from FILES of a run. Times are in ns, and count from the fault on."""
    output, began = files["out"], number(files["began"], r"fault began at (\d+)")
    ended = number(files["began"], r"scheduler ended at (\d+)")
    gap = re.search(r"(?m)^longest gap (\d+) until (\d+)$", output)
    done = number(output, rf"mixed (\d+) done in \d+ ns")
    if began is None or done != THREADS or not gap:
        raise BadResult(f"{point.title()}: {done} of {THREADS} threads are done")
    found = {
        "code": int(files["code"]),
        "longest_gap": int(gap[1]),
        "gap_until": int(gap[2]) - began,
        "turns": number(output, r"turns (\d+)"),
        "lost": number(output, r"messages lost (\d+)") or 0,
        "fallbacks": fallbacks(output),
        "ended": ended - began if ended else None,
    }
    for each in found["fallbacks"]:
        for name in ("noticed", "fallback", "resumed", "decided"):
            each[name] = each[name] - began if each[name] is not None else None
    return found


def us(time: Optional[int]) -> str:
    return MISSED if time is None else f"{time / 1000:,.1f}"


def texts(found: dict) -> List[str]:
    """The columns of a row: by what and when the fault was noticed, when tasks took turns and the agent decided again, what
    was lost, and the longest time in which a thread did not go on."""
    gap = us(found["longest_gap"])
    if found["ended"] is not None and not found["fallbacks"]:
        return ["the agent's end", us(found["ended"]), us(found["ended"]), MISSED, MISSED, gap]
    if not found["fallbacks"]:
        return ["not noticed", MISSED, MISSED, MISSED, MISSED, gap]
    first, last = found["fallbacks"][0], found["fallbacks"][-1]
    lost = MISSED if first["undelivered"] is None else str(first["undelivered"])
    return [first["sign"], us(first["noticed"]), us(first["fallback"]), us(last["decided"]), lost, gap]


def table(results: Dict[Point, dict]) -> Table:
    return Table(
        "Agents that fail under full load, us after the fault",
        ["noticed by", "noticed", "fallback", "decided again", "undelivered", "longest gap"],
        [(point.title(), texts(results[point])) for point in points() if point in results],
        [
            f"{THREADS} threads on CPUs {CPUS}, Shinjuku with prestaged decisions: four spin, and two pairs wake each other.",
            "noticed: the sign that made tasks take turns. decided again: first decision of the agent that has begun anew.",
            "undelivered: messages that the agent had not got before. longest gap: longest time in which a thread has not gone on.",
        ],
    )
