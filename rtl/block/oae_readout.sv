// SPDX-License-Identifier: Apache-2.0
// The value of a register for a read. Combinational.
module oae_readout (
  input  logic               enable,         // low if there is no present word
  input  oae_types::target_t target,
  input  logic [2:0]         word,           // of the line
  input  logic [6:0]         ports,
  input  logic [31:0]        clock_khz,
  /* verilator lint_off UNUSEDSIGNAL */      // no register shows a whole row
  input  oae_types::row_t    row,            // the row of the present port
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic [31:0]        liveness_count,
  input  logic [31:0]        liveness_age,
  input  logic [31:0]        liveness_limit,
  input  logic [63:0]        irq_enable,
  input  logic [63:0]        irq_pending,
  input  logic [31:0]        hold_limit,
  input  logic [63:0]        words_value,    // a register for words
  output logic [6:0]         pending,        // the event register of the port
  output logic [63:0]        value           // 0 without a register, or for a register of slots
);

  localparam logic [2:0] ID = 3'(oae_registers::HOST_ID >> 3);
  localparam logic [2:0] FEATURES = 3'(oae_registers::HOST_FEATURES >> 3);
  localparam logic [2:0] CLOCK = 3'(oae_registers::HOST_CLOCK >> 3);
  localparam logic [2:0] LIVENESS = 3'(oae_registers::HOST_LIVENESS >> 3);
  localparam logic [2:0] LIVENESS_LIMIT = 3'(oae_registers::HOST_LIVENESS_LIMIT >> 3);

  localparam logic [2:0] CONTROL = 3'(oae_registers::HOST_PORT_CONTROL >> 3);
  localparam logic [2:0] ANSWER_ADDRESS = 3'(oae_registers::HOST_PORT_ANSWER_ADDRESS >> 3);
  localparam logic [2:0] STATE = 3'(oae_registers::HOST_PORT_STATE >> 3);
  localparam logic [2:0] COMMITTED = 3'(oae_registers::HOST_PORT_COMMITTED >> 3);
  localparam logic [2:0] NOT_READY = 3'(oae_registers::HOST_PORT_NOT_READY >> 3);
  localparam logic [2:0] REJECTED = 3'(oae_registers::HOST_PORT_REJECTED >> 3);
  localparam logic [2:0] EVENT = 3'(oae_registers::HOST_PORT_EVENT >> 3);
  localparam logic [2:0] LIMIT = 3'(oae_registers::HOST_PORT_TENTATIVE_LIMIT >> 3);

  localparam logic [2:0] DELIVERED = 3'(oae_registers::HOST_PORT_DELIVERED >> 3);
  localparam logic [2:0] LOST = 3'(oae_registers::HOST_PORT_LOST >> 3);
  localparam logic [2:0] LOST_LAST = 3'(oae_registers::HOST_PORT_LOST_LAST >> 3);
  localparam logic [2:0] LOST_FIRST = 3'(oae_registers::HOST_PORT_LOST_FIRST >> 3);
  localparam logic [2:0] LOST_REMOTE = 3'(oae_registers::HOST_PORT_LOST_REMOTE >> 3);

  localparam logic [2:0] PAGE_STATUS = 3'(oae_registers::PORT_STATUS >> 3);
  localparam logic [2:0] PAGE_WORDS = 3'(oae_registers::PORT_WORDS >> 3);
  localparam logic [2:0] PAGE_DELIVERED = 3'(oae_registers::PORT_DELIVERED >> 3);

  localparam logic [2:0] FIRMWARE_ID = 3'(oae_registers::FIRMWARE_ID >> 3);
  localparam logic [2:0] FIRMWARE_LIVENESS = 3'(oae_registers::FIRMWARE_LIVENESS >> 3);
  localparam logic [2:0] IRQ_STATUS = 3'(oae_registers::FIRMWARE_IRQ_STATUS >> 3);
  localparam logic [2:0] IRQ_ENABLE = 3'(oae_registers::FIRMWARE_IRQ_ENABLE >> 3);
  localparam logic [2:0] EVENTS = 3'(oae_registers::FIRMWARE_EVENTS >> 3);
  localparam logic [2:0] HOLD_LIMIT = 3'(oae_registers::FIRMWARE_HOLD_LIMIT >> 3);
  localparam logic [2:0] FIRMWARE_STATUS = 3'(oae_registers::FIRMWARE_STATUS >> 3);
  localparam logic [2:0] FIRMWARE_WORDS = 3'(oae_registers::FIRMWARE_WORDS >> 3);
  localparam logic [2:0] FIRMWARE_JOIN = 3'(oae_registers::FIRMWARE_JOIN >> 3);
  localparam logic [2:0] FIRMWARE_PASSED = 3'(oae_registers::FIRMWARE_PASSED >> 3);
  localparam logic [2:0] FIRMWARE_EVENT = 3'(oae_registers::FIRMWARE_EVENT >> 3);

  logic [63:0] id_word;
  logic [63:0] state_word;
  logic [63:0] event_word;
  logic [63:0] status_word;
  logic [63:0] range_word;
  logic [63:0] join_word;
  logic [63:0] lost_word;
  logic [63:0] passed_word;      // swaps, as registers name them
  logic [63:0] delivered_word;
  logic [63:0] newest_word;
  logic [63:0] older_word;
  logic [63:0] remote_word;

  assign pending = {row.event_passed, row.event_bad_offer, row.event_closed, row.event_opened,
                    row.event_reversed, row.event_committed, row.event_exchanged};

  always_comb begin
    id_word = '0;
    state_word = '0;
    event_word = '0;
    status_word = '0;
    range_word = '0;
    join_word = '0;
    lost_word = '0;
    passed_word = '0;
    delivered_word = '0;
    newest_word = '0;
    older_word = '0;
    remote_word = '0;
    value = '0;
    if (enable) begin
      id_word = oae_registers::HOST_ID_RESET;
      id_word[oae_registers::HOST_ID_PORTS_SHIFT +: 7] = ports;

      state_word[oae_registers::HOST_PORT_STATE_STATE_SHIFT +: 8] = row.state;
      state_word[oae_registers::HOST_PORT_STATE_EPOCH_SHIFT +: 8] = row.epoch;
      state_word[oae_registers::HOST_PORT_STATE_OFFERED_SHIFT] = row.offered;
      state_word[oae_registers::HOST_PORT_STATE_RESULT_SHIFT] = row.result;
      state_word[oae_registers::HOST_PORT_STATE_LOST_SHIFT] = row.lost_slots != '0 || row.lost_remote;
      state_word[oae_registers::HOST_PORT_STATE_SEQUENCE_SHIFT +: 32] = row.sequence_last;

      event_word[oae_registers::HOST_PORT_EVENT_VECTOR_SHIFT +: 16] = row.msix_vector;
      event_word[oae_registers::HOST_PORT_EVENT_OFFER_ARMED_SHIFT] = row.offer_armed;
      event_word[oae_registers::HOST_PORT_EVENT_RESULT_ARMED_SHIFT] = row.result_armed;
      event_word[oae_registers::HOST_PORT_EVENT_CONFIRM_ENABLE_SHIFT] = row.confirm_enable;
      event_word[oae_registers::HOST_PORT_EVENT_LOST_ENABLE_SHIFT] = row.lost_enable;

      lost_word[oae_registers::HOST_PORT_LOST_SLOTS_SHIFT +: 2] = row.lost_slots;
      lost_word[oae_registers::HOST_PORT_LOST_REMOTE_SHIFT] = row.lost_remote;

      status_word[oae_registers::FIRMWARE_STATUS_OFFERED_SHIFT] = row.offered;
      status_word[oae_registers::FIRMWARE_STATUS_TENTATIVE_SHIFT] = row.tentative;
      status_word[oae_registers::FIRMWARE_STATUS_COMMITTED_SHIFT] = row.committed;
      status_word[oae_registers::FIRMWARE_STATUS_OPEN_SHIFT] = row.open;
      status_word[oae_registers::FIRMWARE_STATUS_EPOCH_SHIFT +: 8] = row.epoch;
      status_word[oae_registers::FIRMWARE_STATUS_EVENTS_SHIFT +: 7] = pending;
      status_word[oae_registers::FIRMWARE_STATUS_NEXT_SEQUENCE_SHIFT +: 32] =
          oae_types::following(row.sequence_last);

      range_word[oae_registers::FIRMWARE_WORDS_FIRST_SHIFT +: 12] = row.first_word;
      range_word[oae_registers::FIRMWARE_WORDS_COUNT_SHIFT +: 13] = row.word_count;

      join_word[oae_registers::FIRMWARE_JOIN_JOINED_SHIFT] = row.joined;
      join_word[oae_registers::FIRMWARE_JOIN_PRIMED_SHIFT] = row.primed;
      join_word[oae_registers::FIRMWARE_JOIN_WAITING_SHIFT +: 2] = row.waiting;
      join_word[oae_registers::FIRMWARE_JOIN_ROOM_SHIFT +: 2] = row.room;
      join_word[oae_registers::FIRMWARE_JOIN_LINKED_SHIFT] = row.linked;
      join_word[oae_registers::FIRMWARE_JOIN_SESSION_SHIFT +: 12] = row.session;
      join_word[oae_registers::FIRMWARE_JOIN_PEER_SHIFT +: 12] = row.peer;

      passed_word = {row.passed.sequence_number, 16'd0, row.passed.epoch, 8'd0};
      delivered_word = {row.delivered.sequence_number, 16'd0, row.delivered.epoch, 8'd0};
      newest_word = {row.newest.sequence_number, 16'd0, row.newest.epoch, 8'd0};
      older_word = {row.older.sequence_number, 16'd0, row.older.epoch, 8'd0};
      remote_word = {row.remote.sequence_number, 16'd0, row.remote.epoch, 8'd0};

      case (target)
        oae_types::HOST_GLOBAL:
          case (word)
            ID: value = id_word;
            FEATURES: value = oae_registers::HOST_FEATURES_RESET;
            CLOCK: value = {32'd0, clock_khz};
            LIVENESS: value = {liveness_age, liveness_count};
            LIVENESS_LIMIT: value = {32'd0, liveness_limit};
            default: ;
          endcase
        oae_types::HOST_PORT:
          case (word)
            CONTROL: value = {63'd0, row.open};
            ANSWER_ADDRESS: value = {row.answer_line, 6'd0};
            STATE: value = state_word;
            COMMITTED: value = row.count_committed;
            NOT_READY: value = row.count_not_ready;
            REJECTED: value = row.count_rejected;
            EVENT: value = event_word;
            LIMIT: value = {32'd0, row.limit};
            default: ;
          endcase
        oae_types::HOST_FATE:
          case (word)
            DELIVERED: value = delivered_word;
            LOST: value = lost_word;
            LOST_LAST: value = newest_word;
            LOST_FIRST: value = older_word;
            LOST_REMOTE: value = remote_word;
            default: ;
          endcase
        oae_types::PAGE:
          case (word)
            PAGE_STATUS: value = state_word;
            PAGE_WORDS: value = range_word;
            PAGE_DELIVERED: value = delivered_word;
            default: ;
          endcase
        oae_types::STREAM: if (word == PAGE_STATUS) value = state_word;
        oae_types::FIRMWARE_WORDS: value = words_value;
        oae_types::FIRMWARE_GLOBAL:
          case (word)
            FIRMWARE_ID: value = id_word;
            FIRMWARE_LIVENESS: value = {32'd0, liveness_count};
            IRQ_STATUS: value = irq_pending & irq_enable;
            IRQ_ENABLE: value = irq_enable;
            HOLD_LIMIT: value = {32'd0, hold_limit};
            EVENTS: value = irq_pending;
            default: ;
          endcase
        oae_types::FIRMWARE_PORT:
          case (word)
            FIRMWARE_STATUS: value = status_word;
            FIRMWARE_EVENT: value = {57'd0, pending};
            FIRMWARE_WORDS: value = range_word;
            FIRMWARE_JOIN: value = join_word;
            FIRMWARE_PASSED: value = passed_word;
            default: ;
          endcase
        default: ;
      endcase
    end
  end

  if (oae_registers::HOST_PORT_DELIVERED_EPOCH_SHIFT != 8 || oae_registers::HOST_PORT_DELIVERED_SEQUENCE_SHIFT != 32)
    $error("the name of a swap is not laid out like this");

endmodule
