#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Mistakes in a block or in a call of oae_vp_add_rtl_kind() are reported with their place and a remedy.

Usage: rtl_kind_test.py [GROUP[.CASE]]...
"""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

KIND = pathlib.Path(__file__).resolve().parents[4] / "models" / "axi" / "kind"
VERILATOR = os.environ.get("VERILATOR", "verilator")
CMAKE = os.environ.get("CMAKE", "cmake")

REGISTERS = """\
  input clk, input rst_n,
  input s_axi_awvalid, output s_axi_awready, input [11:0] s_axi_awaddr,
  input s_axi_wvalid, output s_axi_wready, input [31:0] s_axi_wdata, input [3:0] s_axi_wstrb,
  output s_axi_bvalid, input s_axi_bready, output [1:0] s_axi_bresp,
  input s_axi_arvalid, output s_axi_arready, input [11:0] s_axi_araddr,
  output s_axi_rvalid, input s_axi_rready, output [31:0] s_axi_rdata, output [1:0] s_axi_rresp"""

WRITE = """,
  output m_axi_awvalid, input m_axi_awready, output [5:0] m_axi_awid, output [39:0] m_axi_awaddr, output [7:0] m_axi_awlen,
  output [2:0] m_axi_awsize, output [1:0] m_axi_awburst,
  output m_axi_wvalid, input m_axi_wready, output [127:0] m_axi_wdata, output [15:0] m_axi_wstrb, output m_axi_wlast,
  input m_axi_bvalid, output m_axi_bready, input [5:0] m_axi_bid, input [1:0] m_axi_bresp"""

READ = """,
  output m_axi_arvalid, input m_axi_arready, output [39:0] m_axi_araddr, output [7:0] m_axi_arlen,
  output [2:0] m_axi_arsize, output [1:0] m_axi_arburst,
  input m_axi_rvalid, output m_axi_rready, input [127:0] m_axi_rdata, input [1:0] m_axi_rresp, input m_axi_rlast"""


class Case(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="oae-vp-")
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)

    def write(self, name, content):
        (self.folder / name).write_text(content)
        return self.folder / name


class Generator(Case):
    """generate-rtl-kind, which the function calls when the program is built."""

    OPTIONS = {"--name": "mine", "--top": "block", "--prefix": "Vmine_kind", "--clock": "clk", "--clock-frequency": "250MHz",
               "--reset": "rst_n", "--registers": "s_axi", "--id": "f0ae:0c00", "--caller": "CMakeLists.txt"}

    def generate(self, ports, *more, body="", **options):
        """Returns the exit code, the messages, and the source that was written."""
        source = self.write("block.sv", f"module block (\n{ports}\n);\n{body}\nendmodule\n")
        output = self.folder / "kind.cpp"
        output.unlink(missing_ok=True)
        arguments = {**self.OPTIONS, **{f"--{key.replace('_', '-')}": value for key, value in options.items()}}
        command = [KIND / "generate-rtl-kind", "--verilator", VERILATOR, "--output", output, *more,
                   f"--verilator-argument={source}"]
        for option, value in arguments.items():
            command += [option, value]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        written = output.read_text() if output.exists() else ""
        self.assertEqual(done.returncode == 0, bool(written), done.stderr)
        return done.returncode, done.stderr, written

    def refuse(self, ports, place, text, remedy, *more, **options):
        """Expects one mistake, at this place or at the pin of this name."""
        code, messages, _ = self.generate(ports, *more, **options)
        if place in re.findall(r"\w+", ports):
            before = f"module block (\n{ports}"[:re.search(rf"\b{place}\b", ports).start() + len("module block (\n")]
            place = f"block.sv:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
        self.assertEqual(code, 1, messages)
        self.assertEqual(messages.count("error:"), 1, messages)
        self.assertIn(f"{place}: error: {text}", messages.replace(f"{self.folder}/", ""))
        self.assertIn(remedy, messages.split("remedy:")[1])

    def test_registers_alone(self):
        code, messages, source = self.generate(REGISTERS)
        self.assertEqual(code, 0, messages)
        for line in ("#include <Vmine_kind.h>", "clock_ = axi::Pin(top->clk, 1);", "pins.reset_level = false;",
                     "pins.registers.awaddr = axi::Pin(top->s_axi_awaddr, 12);",
                     "pins.registers.wdata = axi::Bus(top->s_axi_wdata, 32);"):
            self.assertIn(line, source)
        self.assertNotIn("pins.write", source)
        self.assertNotIn("pins.idle", source)
        self.assertIn('block_type{"mine", 250000000u, 0xf0ae, 0x0c00, 0x120000,\n'
                      "                          0x1000u, 0, false, make_block}", source)

    def test_everything(self):
        ports = REGISTERS.replace("clk", "aclk").replace("rst_n", "reset").replace("s_axi", "cfg") + WRITE + READ
        code, messages, source = self.generate(
            ports + ", output [32:0] irq, output quiet, input [39:0] strap, input scan, input [2:0] cfg_awprot,"
            " output [3:0] m_axi_awcache", "--reset-active-high", "--level", "--tie", "strap=0x8000000000", "--tie", "scan=1",
            clock="aclk", reset="reset", registers="cfg", dma="m_axi", interrupts="irq", idle="quiet", bar_size="2MiB",
            class_code="020000", clock_frequency="1.5GHz", text="My own block")
        self.assertEqual(code, 0, messages)
        for line in ("pins.reset_level = true;", "pins.interrupts = axi::Bus(top->irq, 33);", "pins.idle = axi::Pin(top->quiet, 1);",
                     "pins.write.wstrb = axi::Bus(top->m_axi_wstrb, 16);", "pins.write.bid = axi::Pin(top->m_axi_bid, 6);",
                     "pins.read.rdata = axi::Bus(top->m_axi_rdata, 128);", "top->strap = 0x8000000000ull;", "top->scan = 0x1u;",
                     "0x020000,", "0x200000u, 33, true", "1500000000u", '"My own block"'):
            self.assertIn(line, source)
        self.assertNotIn("awprot", source)
        self.assertNotIn("awcache", source)
        self.assertNotIn("arid", source)

    def test_one_half_of_a_master_is_enough(self):
        code, messages, source = self.generate(REGISTERS + READ, dma="m_axi")
        self.assertEqual(code, 0, messages)
        self.assertIn("pins.read.arvalid", source)
        self.assertNotIn("pins.write", source)

    def test_types_with_bits(self):
        """A struct, an enumeration, and an array of vectors are as wide as their bits."""
        self.write("types.svh", "")
        ports = REGISTERS.replace("input [31:0] s_axi_wdata", "input logic [3:0][7:0] s_axi_wdata").replace(
            "output [1:0] s_axi_bresp", "output resp_t s_axi_bresp")
        source = "typedef enum logic [1:0] {OKAY, EXOKAY, SLVERR, DECERR} resp_t;\n"
        self.write("types.sv", source)
        code, messages, _ = self.generate(ports, f"--verilator-argument={self.folder}/types.sv")
        self.assertEqual(code, 0, messages)

    def test_missing_pin(self):
        self.refuse(REGISTERS.replace("input [3:0] s_axi_wstrb,", "input [3:0] s_axi_wstrobe,"),
                    "block.sv:1:8", "the module `block` has no pin `s_axi_wstrb`",
                    "add `input logic [3:0] s_axi_wstrb` to its ports, or name another pin or prefix by REGISTERS; "
                    "did you mean `s_axi_wstrobe`?", "--tie", "s_axi_wstrobe=0")
        self.refuse(REGISTERS, "block.sv:1:8", "the module `block` has no pin `quiet`", "add `output logic quiet`", idle="quiet")
        self.refuse(REGISTERS, "block.sv:1:8", "the module `block` has no pin `irq`", "output logic [N-1:0] irq", interrupts="irq")
        self.refuse(REGISTERS, "block.sv:1:8", "the module `block` has no pin `m_axi_awvalid`", "by DMA", dma="m_axi")
        self.refuse(REGISTERS + WRITE.replace("input [5:0] m_axi_bid,", ""), "block.sv:1:8",
                    "the module `block` has no pin `m_axi_bid`", "`input logic [5:0] m_axi_bid`", dma="m_axi")
        self.refuse(REGISTERS + WRITE.replace("output [5:0] m_axi_awid,", ""), "block.sv:1:8",
                    "the module `block` has no pin `m_axi_awid`", "m_axi_awid", dma="m_axi")

    def test_pin_of_a_wrong_width(self):
        self.refuse(REGISTERS.replace("[3:0] s_axi_wstrb", "[7:0] s_axi_wstrb"), "s_axi_wstrb",
                    "the pin `s_axi_wstrb` has 8 bits, and REGISTERS needs 4, one for each byte of `s_axi_wdata`",
                    "declare it as `input logic [3:0] s_axi_wstrb`")
        self.refuse(REGISTERS.replace("[11:0] s_axi_araddr", "[15:0] s_axi_araddr"), "s_axi_araddr",
                    "the pin `s_axi_araddr` has 16 bits, and REGISTERS needs 12, as `s_axi_awaddr`", "[11:0] s_axi_araddr")
        # The strobes follow from the data, so that they are not reported, too.
        self.refuse(REGISTERS.replace("[31:0] s_axi_wdata", "[47:0] s_axi_wdata"), "s_axi_wdata",
                    "the pin `s_axi_wdata` has 48 bits, and REGISTERS needs 32 or 64", "N is 32 or 64")
        self.refuse(REGISTERS + WRITE.replace("[2:0] m_axi_awsize", "[1:0] m_axi_awsize"), "m_axi_awsize",
                    "the pin `m_axi_awsize` has 2 bits, and DMA needs 3", "[2:0] m_axi_awsize", dma="m_axi")
        self.refuse(REGISTERS + ", output [1:0] quiet", "quiet", "the pin `quiet` has 2 bits, and IDLE needs 1",
                    "`output logic quiet`", idle="quiet")

    def test_pin_of_a_wrong_direction(self):
        self.refuse(REGISTERS.replace("output s_axi_awready", "input s_axi_awready"), "s_axi_awready",
                    "the pin `s_axi_awready` is an input, and REGISTERS needs an output", "`output logic s_axi_awready`")
        self.refuse(REGISTERS + ", inout pad", "pad", "the pin `pad` is an inout", "an input and an output")

    def test_pin_without_bits(self):
        self.refuse(REGISTERS + ", output real irq", "irq", "the pin `irq` is an array or has a type without bits",
                    "[N-1:0] irq", interrupts="irq")
        code, messages, source = self.generate(REGISTERS + ", output real level, output int irq", interrupts="irq")
        self.assertEqual(code, 0, messages)
        self.assertIn("axi::Bus(top->irq, 32)", source)
        self.refuse(REGISTERS + ", output logic irq [2]", "irq", "the pin `irq` is an array", "[N-1:0] irq", interrupts="irq")

    def test_input_that_nothing_drives(self):
        for pin in ("input real level", "input shortreal level", "input string level", "input chandle level",
                    "input level [2]"):
            self.refuse(f"{REGISTERS}, {pin}", "level", "the pin `level` is an array or has a type without bits, which nothing "
                        "drives", "declare it as `input logic [N-1:0] level`, or make it a parameter")
        self.refuse(REGISTERS + ", input scan", "scan", "nothing drives the pin `scan`", "TIE scan=0")

    def test_constants(self):
        ports = REGISTERS + ", input [2:0] scan, output result"
        self.refuse(ports, "scan", "the pin `scan` has 3 bits, and TIE gives it 8", "fits", "--tie", "scan=8")
        for value in ("7", "007", "0x7", "0X07"):
            with self.subTest(value=value):
                code, messages, source = self.generate(ports, "--tie", f"scan={value}")
                self.assertEqual(code, 0, messages)
                self.assertIn("top->scan = 0x7u;", source)
        ports = REGISTERS + ", output result"
        self.refuse(ports, "result", "the pin `result` cannot have a constant, since it is no input", "remove",
                    "--tie", "result=0")
        self.refuse(ports, "s_axi_awvalid", "the pin `s_axi_awvalid` cannot have a constant, since it is driven", "remove",
                    "--tie", "s_axi_awvalid=0")
        self.refuse(ports, "block.sv:1:8", "the module `block` has no pin `scan`", "input logic scan", "--tie", "scan=0")

    def test_random_numbers_of_all_blocks(self):
        """Verilator has one sequence for all blocks, so that runs with other blocks would differ."""
        for statement in ("q = $random;", "q = $random(seed);", "q = $urandom;", "q = $urandom(3);", "q = $urandom_range(9, 3);",
                          "q = 0; randcase 1: q = 1; 2: q = 2; endcase"):
            with self.subTest(statement=statement):
                column = len("int q, seed; always @(posedge clk) begin ") + re.search(r"\$u?random|randcase", statement).start() + 1
                self.refuse(REGISTERS, f"block.sv:9:{column}", "the block `block` draws random numbers from the sequence",
                            "linear-feedback shift register", body=f"int q, seed; always @(posedge clk) begin {statement} end")
        code, messages, _ = self.generate(REGISTERS, body="int q, seed = 3; always @(posedge clk) q = $dist_uniform(seed, 0, 9);")
        self.assertEqual(code, 0, messages)

    def test_random_objects(self):
        code, messages, _ = self.generate(REGISTERS, body="class C; rand int x; endclass\nC c; initial void'(c.randomize());")
        self.assertEqual(code, 1)
        self.assertIn("block.sv:9:1: error: the block `block` draws random numbers", messages.replace(f"{self.folder}/", ""))

    def test_all_mistakes_at_once(self):
        code, messages, _ = self.generate(REGISTERS.replace("clk", "clock") + ", input scan", idle="quiet")
        self.assertEqual(code, 1)
        for text in ("no pin `clk`", "no pin `quiet`", "nothing drives the pin `clock`", "nothing drives the pin `scan`"):
            self.assertIn(text, messages)
        self.assertEqual(messages.count("remedy:"), 4, messages)

    def test_sources_that_verilator_refuses(self):
        code, messages, _ = self.generate(REGISTERS, body="assign nothing = ;")
        self.assertEqual(code, 1)
        self.assertIn("block.sv:9:", messages)
        self.assertIn("CMakeLists.txt: Verilator refuses the sources of the kind `mine`", messages)

    def test_addresses_from_which_no_size_follows(self):
        ports = REGISTERS.replace("[11:0]", "[31:0]")
        self.refuse(ports, "CMakeLists.txt", "oae_vp_add_rtl_kind(mine): the registers have addresses of 32 bits", "BAR_SIZE 64KiB")
        code, messages, source = self.generate(ports, bar_size="64KiB")
        self.assertEqual(code, 0, messages)
        self.assertIn("0x10000u", source)

    def test_values_of_options(self):
        for option, value, remedy in (
                ("name", "Mine", "lower-case"), ("clock_frequency", "250", "250MHz"), ("clock_frequency", "11GHz", "10GHz"),
                ("clock_frequency", "0.3Hz", "1kHz"), ("bar_size", "100KiB", "a power of two"), ("bar_size", "2KiB", "4KiB"),
                ("bar_size", "64", "64KiB"), ("id", "f0ae", "f0ae:0c00"), ("class_code", "12", "120000"), ("text", 'a "b"', "without"),
                ("text", "a\nb", "in one line"), ("text", "a\rb", "in one line")):
            with self.subTest(option=option, value=value):
                code, messages, _ = self.generate(REGISTERS, **{option: value})
                self.assertEqual(code, 1)
                self.assertIn(f"CMakeLists.txt: error: oae_vp_add_rtl_kind({'Mine' if option == 'name' else 'mine'}): "
                              f"{option.upper()} ", messages)
                self.assertIn(remedy, messages.split("remedy:")[1])
        code, messages, _ = self.generate(REGISTERS, "--tie", "scan=high")
        self.assertIn("TIE has the value `scan=high`", messages)


class Function(Case):
    """oae_vp_add_rtl_kind() outside of the tree, where oae_vp_add_plugin() makes the library."""

    GOOD = "TOP block\nSOURCES block.sv\nCLOCK_FREQUENCY 250MHz\nID f0ae:0c00\n"

    def configure(self, call, languages="NONE", before=""):
        self.write("block.sv", f"module block (\n{REGISTERS}\n);\nendmodule\n")
        self.write("block.txt", "")
        self.write("CMakeLists.txt", f"""\
cmake_minimum_required(VERSION 3.25)
project(mine {languages})
function(oae_vp_add_plugin target)
  message(STATUS "plugin ${{target}} of ${{ARGN}}")
  add_library(${{target}} MODULE ${{ARGN}})
endfunction()
{before}
include({KIND}/rtl_kind.cmake)
oae_vp_add_rtl_kind({call})
""")
        done = subprocess.run([CMAKE, "-S", self.folder, "-B", self.folder / "build", f"-DVERILATOR={VERILATOR}"],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, " ".join(done.stderr.split())

    def refuse(self, call, *texts, **more):
        code, _, messages = self.configure(call, **more)
        self.assertNotEqual(code, 0)
        for text in texts:
            self.assertIn(text, messages)

    def test_it_makes_a_plugin(self):
        code, messages, errors = self.configure("mine " + self.GOOD, languages="CXX")
        self.assertEqual(code, 0, errors)
        self.assertIn(f"plugin mine_kind of {self.folder}/build/mine_kind.cpp", messages)

    def test_unknown_option(self):
        self.refuse(f"mine {self.GOOD} CLOK clk", "unknown option `CLOK`", "remedy: the options are RESET_ACTIVE_HIGH BAR_SIZE")
        self.refuse("mine TOP block SOURCES block.sv CLOK clk", "unknown option `CLOK`")

    def test_text(self):
        self.refuse(f'mine {self.GOOD} TEXT "one;two"', "`two` belongs to no option", "write TEXT without `;`")
        self.refuse(f"mine {self.GOOD} TEXT one two", "`two` belongs to no option", "in quotes if it has blanks")
        self.refuse(f'mine {self.GOOD} TEXT "one\ntwo"', "TEXT has the end of a line", "remedy: write it in one line")

    def test_kinds_with_similar_names_have_classes_of_their_own(self):
        """All of them become part of one program."""
        names = ("a-b", "a_b", "a--b", "a__b")
        calls = ")\noae_vp_add_rtl_kind(".join(f"{name} {self.GOOD}" for name in names)
        code, _, errors = self.configure(calls, languages="CXX")
        self.assertEqual(code, 0, errors)
        commands = "".join(file.read_text() for file in self.folder.glob("build/CMakeFiles/*/build.make"))
        self.assertEqual(len(set(re.findall(r"-DPREFIX=(\w+)", commands))), len(names), commands)
        self.assertEqual(set(re.findall(r"-DPREFIX=(\w+)", commands)), set(re.findall(r"--prefix (\w+)", commands)))

    def test_missing_option_or_value(self):
        for option in ("TOP", "SOURCES", "CLOCK_FREQUENCY", "ID"):
            left = "\n".join(line for line in self.GOOD.splitlines() if not line.startswith(option))
            self.refuse(f"mine {left}", f"oae_vp_add_rtl_kind(mine): {option} is missing", "remedy: add it")
        self.refuse(f"mine {self.GOOD} IDLE", "IDLE has no value")

    def test_bad_value(self):
        self.refuse(f"mine {self.GOOD} INTERRUPT_TRIGGER BOTH", "INTERRUPT_TRIGGER has the value `BOTH`", "EDGE or LEVEL")
        self.refuse(f"mine {self.GOOD} PARAMETERS depth", "PARAMETERS has the value `depth`", "NAME=VALUE")
        self.refuse(f"mine {self.GOOD} BAR_SIZE 3KiB", "BAR_SIZE has the value `3KiB`", "a power of two")
        self.refuse(f"Mine {self.GOOD}", "NAME is not a name of a kind")

    def test_bad_source(self):
        self.refuse(f"mine {self.GOOD.replace('block.sv', 'absent.sv')}", "there is no file", "absent.sv", "correct SOURCES")
        self.refuse(f"mine {self.GOOD.replace('block.sv', 'block.txt')}", "block.txt is neither Verilog nor SystemVerilog")

    def test_other_verilator(self):
        self.refuse(f"mine {self.GOOD}", "OAE-VP was built with 4.038", "remedy: install that version",
                    before="set(OaeVp_VERILATOR_VERSION 4.038)")


if __name__ == "__main__":
    unittest.main()
