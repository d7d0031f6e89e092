// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/pcie/config/capabilities/sr_iov.h"
#include "models/pcie/config/link_capabilities.h"
#include "models/pcie/endpoint/access.h"
#include "models/pcie/endpoint/completer.h"
#include "models/pcie/endpoint/function_config.h"
#include "models/pcie/endpoint/function_core.h"
#include "models/pcie/endpoint/interrupts.h"
#include "models/pcie/endpoint/requester.h"
#include "vp/statistics/statistics.h"
#include "vp/time/domain.h"

namespace pcie {

/// A function of an endpoint: its configuration space, its resets and its virtual functions. A
/// completer, a requester and interrupts connect TLPs with device logic by the protocol of
/// access.h. Several reads may be outstanding on either socket; the payload identifies them. Timing
/// annotations are not used.
///
/// The virtual functions of a physical function are functions, too, with these differences (9.3).
/// They exist while the SR-IOV capability enables them, and answer `initialisation` later. The
/// capability gives them IDs and BARs. The controls that 9.3.5 lists are those of the physical
/// function, and in D3hot of the physical function they are in D3hot as well. Any reset of the
/// physical function removes them.
class Function : public sc_core::sc_module, public InterruptModesIf {
 public:
  using Common = FunctionCore::Common;
  using Uplink = FunctionCore::Uplink;

  /// Leads to device logic, in pieces of up to 64 bytes that cross no multiple of 64. If it is not
  /// bound, only accesses to the MSI-X registers are supported.
  Completer::Socket bar;
  /// Comes from device logic; any number of initiators may bind. The function refuses an access at
  /// once with one of these responses:
  ///   - TLM_COMMAND_ERROR_RESPONSE while Bus Master is disabled, outside of D0 or without a link,
  ///     and for an AtomicOp while AtomicOp Requester Enable is 0;
  ///   - TLM_BURST_ERROR_RESPONSE for 0 or more than 4096 bytes, or for operands of a size that the
  ///     AtomicOp does not have;
  ///   - TLM_ADDRESS_ERROR_RESPONSE for operands that are not aligned to their size.
  /// A completion timeout, or a reset while the access is outstanding, ends it with
  /// TLM_GENERIC_ERROR_RESPONSE. A write without room is accepted after the writes before it have
  /// left.
  Requester::Socket dma;
  sc_core::sc_export<InterruptModesIf> interrupt;

  /// The function's position among the functions of its endpoint.
  struct Place {
    unsigned number = 0;
    unsigned next = 0;                ///< next function of the ARI chain, 0 at its end
    const Function* first = nullptr;  ///< nullptr for function 0 itself and for virtual functions
    Function* lowest_with_sr_iov = nullptr;  ///< nullptr if this function is that one
    /// Distance in routing IDs from function 0 to this function's first virtual function.
    unsigned first_virtual = 1;                ///< with ARI
    unsigned first_virtual_without_ari = 256;  ///< without ARI
  };

  /// Throws ConfigurationError if a value is impossible.
  Function(const sc_core::sc_module_name& name, const Place& place, const FunctionConfig& config,
           const Common& common, Uplink& uplink, vp::Domain& domain, vp::Statistics& statistics);

  /// Virtual function `index`, from 0, also if it is disabled.
  Function& virtual_function(unsigned index) { return *virtual_functions_.at(index); }
  /// Whether software can see the function; a virtual function exists while it is enabled.
  bool exists() const { return exists_; }

  void signal(unsigned vector) override { interrupts_.signal(vector); }
  InterruptMode interrupt_mode() const override { return interrupts_.mode(); }
  unsigned interrupt_vectors() const override { return interrupts_.vectors(); }
  void set_intx(bool level) override { interrupts_.set_intx(level); }
  /// Calls `action` at any reset of the function, on behalf of the device logic behind it. Several
  /// actions are called in the order in which they were given.
  void on_reset(std::function<void()> action) { on_reset_.push_back(std::move(action)); }
  /// Calls `action` when the power of the function has gone, before the actions of on_reset(). A
  /// virtual function has power also while it does not exist.
  void on_power_loss(std::function<void()> action) { on_power_loss_ = std::move(action); }
  /// Calls `action` when the function has power again, before its link is up.
  void on_power_up(std::function<void()> action) { on_power_up_ = std::move(action); }

  Id id() const { return core_.id(); }
  ConfigSpace& config_space() { return core_.space(); }
  bool may_master() const { return core_.may_master(); }

  // The remaining members are for the endpoint.
  void reset(Reset kind);
  void powered_up() const;
  /// The function in whose BAR the request lies: this one, one of its virtual functions, or
  /// nullptr.
  Function* claiming(const Tlp& request);
  /// The enabled virtual function with that ID, or nullptr.
  Function* virtual_function_of(Id id);
  void receive_config(const Tlp& request);
  void receive_write(TlpPtr request) { completer_.write(std::move(request)); }
  /// Handles a memory read or a deferrable write.
  void receive_read(TlpPtr request) { completer_.read(std::move(request)); }
  void receive_completion(const Tlp& completion) { requester_.receive_completion(completion); }
  /// Must be called for a physical function when posted requests can leave again.
  void unblocked();
  void send(TlpPtr tlp) { core_.send(std::move(tlp)); }
  bool checks_digests() const { return core_.errors().advanced().checks_digests(); }
  /// Answers a request that this function does not support with Unsupported Request.
  void refuse(const Tlp& request) { completer_.refuse(request); }
  void trained(unsigned generation, unsigned lanes, unsigned partner, bool flits);
  void retrained(unsigned generation, unsigned lanes);
  void lane_failed(unsigned lane);
  unsigned active_states() const { return core_.express().active_states(); }
  bool extended_synch() const { return core_.express().extended_synch(); }
  unsigned deferrable_writes() const { return core_.deferrable_writes(); }
  unsigned max_payload() const { return core_.max_payload(); }
  void report(Error error, const Tlp* tlp) { core_.report(error, tlp); }
  std::optional<Severity> log(Error error, const Tlp* tlp) { return core_.log_error(error, tlp); }
  bool send_error_message(Severity severity) { return core_.send_error_message(severity); }

 private:
  Function(const sc_core::sc_module_name& name, const Place& place, Function* physical,
           unsigned index, const FunctionConfig& config, const Common& common, Uplink& uplink,
           vp::Domain& domain, vp::Statistics& statistics);

  void update_virtual_functions();
  void appear();
  void vanish(Reset kind);
  void map() { completer_.map(exists_); }
  void send_waiting();

  const bool physical_;
  bool exists_;
  const vp::Picoseconds initialisation_;
  const vp::Picoseconds reset_time_;
  std::vector<std::function<void()>> on_reset_;
  std::function<void()> on_power_loss_;
  std::function<void()> on_power_up_;

  std::optional<SrIov> sr_iov_;
  FunctionCore core_;
  Interrupts interrupts_;
  Completer completer_;
  Requester requester_;
  std::optional<LinkCapabilities> link_capabilities_;  // function 0 only
  std::vector<std::unique_ptr<Function>> virtual_functions_;
  std::size_t first_ = 0;  // who is first to send: 0 is this function, n its virtual function n - 1
};

}  // namespace pcie
