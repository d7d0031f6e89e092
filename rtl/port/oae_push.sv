// SPDX-License-Identifier: Apache-2.0
// The DMA write of a slot to the host's answer buffer. The slot leaves at the clock in which it is sent, or the
// write waits here, so that the operation ends.
module oae_push (
  input  logic        clock,
  input  logic        reset,
  input  logic        sends,
  input  logic [63:0] address,
  input  logic [2:0]  traffic_class,
  output logic        waits,               // the slot has not left at the next edge

  output logic        dma_valid,
  input  logic        dma_ready,
  output logic [63:0] dma_address,
  output logic [2:0]  dma_class
);

  logic        held;                       // the write waits here
  logic [63:0] held_address;
  logic [2:0]  held_class;

  assign dma_valid = sends || held;
  assign dma_address = held ? held_address : address;
  assign dma_class = held ? held_class : traffic_class;
  assign waits = dma_valid && !dma_ready;

  always_ff @(posedge clock) begin
    if (reset) held <= 1'b0;
    else held <= waits;
    if (sends) begin
      held_address <= address;
      held_class <= traffic_class;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clock)
    if (!reset) assert (!sends || !held) else $error("two slots are pushed at once");
`endif

endmodule
