# SPDX-License-Identifier: Apache-2.0
"""A port is mapped into the process that owns it. The same swaps work without the kernel, bad requests are refused, and the
process notices when the device is taken away."""
import json
import os
import pathlib
import shutil

import machine
import swapper
from hot_plug_test import TROUBLE

MAPPER = pathlib.Path(os.environ.get("OAE_VP_MAPPER", "build/cmake/tests/system/mapper"))
PORT_PAGE, STREAM_PAGE = 0xC000000000, 0xC000008000  # BARs 2 and 4, as Linux assigns them
SWAPS = 50
ALL_GOOD = "all is as it must be\n"


def run(script, *options, programs=(MAPPER,), **more):
    one = machine.Run(*options, script=script, **more)
    for program in programs:
        shutil.copy(program, one.share / program.name)
    return one.finish()


class Same(machine.TestCase):
    """Runs `oae bench` through the kernel and in a mapped port, in two machines."""

    FORMS = ("pushed", "streamed")

    @classmethod
    def setUpClass(cls):
        cls.runs = {}
        for mapped in (False, True):
            script = "".join(f"oae bench --count {SWAPS} --json --form {form} {more} {'--mapped' if mapped else ''} >> /share/bench\n"
                             for form in cls.FORMS for more in ("", "--more"))
            cls.runs[mapped] = machine.Run(script=script + "dmesg -r > /share/dmesg\n", trace=True).finish()
            assert cls.runs[mapped].code == 0, cls.runs[mapped]

    def benches(self, mapped):
        return [json.loads(line) for line in self.runs[mapped].file("bench").splitlines()]

    def test_all_agree_on_the_swaps(self):
        for mapped in (False, True):
            for bench in self.benches(mapped):
                self.assertEqual(bench["mapped"], mapped)
                for count in ("committed", "block_committed", "firmware_committed"):
                    self.assertEqual(bench[count], SWAPS)
                self.assertEqual(bench["doubts"], 0)

    def accesses(self, mapped):
        """Returns the writes and reads of the port's pages on the link, in order."""
        return [(line["type"], line["addr"], line["len"]) for line in self.runs[mapped].trace
                if line.get("type") in ("MWr", "MRd") and line["dir"] == "down"
                and int(line["addr"], 16) & ~0xFFF in (PORT_PAGE, STREAM_PAGE)]

    def test_the_device_sees_the_same(self):
        through_the_kernel = self.accesses(False)
        # A swap has stores, a read and a confirmation. `oae bench` also makes other reads.
        self.assertGreater(len(through_the_kernel), SWAPS * 2 * (10 + 3))
        self.assertEqual(self.accesses(True), through_the_kernel)

    def test_the_journal_has_the_same_story(self):
        def story(mapped):
            return [(line["to"], line["seq"]) for line in self.runs[mapped].trace if "swap" in line and line["seq"]]
        self.assertEqual([step for step in story(True) if step[0] != "closed"],
                         [step for step in story(False) if step[0] != "closed"])

    def test_a_mapped_swap_costs_its_caller_less(self):
        for kernel, mapped in zip(self.benches(False), self.benches(True)):
            through, without = (bench["swap_call_ns"]["median"] for bench in (kernel, mapped))
            self.assertLess(without, 0.8 * through)
            self.assertGreater(without, mapped["mmio_read_ns"]["median"])
            print(f"\n{kernel['form']}: {through} ns through the kernel, {without} ns mapped")

    def test_the_kernel_warns_of_nothing(self):
        for mapped in (False, True):
            self.assertEqual(machine.kernel_messages(self.runs[mapped].file("dmesg"), 3), [])


# Each leaves a swap that the block has exchanged and that is not confirmed.
DEATHS = ("die_pushed", "die_streamed", "die_in_doubt")

REFUSED = f"""
dmesg -c > /dev/null
for what in refuse turns unconfirmed bad_pushed bad_streamed; do /share/mapper $what > /share/$what || true; done
oae stat --port 1 --json > /share/before
for what in {" ".join(DEATHS)}; do
  code=0; /share/mapper $what > /share/$what || code=$?; echo $code >> /share/deaths
  oae swap --port 1 --json >> /share/after_death
done
oae stat --port 1 --json > /share/after
command() {{ printf "$1" | dd of=/sys/bus/pci/devices/0000:01:00.0/config bs=1 seek=4 conv=notrunc 2> /dev/null; }}
command '\\x02'
code=0; oae swap --mapped --timeout 0s > /dev/null || code=$?; echo "pushed $code" > /share/without_master
code=0; oae swap --mapped --timeout 0s --form streamed > /dev/null || code=$?; echo "streamed $code" >> /share/without_master
command '\\x06'
oae bench --mapped --count 10 --json > /share/bench
oae multi --mapped --json add:5=7 read:6 > /share/multi
oae cas --mapped 5 7 8
code=0; oae cas --mapped 5 7 9 || code=$?; echo $code > /share/unequal
oae send --mapped 1 2 3
oae info --mapped && oae stat --mapped > /dev/null
dmesg -r > /share/dmesg
"""


class Refused(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = run(REFUSED)
        assert cls.run_.code == 0, cls.run_

    def test_wrong_mappings_and_requests(self):
        self.assertEqual(self.run_.file("refuse"), ALL_GOOD)

    def test_kernel_and_process_take_turns(self):
        self.assertEqual(self.run_.file("turns"), ALL_GOOD)

    def test_the_kernel_confirms_for_a_process_that_sleeps(self):
        self.assertEqual(self.run_.file("unconfirmed"), ALL_GOOD)

    def test_bad_offers_are_answered_and_change_nothing(self):
        for form in "pushed", "streamed":
            self.assertEqual(self.run_.file(f"bad_{form}"), ALL_GOOD)

    def test_what_a_killed_process_leaves_is_rolled_forward(self):
        self.assertEqual([self.run_.file(death) for death in DEATHS], [""] * len(DEATHS))
        self.assertEqual(self.run_.file("deaths").split(), ["137"] * len(DEATHS))
        swaps = [json.loads(line) for line in self.run_.file("after_death").splitlines()]
        self.assertEqual([(swap["status"], swap["sequence"]) for swap in swaps], [("committed", 1)] * len(DEATHS))
        before, after = (json.loads(self.run_.file(name)) for name in ("before", "after"))
        for side in "block", "firmware":
            self.assertEqual(after[side + ".committed"] - before[side + ".committed"], 2 * len(DEATHS))

    def test_only_the_pushed_form_needs_bus_master(self):
        self.assertEqual(self.run_.file("without_master").split(), ["pushed", "3", "streamed", "0"])
        self.assertEqual(json.loads(self.run_.file("bench"))["firmware_committed"], 10)

    def test_verbs(self):
        self.assertEqual(json.loads(self.run_.file("multi"))["found"], [0, 0])
        self.assertEqual(self.run_.file("unequal").strip(), "4")

    def test_the_kernel_warns_of_nothing(self):
        self.assertEqual(machine.kernel_messages(self.run_.file("dmesg"), 4), [])


HEAD = """
device=/sys/bus/pci/devices/0000:01:00.0
driver=/sys/bus/pci/drivers/oae
await() { # COMMAND...: until it succeeds, at most 10 s
  for i in $(seq 1000); do "$@" > /dev/null 2>&1 && return; sleep 0.01; done
  echo "in vain: $*" >> /share/in_vain
}
number() { set -- /dev/oae*p2; set -- "${1#/dev/oae}"; echo "${1%p2}"; }
swaps_on() { # both processes, after what has happened
  for port in 0 1; do cp /tmp/record$port /tmp/then$port; done
  for port in 0 1; do await eval "! cmp -s /tmp/record$port /tmp/then$port"; done
}
dmesg -c > /dev/null
for port in 0 1; do /share/swapper $port /tmp/record$port mapped >> /share/complaints & done
sleep 0.02
""" + swapper.power((0, 1))

TAIL = """
swaps_on
touch /tmp/stop
wait
for port in 0 1; do cat /tmp/record$port > /share/record$port; done
await oae --device $(number) bench --port 2 --count 1
for port in 0 1; do
  oae --device $(number) bench --port $port --count 5 --mapped --json > /share/bench$port
  oae --device $(number) stat --port $port --json > /share/stat$port
done
dmesg -r > /share/dmesg
"""

TAKEN = {
    **{method: f"echo {method} > $device/reset_method; for i in 1 2; do echo 1 > $device/reset; swaps_on; done"
       for method in ("flr", "pm", "bus")},
    "unbind": "for i in 1 2; do echo 0000:01:00.0 > $driver/unbind; sleep 0.01; echo 0000:01:00.0 > $driver/bind; "
              "swaps_on; done",
    "surprise": "losing; vpctl hot_plug host_ipu remove; await eval '! [ -e $device ]'; powerless; "
                "vpctl hot_plug host_ipu insert; await [ -e $device/driver ]",
    "remove": "echo 1 > $device/remove; sleep 0.01; echo 1 > /sys/bus/pci/rescan; await [ -e $device/driver ]",
    "error": "for i in 1 2; do vpctl inject host_ipu.up malformed_tlp CplD $i; sleep 0.1; swaps_on; done",
    "lost": "for i in $(seq 5); do vpctl inject host_ipu.up completion_timeout CplD $i; sleep 0.003; done",
}


class Taken(machine.TestCase):
    """Two processes swap, each in its mapped port, while the device is taken away. Each way to do so has a forked machine."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Children("--set", "hosts[0].vcpus=2", "--set", "pcie_links[0].hot_plug={capable: true, surprise: true}",
                                    "--until", "60s",
                                    scripts={name: HEAD + script + TAIL for name, script in TAKEN.items()})
        shutil.copy(swapper.PROGRAM, cls.run_.share / "swapper")
        cls.run_.finish()
        assert cls.run_.code == 0, cls.run_

    def check(self, each):
        for name, child in self.run_.children.items():
            with self.subTest(name):
                each(child)

    def counts_fit(self, child):
        for port in (0, 1):
            record = swapper.record_of(child, port)
            stat = json.loads(child.file(f"stat{port}"))
            found = record.committed_without_power + stat["block.committed"] - 5
            self.assertGreater(record.committed, 50)
            self.assertGreaterEqual(found, record.committed)
            self.assertLessEqual(found, record.committed + record.unknown)
            self.assertLessEqual(record.unknown, 5)
            self.assertEqual(stat["firmware.committed"], stat["block.committed"])

    def works(self, child):
        self.assertFalse((child.share / "in_vain").exists(), "something never came back")
        self.assertEqual(child.file("complaints"), "")
        for port in (0, 1):
            self.assertEqual(json.loads(child.file(f"bench{port}"))["committed"], 5)

    def kernel_is_intact(self, child):
        for text in machine.kernel_messages(child.file("dmesg"), 7):
            self.assertIsNone(TROUBLE.search(text), text)

    def test_what_all_have_counted_fits_together(self):
        self.check(self.counts_fit)

    def test_both_swap_on(self):
        self.check(self.works)

    def test_the_kernel_is_intact(self):
        self.check(self.kernel_is_intact)

    def test_a_reset_leaves_nothing_unknown(self):
        for name in ("flr", "pm", "bus", "lost"):
            child = self.run_.children[name]
            for port in (0, 1):
                self.assertEqual(swapper.record_of(child, port).unknown, 0, name)


if __name__ == "__main__":
    machine.main()
