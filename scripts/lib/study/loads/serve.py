# SPDX-License-Identifier: Apache-2.0
"""Requests from a device: the highest rate that is served in time, and how long answers take at a given rate."""

import re
from typing import Dict, List, Tuple

from study.loads import load
from study.loads.load import BadResult, Files, Load
from study.variants import VARIANTS

DISPATCHERS = (13, 14, 15)  # their CPUs, the last ones of the host
WORKERS = 12  # CPUs of workers at the central point: 1 to 12. CPU 0 is left to an agent on the host, and to the system.
CENTRAL = ("fifo-central",)  # a policy, and its options of `schedule`
THREADS_PER_CPU = 6  # enough for the 15 us in which a thread is not used again


def cpus_of(count: int) -> str:
    """The CPUs of workers. Only if they are more than 12, CPU 0 is one of them."""
    if count == 1:
        return "1"
    return f"1-{count}" if count <= WORKERS else f"{WORKERS + 1 - count}-{WORKERS}"


def kinds(what: str, text: str) -> Dict[str, int]:
    found = re.search(rf"(?m)^{what} get (\d+) range (\d+)$", text)
    if not found:
        raise BadResult(f"serve has not said how many {what} there were")
    return {"get": int(found[1]), "range": int(found[2])}


class Serve(Load):
    """Requests, and workers that serve them under a policy. `options` are further ones of `serve`, in all runs of a load."""

    programs = ("guest/scheduling/schedule", "guest/workload/serve")
    workers = WORKERS  # CPUs
    dispatchers = DISPATCHERS

    def __init__(self, name: str, title: str, policy: Tuple[str, ...] = CENTRAL, options: Tuple[str, ...] = (), prepares: str = ""):
        self.name, self.title, self.policy, self.options, self.prepares = name, title, policy, options, prepares
        vcpus = self.dispatchers[-1] + 1
        self.platform = (f"hosts[0].vcpus={vcpus}", "ipus[0].endpoint.load_function.present=true", f"ipus[0].oae.ports={2 * vcpus}")

    def cpus(self, run) -> str:
        return cpus_of(int(run.settings().get("workers", self.workers)))

    def threads(self, run) -> int:
        return THREADS_PER_CPU * int(run.settings().get("workers", self.workers))

    def words(self, run) -> List[str]:
        """The options of `serve` that all such loads have."""
        found = ["--seed", str(run.seed + 1), "--workers", str(self.threads(run)), "--worker-cpus", self.cpus(run)]
        found += ["--dispatcher-cpus", "-".join(map(str, sorted({self.dispatchers[0], self.dispatchers[-1]}))), *self.options]
        churn = run.settings().get("churn")
        return [*found, "--churn", str(int(churn))] if churn else found

    def guest(self, run, serve: List[str]) -> str:
        """The guest's command, from the words that follow `serve`."""
        variant = VARIANTS[run.variant]
        found = ["serve", *serve]
        if variant.schedule is not None:
            policy, *options = self.policy
            found.insert(0, load.under(variant, policy, self.cpus(run), (*options, *run.schedule())))
        return " && ".join([*load.begin(variant), load.output(" ".join(found))])


class Saturation(Serve):
    """A run's size is the time of a trial in us, and the requests that are not measured."""

    seconds = 35

    def command(self, run) -> str:
        time, warm_up = run.size
        return self.guest(run, ["saturate", *self.words(run), "--time", f"{time}us", "--warm-up", str(warm_up)])

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


def quantiles(latency: dict) -> Dict[str, float]:
    """Those in ns that have enough requests beyond them."""
    return {name: latency[name] / 1000 for name in QUANTILES if not isinstance(latency[name], str)}


class Requests(Serve):
    """A run's size is the requests that are not measured, and those that are."""

    RATE = 100_000  # at the central point
    seconds = 9

    def counts(self, run, rate: int) -> Tuple[int, ...]:
        """The requests that are not measured, and those that are."""
        return run.size

    def command(self, run) -> str:
        rate = int(run.settings().get("rate", self.RATE))
        warm_up, count = self.counts(run, rate)
        words = [*self.words(run), "--rate", str(rate), "--warm-up", str(warm_up), "--count", str(warm_up + count)]
        return self.guest(run, words)

    def result(self, run, files: Files) -> dict:
        text = files.text()
        found = {what: kinds(what, text) for what in ("requests", "lost", "answers")}
        latency = files.stats["latencies_ps"]["ipu.load.short"]
        found["latency_ns"] = quantiles(latency)
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


SATURATION = Saturation("saturation", "the highest rate at which 99 % of requests are answered within 200 us")
REQUESTS = Requests("requests", "how long answers take")
