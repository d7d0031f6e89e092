# SPDX-License-Identifier: Apache-2.0
"""Machines for scripts/figures: platforms with other values, which run one script or are booted once for many."""

import contextlib
import dataclasses
import json
import pathlib
import shutil
import subprocess
import tempfile
from typing import Dict, Iterable, Iterator, List, Optional

from figures.table import Failure
from latency import latencies_of

PLATFORMS = pathlib.Path(__file__).resolve().parents[3] / "platforms"
PLATFORM = PLATFORMS / "oae-mini.yaml"
SECONDS_AT_MOST = 1200  # of wall time, for one boot and its children

# Part of the guest's script: sends the addresses of the function's BARs, and of port 0 in them.
HEAD = "set -e\ncat /sys/bus/pci/devices/0000:01:00.0/resource > /share/resource\n"


@dataclasses.dataclass(frozen=True)
class Child:
    """The results of a script."""

    folder: pathlib.Path

    def file(self, name: str) -> str:
        return (self.folder / "share" / name).read_text()

    def json(self, name: str) -> dict:
        return json.loads(self.file(name))

    def bar(self, number: int) -> int:
        return int(self.file("resource").splitlines()[number].split()[0], 16)

    def stats(self) -> dict:
        return json.loads((self.folder / "stats.json").read_text())

    def trace(self, key: str = "") -> Iterator[dict]:
        """The lines of the trace after the first state of a swap port: all, or those with this key."""
        begun = False
        with open(self.folder / "trace.jsonl", encoding="utf-8") as lines:
            next(lines)
            for line in lines:
                begun = begun or '"swap":' in line
                if begun and f'"{key}' in line:
                    yield json.loads(line)


def root_complex_latency(build: pathlib.Path) -> int:
    """Time in ps from a processor to the link and back, in one direction."""
    return latencies_of(program_of(build), PLATFORM).root_complex


def program_of(build: pathlib.Path) -> str:
    return str(build / "cmake" / "platforms" / "oae-vp")


def run_machine(build: pathlib.Path, platform: pathlib.Path, folder: pathlib.Path, *options: str) -> None:
    """Runs a platform with a trace and the files in folder/share. Raises Failure if the run fails."""
    command = [program_of(build), "run", str(platform), "--images", str(build / "images")]
    command += ["--share", str(folder / "share"), "--trace", str(folder / "trace.jsonl"), *options]
    try:
        run = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, errors="replace", timeout=SECONDS_AT_MOST)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise Failure(str(failure)) from None
    if run.returncode != 0:
        consoles = sorted(folder.glob("*/*/host.log"))
        console = consoles[-1].read_text(errors="replace")[-2000:] if consoles else ""
        raise Failure(f"exit code {run.returncode}:\n{run.stdout[-2000:]}\n{console}")


def set_options(values: Iterable[str]) -> List[str]:
    return [word for value in values for word in ("--set", value)]


@contextlib.contextmanager
def ended(
    build: pathlib.Path, platform: str, script: str, *values: str, files: Iterable[pathlib.Path] = ()
) -> Iterator[Child]:
    """Boots a platform with these KEY=VALUE. Each host runs the script and has its own files. All files are removed at
    the end of the `with`."""
    with tempfile.TemporaryDirectory(prefix="oae-vp-figures.") as name:
        folder = pathlib.Path(name)
        (folder / "share").mkdir()
        (folder / "share" / "script").write_text(HEAD + script)
        for file in files:
            shutil.copy(file, folder / "share")
        run_machine(build, PLATFORMS / f"{platform}.yaml", folder, "--append", "vp.run=/share/script",
                    *set_options(values))  # fmt: skip
        yield Child(folder)


@contextlib.contextmanager
def children(
    build: pathlib.Path,
    scripts: Dict[str, str],
    *values: str,
    append: str = "",
    files: Iterable[pathlib.Path] = (),
    firmware: Optional[pathlib.Path] = None,
    stats: bool = False,
) -> Iterator[Dict[str, Child]]:
    """Boots the default platform with these KEY=VALUE, and runs each script in a child with its own files. All files are
    removed at the end of the `with`."""
    with tempfile.TemporaryDirectory(prefix="oae-vp-figures.") as name:
        folder = pathlib.Path(name)
        (folder / "share").mkdir()
        for number, script in enumerate(scripts.values()):
            (folder / "share" / f"script{number}").write_text(HEAD + script)
        for file in files:
            shutil.copy(file, folder / "share")
        commands = folder / "commands"
        commands.write_text("".join(f"sh /share/script{number}\n" for number in range(len(scripts))))
        options = set_options(values)
        options += ["--firmware", str(firmware)] if firmware else []
        options += ["--append", append] if append else []
        options += ["--stats", str(folder / "stats")] if stats else []
        options += ["--console", "host=off", "--snapshot-at", "booted", "--children", str(commands)]
        run_machine(build, PLATFORM, folder, *options, "--children-output", str(folder / "out"))
        yield {text: Child(folder / "out" / str(number + 1)) for number, text in enumerate(scripts)}
