# SPDX-License-Identifier: Apache-2.0
"""Figures of the swap over PCIe: the times at which the two sides have committed, from the trace of a run, in ps."""

import dataclasses
import pathlib
import statistics
from typing import Callable, Dict, Iterable, List, Tuple

from figures.machine import Child, children, root_complex_latency
from figures.table import Failure, Requirement, Table, ns, rtts

LATENCIES = (50, 250, 1000)  # of the link, one way, ns
SWAPS = 100
DESIGN = "one RTT plus queueing"

# BAR and offsets in a port's page: the offer's first byte, and the address that is read for the answer.
FORMS = {"pushed": (2, 0x00, 0x40), "streamed": (4, 0x00, 0x00)}
BLOCK_CLOCK = 2_000  # ps: the block takes a request at the next edge of its clock, so that a rest varies by less than that
STATUS = 0x50  # in BAR 2: what `oae bench` reads to compare with


@dataclasses.dataclass(frozen=True)
class Swap:
    """Times of a swap at the host's end of the link and in the block."""

    stored: int  # the offer's first bytes leave the root complex
    issued: int  # the read does
    answered: int  # the answer has come
    committed: int  # the journal says so

    @property
    def whole(self) -> int:
        return self.answered - self.stored


def swaps_of(lines: Iterable[dict], offer: int, answer: int) -> List[Swap]:
    """The swaps of port 0 in order, found by the addresses of the offer's first byte and of the read."""
    found, reads = [], {}
    stored = last = None
    for line in lines:
        kind, direction = line.get("type"), line.get("dir")
        if "swap" in line:
            if line["port"] == 0 and line["from"] == "tentative" and line["to"] == "committed" and last:
                found.append(Swap(*last, line["t"]))
                last = None
        elif kind == "MWr" and direction == "down" and int(line["addr"], 16) == offer:
            stored = line["t"]
        elif kind == "MRd" and direction == "down" and int(line["addr"], 16) == answer and stored is not None:
            reads[line["tag"]] = (stored, line["t"])
        elif kind == "CplD" and direction == "up" and line["tag"] in reads:
            last = (*reads.pop(line["tag"]), line["arr"])
    return found


def reads_of(lines: Iterable[dict], address: int) -> List[int]:
    """The duration of each read of an address, at the host's end of the link."""
    found, reads = [], {}
    for line in lines:
        if line.get("type") == "MRd" and line["dir"] == "down" and int(line["addr"], 16) == address:
            reads[line["tag"]] = line["t"]
        elif line.get("type") == "CplD" and line["dir"] == "up" and line["tag"] in reads:
            found.append(line["arr"] - reads.pop(line["tag"]))
    return found


# The printed rows about a swap in order: key, name, and the number of the link's round trips in it.
STEPS = (
    ("read", "read of a register, 8 bytes", 1.0),
    ("answered_from_read", "host has committed, from the read's issue", 1.0),
    ("answered", "host has committed, from its first store", 1.0),
    ("found_valid", "  and its driver has checked that, by its clock", 1.0),
    ("committed", "firmware's side has committed, from the first store", 1.5),
)


def steps_of(child: Child, form: str, root_complex: int) -> Dict[str, int]:
    """Medians, counted from the host's processor."""
    bar, offer, answer = FORMS[form]
    lines = list(child.trace())
    page = child.bar(bar)
    swaps = swaps_of(lines, page + offer, page + answer)
    reads = reads_of(lines, child.bar(2) + STATUS)
    if len(swaps) != SWAPS or not reads:
        raise Failure(f"{len(swaps)} swaps of {SWAPS}, {form}, and {len(reads)} reads are in the trace")

    def median(values: Iterable[int]) -> int:
        return statistics.median_low(values)

    return {
        "read": median(reads) + 2 * root_complex,
        "answered_from_read": median(swap.answered - swap.issued for swap in swaps) + 2 * root_complex,
        "answered": median(swap.whole for swap in swaps) + 2 * root_complex,
        "found_valid": 1000 * child.json("bench")["swap_until_valid_ns"]["median"],
        "committed": median(swap.committed - swap.stored for swap in swaps) + root_complex,
    }


def measure(build: pathlib.Path, progress: Callable[[str], None]) -> Dict[str, Dict[int, Dict[str, int]]]:
    """The figures by form and by the link's latency in ns."""
    root_complex = root_complex_latency(build)
    scripts = {form: f"oae bench --count {SWAPS} --form {form} --json > /share/bench\n" for form in FORMS}
    found: Dict[str, Dict[int, Dict[str, int]]] = {form: {} for form in FORMS}
    for latency in LATENCIES:
        progress(f"a link of {latency} ns each way")
        values = [f"pcie_links[0].latency_{direction}={latency}ns" for direction in ("down", "up")]
        with children(build, scripts, *values) as ended:
            for form, child in ended.items():
                found[form][latency] = steps_of(child, form, root_complex)
    return found


def beyond(times: Dict[int, Dict[str, int]], key: str, trips: float) -> List[int]:
    """The time of each besides its round trips, in order and without duplicates."""
    return sorted({round(of[key] - trips * 2000 * latency) for latency, of in times.items()})


def form_table(form: str, times: Dict[int, Dict[str, int]]) -> Table:
    rows = []
    for key, name, trips in STEPS:
        texts = []
        for latency, of in times.items():
            texts += [ns(of[key]), rtts(of[key], 2000 * latency)]
        rest = beyond(times, key, trips)
        texts += [f"{trips:g} RTT", ns(rest[0]) if len(rest) == 1 else f"{ns(rest[0])} to {ns(rest[-1])}"]
        rows.append((name, texts))
    columns = []
    for latency in times:
        columns += [f"RTT {2 * latency} ns: ns", "RTT"]
    return Table(f"A swap over PCIe, {form}: Gen4 x16 by the round trip of the link", columns + ["is", "and, ns"], rows)


def tables(times: Dict[str, Dict[int, Dict[str, int]]]) -> List[Table]:
    found = [form_table(form, of) for form, of in times.items()]
    found[-1].notes = [
        f"Medians of {SWAPS}, at the host's processor, of 1,000 instructions/us. What an RTT does not count: root complex (50",
        "ns each way), endpoint, bytes, block, instructions. The host confirms once its driver has checked the answer; the",
        "journal in the block is the firmware's side.",
    ]
    return found


def requirements(times: Dict[str, Dict[int, Dict[str, int]]]) -> List[Requirement]:
    found = []
    for form, of in times.items():
        over = [(latency, each["answered"] - each["read"]) for latency, each in of.items()]
        most = max(more for _, more in over)
        rest = beyond(of, "answered", 1)
        scaling = rest[-1] - rest[0] < BLOCK_CLOCK
        found.append(
            Requirement(
                f"a swap, {form}, costs {DESIGN}, whatever the link's latency", "this project's design",
                f"one RTT and {ns(rest[-1])} ns; {ns(most)} ns more than a read takes", scaling,
            )
        )  # fmt: skip
    return found


def results(build: pathlib.Path, progress: Callable[[str], None]) -> Tuple[List[Table], List[Requirement], dict]:
    """The tables, the requirements and all measurements."""
    times = measure(build, progress)
    return tables(times), requirements(times), times
