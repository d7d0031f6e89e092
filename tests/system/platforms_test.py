# SPDX-License-Identifier: Apache-2.0
"""Debian's kernel and lspci find nothing wrong and nothing unknown on any platform of platforms/, and its hosts swap.

Each platform file has a class of its name.
"""
import pathlib
import re
import tempfile

import machine
import yaml

PLATFORMS = pathlib.Path(__file__).resolve().parents[2] / "platforms"
SPEEDS = {1: "2.5GT/s", 2: "5GT/s", 3: "8GT/s", 4: "16GT/s", 5: "32GT/s", 6: "64GT/s"}
# The driver in Linux for an IPU, and for each kind of device, with the BARs that lspci lists.
IPU = ("oae", ["0", "2", "4"])
KINDS = {"nvme": ("nvme", ["0"])}

# Each line begins with its source, since the console has other lines too.
SCRIPT = """
dmesg -r | sed 's/^/dmesg: /'
lspci -vvv | sed 's/^/lspci: /'
lspci -xxxx | sed 's/^/bytes: /'
oae bench --count 20 | sed 's/^/bench: /'
"""

# Warnings that the machine does not cause.
ALLOWED = {
    r"oae: loading out-of-tree module taints kernel\.": "the driver is the project's, not the kernel's",
}
# What lspci prints about sound functions.
UNKNOWN = {
    r"AttnInd Unknown, PwrInd Unknown": "the indicators of a slot without any",
}
DISABLED = {
    r"I/O behind bridge: .*\[disabled\]": "the machine has no I/O space for devices",
}
DISABLED_ABOVE_DEVICES = {
    r"Prefetchable memory behind bridge: .*\[disabled\]": "no kind of device has such memory, but an IPU has",
}


def without(text, allowed):
    return re.sub("|".join(allowed), "", text)


def functions(listing):
    """Returns the paragraphs of lspci by the function's address."""
    return {text.split()[0]: text for text in listing.strip().split("\n\n")}


def capabilities(space):
    """Returns the offsets of all capabilities, by the two lists of the specification (PCIe 5.0, 7.5.1.1.11 and 7.6.3)."""
    found = []
    at = space[0x34] & 0xFC if space[0x06] & 0x10 else 0
    while at:
        found.append(at)
        at = space[at + 1] & 0xFC
    at = 0x100 if len(space) > 0x100 else 0
    while at and int.from_bytes(space[at : at + 4], "little"):
        found.append(at)
        at = int.from_bytes(space[at + 2 : at + 4], "little") >> 4
    return found


class Platform:
    platform = None

    @classmethod
    def setUpClass(cls):
        described = yaml.safe_load((PLATFORMS / f"{cls.platform}.yaml").read_text())
        cls.links = described["pcie_links"]
        cls.kinds = {device["name"]: device["kind"] for device in described.get("devices", [])}
        with tempfile.TemporaryDirectory(prefix="oae-vp-") as name:
            folder = pathlib.Path(name)
            hosts = [host["name"] for host in described["hosts"]]
            options = [word for host in hosts for word in ("--console", f"{host}={folder / host}")]
            cls.run_ = machine.Run(*options, platform=cls.platform, script=SCRIPT).finish()
            assert cls.run_.code == 0, cls.run_
            cls.consoles = {host: (folder / host).read_text(errors="replace") for host in hosts}

    def of(self, host, source):
        return "\n".join(re.findall(rf"(?m)^{source}: ?(.*?)\r?$", self.consoles[host]))

    def host_above(self, link):
        above = {link["down"]: link["up"] for link in self.links}
        name = link["up"]
        while name in above:
            name = above[name]
        return name

    def leads_to_switch(self, link):
        return link["down"] in {other["up"] for other in self.links}

    def each_function(self):
        for host in self.consoles:
            for address, text in functions(self.of(host, "lspci")).items():
                with self.subTest(host=host, function=address):
                    yield host, address, text

    def test_the_kernel_warns_of_nothing(self):
        for host in self.consoles:
            texts = [re.sub(r"^\[ *[\d.]+\] ", "", text)
                     for text in machine.kernel_messages(self.of(host, "dmesg"), 4)]
            self.assertEqual([text for text in texts if not re.fullmatch("|".join(ALLOWED), text)], [])

    def test_the_kernel_controls_hot_plug_and_aer_and_has_room_for_all(self):
        for host in self.consoles:
            messages = self.of(host, "dmesg")
            self.assertRegex(messages, r"OS now controls \[PCIeHotplug.* AER ")
            # Linux assigns again what the firmware has put outside of the windows. That is not a fault.
            self.assertEqual(re.findall(r".*(?:failed to assign|no space for|can't assign).*", messages), [])

    def test_each_host_swaps(self):
        for host in self.consoles:
            self.assertIn("committed 20 of 20", self.of(host, "bench"))

    def test_lspci_knows_every_capability(self):
        for host, address, text in self.each_function():
            self.assertEqual(machine.undecoded(text), [])
            self.assertNotIn("Unknown", without(text, UNKNOWN))
            lines = functions(self.of(host, "bytes"))[address].splitlines()[1:]
            space = bytes.fromhex("".join(line.split(":", 1)[1] for line in lines))
            if "Express" in text:
                self.assertEqual(len(space), 4096)
            listed = [int(at, 16) for at in re.findall(r"(?m)^\tCapabilities: \[([0-9a-f]+)", text)]
            self.assertEqual(listed, capabilities(space))

    def test_every_bar_and_window_has_its_place(self):
        disabled = {**DISABLED, **(DISABLED_ABOVE_DEVICES if self.kinds else {})}
        for _, _, text in self.each_function():
            self.assertNotRegex(without(text, disabled), r"\[disabled\]|\[virtual\]|<unassigned>|<ignored>")
            for region in re.findall(r"\tRegion \d: (.*)", text):
                self.assertRegex(region, r"^Memory at [0-9a-f]+ \(.*\) \[size=\d+[KMG]?\]$")

    def test_each_link_leads_to_a_device_with_its_driver_at_full_speed(self):
        for host in self.consoles:
            found = [text for address, text in functions(self.of(host, "lspci")).items()
                     if address.endswith(".0") and "Express (v2) Endpoint" in text]
            links = [link for link in self.links if self.host_above(link) == host and not self.leads_to_switch(link)]
            self.assertEqual(len(found), len(links))
            for text, link in zip(found, links):
                kind = self.kinds.get(link["down"])
                driver, bars = KINDS[kind] if kind else IPU
                self.assertIn(f"Kernel driver in use: {driver}", text)
                self.assertEqual(re.findall(r"\tRegion (\d)", text), bars)
                self.assertIn(f"LnkSta:\tSpeed {SPEEDS[link['generation']]}, Width x{link['lanes']}\n", text)


def name_of(file):
    return file.stem.replace("-", "_")


for _file in sorted(PLATFORMS.glob("*.yaml")):
    globals()[name_of(_file)] = type(name_of(_file), (Platform, machine.TestCase), {"platform": _file.stem})


if __name__ == "__main__":
    machine.main()
