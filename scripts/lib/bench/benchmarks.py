# SPDX-License-Identifier: Apache-2.0
"""The benchmarks, each beside a baseline taken in the same run.

A benchmark is a function that takes the Bench and returns a Result; BENCHMARKS, at the end, names them all.
"""

import json
import pathlib
import re
import shutil
import statistics
import tempfile
from typing import Callable, Dict, List, Tuple

import joined_hosts
from bench.machines import PLATFORM, Bench, Failure, Run, Watcher
from bench.result import EXCESS, VALUE, Result, at_least, at_most

WINDOW = PLATFORM.with_name("window.yaml")

READS, EDU_READS, SWAPS, COPIES, CHILDREN = 400_000, 8_000_000, 60_000, 4_000, 40  # some seconds each
EXCHANGES = 20_000
LINE_COPIES, LINES = 2_000, 1024  # copies of a virtual function's memory of 64 KiB, in lines of 64 bytes
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
