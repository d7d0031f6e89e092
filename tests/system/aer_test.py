# SPDX-License-Identifier: Apache-2.0
"""Debian's kernel reports errors on the PCIe link, and the device continues to work."""
import json
import re

import machine

DEVICE, ROOT_PORT = "0000:01:00.0", "0000:00:01.0"
DRIVERS = {DEVICE: "oae", ROOT_PORT: "pcieport"}
SOURCES = {"down": DEVICE, "up": ROOT_PORT}

# The bit, the name that the kernel gives it, the layer, and the agent that the kernel names.
CORRECTABLE = {
    "receiver_error": (0, "RxErr", "Physical Layer", "Receiver ID"),
    "bad_tlp": (6, "BadTLP", "Data Link Layer", "Receiver ID"),
    "bad_dllp": (7, "BadDLLP", "Data Link Layer", "Receiver ID"),
    "replay_rollover": (8, "Rollover", "Data Link Layer", "Transmitter ID"),
    "replay_timeout": (12, "Timeout", "Data Link Layer", "Transmitter ID"),
}
NON_FATAL = {
    "poisoned_tlp": (12, "TLP", "Transaction Layer", "Receiver ID"),
    "completion_timeout": (14, "CmpltTO", "Transaction Layer", "Requester ID"),
    "completer_abort": (15, "CmpltAbrt", "Transaction Layer", "Completer ID"),
    "ecrc": (19, "ECRC", "Transaction Layer", "Receiver ID"),
    "unsupported_request": (20, "UnsupReq", "Transaction Layer", "Requester ID"),
}
FATAL = {
    "data_link_protocol": (4, "DLP", "Data Link Layer", "Receiver ID"),
    "receiver_overflow": (17, "RxOF", "Transaction Layer", "Receiver ID"),
    "malformed_tlp": (18, "MalfTLP", "Transaction Layer", "Receiver ID"),
}

# Advanced error reporting is the first extended capability of both: uncorrectable status at 0x104, correctable mask at
# 0x114, control, with the enables of ECRC, at 0x118. The kernel leaves fatal and advisory errors in the status register, where they would hold the log.
HEAD = """
exec 2> /share/refused
poke() { # OFFSET OCTAL: a byte, four times, in both functions
  for id in 0000:00:01.0 0000:01:00.0; do
    printf "\\\\$2\\\\$2\\\\$2\\\\$2" | dd of=/sys/bus/pci/devices/$id/config bs=1 seek=$1 conv=notrunc status=none
  done
}
each() { # NAME COMMAND...: what the kernel says while a command runs, and whether the device works then
  name=$1; shift
  dmesg -c > /dev/null
  "$@" || true
  sleep 0.3
  dmesg > /share/$name
  poke 260 377
  oae bench --count 2 > /share/$name.bench || true
}
"""


class Kernel(machine.TestCase):
    """Injects each error at each end, all in one boot."""

    @classmethod
    def setUpClass(cls):
        script = HEAD + "dmesg > /share/boot\n"
        for direction in SOURCES:
            for error in [*CORRECTABLE, *NON_FATAL, *FATAL, "unexpected_completion", "surprise_down",
                          "acs_violation"]:
                if error == "ecrc":
                    script += f"poke 280 000\neach {direction}.unchecked vpctl inject host_ipu.{direction} ecrc\npoke 280 377\n"
                script += f"each {direction}.{error} vpctl inject host_ipu.{direction} {error}\n"
        script += "echo 1 > /sys/bus/pci/devices/0000:01:00.0/reset\neach reset vpctl inject host_ipu.up malformed_tlp\n"
        script += "poke 276 000\n"
        for direction in SOURCES:
            script += f"each {direction}.advisory vpctl inject host_ipu.{direction} unexpected_completion\n"
        cls.run_ = machine.Run(script=script).finish()
        assert cls.run_.code == 0, cls.run_

    def said(self, name):
        """Returns the kernel's lines without their times."""
        return [re.sub(r"^\[ *[\d.]+\] ", "", line).rstrip() for line in self.run_.file(name).splitlines()]

    def check_decoded(self, name, error, kind, source, decoded):
        bit, word, layer, agent = decoded
        said = self.said(name)
        driver = f"{DRIVERS[source]} {source}:"
        self.assertEqual(said[0], f"pcieport {ROOT_PORT}: AER: {kind} error message received from {source}", error)
        severity = "Corrected" if kind == "Corrected" else kind
        self.assertEqual(said[1], f"{driver} PCIe Bus Error: severity={severity}, type={layer}, ({agent})", error)
        self.assertRegex(said[2], rf"error status/mask={1 << bit:08x}/", error)
        self.assertRegex(said[3], rf"^{driver} +\[ ?{bit}\] {word}\b", error)
        return said[4:]

    def check_device_works(self, name):
        self.assertIn("committed 2 of 2", self.run_.file(name + ".bench"), name)

    def test_aer_has_an_interrupt(self):
        self.assertRegex(self.run_.file("boot"), rf"pcieport {ROOT_PORT}: AER: enabled with IRQ \d+")

    def test_correctable_errors_are_logged_and_nothing_more(self):
        for direction, source in SOURCES.items():
            for error, decoded in CORRECTABLE.items():
                rest = self.check_decoded(f"{direction}.{error}", error, "Corrected", source, decoded)
                self.assertEqual(rest, [], error)
                self.check_device_works(f"{direction}.{error}")

    def test_the_device_recovers_from_non_fatal_errors(self):
        for direction, source in SOURCES.items():
            for error, decoded in NON_FATAL.items():
                rest = self.check_decoded(f"{direction}.{error}", error, "Uncorrected (Non-Fatal)", source, decoded)
                if error != "completion_timeout":
                    header = {"poisoned_tlp": "40004001", "ecrc": "40008001"}.get(error, "40000001")
                    self.assertIn(f"TLP Header: {header} 0000000f 00000000 00000000", rest.pop(0), error)
                self.assertEqual(rest, [f"pcieport {ROOT_PORT}: AER: device recovery successful"], error)
                self.check_device_works(f"{direction}.{error}")

    def test_bad_digests_are_nothing_where_they_are_not_checked(self):
        for direction in SOURCES:
            self.assertEqual(self.said(f"{direction}.unchecked"), [])
            self.check_device_works(f"{direction}.unchecked")

    def test_fatal_errors_of_the_root_port_are_decoded_and_the_link_is_reset(self):
        for error, decoded in FATAL.items():
            rest = self.check_decoded(f"up.{error}", error, "Uncorrected (Fatal)", ROOT_PORT, decoded)
            self.assertEqual(rest[-2:], [f"pcieport {ROOT_PORT}: AER: Root Port link has been reset (0)",
                                         f"pcieport {ROOT_PORT}: AER: device recovery successful"], error)
            self.check_device_works(f"up.{error}")

    def test_the_device_recovers_from_a_fatal_error_after_a_reset(self):
        self.assertEqual(self.said("reset")[-1], f"pcieport {ROOT_PORT}: AER: device recovery successful")
        self.check_device_works("reset")

    def test_surprise_down_is_seen_by_the_root_port_alone(self):
        decoded = (5, "SDES", "Transaction Layer", "Receiver ID")
        self.check_decoded("up.surprise_down", "surprise_down", "Uncorrected (Fatal)", ROOT_PORT, decoded)
        self.assertEqual(self.said("down.surprise_down"), [])
        self.assertIn("such a packet cannot have this error there", self.run_.file("refused"))

    # The header of such a request is logged, but Linux does not print it.
    def test_acs_violations_are_seen_by_the_root_port_alone(self):
        decoded = (21, "ACSViol", "Transaction Layer", "Receiver ID")
        rest = self.check_decoded("up.acs_violation", "acs_violation", "Uncorrected (Non-Fatal)", ROOT_PORT, decoded)
        self.assertEqual(rest, [f"pcieport {ROOT_PORT}: AER: device recovery successful"])
        self.check_device_works("up.acs_violation")
        self.assertEqual(self.said("down.acs_violation"), [])

    # Linux does not read the registers of a device whose link may be broken.
    def test_fatal_errors_of_the_device_are_reported_and_the_link_is_reset(self):
        for error in FATAL:
            said = self.said(f"down.{error}")
            self.assertEqual(said[0], f"pcieport {ROOT_PORT}: AER: Uncorrected (Fatal) error message received from {DEVICE}")
            self.assertIn("severity=Uncorrected (Fatal), type=Inaccessible", said[1])
            self.assertEqual(said[-1], f"pcieport {ROOT_PORT}: AER: device recovery successful")
            self.check_device_works(f"down.{error}")

    def test_advisory_errors_are_told_of_once_they_are_unmasked(self):
        decoded = (13, "NonFatalErr", "Transaction Layer", "Receiver ID")
        for direction, source in SOURCES.items():
            self.assertEqual(self.said(f"{direction}.unexpected_completion"), [])
            rest = self.check_decoded(f"{direction}.advisory", "advisory", "Corrected", source, decoded)
            self.assertEqual(rest, [])


class PlatformFile(machine.TestCase):
    """A platform file injects the same errors one after the other, in one boot."""
    FIRST, APART = 6, 0.5  # s of simulated time
    EXPECTED = [(direction, error, "Corrected", decoded) for direction in SOURCES for error, decoded in CORRECTABLE.items()]
    EXPECTED += [(direction, error, "Uncorrected (Non-Fatal)", decoded) for direction in SOURCES for error, decoded in NON_FATAL.items()]
    EXPECTED += [("up", error, "Uncorrected (Fatal)", decoded) for error, decoded in FATAL.items()]

    def test_the_kernel_tells_of_each_in_its_turn(self):
        faults = [{"direction": direction, "error": error, "at": f"{1000 * (self.FIRST + self.APART * number):.0f}ms"}
                  for number, (direction, error, _, _) in enumerate(self.EXPECTED)]
        last = self.FIRST + self.APART * len(faults)
        run = self.succeed("--set", f"pcie_links[0].faults={json.dumps(faults)}", script=HEAD + f"""
poke 280 377
while [ $(cut -d. -f1 /proc/uptime) -lt {last + 1:.0f} ]; do
  sleep 0.1
  poke 260 377
done
dmesg > /share/said
oae bench --count 2 > /share/bench
""")
        said = run.file("said")
        self.assertEqual(re.findall(r"AER: (.*) error message received from (\S+)", said),
                         [(kind, SOURCES[direction]) for direction, _, kind, _ in self.EXPECTED])
        self.assertEqual(re.findall(r"error status/mask=(\w+)/", said),
                         [f"{1 << decoded[0]:08x}" for _, _, _, decoded in self.EXPECTED])
        self.assertIn("committed 2 of 2", run.file("bench"))


class Packets(machine.TestCase):
    """Packets of the driver and of the firmware have errors."""

    STRIKES = {
        "lost": ("up", "completion_timeout", "CplD"),
        "aborted": ("down", "completer_abort", "MRd"),
        "poisoned": ("up", "poisoned_tlp", "CplD"),
        "bad_write": ("down", "poisoned_tlp", "MWr"),
        "bad_push": ("up", "poisoned_tlp", "MWr"),
        "corrected": ("down", "bad_tlp", "MRd"),
    }

    @classmethod
    def setUpClass(cls):
        script = HEAD
        for name, (direction, error, tlp) in cls.STRIKES.items():
            script += f"vpctl inject host_ipu.{direction} {error} {tlp} 20\neach {name} oae bench --count 20\n"
        for words in ("nowhere.down bad_tlp", "host_ipu bad_tlp", "host_ipu.down worse", "host_ipu.down bad_tlp Mail",
                      "host_ipu.down bad_tlp MRd 0", "host_ipu.down poisoned_tlp MRd"):
            script += f"vpctl inject {words} 2>> /share/mistakes || true\n"
        # A processor that waits for a lost completion is costly to simulate.
        cls.run_ = machine.Run("--set", "hosts[0].root_complex.completion_timeout=1ms", script=script).finish()
        assert cls.run_.code == 0, cls.run_

    def check(self, name, pattern):
        self.assertRegex(self.run_.file(name), pattern)
        self.assertIn("committed 2 of 2", self.run_.file(name + ".bench"), name)

    def test_a_lost_completion(self):
        self.check("lost", rf"received from {ROOT_PORT}(?s:.*)\[14\] CmpltTO(?s:.*)recovery successful")

    # The reader gets all ones. The error that would be reported is masked.
    def test_a_refused_read(self):
        self.assertEqual(self.run_.file("aborted"), "")
        self.assertIn("agree", self.run_.file("aborted.bench"))

    def test_poisoned_data(self):
        self.check("poisoned", rf"received from {ROOT_PORT}(?s:.*)\[12\] TLP .*(?s:.*)TLP Header: 4a0040")
        self.check("bad_write", rf"received from {DEVICE}(?s:.*)\[12\] TLP .*(?s:.*)TLP Header: [46]000400")
        self.check("bad_push", rf"received from {ROOT_PORT}(?s:.*)\[12\] TLP .*(?s:.*)TLP Header: [46]00040")

    def test_a_replayed_packet(self):
        self.check("corrected", r"severity=Corrected(?s:.*)BadTLP")

    def test_mistakes_are_reported(self):
        mistakes = self.run_.file("mistakes").splitlines()
        expected = ["there is no such direction; there are host_ipu.down host_ipu.up"] * 2 + [
            "there is no such error; there are data_link_protocol surprise_down", "there is no TLP Mail",
            "the number is a whole number from 1 up", "such a packet cannot have this error there"]
        self.assertEqual(len(mistakes), len(expected), mistakes)
        for line, text in zip(mistakes, expected):
            self.assertIn(text, line)


if __name__ == "__main__":
    machine.main()
