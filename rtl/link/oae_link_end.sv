// SPDX-License-Identifier: Apache-2.0
// One end of an OAE link. Slots go from the send ring of one end to the receive ring of the other, many at a time, and each is
// committed at both ends or at neither. The firmware controls it by AXI4-Lite.
//
// The clock may stop while `busy_o` is low, no access is pending and the wire is idle in both directions. It must run again for
// the next access, when a group that is not idle arrives, when `carrier_i` changes, or when `now_i` reaches `deadline_o`.
module oae_link_end #(
  parameter int unsigned SLICES = 2,          // in a clock: 2, 4 or 8
  parameter int unsigned SLOTS = 128,         // of each ring, a power of two from 16 to 512
  parameter int unsigned RETURN_EVERY = 32,   // groups that leave before a return does, under load
  parameter int unsigned LIMIT_BITS = 20,     // of limits.silence, from 13 to 30; both ends of a link have the same
  parameter bit          RELAY = 1'b0         // a relay has the rings
) (
  input  logic                 clk_i,
  input  logic                 rst_i,         // synchronous; only for power-up, since it loses the journal
  input  logic [31:0]          now_i,         // clocks since power-up, modulo 2^32

  // The wire: a group of slices in each clock, slice 0 first, and its kind (enum wire_kind)
  output logic                 carrier_o,     // the side is not down
  output logic [1:0]           kind_o,
  output logic [64*SLICES-1:0] data_o,
  input  logic                 carrier_i,
  input  logic [1:0]           kind_i,
  input  logic [64*SLICES-1:0] data_i,

  // The firmware: AXI4-Lite slave, 64 bits, and an interrupt
  input  logic                 axi_awvalid_i,
  output logic                 axi_awready_o,
  input  logic [16:0]          axi_awaddr_i,
  input  logic [2:0]           axi_awprot_i,
  input  logic                 axi_wvalid_i,
  output logic                 axi_wready_o,
  input  logic [63:0]          axi_wdata_i,
  input  logic [7:0]           axi_wstrb_i,
  output logic                 axi_bvalid_o,
  input  logic                 axi_bready_i,
  output logic [1:0]           axi_bresp_o,
  input  logic                 axi_arvalid_i,
  output logic                 axi_arready_o,
  input  logic [16:0]          axi_araddr_i,
  input  logic [2:0]           axi_arprot_i,
  output logic                 axi_rvalid_o,
  input  logic                 axi_rready_i,
  output logic [63:0]          axi_rdata_o,
  output logic [1:0]           axi_rresp_o,
  output logic                 irq_o,

  // The bridge (rtl/bridge), which has the rings while `bridged_o` is high: the next slot of the send ring, whose groups come
  // in successive clocks, and the first slot of the receive ring
  output logic                 bridged_o,
  output logic [63:0]          ports_o,       // the joined ports whose slots it passes on
  output logic                 send_room_o,   // the send ring has a place, as of the clock before
  input  logic                 send_offer_i,  // with the first group
  input  logic                 send_write_i,
  input  logic [2:0]           send_slice_i,  // the first of the group
  input  logic [64*SLICES-1:0] send_data_i,
  output logic                 receive_valid_o,
  /* verilator lint_off UNUSEDSIGNAL */       // by a relay
  input  logic                 receive_read_i,
  input  logic [2:0]           receive_slice_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic [64*SLICES-1:0] receive_data_o, // one clock after receive_read_i
  input  logic                 receive_take_i,
  input  logic                 passes_i,      // for the counters
  input  logic                 brings_i,
  input  logic                 strays_i,

  // The relay (rtl/relay): what comes in by this end, and what leaves by it, whose groups come by the pins of the bridge
  output oae_link_pkg::arrival_t  arrival_o,
  output logic [64*SLICES-1:0] arrival_data_o,
  input  oae_link_pkg::hold_t     hold_i,
  output oae_link_pkg::inbound_t  inbound_o,
  input  oae_link_pkg::onward_t   onward_i,
  output logic [oae_link_pkg::ROUTE_BITS*oae_link_pkg::ROUTES-1:0] routes_o, // a row of the table after the other
  input  oae_link_pkg::outward_t  outward_i,
  input  oae_link_pkg::opening_t  opening_i,
  output oae_link_pkg::outbound_t outbound_o,
  output oae_link_pkg::confirm_t  confirm_o,

  // For a trace
  output logic [7:0]           phase_o,       // enum window_phase
  output logic [31:0]          sent_o,
  output logic [31:0]          settled_o,
  output logic [31:0]          expected_o,
  output logic [31:0]          done_o,

  // Clock gate
  output logic                 busy_o,
  output logic                 deadline_valid_o,
  output logic [31:0]          deadline_o
);

  localparam int unsigned ROW = $clog2(SLOTS);
  localparam int unsigned GROUP = $clog2(8 / SLICES);       // bits that number the groups of a frame
  localparam int unsigned ROWS = SLOTS * 8 / SLICES;

  // After power-up, an end stays down for twice as long as the other one can tolerate a silence. The second half is for the
  // time on the wire and for clocks that differ.
  localparam int unsigned HOLD_OFF = 32'd2 << LIMIT_BITS;

  if (LIMIT_BITS < 13 || LIMIT_BITS > 30) $error("LIMIT_BITS must be from 13 to 30");
  if (SLOTS < 16 || SLOTS > 512 || (SLOTS & (SLOTS - 1)) != 0) $error("SLOTS must be a power of two from 16 to 512");

  // ---- From the wire ----

  logic                 group_valid;
  logic [2:0]           group_slice;
  logic [64*SLICES-1:0] group_data;
  logic                 frame_good;
  logic                 damaged;
  logic [1:0]           protocol;
  oae_link_pkg::head_t                head;
  logic [31:0]          operand;
  oae_link_pkg::join_t                peer;
  logic                 return_valid;
  oae_link_pkg::return_t              from_peer;
  logic                 receive_busy;
  logic                 down;
  logic                 up;
  logic [31:0]          session;
  logic [31:0]          peer_session;

  oae_link_receive #(.SLICES(SLICES)) receive (
    .clk_i, .rst_i, .clear_i(down), .kind_i, .data_i,
    .own_session_i(session[15:0]), .peer_session_i(peer_session[15:0]), .expected_i(expected_o),
    .group_valid_o(group_valid), .group_slice_o(group_slice), .group_data_o(group_data),
    .frame_good_o(frame_good), .damaged_o(damaged), .protocol_o(protocol), .head_o(head), .operand_o(operand),
    .join_o(peer), .return_valid_o(return_valid), .return_o(from_peer), .busy_o(receive_busy));

  // ---- The phases ----

  logic        begins;
  logic        ends;
  logic [31:0] limit;
  logic [7:0]  trouble_limit;
  logic        doubts;
  logic        gains;
  logic        defect;
  logic        join_due;
  logic        join_taken;
  logic        holds_off;
  logic        live;
  logic        agreed;
  logic        met;
  logic        anew;
  logic        open;
  logic        agrees;                       // the side joins in this clock,
  logic        joins;                        //   and its numbers change in the next one, in which nothing leaves
  oae_link_pkg::sent_t    peer_sent;
  oae_link_pkg::journal_t peer_journal;
  logic        was_up;
  logic        cuts;
  logic        rises;
  logic        falls;
  logic [7:0]  trouble;
  logic [7:0]  reason;
  logic        phases_busy;
  logic        phases_wait;
  logic [31:0] phases_deadline;

  oae_link_phases #(.HOLD_OFF(HOLD_OFF)) phases (
    .clk_i, .rst_i, .now_i, .limit_i(limit), .trouble_limit_i(trouble_limit), .begins_i(begins), .ends_i(ends),
    .carrier_i, .doubts_i(doubts), .gains_i(gains), .defect_i(defect),
    .lost_i(RELAY && hold_i.loses), .frame_good_i(frame_good), .protocol_i(protocol), .peer_i(peer.sessions), .return_valid_i(return_valid),
    .send_valid_o(join_due), .send_taken_i(join_taken), .known_session_o(live), .agreed_o(agreed), .met_o(met), .anew_o(anew),
    .phase_o, .holds_off_o(holds_off), .down_o(down), .up_o(up), .open_o(open), .joins_o(agrees), .cuts_o(cuts), .rises_o(rises), .falls_o(falls),
    .trouble_o(trouble), .reason_o(reason), .session_o(session), .peer_session_o(peer_session),
    .busy_o(phases_busy), .deadline_valid_o(phases_wait), .deadline_o(phases_deadline));

  always_ff @(posedge clk_i) begin
    joins <= agrees && !rst_i;
    peer_sent <= peer.sent;
    peer_journal <= peer.journal;
    was_up <= !anew;
  end

  // ---- The slots to the other side, and those from it ----

  logic        again;
  logic        csr_offer;
  logic        csr_take;
  logic [31:0] csr_index;
  logic        csr_drop;
  logic        offer_refused;
  logic        take_refused;
  logic        settle_refused;
  logic        withdraw;
  logic        resume;
  logic        settle;
  oae_link_pkg::verdict_t    verdict;
  logic        slot_valid;
  logic [7:0]  generation;
  logic        slot_taken;
  logic        restart_valid;
  oae_link_pkg::head_t       restart;
  logic        restart_taken;
  logic        checked;
  oae_link_pkg::head_t       checked_head;
  logic        confirm_due;
  logic        ask;
  logic        return_taken;
  logic [31:0] offered;
  logic [31:0] answered;
  logic [31:0] confirm;
  logic [31:0] credit;
  logic [31:0] confirmed;
  logic        held;
  logic        restarting;
  logic        in_doubt;
  logic [31:0] commits;
  logic [31:0] reverses;
  logic [31:0] loses;
  logic        lost;
  logic        strange;
  logic [31:0] reported;
  logic        silent;
  logic        window_busy;
  logic        window_waits;
  logic [31:0] window_deadline;

  logic handed;                              // the firmware has no part in the rings
  assign handed = bridged_o || RELAY;

  oae_link_window #(.SLOTS(SLOTS), .RELAY(RELAY)) window (
    .clk_i, .rst_i, .now_i, .up_i(open), .down_i(down), .cut_i(cuts), .join_i(joins), .peer_i(peer_journal),
    .was_up_i(was_up), .bridged_i(bridged_o), .limit_i(limit),
    .again_i(again), .offer_i(csr_offer && !handed), .offer_number_i(csr_index), .offer_refused_o(offer_refused),
    .offer_next_i(send_offer_i && handed), .relay_i(outward_i),
    .withdraw_i(withdraw), .resume_i(resume), .drop_i(csr_drop && !handed), .settle_i(settle), .verdict_i(verdict), .settle_refused_o(settle_refused),
    .return_valid_i(up && return_valid), .return_i(from_peer.answer),
    .slot_valid_o(slot_valid), .generation_o(generation), .slot_taken_i(slot_taken), .restart_valid_o(restart_valid),
    .restart_o(restart), .restart_taken_i(restart_taken), .checked_i(checked), .checked_head_i(checked_head),
    .confirm_due_o(confirm_due), .ask_o(ask), .return_taken_i(return_taken),
    .offered_o(offered), .sent_o, .answered_o(answered), .confirm_o(confirm), .confirmed_o(confirmed), .settled_o, .credit_o(credit), .held_o(held),
    .restarting_o(restarting), .in_doubt_o(in_doubt), .commits_o(commits), .reverses_o(reverses), .loses_o(loses),
    .lost_o(lost), .strange_o(strange), .reported_o(reported), .silent_o(silent), .doubts_o(doubts), .gains_o(gains),
    .busy_o(window_busy), .deadline_valid_o(window_waits), .deadline_o(window_deadline));

  /* verilator lint_off UNUSEDSIGNAL */       // by a relay, which has no receive ring
  logic           room;
  logic [ROW-1:0] row;
  /* verilator lint_on UNUSEDSIGNAL */
  logic           known;
  logic [31:0]    first;
  logic [31:0]    received;
  logic [31:0]    taken;
  oae_link_pkg::answer_t answer;
  logic           due;
  logic           urgent;
  logic           intake_busy;
  logic           jammed;
  logic           jams;
  logic [31:0]    receives;

  oae_link_pkg::arrival_t arrival;

  oae_link_intake #(.SLOTS(SLOTS), .RELAY(RELAY)) intake (
    .clk_i, .rst_i, .up_i(up), .cut_i(cuts), .join_i(joins), .peer_i(peer_sent),
    .frame_good_i(frame_good), .damaged_i(damaged), .protocol_i(protocol), .head_i(head),
    .return_valid_i(return_valid), .return_i(from_peer.request), .take_i(csr_take && !handed), .take_index_i(csr_index), .take_refused_o(take_refused),
    .take_next_i(receive_take_i && bridged_o), .relay_i(onward_i), .hold_i, .arrival_o(arrival), .relay_o(inbound_o),
    .room_o(room), .row_o(row), .expected_o, .done_o, .known_o(known), .first_o(first), .received_o(received),
    .taken_o(taken), .return_o(answer), .due_o(due), .urgent_o(urgent), .busy_o(intake_busy), .return_taken_i(return_taken),
    .jammed_o(jammed), .jams_o(jams), .commits_o(receives), .defect_o(defect));

  always_comb begin
    arrival_o = arrival;
    arrival_o.part = live && group_valid;
    arrival_o.slice = group_slice;
  end
  assign arrival_data_o = group_data;
  assign outbound_o.up = open;
  assign outbound_o.room = offered - settled_o < 32'(SLOTS - 1);
  assign outbound_o.loses = lost;
  assign outbound_o.strange = strange;
  assign confirm_o.leaves = return_taken;
  assign confirm_o.number = confirm;
  assign outbound_o.offered = offered;
  assign outbound_o.answered = answered;
  assign outbound_o.settled = reported;
  assign outbound_o.credit = credit;

  // ---- The rings: a row holds what the wire carries in a clock ----

  logic [7:0]     ring_write;
  /* verilator lint_off UNUSEDSIGNAL */       // by a relay, which has no receive ring
  logic           ring_read;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [ROW-1:0] ring_slot;
  logic [2:0]     ring_slice;
  logic [63:0]    ring_data;
  logic           send_read;
  logic [ROW-1:0] send_slot;
  logic [2:0]     send_slice;
  logic [64*SLICES-1:0] send_data;
  logic [64*SLICES-1:0] receive_data;
  logic [$clog2(SLICES)-1:0] receive_lane_q;

  function automatic logic [$clog2(ROWS)-1:0] row_of(input logic [ROW-1:0] slot, input logic [2:0] slice);
    row_of = ($clog2(ROWS))'({slot, slice} >> (3 - GROUP));
  endfunction

  logic [SLICES-1:0] csr_words;
  assign csr_words = ring_write == '0 ? '0 : SLICES'(1) << ring_slice[$clog2(SLICES)-1:0];

  oae_link_memory #(.ROWS(ROWS), .WORDS(SLICES)) send_ring (
    .clk_i, .write_i(handed ? {SLICES{send_write_i}} : csr_words),
    .write_row_i(handed ? row_of(offered[ROW-1:0] + ROW'(send_offer_i), send_slice_i) : row_of(ring_slot, ring_slice)),
    .write_data_i(handed ? send_data_i : {SLICES{ring_data}}), .read_i(send_read), .read_row_i(row_of(send_slot, send_slice)),
    .read_data_o(send_data));

  if (RELAY) begin : gen_relay
    assign receive_data = '0;
  end else begin : gen_receive_ring
    // The last group of a slot may be what shows that the other side has joined, too.
    oae_link_memory #(.ROWS(ROWS), .WORDS(SLICES)) receive_ring (
      .clk_i, .write_i({SLICES{live && group_valid && room}}), .write_row_i(row_of(row, group_slice)), .write_data_i(group_data),
      .read_i(bridged_o ? receive_read_i : ring_read),
      .read_row_i(bridged_o ? row_of(taken[ROW-1:0], receive_slice_i) : row_of(ring_slot, ring_slice)),
      .read_data_o(receive_data));
  end

  assign receive_data_o = receive_data;
  assign receive_valid_o = received != taken;
  always_ff @(posedge clk_i) send_room_o <= offered - settled_o < 32'(SLOTS - 1);

  always_ff @(posedge clk_i) receive_lane_q <= ring_slice[$clog2(SLICES)-1:0];

  // ---- To the wire ----

  logic    alive_due_q;
  logic    alive_taken;
  logic    liveness_written;
  logic [31:0] liveness;
  logic    transmit_busy;
  logic    starved;
  logic    slot_open;            // the next slot has not arrived as a whole
  oae_link_pkg::return_t to_peer;
  oae_link_pkg::join_t   join_frame;

  assign to_peer.request.ask = ask;
  assign to_peer.request.confirmed = confirm[15:0];
  assign to_peer.answer = answer;
  assign join_frame.journal.anew = anew;
  assign join_frame.sessions.met = met;
  assign join_frame.sessions.agreed = agreed;
  assign join_frame.sessions.other = peer_session;
  assign join_frame.sessions.own = session;
  assign join_frame.sent.confirmed = confirmed;
  assign join_frame.sent.settled = settled_o;
  assign join_frame.journal.known = known;
  assign join_frame.journal.first = first;
  assign join_frame.journal.pending = RELAY ? onward_i.unsettled[15:0] : '0;
  assign join_frame.journal.done = done_o - (RELAY ? onward_i.unsettled : '0);

  oae_link_transmit #(.SLICES(SLICES), .SLOTS(SLOTS), .RETURN_EVERY(RETURN_EVERY)) transmit (
    .clk_i, .rst_i, .clear_i(down), .own_session_i(session[15:0]), .peer_session_i(peer_session[15:0]),
    .return_valid_i(live && !joins && (due || confirm_due || ask)), .return_urgent_i(urgent), .return_i(to_peer),
    .return_taken_o(return_taken),
    .join_valid_i(join_due && !joins),
    .join_i(join_frame),
    .join_taken_o(join_taken), .restart_valid_i(restart_valid), .restart_i(restart), .restart_taken_o(restart_taken),
    .alive_valid_i(open && alive_due_q), .alive_i(liveness), .alive_taken_o(alive_taken),
    .slot_valid_i(slot_valid && !(slot_open && (opening_i.filled == '0 || starved))), .slot_number_i(sent_o + 32'd1), .slot_generation_i(generation), .slot_taken_o(slot_taken), .starved_o(starved),
    .slot_open_i(slot_open), .filled_i(opening_i.filled),
    .closed_i(opening_i.closes), .spoils_i(opening_i.spoils),
    .ring_read_o(send_read), .ring_slot_o(send_slot), .ring_slice_o(send_slice), .ring_data_i(send_data),
    .checked_o(checked), .checked_head_o(checked_head), .kind_o, .data_o, .busy_o(transmit_busy));

  assign slot_open = RELAY && opening_i.open && sent_o + 32'd1 == offered;
  assign carrier_o = !down;

  // The firmware's sign of life is sent when the firmware gives it, and when the link comes up.
  always_ff @(posedge clk_i) begin
    if (rst_i) alive_due_q <= 1'b0;
    else if (liveness_written || rises) alive_due_q <= 1'b1;
    else if (alive_taken) alive_due_q <= 1'b0;
  end

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
  logic        csr_busy;

  oae_axil axil (
    .clock(clk_i), .reset(rst_i),
    .awvalid(axi_awvalid_i), .awready(axi_awready_o), .awaddr(axi_awaddr_i), .awprot(axi_awprot_i),
    .wvalid(axi_wvalid_i), .wready(axi_wready_o), .wdata(axi_wdata_i), .wstrb(axi_wstrb_i),
    .bvalid(axi_bvalid_o), .bready(axi_bready_i), .bresp(axi_bresp_o),
    .arvalid(axi_arvalid_i), .arready(axi_arready_o), .araddr(axi_araddr_i), .arprot(axi_arprot_i),
    .rvalid(axi_rvalid_o), .rready(axi_rready_i), .rdata(axi_rdata_o), .rresp(axi_rresp_o),
    .access_valid, .access_ready, .access_write, .access_word, .access_data, .access_strobe,
    .access_done, .access_error, .access_result, .busy(axil_busy));

  oae_link_csr #(.SLICES(SLICES), .SLOTS(SLOTS), .LIMIT_BITS(LIMIT_BITS), .RELAY(RELAY)) csr (
    .clk_i, .rst_i, .now_i,
    .access_valid_i(access_valid), .access_ready_o(access_ready), .access_write_i(access_write), .access_word_i(access_word),
    .access_data_i(access_data), .access_strobe_i(access_strobe), .access_done_o(access_done),
    .access_error_o(access_error), .access_result_o(access_result), .irq_o, .busy_o(csr_busy),
    .again_o(again), .begins_o(begins), .ends_o(ends), .limit_o(limit), .trouble_limit_o(trouble_limit),
    .liveness_o(liveness), .liveness_written_o(liveness_written), .offer_o(csr_offer), .take_o(csr_take), .index_o(csr_index),
    .withdraw_o(withdraw), .resume_o(resume), .drop_o(csr_drop), .settle_o(settle), .verdict_o(verdict),
    .refused_i(offer_refused || take_refused || settle_refused || (handed && (csr_offer || csr_take || csr_drop))),
    .bridged_o, .ports_o, .routes_o, .passes_i, .brings_i, .strays_i,
    .ring_write_o(ring_write), .ring_read_o(ring_read), .ring_slot_o(ring_slot), .ring_slice_o(ring_slice),
    .ring_data_o(ring_data), .ring_data_i(handed ? '0 : receive_data[64*receive_lane_q +: 64]),
    .phase_i(phase_o), .holds_off_i(holds_off), .held_i(held), .restarting_i(restarting), .jammed_i(jammed), .in_doubt_i(in_doubt),
    .trouble_i(trouble), .reason_i(reason), .offered_i(offered), .sent_i(sent_o), .answered_i(answered),
    .confirmed_i(confirmed), .settled_i(settled_o), .received_i(received), .taken_i(taken), .done_i(done_o),
    .known_i(known), .first_i(first), .session_i(session), .peer_session_i(peer_session),
    .rises_i(rises), .falls_i(falls), .commits_i(commits), .reverses_i(reverses), .loses_i(loses), .receives_i(receives),
    .alive_i(up && frame_good && protocol == 2'(oae_registers::WIRE_PROTOCOL_ALIVE)), .alive_count_i(operand),
    .damaged_i(up && damaged), .jams_i(jams), .silent_i(silent));

  // ---- Clock gate ----

  assign busy_o = joins || axil_busy || csr_busy || receive_busy || phases_busy || window_busy || transmit_busy || intake_busy ||
                  (live && due) || (open && alive_due_q);
  assign deadline_valid_o = phases_wait || window_waits;
`ifdef SYNTHESIS
  assign deadline_o = '0;
`else
  assign deadline_o = !window_waits || (phases_wait && phases_deadline - now_i < window_deadline - now_i) ? phases_deadline
                                                                                             : window_deadline;
`endif

endmodule
