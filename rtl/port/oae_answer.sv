// SPDX-License-Identifier: Apache-2.0
// Chooses the answer to the host, and decides the effects of sending it. Combinational.
module oae_answer (
  input  oae_types::stage_t  stage,
  input  logic               write,
  input  oae_types::target_t target,
  input  logic [7:0]         words,        // the words of the line that are left
  input  logic [2:0]         word,
  /* verilator lint_off UNUSEDSIGNAL */    // the other parts of the row are not used
  input  oae_types::row_t    row,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic               asks,         // a read requests the answer, which is
  output oae_types::answer_t choice,
  output oae_types::stage_t  answer_stage, //   and continues in this stage
  output logic [3:0]         bank,         //   from this bank,
  output logic               buffer_given, //   and there is an answer buffer

  input  oae_types::answer_t answer,       // the answer that was chosen
  input  logic               pushes,       // it goes to the answer buffer
  input  logic               dma_refused,  // the host refuses the DMA write at the clock in which it is offered
  input  logic               words_met,    // all comparisons of the steps hold
  output logic               streams,      // the answer is streamed instead of pushed
  output logic               refused,      // it cannot be pushed
  output logic               denies,       // an answer is sent that is not the answer of a swap
  output logic               not_ready,    // that answer says NOT_READY
  output logic               exchanges,    // the swap takes place
  output logic               keeps,        //   with an answer of the block, which is retained,
  output logic               holds         //   and words are held until it is settled
);

  localparam logic [2:0] PUSHED_ANSWER = 3'(oae_registers::PORT_PUSHED_ANSWER >> 3);

  logic good;                      // an offer of the host that can take place,
  logic works;                     //   without an offer of the firmware
  logic answers;                   // the answer is sent

  assign streams = target == oae_types::WINDOW;
  assign asks = stage == oae_types::EXECUTE && !write && words != '0 &&
                (streams || (target == oae_types::PAGE && word == PUSHED_ANSWER));
  assign good = row.verdict == oae_types::GOOD && !row.spent && !row.tentative;

  always_comb
    case (row.offered_kind)
      oae_types::SLOTS: works = 1'b0;
      // One is on its way at most, since there is one place for a result.
      oae_types::REMOTE: works = row.joined && !row.asked;
      oae_types::RESULT: works = row.result;
      default: works = 1'b1;
    endcase

  always_comb begin
    choice = oae_types::FORMED;
    bank = {2'b00, row.inbox_bank};
    answer_stage = oae_types::FORM;
    buffer_given = !streams && row.answer_line != '0;
    if (!asks) begin
      // The outputs do not change.
    end else if (good && works) begin
      choice = oae_types::WORKED;
      if (row.offered_kind == oae_types::STEPS) answer_stage = oae_types::TRY_STEPS;
      if (row.offered_kind == oae_types::RESULT) begin
        bank = oae_types::RESULT_BANK;
        answer_stage = oae_types::HEAD;
      end
    end else if (good && row.offered_kind == oae_types::SLOTS && row.offered) begin
      choice = oae_types::EXCHANGE;
      bank = {3'b010, !row.answer_bank};
      answer_stage = oae_types::ANSWER;
    end else if (row.verdict == oae_types::NONE && row.sequence_last != '0 && !row.reversed) begin
      choice = oae_types::RETAINED;
      bank = {3'b010, row.answer_bank};
      answer_stage = oae_types::ANSWER;
    end
  end

  assign refused = !streams && (!pushes || dma_refused);
  assign answers = stage == oae_types::ANSWER;
  assign exchanges = answers && !refused &&
                     (answer == oae_types::EXCHANGE || answer == oae_types::WORKED);
  assign keeps = exchanges && answer == oae_types::WORKED;
  assign holds = keeps && row.offered_kind == oae_types::STEPS && words_met;
  assign denies = answers && (answer == oae_types::FORMED ||
                              (answer != oae_types::RETAINED && refused));
  assign not_ready = denies && (refused || (row.verdict == oae_types::NONE ?
      !row.reversed && row.state != oae_registers::PORT_STATE_HISTORY_LOST :
      row.verdict != oae_types::BAD_VERB));

endmodule
