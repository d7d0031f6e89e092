// SPDX-License-Identifier: Apache-2.0
// Decides the changes of a port's journal at this edge, except the exchange, which oae_answer.sv
// decides. Combinational; oae_row.sv applies them.
module oae_journal (
  input  oae_types::stage_t   stage,
  input  logic                write,
  input  oae_types::target_t  target,
  input  logic [2:0]          word,          // the present word of the line
  input  logic [7:0]          word_enable,
  input  logic [63:0]         now,
  input  logic [31:0]         hold_limit,    // clocks for which a swap may hold words; 0 is no limit
  input  oae_types::verdict_t host_verdict,  // in stage JUDGE_HOST
  /* verilator lint_off UNUSEDSIGNAL */      // other bits of these are not used
  input  logic [63:0]         word_data,
  input  oae_types::row_t     row,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic                opens,
  output logic [7:0]          next_epoch,    // the epoch that an open begins
  output logic                closes,
  output logic                commits,
  output logic                reverses,      // the tentative swap is reversed
  output logic                forgoes,       // the next swap is reversed
  output logic                goes_on,       // the last swap is committed first, and the word is executed again
  output logic                moves,         // a confirmed slot moves to the place of the committed one
  output logic                settles,       // the steps of a settled swap are executed or dropped
  output logic                ends,          // their slot is no longer needed
  output logic                late           // a tentative slot has waited beyond the limit
);

  localparam logic [2:0] CONTROL = 3'(oae_registers::HOST_PORT_CONTROL >> 3);
  localparam int unsigned EPOCH = oae_registers::HOST_PORT_CONTROL_EPOCH_SHIFT;
  localparam logic [2:0] CONFIRM = 3'(oae_registers::PORT_CONFIRM >> 3);
  localparam logic [2:0] REVERSE = 3'(oae_registers::PORT_REVERSE >> 3);

  logic control_written;
  logic page_written;
  logic names_last;                // the word written names the last swap,
  logic names_next;                // or the next
  logic confirms;                  // the register confirms the swap
  logic continues;                 // the announced offer confirms the swap
  logic shuts;                     // the port is to be closed
  logic unconfirmed;
  logic expires;                   // it has held words for too long
  logic stays;                     // it is not for the firmware or the other port

  assign control_written = stage == oae_types::EXECUTE && write &&
      target == oae_types::HOST_PORT && word == CONTROL && word_enable[0];
  assign opens = control_written && word_data[0] && !row.open;
  // A port without history does not know which epochs were used, but the host may know.
  always_comb begin
    next_epoch = row.epoch + 8'd1;
    if (row.state == oae_registers::PORT_STATE_HISTORY_LOST && word_enable[1])
      next_epoch = word_data[EPOCH +: 8] + 8'd1;
  end
  // A tentative swap is committed before its port is closed, since its host may have the answer.
  assign shuts = control_written && !word_data[0] && row.open;
  assign closes = shuts && !unconfirmed;

  // CRC-16 with the polynomial 0x1021 of the register's offset and of what is written to it, but for the
  // CRC itself
  function automatic logic [15:0] check_of(input logic [55:0] bytes);
    logic [7:0] x;
    check_of = '1;
    for (int unsigned i = 0; i < 7; i++) begin
      x = check_of[15:8] ^ bytes[8*i +: 8];
      x = x ^ {4'd0, x[7:4]};
      check_of = {check_of[7:0], 8'd0} ^ {x[3:0], 12'd0} ^ {3'd0, x, 5'd0} ^ {8'd0, x};
    end
  endfunction

  // A confirmation and a reversal name a swap in the same way. Nothing but their check protects them.
  assign page_written = stage == oae_types::EXECUTE && write &&
      (target == oae_types::PAGE || target == oae_types::STREAM);
  always_comb begin
    names_last = 1'b0;
    names_next = 1'b0;
    // A simulation computes the check only of a whole word that is written.
    if (page_written && &word_enable) begin
      if (word_data[oae_registers::PORT_CONFIRM_CHECK_SHIFT +: 16] ==
              check_of({word_data[63:32], word_data[15:0], 2'b01, word, 3'd0}) &&
          word_data[oae_registers::PORT_CONFIRM_EPOCH_SHIFT +: 8] == row.epoch) begin
        names_last = word_data[oae_registers::PORT_CONFIRM_SEQUENCE_SHIFT +: 32] == row.sequence_last;
        names_next = row.open && word_data[oae_registers::PORT_CONFIRM_SEQUENCE_SHIFT +: 32] ==
                     oae_types::following(row.sequence_last);
      end
    end
  end
  assign confirms = names_last && word == CONFIRM;
  assign reverses = names_last && word == REVERSE && unconfirmed;
  // A host that has begun a swap has committed the one before.
  assign goes_on = ((names_next && word == REVERSE) || shuts) && unconfirmed;
  assign forgoes = names_next && word == REVERSE && !unconfirmed;

  assign continues = stage == oae_types::JUDGE_HOST && host_verdict == oae_types::GOOD && row.more;
  assign unconfirmed = row.state == oae_registers::PORT_STATE_TENTATIVE;
  assign commits = (confirms || continues || goes_on || expires) && unconfirmed;

  // The slot was for the block only.
  assign stays = row.kind == oae_types::STEPS || row.kind == oae_types::RESULT;
  // The changes take place one after the other. Then the row can be stored.
  assign moves = stage == oae_types::STORE && row.settled && !stays && !row.committed;
  assign settles = stage == oae_types::STORE && row.holds && (!row.tentative || row.settled);
  assign ends = stage == oae_types::STORE && row.settled && stays && !row.holds;

  // A swap that holds words does so for a limited time, whatever its host does.
  assign expires = stage == oae_types::EXECUTE && target == oae_types::DEADLINE && row.holds &&
                   hold_limit != '0 && now - row.since > {32'd0, hold_limit};
  assign late = unconfirmed && row.confirm_enable && !expires && now > row.ask_after;

endmodule
