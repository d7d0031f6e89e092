// SPDX-License-Identifier: Apache-2.0
#include "models/oae/request_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace oae {
namespace {

using testing::ElementsAre;

class RequestQueueTest : public testing::Test {
 protected:
  /// Queues requests: 'r' is a read, 'w' a write and 'x' a reset. They are numbered from 0.
  void arrive(const std::string& kinds) {
    for (const char kind : kinds) {
      Request request{};
      request.write = kind == 'w';
      request.reset = kind == 'x';
      request.line = arrived_++;
      queue_.push(request);
    }
  }
  /// Returns the numbers of the requests that go, in their order.
  std::vector<unsigned> go(bool reads_wait) {
    std::vector<unsigned> gone;
    for (std::size_t place; (place = queue_.next(reads_wait)) != RequestQueue::none;) {
      const unsigned number = queue_[place].line;
      EXPECT_EQ(queue_.remove(place).line, number);
      gone.push_back(number);
    }
    return gone;
  }

  RequestQueue queue_;
  unsigned arrived_ = 0;
};

TEST_F(RequestQueueTest, RequestsGoInTheirOrder) {
  arrive("rwwrxrw");
  EXPECT_THAT(go(false), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(queue_.next(false), RequestQueue::none);
}

TEST_F(RequestQueueTest, WritesPassReadsThatWait) {
  arrive("rwrw");
  EXPECT_THAT(go(true), ElementsAre(1, 3));
  arrive("w");
  EXPECT_THAT(go(false), ElementsAre(0, 2, 4)) << "no read passes a write";
}

TEST_F(RequestQueueTest, AResetPassesNothingAndIsNotPassed) {
  arrive("wxrwxw");
  EXPECT_THAT(go(true), ElementsAre(0, 1, 3));
  EXPECT_THAT(go(false), ElementsAre(2, 4, 5));
}

TEST_F(RequestQueueTest, ReadsTakeNoRoomFromWrites) {
  arrive(std::string(100, 'r') + std::string(RequestQueue::max_writes - 1, 'w'));
  EXPECT_TRUE(queue_.has_room());
  arrive("w");
  EXPECT_FALSE(queue_.has_room());
  queue_.remove(queue_.next(false));
  EXPECT_FALSE(queue_.has_room());
  queue_.remove(queue_.next(true));
  EXPECT_TRUE(queue_.has_room());
}

}  // namespace
}  // namespace oae
