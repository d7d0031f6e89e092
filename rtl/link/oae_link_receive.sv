// SPDX-License-Identifier: Apache-2.0
// From the wire: the groups of slices of a clock become frames and returns, each with a verdict. A group leaves three clocks
// after it has come, the last one of a frame with the frame's verdict.
module oae_link_receive #(
  parameter int unsigned SLICES = 2
) (
  input  logic                clk_i,
  input  logic                rst_i,
  input  logic                clear_i,        // the link is down

  input  logic [1:0]          kind_i,         // of the group, enum wire_kind
  input  logic [64*SLICES-1:0] data_i,

  input  logic [15:0]         own_session_i,
  input  logic [15:0]         peer_session_i,
  input  logic [31:0]         expected_i,     // the number of a slot is the one next to it

  // A group of a frame, for the ring
  output logic                group_valid_o,
  output logic [2:0]          group_slice_o,  // its first slice
  output logic [64*SLICES-1:0] group_data_o,

  // The verdict on a frame, with its last group
  output logic                frame_good_o,
  output logic                damaged_o,      // a frame or return is damaged, or groups are missing
  output logic [1:0]          protocol_o,     // of a good frame, as the rest
  output oae_link_pkg::head_t               head_o,
  output logic [31:0]         operand_o,
  output oae_link_pkg::join_t               join_o,

  output logic                return_valid_o,
  output oae_link_pkg::return_t             return_o,

  output logic                busy_o
);

  localparam int unsigned LAST = 8 - SLICES;  // first slice of a frame's last group
  localparam int unsigned START_NUMBER = oae_registers::WIRE_START_NUMBER_SHIFT;
  localparam int unsigned START_DIGEST = oae_registers::WIRE_START_DIGEST_SHIFT;

  typedef struct packed {
    logic       part;      // it belongs to a frame
    logic       is_return;
    logic       broken;    // it comes at the wrong place
    logic [2:0] slice;     // the first of its slices
  } place_t;

  // ---- 1: the group and its place ----

  logic [2:0]           next_q;   // first slice of the group that has to come; 0 between frames
  place_t               place_d;
  place_t               place_q;
  logic [64*SLICES-1:0] data_q;

  always_comb begin
    place_d = '0;
    unique case (kind_i)
      2'(oae_registers::WIRE_KIND_HEAD): begin
        place_d.part = 1'b1;
        place_d.broken = next_q != '0;      // the frame before has not ended
      end
      2'(oae_registers::WIRE_KIND_BODY): begin
        place_d.part = next_q != '0;
        place_d.broken = next_q == '0;      // the head of this frame is missing
        place_d.slice = next_q;
      end
      2'(oae_registers::WIRE_KIND_RETURN): place_d.is_return = 1'b1;
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (rst_i || clear_i) begin
      next_q <= '0;
      place_q <= '0;
    end else begin
      place_q <= place_d;
      if (place_d.part) next_q <= place_d.slice + 3'(SLICES);  // wraps after the last
    end
    data_q <= data_i;
  end

  // ---- 2: the terms of the checks ----

  logic [63:0]          sum;
  logic [63:0]          sum_q;
  place_t               place2_q;
  logic [64*SLICES-1:0] data2_q;
  logic [63:0]          seed_q;

  logic [64*SLICES-1:0] word;
  logic [64*SLICES-1:0] term;
  for (genvar i = 0; i < SLICES; i++) begin : gen_term
    // The check begins with ones: the first slice of a frame is inverted.
    assign word[64*i +: 64] = data_q[64*i +: 64] ^ {64{i == 0 && place_q.slice == '0}};
    if (i == SLICES - 1) begin : gen_last
      assign term[64*i +: 64] = word[64*i +: 64];
    end else begin : gen_shift
      oae_link_shift #(.BITS(64 * (SLICES - 1 - i))) shift (.state_i(word[64*i +: 64]), .state_o(term[64*i +: 64]));
    end
  end
  always_comb begin
    sum = '0;
    for (int unsigned i = 0; i < SLICES; i++) sum ^= term[64*i +: 64];
  end

  // The number of a slot, of which the frame has the low bits
  logic [31:0]              number;
  logic signed [oae_link_pkg::NUMBER_LOW-1:0] distance;
  logic [1:0]               protocol;
  assign protocol = data_q[oae_registers::WIRE_HEAD_PROTOCOL_SHIFT +: 2];
  assign distance = data_q[oae_registers::WIRE_HEAD_NUMBER_SHIFT +: oae_link_pkg::NUMBER_LOW] - expected_i[oae_link_pkg::NUMBER_LOW-1:0];
  assign number = expected_i + 32'(distance);

  // Of a return: the sum over its words, which begins with ones as well
  logic [95:0] return_word;
  logic [95:0] return_term;
  logic [31:0] return_check_q;
  assign return_word[31:0] = ~data_q[31:0] ^ {peer_session_i, own_session_i};
  assign return_word[63:32] = data_q[63:32];
  assign return_word[95:64] = data_q[95:64];
  for (genvar i = 0; i < 3; i++) begin : gen_return_term
    oae_link_shift #(.WIDTH(32), .POLYNOMIAL(oae_link_pkg::CRC32C), .BITS(32 * (3 - i))) shift (
      .state_i(return_word[32*i +: 32]), .state_o(return_term[32*i +: 32]));
  end

  oae_link_pkg::head_t       head_q;
  logic [1:0]  protocol_q;
  logic [31:0] operand_q;
  always_ff @(posedge clk_i) begin
    if (rst_i || clear_i) place2_q <= '0;
    else place2_q <= place_q;
    data2_q <= data_q;
    sum_q <= sum;
    return_check_q <= ~(return_term[31:0] ^ return_term[63:32] ^ return_term[95:64]);
    if (place_q.part && place_q.slice == '0) begin
      protocol_q <= protocol;
      operand_q <= data_q[oae_registers::WIRE_HEAD_OPERAND_SHIFT +: 32];
      head_q.generation <= data_q[oae_registers::WIRE_HEAD_GENERATION_SHIFT +: 8];
      head_q.number <= number;
      head_q.digest <= '0;
      seed_q <= protocol == 2'(oae_registers::WIRE_PROTOCOL_JOIN) ? '0
              : oae_link_pkg::seed(protocol == 2'(oae_registers::WIRE_PROTOCOL_SLOT) ? number : '0, peer_session_i, own_session_i);
    end
  end

  // ---- 3: the sum, and the verdict ----

  logic [63:0] shifted;      // over the frame's groups before
  logic [63:0] total;
  logic [63:0] seed_term;
  if (SLICES == 8) begin : gen_whole
    assign shifted = '0;
  end else begin : gen_running
    logic [63:0] running_q;
    always_ff @(posedge clk_i) if (place2_q.part) running_q <= total;
    oae_link_shift #(.BITS(64 * SLICES)) shift (.state_i(running_q), .state_o(shifted));
  end
  oae_link_shift #(.BITS(64)) seed_shift (.state_i(seed_q), .state_o(seed_term));
  assign total = (place2_q.slice == '0 ? '0 : shifted) ^ sum_q;

  place_t               place3_q;
  logic [64*SLICES-1:0] data3_q;
  logic [63:0]          total_q;     // includes the check, so that it is all ones of a good frame
  logic                 return_good_q;
  oae_link_pkg::head_t                head3_q;
  logic [1:0]           protocol3_q;
  logic [31:0]          operand3_q;
  oae_link_pkg::join_t                join3_q;
  logic [31:0]          start_number_q;
  logic [15:0]          start_digest_q;

  always_ff @(posedge clk_i) begin
    if (rst_i || clear_i) place3_q <= '0;
    else place3_q <= place2_q;
    data3_q <= data2_q;
    total_q <= total ^ seed_term;
    return_good_q <= return_check_q == data2_q[127:96];
    protocol3_q <= protocol_q;
    operand3_q <= operand_q;
    head3_q <= head_q;
    for (int unsigned i = 0; i < SLICES; i++)
      if (place2_q.part) unique case (place2_q.slice + 3'(i))
        3'd1: {join3_q.sessions.other, join3_q.sessions.own} <= data2_q[64*i +: 64];
        3'd2: join3_q.sent <= data2_q[64*i +: 64];
        3'd3: {join3_q.journal.first, join3_q.journal.done} <= data2_q[64*i +: 64];
        3'd4: begin
          {join3_q.journal.anew, join3_q.sessions.met, join3_q.sessions.agreed, join3_q.journal.known} <= data2_q[64*i +: 4];
          join3_q.journal.pending <= data2_q[64*i + oae_registers::WIRE_FLAGS_PENDING_SHIFT +: 16];
        end
        3'd5: begin
          start_number_q <= data2_q[64*i + START_NUMBER +: 32];
          start_digest_q <= data2_q[64*i + START_DIGEST +: 16];
        end
        3'd7: head3_q.digest <= data2_q[64*i +: 16];
        default: ;
      endcase
  end

  logic ends;
  logic restart;
  assign ends = place3_q.part && place3_q.slice == 3'(LAST);
  assign restart = protocol3_q == 2'(oae_registers::WIRE_PROTOCOL_RESTART);
  assign group_valid_o = place3_q.part;
  assign group_slice_o = place3_q.slice;
  assign group_data_o = data3_q;
  assign frame_good_o = ends && &total_q;
  assign damaged_o = place3_q.broken || (ends && !(&total_q)) || (place3_q.is_return && !return_good_q);
  assign protocol_o = protocol3_q;
  assign operand_o = operand3_q;
  assign join_o = join3_q;
  always_comb begin
    head_o = head3_q;
    if (restart) begin
      head_o.number = start_number_q;
      head_o.digest = start_digest_q;
    end
  end

  assign return_valid_o = place3_q.is_return && return_good_q;
  assign return_o.answer.answered = data3_q[oae_registers::RETURN_NUMBERS_ANSWERED_SHIFT +: 16];
  assign return_o.answer.done = data3_q[oae_registers::RETURN_NUMBERS_DONE_SHIFT +: 16];
  assign return_o.answer.credit = data3_q[oae_registers::RETURN_NUMBERS_CREDIT_SHIFT +: 16];
  assign return_o.request.confirmed = data3_q[oae_registers::RETURN_NUMBERS_CONFIRMED_SHIFT +: 16];
  assign return_o.answer.generation = data3_q[64 + oae_registers::RETURN_STATE_GENERATION_SHIFT +: 8];
  assign return_o.answer.wanted = data3_q[64 + oae_registers::RETURN_STATE_WANTED_SHIFT +: 7];
  assign return_o.request.ask = data3_q[64 + oae_registers::RETURN_STATE_ASK_SHIFT];
  assign return_o.answer.digest = data3_q[64 + oae_registers::RETURN_STATE_DIGEST_SHIFT +: 16];

  assign busy_o = place_q != '0 || place2_q != '0 || place3_q != '0;

endmodule
