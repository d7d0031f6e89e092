# SPDX-License-Identifier: Apache-2.0
"""Requests of RocksDB, other policies than FIFO with one queue, and tasks that compute all the time."""

from typing import List, Optional, Tuple

from figures.table import Table

from study import plot
from study.chapters import cells
from study.chapters.cells import text_of
from study.chapters.published import thousands
from study.chapters.serving import latency, of_quantile
from study.estimate import Estimate
from study.factors import FACTORS
from study.loads import services
from study.loads.serve import REQUESTS, SATURATION, WORKERS
from study.loads.vm import TASKS, VM
from study.samples import Figure, Samples
from study.variants import FLOOR

RATE = "mixed-rate"
# What serves, and how: the loads that find the rate, and that measure answers
SERVED = {"spinner": (SATURATION, REQUESTS), "RocksDB": (services.SATURATION_ROCKSDB, services.REQUESTS_ROCKSDB),
          "FIFO per CPU": (services.SATURATION_PER_CPU, services.REQUESTS_PER_CPU)}  # fmt: skip
QUANTILES = ("median", "p99", "p99.9")


def rows_of(found: List[Samples]) -> List[Tuple[str, str]]:
    """The rows of the variants that have results of another load than the first one."""
    return list(dict.fromkeys(row for other in found[1:] for row in cells.every(other)))


def saturation_table(document: dict) -> Table:
    loads = [saturation for saturation, _ in SERVED.values()] + [services.SATURATION_MIXED]
    every = [Samples(document, load.name) for load in loads]
    return Table(
        f"The highest rate at which 99 % of requests are answered within 200 us, K/s; {WORKERS} CPUs of workers",
        [*SERVED, "Shinjuku"],
        [(title, [text_of(each.mean(thousands, variant)) for each in every]) for title, variant in rows_of(every)],
        ["Spinner: GETs of 10 us, and FIFO with one queue. RocksDB: the same with real GETs, which are shorter. FIFO per CPU: the",
         "spinner, and a queue for each CPU. Shinjuku: GETs of 10 us among 0.5 % RANGEs of 5 ms, and time slices of 30 us, on",
         f"{services.Mix.workers} CPUs of workers."],
    )  # fmt: skip


def latency_table(document: dict) -> Table:
    every = [Samples(document, requests.name) for _, requests in SERVED.values()]
    found = [(title, [text_of(latency(each, name, variant)) for each in every for name in QUANTILES])
             for title, variant in rows_of(every)]  # fmt: skip
    columns = [f"{service}, {name}" for service in SERVED for name in QUANTILES]
    return Table(f"How long answers take at {REQUESTS.RATE / 1000:,.0f} K requests/s, us", columns, found, service_note(*every[:2]))


def service_note(spinner: Samples, rocksdb: Samples) -> List[str]:
    """How long RocksDB takes for a GET: all else that happens to a request without an agent is as with the spinner."""
    mine, its = (latency(each, "median", FLOOR.name) for each in (spinner, rocksdb))
    if not mine or not its:
        return []
    get = 10 - mine.mean + its.mean
    return [f"By the medians of the floor, a GET of RocksDB takes {get:.1f} us, where the spinner takes 10 us."]


def range_median(result: dict) -> float:
    return result["range_ns"]["median"] / 1_000_000


def preemptions(result: dict) -> float:
    return result.get("decisions", {}).get("PREEMPT", 0) / sum(result["answers"].values())


def mixed_table(document: dict) -> Table:
    found = []
    for load in services.MIXED:
        samples = Samples(document, load.name)
        for title, variant in cells.every(samples):
            texts = [text_of(latency(samples, name, variant)) for name in ("median", "p99", "p99.5")]
            texts += [text_of(samples.mean(range_median, variant), 2), text_of(samples.mean(preemptions, variant), 2)]
            found.append((f"{load.title}: {title}", [*texts, samples.counted(variant)]))
    rate = f"{services.Mixed.RATE / 1000:,.0f} K requests/s"
    return Table(
        f"GETs of 10 us among 0.5 % RANGEs of 5 ms, at {rate}; {services.Mix.workers} CPUs of workers",
        ["GET, median, us", "p99", "p99.5", "RANGE, median, ms", "preemptions of a request", "runs that count"],
        found,
        ["The floor has the threads of the policy beside which it stands, and no policy: 11 with FIFO, and 200 with Shinjuku."],
    )  # fmt: skip


def share_lost(result: dict) -> float:
    return 100 * (1 - result["units"] * result["unit_ns"] / (result["cpus"] * result["ns"]))


def least_share(result: dict) -> float:
    """The share of the task that got least, in percent of an even one."""
    return 100 * result["least"] * TASKS / result["units"]


def most_share(result: dict) -> float:
    return 100 * result["most"] * TASKS / result["units"]


def work(result: dict) -> float:
    """CPUs' worth of work."""
    return result["units"] * result["unit_ns"] / result["ns"]



def vm_table(samples: Samples) -> Table:
    figures: List[Tuple[Figure, int]] = [(work, 4), (share_lost, 2), (least_share, 1), (most_share, 1)]
    found = [(title, [*(text_of(samples.mean(of, variant), digits) for of, digits in figures), samples.counted(variant)])
             for title, variant in cells.every(samples)]  # fmt: skip
    return Table(
        f"{TASKS} tasks that compute all the time, as virtual CPUs do, on 3 CPUs; VM policy",
        ["work, in CPUs", "of the CPUs, lost, %", "the least share of a task, % of an even one", "the greatest", "runs that count"],
        found,
        ["Lost is what ticks, interrupts and switches take. An agent on the host needs one CPU more. The published 11.2 % of",
         "VMs come from cores that run faster while others sleep. That is not modelled: no published figure belongs here."],
    )  # fmt: skip


def tables(document: dict) -> List[Table]:
    extent = document["extent"]
    found = [saturation_table(document), latency_table(document), mixed_table(document)]
    swept = [(load, f"{load.title}: time of a GET", ("median", "p99")) for load in services.MIXED]
    swept.append((services.REQUESTS_ROCKSDB, "Time of an answer of RocksDB", QUANTILES))
    for load, what, names in swept:
        samples = Samples(document, load.name)
        for name in names:
            found += cells.factor_tables(samples, extent, load.name, f"{what}, {name}, us", of_quantile(samples, name))
    vm = Samples(document, VM.name)
    found.append(vm_table(vm))
    found += cells.factor_tables(vm, extent, VM.name, "Work, in CPUs", cells.mean_of(vm, work), 4)
    return [table for table in found if table.rows]


def policy_plots(document: dict) -> List[str]:
    """A plot of p99 against the rate for each variant, with a line for each policy."""
    every = {load.title: Samples(document, load.name) for load in services.MIXED}
    factor = FACTORS[RATE]
    levels = sorted([factor.central, *factor.levels])
    titles = {variant: title for samples in every.values() for title, variant in cells.every(samples)}
    found = []
    for variant, title in titles.items():
        drawn = []
        for policy, samples in every.items():
            points: List[Tuple[float, Optional[Estimate]]] = [
                (level, latency(samples, "p99", variant, *cells.point(RATE, level)))
                for level in levels if samples.all(variant, *cells.point(RATE, level))]  # fmt: skip
            drawn.append(plot.Line(policy, [(level, value) for level, value in points if value is not None]))
        drawn = [line for line in drawn if len(line.points) > 1]
        if drawn:
            heading = f"p99 of GETs among RANGEs, us; {title}"
            found.append(cells.figure(heading, plot.lines(heading, factor.title, "us", drawn)))
    return found


def plots(document: dict) -> List[str]:
    rocksdb = Samples(document, services.SATURATION_ROCKSDB.name)
    bars = [plot.Bar(title, rocksdb.mean(thousands, variant)) for title, variant in cells.every(rocksdb)]
    served = "Requests of RocksDB served in time, K/s"
    return [*([cells.figure(served, plot.bars(served, bars))] if bars else []), *policy_plots(document)]
