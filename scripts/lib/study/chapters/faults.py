# SPDX-License-Identifier: Apache-2.0
"""Agents that fail: by what and when that is noticed, when tasks take turns and when the agent decides again."""

import collections
from typing import Callable, List, Optional

from figures.table import Table

from study.chapters.cells import NOTHING
from study.loads import faults
from study.samples import Samples

TITLES = {faults.HOST: "agent on the host", faults.QUEUES: "queues", faults.SWAP_PORTS: "swap ports"}

Time = Callable[[dict], Optional[int]]  # of a result, in ns


def sign(result: dict) -> str:
    if result["fallbacks"]:
        return result["fallbacks"][0]["sign"]
    return "not noticed" if result["ended"] is None else "the agent's end"


def signs(results: List[dict]) -> str:
    """What has noticed the fault, and in how many runs if that was not the same in all."""
    counts = collections.Counter(map(sign, results))
    return next(iter(counts)) if len(counts) == 1 else ", ".join(f"{name} {count}" for name, count in counts.most_common())


def of_fallback(index: int, name: str) -> Time:
    """A figure of the first (0) or the last (-1) time that tasks took turns."""
    return lambda result: result["fallbacks"][index][name] if result["fallbacks"] else None


def or_end(of: Time) -> Time:
    """Without an agent on the host there is no scheduler either."""
    return lambda result: of(result) if result["ended"] is None else result["ended"]


def times(results: List[dict], of: Time) -> str:
    """The least and the greatest of those that have such a time, in us. There are too few of them for an interval, and when a
    timer looks for the first time after a fault is not distributed like an error."""
    known = sorted(time for time in map(of, results) if time is not None)
    if not known:
        return NOTHING
    least, greatest = (f"{time / 1000:,.1f}" for time in (known[0], known[-1]))
    return least if least == greatest else f"{least} to {greatest}"


def most(results: List[dict], of: Time) -> str:
    known = [number for number in map(of, results) if number is not None]
    return f"{max(known):,}" if known else NOTHING


def texts(results: List[dict]) -> List[str]:
    return [
        signs(results),
        times(results, or_end(of_fallback(0, "noticed"))),
        times(results, or_end(of_fallback(0, "fallback"))),
        times(results, of_fallback(-1, "decided")),
        most(results, of_fallback(0, "undelivered")),
        f"{max(result['longest_gap'] for result in results) / 1000:,.0f}",
    ]


def tables(document: dict) -> List[Table]:
    found = []
    for variant, title in TITLES.items():
        for load in faults.ALL:
            results = Samples(document, load.name).all(variant)
            if results:
                found.append((f"{title}: {load.title}", [*texts(results), str(len(results))]))
    return [
        Table(
            "Agents that fail, or the way to them; us after the fault",
            ["noticed by", "noticed", "turns begin", "decided again", "undelivered", "longest gap", "runs"],
            found,
            [
                "Threads under Shinjuku with prestaged decisions: half of them spin, and pairs of the others wake each other.",
                "Times are the least and the greatest of the runs, whose faults come at other times of a tick.",
                "turns begin: from then on, threads take turns without the agent. decided again: the first decision of the agent",
                "that has begun anew. undelivered: what the agent had not got before, at most. longest gap: the longest time in",
                "which a thread did not go on, of all runs. guest/scheduling/FAULTS.md says what follows from that.",
            ],
        )
    ]


def plots(_: dict) -> List[str]:
    return []
