// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/link/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/pcie/protocol/configuration_error.h"
#include "models/pcie/protocol/max_payload.h"

namespace pcie {

Link::Link(const sc_core::sc_module_name& name, const LinkConfig& config, Port& upstream,
           Port& downstream, vp::Trace& trace, vp::Statistics& statistics)
    : sc_module(name),
      config_(config),
      mode_(config, upstream.port_config(), downstream.port_config()),
      context_{
          this->name(), config_, mode_, trace,
          (upstream.port_config().active_states & downstream.port_config().active_states) != 0},
      recovery_(config_, upstream, halves_),
      halves_{{{context_, mode_, recovery_, halves_[1], Direction::down, upstream, downstream},
               {context_, mode_, recovery_, halves_[0], Direction::up, downstream, upstream}}},
      down_(downstream.domain(), [this] { go_down(); }),
      powered_up_(downstream.domain(),
                  [this] { halves_[index(Direction::down)].to().powered_up(); }) {
  if (config.latency_down < 0 || config.latency_up < 0 || config.training < 0 ||
      config.power_up < 0 || config.l0s_after < 0 || config.l1_after < 0) {
    throw ConfigurationError(fmt::format("{}: a time must not be negative", this->name()));
  }
  max_payload_code(config.max_payload);  // or throws
  for (const Port* port : {&upstream, &downstream}) {
    if (port->link_ != nullptr) {
      throw ConfigurationError(fmt::format("{}: a port already has a link", this->name()));
    }
  }
  for (HalfLink& half : halves_) {
    Port& from = half.from();
    Port& to = half.to();
    from.link_ = this;
    from.link_up_ = true;
    if (half.crosses()) to.domain().add_peer(from.domain(), half.min_latency());
    half.add_counters(statistics);
    half.watch_idle_wire();
  }
  upstream.trained(generation(), lanes());
  downstream.trained(generation(), lanes());
}

void Link::hold(Reset kind) {
  HalfLink& down = halves_[index(Direction::down)];
  for (HalfLink& half : halves_) half.cancel_training();
  recovery_.cancel();
  down.from().link_up_ = false;
  std::vector<TlpPtr> not_sent = down.drop_waiting();
  // A second reset merges with one that has not reached the port downstream yet.
  kind_ = down_.pending() ? std::min(kind_, kind) : kind;
  if (kind == Reset::cold) {
    unpowered_ = true;
    powered_up_.cancel();
  }
  if (!down_.pending()) down_.after(down.min_latency());
  down.from().link_lost(kind);
  for (TlpPtr& tlp : not_sent) down.from().not_sent(std::move(tlp));
}

void Link::go_down() {
  Port& downstream = halves_[index(Direction::down)].to();
  downstream.link_up_ = false;
  for (HalfLink& half : halves_) half.clear();
  downstream.link_lost(kind_);
}

void Link::restore_power() {
  if (std::exchange(unpowered_, false)) {
    powered_up_.after(config_.power_up + min_latency(Direction::down));
  }
}

void Link::release(Reset kind) {
  // After a fundamental reset, the link is trained before the host's first instruction.
  const vp::Picoseconds least = min_latency(Direction::down) + min_latency(Direction::up);
  const vp::Picoseconds span =
      kind == Reset::fundamental ? least : std::max(config_.training, least);
  // Training begins when there is power, which the component below notices one latency later.
  vp::Picoseconds begin = 0;
  if (powered_up_.pending()) {
    begin = powered_up_.when() - min_latency(Direction::down) - vp::now();
    begin = std::max<vp::Picoseconds>(begin, 0);
  }
  // The port downstream has been reset, so it does not disable flit mode.
  mode_.train(upstream().target_generation(), upstream().flits_disabled());
  for (HalfLink& half : halves_) {
    if (!down_.pending()) half.restart();
    half.come_up_after(begin + span);
  }
}

bool Link::retrain() {
  if (!upstream().link_up_) return false;
  mode_.choose(upstream().target_generation());
  recovery_.enter(upstream());
  return true;
}

void Link::keep_awake() {
  for (HalfLink& half : halves_) half.keep_awake(vp::now());
}

bool Link::inject(Direction direction, const Fault& fault) {
  if (!is_possible(direction, fault)) return false;
  HalfLink& half = halves_[index(direction)];
  if (fault.type) {
    half.faults().await(fault);
  } else {
    half.faults().schedule(vp::now() + half.min_latency(), fault.error);
  }
  return true;
}

bool Link::fail_lane(Direction direction, unsigned lane) {
  if (!mode_.announce_loss(lane)) return false;
  HalfLink& half = halves_[index(direction)];
  half.faults().fail_lane(vp::now() + half.min_latency(), lane);
  return true;
}

}  // namespace pcie
