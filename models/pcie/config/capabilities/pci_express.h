// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>

#include "models/pcie/config/capabilities/hot_plug_slot.h"
#include "models/pcie/config/config_space.h"
#include "models/pcie/link/active_state.h"
#include "vp/time/time.h"

namespace pcie {

enum class PortType : std::uint8_t {
  endpoint = 0,
  root_port = 4,
  upstream_port = 5,    ///< a switch's port towards the host
  downstream_port = 6,  ///< a switch's port away from the host
};
/// Whether the port has a link away from the host, and a hot-plug slot.
constexpr bool is_above_link(PortType type) {
  return type == PortType::root_port || type == PortType::downstream_port;
}

struct PciExpressConfig {
  PortType type = PortType::endpoint;
  unsigned generation = 5;     ///< highest link speed, 1 to 6
  unsigned lanes = 16;         ///< highest width, 1 to 16
  unsigned max_payload = 256;  ///< supported payload, 128 to 4096 bytes
  bool extended_tags = true;   ///< whether 256 requests can be outstanding instead of 32
  unsigned port_number = 0;
  unsigned slot_number = 0;         ///< port above a link
  unsigned read_boundary = 64;      ///< root port: RCB, 64 or 128 bytes
  HotPlugSlotConfig hot_plug{};     ///< port above a link
  bool peers = false;               ///< root port: whether it routes peer-to-peer packets
  bool ten_bit_tags = false;        ///< endpoint: whether 768 requests can be outstanding
  unsigned deferrable_writes = 0;   ///< bytes of a DMWr that it completes: 64, 128, or 0 for none
  unsigned active_states = 0;       ///< supported states, a set of ActiveState
  unsigned function = 0;            ///< endpoint: number of the function
  unsigned max_read_request = 512;  ///< endpoint: Max_Read_Request_Size after a reset
};

/// PCI Express capability, version 2 (PCIe 5.0, 7.5.3).
///
/// A virtual function has its own capability registers, Device Status and function level reset. The
/// controls of its physical function apply to it in all other respects (9.3.5).
class PciExpress {
 public:
  static constexpr std::uint8_t id = 0x10;
  static constexpr unsigned capabilities = 0x02;
  static constexpr unsigned device_capabilities = 0x04;
  static constexpr unsigned device_control = 0x08;
  static constexpr unsigned device_status = 0x0a;
  static constexpr unsigned link_capabilities = 0x0c;
  static constexpr unsigned link_control = 0x10;
  static constexpr unsigned link_status = 0x12;
  static constexpr unsigned slot_capabilities = 0x14;  ///< slot registers: see HotPlugSlot
  static constexpr unsigned slot_control = 0x18;
  static constexpr unsigned slot_status = 0x1a;
  static constexpr unsigned root_control = 0x1c;
  static constexpr unsigned root_capabilities = 0x1e;
  static constexpr unsigned root_status = 0x20;
  static constexpr unsigned device_capabilities_2 = 0x24;
  static constexpr unsigned device_control_2 = 0x28;
  static constexpr unsigned link_capabilities_2 = 0x2c;
  static constexpr unsigned link_control_2 = 0x30;
  static constexpr unsigned link_status_2 = 0x32;

  struct CapabilitiesBit {
    static constexpr unsigned port_type_shift = 4;  ///< PortType in 7:4; the version is in 3:0
    static constexpr std::uint32_t slot_implemented = 1u << 8;
    static constexpr std::uint32_t flit_mode_supported = 1u << 15;
  };
  struct DeviceCapabilitiesBit {
    static constexpr std::uint32_t extended_tags = 1u << 5;
    static constexpr std::uint32_t any_exit_latency = 7u << 6 | 7u << 9;  ///< of L0s and of L1
    static constexpr std::uint32_t role_based_errors = 1u << 15;
    static constexpr std::uint32_t function_level_reset = 1u << 28;
  };
  /// Sizes are codes of which 0 is 128 bytes, and each further code doubles the size.
  struct DeviceControlBit {
    static constexpr std::uint32_t error_reporting = 0xf;  ///< the bits of ErrorKind
    static constexpr std::uint32_t relaxed_ordering = 1u << 4;
    static constexpr unsigned payload_shift = 5;
    static constexpr std::uint32_t max_payload = 7u << payload_shift;
    static constexpr std::uint32_t extended_tags = 1u << 8;
    static constexpr std::uint32_t no_snoop = 1u << 11;
    static constexpr unsigned read_request_shift = 12;
    static constexpr std::uint32_t max_read_request = 7u << read_request_shift;
    static constexpr std::uint32_t initiate_reset = 1u << 15;  ///< function level reset
  };
  /// Further bits of Device Status, beside ErrorKind.
  struct DeviceStatusBit {
    static constexpr std::uint32_t transactions_pending = 1u << 5;
  };
  struct LinkCapabilitiesBit {
    static constexpr unsigned aspm_shift = 10;      ///< a set of ActiveState
    static constexpr unsigned l0s_exit_shift = 12;  ///< see exit_latency_code()
    static constexpr unsigned l1_exit_shift = 15;
    static constexpr std::uint32_t surprise_down_reporting = 1u << 19;
    static constexpr std::uint32_t link_active_reporting = 1u << 20;
    static constexpr std::uint32_t bandwidth_notification = 1u << 21;
    static constexpr std::uint32_t aspm_optionality = 1u << 22;
    static constexpr unsigned port_number_shift = 24;
  };
  /// Bits 1:0 of Link Control are a set of ActiveState.
  struct LinkControlBit {
    static constexpr std::uint32_t read_boundary_128 = 1u << 3;  ///< RCB
    static constexpr std::uint32_t link_disable = 1u << 4;
    static constexpr std::uint32_t retrain_link = 1u << 5;
    static constexpr std::uint32_t common_clock = 1u << 6;
    static constexpr std::uint32_t extended_synch = 1u << 7;
    static constexpr std::uint32_t bandwidth_management_enable = 1u << 10;
    static constexpr std::uint32_t autonomous_bandwidth_enable = 1u << 11;
    static constexpr std::uint32_t flit_mode_disable = 1u << 13;
  };
  /// Speed and width are at the same places in Link Capabilities.
  struct LinkStatusBit {
    static constexpr std::uint32_t speed = 0xf;
    static constexpr unsigned width_shift = 4;
    static constexpr std::uint32_t width = 0x3fu << width_shift;
    static constexpr std::uint32_t link_training = 1u << 11;
    static constexpr std::uint32_t slot_clock = 1u << 12;
    static constexpr std::uint32_t link_active = 1u << 13;  ///< Data Link Layer Link Active
    static constexpr std::uint32_t bandwidth_management = 1u << 14;
    static constexpr std::uint32_t autonomous_bandwidth = 1u << 15;
  };
  struct RootControlBit {
    static constexpr std::uint32_t retry_visible = 1u << 4;  ///< CRS Software Visibility Enable
    static constexpr std::uint32_t all = 0x1f;  ///< also SERR# for errors 2:0, PME interrupt 3
  };
  struct RootCapabilitiesBit {
    static constexpr std::uint32_t retry_visible = 1u << 0;
  };
  struct RootStatusBit {
    static constexpr std::uint32_t pme_status = 1u << 16;
  };
  struct DeviceCapabilities2Bit {
    static constexpr std::uint32_t timeout_ranges = 0xf;
    static constexpr std::uint32_t timeout_disable = 1u << 4;
    static constexpr std::uint32_t ari_forwarding = 1u << 5;
    static constexpr std::uint32_t atomic_routing = 1u << 6;
    static constexpr std::uint32_t atomic_completer = 7u << 7;  ///< 32, 64 and 128 bits
    static constexpr std::uint32_t ten_bit_tag_completer = 1u << 16;
    static constexpr std::uint32_t ten_bit_tag_requester = 1u << 17;
    static constexpr std::uint32_t deferrable_write_completer = 1u << 28;
    static constexpr std::uint32_t deferrable_write_128 = 1u << 29;  ///< up to 128 bytes
  };
  struct DeviceControl2Bit {
    static constexpr std::uint32_t timeout_value = 0xf;
    static constexpr std::uint32_t timeout_disable = 1u << 4;
    static constexpr std::uint32_t ari_forwarding = 1u << 5;
    static constexpr std::uint32_t atomic_requester = 1u << 6;
    static constexpr std::uint32_t atomic_egress_blocking = 1u << 7;
    static constexpr std::uint32_t ido_request = 1u << 8;
    static constexpr std::uint32_t ido_completion = 1u << 9;
    static constexpr std::uint32_t ten_bit_tag_requester = 1u << 12;
  };
  struct LinkCapabilities2Bit {
    static constexpr unsigned speeds_shift = 1;                     ///< one bit for each speed
    static constexpr std::uint32_t retimers = 1u << 23 | 1u << 24;  ///< detects one, and two
  };
  struct LinkControl2Bit {
    static constexpr std::uint32_t target_speed = 0xf;
  };
  struct LinkStatus2Bit {
    static constexpr std::uint32_t equalized = 0xfu << 1;  ///< complete, and its three phases
    static constexpr std::uint32_t flit_mode = 1u << 10;
  };

  /// `physical` is the capability of the physical function, for a virtual function. Throws
  /// ConfigurationError if a value is impossible.
  PciExpress(ConfigSpace& space, const PciExpressConfig& config,
             const PciExpress* physical = nullptr);
  PciExpress(const PciExpress&) = delete;

  unsigned offset() const { return offset_; }

  /// Max_Payload_Size in bytes, at most the supported size.
  unsigned max_payload() const {
    const std::uint32_t code =
        (read_device_control() & DeviceControlBit::max_payload) >> DeviceControlBit::payload_shift;
    return std::min(128u << code, supported_payload_);
  }
  /// Max_Read_Request_Size in bytes.
  unsigned max_read_request() const;
  bool relaxed_ordering() const { return controls(DeviceControlBit::relaxed_ordering); }
  bool extended_tags() const { return controls(DeviceControlBit::extended_tags); }
  /// The completion timeout that software has selected, for which each range stands for its minimum
  /// (7.5.3.16). It is `preset` if software has selected nothing or a reserved value, and `never`
  /// if software has disabled timeouts.
  vp::Picoseconds completion_timeout(vp::Picoseconds preset) const;
  /// Port above a link: whether ARI makes device numbers a part of function numbers.
  bool forwards_ari() const { return controls_2(DeviceControl2Bit::ari_forwarding); }
  /// Endpoint: AtomicOp Requester Enable.
  bool requests_atomics() const { return controls_2(DeviceControl2Bit::atomic_requester); }
  /// Switch, and root port with peers: AtomicOp Egress Blocking.
  bool blocks_atomics() const { return controls_2(DeviceControl2Bit::atomic_egress_blocking); }
  /// Endpoint: 10-Bit Tag Requester Enable.
  bool ten_bit_tags() const { return controls_2(DeviceControl2Bit::ten_bit_tag_requester); }
  bool id_based_ordering() const { return controls_2(DeviceControl2Bit::ido_request); }
  /// Whether a completion of this function may keep the IDO attribute of its request. Only
  /// endpoints and root ports have that control (7.5.3.16).
  bool id_based_completions() const { return controls_2(DeviceControl2Bit::ido_completion); }
  bool supports_flits() const { return generation_ >= 6; }
  /// Whether the link is in flit mode.
  bool flits() const {
    return governor_->space_.any(governor_->offset_ + link_status_2, LinkStatus2Bit::flit_mode);
  }
  /// Root port: whether software sees the retry of a read of the vendor ID.
  bool retry_visible() const {
    return space_.any(offset_ + root_control, RootControlBit::retry_visible);
  }

  /// Port above a link: Flit Mode Disable, which takes effect when the link trains from Detect.
  bool flits_disabled() const {
    return space_.any(offset_ + link_control, LinkControlBit::flit_mode_disable);
  }
  /// Port above a link: Link Disable.
  bool link_disabled() const {
    return space_.any(offset_ + link_control, LinkControlBit::link_disable);
  }
  /// The states that software has enabled, a set of ActiveState.
  unsigned active_states() const { return space_.get(offset_ + link_control, 1) & (l0s | l1); }
  /// Whether software has set Extended Synch.
  bool extended_synch() const {
    return space_.any(offset_ + link_control, LinkControlBit::extended_synch);
  }
  /// Port above a link: whether software has set Retrain Link. The call consumes that request.
  bool consume_retrain();
  /// Port above a link: Target Link Speed, 1 to the highest generation.
  unsigned target_generation() const;
  /// Port above a link: whether a change of speed or width is recorded for which Link Control
  /// enables an interrupt (6.11).
  bool bandwidth_interrupting() const;
  /// Port above a link.
  HotPlugSlot& hot_plug_slot() { return *hot_plug_slot_; }
  const HotPlugSlot& hot_plug_slot() const { return *hot_plug_slot_; }

  /// The link is up with this generation and width.
  void trained(unsigned generation, unsigned lanes, bool flits);
  /// The link is in Recovery.
  void recovering();
  /// The link is back from Recovery with this generation and width. Sets Link Bandwidth Management
  /// Status if software has requested the retraining, or if speed or width have changed.
  void retrained(unsigned generation, unsigned lanes);
  /// Port above a link: the link is down; `training` says whether it is training again.
  void link_down(bool training);
  bool link_active() const;
  /// Kinds of errors, as bits of Device Status (detected) and Device Control (reported).
  enum ErrorKind : std::uint32_t {
    correctable_error = 1u << 0,
    non_fatal_error = 1u << 1,
    fatal_error = 1u << 2,
    unsupported_request = 1u << 3,
  };
  /// Whether Device Control enables reporting for errors of that kind.
  bool reports(std::uint32_t kind) const { return controls(kind); }
  /// Sets bits of Device Status, a set of ErrorKind.
  void detected(std::uint32_t errors);
  /// Endpoint: sets whether requests of the function wait for completions.
  void set_transactions_pending(bool pending);
  /// Endpoint: whether software has requested a function level reset. The call consumes that
  /// request.
  bool consume_reset();

 private:
  std::uint32_t read_device_control() const {
    return governor_->space_.get(governor_->offset_ + device_control, 2);
  }
  bool controls(std::uint32_t bits) const { return read_device_control() & bits; }
  bool controls_2(std::uint32_t bits) const {
    return governor_->space_.any(governor_->offset_ + device_control_2, bits);
  }

  ConfigSpace& space_;
  const PciExpress* governor_;  // the capability whose controls apply: this one, or the physical's
  unsigned offset_;
  unsigned supported_payload_;
  unsigned generation_;
  bool asked_to_retrain_ = false;
  PortType type_;
  std::optional<HotPlugSlot> hot_plug_slot_;
};

}  // namespace pcie
