// SPDX-License-Identifier: Apache-2.0
// Every entry of the ordering table on a link with finite credits: which packet passes another that
// lacks credits.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "models/pcie/link/link.h"
#include "models/pcie/protocol/ordering.h"

namespace pcie {
namespace {

enum class Attribute { none, relaxed, id_based, both };
constexpr Attribute attributes[] = {Attribute::none, Attribute::relaxed, Attribute::id_based,
                                    Attribute::both};

// One entry of PCIe 5.0, table 2-40, with the later packet's attributes and of the same stream
// (requester, of completions completer) as the earlier one or of another.
struct Entry {
  Category later, earlier;
  Attribute attribute;
  bool other_stream;
  TlpType later_type, earlier_type;
};

// The specification's table, written by hand: N must not pass, Y must be able to, m may. Lower-case
// letters tell what RO (r) or IDO of another stream (i) makes of an N.
//
//                                  posted  read  with data  completion
constexpr const char* table[4][4] = {{"Nri", "Y", "Y", "m"},   // posted
                                     {"N", "m", "m", "m"},     // read
                                     {"N", "m", "m", "m"},     // non-posted with data
                                     {"Nri", "Y", "Y", "m"}};  // completion

bool passes(const Entry& entry) {
  const std::string letters =
      table[static_cast<unsigned>(entry.later)][static_cast<unsigned>(entry.earlier)];
  const bool relaxed = entry.attribute == Attribute::relaxed || entry.attribute == Attribute::both;
  const bool id_based =
      entry.attribute == Attribute::id_based || entry.attribute == Attribute::both;
  if (letters[0] != 'N') return true;
  return (relaxed && letters.find('r') != letters.npos) ||
         (id_based && entry.other_stream && letters.find('i') != letters.npos);
}

// Reads have no data, so what holds one up is a header credit, which all of its class need; and
// writes of the class that has no more than a DW need as much as each other. That such a packet
// may pass shows nowhere.
bool shows(const Entry& entry) {
  if (credit_class(entry.later_type) != CreditClass::non_posted) return true;
  return entry.earlier == Category::posted || entry.earlier == Category::completion ||
         (entry.earlier == Category::non_posted_with_data && entry.later == Category::read);
}

struct Receiver : Port {
  std::vector<std::uint64_t> addresses;
  bool is_ready = false;
  using Port::drain;
  Receiver(vp::Domain& domain, const PortConfig& config) : Port(domain, config) {}
  void receive(TlpPtr tlp) override { addresses.push_back(tlp->get_address()); }
  bool ready(const Tlp& tlp) const override {
    return is_ready || credit_class(tlp.header.type) != blocked;
  }
  void trained(unsigned, unsigned) override {}
  CreditClass blocked = CreditClass::posted;
};

struct Sender : Port {
  using Port::send;
  explicit Sender(vp::Domain& domain) : Port(domain, {5, 16, 0}) {}
  void receive(TlpPtr) override {}
  void trained(unsigned, unsigned) override {}
};

// `bytes` of data, if the type has any; told apart by its address.
TlpPtr packet(TlpType type, unsigned bytes, std::uint64_t address, Id stream, std::uint16_t tag) {
  TlpPtr tlp = Tlp::make(type);
  tlp->set_address(address);
  TlpHeader& header = tlp->header;
  header.length = type == TlpType::Cpl || type == TlpType::Msg ? 0 : bytes / 4;
  header.first_be = 0xf;
  header.last_be = bytes > 4 ? 0xf : 0;
  header.requester = header.completer = stream;
  header.tag = tag;
  return tlp;
}

// Each entry has a link of its own.
class Trial {
 public:
  explicit Trial(const Entry& entry) : entry_(entry) {
    const Id stream = make_id(1, 0, 0), other = make_id(2, 0, 0);
    receiver_.blocked = credit_class(entry.earlier_type);
    const unsigned large = entry.earlier == Category::non_posted_with_data ? 4 : 256;
    TlpPtr later = packet(entry.later_type, 4, 0x3000, entry.other_stream ? other : stream, 3);
    later->header.relaxed_ordering =
        entry.attribute == Attribute::relaxed || entry.attribute == Attribute::both;
    later->header.id_based_ordering =
        entry.attribute == Attribute::id_based || entry.attribute == Attribute::both;
    // The first takes credits, and keeps them. There are not enough left for the next, which is
    // large where there are large ones, but for a small one.
    sender_.send(packet(entry.earlier_type, 4, 0x1000, stream, 1));
    sender_.send(packet(entry.earlier_type, large, 0x2000, stream, 2));
    sender_.send(std::move(later));
  }

  void expect_passing_or_waiting() {
    const bool left = link_.count(Direction::down, entry_.later_type).tlps ==
                      (entry_.later_type == entry_.earlier_type ? 2u : 1u);
    EXPECT_EQ(left, passes(entry_) && shows(entry_));
    receiver_.is_ready = true;
    receiver_.drain();
  }

  void expect_arrivals() const {
    std::vector<std::uint64_t> order{0x1000, 0x2000, 0x3000};
    if (passes(entry_) && shows(entry_)) {
      std::swap(order[1], order[2]);
      // One of another class is not held up by the receiver either.
      if (credit_class(entry_.later_type) != receiver_.blocked) std::swap(order[0], order[1]);
    }
    EXPECT_EQ(receiver_.addresses, order);
  }

  std::string name() const {
    const char* names[] = {"", " with RO", " with IDO", " with RO and IDO"};
    return std::string(to_string(entry_.later_type)) +
           names[static_cast<unsigned>(entry_.attribute)] +
           (entry_.other_stream ? " of another stream" : "") + " after " +
           to_string(entry_.earlier_type);
  }

 private:
  static PortConfig receiver_config(const Entry& entry) {
    PortConfig config{5, 16, 0};
    Credits& held = config.credits.classes[static_cast<unsigned>(credit_class(entry.earlier_type))];
    if (entry.earlier == Category::read) {
      held.headers = 1;
    } else {
      held.data = entry.earlier == Category::non_posted_with_data ? 1 : 16;
    }
    return config;
  }

  const Entry entry_;
  vp::Domain host_{sc_core::sc_gen_unique_name("host")}, card_{sc_core::sc_gen_unique_name("card")};
  vp::Trace trace_;
  vp::Statistics statistics_;
  Sender sender_{host_};
  Receiver receiver_{card_, receiver_config(entry_)};
  Link link_{sc_core::sc_gen_unique_name("link"),
             {5, 16, 100 * vp::ns, 100 * vp::ns},
             sender_,
             receiver_,
             trace_,
             statistics_};
};

std::vector<Entry> all_entries() {
  // With posted requests come messages, with reads those of configuration registers.
  const struct {
    Category category;
    TlpType types[2];
  } rows[] = {{Category::posted, {TlpType::MWr, TlpType::Msg}},
              {Category::read, {TlpType::MRd, TlpType::CfgRd0}},
              {Category::non_posted_with_data, {TlpType::CfgWr0, TlpType::CfgWr1}},
              {Category::completion, {TlpType::CplD, TlpType::Cpl}}};
  std::vector<Entry> entries;
  for (const auto& later : rows) {
    for (const auto& earlier : rows) {
      for (const Attribute attribute : attributes) {
        for (const bool other : {false, true}) {
          for (const TlpType type : later.types) {
            entries.push_back(
                {later.category, earlier.category, attribute, other, type, earlier.types[0]});
          }
        }
      }
    }
  }
  return entries;
}

TEST(OrderingOnALink, EachCellPassesOrWaitsAsTheTableSays) {
  std::vector<std::unique_ptr<Trial>> trials;
  for (const Entry& entry : all_entries()) trials.push_back(std::make_unique<Trial>(entry));
  ASSERT_EQ(trials.size(), 4u * 4 * 4 * 2 * 2);
  sc_core::sc_start();
  for (const auto& trial : trials) {
    SCOPED_TRACE(trial->name());
    trial->expect_passing_or_waiting();
  }
  sc_core::sc_start();
  for (const auto& trial : trials) {
    SCOPED_TRACE(trial->name());
    trial->expect_arrivals();
  }
}

// D5b: completions of one request keep their order whatever they claim; those of two need not.
class CompletionsOnALink : public testing::TestWithParam<bool> {};

TEST_P(CompletionsOnALink, OfOneRequestKeepTheirOrder) {
  const bool same = GetParam();
  vp::Domain host("host"), card("card");
  vp::Trace trace;
  vp::Statistics statistics;
  PortConfig config{5, 16, 0};
  config.credits.classes[static_cast<unsigned>(CreditClass::completion)] = {0, 16};
  Sender sender(host);
  Receiver receiver(card, config);
  receiver.blocked = CreditClass::completion;
  Link link("link", {5, 16, 100 * vp::ns, 100 * vp::ns}, sender, receiver, trace, statistics);
  sender.send(packet(TlpType::CplD, 4, 0x1000, 0x100, 1));
  sender.send(packet(TlpType::CplD, 256, 0x2000, 0x100, 2));
  TlpPtr later = packet(TlpType::CplD, 4, 0x3000, 0x100, same ? 2 : 3);
  later->header.relaxed_ordering = later->header.id_based_ordering = true;
  sender.send(std::move(later));
  sc_core::sc_start();
  EXPECT_EQ(link.count(Direction::down, TlpType::CplD).tlps, same ? 1u : 2u);
}

INSTANTIATE_TEST_SUITE_P(Request, CompletionsOnALink, testing::Bool());

}  // namespace
}  // namespace pcie
