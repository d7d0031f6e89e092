// SPDX-License-Identifier: Apache-2.0
// Packs frames and reflections into the slices of each clock. A reflection precedes everything that
// waits, also within a frame. There is no gap between two frames.
module oae_link_packer #(
  parameter int unsigned SLICES = 8
) (
  input  logic                 clock,
  input  logic                 reset,
  input  logic                 clear,       // the link is down
  input  logic                 frame_valid,
  output logic                 frame_ready,
  input  logic [511:0]         frame,
  input  logic                 reflection_valid,
  output logic                 reflection_ready,
  input  logic [63:0]          reflection,  // in the form in which it is sent
  input  logic                 tx_ready,
  output logic [2*SLICES-1:0]  tx_kind,
  output logic [64*SLICES-1:0] tx_data,
  output logic                 busy
);

  localparam int unsigned HELD = 7 + 8;     // slices: a frame is accepted when fewer than a clock's are left

  logic [64*HELD-1:0] held;
  logic [HELD-1:0]    first;                // whether each is a slice 0
  logic [3:0]         count;
  logic [3:0]         lanes;                // lanes that are left for the frame
  logic [3:0]         taken;
  logic [3:0]         left;

  assign reflection_ready = tx_ready;
  assign lanes = reflection_valid ? 4'(SLICES - 1) : 4'(SLICES);
  assign taken = !tx_ready ? '0 : count < lanes ? count : lanes;
  assign left = count - taken;
  assign frame_ready = left < 4'(SLICES);
  assign busy = count != '0 || reflection_valid;

  // A reflection, if there is one, and the slices after it
  logic [HELD:0] queue_first;
  logic [4:0]    queue_count;
  assign queue_first = reflection_valid ? {first, 1'b0} : {1'b0, first};
  assign queue_count = {1'b0, count} + {4'd0, reflection_valid};

  always_comb begin
    tx_kind = '0;
    for (int unsigned i = 0; i < SLICES; i++)
      if (5'(i) < queue_count)
        tx_kind[2*i +: 2] = queue_first[i] ? 2'(oae_registers::KIND_SLICE_0)
                                           : 2'(oae_registers::KIND_PAYLOAD);
    if (reflection_valid) tx_kind[1:0] = 2'(oae_registers::KIND_REFLECTION);
  end
  assign tx_data = (64*SLICES)'(reflection_valid ? {held, reflection} : {64'd0, held});

  logic [64*HELD-1:0] held_left;
  logic [HELD-1:0]    first_left;
  assign held_left = held >> {taken, 6'd0};
  assign first_left = first >> taken;

  always_ff @(posedge clock) begin
    if (reset || clear) begin
      held <= '0;
      first <= '0;
      count <= '0;
    end else if (frame_valid && frame_ready) begin
      held <= held_left | ({448'd0, frame} << {left, 6'd0});
      first <= first_left | (HELD'(1) << left);
      count <= left + 4'd8;
    end else begin
      held <= held_left;
      first <= first_left;
      count <= left;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clock)
    if (!reset && !clear) begin
      assert (count == '0 || !first[count-4'd1]) else $error("a frame without its end");
      assert (first >> count == '0) else $error("a slice 0 beyond the last slice");
    end
`endif

endmodule
