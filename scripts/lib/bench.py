# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of OAE-VP, each beside a baseline taken in the same run. Called by scripts/bench.

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
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

LIBRARY = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(LIBRARY))
import joined_hosts  # noqa: E402
import json_file  # noqa: E402
import synthesis  # noqa: E402
from bench_result import EXCESS, HEAD, VALUE, Result, at_least, at_most, line  # noqa: E402
ROOT = LIBRARY.parents[1]
PLATFORM = ROOT / "platforms" / "oae-mini.yaml"
WINDOW = ROOT / "platforms" / "window.yaml"
SECONDS_AT_MOST = 300  # of wall time, for one run of a machine

READS, EDU_READS, SWAPS, COPIES, CHILDREN = 400_000, 8_000_000, 60_000, 4_000, 40  # some seconds each
EXCHANGES = 20_000
LINE_COPIES, LINES = 2_000, 1024  # copies of a virtual function's memory of 64 KiB, in lines of 64 bytes


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


IDLE_SECONDS, ROUNDS = 20, 800_000
DRAM, MAILBOX = 0x8000_0000, 0x0A00_0000  # of an IPU

USER_SPACE, BEGIN, END = "bench: user space", "bench: begin", "bench: end"

JOINED = joined_hosts.BEGIN + f"""
exchange() {{ {joined_hosts.exchange("$1", "$2")} || echo "bench: failed"; }}
exchange 4 500
echo {BEGIN}
exchange 5 {EXCHANGES}
echo {END}
"""


def boot(bench: Bench) -> Result:
    """Wall time from the start of the program to the first process of the guest."""
    value, baseline = bench.pairs(
        lambda: bench.oae_vp("bench.do=boot", [USER_SPACE], "--initrd", str(bench.initrd)).at[USER_SPACE],
        lambda: bench.qemu("bench.do=boot", [USER_SPACE]).at[USER_SPACE],
    )
    return Result(value, baseline, "s", "s", "of plain QEMU", at_most(0.7))


def reads_of(device: str, count: int) -> str:
    return f"bench.do=read bench.device={device} bench.offset=0 bench.count={count}"


def reads_per_second(run: Run, count: int) -> float:
    return count / run.between(BEGIN, END)


def edu_reads(bench: Bench) -> float:
    """Reads per second of a register of QEMU's own device for teaching, in QEMU as it runs by itself, without -icount. They are
    the fastest accesses to a device that a guest of QEMU can make. The guest's clock then runs by the wall clock, and Linux
    cannot calibrate it while the machine is busy, so it is told a frequency."""
    append = f"tsc_early_khz=1000000 {reads_of('1234:11e8', EDU_READS)}"
    run = bench.qemu(append, [USER_SPACE, BEGIN, END], ("-device", "edu"))
    return reads_per_second(run, EDU_READS)


def mmio(bench: Bench) -> Result:
    """Host reads of a device register per second of wall time: root complex, link, function and back."""

    def measure() -> float:
        run = bench.oae_vp(
            reads_of("f0ae:0ae0", READS), [USER_SPACE, BEGIN, END], "--initrd", str(bench.initrd)
        )
        return reads_per_second(run, READS)

    value, baseline = bench.pairs(measure, lambda: edu_reads(bench))
    return Result(value, baseline, "reads/s", "reads/s", "of edu in plain QEMU", at_least(0.15))


def swap(bench: Bench) -> Result:
    """Swaps between driver and firmware per second of wall time."""

    def measure() -> float:
        append = f'vp.exec="echo {BEGIN}; oae bench --count {SWAPS} --untimed; echo {END}"'
        run = bench.oae_vp(append, [BEGIN, END])
        return SWAPS / run.between(BEGIN, END)

    value, baseline = bench.pairs(measure, lambda: edu_reads(bench))
    return Result(value, baseline, "swaps/s", "reads/s", "of edu in plain QEMU", at_least(0.008))


def joined(bench: Bench) -> Result:
    """Exchanges per second of wall time between processes of two hosts, at a port joined by a link with a window and its bridge.
    Each takes two slots over the link."""
    share = bench.folder / "joined"
    share.mkdir(exist_ok=True)
    shutil.copy(bench.built(joined_hosts.PROGRAM), share)
    # The first exchanges are there for QEMU to translate the guests' code.
    (share / "script").write_text(JOINED)
    roles = [word for value in joined_hosts.roles(WINDOW) for word in ("--set", value)]

    def measure() -> float:
        run = bench.oae_vp("vp.run=/share/script", [BEGIN, END], "--share", str(share), *roles,
                           platform=WINDOW, console="host0")  # fmt: skip
        return EXCHANGES / run.between(BEGIN, END)

    value, baseline = bench.pairs(measure, lambda: edu_reads(bench))
    return Result(value, baseline, "exchanges/s", "reads/s", "of edu in plain QEMU")


def stream(bench: Bench) -> Result:
    """Payload of a DMA engine's 4 KiB writes per second of wall time: engine, function, link, root complex, memory."""
    pattern = r": ([\d.]+) Gb/s, a plain copy ([\d.]+) Gb/s"
    found = [bench.program("bench_pcie_write", COPIES, pattern).groups() for _ in range(bench.repeat)]
    value, baseline = (statistics.median(float(rate) for rate in rates) for rates in zip(*found))
    return Result(value, baseline, "Gb/s", "Gb/s", "of a plain copy", at_least(0.04))


def lines_per_second(bench: Bench, vcpus: int) -> Result:
    """DMA writes of 64 bytes each per second of wall time, beside vCPUs that poll what is written. A virtual function writes as
    fast as the smallest frames come at 100 Gb/s."""
    share = bench.folder / "share"
    share.mkdir(exist_ok=True)
    shutil.copy(bench.built("tests/system/bench_copies"), share)
    device = "/sys/bus/pci/devices/0000:01:00.0"
    work = f"echo 1 > {device}/sriov_numvfs; /share/bench_copies {device}/virtfn0 {vcpus} {LINE_COPIES}"
    settings = (f"hosts[0].vcpus={vcpus}", "ipus[0].endpoint.virtual_functions=1", "ipus[0].dma.rate=76.2Gb/s",
                "ipus[0].dma.piece=64B")
    options = [word for setting in settings for word in ("--set", setting)]
    statistics_file = bench.folder / "statistics.json"

    def measure() -> float:
        run = bench.oae_vp(
            f'vp.exec="{work}"', [BEGIN, END], "--share", str(share), "--stats", str(statistics_file), *options
        )
        written = json.loads(statistics_file.read_text())["counters"]["host_ipu.up.MWr.tlps"]
        if written < LINE_COPIES * LINES:
            raise Failure(f"the device wrote {written} packets instead of {LINE_COPIES * LINES}")
        return LINE_COPIES * LINES / run.between(BEGIN, END)

    value, baseline = bench.pairs(measure, lambda: edu_reads(bench))
    return Result(value, baseline, "TLPs/s", "reads/s", "of edu in plain QEMU", at_least(1e6, VALUE))


def dma1(bench: Bench) -> Result:
    """DMA writes of 64 bytes per second of wall time, beside a vCPU that polls the memory that is written."""
    return lines_per_second(bench, 1)


def dma4(bench: Bench) -> Result:
    """The same beside four vCPUs that poll."""
    return lines_per_second(bench, 4)


class Touched(Watcher):
    """Reads how much of the guests' memory a machine holds by the time of the last awaited line: the pages that its guests
    have touched, or pages of 2 MB that contain them."""

    def __init__(self, sizes: List[int]):
        self.sizes = sizes
        self.process = 0
        self.megabytes = 0.0

    def started(self, process: int) -> None:
        self.process = process

    def heard(self, line: str) -> None:
        self.megabytes = touched(pathlib.Path(f"/proc/{self.process}/smaps").read_text(), self.sizes)


def touched(smaps: str, sizes: List[int]) -> float:
    """The resident MB of the mappings that are memories of these sizes in bytes. Each has a mapping of its own."""
    left, megabytes, inside = sorted(sizes), 0.0, False
    for text in smaps.splitlines():
        if found := re.match(r"([0-9a-f]+)-([0-9a-f]+) rw-p \S+ 00:00 0 *$", text):
            size = int(found[2], 16) - int(found[1], 16)
            inside = size in left
            if inside:
                left.remove(size)
        elif re.match(r"[0-9a-f]+-[0-9a-f]+ ", text):
            inside = False
        elif inside and (resident := re.match(r"Rss: +(\d+) kB", text)):
            megabytes += int(resident[1]) * 1024 / 1e6
    if left:
        raise Failure(f"guests' memories of {left} bytes have no mappings of their own")
    return megabytes


def memory(bench: Bench) -> Result:
    """Peak memory of the process that boots to user space, beside the memory that its guests have touched."""
    peaks, pages = [], []
    for _ in range(bench.repeat):
        watcher = Touched(bench.memories)
        run = bench.oae_vp("bench.do=boot", [USER_SPACE], "--initrd", str(bench.initrd), watcher=watcher)
        peaks.append(run.memory_mb)
        pages.append(watcher.megabytes)
    value, baseline = statistics.median(peaks), statistics.median(pages)
    return Result(value, baseline, "MB", "MB", "of pages that its guests touched", at_most(200, EXCESS))


def idle(bench: Bench) -> Result:
    """Wall time of a simulated second in which Linux idles and the firmware sleeps."""

    def ms_per_second(run: Run) -> float:
        return 1e3 * run.between(BEGIN, END) / IDLE_SECONDS

    append, lines = f"bench.do=sleep bench.count={IDLE_SECONDS}", [USER_SPACE, BEGIN, END]
    value, baseline = bench.pairs(
        lambda: ms_per_second(bench.oae_vp(append, lines, "--initrd", str(bench.initrd))),
        lambda: ms_per_second(bench.qemu(append, lines)),
    )
    return Result(value, baseline, "ms", "ms", "of plain QEMU", at_most(5))


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
    return Result(value, baseline, "MIPS", "MIPS", "of plain QEMU", at_least(0.75))


def poll(bench: Bench) -> Result:
    """Like the above, but the core polls a register of a model, the mailbox."""
    value, baseline = instructions(bench, MAILBOX)
    return Result(value, baseline, "MIPS", "MIPS", "of plain QEMU", at_least(0.5))


def sleeper(bench: Bench) -> Result:
    """Boot to user space with an IPU whose firmware sleeps, against one whose cores execute nothing."""

    def boots(*options: str) -> float:
        return bench.oae_vp("bench.do=boot", [USER_SPACE], "--initrd", str(bench.initrd), *options).at[USER_SPACE]

    nothing = bench.firmware(None)
    value, baseline = bench.pairs(boots, lambda: boots("--firmware", str(nothing)))
    return Result(value, baseline, "s", "s", "of an IPU without firmware", at_most(1.05))


def cores(bench: Bench) -> Result:
    """Wall time of a boot and many swaps with 16 IPU cores, of which 15 sleep."""

    def whole(count: int) -> float:
        append = f'vp.exec="oae bench --count {SWAPS // 3} --untimed"'
        return bench.oae_vp(append, [], "--set", f"ipus[0].cores={count}").whole

    value, baseline = bench.pairs(lambda: whole(16), lambda: whole(1))
    return Result(value, baseline, "s", "s", "of one core", at_most(1.1))


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
    return Result(value, baseline, "ms", "ms", "of a boot", at_most(0.01))


def children(bench: Bench) -> Result:
    """Commands per second with a child of one boot for each, on all cores, against one boot for each in sequence."""
    value, baseline = bench.pairs(lambda: forked(bench)[1], lambda: 1 / unforked(bench).whole)
    return Result(value, baseline, "per s", "per s", "of booting each time")


BENCHMARKS: Dict[str, Callable[[Bench], Result]] = {
    "boot": boot,
    "mmio": mmio,
    "swap": swap,
    "joined": joined,
    "stream": stream,
    "dma1": dma1,
    "dma4": dma4,
    "memory": memory,
    "idle": idle,
    "compute": compute,
    "poll": poll,
    "sleeper": sleeper,
    "cores": cores,
    "fork": fork,
    "children": children,
}


def report_synthesis(build: pathlib.Path, results: dict) -> bool:
    """Prints the results of the synthesis. Returns whether all designs synthesize without a warning."""
    good, results["synthesis"] = True, {}
    for name, design in synthesis.DESIGNS.items():
        try:
            found = synthesis.synthesise(build, design)
        except synthesis.Failure as failure:
            print(f"{'synthesis':10}failed: {failure}", flush=True)
            good = False
            continue
        print(f"{'synthesis':10}{found.line()}", flush=True)
        results["synthesis"][name] = dataclasses.asdict(found)
        good &= not found.warnings
    return good


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench", add_help=False)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    # An oae-vp that counts what it executes is run instead of the build's, and is not judged.
    parser.add_argument("--counting", type=pathlib.Path)
    options = parser.parse_args()

    results, failed = {}, False
    profile = options.build / "profile" / "name"
    if profile.exists() and not options.counting:
        print(f"oae-vp is compiled by the profile {profile.read_text().strip()} (scripts/setup --profile-guided)\n")
    names = options.names or [*BENCHMARKS, "synthesis"]
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory(prefix="oae-vp-bench.") as folder:
        bench = Bench(options.build, pathlib.Path(folder), options.repeat, options.counting)
        for name in names:
            if name == "synthesis":
                failed |= not report_synthesis(options.build, results)
                continue
            try:
                result = BENCHMARKS[name](bench)
            except Failure as failure:
                print(f"{name:10}failed: {failure}", flush=True)
                failed = True
                continue
            print(line(name, result), flush=True)
            results[name] = {
                **dataclasses.asdict(result),
                "ratio": result.ratio,
                "judged": result.judged,
                "met": result.met,
                "text": " ".join(BENCHMARKS[name].__doc__.split()),
            }
            failed |= result.met is False and not options.counting
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
