// SPDX-License-Identifier: Apache-2.0
#include "tests/campaign/ledger.h"

#include <gtest/gtest.h>

#include <utility>

#include "oae_registers.h"

namespace {

constexpr unsigned token_slice = 6;

}  // namespace

std::uint64_t Ledger::offer(unsigned port) {
  Entry& e = entries_[next_];
  e.port = port;
  e.losses = losses_;
  taken_[port].offered = next_;
  return next_++;
}

bool Ledger::undecided(unsigned port) const {
  const auto found = entries_.find(taken_[port].offered);
  return found != entries_.end() && found->second.host == Host::unknown;
}

void Ledger::power_lost() {
  ++losses_;
  for (Taken& taken : taken_) {
    const auto found = entries_.find(taken.tentative);
    if (found != entries_.end() && found->second.fate == Fate::tentative) {
      found->second.fate = Fate::lost;
    }
    taken.closes = false;
    taken.for_firmware.clear();
  }
  counter_ = moved_ = locked_ = 0;
}

Ledger::Entry& Ledger::entry(std::uint64_t token) {
  const auto found = entries_.find(token);
  if (found == entries_.end()) throw std::runtime_error("a slot that nobody has offered");
  return found->second;
}

void Ledger::host_committed(std::uint64_t token, const Slot& answer) {
  Entry& e = entry(token);
  EXPECT_EQ(e.host, Host::unknown) << token;
  EXPECT_TRUE(e.fate == Fate::tentative || e.fate == Fate::committed || e.fate == Fate::lost)
      << "token " << token << ": the host commits what the block has not exchanged";
  EXPECT_EQ(answer, e.answer) << "token " << token << ": another pair";
  e.host = Host::committed;
}

void Ledger::host_denied(std::uint64_t token) {
  Entry& e = entry(token);
  EXPECT_EQ(e.fate, Fate::none) << "token " << token << ": it has taken place";
  e.host = Host::denied;
}

void Ledger::host_reversed(std::uint64_t token) {
  Entry& e = entry(token);
  EXPECT_TRUE(e.fate == Fate::none || e.fate == Fate::reversed) << "token " << token;
  e.host = Host::reversed;
}

void Ledger::host_lost(std::uint64_t token) {
  Entry& e = entry(token);
  EXPECT_LT(e.losses, losses_) << "token " << token << ": the card has not lost its power since";
  e.host = Host::lost;
}

void Ledger::host_forgot(std::uint64_t token) {
  Entry& e = entry(token);
  if (e.host == Host::unknown) e.host = Host::forgot;
}

void Ledger::exchanged(unsigned port) {
  const ReferencePort& at = block_.ports[port];
  const Slot slot = at.tentative();
  const std::uint64_t token = slot[token_slice];
  Entry& e = entry(token);
  EXPECT_EQ(e.port, port) << "token " << token;
  EXPECT_EQ(e.fate, Fate::none) << "token " << token << " takes place twice";
  EXPECT_TRUE(e.host == Host::unknown || e.host == Host::forgot)
      << "token " << token << " takes place after the host has settled it";
  e.fate = Fate::tentative;
  e.slot = slot;
  e.verb = Header::of(slot[0]).verb;
  e.answer = at.retained();
  taken_[port].tentative = token;
}

void Ledger::saw(const Transition& seen) {
  if (std::exchange(taken_[seen.port].closes, false)) {
    EXPECT_EQ(seen.to, unsigned{OAE_PORT_STATE_CLOSED})
        << "the block commits what the host has not";
  }
  if (seen.to == OAE_PORT_STATE_TENTATIVE) return exchanged(seen.port);
  if (seen.from != OAE_PORT_STATE_TENTATIVE) return;
  Taken& taken = taken_[seen.port];
  Entry& e = entry(taken.tentative);
  if (seen.to == OAE_PORT_STATE_REVERSED) {
    EXPECT_NE(e.host, Host::committed) << "token " << taken.tentative << " is reversed";
    EXPECT_EQ(e.fate, Fate::tentative);
    e.fate = Fate::reversed;
    ++reversed;
  }
  if (seen.to != OAE_PORT_STATE_COMMITTED) return;
  EXPECT_TRUE(e.host == Host::committed || e.host == Host::forgot || e.host == Host::unknown)
      << "token " << taken.tentative << ": the block commits what the host knows not to take place";
  // Unless it is the limit to words that are held, it is the close of the port.
  taken.closes = e.host == Host::unknown && (e.verb == OAE_VERB_SWAP || e.verb == OAE_VERB_SEND);
  EXPECT_EQ(e.fate, Fate::tentative) << "token " << taken.tentative << " is committed twice";
  EXPECT_LT(taken.last_committed, taken.tentative) << "out of order";
  taken.last_committed = taken.tentative;
  e.fate = Fate::committed;
  ++committed;
  switch (e.verb) {
    case OAE_VERB_FETCH_ADD:
      counter_ += e.slot[2];
      break;
    case OAE_VERB_CAS:
      if (e.answer[1]) locked_ = e.slot[3];
      break;
    case OAE_VERB_MULTI:
      if (e.answer[1]) moved_ += e.slot[4];
      break;
    default:
      taken.for_firmware.push_back(taken.tentative);
  }
}

void Ledger::firmware_takes(unsigned port) {
  const Slot slot = block_.ports[port].committed();
  if (slot == Slot{}) return;
  std::deque<std::uint64_t>& waiting = taken_[port].for_firmware;
  ASSERT_FALSE(waiting.empty()) << "port " << port << ": taken, but not committed";
  EXPECT_EQ(slot, entry(waiting.front()).slot) << "port " << port;
  waiting.pop_front();
}

void Ledger::conclude() {
  for (const auto& [token, e] : entries_) {
    switch (e.host) {
      case Host::unknown:
        ADD_FAILURE() << "token " << token << ": the host does not know";
        break;
      case Host::committed:
        EXPECT_TRUE(e.fate == Fate::committed || e.fate == Fate::lost) << "token " << token;
        break;
      case Host::lost:
        break;
      case Host::denied:
        EXPECT_EQ(e.fate, Fate::none) << "token " << token;
        break;
      case Host::reversed:
        EXPECT_TRUE(e.fate == Fate::none || e.fate == Fate::reversed) << "token " << token;
        break;
      case Host::forgot:
        EXPECT_NE(e.fate, Fate::tentative) << "token " << token;
        break;
    }
  }
  for (unsigned port = 0; port < taken_.size(); ++port) {
    EXPECT_TRUE(taken_[port].for_firmware.empty()) << "port " << port << ": not taken";
  }
  EXPECT_EQ(block_.words.word(counter), counter_);
  EXPECT_EQ(block_.words.word(account), 0 - moved_);
  EXPECT_EQ(block_.words.word(account + 1), moved_);
  EXPECT_EQ(block_.words.word(lock), locked_);
}
