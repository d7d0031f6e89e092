# SPDX-License-Identifier: Apache-2.0
"""Figures of two hosts whose swap ports are joined by a link of their IPUs: a slot from host to host. Times in ps."""

import dataclasses
import pathlib
import statistics
from typing import Callable, Dict, Iterable, List, Tuple

import joined_hosts
from figures.machine import PLATFORMS, ended
from figures.link import REQUIREMENTS
from figures.table import Failure, Requirement, Table, ns

PORT = 4  # the first that is joined, in both platforms
COUNT = 100  # slots each way
METRES = (1, 10)  # of the link between the IPUs, 5 ns each
# In a port's page (rtl/registers/port.yaml): what a swap reads, and what it writes afterwards.
READ, CONFIRM = 0x40, 0x48

# The two designs of the link, by their platform.
DESIGNS = {"pair": "transfers by the firmware", "window": "a window and a bridge"}

SCRIPT = f"{joined_hosts.BEGIN}{joined_hosts.exchange(str(PORT), str(COUNT))} > $role\n"


def changes(lines: Iterable[dict], machine: str, before: str, to: str) -> List[int]:
    """Times at which a link's state machine went from one state to another."""
    return [
        line["t"] for line in lines if line.get("machine") == machine and (line["from"], line["to"]) == (before, to)
    ]


@dataclasses.dataclass
class Crossings:
    """When each slot entered the link at one end, when it left the other end, and when the sender had settled it."""

    sent: List[int]
    received: List[int]
    settled: List[int]


def of_transfers(lines: List[dict], here: int, there: int) -> Crossings:
    of_link = {end: [line for line in lines if line.get("link") == f"ipu{end}.oae_link0"] for end in (here, there)}
    return Crossings(changes(of_link[here], "sender", "idle", "tentative"),
                     changes(of_link[there], "receiver", "tentative", "idle"),
                     changes(of_link[here], "sender", "committing", "idle"))  # fmt: skip


def of_window(lines: List[dict], here: int, there: int) -> Crossings:
    def bridge(end: int, what: str) -> List[int]:
        return [line["t"] for line in lines if line.get("bridge") == f"ipu{end}.oae.link" and line[what]]

    sent = bridge(here, "passes")
    # The ports have greeted each other before, and that is settled.
    settled, done = [], None
    for line in lines:
        if line.get("window") == f"ipu{here}.oae.link":
            settled += [line["t"]] * (0 if done is None else line["settled"] - done)
            done = line["settled"]
    return Crossings(sent, bridge(there, "brings"), settled)


CROSSINGS = {"pair": of_transfers, "window": of_window}


def arrivals(lines: List[dict], host: int, bar: int) -> List[Tuple[int, int]]:
    """For each answer to a read of the port: when it left the IPU, and when it was with the host."""
    register = bar + (PORT << 12) + READ
    tags, found = set(), []
    for line in lines:
        if line.get("link") != f"host{host}_ipu{host}":
            continue
        if line["type"] == "MRd" and line["dir"] == "down" and int(line["addr"], 16) == register:
            tags.add(line["tag"])
        elif line["type"] == "CplD" and line["dir"] == "up" and line["tag"] in tags:
            tags.remove(line["tag"])
            found.append((line["t"], line["arr"]))
    return found


def commits(lines: List[dict], host: int, bar: int) -> List[Tuple[int, int]]:
    """For each swap: when the confirmation left the host that committed it in its port, and when it did so."""
    register = bar + (PORT << 12) + CONFIRM
    confirmation, found = 0, []
    for line in sorted(lines, key=lambda line: line.get("arr", line["t"])):
        if line.get("link") == f"host{host}_ipu{host}":
            if line["type"] == "MWr" and line["dir"] == "down" and int(line["addr"], 16) == register:
                confirmation = line["t"]
        elif line.get("swap") == f"ipu{host}.oae" and line["port"] == PORT:
            if (line["from"], line["to"]) == ("tentative", "committed"):
                found.append((confirmation, line["t"]))
    return found


def taken(lines: List[dict], end: int) -> List[int]:
    """When the port exchanged slots."""
    return [
        line["t"]
        for line in lines
        if line.get("swap") == f"ipu{end}.oae" and line["port"] == PORT and line["to"] == "tentative"
    ]


def paths_of(lines: List[dict], platform: str, bar: int, here: int, there: int) -> List[Dict[str, int]]:
    """The duration of each part of the path, for all slots from one host to the other in order."""
    committed = commits(lines, here, bar)
    # The n-th swap there is answered by the slot that the previous swap here has sent.
    given = taken(lines, there)[1:]
    crossings = CROSSINGS[platform](lines, here, there)
    counts = [len(each) for each in (committed, crossings.sent, crossings.received, crossings.settled)]
    if counts != [COUNT] * len(counts):
        raise Failure(
            f"{counts[0]} slots of {COUNT} were committed, {counts[1]} sent, {counts[2]} received, {counts[3]} settled"
        )
    answers = arrivals(lines, there, bar)
    with_host = [next(arrival for left, arrival in answers if left >= time) for time in given]
    return [
        {"to_port": b - a, "to_link": c - b, "link": d - c, "settled": e - c, "to_swap": f - d, "to_host": g - f,
         "whole": g - a}
        for (a, b), c, d, e, f, g in zip(committed, crossings.sent, crossings.received, crossings.settled, given,
                                         with_host)
    ]  # fmt: skip


def round_trips(lines: List[dict], bar: int) -> List[int]:
    """From the commit of the first host's process until it has the slot with which the other host's process answers."""
    answers = arrivals(lines, 0, bar)
    # The other host's next swap takes the slot, and the slot of that swap is taken by the next but one here.
    return [
        next(arrival for left, arrival in answers if left >= time) - begin
        for (begin, _), time in zip(commits(lines, 0, bar), taken(lines, 0)[2:])
    ]


def figures_of(lines: List[dict], platform: str, bar: int) -> Dict[str, int]:
    """Medians of both directions and the mean time between swaps of a host, without the first tenth."""
    there, back = (paths_of(lines, platform, bar, *ends) for ends in ((0, 1), (1, 0)))
    paths = there[COUNT // 10 :] + back[COUNT // 10 :]
    found = {key: statistics.median_low(path[key] for path in paths) for key in paths[0]}
    trips = round_trips(lines, bar)
    # The two directions need not take the same time, since a slot waits for the other host's next swap.
    ways = [forth["whole"] + answer["whole"] for forth, answer in zip(there, back[1:])]
    if any(trip < way for trip, way in zip(trips, ways)):
        raise Failure("a round trip took less time than its two ways")
    found["two_ways"] = statistics.median_low(ways[COUNT // 10 :])
    found["round_trip"] = statistics.median_low(trips[COUNT // 10 :])
    later = taken(lines, 0)[COUNT // 10 :]
    # This is the mean, since swaps occur in bursts.
    return {**found, "period": (later[-1] - later[0]) // (len(later) - 1)}


def measure(build: pathlib.Path, progress: Callable[[str], None]) -> Dict[str, Dict[int, Dict[str, int]]]:
    """The figures by the platform and the length in metres."""
    joined = build / "cmake" / joined_hosts.PROGRAM
    found: Dict[str, Dict[int, Dict[str, int]]] = {}
    for platform, design in DESIGNS.items():
        roles = joined_hosts.roles(PLATFORMS / f"{platform}.yaml")
        for metres in METRES:
            progress(f"two hosts, {metres} m between their IPUs, {design}")
            latency = f"oae_links[0].latency={5 * metres}ns"
            with ended(build, platform, SCRIPT, *roles, latency, files=[joined]) as child:
                for role in range(len(roles)):
                    if child.file(str(role)) != f"{COUNT} swaps\n":
                        raise Failure(f"host {role}: {child.file(str(role))}")
                lines = list(child.trace())
                found.setdefault(platform, {})[metres] = figures_of(lines, platform, child.bar(2))
    return found


# The printed rows in order: key and name.
STEPS = (
    ("to_port", "committed by a process, until in its port: host, PCIe"),
    ("to_link", "until on the link: block, firmware or bridge"),
    ("link", "over the link, until the other cell has it"),
    ("settled", "  until the sender has settled"),
    ("to_swap", "until the other host's swap takes it: firmware, that host"),
    ("to_host", "until with the other process: PCIe"),
    ("whole", "from commit to receipt"),
    ("round_trip", "there and back: until the answering slot is received"),
    ("period", "from one swap of a host to the next, mean"),
)


def table(found: Dict[str, Dict[int, Dict[str, int]]]) -> Table:
    columns = [(platform, metres) for platform in found for metres in found[platform]]
    rows = [(name, [ns(found[platform][metres][key]) for platform, metres in columns]) for key, name in STEPS]
    rows.append(("exchanges a second", [f"{10**12 / found[platform][metres]['period']:,.0f}"
                                        for platform, metres in columns]))  # fmt: skip
    return Table(
        "A slot from host to host, at a port joined by the link of two IPUs, 100 Gb/s, in ns",
        [f"{platform}, {metres} m" for platform, metres in columns],
        rows,
        [
            f"pair: {DESIGNS['pair']}, which may then act on a slot that the cell has; window: {DESIGNS['window']},",
            "without firmware, until the port has it.",
            "Medians. The hosts swap as fast as they can, on one port: each swap of the one waits for one of the",
            "other, so that a slot waits behind the one before it. All cores run 1,000 instructions/us.",
        ],
    )


def requirements(found: Dict[str, Dict[int, Dict[str, int]]]) -> List[Requirement]:
    """The requirements for a link and what moves its slots."""
    required = []
    for platform, by_metres in found.items():
        for metres, of in by_metres.items():
            for what, limit, key in (
                ("a hop below 100 ns", 100, "link"),
                ("send to acknowledgement below 300 ns", 300, "settled"),
            ):
                time = of["to_link"] + of[key]
                text = f"{what}, of what a host has committed, by {DESIGNS[platform]}, over {metres} m"
                required.append(Requirement(text, REQUIREMENTS, f"{ns(time)} ns", time < limit * 1000))
    return required


def results(build: pathlib.Path, progress: Callable[[str], None]) -> Tuple[List[Table], List[Requirement], dict]:
    """The table, the requirements and all measurements."""
    found = measure(build, progress)
    return [table(found)], requirements(found), found
