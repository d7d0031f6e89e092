# SPDX-License-Identifier: Apache-2.0
"""Requests of other services, and under other policies, than those of serve.py."""

from typing import Tuple

from study.loads.load import SHARE, Files
from study.loads.serve import CENTRAL, Requests, Saturation, Serve, quantiles

PER_CPU = ("fifo-per-cpu",)
DATABASE = "/tmp/database"
FILL = f"{SHARE}/serve fill --database {DATABASE}\n"
ROCKSDB = ("--service", "rocksdb", "--database", DATABASE)

SATURATION_ROCKSDB = Saturation("saturation-rocksdb", "the same, with GETs of RocksDB", CENTRAL, ROCKSDB, FILL)
REQUESTS_ROCKSDB = Requests("requests-rocksdb", "how long answers of RocksDB take", CENTRAL, ROCKSDB, FILL)
SATURATION_PER_CPU = Saturation("saturation-per-cpu", "the same, with a queue for each CPU", PER_CPU)
REQUESTS_PER_CPU = Requests("requests-per-cpu", "how long answers take with a queue for each CPU", PER_CPU)


class Mix(Serve):
    """As in ghOSt's experiments: of 8 CPUs, six run workers, and 0.5 % of the requests are RANGEs."""

    workers, dispatchers = 6, (7,)
    RANGES = ("--ranges", "0.5%", "--range", "5ms")

    def __init__(self, name: str, title: str, policy: Tuple[str, ...], threads: int):
        super().__init__(name, title, policy, self.RANGES)
        self.thread_count = threads

    def threads(self, run) -> int:
        return self.thread_count


class MixedSaturation(Mix, Saturation):
    """Only GETs have to be answered in time."""

    seconds = 65


class Mixed(Mix, Requests):
    """A run's size is the time in us during which requests come that are not measured, and during which those come that are."""

    seconds = 14

    def counts(self, run, rate: int) -> Tuple[int, ...]:
        return tuple(rate * time // 1_000_000 for time in run.size)

    def result(self, run, files: Files) -> dict:
        return {**super().result(run, files), "range_ns": quantiles(files.stats["latencies_ps"]["ipu.load.long"])}


def shinjuku(time_slice: str) -> Tuple[str, ...]:
    return ("shinjuku", "--time-slice", time_slice)


SATURATION_MIXED = MixedSaturation("saturation-mixed", "the same, among RANGEs by Shinjuku, 30 us", shinjuku("30us"), 200)
MIXED = (
    Mixed("mixed-fifo", "FIFO", CENTRAL, 11),
    Mixed("mixed-shinjuku", "Shinjuku, 30 us", shinjuku("30us"), 200),
    Mixed("mixed-shinjuku-5us", "Shinjuku, 5 us", shinjuku("5us"), 200),
)
ALL = (SATURATION_ROCKSDB, REQUESTS_ROCKSDB, SATURATION_PER_CPU, REQUESTS_PER_CPU, SATURATION_MIXED, *MIXED)
