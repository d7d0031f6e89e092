// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/protocol/completion_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

using vp::ns;

struct Sent {
  vp::Picoseconds when;
  unsigned tag;
  unsigned left;  // the byte count, by which the parts of a request are told apart
};

struct Completer {
  explicit Completer(const CompletionConfig& config)
      : queue(config, domain, [this](TlpPtr completion) {
          sent.push_back({vp::now(), completion->header.tag, completion->header.byte_count});
        }) {}
  /// Answers request `tag` in that many parts.
  void answer(unsigned tag, unsigned parts, vp::Picoseconds delay) {
    for (unsigned left = parts; left > 0; --left) {
      TlpPtr completion = Tlp::make(TlpType::CplD);
      completion->header.requester = make_id(1, 0, 0);
      completion->header.tag = static_cast<std::uint16_t>(tag);
      completion->header.byte_count = static_cast<std::uint16_t>(left);
      queue.send_after(delay, std::move(completion));
    }
  }
  std::vector<unsigned> tags() const {
    std::vector<unsigned> found;
    for (const Sent& one : sent) found.push_back(one.tag);
    return found;
  }

  vp::Domain domain{sc_core::sc_gen_unique_name("domain")};
  std::vector<Sent> sent;
  CompletionQueue queue;
};

TEST(CompletionQueue, KeepsTheOrderOfRequestsWithoutASpread) {
  Completer completer({});
  completer.answer(1, 2, 0);
  EXPECT_EQ(completer.tags(), (std::vector<unsigned>{1, 1})) << "at once";
  completer.answer(2, 2, 50 * ns);
  completer.answer(3, 1, 20 * ns);
  completer.answer(4, 1, 0);
  completer.answer(5, 1, 60 * ns);
  EXPECT_EQ(completer.sent.size(), 2u);
  sc_core::sc_start();
  EXPECT_EQ(completer.tags(), (std::vector<unsigned>{1, 1, 2, 2, 3, 4, 5}));
  for (unsigned i = 2; i < 6; ++i) EXPECT_EQ(completer.sent[i].when, 50 * ns);
  EXPECT_EQ(completer.sent[6].when, 60 * ns);
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

// Completions are mixed, but those of a request keep their order, and none is later than the
// spread. That they may come in any order shows in many forms.
TEST(CompletionQueue, MixesRequestsWithinTheSpread) {
  constexpr unsigned requests = 20, parts = 8;
  constexpr vp::Picoseconds delay = 30 * ns, spread = 200 * ns;
  Completer completer({false, spread, 7});
  for (unsigned tag = 0; tag < requests; ++tag) completer.answer(tag, parts, delay);
  sc_core::sc_start();
  ASSERT_EQ(completer.sent.size(), requests * parts);
  std::map<unsigned, unsigned> left;
  unsigned interleaved = 0, overtaken = 0;
  for (std::size_t i = 0; i < completer.sent.size(); ++i) {
    const Sent& one = completer.sent[i];
    EXPECT_GE(one.when, delay);
    EXPECT_LE(one.when, delay + spread);
    const auto [before, is_first] = left.emplace(one.tag, parts);
    EXPECT_EQ(one.left, is_first ? parts : before->second - 1);
    before->second = one.left;
    if (i == 0) continue;
    interleaved += completer.sent[i - 1].tag != one.tag;
    overtaken += completer.sent[i - 1].tag > one.tag;
  }
  // Of 160, at random 19 in 20 follow one of another request, and half of these one of a later.
  EXPECT_GT(interleaved, 120u);
  EXPECT_GT(overtaken, 50u);
  EXPECT_LT(overtaken, 110u);
  // The times spread over all of the interval.
  EXPECT_LT(completer.sent.front().when, delay + spread / 4);
  EXPECT_GT(completer.sent.back().when, delay + spread * 3 / 4);
}

TEST(CompletionQueue, RepeatsItsOrderWithTheSeed) {
  Completer first({false, 100 * ns, 3}), same({false, 100 * ns, 3}), other({false, 100 * ns, 4});
  for (Completer* completer : {&first, &same, &other}) {
    for (unsigned tag = 0; tag < 20; ++tag) completer->answer(tag, 2, 0);
  }
  sc_core::sc_start();
  EXPECT_EQ(first.tags(), same.tags());
  EXPECT_NE(first.tags(), other.tags());
}

TEST(CompletionQueue, CanBeEmptiedEitherWay) {
  EXPECT_THROW(Completer({false, -1, 1}), ConfigurationError);
  Completer completer({false, 100 * ns, 1});
  for (unsigned tag = 0; tag < 10; ++tag) completer.answer(tag, 2, 10 * ns);
  const std::size_t before = completer.sent.size();
  completer.queue.flush();
  EXPECT_EQ(completer.sent.size() - before, 20u);
  std::map<unsigned, unsigned> left;
  for (const Sent& one : completer.sent) {
    EXPECT_EQ(one.when, 0);
    EXPECT_EQ(one.left, left[one.tag] == 2 ? 1u : 2u);
    left[one.tag] = one.left;
  }
  completer.answer(1, 3, 10 * ns);
  completer.queue.clear();
  sc_core::sc_start();
  EXPECT_EQ(completer.sent.size(), 20u);
  completer.answer(1, 3, 10 * ns);
  sc_core::sc_start();
  EXPECT_EQ(completer.sent.size(), 23u);
}

}  // namespace
}  // namespace pcie
