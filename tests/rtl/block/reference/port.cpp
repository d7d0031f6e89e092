// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/block/reference/port.h"

#include <algorithm>
#include <utility>

#include "oae_registers.h"

namespace {

constexpr unsigned exchanged = 1u << OAE_FIRMWARE_EVENT_EXCHANGED_SHIFT;
constexpr unsigned committed_event = 1u << OAE_FIRMWARE_EVENT_COMMITTED_SHIFT;
constexpr unsigned reversed_event = 1u << OAE_FIRMWARE_EVENT_REVERSED_SHIFT;
constexpr unsigned opened = 1u << OAE_FIRMWARE_EVENT_OPENED_SHIFT;
constexpr unsigned closed = 1u << OAE_FIRMWARE_EVENT_CLOSED_SHIFT;
constexpr unsigned passed = 1u << OAE_FIRMWARE_EVENT_PASSED_SHIFT;
constexpr unsigned bad_offer = 1u << OAE_FIRMWARE_EVENT_BAD_OFFER_SHIFT;

}  // namespace

void ReferencePort::change(unsigned to) {
  transitions.push_back({number_, epoch_, last_, state_, to});
  state_ = to;
}

void ReferencePort::commit() {
  change(OAE_PORT_STATE_COMMITTED);
  ++committed_count;
  confirmed_ = true;
  settle();
}

// A confirmed slot moves when there is room.
void ReferencePort::settle() {
  if (confirmed_ && stepped_) {
    if (holds_) words_.perform(*ReferenceWords::steps(*tentative_));
    return settle_words();
  }
  if (!confirmed_ || committed_) return;
  committed_ = tentative_;
  tentative_.reset();
  confirmed_ = false;
  events |= committed_event;
}

// The tentative slot operates on words and is settled, so its words are released.
void ReferencePort::settle_words() {
  if (holds_) words_.release(*ReferenceWords::steps(*tentative_));
  holds_ = false;
  confirmed_ = false;
  tentative_.reset();
}

void ReferencePort::discard_host_offer() {
  verdict_ = Verdict::none;
  refused_ = false;
  arrived_ = 0;
}

void ReferencePort::set_open(bool now_open, std::uint8_t epoch_used) {
  if (now_open == open) return;
  open = now_open;
  discard_host_offer();
  offered_ = false;
  if (!open) {
    if (state_ == OAE_PORT_STATE_TENTATIVE) commit();
    events |= closed;
    return change(OAE_PORT_STATE_CLOSED);
  }
  epoch_ = (state_ == OAE_PORT_STATE_HISTORY_LOST ? epoch_used : epoch_) + 1;
  last_ = 0;
  reversed_ = false;
  attempt_.reset();
  change(OAE_PORT_STATE_IDLE);
  events |= opened;
}

void ReferencePort::write_window(const Slot& data, std::uint64_t enable) {
  if (!open) return;
  // A repeated write of a good offer does not begin a new one, unless it was answered NOT_READY.
  if (verdict_ == Verdict::good && !refused_) {
    bool differs = false;
    for (unsigned i = 0; i < 64; ++i) {
      differs |= (enable >> i & 1) && reinterpret_cast<const char*>(inbox_.data())[i] !=
                                          reinterpret_cast<const char*>(data.data())[i];
    }
    if (!differs) return;
  }
  refused_ = false;
  if (verdict_ != Verdict::none) {
    verdict_ = Verdict::none;
    arrived_ = 0;
  }
  for (unsigned i = 0; i < 64; ++i) {
    if (enable >> i & 1) {
      reinterpret_cast<char*>(inbox_.data())[i] = reinterpret_cast<const char*>(data.data())[i];
    }
  }
  arrived_ |= enable;
  if (arrived_ == ~std::uint64_t{0}) judge();
}

void ReferencePort::judge() {
  const Header header = Header::of(inbox_[0]);
  arrived_ = 0;
  if (header.epoch != epoch_ || header.sequence != next()) {
    // This is not a new offer. A good repetition of the last one is no error.
    const bool repetition = header.epoch == epoch_ && header.sequence == last_ && last_ != 0;
    if (!repetition || !sealed(inbox_)) ++rejected_count;
    return;
  }
  if (!sealed(inbox_) || header.status != OAE_STATUS_OK) {
    verdict_ = Verdict::bad;
    ++rejected_count;
    return;
  }
  if (attempt_ && ((header.attempt - *attempt_) & 63) >= 32) {
    ++rejected_count;  // an old attempt
    return;
  }
  if (header.verb != OAE_VERB_SWAP && header.verb != OAE_VERB_SEND &&
      !ReferenceWords::steps(inbox_, range)) {
    verdict_ = Verdict::bad_verb;
    attempt_ = header.attempt;
    ++rejected_count;
    return;
  }
  verdict_ = Verdict::good;
  attempt_ = header.attempt;
  if (state_ == OAE_PORT_STATE_TENTATIVE && Header::of((*tentative_)[0]).flags & OAE_FLAG_MORE) {
    commit();
  }
}

// Earlier writes have arrived before the read, so the rest of an offer is lost.
void ReferencePort::lose_the_rest() {
  if (verdict_ == Verdict::none) arrived_ = 0;
}

// All copies of an undamaged offer that does not take place are ignored from now on.
void ReferencePort::outdate_offer() {
  if (verdict_ == Verdict::good || verdict_ == Verdict::bad_verb) attempt_ = (*attempt_ + 1) & 63;
}

// Whether the present offer is refused for the first time.
bool ReferencePort::refuse() {
  if (std::exchange(refused_, true)) return false;
  outdate_offer();
  return true;
}

// Makes an exchange if both sides are ready, and retains its answer.
bool ReferencePort::exchange() {
  if (verdict_ != Verdict::good || refused_ || tentative_) return false;
  Header header = Header::of(inbox_[0]);
  const std::optional<ReferenceWords::Steps> steps = ReferenceWords::steps(inbox_);
  if (header.verb == OAE_VERB_SWAP) {
    if (!offered_) return false;
    std::swap(retained_, offer_);
  } else {
    if (contended_) return false;
    header.flags = 0;
    header.attempt = 0;
    retained_ = {header.word()};
    if (steps) {
      const auto found = words_.found(*steps);
      std::copy(found.begin(), found.end(), retained_.begin() + 1);
    }
    seal(retained_);
    events |= passed;
  }
  stepped_ = steps.has_value();
  holds_ = steps && words_.met(*steps);
  if (holds_) words_.hold(*steps);
  if (!stepped_) events |= exchanged;
  offered_ = false;
  tentative_ = inbox_;
  verdict_ = Verdict::none;
  last_ = next();
  reversed_ = false;
  attempt_.reset();
  change(OAE_PORT_STATE_TENTATIVE);
  return true;
}

// Whether words of the offer are held, as of the first request for its answer.
void ReferencePort::look_at_words() {
  if (refused_) return;
  const auto steps = ReferenceWords::steps(inbox_);
  contended_ = verdict_ == Verdict::good && !tentative_ && steps && words_.busy(*steps);
}

ReferencePort::Answer ReferencePort::stream_answer() {
  Answer answer;
  lose_the_rest();
  look_at_words();
  if (exchange()) {
    answer.slot = retained_;
    answer.exchanged = true;
  } else if (retains_swap()) {
    answer.slot = retained_;
  } else {
    Header header;
    header.verb = OAE_VERB_NONE;
    header.epoch = epoch_;
    header.status = OAE_STATUS_NOT_READY;
    if (verdict_ != Verdict::none) {
      header.verb = Header::of(inbox_[0]).verb;
      header.sequence = next();
      if (verdict_ == Verdict::bad_verb) {
        header.status = OAE_STATUS_BAD_VERB;
      } else if (contended_) {
        header.status = OAE_STATUS_BUSY;
      }
    } else if (state_ == OAE_PORT_STATE_HISTORY_LOST) {
      header.status = OAE_STATUS_HISTORY_LOST;
    } else if (reversed_) {
      header.status = OAE_STATUS_REVERSED;
      header.sequence = last_;
    }
    const bool denied = header.status == OAE_STATUS_NOT_READY || header.status == OAE_STATUS_BUSY;
    if (denied && !refused_) ++not_ready_count;
    answer.refusal = refuse();
    answer.formed = true;
    header.attempt = attempt();
    answer.slot[0] = header.word();
  }
  return answer;
}

ReferencePort::Answer ReferencePort::push_answer(bool refused) {
  Answer answer;
  if (answer_address != 0 && !refused) {
    answer = stream_answer();
    answer.written = true;
    answer.word = answer.slot[0];
    return answer;
  }
  lose_the_rest();
  look_at_words();
  // A swap that took place is not denied. The denial of another one is retained.
  if (retains_swap()) {
    answer.word = retained_[0];
    return answer;
  }
  Header nothing;
  nothing.verb = OAE_VERB_NONE;
  nothing.epoch = epoch_;
  nothing.status = OAE_STATUS_NOT_READY;
  answer.refusal = refuse();
  nothing.attempt = attempt();
  answer.word = nothing.word();
  if (answer.refusal) ++not_ready_count;
  return answer;
}

void ReferencePort::confirm(std::uint8_t epoch, std::uint32_t sequence) {
  if (state_ == OAE_PORT_STATE_TENTATIVE && epoch == epoch_ && sequence == last_) commit();
}

void ReferencePort::reverse(std::uint8_t epoch, std::uint32_t sequence) {
  if (epoch != epoch_) return;
  if (sequence == last_ && state_ == OAE_PORT_STATE_TENTATIVE) {
    settle_words();
    reversed();
  } else if (sequence == next() && open) {
    // A host that begins a swap has committed the one before.
    if (state_ == OAE_PORT_STATE_TENTATIVE) commit();
    last_ = next();
    attempt_.reset();
    discard_host_offer();
    offered_ = false;
    reversed();
  }
}

bool ReferencePort::expire() {
  if (state_ != OAE_PORT_STATE_TENTATIVE || !holds_) return false;
  commit();
  return true;
}

void ReferencePort::reversed() {
  reversed_ = true;
  change(OAE_PORT_STATE_REVERSED);
  events |= reversed_event;
}

void ReferencePort::function_reset() {
  answer_address = 0;
  armed = false;
  if (!refused_) outdate_offer();
  discard_host_offer();
}

std::uint64_t ReferencePort::state_word() const {
  return OAE_PUT(OAE_HOST_PORT_STATE_STATE, state_) | OAE_PUT(OAE_HOST_PORT_STATE_EPOCH, epoch_) |
         OAE_PUT(OAE_HOST_PORT_STATE_OFFERED, offered_) |
         OAE_PUT(OAE_HOST_PORT_STATE_SEQUENCE, last_);
}

bool ReferencePort::arm(bool now_armed) {
  armed = now_armed && !offered_;
  return now_armed && offered_;
}

void ReferencePort::write_offer(unsigned slice, std::uint64_t data, std::uint64_t mask) {
  if (!offered_) offer_[slice] = (offer_[slice] & ~mask) | (data & mask);
}

bool ReferencePort::command(bool publish, bool take, bool withdraw) {
  if (take) {
    committed_.reset();
    settle();
  }
  if (withdraw) offered_ = false;
  if (!publish || offered_) return false;
  const Header header = Header::of(offer_[0]);
  if (!open || !sealed(offer_) || header.epoch != epoch_ || header.sequence != next() ||
      header.status != OAE_STATUS_OK || header.verb != OAE_VERB_SWAP) {
    events |= bad_offer;
    return false;
  }
  offered_ = true;
  return std::exchange(armed, false);
}

std::uint64_t ReferencePort::status_word() const {
  return OAE_PUT(OAE_FIRMWARE_STATUS_OFFERED, offered_) |
         OAE_PUT(OAE_FIRMWARE_STATUS_TENTATIVE, tentative_.has_value()) |
         OAE_PUT(OAE_FIRMWARE_STATUS_COMMITTED, committed_.has_value()) |
         OAE_PUT(OAE_FIRMWARE_STATUS_OPEN, open) | OAE_PUT(OAE_FIRMWARE_STATUS_EPOCH, epoch_) |
         OAE_PUT(OAE_FIRMWARE_STATUS_EVENTS, events) |
         OAE_PUT(OAE_FIRMWARE_STATUS_NEXT_SEQUENCE, next());
}
