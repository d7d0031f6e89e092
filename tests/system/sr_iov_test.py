# SPDX-License-Identifier: Apache-2.0
"""Linux enables and disables the function's virtual functions, and each of them works."""
import os
import pathlib
import re
import shutil

import machine

COPIES = pathlib.Path(os.environ.get("OAE_VP_COPIES", "build/cmake/tests/system/copies"))
MOST = 8
OPTIONS = ("--set", f"ipus[0].endpoint.virtual_functions={MOST}")
COUNTS = (MOST, 0, 1, 0, 3, 0, MOST)

# The kernel requires the number 0 before any other number.
KERNEL = f"""
device=/sys/bus/pci/devices/0000:01:00.0
dmesg -r > /share/boot
cat $device/sriov_totalvfs $device/sriov_offset $device/sriov_stride $device/sriov_vf_device > /share/totals
dmesg -c > /dev/null
step=0
for count in {" ".join(map(str, COUNTS))}; do
  step=$((step + 1))
  echo $count > $device/sriov_numvfs
  cat $device/sriov_numvfs > /share/number.$step
  lspci -n > /share/lspci.$step
  for vf in $device/virtfn*; do
    if [ -e $vf ]; then echo $(basename $(readlink $vf)) $(head -1 $vf/resource) >> /share/resources.$step; fi
  done
done
lspci -vvv -s 01:00.0 > /share/physical
lspci -vvv -s 01:00.3 > /share/virtual
lspci -vvv -s 00:01.0 > /share/port
if echo {MOST - 1} > $device/sriov_numvfs 2> /dev/null; then echo changed > /share/refused; fi
if echo {MOST + 1} > $device/sriov_numvfs 2> /dev/null; then echo too many > /share/refused; fi
echo 1 > $device/virtfn2/reset
oae bench --count 5 > /share/bench
echo 0000:01:00.0 > /sys/bus/pci/drivers/oae/unbind
lspci -n > /share/lspci.unbound
echo 0000:01:00.0 > /sys/bus/pci/drivers/oae/bind
echo {MOST} > $device/sriov_numvfs
echo flr > $device/reset_method
echo 1 > $device/reset
cat $device/virtfn7/vendor $device/virtfn7/config > /dev/null
lspci -n > /share/lspci.reset
dmesg -r > /share/dmesg
"""

COPY = f"""
device=/sys/bus/pci/devices/0000:01:00.0
dmesg -c > /dev/null
for round in 1 2; do
  echo {MOST} > $device/sriov_numvfs
  /share/copies $device/virtfn* > /share/copies.$round
  echo 0 > $device/sriov_numvfs
done
dmesg -r > /share/dmesg
"""


class Kernel(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(*OPTIONS, script=KERNEL).finish()
        assert cls.run_.code == 0, cls.run_

    def virtual_functions(self, name):
        """Returns the ids on bus 1 except that of the physical function."""
        lines = self.run_.file(f"lspci.{name}").splitlines()
        return [line.split()[0] for line in lines if line.startswith("01:") and line.split()[0] != "01:00.0"]

    def ids(self, count):
        return [f"01:{number // 8:02x}.{number % 8}" for number in range(1, count + 1)]

    def test_the_kernel_finds_the_capability(self):
        self.assertEqual(self.run_.file("totals").split(), [str(MOST), "1", "1", "ae1"])

    def test_the_functions_that_are_enabled_are_there(self):
        for step, count in enumerate(COUNTS, 1):
            self.assertEqual(self.run_.file(f"number.{step}").strip(), str(count))
            self.assertEqual(self.virtual_functions(step), self.ids(count), step)

    def test_each_has_its_addresses(self):
        for step, count in enumerate(COUNTS, 1):
            if count == 0:
                continue
            lines = [line.split() for line in self.run_.file(f"resources.{step}").splitlines()]
            self.assertEqual(len(lines), count)
            first = int(lines[0][1], 16)
            self.assertGreater(first, 1 << 32)
            for number, (name, start, end, _) in enumerate(lines):
                self.assertEqual(name, f"0000:{self.ids(count)[number]}")
                self.assertEqual(int(start, 16), first + 0x4000 * number)
                self.assertEqual(int(end, 16), int(start, 16) + 0x3fff)

    def test_lspci_shows_what_they_are(self):
        physical, virtual, port = (self.run_.file(name) for name in ("physical", "virtual", "port"))
        self.assertRegex(physical, r"Alternative Routing-ID Interpretation \(ARI\)")
        self.assertRegex(physical, r"Single Root I/O Virtualization \(SR-IOV\)")
        self.assertRegex(physical, r"IOVCtl:\s+Enable\+ Migration- Interrupt- MSE\+ ARIHierarchy\+")
        self.assertRegex(physical, rf"Initial VFs: {MOST}, Total VFs: {MOST}, Number of VFs: {MOST}")
        self.assertRegex(physical, r"VF offset: 1, stride: 1, Device ID: 0ae1")
        self.assertRegex(port, r"DevCtl2:.* ARIFwd\+")
        self.assertRegex(virtual, r"MSI-X: Enable- Count=1 ")
        self.assertRegex(virtual, r"Region 0: Memory at \w+ \(64-bit, prefetchable\) \[virtual\] \[size=16K\]")
        for text in (physical, port):
            for capability in ("Secondary PCI Express", "Data Link Feature", "Physical Layer 16.0 GT/s",
                               "Lane Margining at the Receiver"):
                self.assertIn(capability, text)
            self.assertNotIn("Secondary PCI Express", virtual)

    def test_what_cannot_be_is_refused(self):
        self.assertFalse((self.run_.share / "refused").exists())

    def test_they_go_with_the_driver_and_come_back_after_a_reset(self):
        self.assertEqual(self.virtual_functions("unbound"), [])
        self.assertEqual(self.virtual_functions("reset"), self.ids(MOST))

    def test_the_physical_function_swaps_meanwhile(self):
        self.assertIn("committed 5 of 5", self.run_.file("bench"))

    def test_the_kernel_warns_of_nothing(self):
        boot = machine.kernel_messages(self.run_.file("boot"), 4)
        self.assertEqual([text for text in boot if "oae: loading out-of-tree module" not in text], [])
        # Except for the number that is refused because others are enabled.
        messages = [re.sub(r"^\[ *[\d.]+\] ", "", text) for text in
                    machine.kernel_messages(self.run_.file("dmesg"), 4)]
        self.assertEqual(messages, [f"oae 0000:01:00.0: {MOST} VFs already enabled. Disable before enabling "
                                    f"{MOST - 1} VFs"])


class Copies(machine.TestCase):
    """All functions copy host memory to their own and back at the same time, and signal the end by MSI-X."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(*OPTIONS, script=COPY, trace=True)
        shutil.copy(COPIES, cls.run_.share / "copies")
        cls.run_.finish()
        assert cls.run_.code == 0, cls.run_

    def test_all_arrive(self):
        for number in (1, 2):
            self.assertEqual(self.run_.file(f"copies.{number}"), f"{MOST} functions: agree\n")

    def test_each_by_its_own_id(self):
        requesters = {line["req"] for line in self.run_.trace if line.get("type") == "MRd" and line["dir"] == "up"}
        ids = {f"01:{number // 8:02x}.{number % 8}" for number in range(1, MOST + 1)}
        self.assertLessEqual(ids, requesters)

    def test_the_kernel_warns_of_nothing(self):
        self.assertEqual(machine.kernel_messages(self.run_.file("dmesg"), 4), [])


if __name__ == "__main__":
    machine.main()
