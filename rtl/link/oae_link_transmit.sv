// SPDX-License-Identifier: Apache-2.0
// To the wire: chooses what leaves in each clock, makes its check, and puts it out four clocks later. A return may leave
// between any two groups. Under load it waits until RETURN_EVERY groups have left, so that returns take little of the wire.
module oae_link_transmit #(
  parameter int unsigned SLICES = 2,
  parameter int unsigned SLOTS = 128,        // of the ring
  parameter int unsigned RETURN_EVERY = 32,  // groups
  parameter int unsigned PATIENCE = 64,      // clocks that a frame waits for the rest of its slot
  parameter int unsigned IDLE_EVERY = 1024   // groups, after which one is idle, for receivers whose clock is slower
) (
  input  logic                clk_i,
  input  logic                rst_i,
  input  logic                clear_i,       // the link is down

  input  logic [15:0]         own_session_i,
  input  logic [15:0]         peer_session_i,

  // What may leave now; each stays valid until it is taken, in the order of its priority.
  input  logic                return_valid_i,
  input  logic                return_urgent_i,
  input  oae_link_pkg::return_t             return_i,
  output logic                return_taken_o,
  input  logic                join_valid_i,
  input  oae_link_pkg::join_t               join_i,
  output logic                join_taken_o,
  input  logic                restart_valid_i,
  input  oae_link_pkg::head_t               restart_i,
  output logic                restart_taken_o,
  input  logic                alive_valid_i,
  input  logic [31:0]         alive_i,
  output logic                alive_taken_o,
  input  logic                slot_valid_i,
  input  logic [31:0]         slot_number_i,
  input  logic [7:0]          slot_generation_i,
  output logic                slot_taken_o,
  output logic                starved_o,     // the rest of the slot that has not arrived as a whole did not come in time
  input  logic                slot_open_i,   // it has not arrived as a whole:
  input  logic [2:0]          filled_i,      //   the ring has its slices before this one
  input  logic                closed_i,      // now it has, or never will:
  input  logic                spoils_i,      //   it leaves with a check that is wrong

  // The ring, whose data come one clock later and do not matter for a frame that is no slot
  output logic                ring_read_o,
  output logic [$clog2(SLOTS)-1:0] ring_slot_o,
  output logic [2:0]          ring_slice_o,  // the first of the group
  input  logic [64*SLICES-1:0] ring_data_i,

  // The check of a slot that leaves
  output logic                checked_o,
  output oae_link_pkg::head_t               checked_head_o,

  output logic [1:0]          kind_o,
  output logic [64*SLICES-1:0] data_o,
  output logic                busy_o
);

  localparam logic [2:0] LAST = 3'(8 - SLICES);
  localparam int unsigned EVERY = $clog2(RETURN_EVERY + 1);
  localparam int unsigned IDLE = $clog2(IDLE_EVERY + 1);

  // ---- 0: the choice ----

  logic             going_q;       // a frame has begun, and its next group is `slice_q`
  logic [2:0]       slice_q;       // 0 between frames
  logic [1:0]       protocol_q;    // of the present frame
  oae_link_pkg::head_t            head_q;
  oae_link_pkg::join_t            join_q;
  logic [EVERY-1:0] since_q;       // groups since the last return
  logic [IDLE-1:0]  busy_since_q;  // groups since an idle one

  logic begins;
  logic any;
  logic goes_on;

  // A slot that a relay passes on leaves while it arrives. Its last group waits for the verdict on the frame by which it has come.
  localparam int unsigned WAIT = $clog2(PATIENCE + 1);
  logic             waits_q;       // the present frame is one of a slot that has not arrived as a whole
  logic             spoiled_q;     //   or never will
  logic [WAIT-1:0]  waited_q;
  logic             starves;       // the rest of the slot does not come
  logic             ready;         // the next group of the present frame has arrived

  assign ready = !waits_q || slice_q < filled_i;
  assign starves = waits_q && waited_q == WAIT'(PATIENCE);

  always_ff @(posedge clk_i) begin
    if (rst_i || clear_i) begin
      waits_q <= 1'b0;
      spoiled_q <= 1'b0;
      waited_q <= '0;
      starved_o <= 1'b0;
    end else begin
      starved_o <= (starved_o || starves) && !closed_i;
      if (begins) begin
        waits_q <= slot_taken_o && slot_open_i && !closed_i;
        spoiled_q <= 1'b0;
      end else if (waits_q) begin
        if (closed_i || starves) waits_q <= 1'b0;
        if (spoils_i || starves) spoiled_q <= 1'b1;
      end
      waited_q <= !waits_q || goes_on ? '0 : waited_q + WAIT'(1);
    end
  end

  logic rests;
  logic [1:0] protocol_d;
  oae_link_pkg::head_t      head_d;

  assign rests = busy_since_q == IDLE'(IDLE_EVERY);
  assign any = join_valid_i || restart_valid_i || alive_valid_i || slot_valid_i;
  assign return_taken_o = return_valid_i && !rests &&
                          (return_urgent_i || since_q == EVERY'(RETURN_EVERY) || !(going_q ? ready : any));
  assign goes_on = going_q && ready && !return_taken_o && !rests;
  assign begins = any && !going_q && !return_taken_o && !rests;
  assign join_taken_o = begins && join_valid_i;
  assign restart_taken_o = begins && !join_valid_i && restart_valid_i;
  assign alive_taken_o = begins && !join_valid_i && !restart_valid_i && alive_valid_i;
  assign slot_taken_o = begins && !join_valid_i && !restart_valid_i && !alive_valid_i;

  always_comb begin
    protocol_d = protocol_q;
    head_d = head_q;
    if (begins) begin
      head_d = '0;
      if (join_valid_i) protocol_d = 2'(oae_registers::WIRE_PROTOCOL_JOIN);
      else if (restart_valid_i) begin
        protocol_d = 2'(oae_registers::WIRE_PROTOCOL_RESTART);
        head_d = restart_i;
      end else if (alive_valid_i) protocol_d = 2'(oae_registers::WIRE_PROTOCOL_ALIVE);
      else begin
        protocol_d = 2'(oae_registers::WIRE_PROTOCOL_SLOT);
        head_d.generation = slot_generation_i;
        head_d.number = slot_number_i;
      end
    end
  end

  assign ring_read_o = begins || goes_on;
  assign ring_slot_o = head_d.number[$clog2(SLOTS)-1:0];
  assign ring_slice_o = slice_q;

  // ---- 1: the words of the group ----

  logic       part1_q;
  logic       return1_q;
  logic       spoiled1_q;
  logic [2:0] slice1_q;
  logic [1:0] protocol1_q;
  oae_link_pkg::head_t      head1_q;
  oae_link_pkg::join_t      join1_q;
  logic [31:0] alive1_q;
  oae_link_pkg::return_t    answer1_q;

  always_ff @(posedge clk_i) begin
    if (rst_i || clear_i) begin
      going_q <= 1'b0;
      slice_q <= '0;
      since_q <= '0;
      busy_since_q <= '0;
      part1_q <= 1'b0;
      return1_q <= 1'b0;
    end else begin
      if (begins || goes_on) begin
        slice_q <= ring_slice_o + 3'(SLICES);
        going_q <= ring_slice_o != LAST;
      end
      if (return_taken_o) since_q <= '0;
      else if (since_q != EVERY'(RETURN_EVERY)) since_q <= since_q + EVERY'(1);
      if (begins || goes_on || return_taken_o) busy_since_q <= busy_since_q + IDLE'(1);
      else busy_since_q <= '0;
      part1_q <= begins || goes_on;
      return1_q <= return_taken_o;
    end
    protocol_q <= protocol_d;
    head_q <= head_d;
    if (join_taken_o) join_q <= join_i;
    slice1_q <= ring_slice_o;
    spoiled1_q <= spoiled_q;
    protocol1_q <= protocol_d;
    head1_q <= head_d;
    join1_q <= join_taken_o ? join_i : join_q;
    alive1_q <= alive_i;
    answer1_q <= return_i;
  end

  // The slices of the present frame; of a slot, slice 0 has label and operand of the ring's.
  logic [64*SLICES-1:0] words;
  logic                 is_slot1;
  logic                 is_join1;
  logic                 is_restart1;
  assign is_slot1 = protocol1_q == 2'(oae_registers::WIRE_PROTOCOL_SLOT);
  assign is_join1 = protocol1_q == 2'(oae_registers::WIRE_PROTOCOL_JOIN);
  assign is_restart1 = protocol1_q == 2'(oae_registers::WIRE_PROTOCOL_RESTART);

  always_comb begin
    words = is_slot1 ? ring_data_i : '0;
    for (int unsigned i = 0; i < SLICES; i++)
      unique case (slice1_q + 3'(i))
        3'd0: begin
          words[64*i +: 24] = '0;
          words[64*i + oae_registers::WIRE_HEAD_PROTOCOL_SHIFT +: 2] = protocol1_q;
          words[64*i + oae_registers::WIRE_HEAD_GENERATION_SHIFT +: 8] = head1_q.generation;
          words[64*i + oae_registers::WIRE_HEAD_NUMBER_SHIFT +: oae_link_pkg::NUMBER_LOW] =
              is_slot1 ? head1_q.number[oae_link_pkg::NUMBER_LOW-1:0] : '0;
          if (!is_slot1) words[64*i + oae_registers::WIRE_HEAD_OPERAND_SHIFT +: 32] = alive1_q;
        end
        3'd1: if (is_join1) words[64*i +: 64] = {join1_q.sessions.other, join1_q.sessions.own};
        3'd2: if (is_join1) words[64*i +: 64] = join1_q.sent;
        3'd3: if (is_join1) words[64*i +: 64] = {join1_q.journal.first, join1_q.journal.done};
        3'd4: if (is_join1) begin
          words[64*i +: 4] = {join1_q.journal.anew, join1_q.sessions.met, join1_q.sessions.agreed, join1_q.journal.known};
          words[64*i + oae_registers::WIRE_FLAGS_PENDING_SHIFT +: 16] = join1_q.journal.pending;
        end
        3'd5: if (is_restart1) begin
          words[64*i + oae_registers::WIRE_START_NUMBER_SHIFT +: 32] = head1_q.number;
          words[64*i + oae_registers::WIRE_START_DIGEST_SHIFT +: 16] = head1_q.digest;
        end
        3'd7: words[64*i +: 64] = '0;    // the place of the check
        default: ;
      endcase
  end

  logic                 part2_q;
  logic                 return2_q;
  logic                 spoiled2_q;
  logic [2:0]           slice2_q;
  logic [64*SLICES-1:0] data2_q;
  logic                 is_slot2_q;
  oae_link_pkg::head_t                head2_q;
  logic [63:0]          seed2_q;

  always_ff @(posedge clk_i) begin
    if (rst_i || clear_i) begin
      part2_q <= 1'b0;
      return2_q <= 1'b0;
    end else begin
      part2_q <= part1_q;
      return2_q <= return1_q;
    end
    slice2_q <= slice1_q;
    spoiled2_q <= spoiled1_q;
    is_slot2_q <= is_slot1;
    head2_q <= head1_q;
    seed2_q <= is_join1 ? '0 : oae_link_pkg::seed(is_slot1 ? head1_q.number : '0, own_session_i, peer_session_i);
    data2_q <= words;
    if (return1_q) begin
      data2_q <= '0;
      data2_q[oae_registers::RETURN_NUMBERS_ANSWERED_SHIFT +: 16] <= answer1_q.answer.answered;
      data2_q[oae_registers::RETURN_NUMBERS_DONE_SHIFT +: 16] <= answer1_q.answer.done;
      data2_q[oae_registers::RETURN_NUMBERS_CREDIT_SHIFT +: 16] <= answer1_q.answer.credit;
      data2_q[oae_registers::RETURN_NUMBERS_CONFIRMED_SHIFT +: 16] <= answer1_q.request.confirmed;
      data2_q[64 + oae_registers::RETURN_STATE_GENERATION_SHIFT +: 8] <= answer1_q.answer.generation;
      data2_q[64 + oae_registers::RETURN_STATE_WANTED_SHIFT +: 7] <= answer1_q.answer.wanted;
      data2_q[64 + oae_registers::RETURN_STATE_ASK_SHIFT] <= answer1_q.request.ask;
      data2_q[64 + oae_registers::RETURN_STATE_DIGEST_SHIFT +: 16] <= answer1_q.answer.digest;
    end
  end

  // ---- 2: the terms of the checks ----

  logic [63:0] sum;
  logic [64*SLICES-1:0] word;
  logic [64*SLICES-1:0] term;
  for (genvar i = 0; i < SLICES; i++) begin : gen_term
    assign word[64*i +: 64] = data2_q[64*i +: 64] ^ {64{i == 0 && slice2_q == '0}};
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

  logic [95:0] return_word;
  logic [95:0] return_term;
  assign return_word[31:0] = ~data2_q[31:0] ^ {own_session_i, peer_session_i};
  assign return_word[63:32] = data2_q[63:32];
  assign return_word[95:64] = data2_q[95:64];
  for (genvar i = 0; i < 3; i++) begin : gen_return_term
    oae_link_shift #(.WIDTH(32), .POLYNOMIAL(oae_link_pkg::CRC32C), .BITS(32 * (3 - i))) shift (
      .state_i(return_word[32*i +: 32]), .state_o(return_term[32*i +: 32]));
  end

  logic                 part3_q;
  logic                 return3_q;
  logic                 spoiled3_q;
  logic [2:0]           slice3_q;
  logic [64*SLICES-1:0] data3_q;
  logic                 is_slot3_q;
  oae_link_pkg::head_t                head3_q;
  logic [63:0]          seed3_q;
  logic [63:0]          sum_q;
  logic [31:0]          return_check_q;

  always_ff @(posedge clk_i) begin
    if (rst_i || clear_i) begin
      part3_q <= 1'b0;
      return3_q <= 1'b0;
    end else begin
      part3_q <= part2_q;
      return3_q <= return2_q;
    end
    slice3_q <= slice2_q;
    spoiled3_q <= spoiled2_q;
    data3_q <= data2_q;
    is_slot3_q <= is_slot2_q;
    head3_q <= head2_q;
    seed3_q <= seed2_q;
    sum_q <= sum;
    return_check_q <= ~(return_term[31:0] ^ return_term[63:32] ^ return_term[95:64]);
  end

  // ---- 3: the sum, and the group as it leaves ----

  logic [63:0] shifted;      // over the frame's groups before
  logic [63:0] total;
  logic [63:0] seed_term;
  logic [63:0] check;
  if (SLICES == 8) begin : gen_whole
    assign shifted = '0;
  end else begin : gen_running
    logic [63:0] running_q;
    always_ff @(posedge clk_i) if (part3_q) running_q <= total;
    oae_link_shift #(.BITS(64 * SLICES)) shift (.state_i(running_q), .state_o(shifted));
  end
  oae_link_shift #(.BITS(64)) seed_shift (.state_i(seed3_q), .state_o(seed_term));
  assign total = (slice3_q == '0 ? '0 : shifted) ^ sum_q;
  assign check = ~(total ^ seed_term) ^ {64{spoiled3_q}};

  assign checked_o = part3_q && is_slot3_q && slice3_q == LAST;
  always_comb begin
    checked_head_o = head3_q;
    checked_head_o.digest = check[15:0];
  end

  always_ff @(posedge clk_i) begin
    if (rst_i || clear_i) kind_o <= 2'(oae_registers::WIRE_KIND_IDLE);
    else kind_o <= return3_q ? 2'(oae_registers::WIRE_KIND_RETURN)
                 : !part3_q ? 2'(oae_registers::WIRE_KIND_IDLE)
                 : slice3_q == '0 ? 2'(oae_registers::WIRE_KIND_HEAD) : 2'(oae_registers::WIRE_KIND_BODY);
    data_o <= part3_q || return3_q ? data3_q : '0;
    if (part3_q && slice3_q == LAST) data_o[64*(SLICES-1) +: 64] <= check;
    if (return3_q) data_o[127:96] <= return_check_q;
  end

  assign busy_o = going_q || part1_q || return1_q || part2_q || return2_q || part3_q || return3_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i)
    if (!rst_i) assert (!(goes_on && waits_q) || slice_q != LAST) else $error("the end of a slot leaves before its verdict");
  initial assert (SLICES == 2 || SLICES == 4 || SLICES == 8) else $error("SLICES must be 2, 4 or 8");
`endif

endmodule
