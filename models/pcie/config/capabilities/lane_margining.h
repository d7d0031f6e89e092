// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>

#include "models/pcie/config/capabilities/pci_express.h"
#include "models/pcie/config/config_space.h"

namespace pcie {

/// How far a receiver's sampler can move to either side before it observes errors, in steps.
struct Eye {
  unsigned timing = 10;   ///< 0 to 16
  unsigned voltage = 20;  ///< 0 to 32
};

/// Lane Margining at the Receiver for a port with 16 GT/s or more (PCIe 5.0, 7.7.7 and 4.2.13).
/// Each lane has a mailbox. Software uses it to move a sampler of the port's own receiver, and
/// reads how many errors the sampler observes. The sampler for the data is a different one and
/// stays undisturbed.
///
///     control and status of a lane: receiver 2:0, type 5:3, usage model 6, payload 15:8
///
///     type  payload of the command         payload of the answer
///     1     88 to 90: report               the value
///     2     0f normal settings, 55 clear   the same
///           errors, c0 + limit of errors
///     3     step of timing 5:0, to the     errors 5:0; status 7:6: 2 in progress, 0 too many
///           left 6                         errors and back to normal, 3 no such step
///     4     step of voltage 6:0, down 7    the same as for type 3
///     7     9c no command, of receiver 0   the same
///
/// Receiver 1 is that of a port above the link, receiver 6 that of a port below it, and 0 addresses
/// all. A command with another type or for another receiver gets no answer, since there are no
/// retimers. Answers are immediate. The steps beyond the eye observe 1, 3, 7 and so on errors.
class LaneMargining {
 public:
  static constexpr std::uint16_t id = 0x0027;  ///< version 1
  static constexpr unsigned port_capabilities = 4;
  static constexpr unsigned port_status = 6;
  static constexpr unsigned first_control = 8;  ///< 2 bytes of control and 2 of status per lane
  static constexpr std::uint32_t margining_ready = 1u << 0;  ///< in port status
  static constexpr std::uint32_t usage_model = 1u << 6;      ///< in lane control
  static constexpr std::uint32_t control_writable = 0xff7f;  ///< bits of lane control
  /// No Command (4.2.13.1): receiver 0, type 7, payload 0x9c.
  static constexpr std::uint32_t no_command = 0x9c38;

  /// Throws ConfigurationError if the eye exceeds the steps.
  LaneMargining(ConfigSpace& space, PortType type, unsigned lanes, const Eye& eye);
  LaneMargining(const LaneMargining&) = delete;

  unsigned offset() const { return offset_; }
  /// The link is up at the speed of `generation`, and the receivers have their normal settings.
  void trained(unsigned generation);

  static constexpr unsigned timing_steps = 16, voltage_steps = 32;

 private:
  struct Command {
    unsigned receiver, type, payload;
  };

  unsigned control_at(unsigned lane) const { return offset_ + first_control + 4 * lane; }
  void perform(unsigned lane);
  /// The payload of the answer, or nothing if there is no answer.
  std::optional<unsigned> answer(unsigned lane, const Command& command);
  std::optional<unsigned> report(unsigned payload) const;
  std::optional<unsigned> set(unsigned lane, unsigned payload);
  unsigned step(unsigned lane, unsigned steps, unsigned most, unsigned eye) const;

  ConfigSpace& space_;
  const unsigned lanes_;
  const unsigned receiver_;
  const Eye eye_;
  const unsigned offset_;
  std::array<unsigned, 16> limits_{};  // error limit of each lane
};

}  // namespace pcie
