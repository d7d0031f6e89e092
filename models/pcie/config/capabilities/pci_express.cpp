// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/pci_express.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

// 128 to 4096 bytes as 0 to 5.
unsigned payload_code(unsigned bytes) {
  for (unsigned code = 0; code <= 5; ++code) {
    if (bytes == 128u << code) return code;
  }
  throw ConfigurationError(
      fmt::format("payload of {} bytes: 128 to 4096, a power of two, is possible", bytes));
}

constexpr std::uint32_t equalized = 0xfu << 1;  // Link Status 2: complete, and its phases
constexpr std::uint32_t flit_mode = 1u << 10;
constexpr std::uint32_t function_level_reset_capable = 1u << 28;
constexpr std::uint32_t initiate_reset = 1u << 15;
constexpr std::uint32_t any_exit_latency = 7u << 6 | 7u << 9;  // Device Capabilities: accepted
constexpr std::uint32_t transactions_pending = 1u << 5;
constexpr std::uint32_t link_training = 1u << 11;
constexpr std::uint32_t slot_clock = 1u << 12;
constexpr unsigned link_active_bit = 13;
constexpr std::uint32_t bandwidth_managed = 1u << 14;  // and its enable 10 of Link Control
constexpr std::uint32_t bandwidth_changes = 3u << 14;  // and autonomous ones, enable 11
constexpr std::uint32_t retrain_link = 1u << 5;        // Link Control

// Active states of the link and how long it takes to come out of them.
std::uint32_t sleep_capabilities(const PciExpressConfig& config) {
  const auto code = [&config](ActiveState state) {
    return config.active_states & state ? exit_latency_code(state, config.generation) : 0;
  };
  return config.active_states << 10 | code(l0s) << 12 | code(l1) << 15;
}

// Unlike the link speeds of the other registers, which are numbers, this is one bit a speed.
std::uint32_t speeds_vector(unsigned generation) {
  return (1u << generation) - 1;
}

}  // namespace

PciExpress::PciExpress(ConfigSpace& space, const PciExpressConfig& config,
                       const PciExpress* physical)
    : space_(space),
      governor_(physical != nullptr ? physical : this),
      offset_(space.add_capability(0x10, 0x3c)),
      supported_payload_(config.max_payload),
      generation_(config.generation),
      type_(config.type) {
  const unsigned payload = payload_code(config.max_payload);
  if (config.generation < 1 || config.generation > 6) {
    throw ConfigurationError(fmt::format("PCIe generation {}: 1 to 6", config.generation));
  }
  if (config.lanes < 1 || config.lanes > 16) {
    throw ConfigurationError(fmt::format("{} lanes: 1 to 16", config.lanes));
  }
  if (config.read_boundary != 64 && config.read_boundary != 128) {
    throw ConfigurationError(
        fmt::format("read completion boundary {}: 64 or 128 bytes", config.read_boundary));
  }
  if (config.deferrable_writes != 0 && config.deferrable_writes != 64 &&
      config.deferrable_writes != 128) {
    throw ConfigurationError(
        fmt::format("deferrable writes of {} bytes: 64 or 128", config.deferrable_writes));
  }
  if (config.active_states & ~unsigned{l0s | l1} ||
      (config.generation >= 6 && config.active_states & l0s)) {
    throw ConfigurationError("a link sleeps in L0s, but not in flit mode, and in L1");
  }
  const unsigned at = offset_;
  const bool root = config.type == PortType::root_port;
  const bool endpoint = config.type == PortType::endpoint;
  const bool above_link = is_above_link(config.type);
  const bool of_switch = !root && !endpoint;
  const bool own = physical == nullptr;

  space.define({at + 0x02, 2,
                2u | static_cast<unsigned>(config.type) << 4 | (above_link ? 1u << 8 : 0) |  // slot
                    (config.generation >= 6 ? 1u << 15 : 0)});  // flit mode
  space.define({at + 0x04, 4,
                payload | (config.extended_tags ? 1u << 5 : 0) | 1u << 15 |  // role-based errors
                    (endpoint ? function_level_reset_capable : 0) |
                    (endpoint && config.active_states != 0 ? any_exit_latency : 0)});
  // Errors 3:0, RO 4, payload 7:5, extended tag 8, no snoop 11, read request 14:12 = 512 bytes.
  const std::uint32_t device_control =
      0x000fu | 1u << 4 | 7u << 5 | (config.extended_tags ? 1u << 8 : 0) | 1u << 11 | 7u << 12;
  space.define({at + 0x08, 2, own ? 0x2810u : 0,
                (own ? device_control : 0) | (endpoint ? initiate_reset : 0)});
  space.define({at + 0x0a, 2, 0, 0, 0x000f});

  // Speed 3:0, width 9:4, ASPM 11:10 and its exit latencies 14:12 and 17:15, surprise down
  // reporting 19, link active reporting 20, bandwidth notification 21, ASPM optionality 22.
  space.define({at + 0x0c, 4,
                config.generation | config.lanes << 4 | sleep_capabilities(config) |
                    (above_link ? 7u << 19 : 0) | 1u << 22 | config.port_number << 24});
  // ASPM 1:0, as far as it is supported. RCB 3: fixed in a root port, software's in an
  // endpoint, and not a switch's. Link disable 4, retrain 5 and enables of bandwidth interrupts
  // 11:10 of a port above a link. Common clock 6, extended synch 7.
  const std::uint32_t boundary = config.read_boundary == 128 ? 1u << 3 : 0;
  const std::uint32_t link_control = (above_link ? 3u << 4 | 3u << 10
                                      : endpoint ? 1u << 3
                                                 : 0) |
                                     3u << 6 | config.active_states;
  space.define({at + 0x10, 2, root ? boundary : 0, own ? link_control : 0});
  // Bandwidth status 15:14 of a port above a link.
  space.define({at + 0x12, 2, own ? slot_clock : 0, 0, above_link ? bandwidth_changes : 0});

  if (above_link) slot_.emplace(space, at + 0x14, config.slot, config.slot_number);
  if (root) {
    space.define(
        {at + 0x1c, 2, 0, 0x001f});   // SERR on errors 2:0, PME interrupt 3, retry visible 4
    space.define({at + 0x1e, 2, 1});  // retries can be made visible
    space.define({at + 0x20, 4, 0, 0, 1u << 16});
  }

  // Timeouts in all ranges 3:0, and they can be disabled 4, ARI forwarded 5, AtomicOps routed 6 and
  // completed 9:7: host memory takes those of 32, 64 and 128 bits. 10-bit tags: who can have 16
  // GT/s, or gives such tags 17, must complete them 16. A switch asks for nothing, and completes
  // only configuration requests.
  const std::uint32_t ari = above_link ? 1u << 5 : 0;
  const bool routes = of_switch || config.peers;
  const std::uint32_t completer = root ? 7u << 7 : 0;
  const std::uint32_t ten_bit_tags =
      (config.generation >= 4 || config.ten_bit_tags ? 1u << 16 : 0) |
      (config.ten_bit_tags ? 1u << 17 : 0);
  // DMWr completer 28, of 128 bytes 29 (PCIe 6.0, 7.5.3.15).
  const std::uint32_t deferrable_writes = (config.deferrable_writes > 0 ? 1u << 28 : 0) |
                                          (config.deferrable_writes > 64 ? 1u << 29 : 0);
  space.define({at + 0x24, 4,
                ari | (routes ? 1u << 6 : 0) | completer | ten_bit_tags | deferrable_writes |
                    (of_switch ? 0 : 0xfu | 1u << 4)});
  // Timeout 3:0, its disable 4, ARI forwarding 5, AtomicOp requester 6 and egress blocking 7, IDO
  // of requests and completions 9:8, 10-bit tag requester 12.
  const std::uint32_t own_requests = of_switch ? 0
                                               : 0xfu | 1u << 4 | (root ? 0 : 1u << 6) | 3u << 8 |
                                                     (config.ten_bit_tags ? 1u << 12 : 0);
  space.define({at + 0x28, 2, 0, own ? ari | (routes ? 1u << 7 : 0) | own_requests : 0});
  // Speeds 7:1; a port of 16 GT/s detects one retimer 23, and two 24.
  space.define({at + 0x2c, 4,
                speeds_vector(config.generation) << 1 | (config.generation >= 4 ? 3u << 23 : 0)});
  space.define({at + 0x30, 2, own ? config.generation : 0, own ? 0xfu : 0});  // target speed
  space.define({at + 0x32, 2});

  // 6.6.2: a reset of one function does not change the link, nor Max_Payload_Size.
  space.keep(Reset::function, at + 0x08, 2, 7u << 5);
  space.keep(Reset::function, at + 0x10, 2, 0xffff);
  space.keep(Reset::function, at + 0x12, 2, 0xffff);
  space.keep(Reset::hot, at + 0x30, 2, 0xffff);  // 7.5.3.19: sticky
  space.keep(Reset::function, at + 0x32, 2, 0xffff);
}

unsigned PciExpress::max_payload() const {
  return std::min(128u << (device_control() >> 5 & 7), supported_payload_);
}

unsigned PciExpress::max_read_request() const {
  return std::min(128u << (device_control() >> 12 & 7), 4096u);
}

vp::Picoseconds PciExpress::completion_timeout(vp::Picoseconds preset) const {
  const std::uint32_t control = governor_->space_.get(governor_->offset_ + 0x28, 2);
  if (control & 1u << 4) return vp::never;
  switch (control & 0xf) {
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
  const std::uint32_t active = is_above_link(type_) ? 1u << link_active_bit : 0;
  const bool was_active = link_active();
  const std::uint32_t kept = space_.get(offset_ + 0x12, 2) & bandwidth_changes;
  space_.set(offset_ + 0x12, 2, generation | lanes << 4 | slot_clock | active | kept);
  asked_to_retrain_ = false;
  if (slot_ && !was_active) slot_->link_changed();
  space_.set(offset_ + 0x32, 2, (generation >= 3 ? equalized : 0) | (flits ? flit_mode : 0));
}

void PciExpress::recovering() {
  space_.set(offset_ + 0x12, 2, space_.get(offset_ + 0x12, 2) | link_training);
}

void PciExpress::retrained(unsigned generation, unsigned lanes) {
  const std::uint32_t before = space_.get(offset_ + 0x12, 2);
  const std::uint32_t mode = generation | lanes << 4;
  const bool managed = is_above_link(type_) && (asked_to_retrain_ || mode != (before & 0x3ff));
  asked_to_retrain_ = false;
  space_.set(offset_ + 0x12, 2,
             (before & ~(link_training | 0x3ffu)) | mode | (managed ? bandwidth_managed : 0));
  if (generation >= 3) {
    space_.set(offset_ + 0x32, 2, space_.get(offset_ + 0x32, 2) | equalized);
  }
}

bool PciExpress::take_retrain() {
  const std::uint32_t control = space_.get(offset_ + 0x10, 2);
  if (!is_above_link(type_) || !(control & retrain_link)) return false;
  space_.set(offset_ + 0x10, 2, control & ~retrain_link);  // it always reads 0
  asked_to_retrain_ = true;
  return true;
}

unsigned PciExpress::target_generation() const {
  return std::clamp(space_.get(offset_ + 0x30, 2) & 0xf, 1u, generation_);
}

bool PciExpress::bandwidth_interrupting() const {
  const std::uint32_t enabled = space_.get(offset_ + 0x10, 2) << 4;
  return space_.get(offset_ + 0x12, 2) & enabled & bandwidth_changes;
}

void PciExpress::link_down(bool training) {
  if (slot_ && link_active()) slot_->link_changed();
  const std::uint32_t others =
      space_.get(offset_ + 0x12, 2) & ~(1u << link_active_bit | link_training);
  space_.set(offset_ + 0x12, 2, others | (training ? link_training : 0));
}

bool PciExpress::link_active() const {
  return space_.test(offset_ + 0x12, link_active_bit);
}

void PciExpress::set_transactions_pending(bool pending) {
  const std::uint32_t others = space_.get(offset_ + 0x0a, 2) & ~transactions_pending;
  space_.set(offset_ + 0x0a, 2, others | (pending ? transactions_pending : 0));
}

bool PciExpress::take_reset() {
  const std::uint32_t control = space_.get(offset_ + 0x08, 2);
  if (type_ != PortType::endpoint || !(control & initiate_reset)) return false;
  space_.set(offset_ + 0x08, 2, control & ~initiate_reset);  // it always reads 0
  return true;
}

void PciExpress::detected(std::uint32_t device_status) {
  space_.set(offset_ + 0x0a, 2, space_.get(offset_ + 0x0a, 2) | device_status);
}

}  // namespace pcie
