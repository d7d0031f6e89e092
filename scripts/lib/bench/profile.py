# SPDX-License-Identifier: Apache-2.0
"""The parts of a benchmark's wall time. Its machine runs once under perf, and the samples of what the benchmark measures
are counted by part of the project. Called by scripts/bench --profile.

The shared object of a sample says to which part it belongs; within oae-vp and the library of its core, the namespaces of its
symbol do.
"""

import argparse
import collections
import contextlib
import dataclasses
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from typing import Callable, Counter, List, Optional, Tuple

sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])
from bench import machines  # noqa: E402
from bench.benchmarks import BEGIN, BENCHMARKS  # noqa: E402
from bench.result import number  # noqa: E402

NAMES = ("swap", "mmio", "dma1", "dma4", "compute", "poll", "boot")
SAMPLES_PER_SECOND = 1999  # of the processor's time; no divisor of anything periodic
PATIENCE_SECONDS = 10  # for an answer of perf
HOTTEST = 10

# Parts by shared object, and within oae-vp by symbol. The first match counts.
OBJECTS = (
    ("QEMU x86-64", r"libqemu-x86_64"),
    ("QEMU AArch64", r"libqemu-aarch64"),
    ("kernel", r"^\[(kernel|guest|vdso|vsyscall)|\.ko(\.|$)|^\[[a-z0-9_]+\]$"),
    ("SystemC", r"^libsystemc"),
    ("C library", r"^(libc|libm|libstdc\+\+|libgcc_s|libpthread|ld-linux-x86-64|libglib-2\.0)[.-]"),
)
TRANSLATED = r"^(//anon|anon|\[anon|\[JIT\]|\[stack|\[heap|memfd:|/memfd:|/dev/zero|perf-\d+\.map|\[unknown\])"
SYMBOLS = (
    ("block's RTL", r"\bVoae_|\b_?VL_|\bVerilated|\bVl[A-Z]"),
    ("vp/qemu", r"\bvp::qemu::"),
    ("models/pcie", r"\bpcie::"),
    ("models/host", r"\bhost::"),
    ("models/oae", r"\boae::"),
    ("models/ipu", r"\bipu::"),
    ("vp/time", r"\bvp::(Agenda|Calendar|Domain|Event|Decoupled|now|to_sc_time)\b"),
    ("SystemC", r"\b(sc_core|sc_dt|tlm|tlm_utils)::|\bsc_cor_qt|\bqt_"),
)
REST = "rest of oae-vp"
TRANSLATED_NAME = "translated code"
PARTS = (TRANSLATED_NAME, "QEMU x86-64", "QEMU AArch64", "block's RTL", "SystemC", "vp/time", "vp/qemu", "models/pcie",
         "models/host", "models/ipu", "models/oae", REST, "C library", "kernel", "other libraries")


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of perf's report: the number of samples of a symbol."""

    samples: int
    dso: str
    symbol: str


def lines_of(report: str) -> List[Line]:
    """The lines of a report with the fields sample, dso and symbol, separated by '|'; perf adds an empty one."""
    found = []
    for text in report.splitlines():
        if match := re.match(r"\s*(\d+)\s*\|([^|]*)\|(?:\[.\] )?(.*?)\s*(?:\|[-\s]*)?$", text):
            found.append(Line(int(match[1]), match[2].strip(), match[3]))
    return found


def function_of(symbol: str) -> str:
    """The function without its parameters, which may name types of other parts."""
    symbol = re.sub(r"operator\(\)|operator\W+(?=[(<])|\(anonymous namespace\)", "_", symbol)
    depth = 0
    for at, letter in enumerate(symbol):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0:
            return symbol[:at]
    return symbol


def part_of(line: Line) -> str:
    """Returns the part of the project to which a line belongs."""
    name = pathlib.PurePath(line.dso).name or line.dso
    if re.search(TRANSLATED, line.dso):
        return TRANSLATED_NAME
    for part, pattern in OBJECTS:
        if re.search(pattern, name):
            return part
    if not re.fullmatch(r"oae-vp|liboae-vp\.so\.[0-9]+", name):
        return "other libraries"
    # A template of a library or of SystemC belongs to the part whose types are its arguments.
    function = function_of(line.symbol)
    matches = [(match.start(), part) for part, pattern in SYMBOLS if (match := re.search(pattern, function))]
    ours = [match for match in matches if match[1] != "SystemC"]
    return min(ours or matches)[1] if matches else REST


def table(lines: List[Line]) -> str:
    """Shares by part, and the hottest symbols."""
    whole = sum(line.samples for line in lines)
    parts: Counter[str] = collections.Counter()
    symbols: Counter[Tuple[str, str]] = collections.Counter()
    for line in lines:
        part = part_of(line)
        parts[part] += line.samples
        if part != TRANSLATED_NAME:  # has no symbols
            symbols[part, line.symbol] += line.samples
    text = [f"  {100 * parts[part] / whole:5.1f} %  {part}" for part in PARTS if part in parts]
    text.append(f"\nthe {HOTTEST} hottest symbols:")
    for (part, symbol), samples in symbols.most_common(HOTTEST):
        short = symbol if len(symbol) <= 90 else symbol[:87] + "..."
        text.append(f"  {100 * samples / whole:5.1f} %  {part:16}  {short}")
    return "\n".join(text)


class Recorder(machines.Watcher):
    """Records a machine with perf from the line BEGIN of its console on, or from its start, until the last line."""

    # The machine starts when perf is attached.
    STOPPED = ["sh", "-c", 'kill -STOP $$; exec "$0" "$@"']

    def __init__(self, folder: pathlib.Path, lines: List[str]):
        self.data, self.messages = folder / "perf.data", folder / "perf.messages"
        self.lines = lines
        self.perf: Optional[subprocess.Popen] = None
        self.fifos = []
        for name in ("control", "answer"):
            os.mkfifo(folder / name)
            self.fifos.append(os.open(folder / name, os.O_RDWR))
        self.names = f"fifo:{folder / 'control'},{folder / 'answer'}"

    def started(self, process: int) -> None:
        os.waitid(os.P_PID, process, os.WSTOPPED | os.WNOWAIT)
        command = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(SAMPLES_PER_SECOND), "-D", "-1"]
        command += [f"--control={self.names}", "-o", str(self.data), "-p", str(process)]
        with open(self.messages, "wb") as messages:
            self.perf = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=messages, stderr=messages)
        self.send("enable" if BEGIN not in self.lines else "ping")
        os.kill(process, signal.SIGCONT)

    def heard(self, line: str) -> None:
        if line == self.lines[-1]:
            self.send("disable")
        elif line == BEGIN:
            self.send("enable")

    def send(self, word: str) -> None:
        control, answer = self.fifos
        os.write(control, word.encode() + b"\n")
        for _ in range(10 * PATIENCE_SECONDS):
            if select.select([answer], [], [], 0.1)[0]:
                os.read(answer, 64)
                return
            if self.perf.poll() is not None:
                break
        why = self.messages.read_text(errors="replace").strip() or "it does not answer"
        raise machines.Failure(
            f"perf does not record: {why}\nRecording may need permission: run this as root, or run 'sysctl "
            "kernel.perf_event_paranoid=1' as root first."
        )

    def end(self) -> None:
        """Called when the recording is complete."""
        for fifo in self.fifos:
            os.close(fifo)
        if self.perf is not None:
            with contextlib.suppress(ProcessLookupError):
                self.perf.send_signal(signal.SIGINT)
            self.perf.wait()

    def report(self) -> str:
        command = ["perf", "report", "-i", str(self.data), "--stdio", "-q", "--sort", "dso,symbol"]
        command += ["-F", "sample,dso,symbol", "-t", "|"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode != 0:
            raise machines.Failure(f"perf cannot read what it recorded: {done.stderr.decode(errors='replace').strip()}")
        named = subprocess.run(["c++filt"], input=done.stdout, capture_output=True, check=True)
        return named.stdout.decode(errors="replace")


class Profiled(machines.Bench):
    """Runs a benchmark's machine once, without its baseline, and records it."""

    def pairs(self, measure: Callable[[], float], baseline: Callable[[], float]) -> Tuple[float, float]:
        return measure(), 1.0

    def run(
        self, command: List[str], lines: List[str], log: pathlib.Path, watcher: machines.Watcher = machines.Watcher()
    ) -> machines.Run:
        recorder = Recorder(self.folder, lines)
        try:
            run = machines.run_machine(recorder.STOPPED + command, lines, log, recorder)
        finally:
            recorder.end()
        self.seconds = run.at[lines[-1]] - run.at.get(BEGIN, 0.0)
        self.lines = lines_of(recorder.report())
        return run


def profile(name: str, build: pathlib.Path) -> str:
    if shutil.which("perf") is None:
        raise machines.Failure("perf is missing; 'scripts/setup --packages profile' installs it")
    with tempfile.TemporaryDirectory(prefix="oae-vp-bench.") as folder:
        profiled = Profiled(build, pathlib.Path(folder), 1)
        result = BENCHMARKS[name](profiled)
        samples = sum(line.samples for line in profiled.lines)
        if samples == 0:
            raise machines.Failure("perf recorded no sample; does 'perf record -e cpu-clock true' work on this machine?")
        return (
            f"{name}: {number(result.value)} {result.unit} under perf; {samples} samples of "
            f"{profiled.seconds:.2f} s of wall time\n\n{table(profiled.lines)}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench --profile", add_help=False)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options = parser.parse_args()
    print(profile(options.name, options.build), flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except machines.Failure as failure:
        print(f"scripts/bench: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
