// SPDX-License-Identifier: Apache-2.0
// The elastic buffer at the receiving side of a wire: what comes with the clock that was recovered from the wire leaves with the
// link's own clock. Idle groups are not stored, so that those which the other end sends, one in 1,025, let a link whose clock is
// slower keep up, and where it is faster, idle groups stand between others. Frames and returns do not mind.
//
// A group that finds the buffer full is lost, which the checks of the frames find. `overflow_o` tells that it happened: the
// clocks differ by more than the idle groups make up for.
module oae_link_elastic #(
  parameter int unsigned SLICES = 2,
  parameter int unsigned DEPTH = 16           // groups
) (
  // The wire
  input  logic                 wire_clk_i,
  input  logic                 wire_rst_i,
  input  logic                 wire_carrier_i, // of no clock, since it goes when the wire's clock stops
  input  logic [1:0]           wire_kind_i,   // enum wire_kind
  input  logic [64*SLICES-1:0] wire_data_i,

  // The link
  input  logic                 clk_i,
  input  logic                 rst_i,
  output logic                 carrier_o,
  output logic [1:0]           kind_o,
  output logic [64*SLICES-1:0] data_o,
  output logic                 overflow_o     // a group was lost since power-up
);

  logic       comes;
  logic       ready;
  logic       valid;
  logic [1:0] kind;
  logic       lost_q;

  assign comes = wire_kind_i != 2'(oae_registers::WIRE_KIND_IDLE);

  oae_clock_fifo #(.WIDTH(64 * SLICES + 2), .DEPTH(DEPTH)) groups (
    .write_clk_i(wire_clk_i), .write_rst_i(wire_rst_i), .write_valid_i(comes), .write_ready_o(ready),
    .write_data_i({wire_kind_i, wire_data_i}),
    .read_clk_i(clk_i), .read_rst_i(rst_i), .read_valid_o(valid), .read_ready_i(1'b1), .read_data_o({kind, data_o}));

  assign kind_o = valid ? kind : 2'(oae_registers::WIRE_KIND_IDLE);

  always_ff @(posedge wire_clk_i) lost_q <= !wire_rst_i && (lost_q || (comes && !ready));

  oae_clock_sync #(.WIDTH(2)) levels (.clk_i, .rst_i, .data_i({wire_carrier_i, lost_q}), .data_o({carrier_o, overflow_o}));

endmodule
