# SPDX-License-Identifier: Apache-2.0
"""Two hosts of a platform whose processes exchange slots at joined ports: for figures and benchmarks."""

import pathlib
from typing import List

PROGRAM = "tests/system/joined"  # in the build; a copy of it is shared with the guests

# The beginning of what each host runs.
BEGIN = """
cd /share
role=$(sed 's/.*role=\\([01]\\).*/\\1/' /proc/cmdline)
"""


def roles(platform: pathlib.Path) -> List[str]:
    """The KEY=VALUE by which each host of a platform is told its number, as its role."""
    import yaml

    hosts = yaml.safe_load(platform.read_text())["hosts"]
    return [f"hosts[{role}].append={host['append']} role={role}" for role, host in enumerate(hosts)]


def exchange(port: str, count: str) -> str:
    """The command by which a host exchanges so many slots with the other one at a port. It prints `COUNT swaps`."""
    return f"./joined /dev/oae0p{port} 1$role 1$((1 - role)) {count}"
