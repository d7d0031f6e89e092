# SPDX-License-Identifier: Apache-2.0
"""Tags of 10 bits: Linux sees that the device supports them, a user enables them, and a long link carries three times as much."""
import machine

DEVICE = "/sys/bus/pci/devices/0000:01:00.1"
LATENCY = 20_000_000  # ps, one way
BYTES = 1024000
OPTIONS = ("--set", "ipus[0].endpoint.tags=768", "--set", "ipus[0].endpoint.test_function.present=true",
           "--set", "ipus[0].dma={outstanding: 256, rate: 1Tb/s}",
           "--set", "pcie_links[0].latency_up=20us", "--set", "pcie_links[0].latency_down=20us")

# Device Control 2 is at 0x28 of the PCI Express capability; 10-Bit Tag Requester Enable is bit 4 of its second byte.
SCRIPT = f"""
dmesg -c > /dev/null
modprobe pci_endpoint_test
echo pci-endpoint-test > {DEVICE}/driver_override
echo 0000:01:00.1 > /sys/bus/pci/drivers_probe
lspci -vvv -s 01:00.1 > /share/before
at=$(sed -n 's/.*Capabilities: \\[\\(..\\)\\] Express.*/\\1/p' /share/before)
pcitest -i 2
pcitest -w -s {BYTES} >> /share/said
printf '\\020' | dd of={DEVICE}/config bs=1 seek=$((0x$at + 0x29)) conv=notrunc status=none
lspci -vvv -s 01:00.1 > /share/after
pcitest -w -s {BYTES} >> /share/said
dmesg -r > /share/dmesg
"""


def rounds(trace):
    """Returns the function's reads of host memory: for each round its tags, and its begin and end in ps."""
    found = []
    outstanding = {}
    for line in trace:
        if line.get("req") != "01:00.1" or line.get("type") not in ("MRd", "CplD"):
            continue
        if line["type"] == "MRd" and line["dir"] == "up":
            if not found or line["t"] > found[-1]["end"] and not outstanding:
                found.append({"tags": set(), "start": line["t"], "end": 0})
            outstanding[line["tag"]] = line["len"]
            found[-1]["tags"].add(line["tag"])
        elif line["type"] == "CplD" and line["dir"] == "down" and line["tag"] in outstanding:
            outstanding[line["tag"]] -= line["len"]
            found[-1]["end"] = line["arr"]
            if outstanding[line["tag"]] == 0:
                del outstanding[line["tag"]]
    return [one for one in found if len(one["tags"]) > 100]


class TenBits(machine.TestCase):
    """A transfer of 2000 requests, with tags of 8 bits, as Linux enables them, and of 10 bits."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(*OPTIONS, script=SCRIPT, trace=True).finish()
        assert cls.run_.code == 0, cls.run_

    def test_lspci_sees_them(self):
        for name, sign in (("before", "-"), ("after", "+")):
            text = self.run_.file(name)
            self.assertIn("10BitTagComp+ 10BitTagReq+", text)
            control = text[text.index("DevCtl2:"):]
            self.assertIn(f"10BitTagReq{sign}", control[:control.index("OBFF")])

    def test_all_data_is_right(self):
        said = self.run_.file("said").splitlines()
        self.assertEqual(len(said), 2)
        for line in said:
            self.assertRegex(line, r"^WRITE .*:\s+OKAY$")

    def test_the_kernel_has_nothing_to_complain_of(self):
        self.assertEqual(machine.kernel_messages(self.run_.file("dmesg"), 4), [])

    def test_a_long_link_is_as_fast_as_tags_are_many(self):
        eight, ten = rounds(self.run_.trace)
        self.assertEqual((min(eight["tags"]), max(eight["tags"])), (0, 255))
        self.assertEqual((min(ten["tags"]), max(ten["tags"])), (256, 1023))
        self.assertEqual(len(ten["tags"]), 768)
        trips = [(one["end"] - one["start"]) / (2 * LATENCY) for one in (eight, ten)]
        for trip, tags in zip(trips, (256, 768)):
            least = BYTES / 512 / tags
            self.assertGreater(trip, least)
            self.assertLess(trip, least + 1.2)


if __name__ == "__main__":
    machine.main()
