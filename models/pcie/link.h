// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "models/pcie/error.h"
#include "models/pcie/line_rate.h"
#include "models/pcie/port.h"
#include "models/pcie/ring.h"
#include "vp/statistics/statistics.h"
#include "vp/time/domain.h"
#include "vp/trace/trace.h"

namespace pcie {

/// Down is away from the root complex.
enum class Direction : std::uint8_t { down, up };

struct LinkConfig {
  unsigned generation = 5;           ///< of the channel; the ports may know less
  unsigned lanes = 16;               ///< wired
  vp::Picoseconds latency_down = 0;  ///< PHY and wire
  vp::Picoseconds latency_up = 0;
  unsigned max_payload = 256;  ///< for the share that DLLPs take, see LineRate
};

/// An error that is made to happen, for tests and for whoever wants to see software cope with it.
struct Fault {
  Error error = Error::receiver_error;
  /// What it strikes when it arrives; none: nothing, the port believes to have seen a packet.
  std::optional<TlpType> type;
  unsigned number = 1;  ///< the how manieth of that type from now on
};

/// A link between two ports, and between their domains, whose lookahead it is.
///
/// TLPs of a direction are serialised one after the other and arrive in order. Those in flight are
/// in a ring with one appointment, in the receiving domain, for the first: an idle link has none.
///
///     departure                    arrival            received
///        |<- wire bytes at rate ->|                      |
///     ---+------------------------+---- latency ----+----+--->
///   sender's port latency before                     receiver's port latency
class Link : public sc_core::sc_module {
 public:
  /// Throws ConfigurationError if a value is impossible or a port is taken.
  Link(const sc_core::sc_module_name& name, const LinkConfig& config, Port& upstream,
       Port& downstream, vp::Trace& trace, vp::Statistics& statistics);

  /// Nothing sent at time t is received before t + this.
  vp::Picoseconds min_latency(Direction direction) const;

  unsigned generation() const { return generation_; }
  unsigned lanes() const { return lanes_; }
  const LineRate& rate() const { return rate_; }

  /// The port that `direction` leads to detects the error: without a type one latency from now.
  ///
  ///     completion_timeout     the TLP is lost, and who waits for a completion waits in vain
  ///     unexpected_completion  the completion comes twice
  ///     poisoned_tlp           the data is marked as bad
  ///     unsupported_request    the request is refused, and so by completer_abort
  ///     malformed_tlp, ecrc, receiver_overflow    the TLP is dropped
  ///     all others             the TLP comes as it is
  ///
  /// False if no such TLP can have such an error.
  bool inject(Direction direction, const Fault& fault);

  struct Count {
    std::uint64_t tlps = 0;
    std::uint64_t bytes = 0;  ///< payload
  };
  const Count& count(Direction direction, TlpType type) const {
    return ways_[index(direction)].counts[static_cast<unsigned>(type)];
  }

 private:
  friend class Port;

  struct Flying {
    vp::Picoseconds received = 0;
    TlpPtr tlp;
  };
  struct Coming {
    vp::Picoseconds when = 0;
    Error error = Error::receiver_error;
  };
  struct Way {
    Way(Link& link, Direction direction, Port& from, Port& to, vp::Picoseconds latency);
    const char* name;
    Port& from;
    Port& to;
    vp::Picoseconds latency;
    bool crosses;  // from one domain into another
    Wire wire;
    Ring<Flying> flying;
    vp::Event arrival;
    std::vector<Fault> faults;  // that wait for their TLP
    Ring<Coming> errors;
    vp::Event error;
    std::array<Count, tlp_types> counts{};
    std::uint64_t wire_bytes = 0;
  };

  static unsigned index(Direction direction) { return static_cast<unsigned>(direction); }
  void send(const Port& from, TlpPtr tlp);
  void arrive(Way& way);
  void reset();
  bool strike(Way& way, TlpPtr& tlp);
  void detect(Way& way);

  vp::Trace& trace_;
  unsigned generation_;
  unsigned lanes_;
  LineRate rate_;
  std::array<Way, 2> ways_;
  vp::Event reset_;  // is told to the port downstream
};

}  // namespace pcie
