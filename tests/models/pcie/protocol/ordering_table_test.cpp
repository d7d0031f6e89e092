// SPDX-License-Identifier: Apache-2.0
// Every entry of the ordering table, with and without RO and IDO, of the same and of another
// stream.
#include <gtest/gtest.h>

#include "models/pcie/protocol/ordering.h"

namespace pcie {
namespace {

constexpr Id one = make_id(1, 0, 0);
constexpr Id two = make_id(2, 0, 0);
constexpr Id host = make_id(0, 1, 0);

TlpHeader packet(TlpType type, Id stream = one, std::uint16_t tag = 1) {
  TlpHeader header;
  header.type = type;
  header.requester = stream;
  header.tag = tag;
  if (category(type) == Category::completion) {
    header.completer = stream;
    header.requester = host;
  }
  return header;
}

const TlpType all[] = {TlpType::MRd,    TlpType::MWr,      TlpType::CfgRd0, TlpType::CfgWr0,
                       TlpType::CfgRd1, TlpType::CfgWr1,   TlpType::Cpl,    TlpType::CplD,
                       TlpType::Msg,    TlpType::FetchAdd, TlpType::Swap,   TlpType::CAS,
                       TlpType::DMWr};

bool is(TlpType type, Category of) {
  return category(type) == of;
}

TEST(OrderingTable, CategoriesOfAllTypes) {
  EXPECT_EQ(category(TlpType::MWr), Category::posted);
  EXPECT_EQ(category(TlpType::Msg), Category::posted);
  EXPECT_EQ(category(TlpType::MRd), Category::read);
  EXPECT_EQ(category(TlpType::CfgRd0), Category::read);
  EXPECT_EQ(category(TlpType::CfgRd1), Category::read);
  EXPECT_EQ(category(TlpType::CfgWr0), Category::non_posted_with_data);
  EXPECT_EQ(category(TlpType::CfgWr1), Category::non_posted_with_data);
  EXPECT_EQ(category(TlpType::FetchAdd), Category::non_posted_with_data);
  EXPECT_EQ(category(TlpType::Swap), Category::non_posted_with_data);
  EXPECT_EQ(category(TlpType::CAS), Category::non_posted_with_data);
  EXPECT_EQ(category(TlpType::DMWr), Category::non_posted_with_data);
  EXPECT_EQ(category(TlpType::Cpl), Category::completion);
  EXPECT_EQ(category(TlpType::CplD), Category::completion);
}

// What the specification demands, entry by entry (PCIe 5.0, 2.4.1).

TEST(OrderingTable, NothingPassesAPostedRequestByItself) {
  for (TlpType later : all) {
    for (TlpType earlier : {TlpType::MWr, TlpType::Msg}) {
      EXPECT_EQ(passing(packet(later, one, 2), packet(earlier)), Passing::no) << to_string(later);
    }
  }
}

TEST(OrderingTable, RelaxedPostedAndCompletionsMayPassPosted) {
  for (TlpType type : all) {
    TlpHeader later = packet(type, one, 2);
    later.relaxed_ordering = true;
    const bool permitted = is(type, Category::posted) || is(type, Category::completion);
    EXPECT_EQ(passing(later, packet(TlpType::MWr)), permitted ? Passing::may : Passing::no)
        << to_string(type);
  }
}

TEST(OrderingTable, RelaxedEarlierPacketsPermitNothing) {
  for (TlpType type : all) {
    TlpHeader earlier = packet(TlpType::MWr);
    earlier.relaxed_ordering = true;
    earlier.id_based_ordering = true;
    EXPECT_EQ(passing(packet(type, two, 2), earlier), Passing::no) << to_string(type);
  }
}

TEST(OrderingTable, IdBasedPostedAndCompletionsMayPassPostedOfOthers) {
  for (TlpType type : all) {
    TlpHeader later = packet(type, two, 2);
    later.id_based_ordering = true;
    const bool permitted = is(type, Category::posted) || is(type, Category::completion);
    EXPECT_EQ(passing(later, packet(TlpType::MWr, one)), permitted ? Passing::may : Passing::no)
        << to_string(type);
    EXPECT_EQ(passing(later, packet(TlpType::MWr, two)), Passing::no)
        << to_string(type) << " of the same";
  }
}

// Else two bridges could wait for each other for ever.
TEST(OrderingTable, PostedAndCompletionsMustPassNonPosted) {
  for (TlpType earlier : {TlpType::MRd, TlpType::CfgRd0, TlpType::CfgWr0, TlpType::CfgWr1,
                          TlpType::FetchAdd, TlpType::Swap, TlpType::CAS, TlpType::DMWr}) {
    for (TlpType later : {TlpType::MWr, TlpType::Msg, TlpType::Cpl, TlpType::CplD}) {
      for (bool attribute : {false, true}) {
        TlpHeader header = packet(later, one, 2);
        header.relaxed_ordering = header.id_based_ordering = attribute;
        EXPECT_EQ(passing(header, packet(earlier)), Passing::must)
            << to_string(later) << " after " << to_string(earlier);
      }
    }
  }
}

TEST(OrderingTable, NonPostedMayPassNonPostedAndCompletions) {
  for (TlpType later : all) {
    if (!is(later, Category::read) && !is(later, Category::non_posted_with_data)) continue;
    for (TlpType earlier : all) {
      if (is(earlier, Category::posted)) continue;
      EXPECT_EQ(passing(packet(later, one, 2), packet(earlier)), Passing::may)
          << to_string(later) << " after " << to_string(earlier);
    }
  }
}

TEST(OrderingTable, PostedMayPassCompletions) {
  EXPECT_EQ(passing(packet(TlpType::MWr), packet(TlpType::CplD)), Passing::may);
  EXPECT_EQ(passing(packet(TlpType::Msg), packet(TlpType::Cpl)), Passing::may);
}

TEST(OrderingTable, CompletionsOfOneRequestKeepTheirOrder) {
  for (bool attribute : {false, true}) {
    TlpHeader later = packet(TlpType::CplD, two, 7);
    later.relaxed_ordering = later.id_based_ordering = attribute;
    EXPECT_EQ(passing(later, packet(TlpType::CplD, one, 7)), Passing::no);
    EXPECT_EQ(passing(later, packet(TlpType::Cpl, one, 7)), Passing::no);
    EXPECT_EQ(passing(later, packet(TlpType::CplD, one, 8)), Passing::may);
    TlpHeader other = packet(TlpType::CplD, one, 7);
    other.requester = two;
    EXPECT_EQ(passing(later, other), Passing::may) << "the same tag of another requester";
  }
}

}  // namespace
}  // namespace pcie
