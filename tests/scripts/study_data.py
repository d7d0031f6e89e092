# SPDX-License-Identifier: Apache-2.0
"""What the tests of scripts/study share: made-up results, and documents of them."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"

sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS / "lib"))

DEVICE = {"reads": 2_000, "writes": 5_000, "interrupts": 1_000, "bytes_down": 500_000, "bytes_up": 200_000, "line_fills": 9}


def result(time_of_switch, agent=True, fallbacks=0):
    found = {"switches": 1_000, "ns": 1_000 * time_of_switch, "all_switches": 1_000, "device": DEVICE, "read_ns": 750.0}
    if agent:
        found.update(messages=4_000, decisions={"RUN": 250, "PRESTAGE": 750}, outcomes={"COMPLETE": 990, "TARGET_STALE": 10},
                     kicks=250, fallbacks=fallbacks)  # fmt: skip
    return found


def run(variant, seed, found, factor="", level=0.0, load="ping"):
    return {"load": load, "variant": variant, "factor": factor, "level": level, "seed": seed, "size": [100, 600],
            "values": [], "command": "true", "key": "0", "result": found}  # fmt: skip


def document(*runs, extent="quick", failures=()):
    return {"format": 2, "study": "wave", "extent": extent, "kernel": "7.0", "inputs": {"linux 7.0": "ab" * 32},
            "failures": list(failures), "runs": list(runs)}  # fmt: skip
