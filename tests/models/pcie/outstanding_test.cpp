// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/outstanding.h"

#include <gtest/gtest.h>

#include <set>

#include "models/pcie/split.h"

namespace pcie {
namespace {

class OutstandingTest : public testing::Test {
 protected:
  OutstandingTest() {
    request = &outstanding.start(*read, 32, into);
    complete_read(*read, 0, 128, 64, [this](TlpPtr tlp) { completion = std::move(tlp); });
  }

  Outstanding<int> outstanding;
  TlpPtr read = Tlp::memory_read(0x1003, 6);
  std::uint8_t into[6] = {};
  Outstanding<int>::Request* request;
  TlpPtr completion;
};

TEST_F(OutstandingTest, ARightCompletionIsTaken) {
  const auto outcome = outstanding.complete(*completion);
  EXPECT_TRUE(outcome.expected);
  EXPECT_EQ(outcome.finished, request);
  EXPECT_EQ(request->status, Status::success);
  EXPECT_EQ(request->received, 6u);
}

// Each field that does not fit makes the completion an unexpected one, and changes nothing.
TEST_F(OutstandingTest, AWrongCompletionIsNot) {
  auto refused = [this](auto&& change) {
    const TlpHeader header = completion->header;
    change(completion->header);
    const bool expected = outstanding.complete(*completion).expected;
    completion->header = header;
    return !expected && request->received == 0;
  };
  EXPECT_TRUE(refused([](TlpHeader& h) { h.tag = 1; }));
  EXPECT_TRUE(refused([](TlpHeader& h) { h.tag = 256; }));
  EXPECT_TRUE(refused([](TlpHeader& h) { h.tag = 0xffff; }));
  EXPECT_TRUE(refused([](TlpHeader& h) { ++h.byte_count; }));
  EXPECT_TRUE(refused([](TlpHeader& h) { h.byte_count = 0; }));
  EXPECT_TRUE(refused([](TlpHeader& h) { h.lower_address ^= 1; }));
  EXPECT_TRUE(refused([](TlpHeader& h) { h.length = 0; }));
  EXPECT_TRUE(refused([](TlpHeader& h) { h.length = 4; })) << "more data than is left";
  EXPECT_TRUE(refused([](TlpHeader& h) { h.length = 1024; }));
  EXPECT_TRUE(refused([](TlpHeader& h) { h.type = TlpType::Cpl; })) << "success without data";
  EXPECT_TRUE(outstanding.complete(*completion).expected);
}

TEST_F(OutstandingTest, AnErrorEndsTheRequest) {
  completion = Tlp::completion(*read, 0, Status::completer_abort);
  const auto outcome = outstanding.complete(*completion);
  EXPECT_EQ(outcome.finished, request);
  EXPECT_EQ(request->status, Status::completer_abort);
}

TEST_F(OutstandingTest, PoisonedDataIsAnError) {
  completion->header.poisoned = true;
  outstanding.complete(*completion);
  EXPECT_NE(request->status, Status::success);
}

TEST(Outstanding, TagsAreUniqueAndAllUsed) {
  for (const unsigned limit : {32u, 256u}) {
    Outstanding<int> outstanding;
    std::set<unsigned> tags;
    std::vector<Outstanding<int>::Request*> requests;
    while (outstanding.available(limit)) {
      const TlpPtr read = Tlp::memory_read(0, 4);
      requests.push_back(&outstanding.start(*read, limit, nullptr));
      EXPECT_TRUE(tags.insert(read->header.tag).second);
    }
    EXPECT_EQ(tags.size(), limit);
    EXPECT_EQ(*tags.rbegin(), limit - 1);
    outstanding.release(*requests[7]);
    const TlpPtr read = Tlp::memory_read(0, 4);
    outstanding.start(*read, limit, nullptr);
    EXPECT_EQ(read->header.tag, 7);
  }
}

TEST(Outstanding, ATagRestsAfterItsRelease) {
  Outstanding<int> outstanding;
  for (unsigned i = 0; i < 100; ++i) {
    const TlpPtr read = Tlp::memory_read(0, 4);
    Outstanding<int>::Request& request = outstanding.start(*read, 32, nullptr);
    EXPECT_EQ(read->header.tag, i % 32);
    outstanding.release(request);
  }
}

TEST(Outstanding, TheEarliestDeadlineIsFoundAndExpires) {
  Outstanding<int> outstanding;
  EXPECT_EQ(outstanding.deadline(), vp::never);
  for (const vp::Picoseconds deadline : {300, 100, 200}) {
    outstanding.start(*Tlp::memory_read(0, 4), 32, nullptr).deadline = deadline;
  }
  EXPECT_EQ(outstanding.deadline(), 100);
  EXPECT_EQ(outstanding.expired(99), nullptr);
  Outstanding<int>::Request* request = outstanding.expired(100);
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(request->deadline, 100);
  outstanding.release(*request);
  EXPECT_EQ(outstanding.deadline(), 200);
}

}  // namespace
}  // namespace pcie
