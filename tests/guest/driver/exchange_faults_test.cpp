// SPDX-License-Identifier: Apache-2.0
// All pairs of faults in a sequence of swaps.
#include <string>
#include <tuple>

#include "tests/guest/driver/exchange.h"

namespace guest_test {
namespace {

/// The form of the swaps of a sequence.
enum class Forms { PUSHED, STREAMED, IN_TURNS };

/// How a swap in doubt is settled: by its answer, as reversed, or as reversed if another read of
/// its answer has failed.
enum class Settling { ASK, REVERSE, GIVE_UP };

/// Every pair of faults at every two accesses of a sequence of swaps. When all swaps are settled,
/// host and journal agree, nothing was repeated, and the port still works.
class Faults : public Exchange,
               public testing::WithParamInterface<std::tuple<Fault, Fault, bool, Forms, Settling>> {
 protected:
  void run(unsigned at_first, unsigned at_second) {
    const auto [first, second, more, forms, settling] = GetParam();
    block.fault = [=, first = first, second = second](unsigned n) {
      return n == at_first ? first : n == at_second ? second : Fault::NONE;
    };
    for (std::uint64_t word = 1; word <= 5; ++word) {
      const bool streamed = forms == Forms::STREAMED || (forms == Forms::IN_TURNS && word % 2);
      form = streamed ? OAE_STREAMED : OAE_PUSHED;
      oae_outcome outcome = swap(word, more && word < 5 ? OAE_FLAG_MORE : 0, 0);
      for (int i = 0; outcome == OAE_IN_DOUBT && i < 4; ++i) {
        if (settling == Settling::REVERSE || (settling == Settling::GIVE_UP && i == 1)) {
          oae_exchange_reverse(&exchange);
        }
        outcome = settle(word);
      }
      ASSERT_NE(outcome, OAE_IN_DOUBT) << "not settled after the faults";
    }
    block.fault = [](unsigned) { return Fault::NONE; };
    unsigned tries = 1;
    while (swap(6) != OAE_COMMITTED) ASSERT_LE(++tries, 2u) << "stuck";
    ASSERT_EQ(block.committed, host);
  }
};

TEST_P(Faults, HostAndJournalAgree) {
  // The accesses of three swaps
  const unsigned end = std::get<3>(GetParam()) == Forms::PUSHED ? 32 : 54;
  for (unsigned first = 0; first < end - 2; ++first) {
    for (unsigned second = first + 1; second < end; ++second) {
      SCOPED_TRACE(testing::Message() << "faults at accesses " << first << " and " << second);
      block = Block();
      host.clear();
      begin();
      run(first, second);
      if (HasFatalFailure()) return;
    }
  }
}

std::string fault_names(const testing::TestParamInfo<Faults::ParamType>& info) {
  static const char* const names[] = {
      "None",          "Lost", "CompletionLost", "PushLost", "PushDamaged", "SequenceDamaged",
      "StatusDamaged",
  };
  const auto [first, second, more, forms, settling] = info.param;
  return std::string(names[static_cast<int>(first)]) + "And" + names[static_cast<int>(second)] +
         (more ? "WithMore" : "") +
         (forms == Forms::PUSHED     ? ""
          : forms == Forms::STREAMED ? "Streamed"
                                     : "InTurns") +
         (settling == Settling::ASK       ? ""
          : settling == Settling::REVERSE ? "Reversed"
                                          : "GivenUp");
}

INSTANTIATE_TEST_SUITE_P(
    Pairs, Faults,
    testing::Combine(
        testing::Values(Fault::LOST, Fault::COMPLETION_LOST, Fault::PUSH_LOST, Fault::PUSH_DAMAGED,
                        Fault::SEQUENCE_DAMAGED, Fault::STATUS_DAMAGED),
        testing::Values(Fault::NONE, Fault::LOST, Fault::COMPLETION_LOST, Fault::PUSH_LOST,
                        Fault::PUSH_DAMAGED, Fault::SEQUENCE_DAMAGED, Fault::STATUS_DAMAGED),
        testing::Bool(), testing::Values(Forms::PUSHED, Forms::STREAMED, Forms::IN_TURNS),
        testing::Values(Settling::ASK, Settling::REVERSE, Settling::GIVE_UP)),
    fault_names);

}  // namespace
}  // namespace guest_test
