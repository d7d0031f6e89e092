// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/passthrough_target_socket.h>

#include <array>
#include <cstdint>

#include "models/ipu/register_block.h"
#include "models/pcie/endpoint/access.h"
#include "vp/irq_output.h"
#include "vp/time/domain.h"

namespace ipu {

/// Holds one request from the host's driver and one reply from the firmware. Both sides see the
/// same registers. Register map: rtl/registers/mailbox.yaml.
///
///     0x000 request[8]  rw  command, seven arguments
///     0x040 reply[8]    rw  result, seven values
///     0x080 doorbell    wo  host: the request is complete; firmware: the reply is complete
///     0x088 status      ro  requested, replied
///     0x090 vector      rw  MSI-X vector that announces a reply to the host
///
/// `irq` is high while a request waits. The firmware's doorbell does nothing while none waits.
class Mailbox : public RegisterBlock {
 public:
  /// The host's side; addresses are offsets in the mailbox. Protocol:
  /// models/pcie/endpoint/access.h; reads complete at once. RegisterBlock's `socket` is the
  /// firmware's side.
  tlm_utils::passthrough_target_socket<Mailbox> host;
  vp::IrqOutput irq;
  sc_core::sc_port<pcie::InterruptIf> interrupt;

  /// `line` is the number of `irq` at its controller.
  Mailbox(const sc_core::sc_module_name& name, vp::Domain& domain, unsigned line);

  /// Clears the request, the reply and the vector, after a reset of the host's function.
  void reset();

  /// Number of requests for which the host rang the doorbell.
  const std::uint64_t& requests() const { return requests_; }

 private:
  enum class Side { host, firmware };

  /// The registers as the host reaches them.
  struct HostSide : Registers {
    explicit HostSide(Mailbox& owner) : mailbox(owner) {}
    std::optional<std::uint64_t> read(std::uint64_t offset) override;
    bool write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
               vp::Picoseconds delay) override;
    Mailbox& mailbox;
  };

  std::optional<std::uint64_t> read(std::uint64_t offset) override;
  bool write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
             vp::Picoseconds delay) override;
  bool write(Side side, std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
             vp::Picoseconds delay);
  void request();
  void answer(vp::Picoseconds delay);
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);

  HostSide host_side_{*this};
  vp::Event signal_;  // sends the MSI-X when the firmware's write has arrived
  std::array<std::uint64_t, 8> request_{};
  std::array<std::uint64_t, 8> reply_{};
  bool requested_ = false;
  bool replied_ = false;
  std::uint64_t vector_ = 0;
  std::uint64_t requests_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace ipu
