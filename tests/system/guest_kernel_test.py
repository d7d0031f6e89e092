# SPDX-License-Identifier: Apache-2.0
"""Debian's kernel and lspci describe the machine correctly."""
import pathlib
import tempfile

import machine

SCRIPT = """
dmesg -r > /share/dmesg
lspci -vvv > /share/lspci
nproc > /share/nproc
oae info > /share/info
oae bench --count 20 > /share/bench
"""


class GuestKernel(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(script=SCRIPT).finish()
        assert cls.run_.code == 0, cls.run_

    def test_it_controls_hot_plug_and_aer(self):
        self.assertRegex(self.run_.file("dmesg"), r"OS now controls \[PCIeHotplug.* AER ")

    def test_it_has_write_combining(self):
        self.assertRegex(self.run_.file("dmesg"), r"x86/PAT: Configuration \[0-7\]: .*\bWC\b")

    def test_it_finds_configuration_space(self):
        self.assertRegex(self.run_.file("dmesg"), r"PCI: MMCONFIG .* reserved in E820")

    def test_it_reports_no_error(self):
        self.assertEqual(machine.kernel_messages(self.run_.file("dmesg"), 3), [])

    def test_lspci_names_the_platforms_devices(self):
        listing = self.run_.file("lspci")
        for text in ("Host bridge: OAE-VP Host bridge", "PCI bridge: OAE-VP Root port",
                     "Processing accelerators: OAE-VP Open Atomic Ethernet block", "Subsystem: OAE-VP IPU"):
            self.assertIn(text, listing)

    def test_lspci_decodes_the_device(self):
        listing = self.run_.file("lspci")
        for text in ("Region 0: Memory at", "[size=64K]", "Region 2: Memory at", "[size=32K]",
                     "Region 4: Memory at",
                     "LnkSta:\tSpeed 16GT/s, Width x16", "MSI-X: Enable+ Count=9",
                     "Kernel driver in use: oae"):
            self.assertIn(text, listing)
        self.assertEqual(machine.undecoded(listing), [])


class ManyProcessors(machine.TestCase):
    def test_four_vcpus_and_four_cores_swap(self):
        run = self.succeed("--set", "hosts[0].vcpus=4", "--set", "ipus[0].cores=4", script=SCRIPT)
        self.assertEqual(run.file("nproc").strip(), "4")
        self.assertIn("committed 20 of 20", run.file("bench"))
        self.assertEqual(machine.kernel_messages(run.file("dmesg"), 3), [])


class Counts(machine.TestCase):
    """Runs two machines in one process. Together the classes cover all numbers of vCPUs and of cores.

    A kernel that may be preempted everywhere boots faster with many vCPUs: otherwise all of them wait in a loop for
    the work of one, which goes on for 64 ms.
    """

    def boot(self, vcpus, cores):
        options = ["--set", "oae_links=[]"]  # without a link neither waits for the other
        for number in range(2):
            options += ["--set", f"hosts[{number}].vcpus={vcpus[number]}",
                        "--set", f"ipus[{number}].cores={cores[number]}"]
        with tempfile.TemporaryDirectory(prefix="oae-vp-") as folder:
            for number in range(2):
                for name in (f"host{number}", f"ipu{number}"):
                    options += ["--console", f"{name}={folder}/{name}"]
            self.succeed(*options, platform="pair", append='preempt=full vp.exec="nproc; oae bench --count 1"')
            consoles = {file.name: file.read_text(errors="replace") for file in pathlib.Path(folder).iterdir()}
        for number in range(2):
            host, ipu = consoles[f"host{number}"], consoles[f"ipu{number}"]
            self.assertRegex(host, rf"(?m)^{vcpus[number]}$")
            self.assertIn("committed 1 of 1,", host)
            self.assertIn("the firmware 1: agree", host)
            self.assertRegex(ipu, rf"OAE firmware [\d.]+: {cores[number]} cores?,")


def counts(*boots):
    """Makes a class of these boots, so that the classes can run at the same time."""
    def test(vcpus, cores):
        return lambda self: self.boot(vcpus, cores)
    names = (f"test_{a}_and_{b}_vcpus_{c}_and_{d}_cores" for (a, b), (c, d) in boots)
    return type("Counts", (Counts,), {name: test(*boot) for name, boot in zip(names, boots)})


# The classes cover 1 to 16 vCPUs and 1 to 24 cores. Many vCPUs take long to boot.
Counts1 = counts(((16, 1), (1, 24)), ((1, 1), (17, 18)))
Counts2 = counts(((15, 2), (2, 23)), ((1, 1), (19, 20)))
Counts3 = counts(((14, 3), (3, 22)), ((13, 4), (4, 21)))
Counts4 = counts(((12, 5), (5, 16)), ((11, 6), (6, 15)))
Counts5 = counts(((10, 7), (7, 14)), ((9, 8), (8, 13)))
Counts6 = counts(((1, 2), (9, 12)), ((2, 1), (10, 11)))


class PollingFirmware(machine.TestCase):
    def test_it_serves_swaps_too(self):
        # Every poll of a core costs wall time.
        run = self.succeed("--set", "ipus[0].firmware_options.poll=true",
                           "--set", "ipus[0].instruction_rate=20MIPS", script=SCRIPT)
        self.assertIn("committed 20 of 20", run.file("bench"))


class Reboot(machine.TestCase):
    SCRIPT = """
oae bench --count 3 > /dev/null
if oae stat | grep -q '^block.committed *3$'; then reboot -f; fi
oae stat > /share/stat
lspci -vvv > /share/lspci
"""

    def test_the_host_starts_again_and_the_ipu_goes_on(self):
        run = self.succeed("--set", "pcie_links[0].max_read_request_size=1KiB", script=self.SCRIPT)
        self.assertEqual(run.console.count("Run /init as init process"), 2)
        self.assertRegex(run.file("stat"), r"(?m)^block.committed +6$")
        self.assertRegex(run.file("stat"), r"(?m)^firmware.committed +6$")
        self.assertIn("LnkSta:\tSpeed 16GT/s, Width x16", run.file("lspci"))
        self.assertRegex(run.file("lspci"), r"MaxPayload \d+ bytes, MaxReadReq 1024 bytes")


if __name__ == "__main__":
    machine.main()
