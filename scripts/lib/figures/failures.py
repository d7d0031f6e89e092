# SPDX-License-Identifier: Apache-2.0
"""Figures of swaps over PCIe that fail: a lost answer, a link that goes down, firmware that stops. Times in ps."""

import pathlib
import re
import subprocess
from typing import Callable, Iterable, List, Tuple

from figures.machine import Child, children, program_of, root_complex_latency
from figures.swap import FORMS
from figures.table import Failure, Requirement, Table, ns, rtts, us
from latency import picoseconds

LATENCY = 250_000  # of the link, one way
RTT = 2 * LATENCY
BLOCK_CLOCK = 2_000  # 500 MHz
TICK = 1_000_000_000  # firmware/config.h: from one sign of life to the next
SERVED = 10  # tests/firmware/stopping_firmware.c: swaps, after which it stops

# The answer of a first swap is the fifth completion of its program, after four of the open.
LOST = """
vpctl inject host_ipu.up completion_timeout CplD 5
oae swap 7 --json > /share/swap
"""

# The third swap of the program, which settles a swap in doubt as it went.
DOWN = """
vpctl inject host_ipu.up malformed_tlp CplD 7
/share/swapper 0 /tmp/record & swapper=$!
sleep 1
touch /tmp/stop
wait $swapper
"""

STOPPED = f"""
echo 5 > /sys/module/oae/parameters/mailbox_timeout_ms
oae bench --count {SERVED + 4} --timeout 0s > /share/bench 2>&1 || true
sleep 0.01
oae swap --timeout 0s --json > /share/swap || true
"""


def answers_of(lines: Iterable[dict], addresses: Iterable[int]) -> List[Tuple[int, int]]:
    """Departure of each read for an answer of port 0, and arrival of its completion, or 0."""
    found, open_reads = [], {}
    for line in lines:
        if line.get("type") == "MRd" and line["dir"] == "down" and int(line["addr"], 16) in addresses:
            open_reads[line["tag"]] = len(found)
            found.append((line["t"], 0))
        elif line.get("type") == "CplD" and line["dir"] == "up" and line["tag"] in open_reads:
            number = open_reads.pop(line["tag"])
            found[number] = (found[number][0], line["arr"])
    return found


def answer_addresses(child: Child) -> List[int]:
    return [child.bar(bar) + answer for bar, _, answer in FORMS.values()]


def states_of(lines: Iterable[dict], to: str) -> List[int]:
    """Times at which swaps of port 0 reached this state."""
    return [line["t"] for line in lines if line.get("swap") and line["port"] == 0 and line["to"] == to]


def slowest_read(child: Child) -> int:
    """Durations of the host's reads, from the processor and back."""
    return child.stats()["latencies_ps"]["host.root_complex.read_latency"]["max"]


def lost(build: pathlib.Path) -> dict:
    program = program_of(build)
    listing = subprocess.run([program, "keys", "completion_timeout"], check=True, stdout=subprocess.PIPE, text=True).stdout
    timeout = picoseconds(re.search(r"default (\S+)", listing)[1])
    with children(build, {"lost": LOST}, append="pci=noaer", stats=True) as ended:
        child = ended["lost"]
        swap = child.json("swap")
        *_, (again, settled) = answers_of(child.trace(), answer_addresses(child))
        noticed = slowest_read(child)
    if swap["status"] != "committed" or not settled:
        raise Failure(f"the answer that was lost: {swap}")
    return {"timeout": timeout, "noticed": noticed, "settled": settled - again + 2 * root_complex_latency(build)}


def down(build: pathlib.Path) -> dict:
    swapper = build / "cmake" / "tests" / "system" / "swapper"
    with children(build, {"down": DOWN}, "pcie_links[0].downstream_port_containment=true",
                  files=[swapper], stats=True) as ended:  # fmt: skip
        child = ended["down"]
        lines = [line for line in child.trace() if "link" in line or "swap" in line]
        slowest = slowest_read(child)
    at, back = max(zip(lines, lines[1:]), key=lambda pair: pair[1]["t"] - pair[0]["t"])
    before = [line for line in lines[: lines.index(at) + 1] if line.get("swap")]
    settled = next(line for line in lines[lines.index(back) :] if line.get("swap"))
    if before[-1]["to"] != "tentative" or settled["seq"] != before[-1]["seq"] or at["type"] != "CplD":
        raise Failure(f"the link went down at another moment: {at}, {before[-1]}, {settled}")
    went = at["arr"]
    return {
        "outcome": settled["to"],
        "slowest": slowest,
        "back": back["arr"] - went,
        "settled": settled["t"] - back["arr"],
        "doubt": settled["t"] - went,
    }


def stopped(build: pathlib.Path) -> dict:
    firmware = build / "cmake" / "tests" / "firmware" / "stopping.elf"
    root_complex = root_complex_latency(build)
    with children(build, {"stopped": STOPPED}, firmware=firmware) as ended:
        child = ended["stopped"]
        lines = list(child.trace())
        swap = child.json("swap")
        answers = answers_of(lines, answer_addresses(child))
    tentative = states_of(lines, "tentative")
    refused = [(asked, came) for asked, came in answers if not any(asked < time < came for time in tentative)]
    if len(tentative) < SERVED or not refused or swap["status"] != "not ready":
        raise Failure(f"{len(tentative)} swaps of firmware that stops after {SERVED}, {len(refused)} refused: {swap}")
    asked, came = refused[0]
    return {
        "left": len(tentative) - SERVED,
        "answered": came - asked + 2 * root_complex,
        "age": int(swap["answer"][0], 16) * BLOCK_CLOCK,
        "later": 1000 * swap["from_read_ns"],
    }


def table(found: dict) -> Table:
    lost_, down_, stopped_ = found["lost"], found["down"], found["stopped"]
    rows = [
        ("answer lost on the way, after the interaction: noticed after", us(lost_["noticed"]), "completion timeout"),
        ("  settled after that, by asking once more", us(lost_["settled"]), f"{rtts(lost_['settled'], RTT)} RTT"),
        ("link down as the answer comes: a read ends after, at most", us(down_["slowest"]), "all ones"),
        ("  link back after (containment, and Linux's recovery)", us(down_["back"]), "Linux waits"),
        (f"  settled after that, {down_['outcome']}", us(down_["settled"]), "registers restored first"),
        ("  in doubt for", us(down_["doubt"]), ""),
        (f"firmware stops: swaps that it still answers: {stopped_['left']}", "", "its offer stands"),
        ("  next swap is answered NOT_READY after", us(stopped_["answered"]), f"{rtts(stopped_['answered'], RTT)} RTT"),
        ("  later asked, the age of its last sign of life is", us(stopped_["age"]), f"one every {us(TICK)}"),
    ]
    return Table(
        "Swaps over PCIe that fail, pushed; link of 250 ns each way",
        ["us", ""],
        [(name, [time, note]) for name, time, note in rows],
        [
            f"The completion timeout is {us(lost_['timeout'])} us here; a platform file may set it, from 50 us on.",
        ],
    )


def requirements(found: dict) -> List[Requirement]:
    lost_, stopped_ = found["lost"], found["stopped"]
    source = "this project's design"
    return [
        Requirement("a lost answer is noticed at most at the completion timeout", source, f"{us(lost_['noticed'])} us",
                    lost_["noticed"] <= lost_["timeout"]),
        Requirement("while the link is up, doubt is settled in one more round trip", source,
                    f"{ns(lost_['settled'])} ns", lost_["settled"] < 2 * RTT),
        Requirement("dead firmware is noticed one round trip after asking", source, f"{ns(stopped_['answered'])} ns",
                    stopped_["answered"] < 2 * RTT and stopped_["age"] > TICK),
    ]  # fmt: skip


def results(build: pathlib.Path, progress: Callable[[str], None]) -> Tuple[List[Table], List[Requirement], dict]:
    """The table, the requirements and all measurements."""
    found = {}
    for name, text, measure in (
        ("lost", "an answer that is lost", lost),
        ("down", "a link that goes down", down),
        ("stopped", "firmware that stops", stopped),
    ):
        progress(text)
        found[name] = measure(build)
    return [table(found)], requirements(found), found
