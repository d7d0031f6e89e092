// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/block/reference/words.h"

#include <algorithm>

#include "oae_registers.h"

namespace {

bool changes(const ReferenceWords::Step& step) {
  return step.operation == OAE_WORD_OPERATION_WRITE || step.operation == OAE_WORD_OPERATION_ADD;
}

}  // namespace

std::optional<ReferenceWords::Steps> ReferenceWords::steps(const Slot& slot,
                                                           const WordRange& range) {
  Steps steps;
  const unsigned verb = Header::of(slot[0]).verb;
  if (verb == OAE_VERB_CAS || verb == OAE_VERB_FETCH_ADD) {
    if (slot[1] >= count) return std::nullopt;
    const unsigned index = static_cast<unsigned>(slot[1]);
    if (!range.has(index)) return std::nullopt;
    if (verb == OAE_VERB_CAS) {
      steps[0] = {OAE_WORD_OPERATION_COMPARE, index, slot[2]};
      steps[1] = {OAE_WORD_OPERATION_WRITE, index, slot[3]};
    } else {
      steps[0] = {OAE_WORD_OPERATION_ADD, index, slot[2]};
    }
    return steps;
  }
  if (verb != OAE_VERB_MULTI) return std::nullopt;
  std::set<unsigned> changed;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned what = slot[1] >> 16 * i & 0xffff;
    steps[i] = {what >> 12, what & 0xfff, slot[2 + i]};
    if (steps[i].operation > OAE_WORD_OPERATION_COMPARE) return std::nullopt;
    if (steps[i].operation != OAE_WORD_OPERATION_NONE &&
        (steps[i].index >= count || !range.has(steps[i].index))) {
      return std::nullopt;
    }
    if (changes(steps[i]) && !changed.insert(steps[i].index).second) return std::nullopt;
  }
  return steps;
}

bool ReferenceWords::busy(const Steps& steps) const {
  const bool busy = std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
    return step.operation != OAE_WORD_OPERATION_NONE && held_.count(step.index);
  });
  refusals_ += busy;
  return busy;
}

bool ReferenceWords::met(const Steps& steps) const {
  return std::all_of(steps.begin(), steps.end(), [&](const Step& step) {
    return step.operation != OAE_WORD_OPERATION_COMPARE || word(step.index) == step.operand;
  });
}

std::array<std::uint64_t, 5> ReferenceWords::found(const Steps& steps) const {
  std::array<std::uint64_t, 5> slices{met(steps)};
  for (unsigned i = 0; i < 4; ++i) {
    if (steps[i].operation != OAE_WORD_OPERATION_NONE) slices[1 + i] = word(steps[i].index);
  }
  return slices;
}

void ReferenceWords::hold(const Steps& steps) {
  for (const Step& step : steps) {
    if (step.operation != OAE_WORD_OPERATION_NONE) held_.insert(step.index);
  }
}

void ReferenceWords::release(const Steps& steps) {
  for (const Step& step : steps) {
    if (step.operation != OAE_WORD_OPERATION_NONE) held_.erase(step.index);
  }
}

void ReferenceWords::perform(const Steps& steps) {
  for (const Step& step : steps) {
    if (step.operation == OAE_WORD_OPERATION_WRITE) words_[step.index] = step.operand;
    if (step.operation == OAE_WORD_OPERATION_ADD) words_[step.index] += step.operand;
    done_ += changes(step);
  }
}

std::uint64_t ReferenceWords::word(unsigned index) const {
  const auto found = words_.find(index);
  return found == words_.end() ? 0 : found->second;
}

std::optional<std::uint64_t> ReferenceWords::read(unsigned address) const {
  switch (address) {
    case OAE_FIRMWARE_WORD_OPERAND:
      return operand_;
    case OAE_FIRMWARE_WORD_COMPARE:
      return compare_;
    case OAE_FIRMWARE_WORD_COMMAND:
      return 0;
    case OAE_FIRMWARE_WORD_RESULT:
      return result_;
    case OAE_FIRMWARE_WORD_OUTCOME:
      return outcome_;
    default:
      return std::nullopt;
  }
}

void ReferenceWords::write(unsigned address, std::uint64_t data, std::uint64_t mask) {
  if (address == OAE_FIRMWARE_WORD_OPERAND) operand_ = (operand_ & ~mask) | (data & mask);
  if (address == OAE_FIRMWARE_WORD_COMPARE) compare_ = (compare_ & ~mask) | (data & mask);
  if (address == OAE_FIRMWARE_WORD_COMMAND) command(data & mask);
}

void ReferenceWords::command(std::uint64_t data) {
  const unsigned index = data & 0xfff;
  Steps steps;
  bool bad = index >= count || data >> 15 != 0;
  switch (data >> 12 & 7) {
    case OAE_WORD_ACCESS_READ:
      steps[0] = {OAE_WORD_OPERATION_READ, index, 0};
      break;
    case OAE_WORD_ACCESS_WRITE:
      steps[0] = {OAE_WORD_OPERATION_WRITE, index, operand_};
      break;
    case OAE_WORD_ACCESS_ADD:
      steps[0] = {OAE_WORD_OPERATION_ADD, index, operand_};
      break;
    case OAE_WORD_ACCESS_CAS:
      steps[0] = {OAE_WORD_OPERATION_COMPARE, index, compare_};
      steps[1] = {OAE_WORD_OPERATION_WRITE, index, operand_};
      break;
    default:
      bad = true;
  }
  result_ = 0;
  if (bad) {
    outcome_ = OAE_FIRMWARE_WORD_OUTCOME_BAD_MASK;
  } else if (busy(steps)) {
    outcome_ = OAE_FIRMWARE_WORD_OUTCOME_BUSY_MASK;
  } else {
    result_ = word(index);
    outcome_ = met(steps) ? OAE_FIRMWARE_WORD_OUTCOME_DONE_MASK : 0;
    if (outcome_) perform(steps);
  }
}
