# SPDX-License-Identifier: Apache-2.0
"""Figures of many joined ports at once: two hosts with a process at each end of each port. Times in ps."""

import collections
import itertools
import pathlib
from typing import Callable, Dict, List, Tuple

import joined_hosts
from figures.machine import PLATFORMS, ended
from figures.ports import PROCESSORS, middle_of, per_second
from figures.table import Failure, Requirement, Table

PLATFORM = "window"
PORTS = 64  # of each block
FIRST = 4  # the first that is joined
AT_WORK = (1, 4, 16, 39)  # one after the other, each on ports that were not at work before
SLOTS = {1: 1000, 4: 1000, 16: 600, 39: 300}  # of each port
RATE = 100 * 10**9  # of the wire, in bits a second, as in the platform file
SLOT_BITS = 512

# All processes continue at once, when the FIFO gets a writer.
BATCH = """
mkfifo /tmp/goFIRST
for port in $(seq FIRST LAST); do
  (read -r nothing < /tmp/goFIRST || true; exec EXCHANGE > $role.$port) &
done
sleep 0.2
: > /tmp/goFIRST
wait
"""


def ranges() -> Dict[int, range]:
    """The ports that are at work at the same time, by their number."""
    ends = itertools.accumulate(AT_WORK, initial=FIRST)
    return {count: range(first, first + count) for count, first in zip(AT_WORK, ends)}


def script() -> str:
    parts = [joined_hosts.BEGIN]
    for count, ports in ranges().items():
        parts.append(BATCH.replace("FIRST", str(ports[0])).replace("LAST", str(ports[-1]))
                     .replace("EXCHANGE", joined_hosts.exchange("$port", str(SLOTS[count]))))  # fmt: skip
    return "".join(parts)


def figures_of(commits: Dict[int, List[int]]) -> dict:
    """The time of the middle half of the swaps of some ports, their number, and how many ports had one in it."""
    begin, end, swaps = middle_of([time for times in commits.values() for time in times])
    if end <= begin:
        raise Failure("no time passes between the swaps")
    at_work = sum(any(begin < time <= end for time in times) for times in commits.values())
    return {"time": end - begin, "swaps": swaps, "at_work": at_work}


def measure(build: pathlib.Path, progress: Callable[[str], None]) -> Dict[int, dict]:
    """The figures of one host by the number of ports."""
    roles = joined_hosts.roles(PLATFORMS / f"{PLATFORM}.yaml")
    values = [f"oae_links[0].ports={PORTS - FIRST}", *roles]
    for role in range(len(roles)):
        values += [f"hosts[{role}].vcpus={PROCESSORS}", f"ipus[{role}].oae.ports={PORTS}"]
    progress(f"two hosts of {PROCESSORS} processors; {', '.join(map(str, AT_WORK))} joined ports")
    joined = build / "cmake" / joined_hosts.PROGRAM
    with ended(build, PLATFORM, script(), *values, files=[joined]) as child:
        commits: Dict[int, List[int]] = collections.defaultdict(list)
        for line in child.trace("swap"):
            if line["swap"] == "ipu0.oae" and (line["from"], line["to"]) == ("tentative", "committed"):
                commits[line["port"]].append(line["t"])
        found = {}
        for count, ports in ranges().items():
            for role, port in itertools.product(range(len(roles)), ports):
                if child.file(f"{role}.{port}") != f"{SLOTS[count]} swaps\n":
                    raise Failure(f"host {role}, port {port}: {child.file(f'{role}.{port}')}")
            found[count] = figures_of({port: commits[port] for port in ports})
        return found


def share_of_wire(of: dict) -> float:
    """What the slots of one direction take of the wire, without acknowledgements."""
    return per_second(of) * SLOT_BITS / RATE


def table(found: Dict[int, dict]) -> Table:
    rows = []
    for ports, of in found.items():
        share = share_of_wire(of)
        rows.append((f"{ports} port{'s' if ports > 1 else ''}", [
            f"{per_second(of):,.0f}", f"{per_second(of) / ports:,.0f}", str(of["at_work"]),
            f"{100 * share:.2f}", f"{ports / share:,.0f}"]))  # fmt: skip
    return Table(
        f"Slots between two hosts by joined ports, a window and a bridge, 100 Gb/s, 1 m: {PROCESSORS} processors each",
        ["exchanges/s", "of a port", "at work", "of each wire, %", "ports for all of it"],
        rows,
        [
            "A process at each end of each port. An exchange takes a slot across in each direction. What is counted is the",
            "middle half of all swaps of the first host. ports for all of it: as many as would fill the wire if each went",
            "on like these. But a block has 64 ports at most, and carries at most 15 % of the wire (rtl/bridge/README.md).",
        ],
    )


def results(build: pathlib.Path, progress: Callable[[str], None]) -> Tuple[List[Table], List[Requirement], dict]:
    """The table and all measurements. There are no requirements."""
    found = measure(build, progress)
    return [table(found)], [], found
