// SPDX-License-Identifier: Apache-2.0
// The words on which verbs operate, and their holders. The steps of a swap are tried at its
// interaction, its words are held from then on, and the steps are executed at its confirmation or
// dropped at its reversal. Held words do not change, so the execution has the result of the trial.
// The firmware executes one operation at a time, and another cell the steps of one slot. These take effect at once.
module oae_words (
  input  logic               clock,
  input  logic               reset,

  input  logic               start,        // sampled with ready
  input  oae_types::task_t   job,
  input  oae_types::steps_t  steps,
  input  logic               hold,         // holds the words of the last trial
  output logic               ready,
  output logic               busy,         // a word is held already
  output logic               met,          // all comparisons hold
  output logic [255:0]       found,       // the word of each step; 0 without a step

  // The firmware's registers
  input  logic               write,
  input  logic [2:0]         register_word,
  input  logic [63:0]        write_data,
  output logic               commands,     // the write starts an operation on a word
  output logic [63:0]        value         // the value of the register
);

  localparam int unsigned WORDS = 32'((oae_registers::HOST_FEATURES_RESET &
      oae_registers::HOST_FEATURES_WORDS_MASK) >> oae_registers::HOST_FEATURES_WORDS_SHIFT);
  localparam int unsigned BITS = $clog2(WORDS);
  localparam logic [2:0] OPERAND = 3'(oae_registers::FIRMWARE_WORD_OPERAND >> 3);
  localparam logic [2:0] COMPARE = 3'(oae_registers::FIRMWARE_WORD_COMPARE >> 3);
  localparam logic [2:0] COMMAND = 3'(oae_registers::FIRMWARE_WORD_COMMAND >> 3);
  localparam logic [2:0] RESULT = 3'(oae_registers::FIRMWARE_WORD_RESULT >> 3);
  localparam logic [2:0] OUTCOME = 3'(oae_registers::FIRMWARE_WORD_OUTCOME >> 3);
  localparam int unsigned ACCESS = oae_registers::FIRMWARE_WORD_COMMAND_ACCESS_SHIFT;

  typedef enum logic [2:0] {CLEAR, READY, READ, WRITE, CONCLUDE} state_t;

  logic [63:0]        memory [WORDS];
  logic [WORDS-1:0]   held;
  state_t             state;
  oae_types::task_t   job_now;
  logic [11:0]        operations;   // the present steps, as in steps_t
  logic [47:0]        indices;
  logic [255:0]       operands;
  logic [BITS-1:0]    place;        // the word that CLEAR clears
  logic [2:0]         step;         // the step whose word is read; the word arrives a clock later
  logic [1:0]         last;         // the previous step
  logic [63:0]        word;
  logic [WORDS-1:0]   named;        // words that the present steps name

  logic [63:0]        operand;      // the firmware's operand
  logic [63:0]        compare;
  logic [63:0]        result;
  logic [2:0]         outcome;
  logic [5:0]         access;       // operations that its command requests
  logic               bad;

  // ---- The steps of the firmware's command ----

  assign commands = write && register_word == COMMAND;

  always_comb begin
    access = '0;
    bad = {20'd0, write_data[11:0]} >= WORDS || write_data[63:15] != '0;
    case (write_data[ACCESS +: 3])
      oae_registers::WORD_ACCESS_READ:
        access[2:0] = oae_registers::WORD_OPERATION_READ;
      oae_registers::WORD_ACCESS_WRITE:
        access[2:0] = oae_registers::WORD_OPERATION_WRITE;
      oae_registers::WORD_ACCESS_ADD:
        access[2:0] = oae_registers::WORD_OPERATION_ADD;
      oae_registers::WORD_ACCESS_CAS:
        access = {oae_registers::WORD_OPERATION_WRITE, oae_registers::WORD_OPERATION_COMPARE};
      default: bad = 1'b1;
    endcase
    if (bad) access = '0;
  end

  logic [63:0] access_operand;      // operand of its first step
  assign access_operand =
      write_data[ACCESS +: 3] == oae_registers::WORD_ACCESS_CAS ? compare : operand;

  always_comb
    case (register_word)
      OPERAND: value = operand;
      COMPARE: value = compare;
      RESULT: value = result;
      OUTCOME: value = {61'd0, outcome};
      default: value = '0;
    endcase

  // ---- The present steps ----

  always_comb begin
    named = '0;
    met = 1'b1;
    if (operations != '0) for (int unsigned i = 0; i < 4; i++) begin
      if (operations[3*i +: 3] != oae_registers::WORD_OPERATION_NONE)
        named[indices[12*i +: BITS]] = 1'b1;
      if (operations[3*i +: 3] == oae_registers::WORD_OPERATION_COMPARE &&
          found[64*i +: 64] != operands[64*i +: 64]) met = 1'b0;
    end
  end

  assign last = step[1:0] - 2'd1;
  assign ready = state == READY;

  logic [2:0]      operation;
  logic [BITS-1:0] row;
  logic            stores;
  logic [63:0]     stored;

  assign operation = operations[3*step[1:0] +: 3];
  assign row = state == CLEAR ? place : indices[12*step[1:0] +: BITS];
  assign stores = state == CLEAR || (state == WRITE && oae_types::changes(operation));
  // CLEAR stores 0, which the operands and operations are since power-up.
  always_comb begin
    stored = operands[64*step[1:0] +: 64];
    if (operation == oae_registers::WORD_OPERATION_ADD)
      stored = stored + found[64*step[1:0] +: 64];
  end

  always_ff @(posedge clock) begin
    if (stores) memory[row] <= stored;
    word <= memory[row];
  end

  always_ff @(posedge clock) begin
    if (reset) begin
      state <= CLEAR;
      place <= '0;
      held <= '0;
      job_now <= oae_types::TRY;
      operations <= '0;
      indices <= '0;
      operands <= '0;
      step <= '0;
      busy <= 1'b0;
      found <= '0;
      operand <= '0;
      compare <= '0;
      result <= '0;
      outcome <= '0;
    end else begin
      case (state)
        CLEAR: begin
          place <= place + 1'b1;
          if (&place) state <= READY;
        end

        READY: if (commands || start) begin
          state <= READ;
          step <= '0;
          found <= '0;
          busy <= 1'b0;
          job_now <= commands ? oae_types::ACCESS : job;
          operations <= commands ? {6'd0, access} : steps.operations;
          indices <= commands ? {4{write_data[11:0]}} : steps.indices;
          operands <= commands ? {128'd0, operand, access_operand} : steps.operands;
          outcome <= commands ? {bad, 2'b00} : outcome;
        end

        // This takes one more clock than there are steps. What the first one takes for the last step's word,
        // the last one replaces.
        READ: begin
          step <= step + 3'd1;
          if (operations[3*last +: 3] != oae_registers::WORD_OPERATION_NONE)
            found[64*last +: 64] <= word;
          if (step == 3'd4) begin
            step <= '0;
            state <= CONCLUDE;
          end
        end

        CONCLUDE: begin
          busy <= |(held & named);
          state <= READY;
          case (job_now)
            oae_types::DO: begin
              held <= held & ~named;
              state <= WRITE;
            end
            oae_types::DROP: held <= held & ~named;
            oae_types::ACCESS: begin
              result <= |(held & named) ? '0 : found[63:0];
              outcome[oae_registers::FIRMWARE_WORD_OUTCOME_BUSY_SHIFT] <= |(held & named);
              if (~|(held & named) && !outcome[oae_registers::FIRMWARE_WORD_OUTCOME_BAD_SHIFT] &&
                  met) begin
                outcome[oae_registers::FIRMWARE_WORD_OUTCOME_DONE_SHIFT] <= 1'b1;
                state <= WRITE;
              end
            end
            oae_types::APPLY: if (~|(held & named) && met) state <= WRITE;
            default: ;
          endcase
        end

        WRITE: begin
          step <= step + 3'd1;
          if (step == 3'd3) state <= READY;
        end

        default: state <= READY;
      endcase

      if (write && register_word == OPERAND) operand <= write_data;
      if (write && register_word == COMPARE) compare <= write_data;
      if (hold) held <= held | named;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clock)
    if (!reset) begin
      if (commands || start) assert (ready) else $error("two things at once with words");
      if (hold) assert (ready && job_now == oae_types::TRY && met && (held & named) == '0)
        else $error("words held that were not tried, or are held already");
      if (state == CONCLUDE && (job_now == oae_types::DO || job_now == oae_types::DROP))
        assert ((held & named) == named) else $error("words done with that nobody held");
      if (state == CONCLUDE && job_now == oae_types::DO)
        assert (met) else $error("held words have changed");
    end
`endif

endmodule
