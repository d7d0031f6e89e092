# SPDX-License-Identifier: Apache-2.0
"""Figures of many swap ports at once: a process for each, and one core of firmware for all. Times in ps."""

import collections
import pathlib
from typing import Callable, Dict, Iterable, List, Tuple

from figures.machine import Child, children
from figures.table import Failure, Requirement, Table, ns

SWAPS = {1: 400, 4: 400, 16: 200, 64: 100}  # of each port, by ports
PROCESSORS = 16  # of the host
# Kinds of firmware: a name, and the values of the platform file. Several polling cores would share the ports, but Linux
# boots too slowly beside them.
FIRMWARES = {
    "1 core": [],
    "1 core, 4 times as fast": ["ipus[0].instruction_rate=4GIPS"],
}
LATENCY = 250_000  # of the link, one way

# All processes continue at once, when the FIFO gets a writer.
SCRIPT = """
mkfifo /tmp/go
for port in $(seq 0 $((PORTS - 1))); do
  (read -r nothing < /tmp/go || true; exec oae bench --count COUNT --port $port --untimed --json > /share/bench$port) &
done
sleep 0.2
: > /tmp/go
wait
"""


def middle_of(commits: List[int]) -> Tuple[int, int, int]:
    """Begin and end of the time in which the middle half of the swaps was committed, and their number without the first."""
    times = sorted(commits)
    first, last = len(times) // 4, len(times) * 3 // 4
    return times[first], times[last], last - first


def use_of(lines: Iterable[dict], direction: str, begin: int, end: int) -> float:
    """Share of the time in which a direction of the link carried bytes."""
    return sum(
        line["arr"] - line["t"] - LATENCY for line in lines if line["dir"] == direction and begin <= line["t"] < end
    ) / (end - begin)  # fmt: skip


def figures_of(child: Child, ports: int) -> dict:
    commits: Dict[int, List[int]] = collections.defaultdict(list)
    for line in child.trace("swap"):
        if line["from"] == "tentative" and line["to"] == "committed":
            commits[line["port"]].append(line["t"])
    begin, end, swaps = middle_of([time for times in commits.values() for time in times])
    if len(commits) != ports or end <= begin:
        raise Failure(f"{len(commits)} of {ports} ports were at work")
    links = list(child.trace("link"))
    benches = [child.json(f"bench{port}") for port in range(ports)]
    for bench in benches:
        if not bench["agree"]:
            raise Failure(f"{ports} ports: the two sides disagree: {bench}")
    return {
        "time": end - begin,
        "swaps": swaps,
        "at_work": sum(any(begin < time <= end for time in times) for times in commits.values()),
        "again": sum(bench["retries"] for bench in benches),
        "of": sum(bench["committed"] for bench in benches),
        "latency": sorted(bench["swap_call_ns"]["median"] for bench in benches)[(ports - 1) // 2] * 1000,
        "down": use_of(links, "down", begin, end),
        "up": use_of(links, "up", begin, end),
    }


def measure(build: pathlib.Path, progress: Callable[[str], None]) -> Dict[str, Dict[int, dict]]:
    """The figures by the firmware's name and the number of ports."""
    scripts = {
        str(ports): SCRIPT.replace("PORTS", str(ports)).replace("COUNT", str(count)) for ports, count in SWAPS.items()
    }
    values = [f"hosts[0].vcpus={PROCESSORS}", f"ipus[0].oae.ports={max(SWAPS)}"]
    found: Dict[str, Dict[int, dict]] = {}
    for name, firmware in FIRMWARES.items():
        progress(f"{', '.join(scripts)} ports, firmware of {name}")
        with children(build, scripts, *values, *firmware) as ended:
            found[name] = {int(each): figures_of(child, int(each)) for each, child in ended.items()}
    return found


def per_second(of: dict) -> float:
    return of["swaps"] * 10**12 / of["time"]


def table(found: Dict[str, Dict[int, dict]]) -> Table:
    rows = []
    for name, by_ports in found.items():
        for ports, of in by_ports.items():
            texts = [
                f"{per_second(of):,.0f}",
                f"{per_second(of) / ports:,.0f}",
                str(of["at_work"]),
                f"{of['again'] / of['of']:.2f}",
                ns(of["latency"]),
                f"{100 * of['down']:.2f}",
                f"{100 * of['up']:.2f}",
            ]
            rows.append((f"{name}; {ports} port{'s' if ports > 1 else ''}", texts))
    return Table(
        f"Swaps by many ports, pushed: a process each on {PROCESSORS} processors, by cores of the firmware",
        ["swaps/s", "of a port", "at work", "not ready", "median, ns", "link down, %", "up, %"],
        rows,
        [
            "Processors and cores run 1,000 instructions/us, the link delays by 250 ns each way. What is counted is the",
            "middle half of all swaps. at work: ports that swapped meanwhile. not ready: offers a swap that were refused,",
            "since the firmware had not taken the swap before: then the firmware is what limits. Where none is refused it",
            "is the host: each process waits for its answer, and for its driver. median: as the process waits for a swap.",
        ],
    )


def results(build: pathlib.Path, progress: Callable[[str], None]) -> Tuple[List[Table], List[Requirement], dict]:
    """The table and all measurements. There are no requirements."""
    found = measure(build, progress)
    return [table(found)], [], found
