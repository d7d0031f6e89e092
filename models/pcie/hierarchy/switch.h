// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "models/pcie/hierarchy/downstream_port.h"

namespace pcie {

struct SwitchPortConfig : DownstreamPortConfig {
  SwitchPortConfig() { identity = {0xf0ae, 0x0a03, 0x060400}; }
};

struct SwitchConfig {
  Identity identity{0xf0ae, 0x0a02, 0x060400};  ///< of the upstream port
  unsigned generation = 5;                      ///< of the upstream port
  unsigned lanes = 16;
  CreditConfig credits{};      ///< of its receive buffer
  unsigned active_states = 0;  ///< of ActiveState, that the link above may go into
  Eye eye{};                   ///< of the receiver of the upstream port
  /// From the last byte's arrival at one port to the departure from another; even, for half of it
  /// is the receiving port's and half the sending one's.
  vp::Picoseconds latency = 0;
  unsigned max_payload = 256;                                  ///< supported, bytes
  unsigned first_slot = 32;                                    ///< number of port 0's slot
  std::vector<SwitchPortConfig> ports = {SwitchPortConfig{}};  ///< 1 to 31
};

/// Switch: one upstream port, function 0 of the device on the link above, and downstream ports,
/// function 0 of devices 0 and on of the internal bus (PCIe 5.0, 1.3.3).
///
///     link above --- upstream port ---+--- downstream port 0 --- link
///                   internal bus:     +--- downstream port 1 --- link
///
/// Memory requests go by windows, configuration requests and completions by bus number, INTx and
/// error messages to the upstream port. A memory request of one downstream port that another one
/// claims goes straight to that, or as access control of its port has it. What has no way ends at
/// the port that finds this out.
///
/// There is no queue between the ports: a packet goes on as it comes, and waits only at a port
/// whose link has no credits, one packet in general; while it does, nothing of its class leaves the
/// receive buffers that could go there. Posted requests wait only for posted ones, completions for
/// those and each other, non-posted requests for all: nothing locks. Ports take turns.
class Switch : public sc_core::sc_module {
 public:
  /// Throws ConfigurationError if a value is impossible. The domain is that of the host above.
  Switch(const sc_core::sc_module_name& name, const SwitchConfig& config, vp::Domain& domain,
         vp::Statistics& statistics);
  ~Switch() override;

  /// Where the link from above ends.
  Port& upstream();
  /// Downstream port `index`, from 0: where a link begins.
  DownstreamPort& port(unsigned index);

 private:
  class Upstream;
  class Downstream;

  Downstream* claiming(std::uint64_t address) const;
  Downstream* routing(unsigned bus) const;
  /// Whether none of the ports but `from` has packets of that class waiting.
  bool open(CreditClass of, const Port& from) const;
  void drain();
  void unblocked(CreditClass of);
  /// INTA to INTD (`pin` 0 to 3) behind downstream port `index` goes to `level`.
  void intx(unsigned index, unsigned pin, bool level);

  std::unique_ptr<Upstream> upstream_;
  std::vector<std::unique_ptr<Downstream>> ports_;
  std::array<std::uint32_t, 4> intx_levels_{};  // per pin of the upstream port, a bit for each port
  std::size_t first_ = 0;  // of the ports when receive buffers are drained, upstream is the last
  std::uint64_t peer_to_peer_ = 0;
};

}  // namespace pcie
