# SPDX-License-Identifier: Apache-2.0
"""One boot of a machine, and the children that are forked from it: one for each run."""

import dataclasses
import json
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
from typing import Callable, Iterator, List, Optional

from study.inputs import Inputs
from study.loads import LOADS
from study.loads.load import MARK, SHARE, BadResult, Files
from study.matrix import Run

ENDED = re.compile(r"\s*(\d+)\s+(\S.*?)\s+[\d.]+ s\s+([\d.]+) s\s")  # a child, in what oae-vp prints: number, end, wall
SECONDS_TO_END = 10  # of wall time, after an interruption


class Failure(Exception):
    """A machine did not boot; the message says why."""


@dataclasses.dataclass(frozen=True)
class Ended:
    """How a run ended."""

    run: Run
    result: Optional[dict]
    failure: str  # why there is no result
    wall: float  # seconds


def last_of(file: pathlib.Path) -> str:
    try:
        return file.read_text(errors="replace")[-1500:].strip()
    except OSError:
        return ""


def ended_child(inputs: Inputs, run: Run, how: str, wall: float, folder: pathlib.Path) -> Ended:
    said = last_of(folder / "share" / "err")
    if how != "0" or said:
        texts = [f"exit code {how}", said, last_of(folder / "messages.txt")]
        if not said:
            texts.append(last_of(folder / "host.log"))
        return Ended(run, None, "\n".join(text for text in texts if text), wall)
    try:
        files = Files(folder / "share", json.loads((folder / "stats.json").read_text()), inputs.build)
        return Ended(run, LOADS[run.load].result(run, files), "", wall)
    except (OSError, ValueError, KeyError, BadResult) as mistake:
        return Ended(run, None, f"{type(mistake).__name__}: {mistake}", wall)


def command_line(inputs: Inputs, run: Run, folder: pathlib.Path, jobs: int) -> List[str]:
    """Of the machine of a run."""
    firmware = LOADS[run.load].firmware
    command = [str(inputs.program), "run", str(inputs.platform), "--images", str(inputs.images)]
    command += ["--kernel", str(inputs.kernel), "--initrd", str(inputs.initramfs)]
    if firmware:
        command += ["--firmware", str(inputs.build / firmware)]
    for value in run.values():
        command += ["--set", value]
    command += ["--append", f"vp.run={SHARE}/boot", "--share", str(folder / "share"), "--console", "host=off"]
    command += ["--stats", str(folder / "stats"), "--snapshot-at", MARK, "--children", str(folder / "commands")]
    return [*command, "--children-output", str(folder / "out"), "--jobs", str(jobs)]


def prepare(inputs: Inputs, runs: List[Run], folder: pathlib.Path) -> None:
    (folder / "share").mkdir()
    (folder / "share" / "boot").write_text(LOADS[runs[0].load].boot())
    for file in inputs.guest_files:
        shutil.copy(file, folder / "share")
    (folder / "commands").write_text("".join(LOADS[run.load].command(run) + "\n" for run in runs))


def end(process: subprocess.Popen) -> None:
    """Waits for a simulator that may have got the terminal's interruption, too, and interrupts it if it has not."""
    for number in (None, signal.SIGINT, signal.SIGKILL):
        if number is not None:
            process.send_signal(number)
        try:
            process.wait(1 if number is None else SECONDS_TO_END)
            return
        except subprocess.TimeoutExpired:
            pass


def run_all(
    inputs: Inputs, runs: List[Run], work: pathlib.Path, jobs: int, booted: Callable[[], None]
) -> Iterator[Ended]:
    """Makes runs of one machine, and yields each when it has ended and those before it have."""
    with tempfile.TemporaryDirectory(prefix="machine.", dir=work) as name:
        folder = pathlib.Path(name)
        prepare(inputs, runs, folder)
        command = command_line(inputs, runs[0], folder, jobs)
        with open(folder / "errors", "w+", encoding="utf-8", errors="replace") as errors:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                                       text=True, errors="replace")  # fmt: skip
            try:
                yield from children(inputs, process, runs, folder, booted)
                process.wait()
            finally:
                end(process)
                process.stdout.close()
            if not (folder / "out" / "summary.json").exists():
                raise Failure(f"exit code {process.returncode}:\n{last_of(folder / 'errors')}")


def children(
    inputs: Inputs, process: subprocess.Popen, runs: List[Run], folder: pathlib.Path, booted: Callable[[], None]
) -> Iterator[Ended]:
    for line in process.stdout:
        if line.split()[:1] == ["child"]:
            booted()
            continue
        found = ENDED.match(line)
        if found:
            number = int(found[1])
            child = folder / "out" / str(number)
            yield ended_child(inputs, runs[number - 1], found[2], float(found[3]), child)
            shutil.rmtree(child, ignore_errors=True)
