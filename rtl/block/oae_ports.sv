// SPDX-License-Identifier: Apache-2.0
// The swap ports. One operation at a time loads its port's row, changes it and stores it, so an
// operation is atomic for all others. Slots are not copied in their memory; the row assigns the
// banks.
//
// oae_operation accepts the operation and holds its state. oae_inbox, oae_slot_check, oae_answer,
// oae_journal, oae_joined and oae_session are combinational and decide its effects. oae_row applies them to the row.
module oae_ports #(
  parameter int unsigned PORTS = 64
) (
  input  logic         clock,
  input  logic         reset,
  input  logic [63:0]  now,               // block clocks since power-up
  input  logic [6:0]   ports,             // ports in use, 1 to PORTS
  input  logic [31:0]  clock_khz,

  // Requests of the host, in order: one line of 64 bytes each
  input  logic         request_valid,
  output logic         request_ready,
  input  logic         request_reset,     // a reset of the function: settings, and offers not exchanged
  input  logic         request_write,
  input  logic [2:0]   request_bar,       // 0, 2 or 4
  input  logic [11:0]  request_line,      // address[17:6]
  input  logic [511:0] request_data,
  input  logic [63:0]  request_enable,    // bytes to write or read
  input  logic [9:0]   request_tag,
  input  logic [2:0]   request_class,
  output logic         completion_valid,  // completes a read
  input  logic         completion_ready,
  output logic [511:0] completion_data,   // words that were not requested are 0
  output logic [9:0]   completion_tag,

  // Accesses of the firmware: one word each
  input  logic         access_valid,
  output logic         access_ready,
  input  logic         access_write,
  input  logic [13:0]  access_word,       // address[16:3]
  input  logic [63:0]  access_data,
  input  logic [7:0]   access_strobe,     // all ones for a read
  output logic         access_done,       // for one clock, in which the next two are valid
  output logic         access_error,
  output logic [63:0]  access_result,

  // Operations of the bridge
  output logic [PORTS-1:0] bridge_pending,  // each of these ports has something for the other one
  input  logic         bridge_valid,
  output logic         bridge_ready,
  input  logic [1:0]   bridge_errand,     // enum oae_types::errand_t
  input  logic [5:0]   bridge_port,
  input  logic [511:0] bridge_data,       // the slot, as it is on its way (registers/passage.yaml)
  output logic         bridge_hands,      // something is taken, for one clock:
  output logic [511:0] bridge_taken,      //   the slot, as it is on its way
  output logic         bridge_accepts,    // what has arrived is accepted, for one clock
  output logic         bridge_done,       // the operation in work ends, for one clock

  // Pushed answers
  output logic         dma_valid,
  input  logic         dma_ready,
  input  logic         dma_refused,       // sampled with ready: the function may not write, and the slot is dropped
  output logic [63:0]  dma_address,
  output logic [511:0] dma_data,
  output logic [2:0]   dma_class,         // the class of the read

  output logic         interrupt_valid,   // MSI-X to the host
  input  logic         interrupt_ready,
  output logic [15:0]  interrupt_vector,
  output logic         irq,               // to the firmware, a level

  // A change of a journal's state, for one clock
  output logic         trace_valid,
  output logic [5:0]   trace_port,
  output logic [7:0]   trace_epoch,
  output logic [31:0]  trace_sequence,
  output logic [7:0]   trace_from,
  output logic [7:0]   trace_to,

  output logic         idle,              // the next edge accepts requests and accesses
  output logic         busy,              // the clock must not stop
  output logic         deadline_valid,    // the clock must run when `now` reaches the deadline
  output logic [63:0]  deadline
);

  localparam int unsigned SLOT_BITS = $clog2(9 * PORTS);
  localparam int unsigned PORT_BITS = PORTS > 1 ? $clog2(PORTS) : 1;

  localparam logic [2:0] LIVENESS_LIMIT = 3'(oae_registers::HOST_LIVENESS_LIMIT >> 3);
  localparam logic [2:0] FIRMWARE_LIVENESS = 3'(oae_registers::FIRMWARE_LIVENESS >> 3);
  localparam logic [2:0] IRQ_ENABLE = 3'(oae_registers::FIRMWARE_IRQ_ENABLE >> 3);
  localparam logic [2:0] HOLD_LIMIT = 3'(oae_registers::FIRMWARE_HOLD_LIMIT >> 3);

  // ---- Signals between the parts ----

  // oae_operation
  oae_types::stage_t    stage;
  oae_types::source_t   source;
  oae_types::target_t   target;
  logic                 write;
  logic                 writes;   // a word is written at this edge
  logic [5:0]           port;
  logic [5:0]           next_port;
  logic [511:0]         data;
  logic [63:0]          enable;
  logic [7:0]           words;
  logic [2:0]           word;
  logic [63:0]          word_data;
  logic [7:0]           word_enable;
  logic [63:0]          merged;
  logic [$clog2(8*PORTS)-1:0] sweep;
  logic [3:0]           bank;
  logic                 finishes;
  logic                 contends;
  oae_types::answer_t   answer;
  logic                 pushes;
  logic [2:0]           traffic_class;
  logic                 interrupts;

  // oae_row
  oae_types::row_t row;             // of the present port

  // oae_slots and oae_slot_check
  logic [511:0]         slot;      // the present slot
  logic [63:0]          slot_crc;
  oae_types::verdict_t  host_verdict;
  logic                 host_rejected;
  logic                 host_more;
  logic [5:0]           host_attempt;
  oae_types::kind_t     host_kind;
  oae_types::steps_t    steps;
  logic                 steps_sound;
  logic                 arrived;   // the present slot is the REMOTE of another cell
  logic                 firmware_good;
  logic [63:0]          nothing_header;
  logic [63:0]          formed_header;
  logic [SLOT_BITS-1:0] slot_row;
  logic                 slot_write;
  logic                 writes_slot;  // the present slot is written
  logic [3:0]           slot_bank;

  // oae_inbox
  logic        repeats;
  logic        offers;
  logic [63:0] arrived_after;

  // oae_answer
  logic               asks;
  oae_types::answer_t choice;
  oae_types::stage_t  answer_stage;
  logic [3:0]         answer_bank;
  logic               buffer_given;
  logic               streams;
  logic               refused;
  logic               denies;
  logic               not_ready;
  logic               exchanges;
  logic               keeps;
  logic               holds;

  // oae_journal
  logic opens;
  logic [7:0] next_epoch;
  logic closes;
  logic commits;
  logic reverses;
  logic forgoes;
  logic goes_on;
  logic moves;
  logic settles;
  logic ends;
  logic late;

  // oae_joined
  logic waits;
  logic passes;
  logic greeting;
  logic whole;
  logic replies;
  logic requests;
  logic accepts;
  logic counts;
  logic delivers;
  logic all_of_them;
  logic stores;
  logic serves;
  logic answers;
  logic queues;
  logic [3:0] place;
  logic [1:0] room_after;
  logic draws;
  logic [3:0] head;
  logic uses_up;
  logic [63:0] drawn_header;       // of what another cell's slot becomes here: an offer, or an answer

  // oae_session
  logic current;
  logic meets;
  logic links;
  logic unlinks;
  logic parts;
  logic greets;
  logic renews;
  logic loses;
  logic arrived_account;
  logic arrived_greeting;
  logic [11:0] arrived_peer;
  oae_types::name_t slot_name;

  // oae_push
  logic push_waits;

  // oae_words
  oae_types::steps_t requested;
  logic [63:0]  outcome;           // of the steps of another cell
  logic         words_ready;
  logic         words_busy;
  logic         words_met;
  logic [255:0] words_found;
  logic         words_command;
  logic [63:0]  words_value;

  // oae_readout, oae_liveness, oae_deadline, and registers without a port
  logic [63:0] value;
  logic [6:0]  pending;            // events of the port in work
  logic [31:0] liveness_count;
  logic [31:0] liveness_age;
  logic [31:0] liveness_limit;
  logic [63:0] irq_enable;
  logic [63:0] irq_pending;        // bit n: port n has an event
  logic        watching;
  logic [5:0]  watch_port;
  logic        deadline_busy;
  logic        interrupt_busy;
  logic [31:0] hold_limit;
  logic        limits_holds;       // that limit is written
  logic        asks_later;         // the port in work waits to ask for a confirmation,
  logic        expires_later;      //   or for the end of the time that it may hold words
  logic [63:0] ask_deadline;
  logic [63:0] hold_deadline;

  // ---- The present operation ----

  oae_operation #(.PORTS(PORTS)) operation (
    .clock, .reset, .ports,
    .request_valid, .request_ready, .request_reset, .request_write, .request_bar, .request_line,
    .request_data, .request_enable, .request_tag, .request_class,
    .access_valid, .access_ready, .access_write, .access_word, .access_data, .access_strobe,
    .watching, .watch_port,
    .bridge_valid, .bridge_ready, .bridge_errand, .bridge_port, .bridge_data,
    .stage, .source, .target, .write, .port, .next_port, .data, .enable,
    .words, .word, .word_data, .word_enable, .value, .merged, .sweep, .bank, .finishes,
    .slot, .row, .opens, .goes_on, .moves, .settles, .ends, .late,
    .repeats, .offers, .arrived_after, .firmware_good, .nothing_header,
    .words_command, .words_ready, .words_busy, .contends, .passes, .replies, .serves, .answers, .draws, .head,
    .loses,
    .asks, .choice, .answer_stage, .answer_bank, .buffer_given, .answer, .pushes,
    .streams, .refused, .denies, .push_waits,
    .completion_valid, .completion_ready, .completion_data, .completion_tag, .traffic_class,
    .access_done, .access_error, .access_result, .interrupts);

  assign writes = stage == oae_types::EXECUTE && write;

  // ---- Its row ----

  oae_row #(.PORTS(PORTS)) row_in_work (
    .clock, .reset, .now,
    .stage, .port, .next_port, .write, .target, .word, .word_data,
    .word_enable(word_enable[1:0]), .merged, .finishes,
    .next_epoch, .closes, .commits, .reverses, .forgoes, .moves, .ends, .late,
    .offers, .arrived_after,
    .host_verdict, .host_rejected, .host_more, .host_attempt, .host_kind, .firmware_good,
    .asks, .liveness_age, .contends, .denies, .not_ready, .exchanges, .keeps, .holds,
    .slot_name, .greeting, .whole, .replies, .requests, .answers, .queues, .counts, .delivers, .all_of_them, .room_after,
    .uses_up, .arrived_peer, .meets, .links, .unlinks, .parts, .greets, .renews, .loses, .row);

  // ---- The present slot ----

  assign slot_row = stage == oae_types::CLEAR ? SLOT_BITS'(sweep) :
                    slot_bank[3] ? SLOT_BITS'(8 * PORTS) + SLOT_BITS'(port) : SLOT_BITS'({port, slot_bank[2:0]});

  assign writes_slot = keeps || stage == oae_types::PLACE || stage == oae_types::REPLY;

  always_comb begin
    if (stage == oae_types::FETCH) slot_bank = bank;
    else if (keeps) slot_bank = {3'b010, row.answer_bank};
    else if (stores) slot_bank = place;
    else if (stage == oae_types::REPLY) slot_bank = oae_types::REPLY_BANK;
    else if (stage == oae_types::PLACE) slot_bank = {3'b010, !row.answer_bank};
    else if (target == oae_types::WINDOW) slot_bank = {2'b00, row.inbox_bank};
    else slot_bank = {3'b010, !row.answer_bank};
    // A standing offer is not overwritten.
    slot_write = stage == oae_types::CLEAR || offers || stores || writes_slot ||
        (stage == oae_types::EXECUTE && write && target == oae_types::FIRMWARE_OFFER &&
         !row.offered);
  end

  oae_slots #(.PORTS(PORTS)) slots (
    .clock, .row(slot_row), .write(slot_write), .write_data(writes_slot ? slot : data),
    .write_enable(writes_slot ? '1 : enable),
    .read(stage == oae_types::FETCH),
    .form(stage == oae_types::FORM), .form_header(formed_header),
    .form_payload(arrived ? {words_busy ? '0 : words_found, outcome} :
                  answer == oae_types::WORKED && row.offered_kind == oae_types::STEPS ?
                  {words_found, 63'd0, words_met} :
                  {288'd0, answer == oae_types::WORKED ? '0 : row.age}),
    .stamp(stage == oae_types::STAMP || stage == oae_types::HEAD), .stamp_header(drawn_header),
    .stamp_empty(stage == oae_types::STAMP && row.primed),
    .seal(stage == oae_types::SEAL || stage == oae_types::SEAL_OFFER), .seal_crc(slot_crc),
    .slot, .pushes, .pushed(dma_data));

  oae_slot_check check (
    .enable(stage == oae_types::JUDGE_HOST || stage == oae_types::JUDGE_FIRMWARE ||
            stage == oae_types::SEAL || stage == oae_types::SEAL_OFFER || stage == oae_types::TRY_STEPS ||
            stage == oae_types::SETTLE || arrived), .slot, .arrived,
    .verdict(row.verdict), .open(row.open), .joined(row.joined), .epoch(row.epoch), .sequence_last(row.sequence_last),
    .reversed(row.reversed), .history_lost(row.state == oae_registers::PORT_STATE_HISTORY_LOST),
    .attempt(row.attempt), .attempted(row.attempted), .spent(row.spent), .first_word(row.first_word), .word_count(row.word_count),
    .worked(answer == oae_types::WORKED), .contended(row.contended),
    .crc(slot_crc), .host_verdict, .host_rejected, .host_more, .host_attempt, .host_kind, .steps, .steps_sound,
    .firmware_good, .nothing_header, .formed_header);

  // ---- The effects of the operation ----

  oae_inbox inbox (
    .stage, .write, .target, .data, .enable, .slot,
    .open(row.open), .verdict(row.verdict), .spent(row.spent), .arrived(row.arrived),
    .repeats, .offers, .arrived_after);

  oae_answer answering (
    .stage, .write, .target, .words, .word, .row,
    .asks, .choice, .answer_stage, .bank(answer_bank), .buffer_given,
    .answer, .pushes, .dma_refused(dma_ready && dma_refused), .words_met,
    .streams, .refused, .denies, .not_ready, .exchanges, .keeps, .holds);

  oae_journal journal (
    .stage, .write, .target, .word, .word_data, .word_enable, .now, .hold_limit, .host_verdict, .row,
    .opens, .next_epoch, .closes, .commits, .reverses, .forgoes, .goes_on, .moves, .settles, .ends,
    .late);

  oae_joined joined (
    .stage, .target, .row, .arrived_uses(data[oae_registers::PASSAGE_HEAD_USES_SHIFT +: 2]),
    .arrived_account, .arrived_greeting,
    .arrived_steps(data[oae_registers::PASSAGE_HEAD_STEPS_SHIFT]),
    .arrived_result(data[oae_registers::PASSAGE_HEAD_RESULT_SHIFT]), .current, .commits,
    .waits, .passes, .greeting, .whole, .replies, .requests, .accepts, .counts, .delivers, .all_of_them, .stores, .place, .serves,
    .answers, .queues, .room_after, .draws, .head, .uses_up);

  // Who says that there is a slot gives no greeting.
  assign arrived_account = data[oae_registers::PASSAGE_HEAD_ACCOUNT_SHIFT];
  assign arrived_greeting = arrived_account && data[oae_registers::PASSAGE_HEAD_GREETING_SHIFT];
  assign arrived_peer = data[64 + oae_registers::PASSAGE_PAYLOAD_SESSION_SHIFT +: 12];

  oae_session session (
    .stage, .target, .word, .join_after(merged[oae_registers::FIRMWARE_JOIN_JOINED_SHIFT]), .row,
    .arrived_greeting, .arrived_begins(data[oae_registers::PASSAGE_HEAD_BEGINS_SHIFT]),
    .arrived_leaves(data[oae_registers::PASSAGE_HEAD_LEAVES_SHIFT]),
    .arrived_session(data[oae_registers::PASSAGE_HEAD_SESSION_SHIFT +: 12]), .arrived_peer,
    .current, .meets, .links, .unlinks, .parts, .greets, .renews, .loses);

  always_comb begin
    drawn_header = '0;
    drawn_header[oae_registers::SLOT_HEADER_VERB_SHIFT +: 8] =
        stage == oae_types::HEAD ? oae_registers::VERB_RESULT : oae_registers::VERB_SWAP;
    drawn_header[oae_registers::SLOT_HEADER_EPOCH_SHIFT +: 8] = row.epoch;
    drawn_header[oae_registers::SLOT_HEADER_SEQUENCE_SHIFT +: 32] = oae_types::following(row.sequence_last);
  end

  always_ff @(posedge clock)
    if (reset) bridge_pending <= '0;
    else if (finishes) bridge_pending[PORT_BITS'(port)] <= waits;

  assign slot_name.epoch = slot[oae_registers::SLOT_HEADER_EPOCH_SHIFT +: 8];
  assign slot_name.sequence_number = slot[oae_registers::SLOT_HEADER_SEQUENCE_SHIFT +: 32];

  // A slot's header and CRC stay in its cell.
  assign bridge_hands = stage == oae_types::HAND;
  always_comb begin
    bridge_taken = '0;
    bridge_taken[oae_registers::PASSAGE_HEAD_PORT_SHIFT +: 8] = {2'd0, port};
    bridge_taken[oae_registers::PASSAGE_HEAD_SESSION_SHIFT +: 12] = row.peer;
    bridge_taken[oae_registers::PASSAGE_HEAD_BEGINS_SHIFT] = !row.linked;
    bridge_taken[oae_registers::PASSAGE_HEAD_LEAVES_SHIFT] = !row.joined;
    if (greeting) begin
      bridge_taken[oae_registers::PASSAGE_HEAD_ACCOUNT_SHIFT] = 1'b1;
      bridge_taken[oae_registers::PASSAGE_HEAD_GREETING_SHIFT] = 1'b1;
      bridge_taken[64 + oae_registers::PASSAGE_PAYLOAD_SESSION_SHIFT +: 12] = row.session;
    end else begin
      bridge_taken[oae_registers::PASSAGE_HEAD_USES_SHIFT +: 2] = row.uses;
      bridge_taken[oae_registers::PASSAGE_HEAD_ACCOUNT_SHIFT] = !whole;
      bridge_taken[oae_registers::PASSAGE_HEAD_STEPS_SHIFT] = requests;
      bridge_taken[oae_registers::PASSAGE_HEAD_RESULT_SHIFT] = replies;
      bridge_taken[447:64] = slot[447:64];
    end
  end
  assign bridge_accepts = accepts;
  assign bridge_done = finishes;

  oae_trace trace (
    .clock, .reset, .port, .state(row.state), .epoch(row.epoch), .sequence_last(row.sequence_last),
    .begins_epoch(stage == oae_types::BEGIN_EPOCH), .next_epoch, .commits, .exchanges, .reverses, .forgoes,
    .closes,
    .trace_valid, .trace_port, .trace_epoch, .trace_sequence, .trace_from, .trace_to);

  oae_push push (
    .clock, .reset, .sends(stage == oae_types::ANSWER && pushes),
    .address({row.answer_line, 6'd0}), .traffic_class, .waits(push_waits),
    .dma_valid, .dma_ready, .dma_address, .dma_class);

  // ---- The words ----

  // The steps of another cell are applied at once, or none of them.
  assign arrived = source == oae_types::BRIDGE && (stage == oae_types::SERVE || stage == oae_types::FORM);
  always_comb begin
    requested = steps;
    if (arrived && !steps_sound) requested.operations = '0;
    outcome = '0;
    outcome[oae_registers::FIRMWARE_WORD_OUTCOME_DONE_SHIFT] = steps_sound && words_met && !words_busy;
    outcome[oae_registers::FIRMWARE_WORD_OUTCOME_BUSY_SHIFT] = words_busy;
    outcome[oae_registers::FIRMWARE_WORD_OUTCOME_BAD_SHIFT] = !steps_sound;
  end

  oae_words words_unit (
    .clock, .reset,
    .start(stage == oae_types::TRY_STEPS || stage == oae_types::SERVE || stage == oae_types::SETTLE),
    .job(stage == oae_types::TRY_STEPS ? oae_types::TRY : stage == oae_types::SERVE ? oae_types::APPLY :
         row.tentative ? oae_types::DO : oae_types::DROP),
    .steps(requested), .hold(holds), .ready(words_ready), .busy(words_busy), .met(words_met),
    .found(words_found),
    .write(writes && target == oae_types::FIRMWARE_WORDS), .register_word(word),
    .write_data(merged), .commands(words_command), .value(words_value));

  // ---- Registers without a port ----

  always_ff @(posedge clock) begin
    if (reset) begin
      liveness_limit <= oae_registers::HOST_LIVENESS_LIMIT_RESET[31:0];
      irq_enable <= '0;
      irq_pending <= '0;
      hold_limit <= oae_registers::FIRMWARE_HOLD_LIMIT_RESET[31:0];
    end else begin
      if (writes && target == oae_types::HOST_GLOBAL && word == LIVENESS_LIMIT)
        liveness_limit <= merged[31:0];
      if (writes && target == oae_types::FUNCTION_RESET)
        liveness_limit <= oae_registers::HOST_LIVENESS_LIMIT_RESET[31:0];
      if (writes && target == oae_types::FIRMWARE_GLOBAL && word == IRQ_ENABLE)
        irq_enable <= merged;
      if (limits_holds) hold_limit <= merged[31:0];
      if (finishes) irq_pending[port] <= |pending;
    end
  end

  oae_liveness liveness (
    .clock, .reset, .now,
    .write(writes && target == oae_types::FIRMWARE_GLOBAL && word == FIRMWARE_LIVENESS),
    .write_count(merged[31:0]), .count(liveness_count), .age(liveness_age));

  oae_readout readout (
    .enable(stage == oae_types::EXECUTE), .target, .word, .ports, .clock_khz, .row,
    .liveness_count, .liveness_age, .liveness_limit, .irq_enable, .irq_pending,
    .hold_limit, .words_value, .pending, .value);

  assign limits_holds = writes && target == oae_types::FIRMWARE_GLOBAL && word == HOLD_LIMIT;
  assign asks_later = row.state == oae_registers::PORT_STATE_TENTATIVE && row.confirm_enable;
  assign expires_later = row.holds && hold_limit != '0;
  assign ask_deadline = row.ask_after + 64'd1;
  assign hold_deadline = row.since + {32'd0, hold_limit} + 64'd1;

  oae_deadline watch (
    .clock, .reset, .now, .ports,
    .set(finishes && (asks_later || expires_later)),
    .set_deadline(expires_later && (!asks_later || hold_deadline < ask_deadline) ? hold_deadline :
                  ask_deadline),
    .reconsider(limits_holds),
    .look(stage == oae_types::EXECUTE && source == oae_types::WATCH),
    .watching, .port(watch_port), .valid(deadline_valid), .deadline, .busy(deadline_busy));

  oae_interrupts #(.PORTS(PORTS)) interrupt (
    .clock, .reset, .signal(interrupts), .forget(writes && target == oae_types::FUNCTION_RESET),
    .port, .signal_vector(row.msix_vector),
    .valid(interrupt_valid), .ready(interrupt_ready), .vector(interrupt_vector),
    .busy(interrupt_busy));

  // ---- Pins ----

  assign irq = |(irq_pending & irq_enable);
  assign idle = stage == oae_types::LOAD;
  assign busy = stage != oae_types::LOAD || completion_valid || deadline_busy || interrupt_busy;

endmodule
