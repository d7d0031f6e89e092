// SPDX-License-Identifier: Apache-2.0
// What the parts of the block tell each other.
package oae_types;

  // What the offer in the host's inbox is worth
  typedef enum logic [1:0] {
    NONE,                       // no new offer: incomplete, or not of the next swap
    GOOD,
    BAD,                        // of the next swap, but for its CRC or status
    BAD_VERB
  } verdict_t;

  // What a verb is about
  typedef enum logic [1:0] {
    SLOTS,                      // the offers of both sides
    SLOT,                       // the host's only
    STEPS                       // words of the block
  } kind_t;

  // What is done with words, in up to four steps
  typedef struct packed {
    logic [11:0]  operations;   // of each, enum word_operation
    logic [47:0]  indices;
    logic [255:0] operands;
  } steps_t;

  typedef enum logic [1:0] {
    TRY,                        // what they find, and whether they can be done
    DO,                         // those that are held
    DROP,                       // those
    ACCESS                      // the firmware's: tried and done
  } task_t;

  // All that a port keeps between two operations, but its slots
  typedef struct packed {
    // What was said of the host's offer
    logic        spent;         // NOT_READY, and that is retained
    logic [31:0] age;           //   with this age of the firmware's liveness
    logic        contended;     //   or BUSY: words that it asks for were held

    // The journal
    logic [7:0]  state;         // enum port_state
    logic [7:0]  epoch;
    logic [31:0] sequence_last; // 0 before the first swap of the epoch
    logic        open;
    logic        tentative;     // a slot is tentative, or
    logic        settled;       //   confirmed and waiting for room among the committed
    logic        committed;     // a slot is committed and not yet taken
    logic        stepped;       // the tentative slot is of words, and for nobody else
    logic        holds;         //   which are held until it is settled
    logic        more;          // the last host slot said MORE
    logic        reversed;      // the last swap was, and of it no answer is retained

    // The offers
    logic        offered;       // the firmware's stands
    verdict_t    verdict;       // on the host's
    logic        offered_more;  // the host's says MORE
    kind_t       offered_kind;  //   and has such a verb
    logic [5:0]  attempt;       // the first of the host's that is not old,
    logic        attempted;     //   if it has made one at the next swap

    // Which bank of the slot memory plays which part
    logic        answer_bank;   // of the firmware's two: the retained answer; the other its offer
    logic [1:0]  inbox_bank;    // of the host's three
    logic [1:0]  tentative_bank;
    logic [1:0]  committed_bank;

    // What the firmware has not yet been seen to know, as in its register
    logic        event_passed;
    logic        event_bad_offer;
    logic        event_closed;
    logic        event_opened;
    logic        event_reversed;
    logic        event_committed;
    logic        event_exchanged;

    // Interrupts to the host
    logic [15:0] msix_vector;
    logic        offer_armed;
    logic        confirm_enable;
    logic [11:0] first_word;    // that the host may use,
    logic [12:0] word_count;    //   and how many
    logic [57:0] answer_line;     // address[63:6] of the answer buffer, 0 is none
    logic [31:0] limit;         // clocks that a swap may stay tentative
    logic [63:0] since;         // when the last swap took place
    logic [63:0] ask_after;     // when its confirmation is next asked for
    logic [63:0] arrived;       // bytes of the inbox written since the last verdict
    logic [63:0] count_committed;
    logic [63:0] count_not_ready;
    logic [63:0] count_rejected;
  } row_t;

  typedef enum logic [1:0] {HOST, FIRMWARE, WATCH} source_t;

  // What an operation is about
  typedef enum logic [3:0] {
    NOTHING,                    // an address without a register
    HOST_GLOBAL,
    HOST_PORT,
    WINDOW,
    PAGE,                       // a page's registers behind its window
    STREAM,                     // the same in BAR 4, without a pushed answer
    FIRMWARE_GLOBAL,
    FIRMWARE_WORDS,
    FIRMWARE_OFFER,
    FIRMWARE_PORT,
    FIRMWARE_TENTATIVE,
    FIRMWARE_COMMITTED,
    DEADLINE,
    FUNCTION_RESET              // one port's part of it
  } target_t;

  // Where the operation in work stands
  typedef enum logic [4:0] {
    CLEAR,                      // power-up: every row and bank
    LOAD,                       // idle until there is an operation; loads its row
    EXECUTE,                    // does one word, unless it takes more:
    BEGIN_EPOCH,                //   an open
    FETCH,                      //   a slot is read, and then
    DELIVER,                    //     one of its words is what the firmware reads
    COMPARE,                    //     a write meets the host's good offer
    JUDGE_HOST,                 //     it is the host's offer, all arrived
    JUDGE_FIRMWARE,             //     it is the firmware's, published
    TRY_STEPS,                  //     it is the host's offer, whose steps are tried
    FORM,                       //     it is the offer that the block's own answer speaks of
    SEAL,                       //       which gets its CRC
    SETTLE,                     //     it is the tentative one, whose steps are done or dropped
    ANSWER,                     //     it goes to the answer buffer, or completes the read
    WORK,                       // until the words are ready
    STORE                       // puts the row back
  } stage_t;

  // What the answer to the host is
  typedef enum logic [1:0] {
    EXCHANGE,                   // the firmware's offer
    WORKED,                     // an exchange for which the block answers
    RETAINED,
    FORMED                      // why there is none
  } answer_t;

  // Whether an operation changes its word
  function automatic logic changes(input logic [2:0] operation);
    changes = operation == oae_registers::WORD_OPERATION_WRITE ||
              operation == oae_registers::WORD_OPERATION_ADD;
  endfunction

  function automatic logic [31:0] following(input logic [31:0] sequence_number);
    following = &sequence_number ? 32'd1 : sequence_number + 32'd1;
  endfunction

endpackage
