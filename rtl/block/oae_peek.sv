// SPDX-License-Identifier: Apache-2.0
// Operations without a clock: the answer of a read that has no effect, and the effect of a write that changes nothing but a
// port's row, a slot and the firmware's interrupt. Combinational, and for simulation only: it is verilated as a model beside
// the fast one of the block. The answer and the effect are those of the operation itself as long as nothing else happens in
// the block until its end.
//
// It names the port and the bank, whose row and slot it then has to be given.
module oae_peek (
  input  logic               host,           // the operation is the host's, or else the firmware's
  input  logic               write,
  input  logic [2:0]         bar,
  input  logic [14:0]        address,        // of a word of 8 bytes
  input  logic [63:0]        enable,         // bytes to write, of the line of that word
  input  logic [511:0]       data,           // the line
  output logic               possible,       // the operation is one of these
  output logic [1:0]         more,           // clocks that it takes beyond the fewest

  // A read
  output logic               error,          // of the firmware, where there is no register
  output logic [63:0]        value,

  // A write
  output logic               fills,          // it is stored in the bank
  output logic               commits,        // it commits this swap,
  output oae_types::name_t   committed,
  output oae_types::row_t    row_after,
  output logic [63:0]        irq_pending_after,
  output logic               irq_after,

  // The state of the block. An age counts until `now`, the edge that executes the word.
  input  logic [63:0]        now,
  input  logic [6:0]         ports,
  input  logic [31:0]        clock_khz,
  output logic [5:0]         port,
  /* verilator lint_off UNUSEDSIGNAL */      // no register shows a whole row
  input  oae_types::row_t    row,            // of that port, between two operations
  /* verilator lint_on UNUSEDSIGNAL */
  output logic               fetches,        // the operation reads a slot
  output logic [2:0]         bank,
  input  logic [511:0]       slot,           // in that bank of the port
  input  logic [31:0]        liveness_count,
  input  logic [63:0]        liveness_written,
  input  logic [31:0]        liveness_limit,
  input  logic [63:0]        irq_enable,
  input  logic [63:0]        irq_pending,
  input  logic [31:0]        hold_limit
);

  localparam logic [2:0] CONFIRM = 3'(oae_registers::PORT_CONFIRM >> 3);
  localparam logic [2:0] PUSHED_ANSWER = 3'(oae_registers::PORT_PUSHED_ANSWER >> 3);
  localparam logic [2:0] COMMAND = 3'(oae_registers::FIRMWARE_COMMAND >> 3);
  localparam logic [2:0] EVENT = 3'(oae_registers::FIRMWARE_EVENT >> 3);

  oae_types::target_t  target;
  logic [2:0]          word;
  logic [63:0]         word_data;
  logic [7:0]          word_enable;
  logic                confirms;              // only that register of a page is written
  logic                moves;
  logic                repeats;
  logic                offers;
  logic [63:0]         arrived_after;
  logic [63:0]         span;
  logic [63:0]         register_value;
  logic                commands;              // the first byte of a command is written:
  logic                takes;
  logic                withdraws;
  logic                publishes;
  logic [6:0]          acknowledged;
  logic                completes;             // an offer of the host, which is judged
  logic                judges;                // an offer of the firmware is judged
  logic [511:0]        judged;                // that offer
  oae_types::verdict_t host_verdict;
  logic                host_more;
  logic [5:0]          host_attempt;
  oae_types::kind_t    host_kind;
  logic                firmware_good;

  // Of the registers that the host writes, only one is looked at.
  assign word = host && write ? CONFIRM : address[2:0];
  assign word_data = data[64*word +: 64];
  assign word_enable = enable[8*word +: 8];

  /* verilator lint_off PINCONNECTEMPTY */
  oae_decode decode (
    .ports, .last(oae_types::WATCH),
    .host_waits(host), .request_bar(bar), .request_line(address[14:3]),
    .request_reset(1'b0), .reset_port(6'd0),
    .firmware_waits(1'b1), .access_word(address[13:0]),
    .watch_waits(1'b0), .watch_port(6'd0), .bridge_waits(1'b0), .bridge_errand(oae_types::TAKE), .bridge_port(6'd0),
    .source(), .target, .port);

  oae_inbox inbox (
    .stage(oae_types::EXECUTE), .write(write && host), .target, .data('0), .enable, .slot('0),
    .open(row.open), .verdict(row.verdict), .spent(row.spent), .arrived(row.arrived),
    .repeats, .offers, .arrived_after);

  assign span = now - liveness_written;
  oae_readout readout (
    .enable(!write), .target, .word, .ports, .clock_khz, .row,
    .liveness_count, .liveness_age(|span[63:32] ? '1 : span[31:0]), .liveness_limit,
    .irq_enable, .irq_pending, .hold_limit, .words_value(64'd0), .pending(), .value(register_value));

  // A swap of slots that the host confirms. Its slot moves to the place of the committed one, if that was taken.
  oae_journal journal (
    .stage(oae_types::EXECUTE), .write(write && confirms), .target, .word, .word_data, .word_enable, .now, .hold_limit,
    .host_verdict(oae_types::NONE), .row,
    .opens(), .next_epoch(), .closes(), .commits, .reverses(), .forgoes(), .goes_on(), .moves(), .settles(), .ends(), .late());
  assign confirms = (target == oae_types::PAGE || target == oae_types::STREAM) && enable == 64'hff << {CONFIRM, 3'd0};
  assign moves = commits && !row.committed;
  assign committed.epoch = row.epoch;
  assign committed.sequence_number = row.sequence_last;
  /* verilator lint_on PINCONNECTEMPTY */

  // ---- What is judged ----

  assign commands = write && target == oae_types::FIRMWARE_PORT && word == COMMAND && word_enable[0];
  assign takes = commands && word_data[oae_registers::FIRMWARE_COMMAND_TAKE_SHIFT];
  assign withdraws = commands && word_data[oae_registers::FIRMWARE_COMMAND_WITHDRAW_SHIFT];
  assign publishes = commands && word_data[oae_registers::FIRMWARE_COMMAND_PUBLISH_SHIFT];
  assign judges = publishes && (!row.offered || withdraws);
  assign completes = offers && &arrived_after;
  always_comb begin
    judged = '0;
    if (judges) judged = slot;
    if (completes) judged = oae_types::merge(slot, data, enable);
  end

  /* verilator lint_off PINCONNECTEMPTY */
  oae_slot_check check (
    .enable(judges || completes), .slot(judged), .arrived(1'b0),
    .verdict(oae_types::NONE), .open(row.open), .joined(row.joined), .epoch(row.epoch), .sequence_last(row.sequence_last),
    .reversed(row.reversed), .history_lost(row.state == oae_registers::PORT_STATE_HISTORY_LOST),
    .attempt(row.attempt), .attempted(row.attempted), .spent(1'b0), .first_word(row.first_word), .word_count(row.word_count),
    .worked(1'b0), .contended(1'b0),
    .crc(), .host_verdict, .host_rejected(), .host_more, .host_attempt, .host_kind, .steps(), .steps_sound(),
    .firmware_good, .nothing_header(), .formed_header());
  /* verilator lint_on PINCONNECTEMPTY */

  // ---- The slot ----

  always_comb begin
    fetches = 1'b0;
    fills = 1'b0;
    bank = {2'b10, !row.answer_bank};
    case (target)
      oae_types::FIRMWARE_OFFER: begin
        fetches = !write;
        fills = write && !row.offered;
      end
      oae_types::FIRMWARE_TENTATIVE: begin
        fetches = !write && row.tentative;
        bank = {1'b0, row.tentative_bank};
      end
      oae_types::FIRMWARE_COMMITTED: begin
        fetches = !write && row.committed;
        bank = {1'b0, row.committed_bank};
      end
      oae_types::FIRMWARE_PORT: fetches = judges;
      oae_types::WINDOW: begin
        fetches = completes;
        fills = offers;
        bank = {1'b0, row.inbox_bank};
      end
      default: ;
    endcase
    more = fetches ? 2'd2 : {1'b0, moves};
  end

  // ---- The answer of a read ----

  assign error = !host && target == oae_types::NOTHING;
  assign value = fetches ? slot[64*word +: 64] : register_value;

  // ---- The effect of a write ----

  always_comb begin
    acknowledged = '0;
    if (target == oae_types::FIRMWARE_PORT) begin
      if (word == COMMAND && word_enable[1])
        acknowledged = word_data[oae_registers::FIRMWARE_COMMAND_ACKNOWLEDGE_SHIFT +: 7];
      if (word == EVENT && word_enable[0]) acknowledged = word_data[6:0];
    end
  end

  always_comb begin
    row_after = row;
    if (offers) begin
      row_after.verdict = oae_types::NONE;
      row_after.spent = 1'b0;
      row_after.arrived = arrived_after;
    end
    if (completes) begin
      row_after.verdict = oae_types::GOOD;
      row_after.offered_more = host_more;
      row_after.offered_kind = host_kind;
      row_after.arrived = '0;
      row_after.attempt = host_attempt;
      row_after.attempted = 1'b1;
    end
    if (commits) begin
      row_after.state = oae_registers::PORT_STATE_COMMITTED;
      row_after.settled = 1'b1;
      row_after.count_committed = row.count_committed + 64'd1;
      if (moves) begin
        row_after.tentative = 1'b0;
        row_after.settled = 1'b0;
        row_after.committed = 1'b1;
        row_after.requests = 1'b0;
        row_after.tentative_bank = row.committed_bank;
        row_after.committed_bank = row.tentative_bank;
        row_after.event_committed = 1'b1;
      end
    end
    if (target == oae_types::FIRMWARE_PORT) begin
      if (takes) row_after.committed = 1'b0;
      if (withdraws) row_after.offered = 1'b0;
      if (acknowledged[0]) row_after.event_exchanged = 1'b0;
      if (acknowledged[1]) row_after.event_committed = 1'b0;
      if (acknowledged[2]) row_after.event_reversed = 1'b0;
      if (acknowledged[3]) row_after.event_opened = 1'b0;
      if (acknowledged[4]) row_after.event_closed = 1'b0;
      if (acknowledged[5]) row_after.event_bad_offer = 1'b0;
      if (acknowledged[6]) row_after.event_passed = 1'b0;
      if (judges) begin
        row_after.offered = firmware_good;
        if (!firmware_good) row_after.event_bad_offer = 1'b1;
      end
    end

    irq_pending_after = irq_pending;
    if (target == oae_types::FIRMWARE_PORT || moves)
      irq_pending_after[port] = |{row_after.event_passed, row_after.event_bad_offer, row_after.event_closed,
                                  row_after.event_opened, row_after.event_reversed, row_after.event_committed,
                                  row_after.event_exchanged};
  end
  assign irq_after = |(irq_pending_after & irq_enable);

  // ---- Whether that is all ----

  always_comb begin
    possible = 1'b0;
    if (write)
      case (target)
        oae_types::FIRMWARE_OFFER: possible = 1'b1;
        // The rest of an offer that is complete is compared with it. An offer that is not good is counted, and one that
        // follows another one at once may commit it.
        oae_types::WINDOW:
          possible = !row.open || (completes ? host_verdict == oae_types::GOOD && !row.joined && !row.more : !repeats);
        // What a confirmation does beyond that depends on the verb, and on a port that is joined.
        oae_types::PAGE, oae_types::STREAM:
          possible = confirms && !row.joined &&
                     (!commits || row.kind == oae_types::SLOTS || row.kind == oae_types::SLOT);
        // A host that waits for an offer is interrupted, and a settled slot moves to the place of one that is taken.
        oae_types::FIRMWARE_PORT:
          possible = (word == COMMAND || word == EVENT) && !row.joined && !(judges && firmware_good && row.offer_armed) &&
                     !(row.settled && !row_after.committed);
        default: ;
      endcase
    else
      // These reads have an effect, or their registers are elsewhere.
      possible = target != oae_types::WINDOW && target != oae_types::FIRMWARE_WORDS &&
                 !(target == oae_types::PAGE && word == PUSHED_ANSWER);
  end

endmodule
