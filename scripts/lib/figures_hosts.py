# SPDX-License-Identifier: Apache-2.0
"""Figures of two hosts whose swap ports are joined by a link of their IPUs: a slot from host to host. Times in ps."""

import pathlib
import statistics
from typing import Callable, Dict, Iterable, List, Tuple

from figures_machine import PLATFORMS, ended
from figures_link import REQUIREMENTS
from figures_table import Failure, Requirement, Table, ns

PORT = 4  # the first of platforms/pair.yaml that is joined
COUNT = 100  # slots each way
METRES = (1, 10)  # of the link between the IPUs, 5 ns each

SCRIPT = f"""
cd /share
role=$(sed 's/.*role=\\([01]\\).*/\\1/' /proc/cmdline)
./joined /dev/oae0p{PORT} 1$role 1$((1 - role)) {COUNT} > $role
"""


def changes(lines: Iterable[dict], machine: str, before: str, to: str) -> List[int]:
    """Times at which a link's state machine went from one state to another."""
    return [
        line["t"] for line in lines if line.get("machine") == machine and (line["from"], line["to"]) == (before, to)
    ]


def paths_of(lines: List[dict], here: int, there: int) -> List[Dict[str, int]]:
    """The duration of each part of the path, for all slots from one host to the other in order."""
    of_link = {end: [line for line in lines if line.get("link") == f"ipu{end}.oae_link0"] for end in (here, there)}
    of_port = {
        end: [line for line in lines if line.get("swap") == f"ipu{end}.oae" and line["port"] == PORT]
        for end in (here, there)
    }
    committed = [line["t"] for line in of_port[here] if line["from"] == "tentative" and line["to"] == "committed"]
    # The n-th swap there is answered by the slot that the previous swap here has sent.
    given = [line["t"] for line in of_port[there] if line["to"] == "tentative"][1:]
    sent = changes(of_link[here], "sender", "idle", "tentative")
    received = changes(of_link[there], "receiver", "tentative", "idle")
    settled = changes(of_link[here], "sender", "committing", "idle")
    if not len(committed) == len(sent) == len(received) == len(settled) == COUNT:
        raise Failure(f"{len(committed)} slots of {COUNT} were committed, {len(sent)} sent, {len(received)} received")
    return [
        {"to_link": b - a, "link": c - b, "to_host": e - c, "whole": e - a, "settled": d - b}
        for a, b, c, d, e in zip(committed, sent, received, settled, given)
    ]


def figures_of(lines: List[dict]) -> Dict[str, int]:
    """Medians of both directions and the mean time between swaps of a host, without the first tenth."""
    paths = [path for ends in ((0, 1), (1, 0)) for path in paths_of(lines, *ends)[COUNT // 10 :]]
    found = {key: statistics.median_low(path[key] for path in paths) for key in paths[0]}
    times = [line["t"] for line in lines
             if line.get("swap") == "ipu0.oae" and line["port"] == PORT and line["to"] == "tentative"]  # fmt: skip
    later = times[COUNT // 10 :]
    # This is the mean, since swaps occur in bursts.
    return {**found, "period": (later[-1] - later[0]) // (len(later) - 1)}


def measure(build: pathlib.Path, progress: Callable[[str], None]) -> Dict[int, Dict[str, int]]:
    """The figures by the length in metres."""
    import yaml

    hosts = yaml.safe_load((PLATFORMS / "pair.yaml").read_text())["hosts"]
    roles = [f"hosts[{role}].append={host['append']} role={role}" for role, host in enumerate(hosts)]
    joined = build / "cmake" / "tests" / "system" / "joined"
    found = {}
    for metres in METRES:
        progress(f"two hosts, {metres} m between their IPUs")
        with ended(build, "pair", SCRIPT, *roles, f"oae_links[0].latency={5 * metres}ns", files=[joined]) as child:
            for role in range(len(hosts)):
                if child.file(str(role)) != f"{COUNT} swaps\n":
                    raise Failure(f"host {role}: {child.file(str(role))}")
            found[metres] = figures_of(list(child.trace()))
    return found


# The printed rows in order: key and name.
STEPS = (
    ("to_link", "committed by the one host, until on the link: firmware"),
    ("link", "over the link, until the other firmware may act on it"),
    ("settled", "  until the sender has settled"),
    ("to_host", "until the other host's swap takes it: firmware, and that host"),
    ("whole", "from commit to commit"),
    ("period", "from one swap of a host to the next, mean"),
)


def table(found: Dict[int, Dict[str, int]]) -> Table:
    rows = [(name, [ns(of[key]) for of in found.values()]) for key, name in STEPS]
    rows.append(("exchanges a second", [f"{10**12 / of['period']:,.0f}" for of in found.values()]))
    return Table(
        "A slot from host to host, at a port joined by the link of two IPUs, 100 Gb/s, in ns",
        [f"{metres} m" for metres in found],
        rows,
        [
            "Medians. The hosts swap as fast as they can, on one port: each swap of the one waits for one of the",
            "other, so that a slot waits behind the one before it. The firmwares' cores run 1,000 instructions/us.",
        ],
    )


def requirements(found: Dict[int, Dict[str, int]]) -> List[Requirement]:
    """The requirements for a link and the firmware that moves its slots."""
    required = []
    for metres, of in found.items():
        for what, limit, key in (
            ("a hop below 100 ns", 100, "link"),
            ("send to acknowledgement below 300 ns", 300, "settled"),
        ):
            time = of["to_link"] + of[key]
            text = f"{what}, of what a host has committed, firmware included, over {metres} m"
            required.append(Requirement(text, REQUIREMENTS, f"{ns(time)} ns", time < limit * 1000))
    return required


def results(build: pathlib.Path, progress: Callable[[str], None]) -> Tuple[List[Table], List[Requirement], dict]:
    """The table, the requirements and all measurements."""
    found = measure(build, progress)
    return [table(found)], requirements(found), found
