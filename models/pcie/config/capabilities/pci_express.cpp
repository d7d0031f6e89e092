// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/pci_express.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/pcie/protocol/configuration_error.h"
#include "models/pcie/protocol/max_payload.h"

namespace pcie {
namespace {

using DeviceCapabilities = PciExpress::DeviceCapabilitiesBit;
using DeviceControl = PciExpress::DeviceControlBit;
using LinkCapabilities = PciExpress::LinkCapabilitiesBit;
using LinkControl = PciExpress::LinkControlBit;
using LinkStatus = PciExpress::LinkStatusBit;
using LinkStatus2 = PciExpress::LinkStatus2Bit;
using DeviceCapabilities2 = PciExpress::DeviceCapabilities2Bit;
using DeviceControl2 = PciExpress::DeviceControl2Bit;

constexpr std::uint32_t bandwidth_changes =
    LinkStatus::bandwidth_management | LinkStatus::autonomous_bandwidth;

// The active states of the link and their exit latencies.
std::uint32_t sleep_capabilities(const PciExpressConfig& config) {
  const auto code = [&config](ActiveState state) {
    return config.active_states & state ? exit_latency_code(state, config.generation) : 0;
  };
  return config.active_states << LinkCapabilities::aspm_shift |
         code(l0s) << LinkCapabilities::l0s_exit_shift |
         code(l1) << LinkCapabilities::l1_exit_shift;
}

// Link Capabilities 2 has one bit for each speed, where other registers have the number of a speed.
std::uint32_t speeds_vector(unsigned generation) {
  return (1u << generation) - 1;
}

}  // namespace

PciExpress::PciExpress(ConfigSpace& space, const PciExpressConfig& config,
                       const PciExpress* physical)
    : space_(space),
      governor_(physical != nullptr ? physical : this),
      offset_(space.add_capability(id, 0x3c)),
      supported_payload_(config.max_payload),
      generation_(config.generation),
      type_(config.type) {
  const unsigned payload = max_payload_code(config.max_payload);
  if (config.generation < 1 || config.generation > 6) {
    throw ConfigurationError(fmt::format("PCIe generation {} is not 1 to 6", config.generation));
  }
  if (config.lanes < 1 || config.lanes > 16) {
    throw ConfigurationError(fmt::format("a width of {} lanes is not 1 to 16", config.lanes));
  }
  if (config.read_boundary != 64 && config.read_boundary != 128) {
    throw ConfigurationError(fmt::format("a read completion boundary of {} bytes is not 64 or 128",
                                         config.read_boundary));
  }
  if (config.deferrable_writes != 0 && config.deferrable_writes != 64 &&
      config.deferrable_writes != 128) {
    throw ConfigurationError(
        fmt::format("deferrable writes of {} bytes are not 64 or 128", config.deferrable_writes));
  }
  if (config.active_states & ~unsigned{l0s | l1} ||
      (config.generation >= 6 && config.active_states & l0s)) {
    throw ConfigurationError(
        "the active states of a link must be L0s and L1; flit mode does not have L0s");
  }
  const unsigned at = offset_;
  const bool root = config.type == PortType::root_port;
  const bool endpoint = config.type == PortType::endpoint;
  const bool above_link = is_above_link(config.type);
  const bool of_switch = !root && !endpoint;
  const bool own = physical == nullptr;

  space.define({at + capabilities, 2,
                2u | static_cast<unsigned>(config.type) << CapabilitiesBit::port_type_shift |
                    (above_link ? CapabilitiesBit::slot_implemented : 0) |
                    (supports_flits() ? CapabilitiesBit::flit_mode_supported : 0)});
  space.define(
      {at + device_capabilities, 4,
       payload | (config.extended_tags ? DeviceCapabilities::extended_tags : 0) |
           DeviceCapabilities::role_based_errors |
           (endpoint ? DeviceCapabilities::function_level_reset : 0) |
           (endpoint && config.active_states != 0 ? DeviceCapabilities::any_exit_latency : 0)});
  const std::uint32_t read_request = size_code(config.max_read_request, "read request")
                                     << DeviceControl::read_request_shift;
  const std::uint32_t device_control_bits =
      DeviceControl::error_reporting | DeviceControl::relaxed_ordering |
      DeviceControl::max_payload | (config.extended_tags ? DeviceControl::extended_tags : 0) |
      DeviceControl::no_snoop | DeviceControl::max_read_request;
  space.define({at + device_control, 2,
                own ? DeviceControl::relaxed_ordering | DeviceControl::no_snoop | read_request : 0,
                (own ? device_control_bits : 0) | (endpoint ? DeviceControl::initiate_reset : 0)});
  space.define({at + device_status, 2, 0, 0, DeviceControl::error_reporting});

  space.define({at + link_capabilities, 4,
                config.generation | config.lanes << LinkStatus::width_shift |
                    sleep_capabilities(config) |
                    (above_link ? LinkCapabilities::surprise_down_reporting |
                                      LinkCapabilities::link_active_reporting |
                                      LinkCapabilities::bandwidth_notification
                                : 0) |
                    LinkCapabilities::aspm_optionality |
                    config.port_number << LinkCapabilities::port_number_shift});
  // RCB is fixed in a root port, writable in an endpoint, and absent in a switch.
  const std::uint32_t boundary = config.read_boundary == 128 ? LinkControl::read_boundary_128 : 0;
  const std::uint32_t of_type = above_link ? LinkControl::link_disable | LinkControl::retrain_link |
                                                 LinkControl::bandwidth_management_enable |
                                                 LinkControl::autonomous_bandwidth_enable
                                : endpoint ? LinkControl::read_boundary_128
                                           : 0;
  // PCIe 6.0, 7.5.3.7: below the link, function 0 alone has Flit Mode Disable.
  const bool disables_flits = supports_flits() && config.function == 0;
  const std::uint32_t link_control_bits = of_type | LinkControl::common_clock |
                                          LinkControl::extended_synch | config.active_states |
                                          (disables_flits ? LinkControl::flit_mode_disable : 0);
  space.define({at + link_control, 2, root ? boundary : 0, own ? link_control_bits : 0});
  space.define({at + link_status, 2, own ? LinkStatus::slot_clock : 0, 0,
                above_link ? bandwidth_changes : 0});

  if (above_link)
    hot_plug_slot_.emplace(space, at + slot_capabilities, config.hot_plug, config.slot_number);
  if (root) {
    space.define({at + root_control, 2, 0, RootControlBit::all});
    space.define({at + root_capabilities, 2, RootCapabilitiesBit::retry_visible});
    space.define({at + root_status, 4, 0, 0, RootStatusBit::pme_status});
  }

  // Host memory completes AtomicOps of 32, 64 and 128 bits. A port which can have 16 GT/s, or which
  // requests with 10-bit tags, must also complete them. A switch sends no requests and completes
  // only configuration requests.
  const std::uint32_t ari = above_link ? DeviceCapabilities2::ari_forwarding : 0;
  const bool routes = of_switch || config.peers;
  const std::uint32_t ten_bit_tags =
      (config.generation >= 4 || config.ten_bit_tags ? DeviceCapabilities2::ten_bit_tag_completer
                                                     : 0) |
      (config.ten_bit_tags ? DeviceCapabilities2::ten_bit_tag_requester : 0);
  // PCIe 6.0, 7.5.3.15.
  const std::uint32_t deferrable_writes =
      (config.deferrable_writes > 0 ? DeviceCapabilities2::deferrable_write_completer : 0) |
      (config.deferrable_writes > 64 ? DeviceCapabilities2::deferrable_write_128 : 0);
  space.define(
      {at + device_capabilities_2, 4,
       ari | (routes ? DeviceCapabilities2::atomic_routing : 0) |
           (root ? DeviceCapabilities2::atomic_completer : 0) | ten_bit_tags | deferrable_writes |
           (of_switch
                ? 0
                : DeviceCapabilities2::timeout_ranges | DeviceCapabilities2::timeout_disable)});
  const std::uint32_t own_requests =
      of_switch ? 0
                : DeviceControl2::timeout_value | DeviceControl2::timeout_disable |
                      (root ? 0 : DeviceControl2::atomic_requester) | DeviceControl2::ido_request |
                      DeviceControl2::ido_completion |
                      (config.ten_bit_tags ? DeviceControl2::ten_bit_tag_requester : 0);
  const std::uint32_t forwarding = (above_link ? DeviceControl2::ari_forwarding : 0) |
                                   (routes ? DeviceControl2::atomic_egress_blocking : 0);
  space.define({at + device_control_2, 2, 0, own ? forwarding | own_requests : 0});
  // A port with 16 GT/s detects one or two retimers.
  space.define({at + link_capabilities_2, 4,
                speeds_vector(config.generation) << LinkCapabilities2Bit::speeds_shift |
                    (config.generation >= 4 ? LinkCapabilities2Bit::retimers : 0)});
  space.define({at + link_control_2, 2, own ? config.generation : 0,
                own ? LinkControl2Bit::target_speed : 0});
  space.define({at + link_status_2, 2});

  // 6.6.2: a reset of one function changes neither the link nor Max_Payload_Size.
  space.keep(Reset::function, at + device_control, 2, DeviceControl::max_payload);
  space.keep(Reset::function, at + link_control, 2, 0xffff);
  space.keep(Reset::function, at + link_status, 2, 0xffff);
  space.keep(Reset::hot, at + link_control_2, 2, 0xffff);  // 7.5.3.19: sticky
  space.keep(Reset::function, at + link_status_2, 2, 0xffff);
}

unsigned PciExpress::max_read_request() const {
  const std::uint32_t code = (read_device_control() & DeviceControl::max_read_request) >>
                             DeviceControl::read_request_shift;
  return std::min(128u << code, 4096u);
}

vp::Picoseconds PciExpress::completion_timeout(vp::Picoseconds preset) const {
  const std::uint32_t control = governor_->space_.get(governor_->offset_ + device_control_2, 2);
  if (control & DeviceControl2::timeout_disable) return vp::never;
  switch (control & DeviceControl2::timeout_value) {
    case 0x1:
      return 50 * vp::us;  // range A
    case 0x2:
      return 1 * vp::ms;
    case 0x5:
      return 16 * vp::ms;  // B
    case 0x6:
      return 65 * vp::ms;
    case 0x9:
      return 260 * vp::ms;  // C
    case 0xa:
      return 1 * vp::s;
    case 0xd:
      return 4 * vp::s;  // D
    case 0xe:
      return 17 * vp::s;
    default:
      return preset;
  }
}

void PciExpress::trained(unsigned generation, unsigned lanes, bool flits) {
  const std::uint32_t active = is_above_link(type_) ? LinkStatus::link_active : 0;
  const bool was_active = link_active();
  const std::uint32_t kept = space_.get(offset_ + link_status, 2) & bandwidth_changes;
  space_.set(
      offset_ + link_status, 2,
      generation | lanes << LinkStatus::width_shift | LinkStatus::slot_clock | active | kept);
  asked_to_retrain_ = false;
  if (hot_plug_slot_ && !was_active) hot_plug_slot_->link_changed();
  space_.set(offset_ + link_status_2, 2,
             (generation >= 3 ? LinkStatus2::equalized : 0) | (flits ? LinkStatus2::flit_mode : 0));
}

void PciExpress::recovering() {
  space_.change(offset_ + link_status, 2, LinkStatus::link_training, LinkStatus::link_training);
}

void PciExpress::retrained(unsigned generation, unsigned lanes) {
  constexpr std::uint32_t mode_bits = LinkStatus::speed | LinkStatus::width;
  const std::uint32_t before = space_.get(offset_ + link_status, 2);
  const std::uint32_t mode = generation | lanes << LinkStatus::width_shift;
  const bool managed = is_above_link(type_) && (asked_to_retrain_ || mode != (before & mode_bits));
  asked_to_retrain_ = false;
  space_.set(offset_ + link_status, 2,
             (before & ~(LinkStatus::link_training | mode_bits)) | mode |
                 (managed ? LinkStatus::bandwidth_management : 0));
  if (generation >= 3) {
    space_.change(offset_ + link_status_2, 2, LinkStatus2::equalized, LinkStatus2::equalized);
  }
}

bool PciExpress::consume_retrain() {
  const std::uint32_t control = space_.get(offset_ + link_control, 2);
  if (!is_above_link(type_) || !(control & LinkControl::retrain_link)) return false;
  space_.set(offset_ + link_control, 2, control & ~LinkControl::retrain_link);  // always reads 0
  asked_to_retrain_ = true;
  return true;
}

unsigned PciExpress::target_generation() const {
  const std::uint32_t target =
      space_.get(offset_ + link_control_2, 2) & LinkControl2Bit::target_speed;
  return std::clamp(target, 1u, generation_);
}

bool PciExpress::bandwidth_interrupting() const {
  // The enables of Link Control are four places below the changes of Link Status.
  const std::uint32_t enabled = space_.get(offset_ + link_control, 2) << 4;
  return space_.get(offset_ + link_status, 2) & enabled & bandwidth_changes;
}

void PciExpress::link_down(bool training) {
  if (hot_plug_slot_ && link_active()) hot_plug_slot_->link_changed();
  space_.change(offset_ + link_status, 2, LinkStatus::link_active | LinkStatus::link_training,
                training ? LinkStatus::link_training : 0);
}

bool PciExpress::link_active() const {
  return space_.any(offset_ + link_status, LinkStatus::link_active);
}

void PciExpress::set_transactions_pending(bool pending) {
  constexpr std::uint32_t bit = DeviceStatusBit::transactions_pending;
  space_.change(offset_ + device_status, 2, bit, pending ? bit : 0);
}

bool PciExpress::consume_reset() {
  const std::uint32_t control = space_.get(offset_ + device_control, 2);
  if (type_ != PortType::endpoint || !(control & DeviceControl::initiate_reset)) return false;
  space_.set(offset_ + device_control, 2, control & ~DeviceControl::initiate_reset);  // reads 0
  return true;
}

void PciExpress::detected(std::uint32_t errors) {
  space_.change(offset_ + device_status, 2, errors, errors);
}

}  // namespace pcie
