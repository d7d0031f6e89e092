# SPDX-License-Identifier: Apache-2.0
"""What the tests of scripts/study share: made-up results, and documents of them."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"

sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS / "lib"))

DEVICE = {"reads": 2_000, "writes": 5_000, "interrupts": 1_000, "bytes_down": 500_000, "bytes_up": 200_000, "line_fills": 9}


# What scheduling-trace says of a run, and its parameters.
ACCOUNT = {"cpus": 1, "time_slice": 30_000, "prestage": 1, "rule": 1, "watchdog": 20_000_000, "watchdog_by": 0,
           "decisions": 1_000, "ran": 900, "taken_back": 10, "aborted TARGET_STALE": 40, "aborted CPU_UNAVAIL": 20,
           "withdrawn": 30, "unaccounted": 0, "lost": 0, "superseded": 0, "decided RUN": 600, "decided PREEMPT": 0,
           "decided PRESTAGE": 400, "kicks": 600, "fallbacks": 0, "resumed": 0, "freed": 800, "freed prestaged": 400,
           "freed in_time": 200, "freed refused": 20, "freed late": 100, "freed nothing": 80, "looks_in_vain": 190,
           "looks_missed": 110, "messages_a_second": 5_000, "decisions_a_second": 1_000, "right": 900, "stale": 10, "stale_waited": 5_000,
           "stale_waited_max": 900, "idle_while_waiting": 7_000, "age_p50": 1_000, "age_p99": 3_000, "age_max": 4_000,
           "age_below 1024": 600, "age_below 4096": 370}  # fmt: skip
MEANS = {"until_stopping": 100, "until_look": 200, "until_claim": 0, "claim": 750, "insertion": 300, "report": 20,
         "until_on_cpu": 400, "until_user": 500, "whole": 2_270}  # fmt: skip
PARAMETERS = "/sys/module/oae_sched/parameters/answer_timeout_ms:1000\n/sys/module/oae_sched_port/parameters/period_us:4000\n" \
             "/sys/module/oae_sched_port/parameters/streamed:Y\n"  # fmt: skip


FUNCTIONS = [f"ipu.endpoint.pf{number}." for number in (0, 1)]
COUNTERS = {function + name: 3 for function in FUNCTIONS for name in ("bar_reads", "bar_writes", "interrupts")}
COUNTERS.update({"host_ipu.down.wire_bytes": 0, "host_ipu.up.wire_bytes": 0, "ipu.queue_memory.line_fills": 0,
                 "host.root_complex.port0.completion_timeouts": 2, "ipu.endpoint.pf0.completion_timeouts": 5})  # fmt: skip
STATS = {"counters": COUNTERS, "latencies_ps": {"host.root_complex.read_latency": {"median": 1}}}


def switches(count):
    parts = (f"stamped {part} count {count} mean {mean} p50 8 p99 9 min 7 max 10" for part, mean in MEANS.items())
    return f"stamped switches {count}\n" + "".join(f"{line}\n" for line in parts) + "resumed 3\n"


def lines_of(figures):
    return "".join(f"{name} {number}\n" for name, number in figures.items())


def result(time_of_switch, agent=True, fallbacks=0):
    found = {"switches": 1_000, "ns": 1_000 * time_of_switch, "all_switches": 1_000, "device": DEVICE, "read_ns": 750.0}
    if agent:
        found.update(messages=4_000, decisions={"RUN": 250, "PRESTAGE": 750}, outcomes={"COMPLETE": 990, "TARGET_STALE": 10},
                     kicks=250, fallbacks=fallbacks)  # fmt: skip
    return found


def run(variant, seed, found, factor="", level=0.0, load="ping"):
    return {"load": load, "variant": variant, "factor": factor, "level": level, "seed": seed, "size": [100, 600],
            "values": [], "more": [], "command": "true", "key": "0", "result": found}  # fmt: skip


def document(*runs, extent="quick", failures=()):
    return {"format": 2, "study": "wave", "extent": extent, "kernel": "7.0", "inputs": {"linux 7.0": "ab" * 32},
            "failures": list(failures), "runs": list(runs)}  # fmt: skip
