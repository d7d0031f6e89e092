# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of OAE-VP, each as a ratio against a baseline taken in the same run. Called by scripts/bench.

A benchmark is a function that takes the Bench and returns a Result; BENCHMARKS, at the end, names them all.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Callable, Dict, List, Optional, Tuple

LIBRARY = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(LIBRARY))
import json_file  # noqa: E402
import synthesis  # noqa: E402
ROOT = LIBRARY.parents[1]
PLATFORM = ROOT / "platforms" / "oae-mini.yaml"
SECONDS_AT_MOST = 300  # of wall time, for one run of a machine

READS, PLAIN_READS, SWAPS, COPIES, CHILDREN = 400_000, 8_000_000, 60_000, 4_000, 40  # some seconds each


class Failure(Exception):
    """A benchmark is impossible; the message says why."""


@dataclasses.dataclass
class Result:
    value: float
    baseline: float
    unit: str
    baseline_unit: str
    baseline_name: str
    more_is_better: bool
    goal: Optional[float] = None  # for the ratio, so that it means the same on every machine

    @property
    def ratio(self) -> float:
        return self.value / self.baseline

    @property
    def met(self) -> Optional[bool]:
        """Whether the goal is met, if there is one."""
        if self.goal is None:
            return None
        return self.ratio >= self.goal if self.more_is_better else self.ratio <= self.goal


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
    return Run(at, time.monotonic() - start, usage.ru_maxrss / 1000, took)


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

    def __init__(self, build: pathlib.Path, folder: pathlib.Path, repeat: int):
        self.build = build
        self.images = build / "images"
        self.folder = folder
        self.repeat = repeat
        self.runs = 0
        self.memory, self.append = host_of(PLATFORM)
        init = folder / "init"
        subprocess.run(
            ["gcc", "-O2", "-Wall", "-static", "-o", str(init), str(LIBRARY / "bench-init.c")], check=True
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

    def qemu(self, append: str, lines: List[str]) -> Run:
        command = [str(self.build / "qemu" / "build" / "qemu-system-x86_64")]
        command += ["-M", "microvm,pcie=on,acpi=on", "-icount", "shift=0,sleep=off", "-m", f"{self.memory}M"]
        command += ["-L", str(self.images / "firmware"), "-nodefaults", "-display", "none", "-no-reboot"]
        command += ["-serial", "stdio", "-kernel", str(self.images / "vmlinuz"), "-initrd", str(self.initrd)]
        command += ["-append", f"{self.append} quiet {append}"]
        return self.run(command, lines, self.log("qemu"))

    def oae_vp(self, append: str, lines: List[str], *options: str) -> Run:
        command = [str(self.build / "cmake" / "platforms" / "oae-vp"), "run", str(PLATFORM)]
        command += ["--console", "host", "--append", f"quiet {append}"]
        return self.run(command + list(options), lines, self.log("oae-vp"))

    def program(self, name: str, count: int, pattern: str) -> "re.Match[str]":
        """Runs a benchmark of the PCIe models, and returns the match of the pattern in its output."""
        cmake = self.build / "cmake"
        subprocess.run(["ninja", "-C", str(cmake), name], check=True, stdout=subprocess.DEVNULL)
        command = [str(cmake / "tests" / "models" / "pcie" / name), str(count)]
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        rates = re.search(pattern, run.stdout)
        if run.returncode != 0 or not rates:
            raise Failure(f"{name} ended with exit code {run.returncode}: {run.stdout.strip()}")
        return rates

    def run(self, command: List[str], lines: List[str], log: pathlib.Path) -> Run:
        return run_machine(command, lines, log)

    def firmware(self, polled: Optional[int]) -> pathlib.Path:
        """Builds firmware whose first core polls the address, if one is given; the other cores sleep."""
        firmware = self.folder / f"poll-{polled}.elf"
        subprocess.run(
            ["aarch64-linux-gnu-gcc", "-nostdlib", "-static", "-Wl,--nmagic,--build-id=none,-Ttext=0x80000000"]
            + ([] if polled is None else [f"-DADDRESS={polled}"])
            + ["-o", str(firmware), str(LIBRARY / "bench-poll.S")],
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


def host_of(platform: pathlib.Path) -> Tuple[int, str]:
    """The host's memory in MiB and its kernel's command line, both from the platform file."""
    import yaml

    units = {"MiB": 1, "GiB": 1024}
    try:
        host = yaml.safe_load(platform.read_text())["hosts"][0]
        return int(host["memory"][:-3]) * units[host["memory"][-3:]], host["append"]
    except (OSError, KeyError, TypeError, ValueError, yaml.YAMLError) as error:
        raise Failure(f"{platform} lacks the host's memory or command line ({error!r})") from error


IDLE_SECONDS, ROUNDS = 20, 800_000
DRAM, MAILBOX = 0x8000_0000, 0x0A00_0000  # of an IPU

USER_SPACE, BEGIN, END = "bench: user space", "bench: begin", "bench: end"


def boot(bench: Bench) -> Result:
    """Wall time from the start of the program to the first process of the guest."""
    value, baseline = bench.pairs(
        lambda: bench.oae_vp("bench.do=boot", [USER_SPACE], "--initrd", str(bench.initrd)).at[USER_SPACE],
        lambda: bench.qemu("bench.do=boot", [USER_SPACE]).at[USER_SPACE],
    )
    return Result(value, baseline, "s", "s", "plain QEMU", more_is_better=False, goal=1.25)


def reads_of(device: str, count: int) -> str:
    return f"bench.do=read bench.device={device} bench.offset=0 bench.count={count}"


def plain_reads(bench: Bench) -> float:
    """Timed reads per second of a register in plain SystemC. They are work of the same kind as a read through the whole
    machine, so the ratio should depend less on the processor than one to reads in plain QEMU."""
    return float(bench.program("bench_plain_read", PLAIN_READS, r": ([\d.]+) per second")[1])


def mmio(bench: Bench) -> Result:
    """Host reads of a device register per second of wall time: root complex, link, function and back."""

    def measure() -> float:
        run = bench.oae_vp(
            reads_of("f0ae:0ae0", READS), [USER_SPACE, BEGIN, END], "--initrd", str(bench.initrd)
        )
        return READS / run.between(BEGIN, END)

    value, baseline = bench.pairs(measure, lambda: plain_reads(bench))
    return Result(value, baseline, "reads/s", "reads/s", "plain SystemC", more_is_better=True, goal=1 / 15)


def swap(bench: Bench) -> Result:
    """Swaps between driver and firmware per second of wall time, against timed reads in plain SystemC."""

    def measure() -> float:
        append = f'vp.exec="echo {BEGIN}; oae bench --count {SWAPS} --untimed; echo {END}"'
        run = bench.oae_vp(append, [BEGIN, END])
        return SWAPS / run.between(BEGIN, END)

    value, baseline = bench.pairs(measure, lambda: plain_reads(bench))
    return Result(value, baseline, "swaps/s", "reads/s", "plain SystemC", more_is_better=True, goal=1 / 400)


def stream(bench: Bench) -> Result:
    """Payload of a DMA engine's 4 KiB writes per second of wall time: engine, function, link, root complex, memory."""
    pattern = r": ([\d.]+) Gb/s, a plain copy ([\d.]+) Gb/s"
    found = [bench.program("bench_pcie_write", COPIES, pattern).groups() for _ in range(bench.repeat)]
    value, baseline = (statistics.median(float(rate) for rate in rates) for rates in zip(*found))
    return Result(value, baseline, "Gb/s", "Gb/s", "a plain copy", more_is_better=True, goal=1 / 25)


def memory(bench: Bench) -> Result:
    """Peak memory of the process that boots to user space."""
    value, baseline = bench.pairs(
        lambda: bench.oae_vp("bench.do=boot", [USER_SPACE], "--initrd", str(bench.initrd)).memory_mb,
        lambda: bench.qemu("bench.do=boot", [USER_SPACE]).memory_mb,
    )
    return Result(value, baseline, "MB", "MB", "plain QEMU", more_is_better=False, goal=1.5)


def idle(bench: Bench) -> Result:
    """Wall time of a simulated second in which Linux idles and the firmware sleeps."""

    def ms_per_second(run: Run) -> float:
        return 1e3 * run.between(BEGIN, END) / IDLE_SECONDS

    append, lines = f"bench.do=sleep bench.count={IDLE_SECONDS}", [USER_SPACE, BEGIN, END]
    value, baseline = bench.pairs(
        lambda: ms_per_second(bench.oae_vp(append, lines, "--initrd", str(bench.initrd))),
        lambda: ms_per_second(bench.qemu(append, lines)),
    )
    return Result(value, baseline, "ms", "ms", "plain QEMU", more_is_better=False, goal=5)


def instructions(bench: Bench, polled: int) -> Tuple[float, float]:
    """Millions of instructions per second of wall time: a host that computes with a core that polls an address, and a
    host alone in plain QEMU. Both run 1,000 instructions in a microsecond."""
    append, lines = f"bench.do=compute bench.count={ROUNDS}", [USER_SPACE, BEGIN, END]
    firmware = bench.firmware(polled)

    def measure() -> float:
        statistics_file = bench.folder / "statistics.json"
        run = bench.oae_vp(
            append, lines, "--initrd", str(bench.initrd), "--firmware", str(firmware), "--stats", str(statistics_file)
        )
        found = json.loads(statistics_file.read_text())
        of_core = found["counters"]["ipu.instructions"] * 1e3 / found["time_ps"]
        return run.took_ns * (1 + of_core) / run.between(BEGIN, END) / 1e6

    def baseline() -> float:
        run = bench.qemu(append, lines)
        return run.took_ns / run.between(BEGIN, END) / 1e6

    return bench.pairs(measure, baseline)


def compute(bench: Bench) -> Result:
    """Instructions per second of wall time while a host computes and an IPU core polls its own memory."""
    value, baseline = instructions(bench, DRAM + 0x10_0000)
    return Result(value, baseline, "MIPS", "MIPS", "plain QEMU", more_is_better=True, goal=0.6)


def poll(bench: Bench) -> Result:
    """Like the above, but the core polls a register of a model, the mailbox."""
    value, baseline = instructions(bench, MAILBOX)
    return Result(value, baseline, "MIPS", "MIPS", "plain QEMU", more_is_better=True, goal=0.3)


def sleeper(bench: Bench) -> Result:
    """Boot to user space with an IPU whose firmware sleeps, against one whose cores execute nothing."""

    def boots(*options: str) -> float:
        return bench.oae_vp("bench.do=boot", [USER_SPACE], "--initrd", str(bench.initrd), *options).at[USER_SPACE]

    nothing = bench.firmware(None)
    value, baseline = bench.pairs(boots, lambda: boots("--firmware", str(nothing)))
    return Result(value, baseline, "s", "s", "an IPU without firmware", more_is_better=False, goal=1.1)


def cores(bench: Bench) -> Result:
    """Wall time of a boot and many swaps with 16 IPU cores, of which 15 sleep."""

    def whole(count: int) -> float:
        append = f'vp.exec="oae bench --count {SWAPS // 3} --untimed"'
        return bench.oae_vp(append, [], "--set", f"ipus[0].cores={count}").whole

    value, baseline = bench.pairs(lambda: whole(16), lambda: whole(1))
    return Result(value, baseline, "s", "s", "one core", more_is_better=False, goal=1.1)


def forked(bench: Bench) -> Tuple[float, float]:
    """Median wall time of a fork in ms, and children per second, for a run with many children that do little."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=bench.folder))
    commands = folder / "commands"
    commands.write_text("true\n" * CHILDREN)
    bench.oae_vp(
        "", [], "--snapshot-at", "booted", "--children", str(commands), "--children-output", str(folder / "output")
    )
    summary = json.loads((folder / "output" / "summary.json").read_text())
    return statistics.median(one["fork_ms"] for one in summary["children"]), CHILDREN / summary["wall_s"]


def unforked(bench: Bench) -> Run:
    return bench.oae_vp(f'vp.exec="echo {BEGIN}; echo {END}"', [BEGIN, END])


def fork(bench: Bench) -> Result:
    """Wall time of forking a booted machine, against booting it."""
    value, baseline = bench.pairs(lambda: forked(bench)[0], lambda: 1000 * unforked(bench).at[BEGIN])
    return Result(value, baseline, "ms", "ms", "a boot", more_is_better=False, goal=1 / 100)


def children(bench: Bench) -> Result:
    """Commands per second with a child of one boot for each, on all cores, against one boot for each in sequence."""
    value, baseline = bench.pairs(lambda: forked(bench)[1], lambda: 1 / unforked(bench).whole)
    return Result(value, baseline, "per s", "per s", "booting each time", more_is_better=True)


BENCHMARKS: Dict[str, Callable[[Bench], Result]] = {
    "boot": boot,
    "mmio": mmio,
    "swap": swap,
    "stream": stream,
    "memory": memory,
    "idle": idle,
    "compute": compute,
    "poll": poll,
    "sleeper": sleeper,
    "cores": cores,
    "fork": fork,
    "children": children,
}


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def line(name: str, result: Result) -> str:
    goal = "" if result.met is None else f"  goal of {result.goal:.3g} {'met' if result.met else 'NOT MET'}"
    return (
        f"{name:8} {number(result.value):>9} {result.unit:8} {result.ratio:8.3g} times the "
        f"{number(result.baseline)} {result.baseline_unit} of {result.baseline_name}{goal}"
    )


def report_synthesis(build: pathlib.Path, results: dict) -> bool:
    """Prints the results of the synthesis. Returns whether all designs synthesize without a warning."""
    good, results["synthesis"] = True, {}
    for design in synthesis.DESIGNS:
        try:
            found = synthesis.synthesise(build, design)
        except synthesis.Failure as failure:
            print(f"{'synthesis':8} failed: {failure}", flush=True)
            good = False
            continue
        print(f"{'synthesis':8} {found.line()}", flush=True)
        results["synthesis"][design] = dataclasses.asdict(found)
        good &= not found.warnings
    return good


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench", add_help=False)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options = parser.parse_args()

    results, failed = {}, False
    names = options.names or [*BENCHMARKS, "synthesis"]
    with tempfile.TemporaryDirectory(prefix="oae-vp-bench.") as folder:
        bench = Bench(options.build, pathlib.Path(folder), options.repeat)
        for name in names:
            if name == "synthesis":
                failed |= not report_synthesis(options.build, results)
                continue
            try:
                result = BENCHMARKS[name](bench)
            except Failure as failure:
                print(f"{name:8} failed: {failure}", flush=True)
                failed = True
                continue
            print(line(name, result), flush=True)
            results[name] = {
                **dataclasses.asdict(result),
                "ratio": result.ratio,
                "met": result.met,
                "text": " ".join(BENCHMARKS[name].__doc__.split()),
            }
            failed |= result.met is False
    if options.json:
        json_file.write(options.json, {"repeat": options.repeat, "benchmarks": results})
    return 1 if failed else 0


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        try:
            sys.exit(main())
        except Failure as failure:
            print(f"scripts/bench: {failure}", file=sys.stderr)
            sys.exit(1)
        except KeyboardInterrupt:
            sys.exit(130)
