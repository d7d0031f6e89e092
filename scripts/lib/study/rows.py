# SPDX-License-Identifier: Apache-2.0
"""The rows of the tables: a title and a variant each. A further variant gets a row in OTHERS, and is then in all tables."""

from study.variants import CROSSED, FLOOR, LADDER, ON_HOST, OPTIMISATIONS, PORTS, WITHOUT

Rows = list[tuple[str, str]]

BASELINES: Rows = [
    ("floor: the fair class, no agent", FLOOR.name),
    ("agent on the host", ON_HOST[0].name),
    ("agent on the host, prestage", ON_HOST[1].name),
]
STEPS: Rows = [("Wave's queues, no optimisation", LADDER[0].name)]
STEPS += [(f"+ {name}", variant.name) for name, variant in zip(OPTIMISATIONS, LADDER[1:-1])]
STEPS.append(("+ prestage: all optimisations", LADDER[-1].name))
REMOVED: Rows = [(f"all but {name}", variant.name) for name, variant in WITHOUT.items()]
PORT_TITLES = ("swap ports, each event sent", "swap ports", "swap ports, prestage, each event sent", "swap ports, prestage")
CROSSED_TITLES = ("all, a single owner for each task", "the same, and a liveness word", "all, decisions pushed by DMA",
                  "swap ports, prestage, Wave's rule of validity")  # fmt: skip
OTHERS: Rows = [(title, variant.name) for title, variant in zip((*PORT_TITLES, *CROSSED_TITLES), (*PORTS, *CROSSED))]
NONE, ALL = LADDER[0].name, LADDER[-1].name
FLOOR_NAME, HOST_NAME = FLOOR.name, ON_HOST[1].name
