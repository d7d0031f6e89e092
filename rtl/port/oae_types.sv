// SPDX-License-Identifier: Apache-2.0
// The types of signals between the parts of the block.
package oae_types;

  // The verdict on the offer in the host's inbox
  typedef enum logic [1:0] {
    NONE,                       // no new offer: incomplete, or not for the next swap
    GOOD,
    BAD,                        // for the next swap, but with a wrong CRC or status
    BAD_VERB
  } verdict_t;

  // The objects of a verb
  typedef enum logic [2:0] {
    SLOTS,                      // the offers of both sides
    SLOT,                       // the host's slot only
    STEPS,                      // words of the block
    REMOTE,                     // words of the other port's block
    RESULT                      // the result of those
  } kind_t;

  // Banks of the slot memory that have no other use; oae_slots.sv has the rest
  typedef enum logic [3:0] {
    RESULT_BANK = 4'd3,         // the result for the host
    REPLY_BANK = 4'd8           // the steps of the other port, and then their result
  } bank_t;

  // Operations on words, in up to four steps
  typedef struct packed {
    logic [11:0]  operations;   // the operation of each, enum word_operation
    logic [47:0]  indices;
    logic [255:0] operands;
  } steps_t;

  typedef enum logic [2:0] {
    TRY,                        // read the words, and test whether the steps are possible
    DO,                         // execute the held steps
    DROP,                       // drop the held steps
    ACCESS,                     // try and execute the firmware's steps
    APPLY                       // try and execute the other port's steps
  } task_t;

  // A swap of the host
  typedef struct packed {
    logic [7:0]  epoch;
    logic [31:0] sequence_number;
  } name_t;

  // The state of a port between two operations, except its slots
  typedef struct packed {
    // The refusal of the host's offer
    logic        spent;         // it was answered NOT_READY, which is retained
    logic [31:0] age;           //   with this age of the firmware's liveness
    logic        contended;     //   or BUSY, since its words were held

    // The journal
    logic [7:0]  state;         // enum port_state
    logic [7:0]  epoch;
    logic [31:0] sequence_last; // 0 before the first swap of the epoch
    logic        open;
    logic        tentative;     // a slot is tentative, or
    logic        settled;       //   confirmed and waiting for room among the committed
    logic        committed;     // a slot is committed and not yet taken
    kind_t       kind;          // the objects of the tentative slot's verb
    logic        holds;         // it holds words until it is settled
    logic        more;          // the last slot of the host had the flag MORE
    logic        reversed;      // the last swap was reversed, and has no retained answer

    // The offers
    logic        offered;       // an offer of the firmware stands
    verdict_t    verdict;       // on the host's offer
    logic        offered_more;  // the host's offer has the flag MORE
    kind_t       offered_kind;  //   and a verb of this kind
    logic [5:0]  attempt;       // the host's first attempt that is not old,
    logic        attempted;     //   if there was one for the next swap

    // The assignment of the banks of the slot memory
    logic        answer_bank;   // the firmware's bank with the retained answer; the other: offer
    logic [1:0]  inbox_bank;    // the host's bank of the inbox
    logic [1:0]  tentative_bank;
    logic [1:0]  committed_bank;

    // The slots of a port that the bridge joins with one of another cell
    logic        joined;
    logic        primed;        // an empty slot comes before those from the other port
    logic        first;         // the bank of the first slot that waits, less 6
    logic [1:0]  waiting;       // how many of them
    logic [1:0]  room;          // how many more the other port has room for
    logic [1:0]  uses;          // how many were used up since the last slot that was passed on
    logic        carried;       // the last swap gave the host the first of them, or the empty one
    name_t       passed;        // the last slot that was passed on
    logic        requests;      // the committed slot is a REMOTE
    logic        asked;         // a REMOTE is committed, and its result is not used up
    logic        away;          //   the bridge has taken it, and its result is not here
    logic        result;        //   the result is here
    logic        forsaken;      //   the epoch of that REMOTE has ended
    logic        replies;       // the result of a REMOTE of the other port is here, which the bridge has to take

    // The session of that port with the other one
    logic [11:0] session;       // its own number
    logic [11:0] peer;          // the other port's,
    logic        linked;        //   which is known
    logic        greets;        // the bridge has to tell the other port its own
    name_t       newest;        // of the slots that were passed on and not used up, or lost
    name_t       older;         //   the one before it
    name_t       remote;        // the last REMOTE that was passed on
    name_t       delivered;     // the last slot that the other host has used up
    logic [1:0]  lost_slots;    // slots that are lost,
    logic        lost_remote;   //   or a REMOTE, which the host has not acknowledged
    logic        lost_enable;   // the host wants an interrupt for that

    // Events that the firmware has not acknowledged, as in its register
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
    logic        result_armed;
    logic        confirm_enable;
    logic [11:0] first_word;    // the first of the words that the host may use,
    logic [12:0] word_count;    //   and their number
    logic [57:0] answer_line;   // address[63:6] of the answer buffer, 0 is none
    logic [31:0] limit;         // clocks that a swap may stay tentative
    logic [63:0] since;         // when the last swap took place
    logic [63:0] ask_after;     // when its confirmation is next asked for
    logic [63:0] arrived;       // bytes of the inbox written since the last verdict
    logic [63:0] count_committed;
    logic [63:0] count_not_ready;
    logic [63:0] count_rejected;
  } row_t;

  typedef enum logic [1:0] {HOST, FIRMWARE, WATCH, BRIDGE} source_t;

  // The target of an operation
  typedef enum logic [4:0] {
    NOTHING,                    // an address without a register
    HOST_GLOBAL,
    HOST_PORT,
    HOST_FATE,                  // what became of slots that left the cell
    WINDOW,
    PAGE,                       // a page's registers after its window
    STREAM,                     // the same in BAR 4, without a pushed answer
    FIRMWARE_GLOBAL,
    FIRMWARE_WORDS,
    FIRMWARE_OFFER,
    FIRMWARE_PORT,
    FIRMWARE_TENTATIVE,
    FIRMWARE_COMMITTED,
    DEADLINE,
    FUNCTION_RESET,             // for one port
    BRIDGE_TAKE,                // passes the committed slot on
    BRIDGE_PUT,                 // stores a slot from another cell
    BRIDGE_RENEW                // begins anew, since the link has lost slots
  } target_t;

  // What the bridge asks of a port
  typedef enum logic [1:0] {TAKE, PUT, RENEW} errand_t;

  // The stage of the present operation
  typedef enum logic [4:0] {
    CLEAR,                      // power-up: every row and bank
    LOAD,                       // idle until there is an operation; loads its row
    EXECUTE,                    // executes one word, unless it needs more:
    BEGIN_EPOCH,                //   for an open
    FETCH,                      //   reads a slot, and then
    DELIVER,                    //     returns one of its words to the firmware
    COMPARE,                    //     compares a write with the host's good offer
    JUDGE_HOST,                 //     judges the host's complete offer
    JUDGE_FIRMWARE,             //     judges the firmware's published offer
    TRY_STEPS,                  //     tries the steps of the host's offer
    FORM,                       //     forms the block's own answer to the offer
    SEAL,                       //       and adds its CRC
    SETTLE,                     //     executes or drops the steps of the tentative slot
    ANSWER,                     //     pushes the answer, or completes the read
    HAND,                       //     gives the slot to the bridge
    HEAD,                       //     makes the answer of it
    SERVE,                      //     applies the steps of the other port,
    REPLY,                      //       and stores their result
    STAMP,                      //     makes an offer of it,
    SEAL_OFFER,                 //       adds its CRC,
    PLACE,                      //       and stores it
    WORK,                       // waits for the words
    STORE                       // stores the row
  } stage_t;

  // The answer to the host
  typedef enum logic [1:0] {
    EXCHANGE,                   // the firmware's offer
    WORKED,                     // an exchange that the block answers
    RETAINED,
    FORMED                      // the reason why there is no exchange
  } answer_t;

  // Whether an operation changes its word
  function automatic logic changes(input logic [2:0] operation);
    changes = operation == oae_registers::WORD_OPERATION_WRITE ||
              operation == oae_registers::WORD_OPERATION_ADD;
  endfunction

  // A slot after some of its bytes are written
  function automatic logic [511:0] merge(input logic [511:0] slot, input logic [511:0] written, input logic [63:0] enable);
    merge = slot;
    for (int unsigned i = 0; i < 64; i++)
      if (enable[i]) merge[8*i +: 8] = written[8*i +: 8];
  endfunction

  function automatic logic [31:0] following(input logic [31:0] sequence_number);
    following = &sequence_number ? 32'd1 : sequence_number + 32'd1;
  endfunction

endpackage
