// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>

#include "models/pcie/config/capabilities/pci_express.h"
#include "models/pcie/config/config_space.h"

namespace pcie {

/// How far a receiver's sampler can be moved until it sees errors, in steps to either side.
struct Eye {
  unsigned timing = 10;   ///< 0 to 16
  unsigned voltage = 20;  ///< 0 to 32
};

/// Lane Margining at the Receiver, of a port of 16 GT/s and more (PCIe 5.0, 7.7.7 and 4.2.13): a
/// mailbox for each lane, by which software moves a sampler of the port's own receiver, and is told
/// how many errors that sees. The sampler is not the one of the data, which does not notice.
///
///     +0 id 0x0027, version 1
///     +4 port capabilities: uses driver software 0
///     +6 port status: margining ready 0, software ready 1
///     +8 + 4 x lane: control, and 2 bytes on status: receiver 2:0, type 5:3, usage model 6,
///         payload 15:8
///
///     type  payload                        answer's payload
///     1     88 to 90: report               what is asked for
///     2     0f normal settings, 55 clear   the same
///           errors, c0 + limit of errors
///     3     step of timing 5:0, to the     errors 5:0; status 7:6: 2 in progress, 0 too many
///           left 6                         errors and back to normal, 3 there is no such step
///     4     step of voltage 6:0, down 7    likewise
///     7     9c no command, of receiver 0   the same
///
/// Receiver 1 is that of a port above the link, 6 that of one below; 0 is all. A command that is
/// none, or for another receiver, has no answer: there are no retimers. Answers come at once. A
/// step beyond the eye sees 1, 3, 7 errors and so on.
class LaneMargining {
 public:
  /// Throws ConfigurationError if the eye is larger than the steps reach.
  LaneMargining(ConfigSpace& space, PortType type, unsigned lanes, const Eye& eye);
  LaneMargining(const LaneMargining&) = delete;

  unsigned offset() const { return offset_; }
  /// The link is up at the speed of `generation`: receivers have their normal settings.
  void trained(unsigned generation);

  static constexpr unsigned timing_steps = 16, voltage_steps = 32;

 private:
  struct Command {
    unsigned receiver, type, payload;
  };

  unsigned control_at(unsigned lane) const { return offset_ + 8 + 4 * lane; }
  void perform(unsigned lane);
  /// The payload of the answer, or none.
  std::optional<unsigned> answer(unsigned lane, const Command& command);
  std::optional<unsigned> report(unsigned payload) const;
  std::optional<unsigned> set(unsigned lane, unsigned payload);
  unsigned step(unsigned lane, unsigned steps, unsigned most, unsigned eye) const;

  ConfigSpace& space_;
  const unsigned lanes_;
  const unsigned receiver_;
  const Eye eye_;
  const unsigned offset_;
  std::array<unsigned, 16> limits_{};  // of errors, by lane
};

}  // namespace pcie
