// SPDX-License-Identifier: Apache-2.0
// The OAE link transfers slots between two blocks over a wire of slices. The firmware controls it
// by AXI4-Lite. It has the clock of the wire.
//
// The clock may stop while `busy` is low, no access is pending and the wire is idle in both
// directions. It must run again for the next access, when a slice that is not idle arrives, when
// `rx_valid` changes, or when `now` reaches `deadline`.
module oae_link #(
  parameter int unsigned SLICES = 8,      // slices in a clock: 1, 2, 4 or 8
  parameter int unsigned FRAMES = 64      // most frames of a transfer: 4, 16 or 64
) (
  input  logic                 clock,
  input  logic                 reset,     // synchronous; only for power-up, since it loses the journal
  input  logic [63:0]          now,       // link clocks since power-up

  // The wire: the slices of a clock, slice 0 first, each with its kind (enum kind)
  output logic                 tx_valid,  // the side is not down; slices without a frame are idle
  input  logic                 tx_ready,
  output logic [2*SLICES-1:0]  tx_kind,
  output logic [64*SLICES-1:0] tx_data,
  input  logic                 rx_valid,
  output logic                 rx_ready,
  input  logic [2*SLICES-1:0]  rx_kind,
  input  logic [64*SLICES-1:0] rx_data,

  // The firmware: AXI4-Lite slave, 64 bits, and an interrupt
  input  logic                 axi_awvalid,
  output logic                 axi_awready,
  input  logic [16:0]          axi_awaddr,
  input  logic [2:0]           axi_awprot,
  input  logic                 axi_wvalid,
  output logic                 axi_wready,
  input  logic [63:0]          axi_wdata,
  input  logic [7:0]           axi_wstrb,
  output logic                 axi_bvalid,
  input  logic                 axi_bready,
  output logic [1:0]           axi_bresp,
  input  logic                 axi_arvalid,
  output logic                 axi_arready,
  input  logic [16:0]          axi_araddr,
  input  logic [2:0]           axi_arprot,
  output logic                 axi_rvalid,
  input  logic                 axi_rready,
  output logic [63:0]          axi_rdata,
  output logic [1:0]           axi_rresp,
  output logic                 irq,

  // The states of the link (enum link_state), for a trace
  output logic [7:0]           trace_phase,
  output logic [7:0]           trace_sender,
  output logic [31:0]          trace_sent,      // number of the last transfer
  output logic [7:0]           trace_outcome,   //   and its outcome
  output logic [7:0]           trace_receiver,
  output logic [31:0]          trace_expected,  // number of the expected frame
  output logic [7:0]           trace_received,  // outcome of the transfer before it

  // Clock gate
  output logic                 busy,
  output logic                 deadline_valid,
  output logic [63:0]          deadline
);

  if (SLICES != 1 && SLICES != 2 && SLICES != 4 && SLICES != 8) $error("SLICES must be 1, 2, 4 or 8");
  if (FRAMES != 4 && FRAMES != 16 && FRAMES != 64) $error("FRAMES must be 4, 16 or 64");

  // ---- State machines ----

  oae_link_table::phase_state_t    phase;
  oae_link_table::phase_event_t    phase_event;
  oae_link_table::phase_state_t    phase_next;
  logic [oae_link_table::PHASE_ACTIONS-1:0] phase_actions;
  oae_link_table::sender_state_t   sender;
  oae_link_table::sender_event_t   sender_event;
  oae_link_table::sender_state_t   sender_next;
  logic [oae_link_table::SENDER_ACTIONS-1:0] sender_actions;
  oae_link_table::receiver_state_t receiver;
  oae_link_table::receiver_event_t receiver_event;
  oae_link_table::receiver_state_t receiver_next;
  logic [oae_link_table::RECEIVER_ACTIONS-1:0] receiver_actions;

  oae_link_transitions transitions (
    .phase, .phase_event, .phase_next, .phase_actions,
    .sender, .sender_event, .sender_next, .sender_actions,
    .receiver, .receiver_event, .receiver_next, .receiver_actions);

  logic down;
  logic up;
  logic cut;
  assign down = phase == oae_link_table::PHASE_STATE_DOWN;
  assign cut = phase_actions[oae_link_table::PHASE_CUT];

  // ---- From the wire ----

  logic         head_valid;
  logic [63:0]  head;
  logic         mark_valid;
  logic [63:0]  mark_head;
  logic [1:0]   mark_level;
  logic         frame_valid;
  logic [511:0] frame;
  logic         damaged;
  logic [63:0]  damaged_head;
  logic         reflection_valid;
  logic [63:0]  reflection;
  logic         unpacker_busy;
  logic         alive;

  assign rx_ready = 1'b1;          // the receiver of a wire cannot wait

  oae_link_unpacker #(.SLICES(SLICES)) unpacker (
    .clock, .reset, .clear(down), .rx_valid, .rx_kind, .rx_data,
    .head_valid, .head, .mark_valid, .mark_head, .mark_level,
    .frame_valid, .frame, .damaged, .damaged_head, .reflection_valid, .reflection,
    .busy(unpacker_busy));

  assign alive = up && frame_valid &&
      frame[oae_registers::FRAME_HEADER_PROTOCOL_SHIFT +: 3] == oae_registers::PROTOCOL_ALIVE;

  // ---- To the wire: the journal first, then the replies for which the other side waits ----

  logic         phase_valid;
  logic [447:0] phase_frame;
  logic         reply_valid;
  logic [447:0] reply_frame;
  logic         send_valid;
  logic [447:0] send_frame;
  logic         alive_valid;
  logic [447:0] alive_frame;
  logic         former_ready;
  logic         former_valid;
  logic [447:0] former;
  logic [63:0]  check;
  logic         packer_ready;
  logic         packer_busy;
  logic         back_valid;
  logic         back_ready;
  logic [63:0]  back;

  assign former_ready = !former_valid || packer_ready;

  always_ff @(posedge clock) begin
    if (reset || down) begin
      former_valid <= 1'b0;
      former <= '0;
    end else if (former_ready) begin
      former_valid <= phase_valid || reply_valid || send_valid || alive_valid;
      former <= phase_valid ? phase_frame : reply_valid ? reply_frame
              : send_valid ? send_frame : alive_frame;
    end
  end

  oae_crc64 #(.BYTES(oae_registers::FRAME_CHECK)) network (
    .enable(former_valid), .data(former), .crc(check));

  oae_link_reflector reflector (
    .clock, .reset, .enable(up), .mark_valid, .mark_head, .mark_level,
    .frame_valid, .frame_head(frame[63:0]), .damaged, .damaged_head,
    .reflection_valid(back_valid), .reflection_ready(back_ready), .reflection(back));

  oae_link_packer #(.SLICES(SLICES)) packer (
    .clock, .reset, .clear(down), .frame_valid(former_valid), .frame_ready(packer_ready),
    .frame({check, former}), .reflection_valid(back_valid), .reflection_ready(back_ready),
    .reflection(back), .tx_ready, .tx_kind, .tx_data, .busy(packer_busy));

  assign tx_valid = !down;

  // ---- The firmware's side ----

  logic        access_valid;
  logic        access_ready;
  logic        access_write;
  logic [13:0] access_word;
  logic [63:0] access_data;
  logic [7:0]  access_strobe;
  logic        access_done;
  logic        access_error;
  logic [63:0] access_result;
  logic        axil_busy;

  oae_axil axil (
    .clock, .reset,
    .awvalid(axi_awvalid), .awready(axi_awready), .awaddr(axi_awaddr), .awprot(axi_awprot),
    .wvalid(axi_wvalid), .wready(axi_wready), .wdata(axi_wdata), .wstrb(axi_wstrb),
    .bvalid(axi_bvalid), .bready(axi_bready), .bresp(axi_bresp),
    .arvalid(axi_arvalid), .arready(axi_arready), .araddr(axi_araddr), .arprot(axi_arprot),
    .rvalid(axi_rvalid), .rready(axi_rready), .rdata(axi_rdata), .rresp(axi_rresp),
    .access_valid, .access_ready, .access_write, .access_word, .access_data, .access_strobe,
    .access_done, .access_error, .access_result,
    .busy(axil_busy));

  logic [1:0]  slice_ack;
  logic [63:0] limit;
  logic [7:0]  trouble_limit;
  logic        begins;
  logic        ends;
  logic        command_valid;
  logic        command_ready;
  logic        command_refused;
  logic [7:0]  command_verb;
  logic [1:0]  command_beats;
  logic        take;
  logic        buffer_write;
  logic [8:0]  buffer_word;
  logic [63:0] buffer_data;
  logic [31:0] liveness;
  logic        liveness_written;
  logic [7:0]  trouble;
  logic [7:0]  reason;
  logic [7:0]  sent;
  logic [15:0] reported;
  logic [31:0] next_number;
  logic [1:0]  transfers;
  logic [1:0]  taken_beats;
  logic        taken_flow;
  logic [31:0] taken_number;
  logic        bad_slot;
  logic        mismatched;
  logic        silent;
  logic        history_known;
  logic [31:0] history_first;
  logic [31:0] session;
  logic [31:0] peer_session;

  oae_link_registers #(.SLICES(SLICES), .FRAMES(FRAMES)) registers (
    .clock, .reset, .now,
    .access_valid, .access_ready, .access_write, .access_word, .access_data, .access_strobe,
    .access_done, .access_error, .access_result, .irq,
    .slice_ack, .limit, .trouble_limit, .begins, .ends,
    .command_valid, .command_ready, .command_refused, .command_verb, .command_beats, .take,
    .buffer_write, .buffer_word, .liveness, .liveness_written, .buffer_data,
    .phase(trace_phase), .sender(trace_sender), .receiver(trace_receiver), .carrier(rx_valid),
    .trouble, .reason, .sent_outcome(trace_outcome), .sent, .reported, .sent_number(trace_sent),
    .transfers, .taken_beats, .taken_flow, .taken_number,
    .journal_outcome(trace_received), .expected(trace_expected),
    .history_known, .history_first, .session, .peer_session,
    .comes_up(phase_actions[oae_link_table::PHASE_RISE]), .goes_down(!down && phase_next == oae_link_table::PHASE_STATE_DOWN),
    .settles_committed(sender_actions[oae_link_table::SENDER_SETTLE_COMMITTED]),
    .settles_reversed(sender_actions[oae_link_table::SENDER_SETTLE_REVERSED]),
    .settles_lost(sender_actions[oae_link_table::SENDER_SETTLE_LOST]),
    .comes_in_doubt(sender != oae_link_table::SENDER_STATE_IN_DOUBT &&
                    sender_next == oae_link_table::SENDER_STATE_IN_DOUBT),
    .receives(receiver_actions[oae_link_table::RECEIVER_COMMIT]),
    .reverses(receiver_actions[oae_link_table::RECEIVER_REVERSE]),
    .alive, .alive_count(frame[oae_registers::FRAME_HEADER_OPERAND_SHIFT +: 32]),
    .bad_slot, .damaged(up && damaged), .mismatched, .silent);

  // ---- The machines ----

  logic        agreed;
  logic [31:0] peer_next;
  logic [31:0] peer_expected;
  logic [7:0]  peer_outcome;
  logic        peer_known;
  logic [31:0] peer_first;
  logic        peer_doubts;
  logic        phase_busy;
  logic        phase_deadline_valid;
  logic [63:0] phase_deadline;
  logic        sender_busy;
  logic        sender_deadline_valid;
  logic [63:0] sender_deadline;
  logic        receiver_busy;

  oae_link_phase machine (
    .clock, .reset, .now, .limit, .trouble_limit, .begins, .ends, .carrier(rx_valid),
    .doubts(sender_event == oae_link_table::SENDER_EVENT_DOUBT),
    .settles(sender_actions[oae_link_table::SENDER_SETTLE_COMMITTED]),
    .frame_valid, .frame, .next_number, .expected(trace_expected), .outcome(trace_received),
    .known(history_known), .first(history_first),
    .in_doubt(sender == oae_link_table::SENDER_STATE_IN_DOUBT), .up,
    .agreed, .peer_next, .peer_expected, .peer_outcome, .peer_known, .peer_first, .peer_doubts,
    .send_valid(phase_valid), .send_ready(former_ready), .send_frame(phase_frame),
    .phase_event, .phase, .phase_next, .actions(phase_actions), .trouble, .reason,
    .session, .peer_session, .busy(phase_busy), .deadline_valid(phase_deadline_valid), .deadline(phase_deadline));

  oae_link_sender #(.FRAMES(FRAMES)) outward (
    .clock, .reset, .now, .limit, .slice_ack, .up,
    .open(phase == oae_link_table::PHASE_STATE_IDLE), .cut,
    .agreed, .peer_expected, .peer_outcome, .peer_known, .peer_first,
    .frame_valid, .frame_head(frame[63:0]), .reflection_valid, .reflection,
    .command_valid, .command_verb, .command_beats, .command_ready, .command_refused,
    .write(buffer_write), .write_word(buffer_word), .write_data(access_data),
    .write_strobe(access_strobe),
    .send_valid, .send_ready(former_ready && !phase_valid && !reply_valid), .send_frame,
    .sender_event, .sender, .sender_next, .actions(sender_actions),
    .bad_slot, .mismatched, .silent, .outcome(trace_outcome), .sent, .reported, .next_number,
    .last(trace_sent), .busy(sender_busy), .deadline_valid(sender_deadline_valid),
    .deadline(sender_deadline));

  oae_link_receiver #(.FRAMES(FRAMES)) inward (
    .clock, .reset, .up, .cut, .agreed, .peer_next, .peer_doubts, .head_valid, .head,
    .frame_valid, .frame(frame[447:0]), .damaged, .take, .read_word(buffer_word), .read_data(buffer_data),
    .send_valid(reply_valid), .send_ready(former_ready && !phase_valid), .send_frame(reply_frame),
    .receiver_event, .receiver, .receiver_next, .actions(receiver_actions),
    .expected(trace_expected), .outcome(trace_received),
    .known(history_known), .first(history_first), .transfers, .taken_beats, .taken_flow,
    .taken_number, .busy(receiver_busy));

  // The firmware's sign of life is sent when the firmware gives it, and when the link comes up.
  logic alive_due;
  always_ff @(posedge clock) begin
    if (reset || cut) alive_due <= 1'b0;
    else if (liveness_written || phase_actions[oae_link_table::PHASE_RISE]) alive_due <= 1'b1;
    else if (former_ready && alive_valid && !phase_valid && !reply_valid && !send_valid)
      alive_due <= 1'b0;
  end
  assign alive_valid = up && alive_due;
  always_comb begin
    alive_frame = '0;
    alive_frame[oae_registers::FRAME_HEADER_PROTOCOL_SHIFT +: 3] = oae_registers::PROTOCOL_ALIVE;
    alive_frame[oae_registers::FRAME_HEADER_OPERAND_SHIFT +: 32] = liveness;
  end

  // ---- Values for the registers ----

  always_comb begin
    case (phase)
      oae_link_table::PHASE_STATE_INITIALISING: trace_phase = oae_registers::LINK_STATE_INITIALISING;
      oae_link_table::PHASE_STATE_JOINED: trace_phase = oae_registers::LINK_STATE_JOINED;
      oae_link_table::PHASE_STATE_IDLE: trace_phase = oae_registers::LINK_STATE_IDLE;
      default: trace_phase = oae_registers::LINK_STATE_DOWN;
    endcase
    case (sender)
      oae_link_table::SENDER_STATE_TENTATIVE: trace_sender = oae_registers::LINK_STATE_TENTATIVE;
      oae_link_table::SENDER_STATE_COMMITTING: trace_sender = oae_registers::LINK_STATE_COMMITTING;
      oae_link_table::SENDER_STATE_REVERSING: trace_sender = oae_registers::LINK_STATE_REVERSING;
      oae_link_table::SENDER_STATE_IN_DOUBT: trace_sender = oae_registers::LINK_STATE_IN_DOUBT;
      default: trace_sender = oae_registers::LINK_STATE_IDLE;
    endcase
    case (receiver)
      oae_link_table::RECEIVER_STATE_REFLECTING:
        trace_receiver = oae_registers::LINK_STATE_REFLECTING;
      oae_link_table::RECEIVER_STATE_TENTATIVE: trace_receiver = oae_registers::LINK_STATE_TENTATIVE;
      default: trace_receiver = oae_registers::LINK_STATE_IDLE;
    endcase
  end

  // ---- Clock gate ----

  assign busy = axil_busy || access_done || unpacker_busy || former_valid || packer_busy ||
                phase_busy || sender_busy || receiver_busy || alive_valid;
  assign deadline_valid = phase_deadline_valid || sender_deadline_valid;
  assign deadline = phase_deadline_valid &&
      (!sender_deadline_valid || phase_deadline < sender_deadline) ? phase_deadline
                                                                  : sender_deadline;

endmodule
