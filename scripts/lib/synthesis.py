# SPDX-License-Identifier: Apache-2.0
"""Results of yosys for the RTL: gates with two inputs, flip-flops, and the longest path between two flip-flops. Slot memory,
rows and words remain memories. Used by scripts/bench."""

import dataclasses
import pathlib
import re
import shutil
import subprocess
import tempfile
from typing import List

# For each design: its top, the list of its files in the build, and its size parameter.
DESIGNS = {"block": ("oae_block", "PORTS", 8), "link": ("oae_link", "SLICES", 8), "window": ("oae_link_end", "SLICES", 2)}

# ABC gets the logic between flip-flops, and reports that it contains none.
EXPECTED = re.compile(r"ABC: Warning: The network is combinational")

# Without -fast, ABC saves gates by carries that ripple, and a sum of 64 bits has 95 gates in a row instead of 18.
SCRIPT = """
read_verilog -sv {sources}
hierarchy -check -top {top} -chparam {parameter} {value}
proc
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr
flatten
opt_clean
memory_dff
memory_collect
opt -fast
check -assert
techmap
opt -fast
abc -fast -g AND,OR,XOR,MUX
opt_clean
tee -o {folder}/cells stat
tee -o {folder}/path ltp -noff
"""


class Failure(Exception):
    """The design does not synthesize, or yosys cannot be run."""


@dataclasses.dataclass
class Synthesis:
    design: str
    gates: int
    flip_flops: int
    memories: int
    longest_path: int
    warnings: List[str]

    def line(self) -> str:
        said = "no latch, no warning" if not self.warnings else f"{len(self.warnings)} WARNINGS: {self.warnings[0]}"
        return (f"{self.design}: {self.gates:,} gates, {self.flip_flops:,} flip-flops, {self.memories} memories, "
                f"{self.longest_path} gates in the longest path; {said}")


def synthesise(build: pathlib.Path, name: str) -> Synthesis:
    """Raises Failure."""
    top, parameter, value = DESIGNS[name]
    yosys = shutil.which("yosys")
    if not yosys:
        raise Failure("yosys is not installed; 'scripts/setup --packages bench' installs it")
    sources = (build / "cmake" / "rtl" / f"{name}.f").read_text().split()
    with tempfile.TemporaryDirectory(prefix="oae-vp-synthesis.") as folder:
        script = pathlib.Path(folder) / "script.ys"
        script.write_text(SCRIPT.format(sources=" ".join(sources), top=top, parameter=parameter, value=value, folder=folder))
        done = subprocess.run([yosys, "-q", "-l", f"{folder}/log", str(script)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise Failure(f"yosys: {done.stdout.strip()[-2000:]}")
        log = (pathlib.Path(folder) / "log").read_text()
        cells = {kind: int(count) for kind, count in
                 re.findall(r"^\s+(\$\S+)\s+(\d+)$", (pathlib.Path(folder) / "cells").read_text(), re.M)}
        length = re.search(r"\(length=(\d+)\)", (pathlib.Path(folder) / "path").read_text())
    flip_flops = sum(count for kind, count in cells.items() if "DFF" in kind)
    memories = sum(count for kind, count in cells.items() if kind.startswith("$mem"))
    warnings = [line.strip() for line in log.splitlines() if "Warning:" in line and not EXPECTED.search(line)]
    return Synthesis(f"{top}, {parameter.lower()} {value}", sum(cells.values()) - flip_flops - memories, flip_flops, memories,
                     int(length[1]) if length else 0, warnings)
