# SPDX-License-Identifier: Apache-2.0
"""Results of yosys for the RTL: gates with two inputs, flip-flops, and the longest path between two flip-flops. Slot memory,
rows, words and rings remain memories. Used by scripts/bench."""

import dataclasses
import pathlib
import re
import shutil
import subprocess
import tempfile
from typing import Dict, List


@dataclasses.dataclass(frozen=True)
class Design:
    """A module that is synthesized as the top, the list of its files in the build (without .f), and its parameters."""

    top: str
    files: str
    parameters: Dict[str, int]


# A link of platforms/window.yaml has two slices in a clock, which are 100 Gb/s. Eight are 400 Gb/s.
DESIGNS = {
    "block": Design("oae_block", "block", {"PORTS": 8}),
    "link": Design("oae_link", "link", {"SLICES": 8}),
    "window": Design("oae_link_end", "window", {"SLICES": 2}),
    "window8": Design("oae_link_end", "window", {"SLICES": 8}),
    "relay": Design("oae_relay_cell", "relay", {"SLICES": 2}),
    "relay8": Design("oae_relay_cell", "relay", {"SLICES": 8}),
    "cell": Design("oae_cell", "cell", {"LINKS": 1, "PORTS": 8, "SLICES": 2}),
    "cell_of_two": Design("oae_cell", "cell", {"LINKS": 2, "PORTS": 8, "SLICES": 2}),
}

# ABC gets the logic between flip-flops, and reports that it contains none.
EXPECTED = re.compile(r"ABC: Warning: The network is combinational")

# The parameters are set before hierarchy looks for the top: its own -chparam aborts (yosys 0.23) if a port of an instance in the
# top is connected to an expression with '0 or '1.
ELABORATE = """
read_verilog -sv {sources}
chparam {parameters} {top}
hierarchy -check -top {top}
"""

# A register of a memory becomes part of it (memory_dff). If it is a part of a wider register, what is left of it is found to be
# without use only bit by bit (simplemap), and would otherwise have an input without a driver.
# Without -fast, ABC saves gates by carries that ripple, and a sum of 64 bits has 95 gates in a row instead of 18.
MAP = """
proc
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr
flatten
opt_clean
memory_dff
memory_collect
simplemap t:*dff*
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
    path_from: str
    path_to: str
    warnings: List[str]

    def line(self) -> str:
        said = "no latch, no warning" if not self.warnings else f"{len(self.warnings)} WARNINGS: {self.warnings[0]}"
        return (f"{self.design}: {self.gates:,} gates, {self.flip_flops:,} flip-flops, {self.memories} memories, "
                f"{self.longest_path} gates in the longest path, from {self.path_from} to {self.path_to}; {said}")


def run_yosys(script: str, folder: pathlib.Path) -> List[str]:
    """Runs yosys, with its log in a folder. Returns its warnings. Raises Failure."""
    yosys = shutil.which("yosys")
    if not yosys:
        raise Failure("yosys is not installed; 'scripts/setup --packages bench' installs it")
    file, log = folder / "script.ys", folder / "log"
    file.write_text(script)
    done = subprocess.run([yosys, "-q", "-l", str(log), str(file)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise Failure(f"yosys: {done.stdout.strip()[-2000:]}")
    return [line.strip() for line in log.read_text().splitlines() if "Warning:" in line and not EXPECTED.search(line)]


def elaboration(build: pathlib.Path, design: Design) -> str:
    """Returns the part of the script that reads a design and sets its parameters."""
    return ELABORATE.format(sources=(build / "cmake" / "rtl" / f"{design.files}.f").read_text().replace("\n", " "), top=design.top,
                            parameters=" ".join(f"-set {key} {value}" for key, value in design.parameters.items()))


def signal(line: str) -> str:
    """Returns the name of the signal in a line of a path, without its bit, or "a gate" if it has none."""
    found = re.match(r"\s*\w+: \\?(\S+)", line)
    return found[1] if found and not found[1].startswith("$") else "a gate"


def synthesise(build: pathlib.Path, design: Design) -> Synthesis:
    """Raises Failure."""
    with tempfile.TemporaryDirectory(prefix="oae-vp-synthesis.") as name:
        folder = pathlib.Path(name)
        warnings = run_yosys(elaboration(build, design) + MAP.format(folder=folder), folder)
        cells = {kind: int(count) for kind, count in
                 re.findall(r"^\s+(\$\S+)\s+(\d+)$", (folder / "cells").read_text(), re.M)}
        path = (folder / "path").read_text()
    length = re.search(r"\(length=(\d+)\)", path)
    steps = re.findall(r"^\s+(?:\d+|ff): .*$", path, re.M)
    flip_flops = sum(count for kind, count in cells.items() if "DFF" in kind)
    memories = sum(count for kind, count in cells.items() if kind.startswith("$mem"))
    title = ", ".join([design.top, *(f"{key.lower()} {value}" for key, value in design.parameters.items())])
    return Synthesis(title, sum(cells.values()) - flip_flops - memories, flip_flops, memories, int(length[1]) if length else 0,
                     signal(steps[0]) if steps else "", signal(steps[-1]) if steps else "", warnings)
