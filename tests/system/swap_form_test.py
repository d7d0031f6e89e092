# SPDX-License-Identifier: Apache-2.0
"""Tests swaps in streamed form: their requests on the link, and their cost."""
import json

import machine

STREAM_PAGE = 0xC000008000  # BAR 4, which Linux assigns behind BAR 2 with the ports' pages
SLOT = 64
SWAPS = 200
BLOCK_CLOCKS = 20 * 2  # ns at 500 MHz

SCRIPT = f"""
oae info > /share/info
for form in pushed streamed; do oae bench --count {SWAPS} --form $form --json > /share/$form; done
oae bench --count {SWAPS} --form streamed --more --json > /share/more
oae stat > /share/stat
dmesg -r > /share/dmesg
mkdir /tmp/debug
mount -t debugfs debug /tmp/debug
cat /tmp/debug/x86/pat_memtype_list > /share/types
"""

# The command register: memory space without bus master, and with it.
WITHOUT_BUS_MASTER = r"""
command() { printf "$1" | dd of=/sys/bus/pci/devices/0000:01:00.0/config bs=1 seek=4 conv=notrunc 2> /dev/null; }
exec > /share/codes
command '\x02'
code=0; oae swap --timeout 0s || code=$?; echo "pushed $code"
code=0; oae swap --timeout 0s --form streamed || code=$?; echo "streamed $code"
command '\x06'
oae bench --count 10
"""


class Streamed(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(script=SCRIPT, trace=True).finish()
        assert cls.run_.code == 0, cls.run_
        cls.pushed, cls.streamed, cls.more = (
            json.loads(cls.run_.file(name)) for name in ("pushed", "streamed", "more"))

    def test_the_block_has_it(self):
        self.assertRegex(self.run_.file("info"), "answers +pushed streamed")

    def test_linux_maps_its_pages_write_combining_and_the_others_uncached(self):
        types = self.run_.file("types")
        self.assertRegex(types, rf"{STREAM_PAGE:#018x}-\w+\] write-combining")
        self.assertRegex(types, rf"-{STREAM_PAGE:#018x}\] uncached-minus")

    def test_host_block_and_firmware_agree(self):
        for found in (self.pushed, self.streamed, self.more):
            self.assertEqual(found["committed"], SWAPS)
            self.assertEqual(found["block_committed"], SWAPS)
            self.assertEqual(found["firmware_committed"], SWAPS)
            self.assertEqual(found["doubts"], 0)

    def test_nothing_is_written_to_memory_but_pushed_answers(self):
        slots = [line for line in self.run_.trace
                 if line.get("type") == "MWr" and line["dir"] == "up" and line["len"] == SLOT]
        self.assertEqual(len(slots), SWAPS)

    def lines(self, kind):
        """Returns address and bytes of the host's requests to the page of port 0 in BAR 4, on the link."""
        return [(int(line["addr"], 16), line["len"]) for line in self.run_.trace
                if line.get("type") == kind and int(line["addr"], 16) & ~0xFFF == STREAM_PAGE]

    def test_each_swap_is_one_write_of_a_line(self):
        self.assertEqual(self.lines("MWr"), [(STREAM_PAGE, SLOT)] * (2 * SWAPS))

    def test_each_swap_is_one_read_of_a_line(self):
        # After an interrupt between the four loads of a slot, the processor reads the line again.
        reads = self.lines("MRd")
        self.assertEqual(set(reads), {(STREAM_PAGE, SLOT)})
        self.assertGreaterEqual(len(reads), 2 * SWAPS)
        self.assertLessEqual(len(reads), 2 * SWAPS + SWAPS // 100)

    def test_it_costs_the_round_trips_of_its_reads(self):
        trips = len(self.lines("MRd")) / (2 * SWAPS)
        for found in (self.streamed, self.more):
            swap = found["swap_from_read_ns"]["median"]
            read = found["mmio_read_ns"]["median"]
            self.assertGreaterEqual(swap, trips * read)
            self.assertLessEqual(swap, trips * (1.05 * read + BLOCK_CLOCKS))
        pushed = self.pushed["swap_from_read_ns"]["median"]
        print(f"\nmedians from the read's issue: pushed {pushed} ns, streamed {swap} ns in {trips:g} reads of {read} ns")

    def test_no_doubt_and_no_rejection(self):
        stat = dict(line.split() for line in self.run_.file("stat").splitlines())
        self.assertEqual((stat["driver.doubts"], stat["block.rejected"]), ("0", "0"))

    def test_the_kernel_warns_of_nothing(self):
        self.assertEqual(machine.kernel_messages(self.run_.file("dmesg"), 3), [])

    def test_the_quantum_changes_nothing(self):
        other = machine.Run("--set", "simulation.max_quantum=200ns", script=SCRIPT, trace=True).finish()
        self.assertEqual(other.trace, self.run_.trace)


class BusMaster(machine.TestCase):
    def test_only_the_pushed_form_needs_it(self):
        codes = self.succeed(script=WITHOUT_BUS_MASTER).file("codes")
        self.assertIn("pushed 3", codes)
        self.assertIn("streamed 0", codes)
        self.assertIn("committed 10 of 10", codes, "nothing is left behind")


class OlderProcessor(machine.TestCase):
    """A processor without streaming loads."""

    def test_it_reads_the_answer_in_pieces(self):
        one = self.succeed("--set", "hosts[0].cpu=qemu64",
                           script="grep -c sse4_1 /proc/cpuinfo > /share/flag || true\n"
                                  "oae bench --count 20 --form streamed > /share/bench\n")
        self.assertEqual(one.file("flag"), "0\n")
        self.assertIn("committed 20 of 20", one.file("bench"))


if __name__ == "__main__":
    machine.main()
