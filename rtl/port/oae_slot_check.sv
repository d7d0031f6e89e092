// SPDX-License-Identifier: Apache-2.0
// The verdict on the present slot, and the answer that the block forms if the slot is not accepted.
// Combinational.
module oae_slot_check (
  input  logic                enable,          // enables the CRC
  input  logic [511:0]        slot,
  input  logic                arrived,         // the slot is the REMOTE of another cell
  input  oae_types::verdict_t verdict,         // on the host's offer, after it was judged
  input  logic                open,
  input  logic                joined,          // with a port of another cell
  input  logic [7:0]          epoch,
  input  logic [31:0]         sequence_last,
  input  logic                reversed,        // whether the last swap was reversed
  input  logic                history_lost,
  input  logic [5:0]          attempt,         // the host's first attempt that is not old,
  input  logic                attempted,       // if there was one
  input  logic                spent,           // the host's offer was answered NOT_READY before
  input  logic [11:0]         first_word,      // the first of the words that the host may use,
  input  logic [12:0]         word_count,      //   and their number
  input  logic                worked,          // the block answers it, and it took place,
  input  logic                contended,       // or words are held
  output logic [63:0]         crc,
  output oae_types::verdict_t host_verdict,    // on this slot as an offer of the host
  output logic                host_rejected,   // the rejection has to be counted
  output logic                host_more,
  output logic [5:0]          host_attempt,
  output oae_types::kind_t    host_kind,
  output oae_types::steps_t   steps,           // its steps on words,
  output logic                steps_sound,     //   which are possible
  output logic                firmware_good,   // good as an offer of the firmware
  output logic [63:0]         nothing_header,  // header of an answer that names no swap
  output logic [63:0]         formed_header    // header of any other answer of the block
);

  localparam int unsigned VERB = oae_registers::SLOT_HEADER_VERB_SHIFT;
  localparam int unsigned EPOCH = oae_registers::SLOT_HEADER_EPOCH_SHIFT;
  localparam int unsigned STATUS = oae_registers::SLOT_HEADER_STATUS_SHIFT;
  localparam int unsigned FLAGS = oae_registers::SLOT_HEADER_FLAGS_SHIFT;
  localparam int unsigned ATTEMPT = oae_registers::SLOT_HEADER_ATTEMPT_SHIFT;
  localparam int unsigned SEQUENCE = oae_registers::SLOT_HEADER_SEQUENCE_SHIFT;
  localparam int unsigned CRC = 8 * oae_registers::SLOT_CRC;

  logic sound;
  logic of_last;
  logic of_next;
  logic ok;
  logic known;
  logic old;

  oae_crc64 #(.BYTES(oae_registers::SLOT_CRC)) network (
    .enable(enable), .data(slot[CRC-1:0]), .crc(crc));

  assign sound = slot[CRC +: 64] == crc;
  assign of_last = slot[EPOCH +: 8] == epoch && slot[SEQUENCE +: 32] == sequence_last &&
                   sequence_last != '0;
  assign of_next = slot[EPOCH +: 8] == epoch &&
                   slot[SEQUENCE +: 32] == oae_types::following(sequence_last);
  assign ok = slot[STATUS +: 8] == oae_registers::STATUS_OK;

  // ---- The verb ----

  oae_steps decode (
    .enable, .verb(arrived ? oae_registers::VERB_MULTI : slot[VERB +: 8]), .steps_word(slot[64 +: 64]), .operands(slot[128 +: 256]),
    .first_word, .word_count, .steps, .sound(steps_sound));

  always_comb begin
    known = 1'b1;
    host_kind = oae_types::STEPS;
    case (slot[VERB +: 8])
      oae_registers::VERB_SWAP: host_kind = oae_types::SLOTS;
      oae_registers::VERB_SEND: host_kind = oae_types::SLOT;
      oae_registers::VERB_CAS, oae_registers::VERB_FETCH_ADD, oae_registers::VERB_MULTI:
        known = steps_sound;
      oae_registers::VERB_REMOTE: begin
        known = joined;
        host_kind = oae_types::REMOTE;
      end
      oae_registers::VERB_RESULT: begin
        known = joined;
        host_kind = oae_types::RESULT;
      end
      default: known = 1'b0;
    endcase
  end

  // Two attempts can be ordered if they differ by less than 32.
  assign host_attempt = slot[ATTEMPT +: 6];
  assign old = attempted && host_attempt - attempt >= 6'd32;

  // A slot that does not name the next swap is not a new offer, good or bad. The retained answer
  // answers it, so that a swap that took place is never denied to a host that asks again.
  always_comb begin
    if (!of_next) host_verdict = oae_types::NONE;
    else if (!sound || !ok) host_verdict = oae_types::BAD;
    else if (old) host_verdict = oae_types::NONE;
    else if (!known) host_verdict = oae_types::BAD_VERB;
    else host_verdict = oae_types::GOOD;
  end
  assign host_rejected = host_verdict != oae_types::GOOD && !(of_last && sound);
  assign host_more = (slot[FLAGS +: 2] & oae_registers::FLAG_MORE) != '0;
  assign firmware_good = open && sound && of_next && ok &&
                         slot[VERB +: 8] == oae_registers::VERB_SWAP;

  always_comb begin
    nothing_header = '0;
    nothing_header[VERB +: 8] = oae_registers::VERB_NONE;
    nothing_header[EPOCH +: 8] = epoch;
    nothing_header[STATUS +: 8] = oae_registers::STATUS_NOT_READY;
    // Offers are accepted from this attempt on. The one that is denied here is too old.
    nothing_header[ATTEMPT +: 6] = attempt + {5'd0, !spent && (verdict == oae_types::GOOD ||
                                                               verdict == oae_types::BAD_VERB)};
    formed_header = nothing_header;
    if (verdict != oae_types::NONE) begin
      formed_header[VERB +: 8] = slot[VERB +: 8];
      formed_header[SEQUENCE +: 32] = slot[SEQUENCE +: 32];
      if (verdict == oae_types::BAD_VERB)
        formed_header[STATUS +: 8] = oae_registers::STATUS_BAD_VERB;
      else if (worked) begin
        formed_header[STATUS +: 8] = oae_registers::STATUS_OK;
        formed_header[ATTEMPT +: 6] = '0;
      end else if (contended)
        formed_header[STATUS +: 8] = oae_registers::STATUS_BUSY;
    end else if (history_lost) begin
      formed_header[STATUS +: 8] = oae_registers::STATUS_HISTORY_LOST;
    end else if (reversed) begin
      formed_header[STATUS +: 8] = oae_registers::STATUS_REVERSED;
      formed_header[SEQUENCE +: 32] = sequence_last;
    end
  end

endmodule
