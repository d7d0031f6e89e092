// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oae_registers.h"
#include "tests/rtl/block/reference/words.h"
#include "tests/rtl/slot.h"

/// A change of a journal's state, as the block traces it.
struct Transition {
  unsigned port;
  unsigned epoch;
  std::uint32_t sequence;
  unsigned from;
  unsigned to;
  bool operator==(const Transition& o) const {
    return port == o.port && epoch == o.epoch && sequence == o.sequence && from == o.from &&
           to == o.to;
  }
};

/// A swap port according to the design, with one call for each operation. The RTL is compared with
/// it. It copies slots, and knows no time.
class ReferencePort {
 public:
  /// The result of a read of the answer.
  struct Answer {
    bool written = false;    ///< a slot went to the answer buffer
    bool exchanged = false;  ///< the read caused the exchange
    bool formed = false;     ///< the block has formed it; its slice 1 and CRC are not compared
    bool refusal = false;    ///< it is refused now and retained, with the present age in slice 1
    Slot slot{};             ///< the slot that is pushed or streamed
    std::uint64_t word = 0;  ///< the word that completes a pushed answer
  };

  ReferencePort(unsigned number, ReferenceWords& words) : number_(number), words_(words) {}

  // The host
  /// `epoch_used` is the last epoch that the host remembers. It counts if the port has no history.
  void set_open(bool open, std::uint8_t epoch_used);
  void write_window(const Slot& data, std::uint64_t enable);
  /// The answer for the DMA. With `refused`, the result if the DMA refuses it.
  bool wants_dma() const { return answer_address != 0; }
  Answer push_answer(bool refused);
  Answer stream_answer();
  void confirm(std::uint8_t epoch, std::uint32_t sequence);
  void reverse(std::uint8_t epoch, std::uint32_t sequence);
  /// Commits the tentative swap if it has held words for too long.
  bool expire();
  /// Resets the function. The journal and the firmware's side do not change.
  void function_reset();
  std::uint64_t state_word() const;
  /// Arms the one-shot interrupt. Returns whether it signals at once.
  bool arm(bool armed);

  // The firmware
  void write_offer(unsigned slice, std::uint64_t data, std::uint64_t mask);
  /// Returns whether the host is signalled.
  bool command(bool publish, bool take, bool withdraw);
  std::uint64_t status_word() const;
  Slot offer() const { return offer_; }
  Slot tentative() const { return tentative_.value_or(Slot{}); }
  Slot committed() const { return committed_.value_or(Slot{}); }
  Slot retained() const { return retained_; }

  std::uint64_t answer_address = 0;
  std::uint64_t committed_count = 0;
  std::uint64_t not_ready_count = 0;
  std::uint64_t rejected_count = 0;
  unsigned events = 0;  ///< the firmware's event register
  bool armed = false;
  WordRange range;  ///< of words that offers may name
  bool open = false;
  std::vector<Transition> transitions;  ///< since the start

  unsigned state() const { return state_; }
  std::uint8_t epoch() const { return epoch_; }
  std::uint32_t last() const { return last_; }
  std::uint32_t next() const { return last_ == 0xffff'ffff ? 1 : last_ + 1; }
  bool offered() const { return offered_; }
  std::uint8_t attempt() const {
    return attempt_.value_or(0);
  }  ///< the first attempt that is not old

 private:
  enum class Verdict { none, good, bad, bad_verb };

  void change(unsigned to);
  void commit();
  void settle();
  void judge();
  void reversed();
  bool refuse();
  void outdate_offer();
  bool exchange();
  void look_at_words();
  void settle_words();
  void lose_the_rest();
  void discard_host_offer();
  bool retains_swap() const { return verdict_ == Verdict::none && last_ != 0 && !reversed_; }

  const unsigned number_;
  ReferenceWords& words_;
  unsigned state_ = OAE_PORT_STATE_HISTORY_LOST;
  std::uint8_t epoch_ = 0;
  std::uint32_t last_ = 0;

  bool reversed_ = false;  // whether the last swap was reversed

  Slot inbox_{};
  std::uint64_t arrived_ = 0;
  Verdict verdict_ = Verdict::none;
  std::optional<std::uint8_t> attempt_;  // the first attempt that is not old, after the first offer
  bool refused_ = false;                 // the offer in the inbox was answered NOT_READY
  bool contended_ = false;               // because words were held
  bool offered_ = false;
  Slot offer_{};  // the firmware's offer, complete or not
  Slot retained_{};
  std::optional<Slot> tentative_;
  bool confirmed_ = false;  // the tentative slot is confirmed and waits
  bool stepped_ = false;    // the tentative slot operates on words
  bool holds_ = false;      // and holds them
  std::optional<Slot> committed_;
};
