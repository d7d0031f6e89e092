# SPDX-License-Identifier: Apache-2.0
"""Debian's kernel finds two cards below a PCIe switch. Both work, and a failure of one does not affect the other."""
import os
import pathlib
import re
import shutil

import machine

COPIES = pathlib.Path(os.environ.get("OAE_VP_COPIES", "build/cmake/tests/system/copies"))
ROOT_PORT, UPSTREAM = "0000:00:01.0", "0000:01:00.0"
PORTS = ["0000:02:00.0", "0000:02:01.0"]
CARDS = ["0000:03:00.0", "0000:04:00.0"]
HOT_PLUG = ("--set", "pcie_links[2].hot_plug={capable: true, surprise: true}")

# An end of a link has room for one packet of each class, AtomicOps included. A switch also counts completions.
ONE = "posted_headers: 1, posted_data: 16, non_posted_headers: 1, non_posted_data: 2"
ONE_AT_SWITCH = ONE + ", completion_headers: 1, completion_data: 16"
CREDITS = ("--set", f"pcie_links[0].credits_up={{{ONE}}}", "--set", f"pcie_links[0].credits_down={{{ONE_AT_SWITCH}}}",
           "--set", f"pcie_links[1].credits_up={{{ONE_AT_SWITCH}}}", "--set", f"pcie_links[1].credits_down={{{ONE}}}",
           "--set", f"pcie_links[2].credits_up={{{ONE_AT_SWITCH}}}", "--set", f"pcie_links[2].credits_down={{{ONE}}}")

BENCH = """
swaps() { # NAME: of both cards
  for card in 0 1; do oae bench --device $card --count 20 > /share/$1.$card || true; done
}
"""


class Switch(machine.TestCase):
    def check_swaps(self, run, name, cards=(0, 1)):
        for card in cards:
            self.assertIn("committed 20 of 20", run.file(f"{name}.{card}"), f"{name}, card {card}")

    def test_the_kernel_finds_the_tree_without_a_complaint(self):
        run = self.succeed(platform="switch", script=BENCH + """
lspci -t > /share/tree
lspci -vvv -s 01:00.0 > /share/upstream
lspci -vvv -s 02:01.0 > /share/downstream
dmesg -r > /share/dmesg
swaps bench
""")
        self.assertEqual(run.file("tree").split("\n")[:4], [
            "-[0000:00]-+-00.0",
            "           \\-01.0-[01-04]----00.0-[02-04]--+-00.0-[03]----00.0",
            "                                           \\-01.0-[04]----00.0", ""])
        self.assertIn("Upstream Port", run.file("upstream"))
        self.assertIn("Downstream Port (Slot+)", run.file("downstream"))
        self.assertIn("Slot #33", run.file("downstream"))
        self.assertEqual(machine.undecoded(run.file("upstream") + run.file("downstream")), [])
        said = machine.kernel_messages(run.file("dmesg"), 4)
        self.assertEqual([line for line in said if re.search("pci|aer|oae|BAR|bridge", line, re.I)
                          and "taint" not in line and "verification" not in line], [])
        self.check_swaps(run, "bench")

    def test_errors_and_resets_are_of_one_card(self):
        run = self.succeed(platform="switch", script=BENCH + f"""
each() {{ # NAME COMMAND...
  name=$1; shift
  dmesg -c > /dev/null
  "$@"
  sleep 0.3
  dmesg > /share/$name
  swaps $name.swaps
}}
reset() {{ echo 1 > /sys/bus/pci/devices/{CARDS[0]}/reset; }}
each correctable vpctl inject sw0_ipu1.down bad_tlp
each port vpctl inject sw0_ipu1.up bad_dllp
each upstream vpctl inject host_sw0.down bad_tlp
each fatal vpctl inject sw0_ipu1.down malformed_tlp
each reset reset
""")
        for name, source, severity in (("correctable", CARDS[1], "Corrected"),
                                       ("port", PORTS[1], "Corrected"),
                                       ("upstream", UPSTREAM, "Corrected"),
                                       ("fatal", CARDS[1], r"Uncorrected \(Fatal\)")):
            said = run.file(name)
            self.assertRegex(said, rf"pcieport {ROOT_PORT}: AER: {severity} error message received from {source}")
            self.assertNotIn(CARDS[0], said, name)
            self.check_swaps(run, name + ".swaps")
        self.assertIn(f"{PORTS[1]}: AER: Downstream Port link has been reset", run.file("fatal"))
        self.assertIn("device recovery successful", run.file("fatal"))
        self.assertNotIn(CARDS[1], run.file("reset"))
        self.check_swaps(run, "reset.swaps")

    def test_a_card_goes_and_comes_back(self):
        run = self.succeed(*HOT_PLUG, platform="switch", script=BENCH + """
vpctl hot_plug sw0_ipu1 remove
sleep 0.5
lspci -n > /share/without
oae bench --device 0 --count 20 > /share/without.0
vpctl hot_plug sw0_ipu1 insert
sleep 2
lspci -n > /share/with
swaps with
""")
        self.assertNotIn("04:00.0", run.file("without"))
        self.check_swaps(run, "without", [0])
        self.assertIn("04:00.0", run.file("with"))
        self.check_swaps(run, "with")

    def test_both_cards_work_at_once_with_room_for_a_packet_only(self):
        run = self.succeed(*CREDITS, platform="switch", script="""
oae bench --device 0 --count 200 > /share/at_once.0 &
oae bench --device 1 --count 200 > /share/at_once.1
wait
""")
        for card in (0, 1):
            self.assertIn("committed 200 of 200", run.file(f"at_once.{card}"))

    def test_the_quantum_changes_nothing(self):
        first, second = (self.succeed("--set", f"simulation.max_quantum={quantum}", platform="switch", trace=True,
                                      script=BENCH + "swaps bench") for quantum in ("100us", "500ns"))
        self.check_swaps(first, "bench")
        self.assertEqual(first.trace, second.trace)

    def test_nor_does_it_if_the_switch_cuts_through_and_completions_are_mixed(self):
        completions = "{split: true, spread: 300ns}"
        free = ("--set", "switches[0].cut_through=true", "--set", f"hosts[0].root_complex.completions={completions}",
                "--set", f"ipus[*].endpoint.completions={completions}", "--set", "ipus[*].endpoint.aligned_requests=false")
        first, second = (self.succeed(*free, "--set", f"simulation.max_quantum={quantum}", platform="switch", trace=True,
                                      script=BENCH + "swaps bench") for quantum in ("100us", "500ns"))
        self.check_swaps(first, "bench")
        self.assertEqual(first.trace, second.trace)


class VirtualFunctions(machine.TestCase):
    """The virtual functions of both cards. The switch's ports forward their numbers as ARI requires."""
    MOST = 12

    def test_all_are_there_and_copy_at_once(self):
        run = machine.Run("--set", f"ipus[*].endpoint.virtual_functions={self.MOST}", platform="switch", script=f"""
for card in {" ".join(CARDS)}; do echo {self.MOST} > /sys/bus/pci/devices/$card/sriov_numvfs; done
lspci -n -d f0ae:0ae1 > /share/lspci
dmesg -c > /dev/null
/share/copies {" ".join(f"/sys/bus/pci/devices/{card}/virtfn*" for card in CARDS)} > /share/agreed
dmesg -r > /share/dmesg
swaps() {{ oae bench --device $1 --count 20 > /share/bench.$1; }}
swaps 0
swaps 1
""")
        shutil.copy(COPIES, run.share / "copies")
        run.finish()
        self.assertEqual(run.code, 0, run)
        found = [line.split()[0] for line in run.file("lspci").splitlines()]
        self.assertEqual(found, [f"{bus}:{number // 8:02x}.{number % 8}" for bus in ("03", "04")
                                 for number in range(1, self.MOST + 1)])
        self.assertEqual(run.file("agreed"), f"{2 * self.MOST} functions: agree\n")
        self.assertEqual(machine.kernel_messages(run.file("dmesg"), 4), [])
        for card in (0, 1):
            self.assertIn("committed 20 of 20", run.file(f"bench.{card}"))


if __name__ == "__main__":
    machine.main()
