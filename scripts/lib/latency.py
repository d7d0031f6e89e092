# SPDX-License-Identifier: Apache-2.0
"""The parts of the time of a host's read of its device, and of an interrupt of the device. Called by scripts/latency.

A guest makes many of both. The run's trace and the latencies of the platform file say when each was where. The one that is
printed has the median total, so that its parts add up to it exactly. All times are in ps.
"""

import argparse
import dataclasses
import decimal
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from typing import Dict, List, Tuple

DEVICE = "0000:01:00.0"
INTERRUPTS = range(0xFEE0_0000, 0xFEF0_0000)  # addresses of message interrupts on x86
PROBES = ("read_probe", "interrupt_probe.ko")
SCRIPT = f"""set -e
device=/sys/bus/pci/devices/{DEVICE}
echo {DEVICE} > /sys/bus/pci/drivers/oae/unbind
cat $device/resource > /share/resource
echo 1 > $device/enable
/share/read_probe $device/resource0 COUNT > /share/reads
echo 0 > $device/enable
insmod /share/interrupt_probe.ko count=COUNT
"""
MARK = 0x4000 + 7 * 8  # in BAR 0: what the handler of interrupt_probe.c writes to
SECONDS_AT_MOST = 300  # of wall time
UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}

Parts = List[Tuple[str, int]]  # of a path, in order: name, ps


class Failure(Exception):
    """The event to be measured did not happen; the message says why."""


def picoseconds(text: str) -> int:
    number, unit = re.fullmatch(r"\s*([\d.]+)\s*([a-z]+)\s*", text).groups()
    return int(decimal.Decimal(number) * UNITS[unit])


@dataclasses.dataclass(frozen=True)
class Latencies:
    """Latencies of a platform's first link and of the components at its ends, each in one direction."""

    link: str  # its name in the trace
    root_complex: int
    interrupt: int
    endpoint: int
    down: int
    up: int


def latencies_of(program: str, platform: pathlib.Path) -> Latencies:
    """Reads the latencies from the file, or uses the program's defaults."""
    import yaml

    described = yaml.safe_load(platform.read_text())
    link = described["pcie_links"][0]
    host = next(one for one in described["hosts"] if one["name"] == link["up"])
    ipu = next(one for one in described["ipus"] if one["name"] == link["down"])

    def value(of: dict, path: str) -> int:
        *sections, key = path.replace("[]", "").split(".")[1:]
        for section in sections:
            of = of.get(section, {})
        if key in of:
            return picoseconds(of[key])
        listing = subprocess.run([program, "keys", key], check=True, stdout=subprocess.PIPE, text=True).stdout
        return picoseconds(re.search(rf"^{re.escape(path)}$[^;]*; default (\S+)", listing, re.M)[1])

    return Latencies(
        f"{link['up']}_{link['down']}",
        value(host, "hosts[].root_complex.latency"),
        value(host, "hosts[].root_complex.interrupt_latency"),
        value(ipu, "ipus[].endpoint.latency"),
        value(link, "pcie_links[].latency_down"),
        value(link, "pcie_links[].latency_up"),
    )


@dataclasses.dataclass(frozen=True)
class Measured:
    reads: List[Parts]
    interrupts: List[Parts]
    guest_reads: List[int]  # the same reads by the guest's own clock, ps, with the instructions around them

    @property
    def guest_read(self) -> float:
        return statistics.median(self.guest_reads)


def whole(parts: Parts) -> int:
    return sum(time for _, time in parts)


def median(paths: List[Parts]) -> Parts:
    """The path whose total time is the median of all."""
    return sorted(paths, key=whole)[(len(paths) - 1) // 2]


def read_parts(lines: List[dict], of: Latencies, address: int) -> List[Parts]:
    """The parts of each read of `address` by the host, from the processor and back to it."""
    found, requests = [], {}
    for line in lines:
        if line.get("type") == "MRd" and line["dir"] == "down" and int(line["addr"], 16) == address:
            requests[line["tag"]] = line
        elif line.get("type") == "CplD" and line["dir"] == "up" and line["tag"] in requests:
            request = requests.pop(line["tag"])
            found.append(
                [
                    ("root complex, request", of.root_complex),
                    ("link down, its bytes", request["arr"] - request["t"] - of.down),
                    ("link down, PHY and wire", of.down),
                    ("endpoint, request", of.endpoint),
                    ("device logic", line["t"] - request["arr"] - 2 * of.endpoint),
                    ("endpoint, completion", of.endpoint),
                    ("link up, its bytes", line["arr"] - line["t"] - of.up),
                    ("link up, PHY and wire", of.up),
                    ("root complex, completion", of.root_complex),
                ]
            )
    return found


def interrupt_parts(lines: List[dict], of: Latencies, mark: int) -> List[Parts]:
    """The parts of each interrupt of the block, from its decision to the handler's first store, which goes to `mark`."""
    found = []
    decided = message = None
    for line in lines:
        if "interrupt" in line:
            decided, message = line["t"], None
        elif decided is None or line.get("type") != "MWr":
            continue
        elif line["dir"] == "up" and int(line["addr"], 16) in INTERRUPTS:
            message = line
        elif message and line["dir"] == "down" and int(line["addr"], 16) == mark:
            at_processor = message["arr"] + of.root_complex + of.interrupt
            found.append(
                [
                    ("endpoint", of.endpoint),
                    ("wait for the link", message["t"] - of.endpoint - decided),
                    ("link up, its bytes", message["arr"] - message["t"] - of.up),
                    ("link up, PHY and wire", of.up),
                    ("root complex", of.root_complex),
                    ("local APIC and processor", of.interrupt),
                    ("Linux, until its handler", line["t"] - of.root_complex - at_processor),
                ]
            )
            decided = None
    return found


def measure(
    program: str, images: pathlib.Path, probes: pathlib.Path, platform: pathlib.Path, count: int, *options: str
) -> Measured:
    """Runs the platform; its guest makes `count` reads and takes `count` interrupts."""
    of = latencies_of(program, platform)
    with tempfile.TemporaryDirectory(prefix="oae-vp-latency.") as name:
        folder = pathlib.Path(name)
        share = folder / "share"
        share.mkdir()
        for probe in PROBES:
            shutil.copy(probes / probe, share)
        (share / "script").write_text(SCRIPT.replace("COUNT", str(count)))
        command = [program, "run", str(platform), "--images", str(images), "--share", str(share)]
        command += ["--trace", str(folder / "trace"), "--append", "vp.run=/share/script", *options]
        run = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", timeout=SECONDS_AT_MOST,
        )  # fmt: skip
        if run.returncode != 0:
            raise Failure(f"exit code {run.returncode}; the end of its console:\n{run.stdout[-3000:]}")
        bar = int((share / "resource").read_text().split()[0], 16)
        guest_reads = [1000 * int(text) for text in (share / "reads").read_text().split()]
        with open(folder / "trace", encoding="utf-8") as trace:
            next(trace)
            lines = [json.loads(line) for line in trace]
    lines = [line for line in lines if line.get("link") == of.link or "interrupt" in line]
    found = Measured(read_parts(lines, of, bar), interrupt_parts(lines, of, bar + MARK), guest_reads)
    # The driver also reads that register, before the probe does.
    reads = found.reads[-count:]
    if len(reads) != count or len(found.interrupts) != count or len(guest_reads) != count:
        raise Failure(f"{len(reads)} reads and {len(found.interrupts)} interrupts of {count} are in the trace")
    return dataclasses.replace(found, reads=reads)


def table(title: str, paths: List[Parts]) -> str:
    parts = median(paths)
    lines = [f"{title:34}      ns"]
    lines += [f"  {name:32}{time / 1000:12.3f}" for name, time in parts]
    lines += [f"  {'the whole':32}{whole(parts) / 1000:12.3f}"]
    lowest, highest = min(map(whole, paths)), max(map(whole, paths))
    lines += [f"  {f'of {len(paths)}, from the least':32}{lowest / 1000:12.3f}"]
    lines += [f"  {'to the most':32}{highest / 1000:12.3f}"]
    return "\n".join(lines)


def report(found: Measured) -> str:
    around = found.guest_read - whole(median(found.reads))
    return "\n\n".join(
        [
            table("read of a register, 8 bytes", found.reads)
            + f"\n  {'by the guest, with its clock':32}{found.guest_read / 1000:12.3f}"
            + f"\n  {'of it the instructions around':32}{around / 1000:12.3f}",
            table("MSI-X, from the block's decision", found.interrupts),
        ]
    )


def as_json(found: Measured) -> Dict[str, object]:
    def path_of(paths: List[Parts]) -> Dict[str, object]:
        return {"whole_ps": whole(median(paths)), "parts_ps": dict(median(paths)), "all_ps": [whole(one) for one in paths]}

    return {"read": path_of(found.reads), "interrupt": path_of(found.interrupts), "guest_read_ps": found.guest_read}


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/latency", add_help=False)
    parser.add_argument("platform", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    cmake = options.build / "cmake"
    found = measure(
        str(cmake / "platforms" / "oae-vp"), options.build / "images", cmake / "tests" / "system" / "probe",
        options.platform, options.count,
    )  # fmt: skip
    print(report(found))
    if options.json:
        options.json.write_text(json.dumps(as_json(found), indent=2) + "\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failure, subprocess.SubprocessError) as failure:
        print(f"scripts/latency: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
