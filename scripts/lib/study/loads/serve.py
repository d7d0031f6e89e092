# SPDX-License-Identifier: Apache-2.0
"""Requests from a device: the highest rate that is served in time, and how long answers take at a given rate."""

import re
from typing import Dict, List, Tuple

from study.loads import load
from study.loads.load import BadResult, Files, Load
from study.variants import VARIANTS

VCPUS = 16
DISPATCHERS = (13, 14, 15)
WORKERS = 12  # CPUs of workers at the central point: 1 to 12. CPU 0 is left to an agent on the host, and to the system.
THREADS_PER_CPU = 6  # enough for the 15 us in which a thread is not used again


def cpus_of(count: int) -> str:
    """The CPUs of workers. Only if they are more than 12, CPU 0 is one of them."""
    if count == 1:
        return "1"
    return f"1-{count}" if count <= WORKERS else f"{WORKERS + 1 - count}-{WORKERS}"


def words(run) -> List[str]:
    """The options of `serve` that both loads have."""
    settings = run.settings()
    workers = int(settings.get("workers", WORKERS))
    found = ["--seed", str(run.seed + 1), "--workers", str(THREADS_PER_CPU * workers), "--worker-cpus", cpus_of(workers)]
    found += ["--dispatcher-cpus", f"{DISPATCHERS[0]}-{DISPATCHERS[-1]}"]
    if settings.get("churn"):
        found += ["--churn", str(int(settings["churn"]))]
    return found


def command(run, serve: List[str]) -> str:
    variant = VARIANTS[run.variant]
    settings = run.settings()
    serve = ["serve", *serve]
    if variant.schedule is not None:
        cpus = cpus_of(int(settings.get("workers", WORKERS)))
        serve.insert(0, load.under(variant, settings.get("policy", "fifo-central"), cpus, run.schedule()))
    return " && ".join([*load.begin(variant), load.output(" ".join(serve))])


def kinds(what: str, text: str) -> Dict[str, int]:
    found = re.search(rf"(?m)^{what} get (\d+) range (\d+)$", text)
    if not found:
        raise BadResult(f"serve has not said how many {what} there were")
    return {"get": int(found[1]), "range": int(found[2])}


class Serve(Load):
    platform = (f"hosts[0].vcpus={VCPUS}", "ipus[0].endpoint.load_function.present=true", f"ipus[0].oae.ports={2 * VCPUS}")
    programs = ("guest/scheduling/schedule", "guest/workload/serve")


class Saturation(Serve):
    """A run's size is the time of a trial in us, and the requests that are not measured."""

    name = "saturation"
    title = "the highest rate at which 99 % of requests are answered within 200 us"

    def command(self, run) -> str:
        time, warm_up = run.size
        return command(run, ["saturate", *words(run), "--time", f"{time}us", "--warm-up", str(warm_up)])

    def result(self, run, files: Files) -> dict:
        text = files.text()
        trials = [[int(each) for each in line] for line in re.findall(r"(?m)^trial (\d+) late (\d+) of (\d+)$", text)]
        rate = re.search(r"(?m)^saturation (\d+)$", text)
        if not rate:
            raise BadResult("serve has found no rate")
        found = {"rate": int(rate[1]), "trials": trials, **load.counted(VARIANTS[run.variant], text)}
        self.check(found)
        return found

    def check(self, result: dict) -> None:
        if result["rate"] and result["rate"] not in [rate for rate, *_ in result["trials"]]:
            raise BadResult("no trial had the rate that was found")


QUANTILES = ("median", "p99", "p99.5", "p99.9")


class Requests(Serve):
    """A run's size is the requests that are not measured, and those that are."""

    name = "requests"
    title = "how long answers take"
    RATE = 100_000  # at the central point

    def command(self, run) -> str:
        warm_up, count = run.size
        rate = int(run.settings().get("rate", self.RATE))
        return command(run, [*words(run), "--rate", str(rate), "--warm-up", str(warm_up), "--count", str(warm_up + count)])

    def result(self, run, files: Files) -> dict:
        text = files.text()
        found = {what: kinds(what, text) for what in ("requests", "lost", "answers")}
        latency = files.stats["latencies_ps"]["ipu.load.short"]
        found["latency_ns"] = {name: latency[name] / 1000 for name in QUANTILES if not isinstance(latency[name], str)}
        found["measured"] = latency["count"]
        churn = re.search(r"(?m)^churn (.*)$", text)
        if churn:
            pairs: List[str] = churn[1].split()
            found["churn"] = {name: int(value) for name, value in zip(pairs[::2], pairs[1::2])}
        found.update(load.counted(VARIANTS[run.variant], text))
        found.update(load.device(files.stats))
        self.check(found)
        return found

    def check(self, result: dict) -> None:
        if result["requests"] != {kind: result["lost"][kind] + result["answers"][kind] for kind in ("get", "range")}:
            raise BadResult("a request was neither lost nor answered")
        if not result["measured"] > 0:
            raise BadResult("no answer was measured")


SATURATION, REQUESTS = Saturation(), Requests()
