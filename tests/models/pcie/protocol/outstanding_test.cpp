// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/protocol/outstanding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "models/pcie/protocol/split.h"

namespace pcie {
namespace {

class OutstandingTest : public testing::Test {
 protected:
  OutstandingTest() {
    request = &outstanding.start(*read, {0, 32}, into);
    complete_read(*read, 0, {128, 64}, [this](TlpPtr tlp) { completion = std::move(tlp); });
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

TEST_F(OutstandingTest, AnErrorWithDataEndsTheRequestWithoutThem) {
  for (const Status status :
       {Status::unsupported_request, Status::configuration_retry, Status::completer_abort}) {
    completion->header.status = status;
    std::fill_n(completion->data(), completion->payload_bytes(), std::uint8_t{0xee});
    const auto outcome = outstanding.complete(*completion);
    EXPECT_TRUE(outcome.expected);
    EXPECT_EQ(outcome.finished, request);
    EXPECT_EQ(request->status, status);
    EXPECT_EQ(request->received, 0u);
    EXPECT_EQ(std::count(std::begin(into), std::end(into), 0), 6);
  }
}

TEST_F(OutstandingTest, PoisonedDataIsAnError) {
  completion->header.poisoned = true;
  outstanding.complete(*completion);
  EXPECT_NE(request->status, Status::success);
}

TEST(Outstanding, TagsAreUniqueAndAllUsed) {
  for (const TagRange range : {TagRange{0, 32}, TagRange{0, 256}, ten_bit_tags}) {
    Outstanding<int> outstanding(range.end);
    std::set<unsigned> tags;
    std::vector<Outstanding<int>::Request*> requests;
    while (outstanding.available(range)) {
      const TlpPtr read = Tlp::memory_read(0, 4);
      requests.push_back(&outstanding.start(*read, range, nullptr));
      EXPECT_TRUE(tags.insert(read->header.tag).second);
    }
    EXPECT_EQ(tags.size(), range.size());
    EXPECT_EQ(*tags.begin(), range.first);
    EXPECT_EQ(*tags.rbegin(), range.end - 1);
    for (const unsigned index : {0u, 7u, range.size() - 1}) {
      outstanding.release(*requests[index]);
      EXPECT_TRUE(outstanding.available(range));
      const TlpPtr read = Tlp::memory_read(0, 4);
      outstanding.start(*read, range, nullptr);
      EXPECT_EQ(read->header.tag, range.first + index);
      EXPECT_FALSE(outstanding.available(range));
    }
  }
}

// Software may have changed what is permitted while requests wait.
TEST(Outstanding, RangesFollowOneAnother) {
  Outstanding<int> outstanding(ten_bit_tags.end);
  const TagRange ranges[] = {{0, 32}, ten_bit_tags, {0, 256}, ten_bit_tags, {0, 32}};
  unsigned number = 0;
  for (const TagRange range : ranges) {
    ASSERT_TRUE(outstanding.available(range));
    const TlpPtr read = Tlp::memory_read(0, 4);
    outstanding.start(*read, range, nullptr);
    EXPECT_GE(read->header.tag, range.first);
    EXPECT_LT(read->header.tag, range.end);
    const TlpPtr completion = Tlp::completion(*read, 0, Status::unsupported_request);
    EXPECT_TRUE(outstanding.complete(*completion).expected);
    EXPECT_EQ(outstanding.count(), ++number);
  }
}

TEST(Outstanding, ATagRestsAfterItsRelease) {
  Outstanding<int> outstanding;
  for (unsigned i = 0; i < 100; ++i) {
    const TlpPtr read = Tlp::memory_read(0, 4);
    Outstanding<int>::Request& request = outstanding.start(*read, {0, 32}, nullptr);
    EXPECT_EQ(read->header.tag, i % 32);
    outstanding.release(request);
  }
}

TEST(Outstanding, TheEarliestDeadlineIsFoundAndExpires) {
  Outstanding<int> outstanding;
  EXPECT_EQ(outstanding.deadline(), vp::never);
  for (const vp::Picoseconds deadline : {300, 100, 200}) {
    outstanding.start(*Tlp::memory_read(0, 4), {0, 32}, nullptr).deadline = deadline;
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
