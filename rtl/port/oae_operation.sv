// SPDX-License-Identifier: Apache-2.0
// The present operation. It is selected from the pending ones, executed word by word, and answered.
module oae_operation #(
  parameter int unsigned PORTS = 64
) (
  input  logic                clock,
  input  logic                reset,
  input  logic [6:0]          ports,

  // Pending operations
  input  logic                request_valid,
  output logic                request_ready,
  input  logic                request_reset,
  input  logic                request_write,
  input  logic [2:0]          request_bar,
  input  logic [11:0]         request_line,
  input  logic [511:0]        request_data,
  input  logic [63:0]         request_enable,
  input  logic [9:0]          request_tag,
  input  logic [2:0]          request_class,
  input  logic                access_valid,
  output logic                access_ready,
  input  logic                access_write,
  input  logic [13:0]         access_word,
  input  logic [63:0]         access_data,
  input  logic [7:0]          access_strobe,
  input  logic                watching,
  input  logic [5:0]          watch_port,
  input  logic                bridge_valid,
  output logic                bridge_ready,
  input  logic [1:0]          bridge_errand, // enum errand_t
  input  logic [5:0]          bridge_port,
  input  logic [511:0]        bridge_data,

  // The present one
  output oae_types::stage_t   stage,
  output oae_types::source_t  source,
  output oae_types::target_t  target,
  output logic                write,
  output logic [5:0]          port,
  output logic [5:0]          next_port,     // in stage LOAD
  output logic [511:0]        data,
  output logic [63:0]         enable,
  output logic [7:0]          words,         // the words of the line that are left
  output logic [2:0]          word,          // the present word
  output logic [63:0]         word_data,
  output logic [7:0]          word_enable,
  input  logic [63:0]         value,         // its value for a read
  output logic [63:0]         merged,        //   and its value after a write
  output logic [$clog2(8*PORTS)-1:0] sweep,  // row of slots that CLEAR clears
  output logic [3:0]          bank,          // the bank that FETCH reads
  output logic                finishes,      // the row is stored at this edge

  // Verdicts on it
  input  logic [511:0]        slot,
  /* verilator lint_off UNUSEDSIGNAL */      // the other parts of the row are not used
  input  oae_types::row_t     row,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic                opens,         // oae_journal.sv
  input  logic                goes_on,
  input  logic                moves,
  input  logic                settles,
  input  logic                ends,
  input  logic                late,
  input  logic                repeats,       // oae_inbox.sv
  input  logic                offers,
  input  logic [63:0]         arrived_after,
  input  logic                firmware_good, // oae_slot_check.sv
  input  logic [63:0]         nothing_header,
  input  logic                words_command, // oae_words.sv
  input  logic                words_ready,
  input  logic                words_busy,
  output logic                contends,      // words of the offer are held

  input  logic                passes,        // oae_joined.sv
  input  logic                replies,
  input  logic                serves,
  input  logic                answers,
  input  logic                draws,
  input  logic [3:0]          head,
  input  logic                loses,         // oae_session.sv

  // The answer (oae_answer.sv)
  input  logic                asks,
  input  oae_types::answer_t  choice,
  input  oae_types::stage_t   answer_stage,
  input  logic [3:0]          answer_bank,
  input  logic                buffer_given,
  output oae_types::answer_t  answer,
  output logic                pushes,        // it goes to the answer buffer
  input  logic                streams,
  input  logic                refused,
  input  logic                denies,
  input  logic                push_waits,    // its slot has not left at the next edge (oae_push.sv)

  // Its results
  output logic                completion_valid,
  input  logic                completion_ready,
  output logic [511:0]        completion_data,
  output logic [9:0]          completion_tag,
  output logic [2:0]          traffic_class, // of the request
  output logic                access_done,
  output logic                access_error,
  output logic [63:0]         access_result,
  output logic                interrupts     // the host, by its port
);

  localparam logic [2:0] EVENT = 3'(oae_registers::HOST_PORT_EVENT >> 3);
  localparam int unsigned OFFER_ARMED = oae_registers::HOST_PORT_EVENT_OFFER_ARMED_SHIFT;
  localparam int unsigned RESULT_ARMED = oae_registers::HOST_PORT_EVENT_RESULT_ARMED_SHIFT;
  localparam int unsigned LOST_ENABLE = oae_registers::HOST_PORT_EVENT_LOST_ENABLE_SHIFT;
  localparam logic [2:0] COMMAND = 3'(oae_registers::FIRMWARE_COMMAND >> 3);
  localparam int unsigned WITHDRAW = oae_registers::FIRMWARE_COMMAND_WITHDRAW_SHIFT;
  localparam int unsigned PUBLISH = oae_registers::FIRMWARE_COMMAND_PUBLISH_SHIFT;

  localparam logic [$clog2(8*PORTS)-1:0] LAST_SLOT = $bits(sweep)'(8 * PORTS - 1);

  oae_types::stage_t fetched;        // the stage after FETCH or WORK
  logic              signals;        // interrupt the host when the row is stored
  logic              completion_owed; // the completion of a read waits for its slot, which it must not overtake

  // ---- The next operation ----

  logic               host_waits;
  oae_types::source_t next_source;
  oae_types::target_t next_target;
  logic               takes_request;
  logic [5:0]         reset_port;    // the port that a reset of the function clears next

  // Writes and resets pass a read whose completion cannot leave yet.
  assign host_waits = request_valid && (request_write || request_reset ||
                                        !(completion_valid || completion_owed));

  oae_decode decode (
    .ports, .last(source),
    .host_waits, .request_bar, .request_line, .request_reset, .reset_port,
    .firmware_waits(access_valid), .access_word,
    .watch_waits(watching), .watch_port,
    .bridge_waits(bridge_valid), .bridge_errand, .bridge_port,
    .source(next_source), .target(next_target), .port(next_port));

  assign takes_request = stage == oae_types::LOAD && next_source == oae_types::HOST && host_waits;
  assign request_ready = takes_request &&
                         (!request_reset || {1'b0, reset_port} + 7'd1 == ports);
  assign access_ready = stage == oae_types::LOAD && next_source == oae_types::FIRMWARE &&
                        access_valid;
  assign bridge_ready = stage == oae_types::LOAD && next_source == oae_types::BRIDGE && bridge_valid;

  // The words of the bytes
  function automatic logic [7:0] words_of(input logic [63:0] bytes);
    for (int unsigned i = 0; i < 8; i++) words_of[i] = |bytes[8*i +: 8];
  endfunction

  // ---- The present word ----

  logic [7:0]        words_after;
  oae_types::stage_t next_word;      // the stage after this word
  logic [63:0]       word_mask;

  always_comb begin
    word = '0;
    for (int unsigned i = 0; i < 8; i++)
      if (words[7-i]) word = 3'(7 - i);
    words_after = words & (words - 8'd1);
    next_word = words_after == '0 ? oae_types::STORE : oae_types::EXECUTE;
    word_data = data[64*word +: 64];
    word_enable = enable[8*word +: 8];
    word_mask = '0;
    if (stage == oae_types::EXECUTE && write)
      for (int unsigned i = 0; i < 8; i++) word_mask[8*i +: 8] = {8{word_enable[i]}};
  end
  assign merged = (value & ~word_mask) | (word_data & word_mask);

  // ---- Its stages ----

  assign finishes = stage == oae_types::STORE && !moves && !settles && !ends && !draws;
  assign contends = stage == oae_types::WORK && words_busy && fetched == oae_types::FORM && source == oae_types::HOST;

  always_ff @(posedge clock) begin
    if (reset) begin
      stage <= oae_types::CLEAR;
      fetched <= oae_types::DELIVER;
      source <= oae_types::WATCH;
      target <= oae_types::NOTHING;
      write <= 1'b0;
      port <= '0;
      words <= '0;
      data <= '0;
      enable <= '1;
      bank <= '0;
      answer <= oae_types::FORMED;
      pushes <= 1'b0;
      signals <= 1'b0;
      sweep <= '0;
      reset_port <= '0;
      completion_valid <= 1'b0;
      completion_owed <= 1'b0;
      completion_data <= '0;
      completion_tag <= '0;
      traffic_class <= '0;
      access_result <= '0;
    end else begin
      if (completion_ready) completion_valid <= 1'b0;
      if (completion_owed && !push_waits) begin
        completion_owed <= 1'b0;
        completion_valid <= 1'b1;
      end

      case (stage)
        oae_types::CLEAR: begin
          port <= 6'({6'd0, sweep} >> 3);
          if (sweep != LAST_SLOT) sweep <= sweep + 1'b1;
          else if (words_ready) stage <= oae_types::LOAD;
        end

        oae_types::LOAD: begin
          target <= next_target;
          port <= next_port;
          if (takes_request) begin
            stage <= oae_types::EXECUTE;
            source <= oae_types::HOST;
            write <= request_write || request_reset;
            words <= request_reset ? 8'd1 : words_of(request_enable);
            reset_port <= request_ready ? '0 : reset_port + 6'd1;
            data <= request_data;
            enable <= request_enable;
            traffic_class <= request_class;
            if (!request_write && !request_reset) begin
              completion_data <= '0;
              completion_tag <= request_tag;
            end
          end else if (access_ready) begin
            stage <= oae_types::EXECUTE;
            source <= oae_types::FIRMWARE;
            write <= access_write;
            words <= 8'd1 << access_word[2:0];
            data <= {8{access_data}};
            enable <= {56'd0, access_strobe} << {access_word[2:0], 3'd0};
            access_result <= '0;
          end else if (bridge_ready) begin
            stage <= oae_types::EXECUTE;
            source <= oae_types::BRIDGE;
            write <= bridge_errand != oae_types::TAKE;
            words <= 8'd1;
            data <= bridge_data;
            enable <= '1;
          end else if (watching) begin
            stage <= oae_types::EXECUTE;
            source <= oae_types::WATCH;
            write <= 1'b0;
            words <= 8'd1;
          end
        end

        oae_types::EXECUTE: begin
          stage <= next_word;
          words <= words_after;
          if (loses && row.lost_enable) signals <= 1'b1;
          if (write) begin
            case (target)
              oae_types::HOST_PORT: begin
                if (goes_on) begin
                  words <= words;
                  stage <= oae_types::EXECUTE;
                end
                if (opens) begin
                  words <= words;
                  stage <= oae_types::BEGIN_EPOCH;
                end
                if (word == EVENT && merged[OFFER_ARMED] && row.offered) signals <= 1'b1;
                if (word == EVENT && merged[RESULT_ARMED] && row.result) signals <= 1'b1;
                if (word == EVENT && merged[LOST_ENABLE] && (row.lost_slots != '0 || row.lost_remote)) signals <= 1'b1;
              end

              oae_types::PAGE, oae_types::STREAM: if (goes_on) begin
                words <= words;
                stage <= oae_types::EXECUTE;
              end

              oae_types::WINDOW: begin
                // The line as a whole
                words <= '0;
                stage <= oae_types::STORE;
                bank <= {2'b00, row.inbox_bank};
                fetched <= repeats ? oae_types::COMPARE : oae_types::JUDGE_HOST;
                if (row.open && (repeats || &arrived_after)) stage <= oae_types::FETCH;
              end

              oae_types::FIRMWARE_WORDS: if (words_command) begin
                fetched <= oae_types::STORE;
                stage <= oae_types::WORK;
              end

              oae_types::FIRMWARE_PORT:
                if (word == COMMAND && word_enable[0] && word_data[PUBLISH] &&
                    (!row.offered || word_data[WITHDRAW]) && !row.joined) begin
                  words <= words;
                  bank <= {3'b010, !row.answer_bank};
                  fetched <= oae_types::JUDGE_FIRMWARE;
                  stage <= oae_types::FETCH;
                end

              oae_types::BRIDGE_PUT: begin
                if (serves) begin
                  words <= words;
                  bank <= oae_types::REPLY_BANK;
                  fetched <= oae_types::SERVE;
                  stage <= oae_types::FETCH;
                end
                if (answers && !row.forsaken && row.result_armed) signals <= 1'b1;
              end

              default: ;
            endcase
          end else begin
            if (source == oae_types::HOST) completion_data[64*word +: 64] <= value;
            else access_result <= value;

            case (target)
              oae_types::FIRMWARE_OFFER: begin
                words <= words;
                bank <= {3'b010, !row.answer_bank};
                fetched <= oae_types::DELIVER;
                stage <= oae_types::FETCH;
              end
              oae_types::FIRMWARE_TENTATIVE: if (row.tentative) begin
                words <= words;
                bank <= {2'b00, row.tentative_bank};
                fetched <= oae_types::DELIVER;
                stage <= oae_types::FETCH;
              end
              oae_types::FIRMWARE_COMMITTED: if (row.committed) begin
                words <= words;
                bank <= {2'b00, row.committed_bank};
                fetched <= oae_types::DELIVER;
                stage <= oae_types::FETCH;
              end
              oae_types::DEADLINE: if (late) signals <= 1'b1;
              oae_types::BRIDGE_TAKE: if (passes) begin
                words <= words;
                bank <= replies ? oae_types::REPLY_BANK : {2'b00, row.committed_bank};
                fetched <= oae_types::HAND;
                stage <= oae_types::FETCH;
              end
              default: ;
            endcase
            if (asks) begin
              words <= words;
              stage <= oae_types::FETCH;
              answer <= choice;
              bank <= answer_bank;
              fetched <= answer_stage;
              pushes <= buffer_given;
            end
          end
        end

        oae_types::BEGIN_EPOCH: begin
          words <= words_after;
          stage <= next_word;
        end

        oae_types::FETCH: stage <= fetched;

        // The rest of an offer that is already complete: a part of it was lost, and was sent again.
        oae_types::COMPARE: begin
          stage <= oae_types::STORE;
          if (offers) begin
            fetched <= oae_types::JUDGE_HOST;
            if (&arrived_after) stage <= oae_types::FETCH;
          end
        end

        oae_types::DELIVER: begin
          access_result <= slot[64*word +: 64];
          words <= words_after;
          stage <= next_word;
        end

        oae_types::HAND, oae_types::REPLY: begin
          words <= words_after;
          stage <= next_word;
        end

        oae_types::STAMP: stage <= oae_types::SEAL_OFFER;
        oae_types::SEAL_OFFER: stage <= oae_types::PLACE;
        oae_types::PLACE: begin
          if (row.offer_armed) signals <= 1'b1;
          stage <= oae_types::STORE;
        end

        oae_types::JUDGE_HOST: stage <= oae_types::STORE;

        oae_types::JUDGE_FIRMWARE: begin
          if (firmware_good && row.offer_armed) signals <= 1'b1;
          words <= words_after;
          stage <= next_word;
        end

        oae_types::TRY_STEPS, oae_types::SERVE: begin
          fetched <= oae_types::FORM;
          stage <= oae_types::WORK;
        end

        oae_types::WORK: if (words_ready) begin
          stage <= fetched;
          if (contends) answer <= oae_types::FORMED;
        end

        oae_types::FORM: stage <= source == oae_types::BRIDGE ? oae_types::REPLY : oae_types::SEAL;
        oae_types::HEAD: stage <= oae_types::SEAL;
        oae_types::SEAL: stage <= oae_types::ANSWER;

        oae_types::ANSWER:
          if (streams) begin
            for (int unsigned i = 0; i < 8; i++)
              if (words[i]) completion_data[64*i +: 64] <= slot[64*i +: 64];
            words <= '0;
            stage <= oae_types::STORE;
          end else begin
            completion_data[63:0] <= refused && denies ? nothing_header : slot[63:0];
            words <= words_after;
            stage <= next_word;
          end

        oae_types::SETTLE: begin
          fetched <= oae_types::STORE;
          stage <= oae_types::WORK;
        end

        oae_types::STORE: if (settles) begin
          bank <= {2'b00, row.tentative_bank};
          fetched <= oae_types::SETTLE;
          stage <= oae_types::FETCH;
        end else if (draws) begin
          bank <= head;
          fetched <= oae_types::STAMP;
          stage <= oae_types::FETCH;
        end else if (finishes) begin
          if (source == oae_types::HOST && !write) begin
            completion_owed <= push_waits;
            completion_valid <= !push_waits;
          end
          signals <= 1'b0;
          pushes <= 1'b0;
          stage <= oae_types::LOAD;
        end

        default: stage <= oae_types::LOAD;
      endcase
    end
  end

  assign access_done = finishes && source == oae_types::FIRMWARE;
  assign access_error = target == oae_types::NOTHING;
  assign interrupts = finishes && signals;

`ifndef SYNTHESIS
  always_ff @(posedge clock)
    if (!reset) begin
      if (finishes) assert ({1'b0, port} < ports) else $error("no such port");
      if (stage == oae_types::DELIVER)
        assert (source == oae_types::FIRMWARE) else $error("a slot delivered to the host");
      if (stage == oae_types::ANSWER)
        assert (source == oae_types::HOST) else $error("an answer unasked");
      if (stage == oae_types::HAND)
        assert (source == oae_types::BRIDGE) else $error("a slot handed to nobody");
      assert (!draws || !pushes) else $error("an offer is drawn over a slot that is pushed");
    end
`endif

endmodule
