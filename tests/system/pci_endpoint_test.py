# SPDX-License-Identifier: Apache-2.0
"""Linux's driver pci_endpoint_test and its program pcitest, both from the kernel's source, pass on function 1."""
import json
import re

import machine

SIZES = (1, 1024, 1025, 1024000, 1024001)  # those of the kernel's pcitest.sh
TYPES = {"intx": 0, "msi": 1, "msi_x": 2}
VECTORS = 128  # MSI-X vectors; a vCPU has about 200 vectors for all devices
DEVICE = "/sys/bus/pci/devices/0000:01:00.1"

BIND = f"""
dmesg -c > /dev/null
modprobe pci_endpoint_test
echo pci-endpoint-test > {DEVICE}/driver_override
echo 0000:01:00.1 > /sys/bus/pci/drivers_probe
try() {{ # NAME OPTION...: what pcitest says, which fails if its test does
  name=$1; shift
  pcitest "$@" >> /share/$name || true
}}
"""


def options(**values):
    values = {"present": "true", **values}
    return [word for key, value in values.items()
            for word in ("--set", f"ipus[0].endpoint.test_function.{key}={value}")]


def results(text):
    """Returns the results of pcitest: {test: OKAY, NOT OKAY, or TEST FAILED}."""
    return dict(re.fullmatch(r"(.*?):\t+(.*)", line).groups() for line in text.splitlines())


def transfers(sizes=SIZES):
    return {f"{what} ({size:7d} bytes)": "OKAY" for what in ("READ", "WRITE", "COPY") for size in sizes}


class Pcitest(machine.TestCase):
    """Runs the cases of pcitest.sh in one boot."""

    @classmethod
    def setUpClass(cls):
        script = BIND + "".join(f"try bars -b {bar}\n" for bar in range(6))
        script += "try intx -i 0\ntry intx -l\n"
        script += "try msi -i 1\nlspci -vv -s 01:00.1 > /share/granted\n"
        script += "".join(f"try msi -m {number}\n" for number in range(1, 33))
        script += "try msi_x -i 2\n"
        script += "".join(f"try msi_x -x {number}\n" for number in range(1, VECTORS + 2))
        for name, number in TYPES.items():
            script += f"try {name}.transfers -i {number}\n"
            script += "".join(f"try {name}.transfers -{what} -s {size}\n" for what in "rwc" for size in SIZES)
        # The function is fastest only if its driver permits it.
        script += f"""
          try apart -i 2; try apart -m 1; try apart -l; try apart -i 1; try apart -x 1
          for method in flr pm; do
            echo $method > {DEVICE}/reset_method
            echo 1 > {DEVICE}/reset
            try $method -i 2; try $method -x 3; try $method -b 5; try $method -c -s 4097
          done
          oae bench --count 5 > /share/bench
          dmesg -r > /share/dmesg
        """
        cls.run_ = machine.Run(*options(msi_x_vectors=VECTORS), script=script).finish()
        assert cls.run_.code == 0, cls.run_

    def said(self, name):
        return results(self.run_.file(name))

    def test_all_bars(self):
        self.assertEqual(self.said("bars"), {f"BAR{bar}": "OKAY" for bar in range(6)})

    def test_intx(self):
        self.assertEqual(self.said("intx"), {"SET IRQ TYPE TO LEGACY": "OKAY", "LEGACY IRQ": "OKAY"})

    # Linux on x86 without interrupt remapping grants one MSI vector. Tests of the model cover the others.
    def test_every_msi_vector_that_the_kernel_grants(self):
        self.assertIn("MSI: Enable+ Count=1/32 Maskable+ 64bit+", self.run_.file("granted"))
        expected = {f"MSI{number}": "OKAY" if number == 1 else "NOT OKAY" for number in range(1, 33)}
        self.assertEqual(self.said("msi"), {"SET IRQ TYPE TO MSI": "OKAY", **expected})

    def test_every_msi_x_vector_and_none_behind(self):
        expected = {f"MSI-X{number}": "OKAY" for number in range(1, VECTORS + 1)}
        self.assertEqual(self.said("msi_x"), {"SET IRQ TYPE TO MSI-X": "OKAY", **expected,
                                              f"MSI-X{VECTORS + 1}": "NOT OKAY"})

    def test_transfers_of_all_sizes_end_with_interrupts_of_all_types(self):
        for name, type_ in (("intx", "LEGACY"), ("msi", "MSI"), ("msi_x", "MSI-X")):
            self.assertEqual(self.said(f"{name}.transfers"), {f"SET IRQ TYPE TO {type_}": "OKAY", **transfers()}, name)

    def test_an_interrupt_of_a_type_that_is_not_enabled_does_not_come(self):
        self.assertEqual(self.said("apart"), {
            "SET IRQ TYPE TO MSI-X": "OKAY", "MSI1": "NOT OKAY", "LEGACY IRQ": "NOT OKAY",
            "SET IRQ TYPE TO MSI": "OKAY", "MSI-X1": "NOT OKAY"})

    def test_it_works_after_resets(self):
        for method in ("flr", "pm"):
            self.assertEqual(self.said(method), {"SET IRQ TYPE TO MSI-X": "OKAY", "MSI-X3": "OKAY", "BAR5": "OKAY",
                                                 "COPY (   4097 bytes)": "OKAY"}, method)

    def test_the_other_function_works_beside_it(self):
        self.assertIn("committed 5 of 5", self.run_.file("bench"))

    def test_the_kernel_has_nothing_to_complain_of(self):
        self.assertEqual(machine.kernel_messages(self.run_.file("dmesg"), 4), [])


class AllVectors(machine.TestCase):
    """Uses the most MSI-X vectors, and the fewest processors that can receive them."""

    def test_the_kernel_gets_all_and_they_arrive(self):
        powers = [2**power for power in range(12)]
        numbers = sorted({power + offset for power in powers for offset in (-1, 0, 1)} - {0, 2049})
        run = self.succeed(*options(msi_x_vectors=2048), "--set", "hosts[0].vcpus=11", script=BIND + "try said -i 2\n" +
                           "".join(f"try said -x {number}\n" for number in numbers) +
                           "grep -c pci-endpoint-test /proc/interrupts > /share/granted\n")
        self.assertEqual(int(run.file("granted")), 2048)
        self.assertEqual(results(run.file("said")), {
            "SET IRQ TYPE TO MSI-X": "OKAY", **{f"MSI-X{number}": "OKAY" for number in numbers}})


class AnyOrder(machine.TestCase):
    """The data is right whatever PCIe lets the host and the card choose."""

    def test_transfers_with_completions_that_are_cut_and_mixed(self):
        completions = "{split: true, spread: 700ns}"
        run = machine.Run(*options(), "--set", f"hosts[0].root_complex.completions={completions}",
                          "--set", f"ipus[0].endpoint.completions={completions}",
                          "--set", "ipus[0].endpoint.aligned_requests=false",
                          script=BIND + "try said -i 2\n" + "".join(
                              f"try said -{what} -s {size}\n" for what in "rwc" for size in SIZES) +
                          "oae bench --count 5 > /share/bench\n")
        stats = run.folder / "stats.json"
        run.command += ["--stats", str(stats)]
        run.finish()
        self.assertEqual(run.code, 0, run)
        self.assertEqual(results(run.file("said")), {"SET IRQ TYPE TO MSI-X": "OKAY", **transfers()})
        self.assertIn("committed 5 of 5", run.file("bench"))
        counters = json.loads(stats.read_text())["counters"]
        sent = {what: counters[f"host_ipu.down.CplD.{what}"] for what in ("tlps", "bytes")}
        # Two transfers of each size read host memory, and each 64 bytes of it are a packet.
        self.assertGreaterEqual(sent["bytes"], 2 * sum(SIZES))
        self.assertLessEqual(sent["bytes"], 64 * sent["tlps"])


class Quantum(machine.TestCase):
    """The data that the device makes, and the times at which it moves, are equal in every run."""

    def test_traces_are_equal_however_far_the_processor_runs_ahead(self):
        script = BIND + "".join(f"try said {words}\n" for words in (
            "-i 0", "-l", "-i 2", "-x 7", "-i 1", "-w -s 5000", "-c -s 9000"))
        runs = [self.succeed(*options(), "--set", f"simulation.max_quantum={quantum}", script=script, trace=True)
                for quantum in ("100us", "7us")]
        self.assertEqual(results(runs[0].file("said")), {
            "SET IRQ TYPE TO LEGACY": "OKAY", "LEGACY IRQ": "OKAY",
            "SET IRQ TYPE TO MSI-X": "OKAY", "MSI-X7": "OKAY", "SET IRQ TYPE TO MSI": "OKAY",
            "WRITE (   5000 bytes)": "OKAY", "COPY (   9000 bytes)": "OKAY"})
        self.assertListEqual(runs[0].trace, runs[1].trace)


if __name__ == "__main__":
    machine.main()
