// SPDX-License-Identifier: Apache-2.0
#include "models/oae/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "oae_registers.h"

namespace oae {
namespace {

constexpr unsigned slice_bits = 64;
constexpr std::uint64_t min_rate = 1'000'000'000;
constexpr std::uint64_t max_rate = 1'600'000'000'000;
constexpr std::uint64_t no_edge = ~std::uint64_t{0};

const char* state_name(unsigned state) {
  switch (state) {
    case OAE_LINK_STATE_DOWN:
      return "down";
    case OAE_LINK_STATE_INITIALISING:
      return "initialising";
    case OAE_LINK_STATE_JOINED:
      return "joined";
    case OAE_LINK_STATE_IDLE:
      return "idle";
    case OAE_LINK_STATE_TENTATIVE:
      return "tentative";
    case OAE_LINK_STATE_REFLECTING:
      return "reflecting";
    case OAE_LINK_STATE_COMMITTING:
      return "committing";
    case OAE_LINK_STATE_REVERSING:
      return "reversing";
    default:
      return "in_doubt";
  }
}

}  // namespace

Link::Link(const sc_core::sc_module_name& name, const LinkConfig& config, vp::Domain& domain,
           vp::Trace& trace, vp::Statistics& statistics)
    : sc_module(name),
      registers("registers"),
      irq("irq", config.irq_line),
      config_(config),
      domain_(domain),
      grid_(std::max<std::uint64_t>(1, config.rate / (slices * slice_bits))),
      trace_(trace),
      rtl_(make_link_rtl(config.checked)),
      clock_(domain, [this] { tick(); }),
      wire_(
          domain, grid_, this->name(), [this] { schedule(); }, config.bit_error_rate, config.seed) {
  if (config.rate < min_rate || config.rate > max_rate) {
    throw ConfigurationError(
        fmt::format("a link of {} bit/s: 1 Gb/s to 1.6 Tb/s are possible", config.rate));
  }
  if (config.rate % (slices * slice_bits) != 0) {
    throw ConfigurationError(fmt::format(
        "a link of {} bit/s: its clock, of 512 bits, is not a whole number of Hz", config.rate));
  }
  registers.register_b_transport(this, &Link::b_transport);
  const std::string prefix = std::string(this->name()) + ".";
  statistics.counter(prefix + "clocks", clocks_);
  statistics.counter(prefix + "firmware_accesses", accesses_seen_);
  statistics.counter(prefix + "groups_sent", wire_.counts().sent);
  statistics.counter(prefix + "groups_lost", wire_.counts().lost);
  statistics.counter(prefix + "groups_damaged", wire_.counts().damaged);
  rtl_->tx_ready = 1;
  rtl_->axi_bready = 1;
  rtl_->axi_rready = 1;
  reset(*rtl_, 0);  // the card had power long before time 0
  schedule();
}

Link::~Link() = default;

void Link::lose_power() {
  if (!std::exchange(powered_, false)) return;
  clock_.cancel();
  next_ = std::max(next_, grid_.after(vp::now()));
  reset(*rtl_, next_);
  accesses_.abandon(*rtl_);
  wire_.send(next_++, Group{});
  show();
}

void Link::power_up() {
  if (std::exchange(powered_, true)) return;
  next_ = std::max(next_, grid_.after(vp::now()));
  reset(*rtl_, next_);
  wire_.lose_arrivals(grid_.time(next_++));
  schedule();
}

void Link::connect(Link& a, Link& b, vp::Picoseconds delay) {
  if (a.config_.rate != b.config_.rate) {
    throw ConfigurationError("both ends of a link have one rate");
  }
  WireEnd<Group>::connect(a.wire_, b.wire_, delay);
}

void Link::cut(bool is_cut) {
  wire_.cut(is_cut, rtl_->tx_valid);
}

void Link::damage(unsigned bit) {
  wire_.damage(bit);
}

// The firmware.

void Link::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const tlm::tlm_response_status status = check(payload, 8, OAE_LINK_SIZE);
  payload.set_response_status(powered_ ? status : tlm::TLM_GENERIC_ERROR_RESPONSE);
  if (!payload.is_response_ok()) return;
  RegisterAccess access(payload, vp::now() + static_cast<vp::Picoseconds>(delay.value()));
  accesses_.push(access);
  ++accesses_seen_;
  schedule();
  accesses_.wait_for(access);
  delay = sc_core::SC_ZERO_TIME;
  access.answer(payload);
}

// The clock.

// Schedules the next edge at which there is something to do.
void Link::schedule() {
  if (ticking_ || !powered_) return;
  const LinkRtl& end = *rtl_;
  std::uint64_t edge = no_edge;
  if (end.busy || end.tx_kind != 0 || wire_.differs(end.tx_valid) || accesses_.in_work()) {
    edge = next_;
  }
  if (wire_.waits()) edge = std::min(edge, grid_.after(wire_.arrival()));
  if (accesses_.waiting()) edge = std::min(edge, grid_.after(accesses_.arrival()));
  if (end.deadline_valid) edge = std::min<std::uint64_t>(edge, end.deadline);
  if (edge == no_edge) return clock_.cancel();
  due_ = std::max(next_, edge);
  clock_.at(grid_.time(due_));
}

void Link::tick() {
  ticking_ = true;
  LinkRtl& end = *rtl_;
  next_ = due_;
  present();
  end.now = next_;
  end.settle();
  accesses_.sample(end, end.axi_awready || end.axi_arready);
  send();
  end.rise();
  ++next_;
  ++clocks_;
  accesses_.release(end);
  show();
  accesses_.finish();
  ticking_ = false;
  schedule();
}

// Puts the slices that have arrived on the pins.
void Link::present() {
  LinkRtl& end = *rtl_;
  const vp::Picoseconds now = grid_.time(next_);
  const Group group = wire_.receive(now);
  end.rx_kind = group.kinds;
  std::memcpy(end.rx_data, group.data, sizeof group.data);
  end.rx_valid = group.carrier;
  accesses_.present(end, now);
}

void Link::send() {
  const LinkRtl& end = *rtl_;
  Group group{};
  group.carrier = end.tx_valid;
  group.kinds = end.tx_kind;
  std::memcpy(group.data, end.tx_data, sizeof group.data);
  wire_.send(next_, group);
}

// Shows other models what the last edge changed.
void Link::show() {
  const LinkRtl& end = *rtl_;
  if (trace_.on()) {
    const auto record = [this](const char* machine, unsigned& before, unsigned after,
                               std::uint32_t number) {
      if (before != after) {
        trace_.write(
            "{{\"t\":{},\"link\":\"{}\",\"machine\":\"{}\",\"number\":{},\"from\":\"{}\",\"to\":\"{"
            "}\"}}",
            vp::now(), name(), machine, number, state_name(before), state_name(after));
      }
      before = after;
    };
    record("phase", phase_, end.trace_phase, 0);
    record("sender", sender_, end.trace_sender, end.trace_sent);
    record("receiver", receiver_, end.trace_receiver, end.trace_expected);
  }
  irq.set(end.irq);
}

}  // namespace oae
