// SPDX-License-Identifier: Apache-2.0
// Unpacks frames, whose CRC it checks, and reflections from the slices of each clock. A frame is a
// slice 0 and seven payload slices, with reflections between them. Any other order of slices is
// damage.
module oae_link_unpacker #(
  parameter int unsigned SLICES = 8
) (
  input  logic                 clock,
  input  logic                 reset,
  input  logic                 clear,            // the link is down
  input  logic                 rx_valid,
  input  logic [2*SLICES-1:0]  rx_kind,
  input  logic [64*SLICES-1:0] rx_data,
  output logic                 head_valid,       // slice 0 of a frame, unchecked
  output logic [63:0]          head,
  output logic                 mark_valid,       // 2^level slices of a frame have arrived, less than 8
  output logic [63:0]          mark_head,
  output logic [1:0]           mark_level,
  output logic                 frame_valid,      // a good frame
  output logic [511:0]         frame,
  output logic                 damaged,          // a damaged frame, or stray slices
  output logic [63:0]          damaged_head,     // its slice 0, as far as known
  output logic                 reflection_valid,
  output logic [63:0]          reflection,       // with its halves as they were sent
  output logic                 busy
);

  localparam int unsigned CHECK = 8 * oae_registers::FRAME_CHECK;

  logic [511:0] partial;
  logic [3:0]   count;           // slices of the frame
  logic         straying;        // several stray slices count as one damage

  logic [511:0] next_partial;
  logic [3:0]   next_count;
  logic         next_straying;
  logic [511:0] next_frame;
  logic         next_whole;
  logic         next_broken;
  logic [63:0]  next_broken_head;
  logic         next_head;
  logic         next_mark;
  logic [63:0]  next_mark_head;
  logic [1:0]   next_mark_level;
  logic         next_reflects;
  logic [63:0]  next_reflection;

  always_comb begin
    next_partial = partial;
    next_count = count;
    next_straying = straying;
    next_frame = frame;
    next_whole = 1'b0;
    next_broken = 1'b0;
    next_broken_head = '0;
    next_head = 1'b0;
    next_mark = 1'b0;
    next_mark_head = mark_head;
    next_mark_level = '0;
    next_reflects = 1'b0;
    next_reflection = reflection;
    if (rx_valid)
      for (int unsigned i = 0; i < SLICES; i++)
        case (rx_kind[2*i +: 2])
          2'(oae_registers::KIND_SLICE_0): begin
            if (next_count != '0) begin
              next_broken = 1'b1;
              next_broken_head = next_partial[63:0];
            end
            next_partial[63:0] = rx_data[64*i +: 64];
            next_count = 4'd1;
            next_straying = 1'b0;
            next_head = 1'b1;
            next_mark = 1'b1;
            next_mark_head = rx_data[64*i +: 64];
            next_mark_level = 2'd0;
          end
          2'(oae_registers::KIND_PAYLOAD):
            if (next_count == '0) begin
              if (!next_straying) next_broken = 1'b1;
              next_straying = 1'b1;
            end else begin
              next_partial[64*next_count[2:0] +: 64] = rx_data[64*i +: 64];
              next_count = next_count + 4'd1;
              if ((next_count == 4'd2 && next_partial[1:0] >= 2'd1) ||
                  (next_count == 4'd4 && next_partial[1:0] >= 2'd2)) begin
                next_mark = 1'b1;
                next_mark_head = next_partial[63:0];
                next_mark_level = next_count == 4'd2 ? 2'd1 : 2'd2;
              end
              if (next_count == 4'd8) begin
                next_whole = 1'b1;
                next_frame = next_partial;
                next_count = '0;
              end
            end
          2'(oae_registers::KIND_REFLECTION): begin
            next_reflects = 1'b1;
            next_reflection = {rx_data[64*i +: 32], rx_data[64*i+32 +: 32]};
          end
          default:                 // idle, which does not occur within a frame
            if (next_count != '0) begin
              next_broken = 1'b1;
              next_broken_head = next_partial[63:0];
              next_count = '0;
            end else next_straying = 1'b0;
        endcase
  end

  logic        whole;
  logic        broken;
  logic [63:0] broken_head;
  logic [63:0] check;

  always_ff @(posedge clock) begin
    if (reset || clear) begin
      partial <= '0;
      count <= '0;
      straying <= 1'b0;
      frame <= '0;
      whole <= 1'b0;
      broken <= 1'b0;
      broken_head <= '0;
      head_valid <= 1'b0;
      mark_valid <= 1'b0;
      mark_head <= '0;
      mark_level <= '0;
      reflection_valid <= 1'b0;
      reflection <= '0;
    end else begin
      partial <= next_partial;
      count <= next_count;
      straying <= next_straying;
      frame <= next_frame;
      whole <= next_whole;
      broken <= next_broken;
      broken_head <= next_broken_head;
      head_valid <= next_head;
      mark_valid <= next_mark;
      mark_head <= next_mark_head;
      mark_level <= next_mark_level;
      reflection_valid <= next_reflects;
      reflection <= next_reflection;
    end
  end

  oae_crc64 #(.BYTES(oae_registers::FRAME_CHECK)) network (
    .enable(whole), .data(frame[CHECK-1:0]), .crc(check));

  assign head = partial[63:0];
  assign frame_valid = whole && frame[CHECK +: 64] == check;
  assign damaged = (whole && !frame_valid) || broken;
  assign damaged_head = whole && !frame_valid ? frame[63:0] : broken_head;
  // A head or a mark is never alone. An idle slice ends stray ones, and needs an edge for that.
  assign busy = count != '0 || straying || whole || broken || reflection_valid;

endmodule
