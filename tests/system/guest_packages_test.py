# SPDX-License-Identifier: Apache-2.0
"""Programs of Debian packages run in the guest, with the libraries that they depend on."""
import machine

SCRIPT = """
readlink -f /bin/ldb > /share/place
ldb --db=/tmp/db --create_if_missing put key value > /share/put
ldb --db=/tmp/db get key > /share/get
lspci > /share/lspci
oae bench --count 5 > /share/bench
"""


class GuestPackages(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = machine.Run(script=SCRIPT, packages="rocksdb-tools").finish()
        assert cls.run_.code == 0, cls.run_

    def test_a_program_runs_with_its_libraries(self):
        self.assertEqual(self.run_.file("place"), "/usr/bin/ldb\n")
        self.assertEqual(self.run_.file("put"), "OK\n")
        self.assertEqual(self.run_.file("get"), "value\n")

    def test_the_guests_own_programs_work_beside_them(self):
        self.assertIn("Processing accelerators: OAE-VP Open Atomic Ethernet block", self.run_.file("lspci"))
        self.assertIn("committed 5 of 5", self.run_.file("bench"))

    def test_versions_and_hashes_are_recorded(self):
        lines = (machine.PACKAGES / "rocksdb-tools/packages").read_text().splitlines()
        self.assertLess({"rocksdb-tools", "librocksdb7.8", "libstdc++6", "libc6"}, {line.split()[0] for line in lines})
        for line in lines:
            self.assertRegex(line, r"^[a-z0-9+.-]+ \S+ [0-9a-f]{64}$")


if __name__ == "__main__":
    machine.main()
