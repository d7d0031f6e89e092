// SPDX-License-Identifier: Apache-2.0
// The swap ports. One operation at a time loads its port's row, changes it and stores it, so that
// whatever an operation does is one step for everybody else. Slots lie still in their memory; the
// row says which bank plays which part.
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
  input  logic         request_reset,     // of the function: its settings, and offers not exchanged
  input  logic         request_write,
  input  logic [2:0]   request_bar,       // 0, 2 or 4
  input  logic [11:0]  request_line,      // address[17:6]
  input  logic [511:0] request_data,
  input  logic [63:0]  request_enable,    // bytes to write or to read
  input  logic [9:0]   request_tag,
  input  logic [2:0]   request_class,
  output logic         completion_valid,  // of a read
  input  logic         completion_ready,
  output logic [511:0] completion_data,   // words not asked for are 0
  output logic [9:0]   completion_tag,

  // Accesses of the firmware: one word each
  input  logic         access_valid,
  output logic         access_ready,
  input  logic         access_write,
  input  logic [13:0]  access_word,       // address[16:3]
  input  logic [63:0]  access_data,
  input  logic [7:0]   access_strobe,     // of a read: all
  output logic         access_done,       // one clock; the two that follow are valid with it
  output logic         access_error,
  output logic [63:0]  access_result,

  // Answers to the cell. The slot leaves and the journal changes at one edge.
  output logic         dma_valid,
  input  logic         dma_ready,
  input  logic         dma_refused,       // with ready: the function may not write
  output logic [63:0]  dma_address,
  output logic [511:0] dma_data,
  output logic [2:0]   dma_class,         // that of the read

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

  output logic         idle,              // the next edge looks at requests and accesses
  output logic         busy,              // the clock must not stop
  output logic         deadline_valid,    // it must run when `now` reaches the deadline
  output logic [63:0]  deadline
);

  // ---- Words of a line, from the register maps ----

  localparam logic [2:0] LIVENESS_LIMIT = 3'(oae_registers::HOST_LIVENESS_LIMIT >> 3);

  localparam logic [2:0] CONTROL = 3'(oae_registers::HOST_PORT_CONTROL >> 3);
  localparam logic [2:0] CELL = 3'(oae_registers::HOST_PORT_CELL >> 3);
  localparam logic [2:0] EVENT = 3'(oae_registers::HOST_PORT_EVENT >> 3);
  localparam logic [2:0] LIMIT = 3'(oae_registers::HOST_PORT_TENTATIVE_LIMIT >> 3);

  localparam logic [2:0] PUSHED_ANSWER = 3'(oae_registers::PORT_PUSHED_ANSWER >> 3);
  localparam logic [2:0] CONFIRM = 3'(oae_registers::PORT_CONFIRM >> 3);
  localparam logic [2:0] REVERSE = 3'(oae_registers::PORT_REVERSE >> 3);

  localparam logic [2:0] FIRMWARE_LIVENESS = 3'(oae_registers::FIRMWARE_LIVENESS >> 3);
  localparam logic [2:0] IRQ_ENABLE = 3'(oae_registers::FIRMWARE_IRQ_ENABLE >> 3);
  localparam logic [2:0] COMMAND = 3'(oae_registers::FIRMWARE_COMMAND >> 3);
  localparam logic [2:0] FIRMWARE_EVENT = 3'(oae_registers::FIRMWARE_EVENT >> 3);

  localparam int unsigned TAKE = oae_registers::FIRMWARE_COMMAND_TAKE_SHIFT;
  localparam int unsigned WITHDRAW = oae_registers::FIRMWARE_COMMAND_WITHDRAW_SHIFT;
  localparam int unsigned PUBLISH = oae_registers::FIRMWARE_COMMAND_PUBLISH_SHIFT;

  localparam int unsigned ACKNOWLEDGE = oae_registers::FIRMWARE_COMMAND_ACKNOWLEDGE_SHIFT;

  localparam int unsigned VECTOR = oae_registers::HOST_PORT_EVENT_VECTOR_SHIFT;
  localparam int unsigned OFFER_ARMED = oae_registers::HOST_PORT_EVENT_OFFER_ARMED_SHIFT;
  localparam int unsigned CONFIRM_ENABLE = oae_registers::HOST_PORT_EVENT_CONFIRM_ENABLE_SHIFT;

  // ---- The operation in work ----

  typedef enum logic [4:0] {
    CLEAR,               // power-up: every row and bank
    LOAD,                // idle until there is an operation; loads its row
    EXECUTE,             // does one word, unless it takes more:
    BEGIN_EPOCH,         //   an open
    FETCH,               //   a slot is read, and then
    DELIVER,             //     one of its words is what the firmware reads
    COMPARE,             //     a write meets the host's good offer
    JUDGE_HOST,          //     it is the host's offer, all arrived
    JUDGE_FIRMWARE,      //     it is the firmware's, published
    TRY,                 //     it is the host's offer, whose steps are tried
    FORM,                //     it is the offer that the block's own answer speaks of
    SEAL,                //       which gets its CRC
    SETTLE,              //     it is the tentative one, whose steps are done or dropped
    ANSWER,              //     it goes to the cell, or completes the read
    WORK,                // until the words are ready
    STORE,               // puts the row back
    SIGNAL               // interrupts the host
  } state_t;

  typedef enum logic [1:0] {
    EXCHANGE,            // the firmware's offer
    WORKED,              // an exchange for which the block answers
    RETAINED,
    FORMED               // why there is none
  } answer_t;

  state_t              state;
  state_t              fetched;    // where FETCH goes, or WORK
  oae_types::source_t  source;
  oae_types::target_t  target;
  logic                write;
  logic [5:0]          port;
  logic [7:0]          words;      // of the line, still to be done
  logic [511:0]        data;
  logic [63:0]         enable;
  logic [2:0]          bank;       // that FETCH reads
  answer_t             answer;
  logic                pushes;     // it goes to the cell
  logic                signals;    // interrupt the host when the row is stored

  // ---- The rows ----

  localparam int unsigned PORT_BITS = PORTS > 1 ? $clog2(PORTS) : 1;
  localparam int unsigned ROW_BITS = 546;  // of row_t
  localparam int unsigned SLOT_BITS = $clog2(8 * PORTS);

  logic [ROW_BITS-1:0] rows [PORTS];
  oae_types::row_t row;            // of the port in work
  logic            stores;

  always_ff @(posedge clock)
    if (stores) rows[port[PORT_BITS-1:0]] <= row;

  // ---- What is next ----

  logic               host_waits;
  logic               watching;
  logic [5:0]         watch_port;
  oae_types::source_t next_source;
  oae_types::target_t next_target;
  logic [5:0]         next_port;

  logic               takes_request;
  logic [5:0]         reset_port;  // whose turn it is in a reset of the function

  assign host_waits = request_valid && !completion_valid;

  oae_decode decode (
    .ports, .last(source),
    .host_waits, .request_bar, .request_line, .request_reset, .reset_port,
    .firmware_waits(access_valid), .access_word,
    .watch_waits(watching), .watch_port,
    .source(next_source), .target(next_target), .port(next_port));

  assign takes_request = state == LOAD && next_source == oae_types::HOST && host_waits;
  assign request_ready = takes_request &&
                         (!request_reset || {1'b0, reset_port} + 7'd1 == ports);
  assign access_ready = state == LOAD && next_source == oae_types::FIRMWARE && access_valid;

  // The words that bytes belong to
  function automatic logic [7:0] words_of(input logic [63:0] bytes);
    for (int unsigned i = 0; i < 8; i++) words_of[i] = |bytes[8*i +: 8];
  endfunction

  // ---- The word in work ----

  logic [2:0]  word;
  logic [7:0]  words_after;
  state_t      next_word;          // where this one's end leads
  logic [63:0] word_data;
  logic [7:0]  word_enable;
  logic [63:0] word_mask;

  always_comb begin
    word = '0;
    for (int unsigned i = 0; i < 8; i++)
      if (words[7-i]) word = 3'(7 - i);
    words_after = words & (words - 8'd1);
    next_word = words_after == '0 ? STORE : EXECUTE;
    word_data = data[64*word +: 64];
    word_enable = enable[8*word +: 8];
    word_mask = '0;
    if (state == EXECUTE && write)
      for (int unsigned i = 0; i < 8; i++) word_mask[8*i +: 8] = {8{word_enable[i]}};
  end

  // ---- What a read finds ----

  logic [31:0] liveness_count;
  logic [31:0] liveness_age;
  logic [31:0] liveness_limit;
  logic [63:0] irq_enable;
  logic [63:0] irq_pending;        // bit n: port n has an event
  logic [6:0]  pending;            // events of the port in work
  logic [63:0] words_value;
  logic [63:0] value;

  oae_readout readout (
    .enable(state == EXECUTE), .target, .word, .ports, .clock_khz, .row,
    .liveness_count, .liveness_age, .liveness_limit, .irq_enable, .irq_pending,
    .words_value, .pending, .value);

  // The events that a write clears
  logic [6:0] cleared;
  always_comb begin
    cleared = '0;
    if (state == EXECUTE && write && target == oae_types::FIRMWARE_PORT) begin
      if (word == COMMAND && word_enable[1]) cleared = word_data[ACKNOWLEDGE +: 7];
      if (word == FIRMWARE_EVENT && word_enable[0]) cleared = word_data[6:0];
    end
  end

  // What a write leaves in a register that can be read back
  logic [63:0] merged;
  assign merged = (value & ~word_mask) | (word_data & word_mask);

  // ---- The slot in work ----

  logic [511:0]        slot;
  logic [63:0]         slot_crc;
  oae_types::verdict_t host_verdict;
  logic                host_rejected;
  logic                host_more;
  logic [5:0]          host_attempt;
  oae_types::kind_t    host_kind;
  oae_types::steps_t   steps;
  logic                firmware_good;
  logic [63:0]         nothing_header;
  logic [63:0]         formed_header;
  logic [SLOT_BITS-1:0] slot_row;
  logic                slot_write;
  logic [2:0]          slot_bank;
  logic [8:0]          sweep;      // row that CLEAR clears

  oae_slots #(.PORTS(PORTS)) slots (
    .clock, .row(slot_row), .write(slot_write), .write_data(keeps ? slot : data),
    .write_enable(keeps ? '1 : enable),
    .read(state == FETCH),
    .form(state == FORM), .form_header(formed_header),
    .form_payload(answer == WORKED && row.offered_kind == oae_types::STEPS ?
                  {words_found, 63'd0, words_met} : {288'd0, answer == WORKED ? '0 : row.age}),
    .seal(state == SEAL), .seal_crc(slot_crc),
    .slot);

  oae_slot_check check (
    .enable(state == JUDGE_HOST || state == JUDGE_FIRMWARE || state == SEAL || state == TRY ||
            state == SETTLE), .slot,
    .verdict(row.verdict), .open(row.open), .epoch(row.epoch), .sequence_last(row.sequence_last),
    .reversed(row.reversed), .history_lost(row.state == oae_registers::PORT_STATE_HISTORY_LOST),
    .attempt(row.attempt), .attempted(row.attempted),
    .worked(answer == WORKED), .contended(row.contended),
    .crc(slot_crc), .host_verdict, .host_rejected, .host_more, .host_attempt, .host_kind, .steps,
    .firmware_good, .nothing_header, .formed_header);

  // ---- The words ----

  logic         words_ready;
  logic         words_busy;
  logic         words_met;
  logic [255:0] words_found;
  logic         words_command;

  oae_words words_unit (
    .clock, .reset,
    .start(state == TRY || state == SETTLE),
    .job(state == TRY ? oae_types::TRY : row.tentative ? oae_types::DO : oae_types::DROP),
    .steps, .hold(holds), .ready(words_ready), .busy(words_busy), .met(words_met),
    .found(words_found),
    .write(writes && target == oae_types::FIRMWARE_WORDS), .register_word(word),
    .write_data(merged), .commands(words_command), .value(words_value));

  assign slot_row = state == CLEAR ? SLOT_BITS'(sweep) : SLOT_BITS'({port, slot_bank});

  always_comb begin
    if (state == FETCH) slot_bank = bank;
    else if (keeps) slot_bank = {2'b10, row.answer_bank};
    else if (target == oae_types::WINDOW) slot_bank = {1'b0, row.inbox_bank};
    else slot_bank = {2'b10, !row.answer_bank};
    // An offer that stands is not written over.
    slot_write = state == CLEAR || offers || keeps ||
        (state == EXECUTE && write && target == oae_types::FIRMWARE_OFFER && !row.offered);
  end

  // ---- What happens to the journal, each at one edge ----

  logic writes;                    // a word is being written
  logic streams;                   // the answer is to be streamed, else pushed
  logic refused;                   // it cannot be pushed
  logic answers;                   // it leaves
  logic denies;                    // and is none of a swap
  logic not_ready;                 // and says NOT_READY
  logic opens;
  logic closes;
  logic reverse_written;
  logic names_last;                // the word written names the last swap,
  logic names_next;                // or the next
  logic confirms;                  // by the register
  logic reverses;                  // the tentative swap
  logic forgoes;                   // the next one
  logic goes_on;                   //   once the host is taken at its word on the last
  logic continues;                 // by the offer that was said to follow
  logic unconfirmed;
  logic commits;
  logic exchanges;
  logic keeps;                     //   with an answer of the block's own, to be retained
  logic holds;                     //   and words held until it is settled
  logic moves;                     // a confirmed slot finds room among the committed
  logic settles;                   // steps that were confirmed or reversed are done or dropped
  logic ends;                      // and their slot is no longer needed
  logic late;                      // a tentative slot waits for its confirmation beyond the limit
  logic repeats;                   // a write of the host may be of its good offer, not of a new one
  logic differs;
  logic offers;                    // a write of the host is of an offer
  logic [63:0] arrived;

  assign writes = state == EXECUTE && write;
  assign opens = writes && target == oae_types::HOST_PORT && word == CONTROL && word_enable[0] &&
                 word_data[0] && !row.open;
  assign closes = writes && target == oae_types::HOST_PORT && word == CONTROL && word_enable[0] &&
                  !word_data[0] && row.open;
  // A confirmation and a reversal name a swap in the same way.
  assign names_last = &word_enable &&
      word_data[oae_registers::PORT_CONFIRM_EPOCH_SHIFT +: 8] == row.epoch &&
      word_data[oae_registers::PORT_CONFIRM_SEQUENCE_SHIFT +: 32] == row.sequence_last;
  assign names_next = &word_enable && row.open &&
      word_data[oae_registers::PORT_CONFIRM_EPOCH_SHIFT +: 8] == row.epoch &&
      word_data[oae_registers::PORT_CONFIRM_SEQUENCE_SHIFT +: 32] ==
          oae_types::following(row.sequence_last);
  assign reverse_written = writes && word == REVERSE &&
      (target == oae_types::PAGE || target == oae_types::STREAM);
  assign reverses = reverse_written && names_last && unconfirmed;
  assign goes_on = reverse_written && names_next && unconfirmed;
  assign forgoes = reverse_written && names_next && !unconfirmed;
  assign confirms = writes && (target == oae_types::PAGE || target == oae_types::STREAM) &&
      word == CONFIRM && names_last;
  assign continues = state == JUDGE_HOST && host_verdict == oae_types::GOOD && row.more;
  assign unconfirmed = row.state == oae_registers::PORT_STATE_TENTATIVE;
  // Who has begun a swap has committed the one before.
  assign commits = (opens || confirms || continues || goes_on) && unconfirmed;
  assign streams = target == oae_types::WINDOW;
  assign refused = !streams && (!pushes || dma_refused);
  assign answers = state == ANSWER && (!pushes || dma_ready);
  assign exchanges = answers && !refused && (answer == EXCHANGE || answer == WORKED);
  assign keeps = exchanges && answer == WORKED;
  assign holds = keeps && row.offered_kind == oae_types::STEPS && words_met;
  assign denies = answers && (answer == FORMED || (answer != RETAINED && refused));
  assign not_ready = denies && (refused || (row.verdict == oae_types::NONE ?
      !row.reversed && row.state != oae_registers::PORT_STATE_HISTORY_LOST :
      row.verdict != oae_types::BAD_VERB));
  assign moves = state == STORE && row.tentative && row.settled && !row.stepped && !row.committed;
  assign settles = state == STORE && row.holds && (!row.tentative || row.settled);
  assign ends = state == STORE && row.tentative && row.settled && row.stepped && !row.holds;
  assign late = unconfirmed && row.confirm_enable && !row.asked && now - row.since > {32'd0, row.limit};
  // What was answered NOT_READY is only made good by a new offer, though it be the same.
  assign repeats = row.verdict == oae_types::GOOD && !row.spent;
  always_comb begin
    differs = 1'b0;
    if (state == COMPARE)
      for (int unsigned i = 0; i < 64; i++)
        if (enable[i] && slot[8*i +: 8] != data[8*i +: 8]) differs = 1'b1;
  end
  assign offers = row.open && ((writes && target == oae_types::WINDOW && !repeats) ||
                               (state == COMPARE && differs));
  // The first byte after a verdict begins a new offer.
  assign arrived = (row.verdict == oae_types::NONE ? row.arrived : '0) | enable;

  logic finishes;
  assign finishes = state == STORE && !moves && !settles && !ends;
  assign stores = state == CLEAR || finishes;

  // ---- The operation ----

  always_ff @(posedge clock) begin
    if (reset) begin
      state <= CLEAR;
      fetched <= DELIVER;
      source <= oae_types::WATCH;
      target <= oae_types::NOTHING;
      write <= 1'b0;
      port <= '0;
      words <= '0;
      data <= '0;
      enable <= '1;
      bank <= '0;
      answer <= FORMED;
      pushes <= 1'b0;
      signals <= 1'b0;
      row <= '0;
      row.state <= oae_registers::PORT_STATE_HISTORY_LOST;
      row.tentative_bank <= 2'd1;
      row.committed_bank <= 2'd2;
      row.limit <= oae_registers::HOST_PORT_TENTATIVE_LIMIT_RESET[31:0];
      sweep <= '0;
      reset_port <= '0;
      liveness_limit <= oae_registers::HOST_LIVENESS_LIMIT_RESET[31:0];
      irq_enable <= '0;
      irq_pending <= '0;
      completion_valid <= 1'b0;
      completion_data <= '0;
      completion_tag <= '0;
      dma_class <= '0;
      access_result <= '0;
    end else begin
      if (completion_ready) completion_valid <= 1'b0;

      case (state)
        CLEAR: begin
          port <= sweep[8:3];
          if (sweep != 9'(8 * PORTS - 1)) sweep <= sweep + 9'd1;
          else if (words_ready) state <= LOAD;
        end

        LOAD: begin
          row <= rows[next_port[PORT_BITS-1:0]];
          target <= next_target;
          port <= next_port;
          if (takes_request) begin
            state <= EXECUTE;
            source <= oae_types::HOST;
            write <= request_write || request_reset;
            words <= request_reset ? 8'd1 : words_of(request_enable);
            if (request_reset) reset_port <= request_ready ? '0 : reset_port + 6'd1;
            data <= request_data;
            enable <= request_enable;
            completion_data <= '0;
            completion_tag <= request_tag;
            dma_class <= request_class;
          end else if (access_ready) begin
            state <= EXECUTE;
            source <= oae_types::FIRMWARE;
            write <= access_write;
            words <= 8'd1 << access_word[2:0];
            data <= {8{access_data}};
            enable <= {56'd0, access_strobe} << {access_word[2:0], 3'd0};
            access_result <= '0;
          end else if (watching) begin
            state <= EXECUTE;
            source <= oae_types::WATCH;
            write <= 1'b0;
            words <= 8'd1;
          end
        end

        EXECUTE: begin
          state <= next_word;
          words <= words_after;
          if (write) begin
            case (target)
              oae_types::HOST_GLOBAL: if (word == LIVENESS_LIMIT) liveness_limit <= merged[31:0];

              oae_types::HOST_PORT:
                case (word)
                  CONTROL: begin
                    if (opens) begin
                      words <= words;
                      state <= BEGIN_EPOCH;
                    end
                    if (closes) begin
                      row.open <= 1'b0;
                      row.offered <= 1'b0;
                      row.verdict <= oae_types::NONE;
                      row.spent <= 1'b0;
                      row.arrived <= '0;
                      row.event_closed <= 1'b1;
                      if (row.state != oae_registers::PORT_STATE_TENTATIVE)
                        row.state <= oae_registers::PORT_STATE_CLOSED;
                    end
                  end
                  CELL: row.cell_line <= merged[63:6];
                  EVENT: begin
                    row.msix_vector <= merged[VECTOR +: 16];
                    row.offer_armed <= merged[OFFER_ARMED] && !row.offered;
                    row.confirm_enable <= merged[CONFIRM_ENABLE];
                    row.asked <= 1'b0;
                    if (merged[OFFER_ARMED] && row.offered) signals <= 1'b1;
                  end
                  LIMIT: begin
                    row.limit <= merged[31:0];
                    row.asked <= 1'b0;
                  end
                  default: ;
                endcase

              oae_types::PAGE, oae_types::STREAM: if (goes_on) begin
                words <= words;
                state <= EXECUTE;
              end

              oae_types::FUNCTION_RESET: begin
                liveness_limit <= oae_registers::HOST_LIVENESS_LIMIT_RESET[31:0];
                row.cell_line <= '0;
                row.msix_vector <= '0;
                row.offer_armed <= 1'b0;
                row.confirm_enable <= 1'b0;
                row.asked <= 1'b0;
                row.limit <= oae_registers::HOST_PORT_TENTATIVE_LIMIT_RESET[31:0];
                row.verdict <= oae_types::NONE;
                row.spent <= 1'b0;
                row.arrived <= '0;
              end

              oae_types::WINDOW: begin
                // The line as a whole
                words <= '0;
                state <= STORE;
                bank <= {1'b0, row.inbox_bank};
                fetched <= repeats ? COMPARE : JUDGE_HOST;
                if (row.open && (repeats || &arrived)) state <= FETCH;
              end

              oae_types::FIRMWARE_GLOBAL: if (word == IRQ_ENABLE) irq_enable <= merged;

              oae_types::FIRMWARE_WORDS: if (words_command) begin
                fetched <= STORE;
                state <= WORK;
              end

              oae_types::FIRMWARE_PORT:
                if (word == COMMAND && word_enable[0]) begin
                  if (word_data[TAKE]) row.committed <= 1'b0;
                  if (word_data[WITHDRAW]) row.offered <= 1'b0;
                  if (word_data[PUBLISH] && (!row.offered || word_data[WITHDRAW])) begin
                    words <= words;
                    bank <= {2'b10, !row.answer_bank};
                    fetched <= JUDGE_FIRMWARE;
                    state <= FETCH;
                  end
                end

              default: ;
            endcase
          end else begin
            if (source == oae_types::HOST) completion_data[64*word +: 64] <= value;
            else access_result <= value;

            case (target)
              oae_types::WINDOW, oae_types::PAGE:
                if (words != '0 && (streams || word == PUSHED_ANSWER)) begin
                  words <= words;
                  state <= FETCH;
                  pushes <= !streams && row.cell_line != '0;
                  if (!row.spent) row.age <= liveness_age;
                  // The read has pushed what was written: the rest of an offer is lost.
                  if (row.verdict == oae_types::NONE) row.arrived <= '0;
                  if (!row.spent) row.contended <= 1'b0;
                  if (row.verdict == oae_types::GOOD && !row.spent && !row.tentative &&
                      row.offered_kind != oae_types::SLOTS) begin
                    answer <= WORKED;
                    bank <= {1'b0, row.inbox_bank};
                    fetched <= row.offered_kind == oae_types::STEPS ? TRY : FORM;
                  end else if (row.verdict == oae_types::GOOD && !row.spent && !row.tentative &&
                               row.offered) begin
                    answer <= EXCHANGE;
                    bank <= {2'b10, !row.answer_bank};
                    fetched <= ANSWER;
                  end else if (row.verdict == oae_types::NONE && row.sequence_last != '0 &&
                               !row.reversed) begin
                    answer <= RETAINED;
                    bank <= {2'b10, row.answer_bank};
                    fetched <= ANSWER;
                  end else begin
                    answer <= FORMED;
                    bank <= {1'b0, row.inbox_bank};
                    fetched <= FORM;
                  end
                end

              oae_types::FIRMWARE_OFFER: begin
                words <= words;
                bank <= {2'b10, !row.answer_bank};
                fetched <= DELIVER;
                state <= FETCH;
              end
              oae_types::FIRMWARE_TENTATIVE: if (row.tentative) begin
                words <= words;
                bank <= {1'b0, row.tentative_bank};
                fetched <= DELIVER;
                state <= FETCH;
              end
              oae_types::FIRMWARE_COMMITTED: if (row.committed) begin
                words <= words;
                bank <= {1'b0, row.committed_bank};
                fetched <= DELIVER;
                state <= FETCH;
              end

              oae_types::DEADLINE: if (late) begin
                row.asked <= 1'b1;
                signals <= 1'b1;
              end

              default: ;
            endcase
          end
        end

        BEGIN_EPOCH: begin
          row.open <= 1'b1;
          row.epoch <= row.epoch + 8'd1;
          row.sequence_last <= '0;
          row.reversed <= 1'b0;
          row.attempted <= 1'b0;
          row.spent <= 1'b0;
          row.state <= oae_registers::PORT_STATE_IDLE;
          row.event_opened <= 1'b1;
          words <= words_after;
          state <= next_word;
        end

        FETCH: state <= fetched;

        // The rest of an offer that is whole already: a part of it was lost, and came with the next.
        COMPARE: begin
          state <= STORE;
          if (offers) begin
            fetched <= JUDGE_HOST;
            if (&arrived) state <= FETCH;
          end
        end

        DELIVER: begin
          access_result <= slot[64*word +: 64];
          words <= words_after;
          state <= next_word;
        end

        JUDGE_HOST: begin
          row.verdict <= host_verdict;
          row.offered_more <= host_more;
          row.offered_kind <= host_kind;
          row.arrived <= '0;
          if (host_verdict == oae_types::GOOD) begin
            row.attempt <= host_attempt;
            row.attempted <= 1'b1;
          end
          if (host_rejected) row.count_rejected <= row.count_rejected + 64'd1;
          state <= STORE;
        end

        JUDGE_FIRMWARE: begin
          row.offered <= firmware_good;
          if (!firmware_good) row.event_bad_offer <= 1'b1;
          if (firmware_good && row.offer_armed) begin
            row.offer_armed <= 1'b0;
            signals <= 1'b1;
          end
          words <= words_after;
          state <= next_word;
        end

        TRY: begin
          fetched <= FORM;
          state <= WORK;
        end

        WORK: if (words_ready) begin
          state <= fetched;
          if (fetched == FORM && words_busy) begin
            answer <= FORMED;
            row.contended <= 1'b1;
          end
        end

        FORM: state <= SEAL;
        SEAL: state <= ANSWER;

        ANSWER: if (answers) begin
          if (streams) begin
            for (int unsigned i = 0; i < 8; i++)
              if (words[i]) completion_data[64*i +: 64] <= slot[64*i +: 64];
            words <= '0;
            state <= STORE;
          end else begin
            completion_data[63:0] <= refused && denies ? nothing_header : slot[63:0];
            words <= words_after;
            state <= next_word;
          end
          // What was answered NOT_READY stays so.
          if (denies) row.spent <= 1'b1;
          if (denies && !row.spent && row.verdict == oae_types::GOOD)
            row.attempt <= row.attempt + 6'd1;
          if (not_ready && !row.spent)
            row.count_not_ready <= row.count_not_ready + 64'd1;
        end

        SETTLE: begin
          row.holds <= 1'b0;
          fetched <= STORE;
          state <= WORK;
        end

        STORE: if (settles) begin
          bank <= {1'b0, row.tentative_bank};
          fetched <= SETTLE;
          state <= FETCH;
        end else if (finishes) begin
          irq_pending[port] <= |pending;
          if (source == oae_types::HOST && !write) completion_valid <= 1'b1;
          state <= signals ? SIGNAL : LOAD;
        end

        SIGNAL: if (interrupt_ready) begin
          signals <= 1'b0;
          state <= LOAD;
        end

        default: state <= LOAD;
      endcase

      if (offers) begin
        row.verdict <= oae_types::NONE;
        row.spent <= 1'b0;
        row.arrived <= arrived;
      end
      if (cleared[0]) row.event_exchanged <= 1'b0;
      if (cleared[1]) row.event_committed <= 1'b0;
      if (cleared[2]) row.event_reversed <= 1'b0;
      if (cleared[3]) row.event_opened <= 1'b0;
      if (cleared[4]) row.event_closed <= 1'b0;
      if (cleared[5]) row.event_bad_offer <= 1'b0;
      if (cleared[6]) row.event_passed <= 1'b0;
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
        row.stepped <= keeps && row.offered_kind == oae_types::STEPS;
        row.holds <= holds;
        if (!keeps) row.answer_bank <= !row.answer_bank;
        row.inbox_bank <= row.tentative_bank;
        row.tentative_bank <= row.inbox_bank;
        row.since <= now;
        row.asked <= 1'b0;
        if (keeps) row.event_passed <= 1'b1;
        if (row.offered_kind != oae_types::STEPS) row.event_exchanged <= 1'b1;
      end
      if (commits) begin
        row.state <= oae_registers::PORT_STATE_COMMITTED;
        row.settled <= 1'b1;
        row.count_committed <= row.count_committed + 64'd1;
      end
      if (reverses || forgoes) begin
        row.state <= oae_registers::PORT_STATE_REVERSED;
        row.reversed <= 1'b1;
        row.event_reversed <= 1'b1;
      end
      if (reverses) row.tentative <= 1'b0;
      if (forgoes) begin
        row.sequence_last <= oae_types::following(row.sequence_last);
        row.attempted <= 1'b0;
        row.offered <= 1'b0;
        row.verdict <= oae_types::NONE;
        row.spent <= 1'b0;
        row.arrived <= '0;
      end
      if (ends) begin
        row.tentative <= 1'b0;
        row.settled <= 1'b0;
      end
      if (moves) begin
        row.tentative <= 1'b0;
        row.settled <= 1'b0;
        row.committed <= 1'b1;
        row.tentative_bank <= row.committed_bank;
        row.committed_bank <= row.tentative_bank;
        row.event_committed <= 1'b1;
      end
    end
  end

  assign access_done = stores && state == STORE && source == oae_types::FIRMWARE;
  assign access_error = target == oae_types::NOTHING;

  assign dma_valid = state == ANSWER && pushes;
  assign dma_address = {row.cell_line, 6'd0};
  assign dma_data = slot;

  assign interrupt_valid = state == SIGNAL;
  assign interrupt_vector = row.msix_vector;
  assign irq = |(irq_pending & irq_enable);

  // ---- Time ----

  oae_liveness liveness (
    .clock, .reset, .now,
    .write(writes && target == oae_types::FIRMWARE_GLOBAL && word == FIRMWARE_LIVENESS),
    .write_count(merged[31:0]), .count(liveness_count), .age(liveness_age));

  logic deadline_busy;
  oae_deadline watch (
    .clock, .reset, .now, .ports,
    .set(stores && row.state == oae_registers::PORT_STATE_TENTATIVE && row.confirm_enable &&
         !row.asked),
    .set_deadline(row.since + {32'd0, row.limit} + 64'd1),
    .look(state == EXECUTE && source == oae_types::WATCH),
    .watching, .port(watch_port), .valid(deadline_valid), .deadline, .busy(deadline_busy));

  assign idle = state == LOAD;
  assign busy = state != LOAD || completion_valid || deadline_busy;

  // ---- What the trace is told ----

  always_ff @(posedge clock) begin
    trace_valid <= 1'b0;
    trace_port <= port;
    trace_epoch <= row.epoch;
    trace_sequence <= row.sequence_last;
    trace_from <= row.state;
    if (!reset) begin
      if (commits) begin
        trace_valid <= 1'b1;
        trace_to <= oae_registers::PORT_STATE_COMMITTED;
      end
      if (exchanges) begin
        trace_valid <= 1'b1;
        trace_sequence <= oae_types::following(row.sequence_last);
        trace_to <= oae_registers::PORT_STATE_TENTATIVE;
      end
      if (reverses || forgoes) begin
        trace_valid <= 1'b1;
        if (forgoes) trace_sequence <= oae_types::following(row.sequence_last);
        trace_to <= oae_registers::PORT_STATE_REVERSED;
      end
      if (closes && row.state != oae_registers::PORT_STATE_TENTATIVE) begin
        trace_valid <= 1'b1;
        trace_to <= oae_registers::PORT_STATE_CLOSED;
      end
      if (state == BEGIN_EPOCH) begin
        trace_valid <= 1'b1;
        trace_epoch <= row.epoch + 8'd1;
        trace_sequence <= '0;
        trace_to <= oae_registers::PORT_STATE_IDLE;
      end
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
        assert (row.inbox_bank != row.tentative_bank && row.inbox_bank != row.committed_bank &&
                row.tentative_bank != row.committed_bank && row.inbox_bank != 2'd3 &&
                row.tentative_bank != 2'd3 && row.committed_bank != 2'd3)
          else $error("two slots share a bank");
        assert ({1'b0, port} < ports) else $error("no such port");
      end
      if (exchanges)
        assert (row.open && (row.offered || keeps) && !row.tentative && !row.holds && !row.spent &&
                row.verdict == oae_types::GOOD) else $error("exchange without offers");
      if (commits) begin
        assert (row.tentative && !row.settled) else $error("commit of nothing");
        assert (!exchanges) else $error("commit within an exchange");
      end
      if (reverses)
        assert (row.tentative && !row.settled) else $error("what is confirmed was reversed");
      if (state == DELIVER)
        assert (source == oae_types::FIRMWARE) else $error("a slot delivered to the host");
      if (state == ANSWER)
        assert (source == oae_types::HOST) else $error("an answer unasked");
    end
`endif

endmodule
