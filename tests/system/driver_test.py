# SPDX-License-Identifier: Apache-2.0
"""The driver is loaded and removed while swaps run, and leaves nothing behind."""
import machine

SCRIPT = r"""
device=0000:01:00.0
driver=/sys/bus/pci/drivers/oae
busy() {
  while [ ! -e /tmp/stop ]; do
    oae bench --count 200 > /dev/null 2>&1 || true
    oae bench --count 30 --form streamed > /dev/null 2>&1 || true
  done
}

dmesg -c > /dev/null
busy & first=$!
for i in $(seq 50); do
  echo $device > $driver/unbind
  echo $device > $driver/bind
done
touch /tmp/stop
wait $first
rm /tmp/stop
for i in $(seq 50); do
  rmmod oae
  modprobe oae
done
oae stat > /share/stat
oae bench --count 10 > /share/bench
oae bench --count 10 --form streamed > /share/streamed
dmesg -r > /share/dmesg
"""


class Driver(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(script=SCRIPT, trace=True).finish()

    def test_the_next_swap_works(self):
        self.assertEqual(self.run_.code, 0, self.run_)
        for form in ("bench", "streamed"):
            self.assertIn("committed 10 of 10", self.run_.file(form))

    def test_the_kernel_warns_of_nothing(self):
        self.assertEqual(machine.kernel_messages(self.run_.file("dmesg"), 4), [])

    def test_it_was_bound_a_hundred_times(self):
        self.assertEqual(self.run_.file("dmesg").count("8 ports, block at"), 100)

    def test_every_port_is_closed_again(self):
        state = {}
        for line in self.run_.trace:
            if "swap" in line:
                state[line["port"]] = line["to"]
        self.assertEqual(set(state.values()), {"closed"})


if __name__ == "__main__":
    machine.main()
