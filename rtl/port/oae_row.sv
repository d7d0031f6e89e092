// SPDX-License-Identifier: Apache-2.0
// The rows of all ports, and the present row. This module applies all changes that the other
// modules decide.
module oae_row #(
  parameter int unsigned PORTS = 64
) (
  input  logic                clock,
  input  logic                reset,
  input  logic [63:0]         now,

  // The operation
  input  oae_types::stage_t   stage,
  /* verilator lint_off UNUSEDSIGNAL */      // few ports need few bits
  input  logic [5:0]          port,
  input  logic [5:0]          next_port,     // the port whose row LOAD reads
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic                write,
  input  oae_types::target_t  target,
  input  logic [2:0]          word,
  input  logic [63:0]         word_data,
  input  logic [1:0]          word_enable,   // enables of its first bytes
  input  logic [63:0]         merged,        // the value of a register after a write
  input  logic                finishes,      // the row is stored at this edge

  // The journal (oae_journal.sv)
  input  logic [7:0]          next_epoch,
  input  logic                closes,
  input  logic                commits,
  input  logic                reverses,
  input  logic                forgoes,
  input  logic                moves,
  input  logic                ends,
  input  logic                late,

  // Offers (oae_inbox.sv, oae_slot_check.sv)
  input  logic                offers,
  input  logic [63:0]         arrived_after,
  input  oae_types::verdict_t host_verdict,
  input  logic                host_rejected,
  input  logic                host_more,
  input  logic [5:0]          host_attempt,
  input  oae_types::kind_t    host_kind,
  input  logic                firmware_good,

  // Answers (oae_answer.sv)
  input  logic                asks,
  input  logic [31:0]         liveness_age,
  input  logic                contends,      // its words are held
  input  logic                denies,
  input  logic                not_ready,
  input  logic                exchanges,
  input  logic                keeps,
  input  logic                holds,

  // The bridge (oae_joined.sv)
  input  oae_types::name_t    slot_name,     // of the present slot
  input  logic                greeting,
  input  logic                whole,
  input  logic                replies,
  input  logic                requests,
  input  logic                answers,
  input  logic                queues,
  input  logic                counts,
  input  logic                delivers,
  input  logic                all_of_them,
  input  logic [1:0]          room_after,
  input  logic                uses_up,

  // Its sessions (oae_session.sv)
  input  logic [11:0]         arrived_peer,
  input  logic                meets,
  input  logic                links,
  input  logic                unlinks,
  input  logic                parts,
  input  logic                greets,
  input  logic                renews,
  input  logic                loses,

  output oae_types::row_t     row
);

  localparam logic [2:0] ANSWER_ADDRESS = 3'(oae_registers::HOST_PORT_ANSWER_ADDRESS >> 3);
  localparam logic [2:0] EVENT = 3'(oae_registers::HOST_PORT_EVENT >> 3);
  localparam logic [2:0] LIMIT = 3'(oae_registers::HOST_PORT_TENTATIVE_LIMIT >> 3);
  localparam int unsigned VECTOR = oae_registers::HOST_PORT_EVENT_VECTOR_SHIFT;
  localparam int unsigned OFFER_ARMED = oae_registers::HOST_PORT_EVENT_OFFER_ARMED_SHIFT;
  localparam int unsigned RESULT_ARMED = oae_registers::HOST_PORT_EVENT_RESULT_ARMED_SHIFT;
  localparam int unsigned LOST_ENABLE = oae_registers::HOST_PORT_EVENT_LOST_ENABLE_SHIFT;
  localparam logic [2:0] LOST = 3'(oae_registers::HOST_PORT_LOST >> 3);
  localparam int unsigned ACKNOWLEDGE_LOST = oae_registers::HOST_PORT_LOST_ACKNOWLEDGE_SHIFT;
  localparam int unsigned CONFIRM_ENABLE = oae_registers::HOST_PORT_EVENT_CONFIRM_ENABLE_SHIFT;

  localparam logic [2:0] COMMAND = 3'(oae_registers::FIRMWARE_COMMAND >> 3);
  localparam logic [2:0] FIRMWARE_EVENT = 3'(oae_registers::FIRMWARE_EVENT >> 3);
  localparam logic [2:0] WORDS = 3'(oae_registers::FIRMWARE_WORDS >> 3);
  localparam logic [2:0] JOIN = 3'(oae_registers::FIRMWARE_JOIN >> 3);
  localparam int unsigned TAKE = oae_registers::FIRMWARE_COMMAND_TAKE_SHIFT;
  localparam int unsigned WITHDRAW = oae_registers::FIRMWARE_COMMAND_WITHDRAW_SHIFT;
  localparam int unsigned ACKNOWLEDGE = oae_registers::FIRMWARE_COMMAND_ACKNOWLEDGE_SHIFT;

  localparam logic [31:0] ASK_PAUSE = 32'd4096;  // clocks between two requests, at least

  localparam int unsigned PORT_BITS = PORTS > 1 ? $clog2(PORTS) : 1;
  localparam int unsigned ROW_BITS = 884;  // the width of row_t

  logic [ROW_BITS-1:0] rows [PORTS];
  always_ff @(posedge clock)
    if (stage == oae_types::CLEAR || finishes) rows[port[PORT_BITS-1:0]] <= row;

  // The offer's attempt is the present one, of which no copy counts once it was denied.
  logic attempts;
  assign attempts = row.verdict == oae_types::GOOD || row.verdict == oae_types::BAD_VERB;

  // The events that a write of the firmware clears
  logic [6:0] cleared;
  always_comb begin
    cleared = '0;
    if (word == COMMAND && word_enable[1]) cleared = word_data[ACKNOWLEDGE +: 7];
    if (word == FIRMWARE_EVENT && word_enable[0]) cleared = word_data[6:0];
  end

  // A committed REMOTE is still in the port.
  logic in_port;
  assign in_port = (row.committed && row.requests) || (row.settled && row.kind == oae_types::REMOTE);

  always_ff @(posedge clock) begin
    if (reset) begin
      row <= '0;
      row.state <= oae_registers::PORT_STATE_HISTORY_LOST;
      row.tentative_bank <= 2'd1;
      row.committed_bank <= 2'd2;
      row.limit <= oae_registers::HOST_PORT_TENTATIVE_LIMIT_RESET[31:0];
      row.word_count <= oae_registers::FIRMWARE_WORDS_RESET[oae_registers::FIRMWARE_WORDS_COUNT_SHIFT +: 13];
    end else begin
      case (stage)
        oae_types::LOAD: row <= rows[next_port[PORT_BITS-1:0]];

        oae_types::EXECUTE: if (write) begin
          case (target)
            oae_types::HOST_PORT: begin
              case (word)
                ANSWER_ADDRESS: row.answer_line <= merged[63:6];
                EVENT: begin
                  row.msix_vector <= merged[VECTOR +: 16];
                  row.offer_armed <= merged[OFFER_ARMED] && !row.offered;
                  row.result_armed <= merged[RESULT_ARMED] && !row.result;
                  row.confirm_enable <= merged[CONFIRM_ENABLE];
                  row.lost_enable <= merged[LOST_ENABLE];
                  row.ask_after <= row.since + {32'd0, row.limit};
                end
                LIMIT: begin
                  row.limit <= merged[31:0];
                  row.ask_after <= row.since + {32'd0, merged[31:0]};
                end
                default: ;
              endcase
              if (closes) begin
                row.open <= 1'b0;
                row.offered <= 1'b0;
                row.verdict <= oae_types::NONE;
                row.spent <= 1'b0;
                row.arrived <= '0;
                row.event_closed <= 1'b1;
                row.state <= oae_registers::PORT_STATE_CLOSED;
              end
            end

            oae_types::HOST_FATE: if (word == LOST && merged[ACKNOWLEDGE_LOST]) begin
              row.lost_slots <= '0;
              row.lost_remote <= 1'b0;
            end

            oae_types::PAGE, oae_types::STREAM: begin
              if (reverses || forgoes) begin
                row.state <= oae_registers::PORT_STATE_REVERSED;
                row.reversed <= 1'b1;
                row.event_reversed <= 1'b1;
              end
              if (reverses) row.tentative <= 1'b0;
              if (forgoes) begin
                row.sequence_last <= oae_types::following(row.sequence_last);
                row.attempted <= 1'b0;
                row.attempt <= '0;
                row.offered <= 1'b0;
                row.verdict <= oae_types::NONE;
                row.spent <= 1'b0;
                row.arrived <= '0;
              end
            end

            oae_types::FUNCTION_RESET: begin
              row.answer_line <= '0;
              row.msix_vector <= '0;
              row.offer_armed <= 1'b0;
              row.result_armed <= 1'b0;
              row.confirm_enable <= 1'b0;
              row.lost_enable <= 1'b0;
              row.limit <= oae_registers::HOST_PORT_TENTATIVE_LIMIT_RESET[31:0];
              // The host will learn that the offer did not take place, so no copy of it may.
              if (attempts && !row.spent) row.attempt <= row.attempt + 6'd1;
              row.verdict <= oae_types::NONE;
              row.spent <= 1'b0;
              row.arrived <= '0;
            end

            oae_types::FIRMWARE_PORT: begin
              if (word == COMMAND && word_enable[0]) begin
                if (word_data[TAKE] && !row.joined) row.committed <= 1'b0;
                if (word_data[WITHDRAW]) row.offered <= 1'b0;
              end
              if (word == JOIN) row.joined <= merged[0];
              if (word == WORDS) begin
                row.first_word <= merged[oae_registers::FIRMWARE_WORDS_FIRST_SHIFT +: 12];
                row.word_count <= merged[oae_registers::FIRMWARE_WORDS_COUNT_SHIFT +: 13];
              end
              if (cleared[0]) row.event_exchanged <= 1'b0;
              if (cleared[1]) row.event_committed <= 1'b0;
              if (cleared[2]) row.event_reversed <= 1'b0;
              if (cleared[3]) row.event_opened <= 1'b0;
              if (cleared[4]) row.event_closed <= 1'b0;
              if (cleared[5]) row.event_bad_offer <= 1'b0;
              if (cleared[6]) row.event_passed <= 1'b0;
            end

            oae_types::BRIDGE_PUT: begin
              if (queues) row.waiting <= row.waiting + 2'd1;
              if (answers) begin
                // Nobody asks for the result of an epoch that has ended.
                row.asked <= !row.forsaken;
                row.away <= 1'b0;
                row.result <= !row.forsaken;
                row.forsaken <= 1'b0;
                if (!row.forsaken) row.result_armed <= 1'b0;
              end
              if (counts) row.room <= room_after;
              if (delivers) row.delivered <= all_of_them ? row.newest : row.older;
            end

            default: ;
          endcase
        end else begin
          if (asks) begin
            // The read follows all writes, so the rest of an offer is lost.
            row.arrived <= '0;
            if (!row.spent) row.age <= liveness_age;
            if (!row.spent) row.contended <= 1'b0;
          end
          // It is asked for again, but not all the time.
          if (target == oae_types::DEADLINE && late)
            row.ask_after <= now + {32'd0, row.limit < ASK_PAUSE ? ASK_PAUSE : row.limit};
        end

        oae_types::BEGIN_EPOCH: begin
          row.open <= 1'b1;
          row.epoch <= next_epoch;
          row.sequence_last <= '0;
          row.reversed <= 1'b0;
          row.attempted <= 1'b0;
          row.attempt <= '0;
          row.spent <= 1'b0;
          row.state <= oae_registers::PORT_STATE_IDLE;
          row.asked <= row.asked && !row.result;
          row.forsaken <= row.asked && !row.result;
          row.result <= 1'b0;
          row.lost_slots <= '0;
          row.lost_remote <= 1'b0;
          row.event_opened <= 1'b1;
        end

        oae_types::JUDGE_HOST: begin
          row.verdict <= host_verdict;
          row.offered_more <= host_more;
          row.offered_kind <= host_kind;
          row.arrived <= '0;
          if (host_verdict == oae_types::GOOD || host_verdict == oae_types::BAD_VERB) begin
            row.attempt <= host_attempt;
            row.attempted <= 1'b1;
          end
          if (host_rejected) row.count_rejected <= row.count_rejected + 64'd1;
        end

        oae_types::JUDGE_FIRMWARE: begin
          row.offered <= firmware_good;
          if (!firmware_good) row.event_bad_offer <= 1'b1;
          if (firmware_good) row.offer_armed <= 1'b0;
        end

        oae_types::WORK: if (contends) row.contended <= 1'b1;

        oae_types::ANSWER: begin
          // An offer that was answered NOT_READY keeps that answer.
          if (denies) row.spent <= 1'b1;
          if (denies && !row.spent && attempts) row.attempt <= row.attempt + 6'd1;
          if (not_ready && !row.spent) row.count_not_ready <= row.count_not_ready + 64'd1;
          if (exchanges) begin
            row.state <= oae_registers::PORT_STATE_TENTATIVE;
            row.sequence_last <= oae_types::following(row.sequence_last);
            row.offered <= 1'b0;
            row.verdict <= oae_types::NONE;
            row.more <= row.offered_more;
            row.tentative <= 1'b1;
            row.settled <= 1'b0;
            row.reversed <= 1'b0;
            row.attempted <= 1'b0;
            row.attempt <= '0;
            row.kind <= row.offered_kind;
            row.holds <= holds;
            row.carried <= !keeps;
            if (!keeps) row.answer_bank <= !row.answer_bank;
            row.inbox_bank <= row.tentative_bank;
            row.tentative_bank <= row.inbox_bank;
            row.since <= now;
            row.ask_after <= now + {32'd0, row.limit};
            if (keeps) row.event_passed <= 1'b1;
            if (row.offered_kind != oae_types::STEPS && row.offered_kind != oae_types::RESULT) row.event_exchanged <= 1'b1;
          end
        end

        oae_types::HAND: if (greeting) row.greets <= 1'b0;
        else begin
          row.uses <= '0;
          if (replies) row.replies <= 1'b0;
          else if (whole) begin
            row.committed <= 1'b0;
            if (requests) begin
              row.away <= 1'b1;
              row.remote <= slot_name;
            end else begin
              row.room <= row.room - 2'd1;
              row.newest <= slot_name;
              row.older <= row.newest;
            end
            row.passed <= slot_name;
          end
        end

        oae_types::REPLY: row.replies <= 1'b1;

        oae_types::PLACE: begin
          row.offered <= 1'b1;
          row.offer_armed <= 1'b0;
        end

        oae_types::SETTLE: row.holds <= 1'b0;

        oae_types::STORE: begin
          if (moves || ends) begin
            row.tentative <= 1'b0;
            row.settled <= 1'b0;
          end
          if (moves) begin
            row.committed <= 1'b1;
            row.requests <= row.kind == oae_types::REMOTE;
            row.tentative_bank <= row.committed_bank;
            row.committed_bank <= row.tentative_bank;
            row.event_committed <= 1'b1;
          end
        end

        default: ;
      endcase

      // Several stages cause these changes.
      if (offers) begin
        row.verdict <= oae_types::NONE;
        row.spent <= 1'b0;
        row.arrived <= arrived_after;
      end
      if (commits) begin
        row.state <= oae_registers::PORT_STATE_COMMITTED;
        row.settled <= 1'b1;
        row.count_committed <= row.count_committed + 64'd1;
        if (row.kind == oae_types::REMOTE) row.asked <= 1'b1;
        if (row.kind == oae_types::RESULT) begin
          row.asked <= 1'b0;
          row.result <= 1'b0;
        end
      end
      if (uses_up) begin
        row.primed <= 1'b0;
        if (!row.primed) begin
          row.first <= !row.first;
          row.waiting <= row.waiting - 2'd1;
          row.uses <= row.uses + 2'd1;
        end
      end
      if (renews) begin
        row.offered <= 1'b0;
        row.carried <= 1'b0;
        row.primed <= 1'b1;
        row.first <= 1'b0;
        row.waiting <= '0;
        row.room <= 2'd2;
        row.uses <= '0;
        row.replies <= 1'b0;
        if (row.away) begin
          row.asked <= 1'b0;
          row.forsaken <= 1'b0;
        end
        row.away <= 1'b0;
      end
      if (loses) begin
        // Without a loss that the host does not know of, nothing was passed on, and nothing more is lost.
        row.lost_slots <= 2'd2 - row.room;
        row.lost_remote <= row.away;
      end
      if (parts) row.session <= row.session + 12'd1;
      if (links) row.linked <= 1'b1;
      else if (unlinks) row.linked <= 1'b0;
      if (meets) row.peer <= arrived_peer;
      if (greets) row.greets <= 1'b1;
    end
  end

`ifndef SYNTHESIS
  if ($bits(oae_types::row_t) != ROW_BITS) $error("ROW_BITS is wrong");

  always_ff @(posedge clock)
    if (!reset) begin
      if (finishes) begin
        assert ((row.state == oae_registers::PORT_STATE_TENTATIVE) ==
                (row.tentative && !row.settled)) else $error("state and tentative slot disagree");
        assert (row.tentative || !row.settled) else $error("settled without a slot");
        assert (row.open || (!row.offered && row.verdict == oae_types::NONE))
          else $error("an offer outlived its port");
        assert (!row.holds || row.state == oae_registers::PORT_STATE_TENTATIVE)
          else $error("words are held for no swap");
        assert (row.open || row.state == oae_registers::PORT_STATE_CLOSED ||
                row.state == oae_registers::PORT_STATE_HISTORY_LOST)
          else $error("a swap outlived its port");
        assert (row.inbox_bank != row.tentative_bank && row.inbox_bank != row.committed_bank &&
                row.tentative_bank != row.committed_bank && row.inbox_bank != 2'd3 &&
                row.tentative_bank != 2'd3 && row.committed_bank != 2'd3)
          else $error("two slots share a bank");
        assert (row.waiting <= 2'd2 && row.room <= 2'd2 && row.uses <= 2'd2)
          else $error("more slots of a joined port than it has places");
        assert (row.asked || (!row.away && !row.result && !row.forsaken)) else $error("a result that nobody has asked for");
        assert (!in_port || (row.asked && !row.away && !row.result)) else $error("two requests at once");
        assert (row.linked || (row.room == 2'd2 && row.waiting == '0 && row.uses == '0 && !row.away && !row.replies) || !row.joined)
          else $error("a session that has ended has slots");
        assert (row.joined || !row.linked) else $error("a session of a port that is not joined");
        assert (!row.result || (!row.away && !row.forsaken)) else $error("a second result");
        assert (!row.joined || !row.offered || row.state != oae_registers::PORT_STATE_TENTATIVE)
          else $error("the bridge has offered a slot past a tentative swap");
      end
      if (uses_up)
        assert (row.primed || row.waiting != '0) else $error("a slot was used up that was not there");
      if (stage == oae_types::HAND)
        assert (row.greets || (row.linked &&
                               (row.replies || (row.committed && (row.requests || row.room != '0 || row.uses != '0)))))
          else $error("a slot was passed on that may not be");
      if (loses)
        assert (row.lost_slots == '0 && !row.lost_remote) else $error("the name of a lost slot is overwritten");
      if (stage == oae_types::PLACE)
        assert (row.joined && row.open && !row.offered && (row.primed || row.waiting != '0))
          else $error("the bridge has offered what nobody sent");
      if (exchanges)
        assert (row.open && (row.offered || keeps) && !row.tentative && !row.holds && !row.spent &&
                row.verdict == oae_types::GOOD) else $error("exchange without offers");
      if (commits) begin
        assert (row.tentative && !row.settled) else $error("commit of nothing");
        assert (!exchanges) else $error("commit within an exchange");
      end
      if (reverses)
        assert (row.tentative && !row.settled) else $error("what is confirmed was reversed");
    end
`endif

endmodule
