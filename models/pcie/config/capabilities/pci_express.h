// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "models/pcie/config/capabilities/slot.h"
#include "models/pcie/config/config_space.h"
#include "models/pcie/link/active_state.h"
#include "vp/time/time.h"

namespace pcie {

enum class PortType : std::uint8_t {
  endpoint = 0,
  root_port = 4,
  upstream_port = 5,    ///< of a switch
  downstream_port = 6,  ///< of a switch
};
/// Whether a link away from the host, and its slot, are the port's.
constexpr bool is_above_link(PortType type) {
  return type == PortType::root_port || type == PortType::downstream_port;
}

struct PciExpressConfig {
  PortType type = PortType::endpoint;
  unsigned generation = 5;     ///< highest link speed, 1 to 6
  unsigned lanes = 16;         ///< most lanes
  unsigned max_payload = 256;  ///< supported, bytes, 128 to 4096
  bool extended_tags = true;   ///< can have 256 requests outstanding instead of 32
  unsigned port_number = 0;
  unsigned slot_number = 0;        ///< root port, downstream port
  unsigned read_boundary = 64;     ///< root port: RCB, 64 or 128 bytes
  SlotConfig slot{};               ///< root port, downstream port
  bool peers = false;              ///< root port: passes on what devices send to each other
  bool ten_bit_tags = false;       ///< endpoint: and 768, by tags of 10 bits
  unsigned deferrable_writes = 0;  ///< completer of DMWr with up to 64 or 128 bytes; 0: of none
  unsigned active_states = 0;      ///< of ActiveState, that the link may go into

  PciExpressConfig with_active_states(unsigned states) const {
    PciExpressConfig config = *this;
    config.active_states = states;
    return config;
  }
};

/// PCI Express capability, version 2 (PCIe 5.0, 7.5.3).
///
///     +00 id 0x10, PCIe capabilities   +04 device capabilities   +08 device control, status
///     +0c link capabilities            +10 link control, status
///     +14 slot capabilities            +18 slot control, status  (above a link: slot.h)
///     +1c root control, capabilities   +20 root status           (root port)
///     +24 device capabilities 2        +28 device control 2, status 2
///     +2c link capabilities 2          +30 link control 2, status 2
///     +34 slot capabilities 2          +38 slot control 2, status 2
///
/// A virtual function has the capabilities, Device Status and the function level reset of its own;
/// all other control is its physical function's (9.3.5).
class PciExpress {
 public:
  /// Of a virtual function, `physical` is that of its physical one. Throws ConfigurationError if a
  /// value is impossible.
  PciExpress(ConfigSpace& space, const PciExpressConfig& config,
             const PciExpress* physical = nullptr);
  PciExpress(const PciExpress&) = delete;

  unsigned offset() const { return offset_; }

  /// Bytes, from Device Control; never more than supported.
  unsigned max_payload() const;
  /// Bytes, from Device Control.
  unsigned max_read_request() const;
  bool relaxed_ordering() const { return control(4); }
  bool extended_tags() const { return control(8); }
  /// As software has chosen it, each range by its least; `preset` if it has not, or in a way that
  /// has no meaning; `never` if it has turned timeouts off (7.5.3.16).
  vp::Picoseconds completion_timeout(vp::Picoseconds preset) const;
  /// Root and downstream port: a device number is five more bits of a function number (ARI).
  bool forwards_ari() const { return control_2(5); }
  /// Endpoint: AtomicOp Requester Enable.
  bool requests_atomics() const { return control_2(6); }
  /// Switch, and root port with peers: AtomicOp Egress Blocking.
  bool blocks_atomics() const { return control_2(7); }
  /// Endpoint: 10-Bit Tag Requester Enable.
  bool ten_bit_tags() const { return control_2(12); }
  bool id_based_ordering() const { return control_2(8); }
  /// Root port: a retry of a configuration read of the vendor id is shown to software.
  bool retry_visible() const { return space_.test(offset_ + 0x1c, 4); }

  /// Root and downstream port: software wants no link.
  bool link_disabled() const { return space_.test(offset_ + 0x10, 4); }
  /// Of ActiveState, what software lets the link go into.
  unsigned active_states() const { return space_.get(offset_ + 0x10, 1) & (l0s | l1); }
  /// Root and downstream port: whether software wants the link retrained; once.
  bool take_retrain();
  /// Root and downstream port: Target Link Speed, 1 to the highest.
  unsigned target_generation() const;
  /// Root and downstream port: the link's speed or width may have changed, and Link Control enables
  /// an interrupt for that (6.11).
  bool bandwidth_interrupting() const;
  /// Root and downstream port.
  Slot& slot() { return *slot_; }
  const Slot& slot() const { return *slot_; }

  /// The link is up with this generation and width.
  void trained(unsigned generation, unsigned lanes, bool flits);
  /// The link is in Recovery.
  void recovering();
  /// And back, with this generation and width; Link Bandwidth Management Status says so if software
  /// has asked for it, or hardware had to change them.
  void retrained(unsigned generation, unsigned lanes);
  /// The link below a root or downstream port is down, and may be on its way up again.
  void link_down(bool training);
  bool link_active() const;
  /// Bits of Device Status, what was detected, and of Device Control, what is reported.
  enum ErrorKind : std::uint32_t {
    correctable_error = 1u << 0,
    non_fatal_error = 1u << 1,
    fatal_error = 1u << 2,
    unsupported_request = 1u << 3,
  };
  bool reports(std::uint32_t kind) const { return device_control() & kind; }
  /// Sets bits of Device Status.
  void detected(std::uint32_t device_status);
  /// Endpoint: whether requests of its own wait for completions.
  void set_transactions_pending(bool pending);
  /// Endpoint: whether software has asked for a function level reset; once.
  bool take_reset();

 private:
  std::uint32_t device_control() const {
    return governor_->space_.get(governor_->offset_ + 0x08, 2);
  }
  bool control(unsigned bit) const { return device_control() >> bit & 1; }
  bool control_2(unsigned bit) const {
    return governor_->space_.test(governor_->offset_ + 0x28, bit);
  }

  ConfigSpace& space_;
  const PciExpress* governor_;  // whose control registers hold: its own, or its physical function's
  unsigned offset_;
  unsigned supported_payload_;
  unsigned generation_;
  bool asked_to_retrain_ = false;
  PortType type_;
  std::optional<Slot> slot_;
};

}  // namespace pcie
