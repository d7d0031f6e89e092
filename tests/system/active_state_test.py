# SPDX-License-Identifier: Apache-2.0
"""Debian's Linux finds and enables active state power management."""
import machine

ROOT_PORT, DEVICE = "0000:00:01.0", "0000:01:00.0"
ASPM = "--set", "pcie_links[0].aspm={l0s: true, l1: true, l0s_after: 1us, l1_after: 10us}"

SCRIPT = f"""
for id in {ROOT_PORT} {DEVICE}; do lspci -vvv -s $id > /share/$id; done
for i in 1 2 3 4 5 6 7 8; do
  oae bench --count 1 > /dev/null
  sleep 0.01
done
oae bench --count 1000 > /share/bench
dmesg -r > /share/dmesg
"""


class ActiveState(machine.TestCase):
    def boot(self, *options, append=""):
        run = machine.Run(*options, script=SCRIPT, append=append).finish()
        self.assertEqual(run.code, 0, run)
        self.assertIn("committed 1000 of 1000", run.file("bench"))
        warnings = machine.kernel_messages(run.file("dmesg"), 4)
        self.assertEqual([line for line in warnings if "out-of-tree module" not in line], [])
        return run

    def test_linux_enables_what_both_ends_have(self):
        run = self.boot(*ASPM, append="pcie_aspm.policy=powersave")
        for name in (ROOT_PORT, DEVICE):
            said = run.file(name)
            self.assertRegex(said, r"LnkCap:.*ASPM L0s L1, Exit Latency L0s <1us, L1 <16us")
            self.assertRegex(said, r"LnkCtl:\s+ASPM L0s L1 Enabled|LnkCtl:\s+ASPM L1 Enabled")
        self.assertRegex(run.file(DEVICE), r"Latency L0s unlimited, L1 unlimited")

    def test_linux_leaves_it_off_where_it_is_told_so(self):
        run = self.boot(*ASPM, append="pcie_aspm.policy=performance")
        for name in (ROOT_PORT, DEVICE):
            self.assertRegex(run.file(name), r"LnkCtl:\s+ASPM Disabled")

    def test_a_link_does_not_sleep_unless_the_platform_says_so(self):
        run = self.boot(append="pcie_aspm.policy=powersave")
        for name in (ROOT_PORT, DEVICE):
            self.assertRegex(run.file(name), r"LnkCap:.*ASPM not supported")
            self.assertRegex(run.file(name), r"LnkCtl:\s+ASPM Disabled")


if __name__ == "__main__":
    machine.main()
