// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/endpoint/function.h"

#include <fmt/format.h>

#include <utility>

#include "models/pcie/config/capabilities/alternative_routing.h"
#include "models/pcie/config/capabilities/serial_number.h"
#include "models/pcie/config/config_request.h"
#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

FunctionConfig virtual_config(const FunctionConfig& physical) {
  FunctionConfig config = physical;
  config.bars = physical.virtual_functions.bars;
  config.msi_x = physical.virtual_functions.msi_x;
  config.virtual_functions = {};
  config.interrupt_pin = 0;
  config.serial_number.reset();
  return config;
}

}  // namespace

Function::Function(const sc_core::sc_module_name& name, const Place& place,
                   const FunctionConfig& config, const Common& common, Uplink& uplink,
                   vp::Domain& domain, vp::Statistics& statistics)
    : Function(name, place, nullptr, 0, config, common, uplink, domain, statistics) {}

Function::Function(const sc_core::sc_module_name& name, const Place& place, Function* physical,
                   unsigned index, const FunctionConfig& config, const Common& common,
                   Uplink& uplink, vp::Domain& domain, vp::Statistics& statistics)
    : sc_module(name),
      bar("bar"),
      dma("dma"),
      interrupt("interrupt"),
      physical_(physical == nullptr),
      exists_(physical_),
      initialisation_(config.initialisation),
      reset_time_(config.reset_time),
      core_(this->name(), place.number, config, common, uplink,
            physical != nullptr
                ? std::optional(FunctionCore::Virtual{physical->core_, *physical->sr_iov_, index})
                : std::nullopt,
            place.first != nullptr ? &place.first->core_ : nullptr),
      interrupts_(core_, config, requester_, statistics),
      completer_(core_, bar, config.bar_reads, interrupts_.msi_x(), domain, statistics),
      requester_(core_, dma, config.deferral, domain, statistics) {
  ConfigSpace& space = core_.space();
  if (config.serial_number) add_serial_number(space, *config.serial_number);
  if (common.alternative_routing) add_alternative_routing(space, place.next);
  if (physical_ && place.number == 0) {
    link_capabilities_.emplace(space, PortType::endpoint, common.generation, common.lanes,
                               common.eye);
  }
  if (const VirtualFunctionsConfig& virtual_functions = config.virtual_functions;
      virtual_functions.count > 0) {
    SrIov* lowest =
        place.lowest_with_sr_iov != nullptr ? &*place.lowest_with_sr_iov->sr_iov_ : nullptr;
    sr_iov_.emplace(
        space,
        SrIovConfig{virtual_functions.count, virtual_functions.device, virtual_functions.bars,
                    place.number, place.first_virtual - place.number,
                    place.first_virtual_without_ari - place.number, common.tags > 256},
        lowest);
    for (unsigned i = 0; i < virtual_functions.count; ++i) {
      virtual_functions_.emplace_back(new Function(fmt::format("vf{}", i).c_str(), {place.number},
                                                   this, i, virtual_config(config), common, uplink,
                                                   domain, statistics));
    }
  }
  // 6.6.2: a function level reset takes 100 ms at most.
  if (config.reset_time < 0 || config.reset_time > 100 * vp::ms || config.initialisation < 0) {
    throw ConfigurationError(
        "a reset takes 0 to 100 ms, and the initialisation time must not be negative");
  }
  interrupt.bind(*this);
}

void Function::reset(Reset kind) {
  interrupts_.release_intx();  // 6.6.2: Deassert_INTx precedes the reset, if there is a link
  core_.space().reset(kind);
  interrupts_.reset();
  if (kind == Reset::function) {
    core_.be_ready_after(reset_time_);
  } else if (physical_) {
    // A virtual function keeps the bus number of its device, which is not reset.
    core_.capture(make_alternative_id(0, core_.number()));
  }
  map();
  completer_.reset();
  requester_.reset();
  interrupts_.flush();  // what device logic has signalled in answer to the end of its writes
  if (kind == Reset::cold) {
    for (const auto& function : virtual_functions_) function->vanish(kind);
  }
  update_virtual_functions();
  if (kind == Reset::cold && on_power_loss_) on_power_loss_();
  for (const std::function<void()>& action : on_reset_) action();
}

void Function::trained(unsigned generation, unsigned lanes, unsigned partner, bool flits) {
  core_.express().trained(generation, lanes, flits);
  if (link_capabilities_) link_capabilities_->trained(generation, partner);
  core_.be_ready_after(initialisation_);
  interrupts_.update_intx();
}

void Function::retrained(unsigned generation, unsigned lanes) {
  core_.express().retrained(generation, lanes);
  if (link_capabilities_) link_capabilities_->retrained(generation);
}

void Function::lane_failed(unsigned lane) {
  if (link_capabilities_) link_capabilities_->lane_failed(lane);
}

void Function::unblocked() {
  // The function and its virtual functions take turns to be the first of those that find room.
  const std::size_t count = 1 + virtual_functions_.size();
  if (!core_.uplink().full()) first_ = (first_ + 1) % count;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t one = (first_ + i) % count;
    (one == 0 ? *this : *virtual_functions_[one - 1]).send_waiting();
  }
}

void Function::send_waiting() {
  interrupts_.flush();
  while (requester_.send_waiting()) {
    interrupts_.flush();  // before what device logic writes next
    requester_.answer_write();
  }
  requester_.issue();
}

// The next function handles configuration requests.

void Function::receive_config(const Tlp& request) {
  // 2.3.1: a retry is permitted after any reset, also after the return from D3hot.
  if (!core_.ready()) {
    return send(Tlp::completion(request, id(), Status::configuration_retry));
  }
  ConfigSpace& space = core_.space();
  if (!request.has_data()) {
    core_.express().set_transactions_pending(requester_.pending());
    return send(perform(request, space, id()));
  }
  if (physical_) {
    const Id target = request.header.target;
    core_.capture(core_.common().alternative_routing
                      ? make_alternative_id(bus_of(target), core_.number())
                      : make_id(bus_of(target), device_of(target), core_.number()));
  }
  send(perform(request, space, id()));
  const bool asked = core_.express().consume_reset();
  if (core_.power().consume_reset() || asked) return reset(Reset::function);
  // The completion must leave before anything that the write permits.
  map();
  update_virtual_functions();
  interrupts_.update_intx();
  interrupts_.flush();
  requester_.issue();
}

// The next functions handle virtual functions.

// Must be called after the SR-IOV capability, the routing ID or the power state may have changed.
void Function::update_virtual_functions() {
  if (!sr_iov_) return;
  for (unsigned i = 0; i < virtual_functions_.size(); ++i) {
    Function& function = *virtual_functions_[i];
    const bool exists = i < sr_iov_->count();
    if (function.exists_ && !exists) function.vanish(Reset::fundamental);
    function.core_.capture(sr_iov_->id_of(id(), i));
    if (!function.exists_ && exists) function.appear();
    function.map();
    function.interrupts_.flush();
    function.requester_.issue();
  }
}

// 9.2.1.2: a function that appears behaves as after a reset.
void Function::appear() {
  exists_ = true;
  core_.be_ready_after(initialisation_);
}

void Function::vanish(Reset kind) {
  exists_ = false;
  reset(kind);
}

void Function::powered_up() const {
  if (on_power_up_) on_power_up_();
  for (const auto& function : virtual_functions_) function->powered_up();
}

Function* Function::claiming(const Tlp& request) {
  if (completer_.claims(request)) return this;
  if (!sr_iov_) return nullptr;
  const unsigned index = sr_iov_->index_at(request.get_address());
  if (index == sr_iov_->count()) return nullptr;
  Function& function = *virtual_functions_[index];
  return function.completer_.claims(request) ? &function : nullptr;
}

Function* Function::virtual_function_of(Id id) {
  if (!sr_iov_) return nullptr;
  const unsigned index = sr_iov_->index_of(core_.id(), id);
  return index < sr_iov_->count() ? virtual_functions_[index].get() : nullptr;
}

}  // namespace pcie
