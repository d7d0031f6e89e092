// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "models/pcie/hierarchy/arbiter.h"
#include "models/pcie/hierarchy/downstream_port.h"

namespace pcie {

struct SwitchPortConfig : DownstreamPortConfig {
  SwitchPortConfig() { identity = {0xf0ae, 0x0a03, 0x060400}; }
};

struct SwitchConfig {
  Identity identity{0xf0ae, 0x0a02, 0x060400};  ///< identity of the upstream port
  unsigned generation = 5;                      ///< highest generation of the upstream port
  unsigned lanes = 16;
  CreditConfig credits{};      ///< credits of the upstream port's receive buffer
  unsigned active_states = 0;  ///< states that the link above supports, a set of ActiveState
  Eye eye{};                   ///< eye of the upstream port's receiver
  /// Time from a packet's arrival at one port to the departure from another. It must be even, since
  /// the receiving and the sending port each take half of it.
  vp::Picoseconds latency = 0;
  /// Whether a packet may begin to leave once its header has arrived and the latency has passed.
  /// Otherwise all of it must have arrived.
  bool cut_through = false;
  unsigned max_payload = 256;                                  ///< supported payload in bytes
  unsigned first_slot_number = 32;                             ///< slot number of port 0
  std::vector<SwitchPortConfig> ports = {SwitchPortConfig{}};  ///< 1 to 31 ports
};

/// A switch. The upstream port is function 0 of the device on the link above. The downstream ports
/// are function 0 of the devices on the internal bus, numbered from 0 (PCIe 5.0, 1.3.3).
///
///     link above --- upstream port ---+--- downstream port 0 --- link
///                   internal bus:     +--- downstream port 1 --- link
///
/// Memory requests are routed by windows, configuration requests and completions by bus number, and
/// INTx and error messages to the upstream port. A memory request from one downstream port that
/// another one claims goes there directly, unless access control of its port redirects or refuses
/// it. A packet without a route ends at the port that detects this.
///
/// A packet is forwarded when it arrives, unless the link of its exit has no credits for its class.
/// One packet of each class waits there, at the exit; all others stay in the receive buffers where
/// they are. Each receive buffer is a set of queues, one for each exit: a packet waits only for
/// packets with the same exit (Port::binds()). Arbiter says which port comes next.
class Switch : public sc_core::sc_module {
 public:
  /// Throws ConfigurationError if a value is impossible. `domain` is the domain of the host above.
  Switch(const sc_core::sc_module_name& name, const SwitchConfig& config, vp::Domain& domain,
         vp::Statistics& statistics);
  ~Switch() override;

  /// The port at which the link from above ends.
  Port& upstream();
  /// Downstream port `index`, from 0, at which a link begins.
  DownstreamPort& port(unsigned index);

 private:
  class Upstream;
  class Downstream;

  Downstream* claiming(std::uint64_t address) const;
  Downstream* routing(unsigned bus) const;
  // The number of an entry or exit is that of the downstream port, or above() for the upstream
  // port. Packets that end in the switch have the exit here().
  std::size_t above() const { return ports_.size(); }
  std::size_t here() const { return ports_.size() + 1; }
  bool blocked(std::size_t exit, CreditClass of) const;
  /// Whether a packet of that exit may leave the receive buffer of port `entry`.
  template <typename Entry>
  bool ready(const Tlp& tlp, std::size_t exit, const Entry& entry) const;
  void drain();
  void unblocked(CreditClass of);
  /// INTA to INTD (`pin` 0 to 3) behind downstream port `index` has changed to `level`.
  void intx(unsigned index, unsigned pin, bool level);

  std::unique_ptr<Upstream> upstream_;
  std::vector<std::unique_ptr<Downstream>> ports_;
  std::array<std::uint32_t, 4> intx_levels_{};  // for each pin, one bit for each downstream port
  const bool cut_through_;
  Arbiter arbiter_;
  std::uint64_t peer_to_peer_ = 0;
};

}  // namespace pcie
