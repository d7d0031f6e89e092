// SPDX-License-Identifier: Apache-2.0
// The answer of a read that has no effect, and the effect of a write that only fills a slot, or by which the firmware only takes
// a slot, withdraws its offer or acknowledges events, without a clock. Combinational. Only a fast model has this module
// (FAST_MODEL in oae_block.sv). Answer and effect are those of the operation itself as long as nothing else happens in the block
// until its end.
module oae_peek (
  input  logic               valid,
  input  logic               host,           // the operation is the host's, or else the firmware's
  input  logic               write,
  input  logic [2:0]         bar,
  input  logic [14:0]        address,        // of a word of 8 bytes
  input  logic [63:0]        enable,         // bytes to write, of the line of that word
  input  logic [63:0]        word_data,      // what the firmware writes
  output logic               possible,       // the read has no effect
  output logic               fetches,        // it reads a slot, which takes two clocks more
  output logic               error,          // of the firmware, where there is no register
  output logic [63:0]        value,
  output logic               fills,          // the write has no effect but on its port's row and a bank, which are after it:
  output logic               changes,        //   not the same
  output logic               commands,       // the write has no effect but on its port's row, which is after it:
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
  output logic [2:0]         bank,
  input  logic [511:0]       slot,           // in that bank of the port
  input  logic [31:0]        liveness_count,
  input  logic [63:0]        liveness_written,
  input  logic [31:0]        liveness_limit,
  input  logic [63:0]        irq_enable,
  input  logic [63:0]        irq_pending,
  input  logic [31:0]        hold_limit
);

  localparam logic [2:0] PUSHED_ANSWER = 3'(oae_registers::PORT_PUSHED_ANSWER >> 3);
  localparam logic [2:0] COMMAND = 3'(oae_registers::FIRMWARE_COMMAND >> 3);
  localparam logic [2:0] EVENT = 3'(oae_registers::FIRMWARE_EVENT >> 3);

  oae_types::target_t target;
  logic               repeats;
  logic               offers;
  logic [63:0]        arrived_after;
  logic [63:0]        span;
  logic [63:0]        register_value;
  logic [1:0]         word_enable;
  logic               orders;                // the first byte of a command is written
  logic [6:0]         acknowledged;

  /* verilator lint_off PINCONNECTEMPTY */
  oae_decode decode (
    .ports, .last(oae_types::WATCH),
    .host_waits(valid && host), .request_bar(bar), .request_line(address[14:3]),
    .request_reset(1'b0), .reset_port(6'd0),
    .firmware_waits(valid), .access_word(address[13:0]),
    .watch_waits(1'b0), .watch_port(6'd0), .bridge_waits(1'b0), .bridge_errand(oae_types::TAKE), .bridge_port(6'd0),
    .source(), .target, .port);

  oae_inbox inbox (
    .stage(oae_types::EXECUTE), .write(valid && write && host), .target, .data('0), .enable, .slot('0),
    .open(row.open), .verdict(row.verdict), .spent(row.spent), .arrived(row.arrived),
    .repeats, .offers, .arrived_after);

  assign span = now - liveness_written;
  assign irq_after = |(irq_pending_after & irq_enable);
  assign word_enable = enable[8*address[2:0] +: 2];
  assign orders = address[2:0] == COMMAND && word_enable[0];

  oae_readout readout (
    .enable(valid), .target, .word(address[2:0]), .ports, .clock_khz, .row,
    .liveness_count, .liveness_age(|span[63:32] ? '1 : span[31:0]), .liveness_limit,
    .irq_enable, .irq_pending, .hold_limit, .words_value(64'd0), .pending(), .value(register_value));
  /* verilator lint_on PINCONNECTEMPTY */

  always_comb begin
    possible = 1'b0;
    fetches = 1'b0;
    error = 1'b0;
    bank = {2'b10, !row.answer_bank};
    value = '0;
    fills = 1'b0;
    changes = 1'b0;
    commands = 1'b0;
    row_after = '0;
    irq_pending_after = irq_pending;
    acknowledged = '0;
    if (valid && write) begin
      row_after = row;
      case (target)
        oae_types::FIRMWARE_OFFER: begin
          fills = 1'b1;
          changes = !row.offered;
        end
        oae_types::WINDOW: begin
          // A part of a new offer, but not the last one.
          fills = !row.open || !(repeats || &arrived_after);
          changes = offers;
          bank = {1'b0, row.inbox_bank};
          if (offers) begin
            row_after.verdict = oae_types::NONE;
            row_after.spent = 1'b0;
            row_after.arrived = arrived_after;
          end
        end
        oae_types::FIRMWARE_PORT: begin
          if (orders && word_data[oae_registers::FIRMWARE_COMMAND_TAKE_SHIFT]) row_after.committed = 1'b0;
          if (orders && word_data[oae_registers::FIRMWARE_COMMAND_WITHDRAW_SHIFT]) row_after.offered = 1'b0;
          // An offer that is published is judged, and a settled slot moves to the place of one that is taken.
          commands = (address[2:0] == COMMAND || address[2:0] == EVENT) && !row.joined &&
                     !(orders && word_data[oae_registers::FIRMWARE_COMMAND_PUBLISH_SHIFT] && !row_after.offered) &&
                     !(row.settled && !row_after.committed);
          if (address[2:0] == COMMAND && word_enable[1])
            acknowledged = word_data[oae_registers::FIRMWARE_COMMAND_ACKNOWLEDGE_SHIFT +: 7];
          if (address[2:0] == EVENT && word_enable[0]) acknowledged = word_data[6:0];
          if (acknowledged[0]) row_after.event_exchanged = 1'b0;
          if (acknowledged[1]) row_after.event_committed = 1'b0;
          if (acknowledged[2]) row_after.event_reversed = 1'b0;
          if (acknowledged[3]) row_after.event_opened = 1'b0;
          if (acknowledged[4]) row_after.event_closed = 1'b0;
          if (acknowledged[5]) row_after.event_bad_offer = 1'b0;
          if (acknowledged[6]) row_after.event_passed = 1'b0;
          irq_pending_after[port] = |{row_after.event_passed, row_after.event_bad_offer, row_after.event_closed,
                                      row_after.event_opened, row_after.event_reversed, row_after.event_committed,
                                      row_after.event_exchanged};
        end
        default: ;
      endcase
    end else if (valid) begin
      case (target)
        oae_types::FIRMWARE_OFFER: fetches = 1'b1;
        oae_types::FIRMWARE_TENTATIVE: begin
          fetches = row.tentative;
          bank = {1'b0, row.tentative_bank};
        end
        oae_types::FIRMWARE_COMMITTED: begin
          fetches = row.committed;
          bank = {1'b0, row.committed_bank};
        end
        default: ;
      endcase
      // These reads have an effect, or their registers are elsewhere.
      possible = target != oae_types::WINDOW && target != oae_types::FIRMWARE_WORDS &&
                 !(target == oae_types::PAGE && address[2:0] == PUSHED_ANSWER);
      error = !host && target == oae_types::NOTHING;
      value = fetches ? slot[64*address[2:0] +: 64] : register_value;
    end
  end

endmodule
