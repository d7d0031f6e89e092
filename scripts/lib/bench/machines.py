# SPDX-License-Identifier: Apache-2.0
"""The machines of benchmarks: OAE-VP, and plain QEMU of the same build."""

import dataclasses
import os
import pathlib
import re
import select
import statistics
import subprocess
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

LIBRARY = pathlib.Path(__file__).resolve().parent
PLATFORM = LIBRARY.parents[2] / "platforms" / "oae-mini.yaml"
SECONDS_AT_MOST = 300  # of wall time, for one run of a machine


class Failure(Exception):
    """A benchmark is impossible; the message says why."""


@dataclasses.dataclass
class Run:
    """One run of a machine: the wall time in seconds from its start to each awaited line and to its end, its peak memory,
    and the simulated time of the guest's work in ns, if the guest prints it."""

    at: Dict[str, float]
    whole: float
    memory_mb: float
    took_ns: float

    def between(self, begin: str, end: str) -> float:
        return self.at[end] - self.at[begin]


class Watcher:
    """Observes a run."""

    def started(self, process: int) -> None:
        pass

    def heard(self, line: str) -> None:
        """Is called for each awaited line."""


def run_machine(command: List[str], lines: List[str], log: pathlib.Path, watcher: Watcher = Watcher()) -> Run:
    """Runs a machine until it ends. Its console must show all the lines in this order."""
    at: Dict[str, float] = {}
    took = 0.0
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    console = process.stdout.fileno()
    rest = b""
    try:
        watcher.started(process.pid)
        with open(log, "wb") as record:
            while True:
                left = start + SECONDS_AT_MOST - time.monotonic()
                if left <= 0 or not select.select([console], [], [], left)[0]:
                    raise Failure(f"it did not end within {SECONDS_AT_MOST} s; its console: {log}")
                piece = os.read(console, 65536)
                now = time.monotonic() - start
                if not piece:
                    break
                record.write(piece)
                *whole, rest = (rest + piece).split(b"\n")
                for line in (text.decode(errors="replace").strip() for text in whole):
                    if "bench: failed" in line:
                        raise Failure(f"{line}; its console: {log}")
                    if line.startswith("bench: took"):
                        took = float(line.split()[2])
                    for awaited in lines:
                        if line.endswith(awaited) and awaited not in at:
                            at[awaited] = now
                            watcher.heard(awaited)
    except BaseException:
        process.kill()
        raise
    finally:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
    if process.returncode != 0 or any(line not in at for line in lines):
        missing = [line for line in lines if line not in at]
        raise Failure(f"it ended with exit code {process.returncode}, and the lines {missing} did not come; its console: {log}")
    return Run(at, time.monotonic() - start, usage.ru_maxrss * 1024 / 1e6, took)


def cpio(entries: List[Tuple[str, int, Tuple[int, int], bytes]]) -> bytes:
    """Builds an archive for Linux to unpack at boot from entries: name, mode, (major, minor) of a device node, data."""
    archive = b""
    for number, (name, mode, (major, minor), data) in enumerate(entries + [("TRAILER!!!", 0, (0, 0), b"")]):
        path = name.encode() + b"\0"
        fields = (number + 1, mode, 0, 0, 1, 0, len(data), 0, 0, major, minor, len(path), 0)
        entry = b"070701" + b"".join(b"%08x" % field for field in fields) + path
        entry += b"\0" * (-len(entry) % 4)
        archive += entry + data + b"\0" * (-len(data) % 4)
    return archive


class Bench:
    """The machines: OAE-VP, and plain QEMU of the same build with the same kernel, initramfs and memory."""

    def __init__(self, build: pathlib.Path, folder: pathlib.Path, repeat: int, counting: Optional[pathlib.Path] = None):
        self.build = build
        self.program_of_machines = counting or build / "cmake" / "platforms" / "oae-vp"
        self.images = build / "images"
        self.folder = folder
        self.repeat = repeat
        self.runs = 0
        self.memory, self.append = host_of(PLATFORM)
        self.memories = memories_of(PLATFORM)
        init = folder / "init"
        subprocess.run(
            ["gcc", "-O2", "-Wall", "-static", "-o", str(init), str(LIBRARY / "init.c")], check=True
        )
        directory, program, node = 0o40755, 0o100755, 0o20600
        self.initrd = folder / "initramfs.cpio"
        self.initrd.write_bytes(
            cpio(
                [
                    ("dev", directory, (0, 0), b""),
                    ("dev/console", node, (5, 1), b""),
                    ("init", program, (0, 0), init.read_bytes()),
                ]
            )
        )

    def log(self, name: str) -> pathlib.Path:
        self.runs += 1
        logs = self.build / "log" / "bench"
        logs.mkdir(parents=True, exist_ok=True)
        return logs / f"{self.runs:02d}-{name}.log"

    def qemu(self, append: str, lines: List[str], options: Tuple[str, ...] = ("-icount", "shift=0,sleep=off")) -> Run:
        command = [str(self.build / "qemu" / "build" / "qemu-system-x86_64")]
        command += ["-M", "microvm,pcie=on,acpi=on", "-m", f"{self.memory}M", *options]
        command += ["-L", str(self.images / "firmware"), "-nodefaults", "-display", "none", "-no-reboot"]
        command += ["-serial", "stdio", "-kernel", str(self.images / "vmlinuz"), "-initrd", str(self.initrd)]
        command += ["-append", f"{self.append} quiet {append}"]
        return self.run(command, lines, self.log("qemu"))

    def oae_vp(self, append: str, lines: List[str], *options: str, watcher: Watcher = Watcher(),
               platform: pathlib.Path = PLATFORM, console: str = "host") -> Run:  # fmt: skip
        command = [str(self.program_of_machines), "run", str(platform)]
        command += ["--console", console, "--append", f"quiet {append}"]
        return self.run(command + list(options), lines, self.log("oae-vp"), watcher)

    def built(self, path: str) -> pathlib.Path:
        """Builds a program of the project's build."""
        program = self.build / "cmake" / path
        subprocess.run(["ninja", "-C", str(self.build / "cmake"), program.name], check=True, stdout=subprocess.DEVNULL)
        return program

    def program(self, name: str, count: int, pattern: str) -> "re.Match[str]":
        """Runs a benchmark of the PCIe models, and returns the match of the pattern in its output."""
        command = [str(self.built(f"tests/models/pcie/{name}")), str(count)]
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        rates = re.search(pattern, run.stdout)
        if run.returncode != 0 or not rates:
            raise Failure(f"{name} ended with exit code {run.returncode}: {run.stdout.strip()}")
        return rates

    def run(self, command: List[str], lines: List[str], log: pathlib.Path, watcher: Watcher = Watcher()) -> Run:
        return run_machine(command, lines, log, watcher)

    def firmware(self, polled: Optional[int]) -> pathlib.Path:
        """Builds firmware whose first core polls the address, if one is given; the other cores sleep."""
        firmware = self.folder / f"poll-{polled}.elf"
        subprocess.run(
            ["aarch64-linux-gnu-gcc", "-nostdlib", "-static", "-Wl,--nmagic,--build-id=none,-Ttext=0x80000000"]
            + ([] if polled is None else [f"-DADDRESS={polled}"])
            + ["-o", str(firmware), str(LIBRARY / "poll.S")],
            check=True,
        )
        return firmware

    def pairs(self, measure: Callable[[], float], baseline: Callable[[], float]) -> Tuple[float, float]:
        """Medians of a measure and its baseline. They are taken in turns, so that a slower machine affects both."""
        values, baselines = [], []
        for _ in range(self.repeat):
            baselines.append(baseline())
            values.append(measure())
        return statistics.median(values), statistics.median(baselines)


UNITS = {"MiB": 1, "GiB": 1024}


def mebibytes(size: str) -> int:
    return int(size[:-3]) * UNITS[size[-3:]]


def part_of(platform: pathlib.Path, what: str, read: Callable[[dict], Any]) -> Any:
    """Reads a part of the platform file, of which the message of a failure says what it is."""
    import yaml

    try:
        return read(yaml.safe_load(platform.read_text()))
    except (OSError, KeyError, IndexError, TypeError, ValueError, yaml.YAMLError) as error:
        raise Failure(f"{platform} lacks {what} ({error!r})") from error


def host_of(platform: pathlib.Path) -> Tuple[int, str]:
    """The host's memory in MiB and its kernel's command line."""

    def read(file: dict) -> Tuple[int, str]:
        host = file["hosts"][0]
        return mebibytes(host["memory"]), host["append"]

    return part_of(platform, "the host's memory or command line", read)


def memories_of(platform: pathlib.Path) -> List[int]:
    """The memories of all guests in bytes. An IPU's is its DRAM; its SRAM is small."""

    def read(file: dict) -> List[int]:
        sizes = [host["memory"] for host in file["hosts"]] + [ipu["dram"] for ipu in file["ipus"]]
        return [mebibytes(size) << 20 for size in sizes]

    return part_of(platform, "the memory of a host or an IPU", read)
