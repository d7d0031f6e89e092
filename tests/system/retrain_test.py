# SPDX-License-Identifier: Apache-2.0
"""A link changes its speed and loses lanes while Debian's Linux and the driver use it. lspci and the kernel check it."""
import re

import machine

ROOT_PORT, DEVICE = "0000:00:01.0", "0000:01:00.0"
SWAPS = 100

# Link Control 2 of the root port has the target speed, and bit 5 of Link Control requests it. Bit 14 of Link Status says that
# the speed has changed.
HEAD = f"""
device=/sys/bus/pci/devices/{DEVICE}
port=/sys/bus/pci/devices/{ROOT_PORT}/config
express=$((0x$(lspci -vs {ROOT_PORT} | sed -n 's/.*Capabilities: .\\(..\\). Express.*/\\1/p')))
get() {{ # OFFSET: a byte of the PCI Express capability
  od -An -tu1 -j $((express + $1)) -N 1 $port
}}
put() {{ # OFFSET VALUE
  printf "\\\\$(printf %o $2)" | dd of=$port bs=1 seek=$((express + $1)) conv=notrunc status=none
}}
retrain() {{ # SPEED
  put 0x30 $(($(get 0x30) & 0xf0 | $1))
  put 0x10 $(($(get 0x10) | 0x20))
  sleep 0.01
}}
state() {{ # NAME
  for id in {ROOT_PORT} {DEVICE}; do lspci -vvv -s $id | grep -E "LnkSta:|LnkCtl2:"; done > /share/$1
  cat $device/current_link_speed $device/current_link_width >> /share/$1
  oae bench --count {SWAPS} >> /share/$1
}}
"""

SPEEDS = HEAD + """
state before
for speed in 1 2 3 4; do
  oae bench --count 20000 > /share/load$speed & load=$!
  sleep 0.002
  kill -0 $load
  retrain $speed
  wait $load
  state speed$speed
done
""" + f"""
get 0x13 > /share/managed
put 0x13 0x40
get 0x13 >> /share/managed
retrain 2
echo 1 > $device/remove
dmesg -c > /dev/null
echo 1 > /sys/bus/pci/rescan
sleep 0.2
dmesg > /share/rescan
oae bench --count {SWAPS} > /share/after
"""

LANES = HEAD + """
oae bench --count 20000 > /share/load & load=$!
sleep 0.002
kill -0 $load
vpctl inject host_ipu.down lane_failure 9
wait $load
sleep 0.2
dmesg > /share/dmesg
state x8
vpctl inject host_ipu.up lane_failure 1
sleep 0.2
state x4
vpctl inject host_ipu.up lane_failure 15
sleep 0.2
state x1
for words in "lane_failure 16" "lane_failure 0" "lane_failure" "lane_failure x"; do
  vpctl inject host_ipu.up $words 2>> /share/mistakes || true
done
"""


class Speeds(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(script=SPEEDS).finish()
        assert cls.run_.code == 0, cls.run_

    def check(self, name, speed, width, degraded):
        said = self.run_.file(name)
        links = re.findall(r"LnkSta:\s+(.*)", said)
        self.assertEqual(len(links), 2, said)
        for link in links:
            self.assertRegex(link, rf"^Speed {speed}GT/s( \(downgraded\))?, Width x{width}$", said)
        self.assertEqual("downgraded" in links[1], degraded, said)
        self.assertIn(f"committed {SWAPS} of {SWAPS}", said)

    def test_both_ends_have_the_speed_that_is_asked_for(self):
        self.check("before", 16, 16, False)
        for number, speed in enumerate(("2.5", "5", "8", "16"), 1):
            self.check(f"speed{number}", speed, 16, number != 4)
            self.assertRegex(self.run_.file(f"speed{number}"), rf"LnkCtl2: Target Link Speed: {speed}GT/s")

    def test_swaps_under_way_do_not_notice(self):
        for number in range(1, 5):
            self.assertIn("committed 20000 of 20000", self.run_.file(f"load{number}"))

    def test_bandwidth_management_is_told_and_cleared(self):
        before, after = map(int, self.run_.file("managed").split())
        self.assertEqual((before >> 6, after >> 6), (1, 0))

    def test_the_kernel_tells_what_limits_the_device(self):
        self.assertRegex(self.run_.file("rescan"), r"64\.000 Gb/s available PCIe bandwidth, limited by 5\.0 GT/s PCIe x16 link at "
                                                   rf"{ROOT_PORT} \(capable of 252\.\d+ Gb/s with 16\.0 GT/s PCIe x16 link\)")
        self.assertIn(f"committed {SWAPS} of {SWAPS}", self.run_.file("after"))


class Lanes(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(script=LANES).finish()
        assert cls.run_.code == 0, cls.run_

    def check(self, name, width):
        said = self.run_.file(name)
        self.assertEqual(len(re.findall(rf"LnkSta:\s+Speed 16GT/s.*, Width x{width}\b", said)), 2, said)
        self.assertIn(f"committed {SWAPS} of {SWAPS}", said)

    def test_swaps_under_way_do_not_notice(self):
        self.assertIn("committed 20000 of 20000", self.run_.file("load"))

    def test_the_link_has_the_lanes_that_are_left(self):
        self.check("x8", 8)
        self.check("x4", 4)  # the lanes from 10 on, reversed
        self.check("x1", 1)

    def test_the_receiver_tells_of_it(self):
        self.assertRegex(self.run_.file("dmesg"), rf"oae {DEVICE}: +\[ 0\] RxErr")

    def test_mistakes_are_reported(self):
        mistakes = self.run_.file("mistakes").splitlines()
        self.assertEqual(len(mistakes), 4)
        for line, text in zip(mistakes, ["there is no such lane, or it is the last one"] * 2 + ["takes the number of the lane"] * 2):
            self.assertIn(text, line)


if __name__ == "__main__":
    machine.main()
