// SPDX-License-Identifier: Apache-2.0
// Writes of `control` in every clock of the time in which the other side begins anew.
#include <gtest/gtest.h>

#include "tests/rtl/transfer/ends/pair.h"

namespace {

/// Longer than the exchange by which both sides come up again.
constexpr unsigned last_clock = 160;

class LinkControl : public LinkPair {
 protected:
  std::uint32_t session(LinkEnd& end) {
    return OAE_GET(get(end, OAE_LINK_SESSION), OAE_LINK_SESSION_OWN);
  }
  std::uint32_t session_seen(LinkEnd& end) {
    return OAE_GET(get(end, OAE_LINK_SESSION), OAE_LINK_SESSION_OTHER);
  }
  void until_both_are_up() {
    until([this] { return a.phase() == OAE_LINK_STATE_IDLE && b.phase() == OAE_LINK_STATE_IDLE; });
    rest();
  }
  /// B begins anew, and after that many clocks A's control is written.
  void restart_b(unsigned clocks, unsigned control) {
    put(b, OAE_LINK_CONTROL, 0);
    put(a, OAE_LINK_EVENT, 0xff);
    b.post_put(OAE_LINK_CONTROL, 1);
    clock(clocks);
    put(a, OAE_LINK_CONTROL, control);
  }
};

TEST_F(LinkControl, AnotherBeginningHidesNoRestart) {
  bring_up();
  for (unsigned clocks = 0; clocks < last_clock; ++clocks) {
    SCOPED_TRACE(clocks);
    const std::uint32_t before = session(a);
    restart_b(clocks, 1);
    until_both_are_up();
    ASSERT_EQ(session(a), before + 1) << "A has left the session that B has left";
    ASSERT_EQ(session_seen(a), session(b));
    ASSERT_EQ(session_seen(b), session(a));
    ASSERT_TRUE(get(a, OAE_LINK_EVENT) & OAE_LINK_EVENT_UP_MASK)
        << "and says that it came up again";
  }
}

TEST_F(LinkControl, AnEndHidesNoRestart) {
  bring_up();
  for (unsigned clocks = 0; clocks < last_clock; ++clocks) {
    SCOPED_TRACE(clocks);
    const std::uint32_t before = session(a);
    restart_b(clocks, 0);
    ASSERT_EQ(a.phase(), unsigned{OAE_LINK_STATE_DOWN});
    put(a, OAE_LINK_CONTROL, 1);
    until_both_are_up();
    ASSERT_GT(session(a), before);
    ASSERT_EQ(session_seen(a), session(b));
    ASSERT_EQ(session_seen(b), session(a));
    ASSERT_TRUE(get(a, OAE_LINK_EVENT) & OAE_LINK_EVENT_DOWN_MASK);
  }
}

}  // namespace
