# SPDX-License-Identifier: Apache-2.0
"""Requests: how many are served in time, and how long answers take."""

from typing import List, Optional

from figures.table import Table

from study import plot, rows
from study.chapters import cells
from study.chapters.cells import NOTHING, text_of
from study.chapters.published import band, thousands
from study.estimate import Estimate
from study.factors import FACTORS
from study.loads.serve import DISPATCHERS, QUANTILES, REQUESTS, SATURATION, WORKERS
from study.samples import Figure, Samples
from study.variants import VARIANTS

SERVED = "Requests served in time, K/s"


def agent_cycles(result: dict) -> float:
    """What the agent's core spends on a request, in cycles of an instruction each, if it never waits for work."""
    return FACTORS["core"].central * 1e9 / result["rate"]


def is_on_ipu(variant: str) -> bool:
    return not {"queue", "port"}.isdisjoint(VARIANTS[variant].schedule or ())


def saturation_table(samples: Samples) -> Table:
    found = []
    for title, variant in cells.every(samples):
        against = [samples.paired(lambda mine, its: 100 * mine["rate"] / its["rate"], variant, other)
                   for other in (rows.FLOOR_NAME, rows.HOST_NAME)]  # fmt: skip
        cycles = samples.mean(agent_cycles, variant) if is_on_ipu(variant) else None
        found.append((title, [text_of(samples.mean(thousands, variant)), *map(text_of, against), text_of(cycles, 0),
                              samples.counted(variant)]))  # fmt: skip
    return Table(
        f"The highest rate at which 99 % of GETs of 10 us are answered within 200 us; {WORKERS} CPUs of workers",
        ["K requests/s", "% of the floor", "% of the agent on the host, prestage", "firmware's cycles, at most", "runs that count"],
        found,
        [
            f"{len(DISPATCHERS)} dispatchers have CPUs of their own, and so has an agent on the host. Rates are doubled until a trial",
            "fails, and then bisected to 1 %. Firmware's cycles are those of the agent's core for a request, which takes one",
            "decision: all that the core has at this rate, waits for memory among them. It works for fewer if it does not bind.",
        ],
    )


def quantile(name: str) -> Figure:
    return lambda result: result["latency_ns"][name] / 1000


def latency(samples: Samples, name: str, variant: str, factor: str = "", level: float = 0.0) -> Optional[Estimate]:
    """The mean of a quantile over runs, if all of them have enough requests beyond it."""
    if not all(name in result["latency_ns"] for result in samples.all(variant, factor, level)):
        return None
    return samples.mean(quantile(name), variant, factor, level)


def lost(result: dict) -> float:
    return sum(result["lost"].values())


def per_request(of: str) -> Figure:
    return lambda result: result.get(of, 0) / sum(result["answers"].values())


def of_device(name: str) -> Figure:
    return lambda result: result["device"][name] / sum(result["answers"].values())


def bytes_of_a_decision(result: dict) -> float:
    return (result["device"]["bytes_down"] + result["device"]["bytes_up"]) / result["outcomes"]["COMPLETE"]


def bytes_for_a_decision(samples: Samples, variant: str) -> Optional[Estimate]:
    """The mean over runs of a variant whose decisions cross the link, if all of them have carried one out."""
    carried_out = [result.get("outcomes", {}).get("COMPLETE", 0) for result in samples.all(variant)]
    return samples.mean(bytes_of_a_decision, variant) if is_on_ipu(variant) and all(carried_out) else None


def refused(result: dict) -> float:
    outcomes = result.get("outcomes", {})
    return 100 * (1 - outcomes.get("COMPLETE", 0) / max(1, sum(outcomes.values()))) if outcomes else 0.0


def latency_table(samples: Samples) -> Table:
    found = []
    for title, variant in cells.every(samples):
        texts = [text_of(latency(samples, name, variant)) for name in QUANTILES]
        found.append((title, [*texts, samples.counted(variant)]))
    return Table(
        f"How long answers take at {REQUESTS.RATE / 1000:,.0f} K requests/s, us",
        [*QUANTILES, "runs that count"],
        found,
        ["From when a request comes to its answer at the device: 10 us of service, and a write and a read of the ring across the",
         "link. A quantile is given only if 30 requests of each run lie beyond it."],
    )  # fmt: skip


def cost_table(samples: Samples) -> Table:
    figures = [(per_request("messages"), 2), (per_request("kicks"), 2), (of_device("reads"), 2), (of_device("writes"), 2),
               (of_device("bytes_down"), 0), (of_device("bytes_up"), 0), (refused, 2)]  # fmt: skip
    found = []
    for title, variant in cells.every(samples):
        means = [(samples.mean(of, variant), digits) for of, digits in figures]
        means.append((bytes_for_a_decision(samples, variant), 0))
        found.append((title, [NOTHING if one is None else f"{one.mean:,.{digits}f}" for one, digits in means]))
    columns = ["messages", "calls of CPUs", "host's reads", "host's writes", "bytes down", "bytes up", "decisions refused, %",
               "bytes for a decision"]  # fmt: skip
    return Table("What a request costs; means", columns, found,
                 ["The request's own write and its answer are among the bytes, and so is what the boot has read."])  # fmt: skip


def tables(document: dict) -> List[Table]:
    extent = document["extent"]
    saturation, requests = Samples(document, SATURATION.name), Samples(document, REQUESTS.name)
    found = [saturation_table(saturation)]
    found += cells.factor_tables(saturation, extent, SATURATION.name, SERVED, cells.mean_of(saturation, thousands))
    found += [latency_table(requests), cost_table(requests)]
    for name in ("median", "p99", "p99.9"):
        found += cells.factor_tables(requests, extent, REQUESTS.name, f"Time of an answer, {name}, us", of_quantile(requests, name))
    return found


def of_quantile(samples: Samples, name: str) -> cells.Mean:
    return lambda variant, factor, level: latency(samples, name, variant, factor, level)


def plots(document: dict) -> List[str]:
    extent = document["extent"]
    saturation, requests = Samples(document, SATURATION.name), Samples(document, REQUESTS.name)
    bands = {rows.NONE: band("requests served, no optimisation"), rows.ALL: band("requests served, all optimisations")}
    bars = [plot.Bar(title, saturation.mean(thousands, variant), bands.get(variant))
            for title, variant in cells.every(saturation)]  # fmt: skip
    found = [cells.figure(f"{SERVED}; yellow: published", plot.bars(SERVED, bars))] if bars else []
    found += cells.factor_plots(saturation, extent, SATURATION.name, SERVED, "K/s", cells.mean_of(saturation, thousands))
    for name in ("median", "p99"):
        found += cells.factor_plots(requests, extent, REQUESTS.name, f"Time of an answer, {name}, us", "us",
                                    of_quantile(requests, name))  # fmt: skip
    return found
