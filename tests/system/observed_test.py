# SPDX-License-Identifier: Apache-2.0
"""What the driver shows of itself, as its Documentation says: counters in sysfs while a port is in use, measurements in
debugfs, trace events, and the names of its interrupts."""
import json
import pathlib
import re

import machine

ABI = pathlib.Path(__file__).resolve().parents[2] / "guest/driver/Documentation/ABI/testing"

SCRIPT = """
port=/sys/class/oae/oae0p1
debug=/sys/kernel/debug/oae/oae0p1
mount -t tracefs trace /sys/kernel/tracing
echo 1 > /sys/kernel/tracing/events/oae/enable
oae bench --port 1 --count 5 --json > /share/bench
cat $debug/last_swap > /share/last_swap
oae swap --port 1 --json > /share/swap
oae add --port 1 3 7
for i in 1 2 3; do dd if=$debug/register_read bs=64 count=1 2> /dev/null >> /share/reads; done
sleep 1000 3<>/dev/oae0p1 & owner=$!
sleep 0.01
code=0; oae swap --port 1 2> /dev/null || code=$?; echo $code > /share/busy
oae stat --port 1 --json > /share/watched
for file in $port/statistics/*; do echo "${file##*/} $(cat $file)" >> /share/statistics; done
kill $owner
wait $owner || true
oae stat --port 1 --json > /share/stat
echo 1 > /sys/bus/pci/devices/0000:01:00.0/reset
cat $port/statistics/state > /share/closed
cat /proc/interrupts > /share/interrupts
cat /sys/kernel/tracing/trace > /share/trace
count() { code=0; dd if=$port/statistics/committed bs=64 count=1 > /dev/null 2>&1 || code=$?; echo $code >> /share/unanswered; sleep 0.2; }
for n in 1 2 3 4 5 6; do
  vpctl inject host_ipu.up completion_timeout CplD $n
  count
done
count
umount /sys/kernel/debug
code=0; oae swap --port 1 > /dev/null || code=$?; echo $code > /share/without_debugfs
"""


class Observed(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run("--until", "30s", script=SCRIPT).finish()
        assert cls.run_.code == 0, cls.run_

    def statistics(self):
        return dict(line.split() for line in self.run_.file("statistics").splitlines())

    def test_sysfs_has_what_is_documented(self):
        text = (ABI / "sysfs-class-oae").read_text()
        documented = set(re.findall(r"^\t\t(\w+):\t", text, re.M))
        self.assertEqual(set(self.statistics()), documented)
        self.assertEqual(len(documented), 14)

    def test_a_port_in_use_is_watched(self):
        self.assertEqual(self.run_.file("busy").strip(), "1")
        shown, watched = self.statistics(), json.loads(self.run_.file("watched"))
        self.assertEqual((shown["state"], shown["committed"], shown["sequence"]), ("idle", "7", "0"))
        self.assertEqual((watched["block.state"], watched["block.committed"]), ("idle", 7))
        self.assertNotIn("firmware.committed", watched)
        stat = json.loads(self.run_.file("stat"))
        self.assertEqual(stat["firmware.committed"], 6)
        for name in ("committed", "not_ready", "rejected"):
            self.assertEqual(stat["block." + name], int(shown[name]))
        self.assertEqual(self.run_.file("closed").strip(), "closed")

    def test_no_counter_comes_from_an_access_that_was_not_answered(self):
        """The driver makes five accesses for the counters. The last loss, of the sixth, meets the first of the next reader."""
        self.assertEqual(self.run_.file("unanswered").split(), ["1"] * 5 + ["0", "1"])

    def test_debugfs_measures(self):
        text = (ABI / "debugfs-oae").read_text()
        documented = re.findall(r"^\t\t(\w+_ns):\t", text, re.M)
        last = dict(line.split() for line in self.run_.file("last_swap").splitlines())
        self.assertEqual(list(last), documented)
        bench = json.loads(self.run_.file("bench"))
        for mine, benchs in (("store_ns", "swap_from_store_ns"), ("read_ns", "swap_from_read_ns")):
            self.assertLessEqual(bench[benchs]["min"], int(last[mine]))
            self.assertLessEqual(int(last[mine]), bench[benchs]["max"])
        reads = [int(line) for line in self.run_.file("reads").splitlines()]
        self.assertEqual(len(reads), 3)
        for read in reads:
            self.assertLess(abs(read - bench["mmio_read_ns"]["median"]), 200)
        swap = json.loads(self.run_.file("swap"))
        self.assertGreater(swap["from_store_ns"], swap["from_read_ns"])
        self.assertGreater(swap["from_read_ns"], 0)

    def test_swaps_need_no_debugfs(self):
        self.assertEqual(self.run_.file("without_debugfs").strip(), "0")

    def test_vectors_are_named(self):
        names = {line.split()[-1] for line in self.run_.file("interrupts").splitlines() if "oae" in line}
        self.assertEqual(names, {"oae0-mailbox", *(f"oae0p{port}" for port in range(8))})

    def test_events_are_traced(self):
        events = re.findall(r": (oae_\w+): (.*)", self.run_.file("trace"))
        swaps = [text for name, text in events if name == "oae_swap"]
        self.assertEqual(len(swaps), 7)
        for text in swaps[:6]:
            self.assertRegex(text, r"^oae0p1 verb=swap form=pushed outcome=committed header=0x\w+ reads=0$")
        self.assertRegex(swaps[6], r"^oae0p1 verb=fetch_add form=pushed outcome=committed ")
        ports = [text for name, text in events if name == "oae_port" and "oae0p1" in text]
        self.assertEqual(ports[:2], ["oae0p1 open error=0", "oae0p1 closed error=0"])
        states = [text for name, text in events if name == "oae_state"]
        self.assertEqual(states, ["oae0 frozen", "oae0 live"])


if __name__ == "__main__":
    machine.main()
