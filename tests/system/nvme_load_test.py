# SPDX-License-Identifier: Apache-2.0
"""Disks of the kind `nvme` under load: what bounds fio is what the platform file says, and a hundred forks keep to themselves."""
import json
import pathlib
import re
import sys
import tempfile

import machine
from nvme_test import HEAD, DiskCase, image, sum_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models" / "pcie" / "data_link"))
import goodput_table  # noqa: E402

DEPTH = 32
BYTES = 4096  # of a read
US = 1e-6

# Each disk is below a root port of its own. (generation, lanes) of its link, read_latency in s, and rate of the medium in bytes/s
DISKS = {"latency": ((4, 4), 1600 * US, 12.5e9), "rate": ((4, 4), 10 * US, 125e6), "link": ((1, 1), 0, 12.5e9)}
# s: the root complex, the wire in either direction, and the endpoint
HOST, WIRE, ENDPOINT = 50e-9, 250e-9, 20e-9

# The processor must bound nothing, so it is twice as fast as that of platforms/disk.yaml: 23,000 instructions for a read, most of
# them of fio, are 12 us, less than two thirds of the time between two reads on the busiest disk.
INSTRUCTION_RATE = "2GIPS"

LOAD = HEAD + f"""
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
lspci -vv > /share/lspci
fio --name=job --filename=/dev/nvme${{NUMBER}}n1 --ioengine=libaio --direct=1 --rw=randread --bs={BYTES} --iodepth={DEPTH} \\
    --norandommap --time_based --ramp_time=5ms --runtime=300ms --output-format=json --output=/share/result
"""


class Account:
    """What a read of 4 KiB takes of a link and of the time, worked out from the specification.

    Each read is charged with a doorbell, a fetch of its entry, its data, a completion and an interrupt of its own. In fact reads
    share fetches and interrupts where the link is the bottleneck. That is at most 52 bytes in 4,840, 1.1 %, and the link is idle
    while a fetch is on its way, 0.3 %. It would also be idle for the latency of the device then, so that disk has none."""

    HEADER = 12  # 3 DW: a completion, or an address below 4 GiB

    def __init__(self, link, max_payload):
        self.generation, self.lanes = link
        self.max_payload = max_payload
        self.bytes_per_second = float(goodput_table.rate(*link)) * 1e9 / 8

    def packet(self, payload=0):
        return goodput_table.OVERHEAD[self.generation] + self.HEADER + payload

    def seconds(self, size):
        return size / self.bytes_per_second

    def data(self):
        return BYTES // self.max_payload * self.packet(self.max_payload)

    def entry_and_interrupt(self):
        return self.packet(16) + self.packet(4)

    def up(self):
        """Bytes towards the host. The doorbell has an ACK and an UpdateFC, and the answer to the fetch has an ACK."""
        return self.data() + self.entry_and_interrupt() + self.packet() + 3 * goodput_table.DLLP

    def way(self, size):
        """From device logic into the host, or back."""
        return HOST + WIRE + ENDPOINT + self.seconds(size)

    def around(self):
        """The time of all of a read but what the device itself and the guest take."""
        doorbell = self.way(self.packet(4))
        fetch = self.way(self.packet()) + self.way(self.packet(64))
        return doorbell + fetch + self.way(self.data() + self.entry_and_interrupt())


class Bottlenecks(DiskCase):
    """fio reads 4 KiB at random with 32 reads under way. What it reports is what an account of each bottleneck says, within 2 %."""

    @classmethod
    def setUpClass(cls):
        devices = ", ".join(f"{{name: {name}, kind: nvme, read_latency: {round(latency / US)}us, rate: {round(rate)}B/s, "
                            f"endpoint: {{latency: {ENDPOINT * 1e9:.0f}ns}}, namespaces: [{{size: 64MiB}}]}}"
                            for name, (_, latency, rate) in DISKS.items())
        links = ", ".join(f"{{up: host, down: {name}, generation: {link[0]}, lanes: {link[1]}, latency_down: {WIRE * 1e9:.0f}ns, "
                          f"latency_up: {WIRE * 1e9:.0f}ns}}" for name, (link, _, _) in DISKS.items())
        scripts = {name: f"NUMBER={number}\n{LOAD}" for number, name in enumerate(DISKS)}
        cls.run_ = machine.Children("--set", "hosts[0].memory=1GiB", "--set", f"hosts[0].root_complex.latency={HOST * 1e9:.0f}ns",
                                    "--set", f"hosts[0].instruction_rate={INSTRUCTION_RATE}",
                                    "--set", f"devices=[{devices}]", "--set", f"pcie_links=[{{up: host, down: ipu}}, {links}]",
                                    platform="disk", scripts=scripts, packages="fio", check_rtl=False).finish()

    def read(self, name):
        """Returns the account of a disk's link, and fio's results."""
        child = self.run_.children[name]
        self.assertEqual(child.code, 0, child)
        job = json.loads(child.file("result"))["jobs"][0]
        self.assertEqual(job["error"], 0)
        controllers = re.split(r"(?m)^(?=\S)", child.file("lspci"))
        disk = [text for text in controllers if "Non-Volatile memory controller" in text][list(DISKS).index(name)]
        max_payload = int(re.search(r"DevCtl:[\s\S]*?MaxPayload (\d+) bytes", disk).group(1))
        return Account(DISKS[name][0], max_payload), job["read"]

    def check(self, read, seconds_each):
        """`seconds_each` is the time from the end of one read to that of the next, by the account. fio rounds its run time to ms
        and has up to 32 reads under way at the beginning and at the end, so its IOPS are up to 0.7 % off. Its latency is not."""
        expected, simulated = 1 / seconds_each, read["iops"]
        latency, mean = DEPTH * seconds_each / US, read["lat_ns"]["mean"] / 1000
        print(f"expected {expected:.0f} IOPS, {latency:.1f} us; simulated {simulated:.0f} IOPS, {mean:.1f} us")
        self.assertLess(abs(simulated / expected - 1), 0.02)
        self.assertLess(abs(mean / latency - 1), 0.02)

    def test_the_latency(self):
        account, read = self.read("latency")
        _, latency, rate = DISKS["latency"]
        self.check(read, (latency + BYTES / rate + account.around()) / DEPTH)

    def test_the_rate(self):
        _, read = self.read("rate")
        self.check(read, BYTES / DISKS["rate"][2])

    def test_the_link(self):
        account, read = self.read("link")
        self.check(read, account.seconds(account.up()))


class Children(DiskCase):
    """A hundred forks of one machine write their own patterns to the same blocks of its disk, and to a block of their own."""

    COUNT = 100
    BLOCKS = 256  # of the disk, of 512 bytes; a pattern has two

    @classmethod
    def setUpClass(cls):
        cls.content = image(3, cls.BLOCKS * 512)
        scripts = {number: HEAD + f"""
dd if=/share/patterns of=$disk bs=1024 skip={number} seek=3 count=1 conv=notrunc,fsync
dd if=/share/patterns of=$disk bs=1024 skip={number} seek={number + 10} count=1 conv=notrunc,fsync
forget
sum $disk > /share/sum
""" for number in range(cls.COUNT)}
        with tempfile.TemporaryDirectory(prefix="oae-vp-") as folder:
            file = pathlib.Path(folder) / "disk.img"
            file.write_bytes(cls.content)
            cls.run_ = machine.Children("--set", f"devices[0].namespaces=[{{image: {file}, cache: 64KiB}}]", "--jobs", "2",
                                        platform="disk", scripts=scripts, check_rtl=False)
            cls.patterns = image(4, cls.COUNT * 1024)
            (cls.run_.share / "patterns").write_bytes(cls.patterns)
            cls.run_.finish()
            cls.image_afterwards = file.read_bytes()

    def test_each_sees_its_own_data(self):
        self.assertEqual(len(self.run_.children), self.COUNT, self.run_)
        for number, child in self.run_.children.items():
            self.assertEqual(child.code, 0, child)
            expected = bytearray(self.content)
            pattern = self.patterns[1024 * number:1024 * (number + 1)]
            expected[3 * 1024:4 * 1024] = pattern
            expected[(number + 10) * 1024:(number + 11) * 1024] = pattern
            self.assertEqual(child.file("sum").strip(), sum_of(expected), number)

    def test_the_image_is_unchanged(self):
        self.assertEqual(sum_of(self.image_afterwards), sum_of(self.content))


if __name__ == "__main__":
    machine.main()
