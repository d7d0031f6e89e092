// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "models/pcie/error.h"
#include "models/pcie/tlp.h"
#include "vp/time/domain.h"

namespace pcie {

class Link;

struct PortConfig {
  unsigned generation = 5;  ///< highest, 1 to 6
  unsigned lanes = 16;      ///< most, 1 to 16
  /// Traversal of the part behind the port: spent before a TLP leaves and after one has arrived.
  vp::Picoseconds latency = 0;
};

/// What stands at an end of a link.
class Port {
 public:
  virtual ~Port() = default;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  const PortConfig& port_config() const { return config_; }
  vp::Domain& domain() const { return domain_; }
  bool link_up() const { return link_ != nullptr; }

 protected:
  Port(vp::Domain& domain, const PortConfig& config) : domain_(domain), config_(config) {}

  /// Runs `latency` after the last byte has arrived; must not wait.
  virtual void receive(TlpPtr tlp) = 0;
  /// An injected error, as if the port had detected it in `tlp`, which it does not receive unless
  /// the error leaves it whole; a request that it refuses by the error it answers.
  virtual void detected(Error, const Tlp*) {}
  /// The link has come up with this generation and width.
  virtual void trained(unsigned generation, unsigned lanes) = 0;
  /// The link has told of a hot reset (PCIe 5.0, 6.6.1); trained() follows.
  virtual void reset_by_link() {}
  /// Tells the other end, one latency later, to reset itself.
  void reset_link();
  /// The completion status of a request that ends in this error, if it is answered at all.
  static std::optional<Status> refusal_of(Error error) {
    if (error == Error::unsupported_request) return Status::unsupported_request;
    if (error == Error::completer_abort) return Status::completer_abort;
    return {};
  }
  /// Leaves `latency` from now, or as soon as all that was sent before has left. Needs a link.
  void send(TlpPtr tlp);

 private:
  friend class Link;
  vp::Domain& domain_;
  PortConfig config_;
  Link* link_ = nullptr;
};

}  // namespace pcie
