// SPDX-License-Identifier: Apache-2.0
#include "models/oae/window_link.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "oae_registers.h"

namespace oae {
namespace {

const char* phase_name(unsigned phase) {
  switch (phase) {
    case OAE_WINDOW_PHASE_DOWN:
      return "down";
    case OAE_WINDOW_PHASE_INITIALISING:
      return "initialising";
    case OAE_WINDOW_PHASE_JOINED:
      return "joined";
    default:
      return "up";
  }
}

}  // namespace

WindowLink::WindowLink(const sc_core::sc_module_name& name, const WindowLinkConfig& config,
                       EndPins& pins, const rtl::ClockGrid& grid, std::function<void()> changed,
                       vp::Domain& domain, vp::Trace& trace, vp::Statistics& statistics)
    : sc_module(name),
      registers("registers"),
      irq("irq", config.irq_line),
      pins_(pins),
      grid_(grid),
      changed_(std::move(changed)),
      trace_(trace),
      wire_(domain, grid, this->name(), changed_, config.bit_error_rate, config.seed) {
  static_assert(WireEnd<Group>::bits == bits_per_clock);
  registers.register_b_transport(this, &WindowLink::b_transport);
  pins_.axi_bready = pins_.axi_rready = 1;
  const std::string prefix = std::string(this->name()) + ".";
  statistics.counter(prefix + "firmware_accesses", accesses_seen_);
  statistics.counter(prefix + "groups_sent", wire_.counts().sent);
  statistics.counter(prefix + "groups_lost", wire_.counts().lost);
  statistics.counter(prefix + "groups_damaged", wire_.counts().damaged);
  statistics.counter(prefix + "passed", passed_);
  statistics.counter(prefix + "brought", brought_);
  statistics.counter(prefix + "strays", strays_);
}

void WindowLink::connect(WindowLink& a, WindowLink& b, vp::Picoseconds delay) {
  // Clocks that differ differ within a second.
  if (a.grid_.after(vp::s) != b.grid_.after(vp::s)) {
    throw ConfigurationError("both ends of a link have one rate");
  }
  WireEnd<Group>::connect(a.wire_, b.wire_, delay);
}

void WindowLink::cut(bool is_cut) {
  wire_.cut(is_cut, pins_.carrier_sent);
}

void WindowLink::damage(unsigned bit) {
  wire_.damage(bit);
}

void WindowLink::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const tlm::tlm_response_status status = check(payload, 8, OAE_WINDOW_SIZE);
  payload.set_response_status(powered_ ? status : tlm::TLM_GENERIC_ERROR_RESPONSE);
  if (!payload.is_response_ok()) return;
  RegisterAccess access(payload, vp::now() + static_cast<vp::Picoseconds>(delay.value()));
  accesses_.push(access);
  ++accesses_seen_;
  changed_();
  accesses_.wait_for(access);
  delay = sc_core::SC_ZERO_TIME;
  access.answer(payload);
}

std::uint64_t WindowLink::next_input() const {
  std::uint64_t edge = no_edge;
  if (wire_.waits()) edge = grid_.after(wire_.arrival());
  if (accesses_.waiting()) edge = std::min(edge, grid_.after(accesses_.arrival()));
  return edge;
}

void WindowLink::present(vp::Picoseconds now) {
  const Group group = wire_.receive(now);
  pins_.carrier_received = group.carrier;
  pins_.kind_received = group.kind;
  std::memcpy(pins_.data_received, group.data, sizeof group.data);
  accesses_.present(pins_, now);
}

void WindowLink::sample(std::uint64_t edge) {
  accesses_.sample(pins_, pins_.axi_awready || pins_.axi_arready);
  Group group{};
  group.carrier = pins_.carrier_sent;
  group.kind = pins_.kind_sent;
  std::memcpy(group.data, pins_.data_sent, sizeof group.data);
  wire_.send(edge, group);
}

void WindowLink::finish() {
  accesses_.release(pins_);
  accesses_.finish();
}

bool WindowLink::shows() const {
  return irq_level_ != static_cast<bool>(pins_.irq) || phase_ != pins_.phase ||
         !(progress_ == progress()) || moves_slots();
}

void WindowLink::lose_power(std::uint64_t edge) {
  powered_ = false;
  accesses_.abandon(pins_);
  wire_.send(edge, Group{});
  show();
}

void WindowLink::power_up(vp::Picoseconds now) {
  powered_ = true;
  wire_.lose_arrivals(now);
}

// Shows other models what the last edge changed.
void WindowLink::show() {
  passed_ += pins_.passes;
  brought_ += pins_.brings;
  strays_ += pins_.strays;
  if (trace_.on()) {
    if (phase_ != pins_.phase) {
      trace_.write(
          "{{\"t\":{},\"link\":\"{}\",\"machine\":\"phase\",\"number\":0,\"from\":\"{}\",\"to\":\"{"
          "}\"}}",
          vp::now(), name(), phase_name(phase_), phase_name(pins_.phase));
    }
    if (!(progress_ == progress())) {
      trace_.write(
          "{{\"t\":{},\"window\":\"{}\",\"sent\":{},\"settled\":{},\"expected\":{},\"done\":{}}}",
          vp::now(), name(), pins_.sent, pins_.settled, pins_.expected, pins_.done);
    }
    if (moves_slots()) {
      trace_.write("{{\"t\":{},\"{}\":\"{}\",\"passes\":{},\"brings\":{},\"strays\":{}}}",
                   vp::now(), pins_.owner, name(), pins_.passes, pins_.brings, pins_.strays);
    }
  }
  phase_ = pins_.phase;
  progress_ = progress();
  irq_level_ = pins_.irq;
  irq.set(irq_level_);
}

}  // namespace oae
