#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what scripts/bench says of the RTL, with yosys and small designs.

Usage: synthesis_test.py [GROUP[.CASE]]...

The group Designs reads the lists of files in the build that OAE_VP_BUILD names.
"""

import os
import pathlib
import re
import sys
import unittest

from in_folder import InFolder, ROOT, SCRIPTS, output_of

sys.path.insert(0, str(SCRIPTS / "lib"))
from bench import synthesis  # noqa: E402

# The product of WIDTH bits, between two rows of flip-flops: WIDTH - 1 gates, in a tree.
PRODUCT = """
module product #(parameter WIDTH = 4) (input clk_i, input [WIDTH-1:0] bits_i, output logic all_q);
  logic [WIDTH-1:0] bits_q;
  always_ff @(posedge clk_i) begin
    bits_q <= bits_i;
    all_q <= &bits_q;
  end
endmodule
"""

# A top whose instance has a port that is connected to an expression with '0
OF_TWO = """
module top #(parameter WIDTH = 4) (input clk_i, input [2*WIDTH-1:0] bits_i, output logic all_o);
  product #(.WIDTH(WIDTH)) first (.clk_i, .bits_i(bits_i[0] ? bits_i[WIDTH +: WIDTH] : '0), .all_q(all_o));
endmodule
"""

# A memory whose register is a part of a wider one
MEMORY = """
module memory #(parameter WIDTH = 4) (input clk_i, input [3:0] row_i, input [WIDTH-1:0] data_i, output logic [2*WIDTH-1:0] row_q);
  logic [WIDTH-1:0] rows [16];
  typedef struct packed {logic [WIDTH-1:0] high; logic [WIDTH-1:0] low;} row_t;
  row_t row;
  assign row.high = rows[~row_i];
  assign row.low = data_i;
  always_ff @(posedge clk_i) begin
    rows[row_i] <= data_i;
    row_q <= row;
  end
endmodule
"""

LATCH = """
module latch #(parameter WIDTH = 4) (input open_i, input [WIDTH-1:0] bits_i, output logic [WIDTH-1:0] bits_o);
  always_latch if (open_i) bits_o = bits_i;
endmodule
"""

UNDRIVEN = """
module undriven #(parameter WIDTH = 4) (input clk_i, output logic [WIDTH-1:0] bits_q);
  logic [WIDTH-1:0] bits;
  always_ff @(posedge clk_i) bits_q <= bits;
endmodule
"""


class Results(InFolder):
    def synthesise(self, top, text, **parameters):
        file = self.write("design.sv", text)
        self.write("cmake/rtl/design.f", f"{file}\n")
        return synthesis.synthesise(self.folder, synthesis.Design(top, "design", parameters))

    def test_gates_flip_flops_and_the_longest_path(self):
        for width, path in ((4, 2), (8, 3), (32, 5)):
            found = self.synthesise("product", PRODUCT, WIDTH=width)
            self.assertEqual((found.gates, found.flip_flops, found.memories, found.longest_path), (width - 1, width + 1, 0, path))
            self.assertEqual((found.path_from, found.path_to, found.warnings), ("bits_q", "all_q", []))
            self.assertRegex(found.line(), rf"^product, width {width}: .* {path} gates in the longest path, from bits_q to all_q; no latch")

    def test_a_constant_at_a_port_of_an_instance_does_not_fix_the_parameters(self):
        found = self.synthesise("top", PRODUCT + OF_TWO, WIDTH=8)
        self.assertEqual((found.flip_flops, found.longest_path, found.path_to), (9, 3, "first.all_q"))

    def test_a_memory_stays_one_and_takes_its_register(self):
        found = self.synthesise("memory", MEMORY, WIDTH=8)
        self.assertEqual((found.memories, found.flip_flops, found.warnings), (1, 8, []))

    def test_a_latch_or_a_wire_without_a_driver_is_a_failure(self):
        for top, text in (("latch", LATCH), ("undriven", UNDRIVEN), ("absent", PRODUCT)):
            with self.assertRaisesRegex(synthesis.Failure, "^yosys: "):
                self.synthesise(top, text, WIDTH=4)


class Designs(unittest.TestCase):
    def test_each_has_its_files_and_parameters(self):
        build = pathlib.Path(os.environ["OAE_VP_BUILD"])
        for name, design in synthesis.DESIGNS.items():
            files = [pathlib.Path(file) for file in (build / "cmake/rtl" / f"{design.files}.f").read_text().split()]
            top = next(file for file in files if file.name == f"{design.top}.sv")
            self.assertTrue(top.is_relative_to(ROOT / "rtl"), name)
            for key in design.parameters:
                self.assertRegex(top.read_text(), rf"\n  parameter int unsigned {key} = ", name)

    def test_the_help_names_them(self):
        text = output_of(SCRIPTS / "bench", "--help")[1]
        for design in synthesis.DESIGNS.values():
            self.assertIn(design.top, re.sub(r"\s+", " ", text))


if __name__ == "__main__":
    unittest.main()
