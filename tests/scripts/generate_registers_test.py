#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/generate-registers: what it makes, and every mistake that it must name."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GENERATOR = ROOT / "scripts" / "generate-registers"

GOOD = """\
block: unit
title: A unit
size: 0x200
registers:
  - name: plain
    offset: 0x000
    access: rw
    text: Plain
    reset: 7
  - name: control
    offset: 0x008
    access: rw
    text: Control
    fields:
      - {name: mode, bits: 3..0, reset: 2, text: Mode, enum: mode}
      - {name: top, bits: 63, reset: 1, text: Top bit}
  - {name: port, offset: 0x100, count: 4, stride: 0x40, bytes: 0x40, access: ro, text: Ports}
enums:
  mode: {off: 0, on: 2}
"""


class Generator(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def run_on(self, *maps, output=True):
        files = []
        for n, content in enumerate(maps):
            files.append(self.path / f"map{n}.yaml")
            files[-1].write_text(content)
        command = [sys.executable, GENERATOR, *files]
        if output:
            command += ["--output", self.path / "out"]
        return subprocess.run(command, capture_output=True, text=True)

    def made(self, name):
        return (self.path / "out" / name).read_text()

    def defines(self):
        return dict(re.findall(r"#define (\S+) (.+)", self.made("oae_registers.h")))

    def parameters(self):
        found = re.findall(r"localparam (.+) (\w+) = (.+);", self.made("oae_registers.svh"))
        return {name: (kind, value) for kind, name, value in found}

    def refuse(self, old, new, line, message):
        self.assertIn(old, GOOD)
        self.refuse_map(GOOD.replace(old, new, 1), line, message)

    def refuse_map(self, content, line, message, *more):
        result = self.run_on(content, *more)
        self.assertNotEqual(result.returncode, 0, content)
        self.assertRegex(result.stderr, rf"map\d\.yaml:{line}:\d+: .*{message}")
        self.assertNotIn("Traceback", result.stderr)
        self.assertFalse((self.path / "out").exists(), "something was written")


class Output(Generator):
    def test_c_header(self):
        self.assertEqual(self.run_on(GOOD).returncode, 0)
        self.assertTrue(self.made("oae_registers.h").startswith(
            "/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */\n"))
        defines = self.defines()
        for name, value in {
            "OAE_UNIT_SIZE": "0x200",
            "OAE_UNIT_PLAIN": "0x0",
            "OAE_UNIT_PLAIN_RESET": "_OAE_U64(0x0000000000000007)",
            "OAE_UNIT_CONTROL": "0x8",
            "OAE_UNIT_CONTROL_RESET": "_OAE_U64(0x8000000000000002)",
            "OAE_UNIT_CONTROL_MODE_SHIFT": "0",
            "OAE_UNIT_CONTROL_MODE_WIDTH": "4",
            "OAE_UNIT_CONTROL_MODE_MASK": "_OAE_U64(0x000000000000000f)",
            "OAE_UNIT_CONTROL_TOP_SHIFT": "63",
            "OAE_UNIT_CONTROL_TOP_WIDTH": "1",
            "OAE_UNIT_CONTROL_TOP_MASK": "_OAE_U64(0x8000000000000000)",
            "OAE_UNIT_PORT": "0x100",
            "OAE_UNIT_PORT_STRIDE": "0x40",
            "OAE_UNIT_PORT_COUNT": "4",
            "OAE_UNIT_PORT_AT(n)": "(0x100 + (n) * 0x40)",
            "OAE_MODE_OFF": "0",
            "OAE_MODE_ON": "2",
        }.items():
            self.assertEqual(defines.get(name), value, name)
        self.assertNotIn("OAE_UNIT_PORT_RESET", defines)
        self.assertNotIn("OAE_UNIT_PLAIN_STRIDE", defines)

    def test_systemverilog_header(self):
        self.assertEqual(self.run_on(GOOD).returncode, 0)
        parameters = self.parameters()
        for name, value in {
            "UNIT_SIZE": ("int unsigned", "32'h200"),
            "UNIT_CONTROL": ("int unsigned", "32'h8"),
            "UNIT_CONTROL_RESET": ("logic [63:0]", "64'h8000000000000002"),
            "UNIT_CONTROL_TOP_SHIFT": ("int unsigned", "63"),
            "UNIT_CONTROL_TOP_MASK": ("logic [63:0]", "64'h8000000000000000"),
            "UNIT_PORT_STRIDE": ("int unsigned", "32'h40"),
        }.items():
            self.assertEqual(parameters.get(name), value, name)
        squeezed = " ".join(self.made("oae_registers.svh").split())
        self.assertIn("typedef enum logic [3:0] { MODE_OFF = 4'd0, MODE_ON = 4'd2 } mode_t;", squeezed)

    def test_headers_say_the_same(self):
        self.assertEqual(self.run_on(GOOD).returncode, 0)
        for name in self.parameters():
            self.assertIn("OAE_" + name, self.defines())

    def test_c_header_compiles_everywhere(self):
        self.assertEqual(self.run_on(GOOD).returncode, 0)
        use = ('#include "oae_registers.h"\n'
               "_Static_assert(OAE_GET(OAE_UNIT_CONTROL_RESET, OAE_UNIT_CONTROL_TOP) == 1, \"\");\n"
               "_Static_assert(OAE_PUT(OAE_UNIT_CONTROL_TOP, 1u) == 1ULL << 63, \"\");\n"
               "_Static_assert(OAE_PUT(OAE_UNIT_CONTROL_MODE, 0x12) == 2, \"\");\n"
               "_Static_assert(OAE_UNIT_PORT_AT(1 + 1) == 0x180, \"\");\n")
        assembler = '#include "oae_registers.h"\n.quad OAE_UNIT_CONTROL_RESET\n'
        for language, code in (("c", use), ("c++", use.replace("_Static_assert", "static_assert")),
                               ("assembler-with-cpp", assembler)):
            result = subprocess.run(
                ["cc", "-x", language, "-Wall", "-Wextra", "-Werror", "-c", "-I",
                 self.path / "out", "-o", self.path / "use.o", "-"],
                input=code, capture_output=True, text=True)
            self.assertEqual(result.returncode, 0, language + ": " + result.stderr)

    def test_right_files_are_left_alone(self):
        self.run_on(GOOD)
        before = (self.path / "out" / "oae_registers.h").stat().st_mtime_ns
        self.run_on(GOOD)
        self.assertEqual((self.path / "out" / "oae_registers.h").stat().st_mtime_ns, before)

    def test_check_writes_nothing(self):
        self.assertEqual(self.run_on(GOOD, output=False).returncode, 0)
        self.assertFalse((self.path / "out").exists())

    def test_maps_of_the_tree(self):
        maps = sorted((ROOT / "rtl" / "registers").glob("*.yaml"))
        result = self.run_on(*(m.read_text() for m in maps))
        self.assertEqual(result.returncode, 0, result.stderr)
        defines = self.defines()
        self.assertEqual(defines["OAE_SLOT_CRC"], "0x38")
        self.assertEqual(defines["OAE_HOST_ID_RESET"], "_OAE_U64(0x000000023145414f)")
        self.assertEqual(defines["OAE_FIRMWARE_COMMAND_AT(n)"], "(0x10040 + (n) * 0x100)")


class Mistakes(Generator):
    def test_keys(self):
        self.refuse("title: A unit\n", "titel: A unit\n", 2, "no key 'titel'; known are block")
        self.refuse("title: A unit\n", "", 1, "lacks 'title'")
        self.refuse("    reset: 7\n", "    reset: 7\n    reset: 7\n", 10, "stands twice")
        self.refuse("text: Top bit", "text: Top, bit", 16, "no key 'bit'")
        self.refuse("text: Ports", "text: Ports, sort: of", 17, "no key 'sort'")

    def test_values(self):
        self.refuse("size: 0x200", "size: big", 3, "must be a number")
        self.refuse("size: 0x200", "size: true", 3, "must be a number")
        self.refuse_map(GOOD.split("registers")[0] + "registers: []\n", 4, "list of at least one")
        self.refuse("size: 0x200", "size: -8", 3, "must be 0 to")
        self.refuse("text: Plain", "text: 5", 8, "must be text")
        self.refuse("name: plain", "name: Plain", 5, "lower case")
        self.refuse("access: rw", "access: readwrite", 7, "access must be one of")

    def test_places(self):
        self.refuse("offset: 0x008", "offset: 0x000", 10, "overlaps 'plain' at 0x0")
        self.refuse("offset: 0x008", "offset: 0x00c", 11, "multiple of 8")
        self.refuse("offset: 0x008", "offset: 0x1f8", 17, "overlaps 'control' at 0x1f8")
        self.refuse("size: 0x200", "size: 0x1f8", 17, "beyond the block")
        self.refuse("stride: 0x40", "stride: 0x38", 17, "elements overlap")
        self.refuse("stride: 0x40, ", "", 17, "go together")
        self.refuse("count: 4", "count: 0", 17, "at least 1")
        self.refuse("bytes: 0x40", "bytes: 0", 17, "at least 8")
        self.refuse("name: control", "name: plain", 10, "'plain' stands twice")

    def test_fields(self):
        self.refuse("bits: 63", "bits: 64", 16, "within 63..0")
        self.refuse("bits: 3..0", "bits: 0..3", 15, "within 63..0")
        self.refuse("bits: 3..0", "bits: 3-0", 15, "MSB..LSB")
        self.refuse("bits: 63", "bits: 3", 16, "overlap those of 'mode'")
        self.refuse("name: top", "name: mode", 16, "'mode' stands twice")
        self.refuse("reset: 2", "reset: 16", 15, "does not fit 4 bits")
        self.refuse("    text: Control\n", "    text: Control\n    reset: 1\n", 14, "from them")

    def test_enumerations(self):
        self.refuse("enum: mode", "enum: mood", 15, "no enumeration 'mood'")
        self.refuse("on: 2", "off: 2", 19, "'off' stands twice")
        self.refuse("on: 2", "on: 0", 19, "two enumerators")
        self.refuse("on: 2", "on: 16", 15, "does not fit 4 bits")
        self.refuse("{off: 0, on: 2}", "{}", 19, "at least one")

    def test_across_maps(self):
        other = GOOD.replace("block: unit", "block: other")
        self.refuse_map(GOOD, 19, "enumeration 'mode' stands twice", other)
        self.refuse_map(GOOD, 1, "block 'unit' stands twice", GOOD.split("enums")[0].replace(", enum: mode", ""))
        clash = GOOD.replace("  mode: {", "  unit_plain: {reset: 1}\n  mode: {")
        self.refuse_map(clash, 1, "UNIT_PLAIN_RESET is made twice")

    def test_not_yaml(self):
        self.refuse_map("", 1, "empty")
        self.refuse_map("- a\n", 1, "must be a mapping")
        self.refuse_map("block: [unit\n", 2, "")
        missing = subprocess.run([sys.executable, GENERATOR, self.path / "no.yaml"],
                                 capture_output=True, text=True)
        self.assertEqual((missing.returncode, "Traceback" in missing.stderr), (1, False))


if __name__ == "__main__":
    unittest.main()
