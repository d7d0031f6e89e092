# SPDX-License-Identifier: Apache-2.0
"""Linux and lspci find the queue function, and the host reaches its memory, which a reset clears."""
import machine

DEVICE = "0000:01:00.1"
OPTIONS = [word for key, value in (("present", "true"), ("memory", "20KiB"), ("vectors", "5"))
           for word in ("--set", f"ipus[0].endpoint.queue_function.{key}={value}")]

# Memory of 20 KiB is in a BAR of 32 KiB. What lies behind it is an Unsupported Request, which reads as all ones.
SCRIPT = f"""
device=/sys/bus/pci/devices/{DEVICE}
lspci -vv -s {DEVICE} > /share/lspci
base=$(sed -n 3p $device/resource | cut -d ' ' -f 1)
at() {{ # OFFSET WIDTH [VALUE]
  devmem $((base + $1)) $2 $3
}}
echo 1 > $device/enable
(at 0x4ff8 64; at 0x4ff8 64 0x1122334455667788; at 0x4ff8 64
 at 0x4ffc 16 0xabcd; at 0x4ff8 64; at 0x5000 32) > /share/memory
echo 1 > $device/reset
(at 0x4ff8 64; at 0 32) > /share/reset
"""


class Function(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(*OPTIONS, script=SCRIPT).finish()
        assert cls.run_.code == 0, cls.run_

    def test_lspci_shows_what_it_is(self):
        text = self.run_.file("lspci")
        self.assertIn("Queue function", text)
        self.assertRegex(text, r"Region 0: Memory at \w+ \(64-bit, non-prefetchable\).*\[size=64K\]")
        self.assertRegex(text, r"Region 2: Memory at \w+ \(64-bit, prefetchable\).*\[size=32K\]")
        self.assertRegex(text, r"MSI-X: Enable- Count=5 ")

    def test_the_host_reaches_its_memory(self):
        values = [int(line, 16) for line in self.run_.file("memory").split()]
        self.assertEqual(values, [0, 0x1122334455667788, 0x1122ABCD55667788, 0xFFFFFFFF])

    def test_a_reset_clears_its_memory(self):
        self.assertEqual([int(line, 16) for line in self.run_.file("reset").split()], [0, 0])


if __name__ == "__main__":
    machine.main()
