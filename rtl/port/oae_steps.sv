// SPDX-License-Identifier: Apache-2.0
// Decodes the steps on words that a slot requests (rtl/registers/words.yaml). Combinational.
module oae_steps (
  input  logic                enable,        // low if there is no slot
  input  logic [7:0]          verb,
  input  logic [63:0]         steps_word,    // slices of the slot
  input  logic [255:0]        operands,
  input  logic [11:0]         first_word,    // of those that it may use,
  input  logic [12:0]         word_count,    //   and how many
  output oae_types::steps_t   steps,
  output logic                sound          // the steps are possible
);

  localparam int unsigned WORDS = 32'((oae_registers::HOST_FEATURES_RESET &
      oae_registers::HOST_FEATURES_WORDS_MASK) >> oae_registers::HOST_FEATURES_WORDS_SHIFT);
  localparam int unsigned OPERATION = oae_registers::WORDS_STEPS_OPERATION_0_SHIFT;
  localparam int unsigned NEXT = oae_registers::WORDS_STEPS_INDEX_1_SHIFT;

  logic [11:0]  operations;
  logic [47:0]  indices;
  logic [3:0]   unknown;
  logic         twice;      // two steps change the same word

  always_comb begin
    operations = '0;
    indices = '0;
    unknown = '0;
    twice = 1'b0;
    if (enable) begin
      for (int unsigned i = 0; i < 4; i++) begin
        operations[3*i +: 3] = steps_word[NEXT * i + OPERATION +: 3];
        indices[12*i +: 12] = steps_word[NEXT * i +: 12];
        unknown[i] = steps_word[NEXT * i + OPERATION + 3];
      end
      case (verb)
        oae_registers::VERB_CAS: begin
          unknown[0] = steps_word[63:12] != '0;
          operations[2:0] = oae_registers::WORD_OPERATION_COMPARE;
          operations[5:3] = oae_registers::WORD_OPERATION_WRITE;
          indices[23:12] = indices[11:0];
        end
        oae_registers::VERB_FETCH_ADD: begin
          unknown[0] = steps_word[63:12] != '0;
          operations[2:0] = oae_registers::WORD_OPERATION_ADD;
        end
        default: ;
      endcase
      for (int unsigned i = 0; i < 4; i++) begin
        if (operations[3*i +: 3] > oae_registers::WORD_OPERATION_COMPARE) unknown[i] = 1'b1;
        if (operations[3*i +: 3] != oae_registers::WORD_OPERATION_NONE &&
            ({20'd0, indices[12*i +: 12]} >= WORDS || indices[12*i +: 12] < first_word ||
             {1'b0, indices[12*i +: 12] - first_word} >= word_count)) unknown[i] = 1'b1;
        for (int unsigned j = 0; j < i; j++)
          if (indices[12*i +: 12] == indices[12*j +: 12] &&
              oae_types::changes(operations[3*i +: 3]) && oae_types::changes(operations[3*j +: 3]))
            twice = 1'b1;
      end
    end
    sound = unknown == '0 && !twice;
    steps.operations = operations;
    steps.indices = indices;
    steps.operands = operands;
  end

endmodule
