#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/generate-memory-map: what it makes, the mistakes that it names, and the places
which state an address of the map again because they cannot include the header."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GENERATOR = ROOT / "scripts" / "generate-memory-map"
REAL_MAP = ROOT / "models" / "ipu" / "memory_map.yaml"
REAL_REGISTERS = sorted((ROOT / "rtl" / "registers").glob("*.yaml"))

REGISTERS = """\
block: unit
title: A unit
size: 0x1000
registers:
  - {name: plain, offset: 0x000, text: Plain}
"""

GOOD = """\
map: memory_map
spaces:
  - name: soc
    text: Physical addresses
    size: 0x100000
    numbers:
      - {name: cores, value: 24, text: Most cores}
    regions:
      - {name: unit, base: 0x10000, block: unit, spi: 3, text: Unit}
      - {name: link, base: 0x20000, block: unit, count: 4, stride: 0x2000, spi: 5, text: Links}
      - {name: memory, base: 0x80000, size: 0x80000, text: Memory}
  - name: page_bar
    text: Pages
    bar: 2
"""


class Generator(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def run_on(self, content, *more):
        (self.path / "map.yaml").write_text(content)
        (self.path / "registers.yaml").write_text(REGISTERS)
        return subprocess.run([sys.executable, GENERATOR, self.path / "map.yaml",
                               self.path / "registers.yaml", *more], capture_output=True, text=True)

    def make(self, content=GOOD):
        result = self.run_on(content, "--output", self.path / "out")
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.defines()

    def defines(self):
        made = (self.path / "out" / "oae_memory_map.h").read_text()
        return dict(re.findall(r"#define (\S+?(?:\(n\))?) (.+)", made))

    def refuse(self, old, new, line, message):
        self.assertIn(old, GOOD)
        result = self.run_on(GOOD.replace(old, new, 1), "--output", self.path / "out")
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, rf"map\.yaml:{line}:\d+: .*{message}")
        self.assertNotIn("Traceback", result.stderr)
        self.assertFalse((self.path / "out").exists(), "something was written")


class Output(Generator):
    def test_a_region_has_its_base_the_size_of_its_block_and_its_interrupt(self):
        defines = self.make()
        self.assertEqual(defines["OAE_SOC_UNIT_BASE"], "0x10000")
        self.assertEqual(defines["OAE_SOC_UNIT_SIZE"], "OAE_UNIT_SIZE")
        self.assertEqual(defines["OAE_SOC_UNIT_SPI"], "3")
        self.assertEqual(defines["OAE_SOC_UNIT_INTID"], "35")

    def test_several_regions_have_a_count_and_an_address_by_number(self):
        defines = self.make()
        self.assertEqual(defines["OAE_SOC_LINK_COUNT"], "4")
        self.assertEqual(defines["OAE_SOC_LINK_AT(n)"], "(0x20000 + (n) * 0x2000)")

    def test_a_region_without_a_block_has_its_own_size(self):
        self.assertEqual(self.make()["OAE_SOC_MEMORY_SIZE"], "0x80000")

    def test_a_space_has_its_size_its_numbers_and_its_bar(self):
        defines = self.make()
        self.assertEqual(defines["OAE_SOC_SIZE"], "0x100000")
        self.assertEqual(defines["OAE_SOC_CORES"], "24")
        self.assertEqual(defines["OAE_PAGE_BAR"], "2")

    def test_an_equal_header_is_not_written_again(self):
        self.make()
        before = (self.path / "out" / "oae_memory_map.h").stat().st_mtime_ns
        self.make()
        self.assertEqual((self.path / "out" / "oae_memory_map.h").stat().st_mtime_ns, before)

    def test_without_output_the_map_is_only_checked(self):
        self.assertEqual(self.run_on(GOOD).returncode, 0)
        self.assertFalse((self.path / "out").exists())


class Mistakes(Generator):
    def test_regions_that_overlap(self):
        self.refuse("base: 0x10000,", "base: 0x26fff,", 10, "region 'link' overlaps 'unit'")

    def test_a_region_within_the_last_of_several(self):
        self.refuse("base: 0x80000, size: 0x80000", "base: 0x26800, size: 0x10", 11,
                    "region 'memory' overlaps 'link'")

    def test_a_region_beyond_its_space(self):
        self.refuse("size: 0x80000,", "size: 0x80001,", 11, "ends beyond its space")

    def test_an_unknown_block(self):
        self.refuse("block: unit, spi", "block: units, spi", 9, "there is no register block 'units'")

    def test_a_region_with_both_sizes(self):
        self.refuse("block: unit, spi", "size: 8, block: unit, spi", 9,
                    "either a size or a block")

    def test_an_interrupt_of_two_regions(self):
        self.refuse("spi: 3", "spi: 8", 10, "'unit' has interrupt 8 already")

    def test_a_stride_that_is_too_small(self):
        self.refuse("stride: 0x2000", "stride: 0x800", 10, "elements overlap")

    def test_a_count_without_a_stride(self):
        self.refuse("count: 4, stride: 0x2000", "count: 4", 10, "count and stride go together")

    def test_a_bar_that_does_not_exist(self):
        self.refuse("bar: 2", "bar: 6", 14, "bar must be 0 to 5")

    def test_a_name_that_is_made_twice(self):
        self.refuse("name: cores", "name: unit_base", 3, "OAE_SOC_UNIT_BASE is made twice")

    def test_an_unknown_key(self):
        self.refuse("spi: 3", "irq: 3", 9, "has no key 'irq'")


class Copies(Generator):
    def real(self):
        result = subprocess.run([sys.executable, GENERATOR, REAL_MAP, *REAL_REGISTERS, "--output",
                                 self.path / "out"], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.defines()

    def test_the_machine_in_qemu_has_the_same_addresses(self):
        defines = self.real()
        source = (ROOT / "vp/qemu/overlay/files/hw/arm/oae-ipu.c").read_text()
        copies = dict(re.findall(r"#define (\w+) (0x[0-9a-f]+|\d+)\n", source))
        for copy, name in (("GICD_BASE", "GIC_DISTRIBUTOR_BASE"),
                           ("GICR_BASE", "GIC_REDISTRIBUTOR_BASE"), ("SRAM_BASE", "SRAM_BASE"),
                           ("DRAM_BASE", "DRAM_BASE"), ("MAX_CORES", "CORES")):
            self.assertEqual(int(copies[copy], 0), int(defines["OAE_IPU_" + name], 0), copy)

    def test_the_firmware_is_linked_for_the_start_of_dram(self):
        source = (ROOT / "firmware/CMakeLists.txt").read_text()
        base = re.search(r"set\(FIRMWARE_RAM_BASE (\w+)", source)[1]
        self.assertEqual(int(base, 0), int(self.real()["OAE_IPU_DRAM_BASE"], 0))

    def test_the_readme_of_the_firmware_has_the_same_addresses(self):
        defines = self.real()
        found = re.findall(r"^\| 0x([0-9a-f]{4})_([0-9a-f]{4}) \|",
                           (ROOT / "firmware/README.md").read_text(), re.MULTILINE)
        stated = sorted(int(high + low, 16) for high, low in found)
        mapped = sorted(int(value, 16) for name, value in defines.items()
                        if name.startswith("OAE_IPU_") and name.endswith("_BASE"))
        self.assertEqual(stated, mapped)


if __name__ == "__main__":
    unittest.main()
