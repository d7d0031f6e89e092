# SPDX-License-Identifier: Apache-2.0
"""Unmodified Linux uses memory types by its mappings and its routines. Their TLPs are checked.

OAE_VP_PROBE names the folder of memory_probe.ko and wc_probe, which are built from tests/system/probe.
"""
import os
import pathlib
import re
import shutil

import machine

PROBE = pathlib.Path(os.environ.get("OAE_VP_PROBE", "build/cmake/tests/system/probe"))
DEVICE = "0000:01:00.0"
SCRIPT = f"""
echo {DEVICE} > /sys/bus/pci/drivers/oae/unbind
dmesg -c > /dev/null
insmod /share/memory_probe.ko
dmesg > /share/probe
cat /sys/bus/pci/devices/{DEVICE}/resource > /share/resource
echo 1 > /sys/bus/pci/devices/{DEVICE}/enable
/share/wc_probe /sys/bus/pci/devices/{DEVICE}/resource2_wc
"""


def run(*options):
    one = machine.Run(*options, script=SCRIPT, trace=True)
    for name in ("memory_probe.ko", "wc_probe"):
        shutil.copy(PROBE / name, one.share)
    one.finish()
    assert one.code == 0, one
    return one


def requests(one):
    """Returns (type, page, offset, bytes) of each request of the host to BAR 2, and None for each other request."""
    base = int(one.file("resource").split("\n")[2].split()[0], 16)
    found = []
    for line in one.trace:
        if line.get("dir") == "down" and line.get("type") in ("MWr", "MRd"):
            offset = int(line["addr"], 16) - base
            inside = 0 <= offset < 8 * 4096
            request = (line["type"], offset >> 12, offset & 0xfff, line["len"])
            found.append(request if inside else None)
    return found


class MemoryTypes(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        # A read of the device takes 750 ns.
        cls.run_ = run("--set", "pcie_links[0].latency_up=335ns")
        cls.requests = requests(cls.run_)
        cls.probe = re.findall(r"memory_probe: (\w+) (\d+)", cls.run_.file("probe"))

    def values(self, name):
        return [int(value) for key, value in self.probe if key == name]

    def groups(self):
        """Returns the writes (offset, bytes) to page 7 where it has no register, in groups that other requests end."""
        groups = [[]]
        for request in self.requests:
            if request and request[:2] == ("MWr", 7) and request[2] >= 0xd00:
                groups[-1].append(request[2:])
            elif groups[-1]:
                groups.append([])
        return [group for group in groups if group]

    def test_ioremap_wc_makes_eight_stores_one_write(self):
        self.assertEqual(self.groups()[0], [(0xe00, 64)])

    def test_ioremap_wc_makes_each_line_a_write(self):
        self.assertEqual(self.groups()[1], [(0xe00, 64), (0xe40, 64)])

    def test_a_fence_writes_what_there_is(self):
        self.assertEqual(self.groups()[2], [(0xe00 + 8 * i, 8) for i in range(8)])

    def test_lines_are_aligned(self):
        self.assertEqual(self.groups()[3], [(0xe20 + 8 * i, 8) for i in range(8)])

    def test_a_process_combines_and_streams(self):
        self.assertEqual(self.groups()[4], [(0xd00, 64)])
        reads = [request[2:] for request in self.requests
                 if request and request[:2] == ("MRd", 7) and request[2] >= 0xd00]
        self.assertEqual(reads, [(0xd40, 64)])

    def test_write_through_reads_a_line_once(self):
        self.assertAlmostEqual(self.values("uncached")[0], 750, delta=5)
        # The completion has 56 bytes more.
        self.assertAlmostEqual(self.values("first")[0], 752, delta=5)
        self.assertLess(self.values("again")[0], 10)
        self.assertEqual(self.values("same"), [1])
        self.assertAlmostEqual(self.values("flushed")[0], self.values("first")[0], delta=2)

    def test_prefetch_hides_the_read(self):
        cold = self.values("flushed")[0]
        warm = self.values("again")[0]
        waited = self.values("waited")
        self.assertEqual(len(waited), 7)
        for before, read in zip(waited, self.values("read")):
            if before >= cold:
                self.assertEqual(read, warm)
            else:
                self.assertAlmostEqual(before + read, cold, delta=20)


class WithoutBuffers(machine.TestCase):
    def test_write_combining_is_uncached(self):
        result = run("--set", "hosts[0].write_combining_buffers=0")
        stores = [request[3] for request in requests(result)
                  if request and request[:2] == ("MWr", 7) and request[2] >= 0xd00]
        self.assertEqual(stores, [8] * (8 + 16 + 3 + 5 + 8 + 8))


class Quantum(machine.TestCase):
    def test_it_changes_nothing(self):
        traces = {run("--set", f"simulation.max_quantum={quantum}").trace_bytes.split(b"\n", 1)[1]
                  for quantum in ("200ns", "1ms")}
        self.assertEqual(len(traces), 1)


if __name__ == "__main__":
    machine.main()
