# SPDX-License-Identifier: Apache-2.0
"""Agents that fail under load, or are only slow, and ways to them that fail: a load for each fault. What it takes until that is
noticed, by what, and until the agent decides again; what was lost, and how long a thread had to wait."""

import re
from typing import Dict, List, Optional, Tuple

from study.loads import load, traces
from study.loads.load import SHARE, BadResult, Files, Load
from study.variants import LADDER, ON_HOST, PORTS, VARIANTS

ORDER = 0xF00  # in the memory of the queue function: tests/firmware/faulty_agent_firmware.c
PAUSES_MS = (1, 10, 100)
PATIENCE_MS = 20  # how long a task may wait for a decision
HOST, QUEUES, SWAP_PORTS = (each[-1].name for each in (ON_HOST, LADDER, PORTS))
ON_IPU = (QUEUES, SWAP_PORTS)

POLICY = "shinjuku"
SPIN_US = 12_000  # CPU time of each thread that spins, if the agent soon works again or never does
BOTH, ALL_CPUS = "1-2", "0-2"  # CPU 0 is left to an agent on the host
SIGNS = ("watchdog", "liveness", "silence", "doubt", "all_ones", "reset", "removal")
TIMES = ("noticed", "fallback", "resumed", "decided")  # of a fallback, in their order
KILLED, WITHOUT_ITS_FIRMWARE = 137, 125  # exit codes of `schedule`
RECORDS = 400_000  # twice as many as an agent on the host makes while threads spin for 112 ms

HOT_PLUG = "pcie_links[0].hot_plug={capable: true, surprise: true}"
CONTAINMENT = "pcie_links[0].downstream_port_containment=true"


class Fault(Load):
    """There are more threads than CPUs: pairs wake each other in turn, and as many threads spin. A run's size is empty,
    since what threads have to do depends on the fault."""

    programs = ("guest/scheduling/schedule", "tests/system/tasks", "tests/system/fault")
    tools = (traces.PROGRAM,)
    firmware = "tests/firmware/faulty_agent.elf"
    seconds = 3

    def __init__(self, name: str, title: str, begin: str, variants: Tuple[str, ...] = ON_IPU, *, link: str = HOT_PLUG,
                 spin_us: int = SPIN_US, threads: int = 8, cpus: str = BOTH, noticed: bool = True,
                 returns: bool = True):  # fmt: skip
        self.name, self.title, self.begin, self.variants = f"fault-{name}", title, begin, variants
        self.spin_us, self.threads, self.cpus = spin_us, threads, cpus
        self.noticed = noticed  # it has to be, or else must not be
        self.returns = returns  # the agent decides again
        self.platform = ("hosts[0].vcpus=3", link)
        self.traced = name != "killed"  # Then what writes the trace has ended, too.

    def command(self, run) -> str:
        variant = VARIANTS[run.variant]
        trace = ("--trace", f"{SHARE}/{traces.TRACE}", "--records", str(RECORDS)) if self.traced else ()
        watchdog = ("--watchdog", f"{PATIENCE_MS}ms")
        words = load.under(variant, POLICY, self.cpus, (*watchdog, *trace))
        steps = [
            *load.begin(variant),
            "device=/sys/bus/pci/devices/0000:01:00.1; root_port=/sys/bus/pci/devices/0000:00:01.0",
            FIND_LINK_CONTROL,
            *(["taskset -p 6 $$ > /dev/null"] if run.variant == HOST else []),
            f"{{ {words} tasks mixed {self.threads} {self.spin_us} > {SHARE}/out 2> {SHARE}/said & }}",
            "agent=$!; while kill -0 $agent && ! pidof tasks; do usleep 1000; done > /dev/null; usleep 4000; dmesg -c > /dev/null",
            load.shift(run.seed),
            f"{{ {self.begin}; }} > {SHARE}/began 2> {SHARE}/err",
            f"{{ code=0; wait $agent || code=$?; echo $code > {SHARE}/code; }}",
            "while pidof tasks > /dev/null; do usleep 1000; done",
            traces.TELL_PARAMETERS,
            f"cat /sys/kernel/sched_ext/state > {SHARE}/state; dmesg -r > {SHARE}/dmesg",
        ]
        return " && ".join(steps)

    def code(self, variant: str) -> int:
        """The exit code of `schedule`. Without its firmware, it cannot say what that has counted."""
        if self.name == KILL.name:
            return KILLED
        return 0 if self.returns or variant == HOST else WITHOUT_ITS_FIRMWARE

    def result(self, run, files: Files) -> dict:
        """Times are in ns, and count from the fault on."""
        output, said = files.text(), files.text("began")
        began = load.number("fault began at", said, None)
        ended = load.number("scheduler ended at", said, None)
        code = int(files.text("code"))
        gap = re.search(r"(?m)^longest gap (\d+) until (\d+)$", output)
        done = re.search(r"(?m)^mixed (\d+) done in \d+ ns$", output)
        if began is None or not done or int(done[1]) != self.threads or not gap:
            raise BadResult(f"not all of {self.threads} threads are done")
        if code != self.code(run.variant):
            raise BadResult(f"schedule has ended with {code}: {files.text('said').strip()}")
        found = {
            "longest_gap": int(gap[1]),
            "turns": load.number("turns", output),
            "lost": load.number("messages lost", output),
            "fallbacks": fallbacks(output, began),
            "ended": None if ended is None else ended - began,
        }
        if self.traced:
            # Until the watchdog acts, tasks may wait for an agent that is slow.
            found.update(traces.evidence(files, VARIANTS[run.variant], POLICY, "--wait", str(PATIENCE_MS)))
        self.check(found)
        return found

    def check(self, result: dict) -> None:
        if not result["longest_gap"] > 0 or not result["turns"] > 0:
            raise BadResult("no thread has gone on")
        for each in result["fallbacks"]:
            known = [each[name] for name in TIMES if each[name] is not None]
            if each["sign"] not in SIGNS or not known or known != sorted(known):
                raise BadResult("a fallback has no sign, or has ended before it began")
        if not self.traced:
            return
        account = result["account"]
        if account["unaccounted"] or account["fallbacks"] != len(result["fallbacks"]):
            raise BadResult("the trace does not say what became of each decision, or has another number of fallbacks")


def fallbacks(output: str, began: int) -> List[dict]:
    """What `schedule` says of each time that tasks took turns without the agent. What it does not say is None."""
    found = []
    for part in re.split(r"(?m)^(?=fault noticed by )", output)[1:]:
        each: Dict[str, Optional[int]] = {name: load.number(name, part, None) for name in ("waited", "undelivered")}
        for name in TIMES:
            at = load.number(rf"(?:fault )?{name}(?: by \w+)? at", part, None)
            each[name] = None if at is None else at - began
        found.append({"sign": part.split()[3], **each})
    return found


def order(kind: int, argument: int = 0) -> str:
    return f"fault order $device/resource2 {ORDER} {kind << 56 | argument}"


def pauses() -> List[Fault]:
    found = []
    for ms in PAUSES_MS:
        noticed = ms > PATIENCE_MS
        spin = SPIN_US + (SPIN_US if noticed else 1_000 * ms)
        found.append(Fault(f"stopped-{ms}ms", f"stopped for {ms} ms", f"fault stop $agent {1_000 * ms}", (HOST,), spin_us=spin,
                           noticed=noticed, returns=not noticed))  # fmt: skip
        found.append(Fault(f"pause-{ms}ms", f"pause of {ms} ms", order(1, 1_000 * ms), spin_us=spin, noticed=noticed))
    return found


CUT = 'fault platform "inject host_ipu.up surprise_down"'
PULLED = 'fault platform "hot_plug host_ipu remove"'
# Link Control of the root port: its bit 4 disables the link, bit 5 trains it again.
FIND_LINK_CONTROL = "control=$(($(lspci -vs 00:01.0 | sed -n 's/.*Capabilities: .\\(..\\). Express.*/0x\\1/p') + 0x10))"
CONTROL = "fault config $root_port/config $control"

KILL = Fault("killed", "killed", "fault kill $agent", (HOST,), returns=False)
ALL = (
    KILL,
    *pauses(),
    Fault("hang", "hangs", order(2), spin_us=2 * SPIN_US),
    Fault("hang-idle", "hangs while a CPU idles", order(2), spin_us=4 * SPIN_US, threads=4, cpus=ALL_CPUS),
    Fault("crash", "crashes", order(3), spin_us=2 * SPIN_US),
    Fault("retrained", "link trained again", f"{CONTROL} 0x20", noticed=False),
    Fault("cut", "link cut, and back", CUT, link=CONTAINMENT, spin_us=100_000),
    Fault("disabled", "link cut for good", f"{CONTROL} 0x10", link=CONTAINMENT, spin_us=2 * SPIN_US, returns=False),
    Fault("pulled", "card pulled", PULLED, returns=False),
    Fault("replaced", "card pulled, and back after 20 ms", f"{PULLED}; sleep 0.02; vpctl hot_plug host_ipu insert",
          spin_us=150_000),
)  # fmt: skip
