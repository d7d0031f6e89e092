# SPDX-License-Identifier: Apache-2.0
"""A card writes into another card by DMA, under Linux. Access control decides whether the request goes straight through a
switch, by the root complex, or is refused. The kernel logs refusals. A virtual function of each card is the engine and the
target."""
import os
import pathlib
import re
import shutil

import machine

PEERS = pathlib.Path(os.environ.get("OAE_VP_PEERS", "build/cmake/tests/system/peers"))
OPTIONS = ("--set", "ipus[*].endpoint.virtual_functions=1")
REACHABLE = ("--set", "hosts[0].root_complex.peer_to_peer=true")
ROOT_PORT, PORTS = "0000:00:01.0", ["0000:02:00.0", "0000:02:01.0"]
ERROR = f"pcieport {ROOT_PORT}: AER: Uncorrected (Non-Fatal) error message received from "

# Services of access control. Redirection applies to requests and completions.
REDIRECT, UPSTREAM_FORWARDING, EGRESS_CONTROL = 0x0c, 0x10, 0x20

# Access control has its control register at 6 and its vector at 8. The engine writes the register at 8.
HEAD = """
cards="$(lspci -n -d f0ae:0ae0 | cut -d' ' -f1)"
for card in $cards; do echo 1 > /sys/bus/pci/devices/0000:$card/sriov_numvfs; done
set -- $(for card in $cards; do echo /sys/bus/pci/devices/0000:$card/virtfn0; done)
head -1 $2/resource | cut -d' ' -f1 > /share/target
control() { # PORT OFFSET BYTE: of its access control
  at=0x$(lspci -s $1 -vv | sed -n 's/.*\\[\\([0-9a-f]*\\) v.*Access Control Services.*/\\1/p')
  printf "\\\\$3" | dd of=/sys/bus/pci/devices/$1/config bs=1 seek=$((at + $2)) conv=notrunc status=none
}
peers() {
  dmesg -c > /dev/null
  /share/peers-program $1 $2 > /share/peers
  sleep 0.3
  dmesg > /share/dmesg
}
"""


def control(port, services, vector=0):
    """Returns the byte that the script writes there, in octal."""
    return f"control {port} 6 {services:03o}\ncontrol {port} 8 {vector:03o}\n"


class Case(machine.TestCase):
    platform = "switch"
    runs = []

    @classmethod
    def boot(cls, options, scripts):
        run = machine.Children(*OPTIONS, *options, platform=cls.platform, trace=True,
                               scripts={name: HEAD + text for name, text in scripts.items()})
        shutil.copy(PEERS, run.share / "peers-program")
        run.finish()
        failed = [f"{name}: {child}" for name, child in run.children.items() if child.code != 0]
        assert run.code == 0, "\n".join(failed) or run
        cls.runs.append(run)  # keeps the run, with which its files would be removed
        return run.children

    def route(self, child):
        """Returns the links that the write of the register has passed."""
        target = hex(int(child.file("target"), 16) + 8)
        return [(line["link"].split(".")[-1], line["dir"]) for line in child.trace
                if line.get("type") == "MWr" and line.get("addr") == target and line["req"] == self.requester]


class Switch(Case):
    requester = "03:00.1"

    @classmethod
    def setUpClass(cls):
        redirect = "".join(control(port, REDIRECT) for port in PORTS)
        refuse = control(PORTS[0], EGRESS_CONTROL, 1 << 2)
        cls.without = cls.boot((), {
            "listing": "\n".join(f"lspci -vvv -s {at} > /share/{name}" for name, at in
                                 (("root", ROOT_PORT), ("upstream", "01:00.0"), ("port", PORTS[1]))) + "\n",
            "straight": "peers $1 $2\n",
            "redirected": redirect + "peers $1 $2\n",
            "refused": (refuse + f"lspci -vvv -s {PORTS[0]} > /share/port\npeers $1 $2\n"
                        f"lspci -vvv -s {PORTS[0]} > /share/after\n"),
            "back": refuse + "peers $2 $1\n",
        })
        cls.reachable = cls.boot(REACHABLE, {
            "straight": "peers $1 $2\n",
            "redirected": redirect + control(ROOT_PORT, UPSTREAM_FORWARDING) + "peers $1 $2\n",
            "not forwarded": redirect + "peers $1 $2\n",
        })

    def test_lspci_shows_what_each_port_has(self):
        files = {name: self.without["listing"].file(name) for name in ("root", "upstream", "port")}
        none = "SrcValid- TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-"
        self.assertIn("ACSCap:\tSrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-",
                      files["root"])
        self.assertIn("ACSCap:\tSrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl+ DirectTrans+",
                      files["port"])
        for name in ("root", "port"):
            self.assertIn("ACSCtl:\t" + none, files[name])
        self.assertNotIn("Access Control Services", files["upstream"])
        self.assertIn("AtomicOpsCap: Routing+", files["upstream"])
        self.assertRegex(files["port"], r"DevCap2:(?s:.)*ARIFwd\+")
        self.assertIn("AtomicOpsCap: Routing+", files["port"])
        self.assertRegex(files["port"], r"DevCtl2:(?s:.)*ARIFwd\+")

    def test_they_reach_each_other_past_the_host(self):
        for children in (self.without, self.reachable):
            child = children["straight"]
            self.assertEqual(child.file("peers"), "read arrives, write arrives\n")
            self.assertEqual(self.route(child), [("sw0_ipu0", "up"), ("sw0_ipu1", "down")])
            self.assertEqual(child.file("dmesg"), "")

    def test_what_is_redirected_ends_at_a_host_that_does_not_reflect_it(self):
        for child in (self.without["redirected"], self.reachable["not forwarded"]):
            self.assertEqual(child.file("peers"), "read refused, write lost\n")
            self.assertEqual(self.route(child), [("sw0_ipu0", "up"), ("host_sw0", "up")])
            said = child.file("dmesg")
            self.assertIn(ERROR + ROOT_PORT, said)
            self.assertIn("[20] UnsupReq               (First)", said)

    def test_what_is_redirected_comes_back_by_the_root_complex(self):
        child = self.reachable["redirected"]
        self.assertEqual(child.file("peers"), "read arrives, write arrives\n")
        self.assertEqual(self.route(child), [("sw0_ipu0", "up"), ("host_sw0", "up"), ("host_sw0", "down"),
                                           ("sw0_ipu1", "down")])
        self.assertEqual(child.file("dmesg"), "")

    def test_what_is_out_of_bounds_is_a_violation(self):
        child = self.without["refused"]
        self.assertRegex(child.file("port"), r"ACSCtl:.* EgressCtrl\+")
        self.assertEqual(child.file("peers"), "read refused, write lost\n")
        self.assertEqual(self.route(child), [("sw0_ipu0", "up")])
        said = child.file("dmesg")
        self.assertIn(ERROR + PORTS[0], said)
        self.assertIn("[21] ACSViol                (First)", said)
        address = int(child.file("target"), 16) + 8
        self.assertRegex(child.file("after"),
                         rf"HeaderLog: 60000002 0301\w\wff {address >> 32:08x} {address & 0xffffffff:08x}")
        self.assertEqual(self.without["back"].file("peers"), "read arrives, write arrives\n")


class Poisoned(Case):
    """Poisoned data does not reach a card if its egress is blocked, which the kernel's DPC driver finds enabled."""

    @classmethod
    def setUpClass(cls):
        # The first write puts the value that was read into memory.
        inject = "vpctl inject sw0_ipu0.up poisoned_tlp MWr 2\npeers $1 $2\n"
        # The kernel has enabled containment for fatal errors, and its interrupt. AER is at 0x100; bit 26 of its mask is clear.
        block = f"""
dpc=0x$(lspci -s {PORTS[1]} -vv | sed -n 's/.*\\[\\([0-9a-f]*\\) v.*Downstream Port Containment.*/\\1/p')
poke() {{ printf "\\\\$2" | dd of=/sys/bus/pci/devices/{PORTS[1]}/config bs=1 seek=$(($1)) conv=notrunc status=none; }}
poke 0x10b 000
poke $((dpc + 6)) 051
"""
        cls.children = cls.boot(("--set", "pcie_links[2].downstream_port_containment=true"),
                                {"passes": inject, "blocked": block + inject})

    def test_the_target_refuses_what_arrives(self):
        child = self.children["passes"]
        self.assertEqual(child.file("peers"), "read arrives, write lost\n")
        self.assertIn(ERROR + "0000:04:00.", child.file("dmesg"))
        self.assertIn("[12] TLP                    (First)", child.file("dmesg"))

    def test_a_blocked_one_is_contained(self):
        child = self.children["blocked"]
        said = child.file("dmesg")
        self.assertIn(f"pcieport {PORTS[1]}: DPC: containment event, status:0x0001 source:0x0000", said)
        self.assertIn(f"pcieport {PORTS[1]}: DPC: unmasked uncorrectable error detected", said)
        self.assertIn("[26] PoisonTLPBlocked       (First)", said)
        self.assertNotIn("[12]", said)


class RootPorts(Case):
    """The second card is below another root port."""
    requester = "03:00.1"

    @classmethod
    def setUpClass(cls):
        options = ("--set", "pcie_links[2]={up: host, down: ipu1, generation: 4, lanes: 16}")
        cls.without = cls.boot(options, {"peers": "peers $1 $2\n"})["peers"]
        cls.reachable = cls.boot((*options, *REACHABLE), {
            "peers": f"lspci -vvv -s {ROOT_PORT} > /share/root\npeers $1 $2\n",
            "back": "peers $2 $1\n",
            "refused": control(ROOT_PORT, EGRESS_CONTROL, 1 << 2) + "peers $1 $2\n",
        })

    def test_without_the_key_it_is_refused(self):
        self.assertEqual(self.without.file("peers"), "read refused, write lost\n")
        self.assertEqual(self.route(self.without), [("sw0_ipu0", "up"), ("host_sw0", "up")])
        self.assertIn("[20] UnsupReq               (First)", self.without.file("dmesg"))

    def test_with_it_they_reach_each_other(self):
        child = self.reachable["peers"]
        self.assertEqual(child.file("peers"), "read arrives, write arrives\n")
        self.assertEqual(self.route(child), [("sw0_ipu0", "up"), ("host_sw0", "up"), ("host_ipu1", "down")])
        self.assertEqual(child.file("dmesg"), "")
        self.assertRegex(child.file("root"), r"ACSCap:.* EgressCtrl\+ DirectTrans\+")
        self.assertIn("AtomicOpsCap: Routing+ 32bit+ 64bit+ 128bitCAS+", child.file("root"))
        self.assertEqual(self.reachable["back"].file("peers"), "read arrives, write arrives\n")

    def test_access_control_of_the_root_port_refuses_it(self):
        child = self.reachable["refused"]
        self.assertEqual(child.file("peers"), "read refused, write lost\n")
        self.assertIn(ERROR + ROOT_PORT, child.file("dmesg"))
        self.assertIn("[21] ACSViol                (First)", child.file("dmesg"))


if __name__ == "__main__":
    machine.main()
