// SPDX-License-Identifier: Apache-2.0
// The reflections of slice 0. Slice 0 of a packet is sent back after 1, 2 and 4 slices as they
// arrive, and after 8 slices with the verdict of the CRC, as far as the packet requests it. Slice 0
// of a damaged frame is sent back to report the damage. A later reflection of a frame includes what
// an earlier one says, and replaces it if it still waits.
module oae_link_reflector (
  input  logic        clock,
  input  logic        reset,
  input  logic        enable,            // the link is up
  /* verilator lint_off UNUSEDSIGNAL */  // bits that a reflection itself defines
  input  logic        mark_valid,        // see oae_link_unpacker
  input  logic [63:0] mark_head,
  input  logic [1:0]  mark_level,
  input  logic        frame_valid,
  input  logic [63:0] frame_head,
  input  logic        damaged,
  input  logic [63:0] damaged_head,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic        reflection_valid,
  input  logic        reflection_ready,
  output logic [63:0] reflection         // with exchanged halves
);

  localparam int unsigned PROTOCOL = oae_registers::FRAME_HEADER_PROTOCOL_SHIFT;

  function automatic logic is_packet(input logic [2:0] protocol);
    is_packet = protocol == oae_registers::PROTOCOL_PACKET ||
                protocol == oae_registers::PROTOCOL_FLOW;
  endfunction

  function automatic logic [63:0] reflected(
      input logic [63:8] head, input logic [6:2] opcode, input logic [1:0] level, input logic jam);
    reflected = {head[31:8], jam, opcode, level, head[63:32]};
  endfunction

  logic        verdict_waits;
  logic [63:0] verdict;
  logic        mark_waits;
  logic [63:0] mark;

  logic        verdict_comes;
  logic [63:0] verdict_head;
  assign verdict_comes = damaged || (frame_valid && frame_head[1:0] == 2'd3);  // only a packet asks for it
  assign verdict_head = damaged ? damaged_head : frame_head;

  assign reflection_valid = verdict_waits || mark_waits;
  assign reflection = verdict_waits ? verdict : mark;

  always_ff @(posedge clock) begin
    if (reset || !enable) begin
      verdict_waits <= 1'b0;
      verdict <= '0;
      mark_waits <= 1'b0;
      mark <= '0;
    end else begin
      if (reflection_ready) begin
        verdict_waits <= 1'b0;
        if (!verdict_waits) mark_waits <= 1'b0;
      end
      if (mark_valid && is_packet(mark_head[PROTOCOL +: 3])) begin
        mark_waits <= 1'b1;
        mark <= reflected(mark_head[63:8], mark_head[6:2], mark_level, 1'b0);
      end
      // A reflection of a whole frame or of damage replaces all earlier ones.
      if (verdict_comes && !(mark_valid && mark_head != verdict_head)) mark_waits <= 1'b0;
      if (damaged) begin
        verdict_waits <= 1'b1;
        verdict <= reflected(damaged_head[63:8], damaged_head[6:2], 2'd0, 1'b1);
      end else if (verdict_comes) begin
        verdict_waits <= 1'b1;
        verdict <= reflected(frame_head[63:8], frame_head[6:2], 2'd3, 1'b0);
      end
    end
  end

endmodule
