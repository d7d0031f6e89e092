# SPDX-License-Identifier: Apache-2.0
"""Disks of the kind `nvme` under load: a hundred forks of a machine keep what they write to themselves."""
import pathlib
import tempfile

import machine
from nvme_test import HEAD, DiskCase, image, sum_of


class Children(DiskCase):
    """A hundred forks of one machine write their own patterns to the same blocks of its disk, and to a block of their own."""

    COUNT = 100
    BLOCKS = 256  # of the disk, of 512 bytes; a pattern has two

    @classmethod
    def setUpClass(cls):
        cls.content = image(3, cls.BLOCKS * 512)
        scripts = {number: HEAD + f"""
dd if=/share/patterns of=$disk bs=1024 skip={number} seek=3 count=1 conv=notrunc,fsync
dd if=/share/patterns of=$disk bs=1024 skip={number} seek={number + 10} count=1 conv=notrunc,fsync
forget
sum $disk > /share/sum
""" for number in range(cls.COUNT)}
        with tempfile.TemporaryDirectory(prefix="oae-vp-") as folder:
            file = pathlib.Path(folder) / "disk.img"
            file.write_bytes(cls.content)
            cls.run_ = machine.Children("--set", f"devices[0].namespaces=[{{image: {file}, cache: 64KiB}}]", "--jobs", "2",
                                        platform="disk", scripts=scripts, check_rtl=False)
            cls.patterns = image(4, cls.COUNT * 1024)
            (cls.run_.share / "patterns").write_bytes(cls.patterns)
            cls.run_.finish()
            cls.image_afterwards = file.read_bytes()

    def test_each_sees_its_own_data(self):
        self.assertEqual(len(self.run_.children), self.COUNT, self.run_)
        for number, child in self.run_.children.items():
            self.assertEqual(child.code, 0, child)
            expected = bytearray(self.content)
            pattern = self.patterns[1024 * number:1024 * (number + 1)]
            expected[3 * 1024:4 * 1024] = pattern
            expected[(number + 10) * 1024:(number + 11) * 1024] = pattern
            self.assertEqual(child.file("sum").strip(), sum_of(expected), number)

    def test_the_image_is_unchanged(self):
        self.assertEqual(sum_of(self.image_afterwards), sum_of(self.content))


if __name__ == "__main__":
    machine.main()
