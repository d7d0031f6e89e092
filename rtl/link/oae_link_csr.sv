// SPDX-License-Identifier: Apache-2.0
// The registers of a link's end (registers/window.yaml), and its interrupt.
module oae_link_csr #(
  parameter int unsigned SLICES = 2,
  parameter int unsigned SLOTS = 128,
  parameter int unsigned LIMIT_BITS = 20, // of limits.silence
  parameter bit          RELAY = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_i,
  input  logic [31:0] now_i,

  input  logic        access_valid_i,
  output logic        access_ready_o,
  input  logic        access_write_i,
  input  logic [13:0] access_word_i,   // address[16:3]
  input  logic [63:0] access_data_i,
  input  logic [7:0]  access_strobe_i,
  output logic        access_done_o,   // for one clock, in which the next two are valid
  output logic        access_error_o,
  output logic [63:0] access_result_o,
  output logic        irq_o,
  output logic        busy_o,

  // What the firmware wants
  output logic        again_o,
  output logic        begins_o,        // one clock after the write
  output logic        ends_o,
  output logic [31:0] limit_o,
  output logic [7:0]  trouble_limit_o,
  output logic [31:0] liveness_o,
  output logic        liveness_written_o,
  output logic        offer_o,
  output logic        take_o,
  output logic [31:0] index_o,         // of an offer, or the consumer's
  output logic        withdraw_o,
  output logic        resume_o,
  output logic        drop_o,
  output logic        settle_o,
  output oae_link_pkg::verdict_t    verdict_o,
  input  logic        refused_i,       // what is wanted in this clock
  output logic        bridged_o,       // the rings are the bridge's
  output logic [63:0] ports_o,
  output logic [oae_link_pkg::ROUTE_BITS*oae_link_pkg::ROUTES-1:0] routes_o,

  // The rings
  output logic [7:0]  ring_write_o,    // bytes of a word of the send ring
  output logic        ring_read_o,     // a word of the receive ring, which comes one clock later
  output logic [$clog2(SLOTS)-1:0] ring_slot_o,
  output logic [2:0]  ring_slice_o,
  output logic [63:0] ring_data_o,
  input  logic [63:0] ring_data_i,

  // What is visible
  input  logic [7:0]  phase_i,
  input  logic        holds_off_i,
  input  logic        held_i,
  input  logic        restarting_i,
  input  logic        jammed_i,
  input  logic        in_doubt_i,
  input  logic [7:0]  trouble_i,
  input  logic [7:0]  reason_i,
  input  logic [31:0] offered_i,
  input  logic [31:0] sent_i,
  input  logic [31:0] answered_i,
  input  logic [31:0] confirmed_i,
  input  logic [31:0] settled_i,
  input  logic [31:0] received_i,
  input  logic [31:0] taken_i,
  input  logic [31:0] done_i,
  input  logic        known_i,
  input  logic [31:0] first_i,
  input  logic [31:0] session_i,
  input  logic [31:0] peer_session_i,

  // Events in this clock
  input  logic        rises_i,
  input  logic        falls_i,
  input  logic [31:0] commits_i,       // slots, in the clock before
  input  logic [31:0] reverses_i,
  input  logic [31:0] loses_i,
  input  logic [31:0] receives_i,
  input  logic        alive_i,
  input  logic [31:0] alive_count_i,
  input  logic        damaged_i,
  input  logic        jams_i,
  input  logic        silent_i,
  input  logic        passes_i,        // of the bridge
  input  logic        brings_i,
  input  logic        strays_i
);

  localparam int unsigned ROW = $clog2(SLOTS);
  localparam int unsigned ENTRY = oae_link_pkg::ROUTE_BITS;

  localparam logic [8:0] ID = 9'(oae_registers::WINDOW_ID >> 3);
  localparam logic [8:0] CONTROL = 9'(oae_registers::WINDOW_CONTROL >> 3);
  localparam logic [8:0] LIMITS = 9'(oae_registers::WINDOW_LIMITS >> 3);
  localparam logic [8:0] LIVENESS = 9'(oae_registers::WINDOW_LIVENESS >> 3);
  localparam logic [8:0] STATE = 9'(oae_registers::WINDOW_STATE >> 3);
  localparam logic [8:0] EVENT = 9'(oae_registers::WINDOW_EVENT >> 3);
  localparam logic [8:0] IRQ_ENABLE = 9'(oae_registers::WINDOW_IRQ_ENABLE >> 3);
  localparam logic [8:0] COMMAND = 9'(oae_registers::WINDOW_COMMAND >> 3);
  localparam logic [8:0] OFFERED = 9'(oae_registers::WINDOW_OFFERED >> 3);
  localparam logic [8:0] SENT = 9'(oae_registers::WINDOW_SENT >> 3);
  localparam logic [8:0] SETTLED = 9'(oae_registers::WINDOW_SETTLED >> 3);
  localparam logic [8:0] RECEIVED = 9'(oae_registers::WINDOW_RECEIVED >> 3);
  localparam logic [8:0] TAKEN = 9'(oae_registers::WINDOW_TAKEN >> 3);
  localparam logic [8:0] JOURNAL = 9'(oae_registers::WINDOW_JOURNAL >> 3);
  localparam logic [8:0] HISTORY = 9'(oae_registers::WINDOW_HISTORY >> 3);
  localparam logic [8:0] SESSION = 9'(oae_registers::WINDOW_SESSION >> 3);
  localparam logic [8:0] VERDICT = 9'(oae_registers::WINDOW_VERDICT >> 3);
  localparam logic [8:0] ALIVE = 9'(oae_registers::WINDOW_ALIVE >> 3);
  localparam logic [8:0] COMMITTED = 9'(oae_registers::WINDOW_COUNT_COMMITTED >> 3);
  localparam logic [8:0] REVERSED = 9'(oae_registers::WINDOW_COUNT_REVERSED >> 3);
  localparam logic [8:0] LOST = 9'(oae_registers::WINDOW_COUNT_LOST >> 3);
  localparam logic [8:0] COUNT_RECEIVED = 9'(oae_registers::WINDOW_COUNT_RECEIVED >> 3);
  localparam logic [8:0] DAMAGED = 9'(oae_registers::WINDOW_COUNT_DAMAGED >> 3);
  localparam logic [8:0] JAMMED = 9'(oae_registers::WINDOW_COUNT_JAMMED >> 3);
  localparam logic [8:0] SILENT = 9'(oae_registers::WINDOW_COUNT_SILENT >> 3);
  localparam logic [8:0] DOWN = 9'(oae_registers::WINDOW_COUNT_DOWN >> 3);
  localparam logic [8:0] PORTS = 9'(oae_registers::WINDOW_PORTS >> 3);
  localparam logic [8:0] PASSED = 9'(oae_registers::WINDOW_COUNT_PASSED >> 3);
  localparam logic [8:0] BROUGHT = 9'(oae_registers::WINDOW_COUNT_BROUGHT >> 3);
  localparam logic [8:0] STRAY = 9'(oae_registers::WINDOW_COUNT_STRAY >> 3);
  localparam logic [8:0] ROUTE = 9'(oae_registers::WINDOW_ROUTE >> 3);
  localparam logic [4:0] SEND_PAGE = 5'(oae_registers::WINDOW_SEND >> 12);
  localparam logic [4:0] RECEIVE_PAGE = 5'(oae_registers::WINDOW_RECEIVE >> 12);
  localparam logic [4:0] PAGES = 5'(SLOTS * 64 / 4096 == 0 ? 1 : SLOTS * 64 / 4096);  // of each ring

  logic        up_q;
  logic        controlled_q;
  logic        again_q;
  logic        bridged_q;
  logic [63:0] ports_q;
  logic [ENTRY*oae_link_pkg::ROUTES-1:0] routes_q;
  logic [LIMIT_BITS-1:0] limit_q;
  logic [7:0]  trouble_limit_q;
  logic [31:0] liveness_q;
  logic [7:0]  event_q;
  logic [7:0]  enable_q;
  oae_link_pkg::verdict_t    verdict_q;
  logic [31:0] alive_count_q;
  logic [31:0] alive_since_q;
  logic        alive_old_q;            // the age no longer fits
  logic [31:0] commits_q;              // what is counted in the clock after it has happened
  logic [31:0] reverses_q;
  logic [31:0] loses_q;
  logic [31:0] receives_q;
  logic [3:0]  happened_q;
  logic [63:0] committed_q;
  logic [63:0] reversed_q;
  logic [63:0] lost_q;
  logic [63:0] received_q;
  logic [63:0] damaged_q;
  logic [63:0] jammed_q;
  logic [63:0] silent_q;
  logic [63:0] down_q;
  logic [63:0] passed_q;
  logic [63:0] brought_q;
  logic [63:0] stray_q;
  logic        fetching_q;             // a word of the receive ring is on its way

  // ---- The access ----

  logic [4:0]  page;                   // of 4 KiB
  logic [8:0]  word;
  logic        accepted;
  logic        writes;
  logic        in_send;
  logic        in_receive;
  logic        known;
  logic [63:0] value;
  logic        is_route;
  logic [3:0]  route;
  oae_link_pkg::route_t entry;
  logic [63:0] mask;
  logic [63:0] merged;
  logic        command;
  logic [7:0]  verb;

  assign page = access_word_i[13:9];
  assign word = access_word_i[8:0];
  assign access_ready_o = !access_done_o && !fetching_q;
  assign accepted = access_valid_i && access_ready_o;
  assign writes = accepted && access_write_i && page == '0;
  assign in_send = page >= SEND_PAGE && page < SEND_PAGE + PAGES;
  assign in_receive = page >= RECEIVE_PAGE && page < RECEIVE_PAGE + PAGES;
  assign known = page == '0 ? word <= STRAY || is_route : in_send || in_receive;
  assign is_route = RELAY && word >= ROUTE && word < ROUTE + 9'(oae_link_pkg::ROUTES);
  assign entry = routes_q[ENTRY*route +: ENTRY];
  assign route = word[3:0];                  // ROUTE is a multiple of ROUTES
  always_comb
    for (int unsigned i = 0; i < 8; i++) mask[8*i +: 8] = {8{access_strobe_i[i]}};
  assign merged = (value & ~mask) | (access_data_i & mask);

  assign command = writes && word == COMMAND && access_strobe_i[0];
  assign verb = access_data_i[oae_registers::WINDOW_COMMAND_VERB_SHIFT +: 8];
  assign begins_o = controlled_q && up_q;
  assign ends_o = controlled_q && !up_q;
  assign liveness_written_o = writes && word == LIVENESS && access_strobe_i[3:0] != '0;

  assign ring_slot_o = access_word_i[3 +: ROW];
  assign ring_slice_o = access_word_i[2:0];
  assign ring_write_o = accepted && access_write_i && in_send ? access_strobe_i : '0;
  assign ring_read_o = accepted && in_receive;  // A write there reads a word in vain.
  assign ring_data_o = access_data_i;

  assign again_o = again_q || bridged_q || RELAY;
  assign bridged_o = bridged_q;
  assign ports_o = ports_q;
  assign routes_o = routes_q;
  assign limit_o = 32'(limit_q);
  assign trouble_limit_o = trouble_limit_q;
  assign liveness_o = liveness_q;
  assign verdict_o = verdict_q;
  assign irq_o = |(event_q & enable_q);
  assign busy_o = access_done_o || fetching_q || {commits_q, reverses_q, loses_q, receives_q, happened_q} != '0;

  // ---- Values of a read ----

  always_comb begin
    value = '0;
    unique case (word)
      ID: begin
        value = oae_registers::WINDOW_ID_RESET;
        value[oae_registers::WINDOW_ID_SLICES_SHIFT +: 4] = 4'(SLICES);
        value[oae_registers::WINDOW_ID_SLOTS_SHIFT +: 12] = 12'(SLOTS);
      end
      CONTROL: begin
        value[oae_registers::WINDOW_CONTROL_UP_SHIFT] = up_q;
        value[oae_registers::WINDOW_CONTROL_AGAIN_SHIFT] = again_q;
        value[oae_registers::WINDOW_CONTROL_BRIDGED_SHIFT] = bridged_q;
      end
      LIMITS: begin
        value[oae_registers::WINDOW_LIMITS_SILENCE_SHIFT +: 32] = 32'(limit_q);
        value[oae_registers::WINDOW_LIMITS_TROUBLE_SHIFT +: 8] = trouble_limit_q;
      end
      LIVENESS: value[31:0] = liveness_q;
      STATE: begin
        value[oae_registers::WINDOW_STATE_PHASE_SHIFT +: 8] = phase_i;
        value[oae_registers::WINDOW_STATE_HELD_SHIFT] = held_i;
        value[oae_registers::WINDOW_STATE_RESTARTING_SHIFT] = restarting_i;
        value[oae_registers::WINDOW_STATE_JAMMED_SHIFT] = jammed_i;
        value[oae_registers::WINDOW_STATE_IN_DOUBT_SHIFT] = in_doubt_i;
        value[oae_registers::WINDOW_STATE_HOLDS_OFF_SHIFT] = holds_off_i;
        value[oae_registers::WINDOW_STATE_TROUBLE_SHIFT +: 8] = trouble_i;
        value[oae_registers::WINDOW_STATE_REASON_SHIFT +: 8] = reason_i;
      end
      EVENT: value[7:0] = event_q;
      IRQ_ENABLE: value[7:0] = enable_q;
      OFFERED: value[31:0] = offered_i;
      SENT: value = {answered_i, sent_i};
      SETTLED: value = {confirmed_i, settled_i};
      RECEIVED: value[31:0] = received_i;
      TAKEN: value[31:0] = taken_i;
      JOURNAL: value = {first_i, done_i};
      HISTORY: value[oae_registers::WINDOW_HISTORY_KNOWN_SHIFT] = known_i;
      SESSION: value = {peer_session_i, session_i};
      VERDICT: begin
        value[oae_registers::WINDOW_VERDICT_DONE_SHIFT +: 32] = verdict_q.done;
        value[oae_registers::WINDOW_VERDICT_KNOWN_SHIFT] = verdict_q.known;
      end
      ALIVE: value = {alive_old_q ? '1 : now_i - alive_since_q, alive_count_q};
      COMMITTED: value = committed_q;
      REVERSED: value = reversed_q;
      LOST: value = lost_q;
      COUNT_RECEIVED: value = received_q;
      DAMAGED: value = damaged_q;
      JAMMED: value = jammed_q;
      SILENT: value = silent_q;
      DOWN: value = down_q;
      PORTS: value = ports_q;
      PASSED: value = passed_q;
      BROUGHT: value = brought_q;
      STRAY: value = stray_q;
      default: if (is_route) begin
        value[oae_registers::WINDOW_ROUTE_ONWARD_SHIFT] = entry.onward;
        value[oae_registers::WINDOW_ROUTE_LABEL_SHIFT +: 8] = entry.label;
      end
    endcase
  end

  // ---- Changes at a clock edge ----

  logic [7:0] happened;
  always_comb begin
    happened = '0;
    happened[oae_registers::WINDOW_EVENT_UP_SHIFT] = rises_i;
    happened[oae_registers::WINDOW_EVENT_DOWN_SHIFT] = falls_i;
    happened[oae_registers::WINDOW_EVENT_SETTLED_SHIFT] = commits_q != '0;
    happened[oae_registers::WINDOW_EVENT_REVERSED_SHIFT] = reverses_q != '0;
    happened[oae_registers::WINDOW_EVENT_LOST_SHIFT] = loses_q != '0;
    happened[oae_registers::WINDOW_EVENT_RECEIVED_SHIFT] = receives_q != '0;
    happened[oae_registers::WINDOW_EVENT_ALIVE_SHIFT] = alive_i;
    happened[oae_registers::WINDOW_EVENT_REFUSED_SHIFT] = refused_i;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      access_done_o <= 1'b0;
      fetching_q <= 1'b0;
      access_error_o <= 1'b0;
      access_result_o <= '0;
    end else begin
      fetching_q <= ring_read_o;
      access_done_o <= (accepted && !ring_read_o) || fetching_q;
      if (accepted) begin
        access_error_o <= !known;
        access_result_o <= page == '0 ? value : '0;
      end
      if (fetching_q) access_result_o <= ring_data_i;
    end
  end

  // What the firmware wants takes effect one clock after the write.
  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      {offer_o, take_o, withdraw_o, resume_o, drop_o, settle_o} <= '0;
    end else begin
      offer_o <= writes && word == OFFERED;
      take_o <= writes && word == TAKEN;
      withdraw_o <= command && verb == oae_registers::WINDOW_COMMAND_WITHDRAW;
      resume_o <= command && verb == oae_registers::WINDOW_COMMAND_RESUME;
      drop_o <= command && verb == oae_registers::WINDOW_COMMAND_DROP;
      settle_o <= command && verb == oae_registers::WINDOW_COMMAND_SETTLE;
    end
    index_o <= merged[31:0];
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      up_q <= 1'b0;
      controlled_q <= 1'b0;
      again_q <= 1'b0;
      bridged_q <= 1'b0;
      ports_q <= '0;
      limit_q <= oae_registers::WINDOW_LIMITS_RESET[LIMIT_BITS-1:0];
      trouble_limit_q <= oae_registers::WINDOW_LIMITS_RESET[39:32];
      liveness_q <= '0;
      enable_q <= '0;
      verdict_q <= '0;
      routes_q <= '0;
    end else begin
      controlled_q <= writes && word == CONTROL && access_strobe_i[0];
      if (writes) unique case (word)
        CONTROL: begin
          up_q <= merged[oae_registers::WINDOW_CONTROL_UP_SHIFT];
          again_q <= merged[oae_registers::WINDOW_CONTROL_AGAIN_SHIFT];
          // A slot may be on its way through the bridge at any time.
          bridged_q <= !RELAY && (bridged_q || merged[oae_registers::WINDOW_CONTROL_BRIDGED_SHIFT]);
        end
        LIMITS: begin
          // A greater limit would outlast the other side's hold-off; the greatest takes its place.
          limit_q <= merged[oae_registers::WINDOW_LIMITS_SILENCE_SHIFT +: LIMIT_BITS] |
                     {LIMIT_BITS{|merged[oae_registers::WINDOW_LIMITS_SILENCE_SHIFT+31:oae_registers::WINDOW_LIMITS_SILENCE_SHIFT+LIMIT_BITS]}};
          trouble_limit_q <= merged[oae_registers::WINDOW_LIMITS_TROUBLE_SHIFT +: 8];
        end
        PORTS: ports_q <= merged;
        LIVENESS: liveness_q <= merged[31:0];
        IRQ_ENABLE: enable_q <= merged[7:0];
        VERDICT: begin
          verdict_q.done <= merged[oae_registers::WINDOW_VERDICT_DONE_SHIFT +: 32];
          verdict_q.known <= merged[oae_registers::WINDOW_VERDICT_KNOWN_SHIFT];
        end
        default: if (is_route) begin
          routes_q[ENTRY*route +: ENTRY] <= {merged[oae_registers::WINDOW_ROUTE_LABEL_SHIFT +: 8],
                                             merged[oae_registers::WINDOW_ROUTE_ONWARD_SHIFT]};
        end
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      event_q <= '0;
      alive_count_q <= '0;
      alive_since_q <= now_i;
      alive_old_q <= 1'b0;
      commits_q <= '0;
      reverses_q <= '0;
      loses_q <= '0;
      receives_q <= '0;
      happened_q <= '0;
      committed_q <= '0;
      reversed_q <= '0;
      lost_q <= '0;
      received_q <= '0;
      damaged_q <= '0;
      jammed_q <= '0;
      silent_q <= '0;
      down_q <= '0;
      passed_q <= '0;
      brought_q <= '0;
      stray_q <= '0;
    end else begin
      event_q <= (event_q & ~(writes && word == EVENT && access_strobe_i[0] ? access_data_i[7:0] : '0)) | happened;
      if (alive_i) begin
        alive_count_q <= alive_count_i;
        alive_since_q <= now_i;
        alive_old_q <= 1'b0;
      end else if (now_i - alive_since_q == '1) alive_old_q <= 1'b1;
      commits_q <= commits_i;
      reverses_q <= reverses_i;
      loses_q <= loses_i;
      receives_q <= receives_i;
      committed_q <= committed_q + 64'(commits_q);
      reversed_q <= reversed_q + 64'(reverses_q);
      lost_q <= lost_q + 64'(loses_q);
      received_q <= received_q + 64'(receives_q);
      happened_q <= {damaged_i, jams_i, silent_i, falls_i};
      damaged_q <= damaged_q + 64'(happened_q[3]);
      jammed_q <= jammed_q + 64'(happened_q[2]);
      silent_q <= silent_q + 64'(happened_q[1]);
      down_q <= down_q + 64'(happened_q[0]);
      passed_q <= passed_q + 64'(passes_i);
      brought_q <= brought_q + 64'(brings_i);
      stray_q <= stray_q + 64'(strays_i);
    end
  end

endmodule
