# SPDX-License-Identifier: Apache-2.0
"""Linux works with a device whose logic is a block in SystemVerilog: the copier of models/copier, and its driver."""
import json
import pathlib
import random
import tempfile

import machine
from hot_plug_test import AWAIT, TROUBLE

PLATFORM = str(pathlib.Path(__file__).resolve().parents[2] / "models" / "copier" / "copier.yaml")
FUNCTION = "0000:02:00.0"
SIZE = 0x10000

HEAD = AWAIT + f"""
device=/sys/bus/pci/devices/{FUNCTION}
dmesg -c > /dev/null
"""

# All of the pattern at once, then pieces of it that begin and end anywhere.
COPIED = HEAD + """
lspci -vv -s ${device##*/} > /share/lspci
modprobe copier skew=5
dd if=/share/pattern of=/dev/copier0 bs=65536
dd if=/dev/copier0 of=/share/whole bs=65536
for piece in 1,0 100,7 4096,1 5000,4090 63,4095; do
  head -c ${piece%,*} /share/other | dd of=/dev/copier0 bs=65536 iflag=fullblock seek=${piece#*,} oflag=seek_bytes
done
dd if=/dev/copier0 of=/share/pieces bs=65536
grep copier0 /proc/interrupts > /share/interrupts
rmmod copier
[ ! -e /dev/copier0 ]
dmesg -r > /share/dmesg
"""
PIECES = ((1, 0), (100, 7), (4096, 1), (5000, 4090), (63, 4095))

# An error of the link's other end reaches the program that wrote.
FAILED = HEAD + """
modprobe copier absent=1
code=0; dd if=/share/pattern of=/dev/copier0 bs=64 count=1 2> /share/errors || code=$?
echo $code > /share/code
echo 0 > /sys/module/copier/parameters/absent
dd if=/share/pattern of=/dev/copier0 bs=64 count=1
grep copier0 /proc/interrupts > /share/interrupts
"""

RESET = HEAD + """
modprobe copier
dd if=/share/pattern of=/dev/copier0 bs=4096 count=1
rmmod copier
echo flr > $device/reset_method
echo 1 > $device/reset
modprobe copier
dd if=/share/pattern of=/dev/copier0 bs=4096 count=1
dd if=/dev/copier0 of=/share/back bs=4096 count=1
"""

# The device goes while its file is open, and comes back. What is still open stays of no use.
REMOVED = HEAD + """
driver=/sys/bus/pci/drivers/copier
modprobe copier
exec 3<> /dev/copier0
head -c 64 /share/other >&3
echo ${device##*/} > $driver/unbind
code=0; dd bs=64 count=1 <&3 > /share/stale 2> /share/read || code=$?; echo $code >> /share/codes
code=0; dd if=/share/pattern bs=64 count=1 >&3 2> /share/write || code=$?; echo $code >> /share/codes
echo ${device##*/} > $driver/bind
code=0; dd bs=64 count=1 <&3 > /share/stale 2> /share/read_later || code=$?; echo $code >> /share/codes
dd if=/share/pattern of=/dev/copier0 bs=4096 count=1
exec 3>&-
dd if=/dev/copier0 of=/share/back bs=4096 count=1
rmmod copier
dmesg -r > /share/dmesg
"""

# With a clock of 5 kHz, 32 KiB take 1.4 s, which is longer than the driver waits.
LATE = HEAD + """
driver=/sys/bus/pci/drivers/copier
modprobe copier
fails() { "$@" 2> /share/error && echo none >> /share/errors || sed -n 's/.*: //p' /share/error >> /share/errors; }
free() { dd if=/share/other of=/dev/copier0 bs=64 count=1 seek=1023; }
fails dd if=/share/pattern of=/dev/copier0 bs=32768 count=1
fails free
await free
grep copier0 /proc/interrupts > /share/interrupts
dd if=/share/pattern of=/dev/copier0 bs=32768 count=1 2> /share/copying &
sleep 0.2
echo ${device##*/} > $driver/unbind
code=0; wait $! || code=$?
echo $code > /share/code
echo ${device##*/} > $driver/bind
dd if=/share/pattern of=/dev/copier0 bs=64 count=1
dd if=/dev/copier0 of=/share/back bs=64 count=1
dmesg -r > /share/dmesg
"""


def pattern(seed):
    return random.Random(seed).randbytes(SIZE)


class Linux(machine.TestCase):
    """Several scripts from one boot."""

    @classmethod
    def setUpClass(cls):
        cls.pattern, cls.other = pattern(1), pattern(2)
        with tempfile.TemporaryDirectory(prefix="oae-vp-") as folder:
            cls.run_ = machine.Children("--stats", str(pathlib.Path(folder) / "stats.json"), platform=PLATFORM, trace=True,
                                        scripts={"copied": COPIED, "failed": FAILED, "reset": RESET, "removed": REMOVED})
            (cls.run_.share / "pattern").write_bytes(cls.pattern)
            (cls.run_.share / "other").write_bytes(cls.other)
            cls.run_.finish()

    def child(self, name):
        child = self.run_.children[name]
        self.assertEqual(child.code, 0, child)
        return child

    def interrupts(self, child):
        """How often each of the two vectors has interrupted."""
        return [int(line.split()[1]) for line in child.file("interrupts").splitlines()]

    def test_the_kernel_finds_it(self):
        listing = self.child("copied").file("lspci")
        self.assertIn("Copier", listing)
        self.assertRegex(listing, r"MSI-X: Enable- Count=2")

    def test_it_copies(self):
        child = self.child("copied")
        self.assertEqual((child.share / "whole").read_bytes(), self.pattern)
        expected = bytearray(self.pattern)
        for count, at in PIECES:
            expected[at:at + count] = self.other[:count]
        self.assertEqual((child.share / "pieces").read_bytes(), expected)

    def test_each_copy_interrupts_once(self):
        child = self.child("copied")
        self.assertEqual(self.interrupts(child), [1 + len(PIECES), 0])
        signals = [line for line in child.trace if line.get("interrupt") == "copier.bridge"]
        self.assertEqual([line["vector"] for line in signals], [0] * (1 + len(PIECES)))

    def test_the_kernel_is_intact(self):
        for name in ("copied", "removed"):
            log = self.child(name).file("dmesg")
            self.assertEqual([line for line in log.splitlines() if TROUBLE.search(line)], [], name)

    def test_it_can_be_removed_while_its_file_is_open(self):
        child = self.child("removed")
        self.assertEqual(child.file("codes").split(), ["1", "1", "1"])
        for name in ("read", "write", "read_later"):
            self.assertIn("No such device", child.file(name))
        self.assertEqual(child.file("stale"), "")
        self.assertEqual((child.share / "back").read_bytes(), self.pattern[:4096])

    def test_a_copy_that_fails_is_an_error_of_the_write(self):
        child = self.child("failed")
        self.assertEqual(child.file("code").strip(), "1")
        self.assertRegex(child.file("errors"), "I/O error|Input/output error")
        self.assertEqual(self.interrupts(child), [1, 1])

    def test_it_works_after_a_reset(self):
        self.assertEqual((self.child("reset").share / "back").read_bytes(), self.pattern[:4096])

    def test_its_work_is_counted(self):
        stats = json.loads((self.child("copied").folder / "stats.json").read_text())
        counters = stats["counters"]
        self.assertGreaterEqual(counters["copier.bridge.dma_reads"], SIZE // 64)
        self.assertEqual(counters["copier.bridge.dma_reads"], counters["copier.bridge.dma_writes"])
        for errors in ("dma_read_errors", "dma_write_errors", "register_write_errors", "protocol_violations", "unsupported_bursts"):
            self.assertEqual(counters[f"copier.bridge.{errors}"], 0, errors)
        # The clock stands still for most of the time.
        self.assertLess(counters["copier.bridge.clocks"], stats["time_ps"] // 4000 // 100)


class Slow(machine.TestCase):
    """Copies that take longer than the driver waits, and one that is in progress when the device is removed."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run("--set", "devices[0].clock=5kHz", platform=PLATFORM, script=LATE)
        (cls.run_.share / "pattern").write_bytes(pattern(1))
        (cls.run_.share / "other").write_bytes(pattern(2))
        cls.run_.finish()
        assert cls.run_.code == 0, cls.run_

    def test_the_interrupt_of_a_late_copy_does_not_end_the_next_one(self):
        errors = self.run_.file("errors").splitlines()
        self.assertRegex(errors[0], "timed out")
        self.assertRegex(errors[1], "busy")

    def test_a_removal_ends_a_copy(self):
        self.assertEqual(self.run_.file("code").strip(), "1")
        self.assertIn("No such device", self.run_.file("copying"))

    def test_it_works_afterwards(self):
        self.assertEqual((self.run_.share / "back").read_bytes(), pattern(1)[:64])
        self.assertFalse((self.run_.share / "in_vain").exists())
        log = self.run_.file("dmesg")
        self.assertEqual([line for line in log.splitlines() if TROUBLE.search(line)], [])


ONCE = HEAD + """
modprobe copier skew=1
dd if=/share/pattern of=/dev/copier0 bs=4096 count=2
dd if=/dev/copier0 of=/share/back bs=4096 count=2
"""


class Quantum(machine.TestCase):
    """The trace does not depend on how far processors run ahead. A waveform changes nothing, either."""

    def trace(self, quantum, *options):
        run = machine.Run("--set", f"simulation.max_quantum={quantum}", *options, platform=PLATFORM, script=ONCE, trace=True)
        (run.share / "pattern").write_bytes(pattern(1))
        run.finish()
        self.assertEqual(run.code, 0, run)
        return run.trace

    def test_every_quantum_has_the_same_trace(self):
        first = self.trace("100us")
        with tempfile.TemporaryDirectory(prefix="oae-vp-") as folder:
            file = pathlib.Path(folder) / "copier.vcd"
            self.assertListEqual(self.trace("1us", "--vcd", f"copier={file}"), first)
            content = file.read_text()
            for name in ("m_axi_araddr", "state", "1ps $end"):
                self.assertIn(name, content)


if __name__ == "__main__":
    machine.main()
