# SPDX-License-Identifier: Apache-2.0
"""The loads of a study, by name. A new one is a module here, and an entry of LOADS."""

from study.loads import faults, services, traced
from study.loads.load import Load
from study.loads.ping import PING
from study.loads.serve import REQUESTS, SATURATION
from study.loads.vm import VM

LOADS: dict[str, Load] = {
    each.name: each for each in (PING, SATURATION, REQUESTS, *services.ALL, VM, *traced.ALL, *faults.ALL)
}
