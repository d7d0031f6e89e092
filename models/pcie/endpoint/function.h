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

/// A function of an endpoint: its configuration space and resets, its virtual functions, and what
/// stands between TLPs and device logic, by the protocol of access.h: completer, requester and
/// interrupts. Several reads may be outstanding on either socket, told apart by their payload;
/// timing annotations are not used.
///
/// A physical function has its virtual ones, which are functions in every respect but these (9.3):
/// they are there while its SR-IOV capability enables them, answer after `initialisation`, have
/// the ids and BARs that it gives them, obey the controls that 9.3.5 says it has for all, and are
/// in D3hot when it is. A reset of the physical function in any way takes them away.
class Function : public sc_core::sc_module, public InterruptModesIf {
 public:
  using Common = FunctionCore::Common;
  using Uplink = FunctionCore::Uplink;

  /// To device logic, in pieces of up to 64 bytes that cross no multiple of 64; unbound, every
  /// access but those to the MSI-X table is an Unsupported Request.
  Completer::Socket bar;
  /// From device logic. A write or read while Bus Master is off, or outside of D0, or without a
  /// link, is refused at once by TLM_COMMAND_ERROR_RESPONSE, and so is an AtomicOp while AtomicOp
  /// Requester Enable is off; more than 4096 bytes, or none, or operands of a size that the
  /// AtomicOp does not have, by TLM_BURST_ERROR_RESPONSE; operands that are not aligned to their
  /// size by TLM_ADDRESS_ERROR_RESPONSE; a completion timeout, or a reset while the read or write
  /// is outstanding, is TLM_GENERIC_ERROR_RESPONSE. A write that finds the way up full is taken
  /// when those before it have left. Any number of initiators may bind.
  Requester::Socket dma;
  sc_core::sc_export<InterruptModesIf> interrupt;

  /// Where a function is among those of its endpoint.
  struct Place {
    unsigned number = 0;
    unsigned next = 0;                       ///< function of the chain of ARI; 0: none
    Function* lowest_with_sr_iov = nullptr;  ///< unless this is it
    unsigned first_virtual = 1;  ///< routing id of its first virtual function less that of function
                                 ///< 0, where ARI is known
    unsigned first_virtual_without_ari = 256;  ///< and where it is not
  };

  /// Throws ConfigurationError if a value is impossible.
  Function(const sc_core::sc_module_name& name, const Place& place, const FunctionConfig& config,
           const Common& common, Uplink& uplink, vp::Domain& domain, vp::Statistics& statistics);

  /// Virtual function `index`, from 0, whether it is enabled or not.
  Function& virtual_function(unsigned index) { return *virtual_functions_.at(index); }
  /// Whether software can see it: a virtual function while it is enabled.
  bool exists() const { return exists_; }

  void signal(unsigned vector) override { interrupts_.signal(vector); }
  InterruptMode interrupt_mode() const override { return interrupts_.mode(); }
  unsigned interrupt_vectors() const override { return interrupts_.vectors(); }
  void set_intx(bool level) override { interrupts_.set_intx(level); }
  /// Calls `action` when the function is reset in any way, for the device logic behind it.
  void on_reset(std::function<void()> action) { on_reset_ = std::move(action); }

  Id id() const { return core_.id(); }
  ConfigSpace& config_space() { return core_.space(); }
  bool may_master() const { return core_.may_master(); }

  // The endpoint's side.
  void reset(Reset kind);
  /// This function or a virtual one of it, or nullptr: in whose BAR a request is, or whose id it
  /// is.
  Function* claiming(const Tlp& request);
  Function* virtual_function_of(Id id);
  void receive_config(const Tlp& request);
  void receive_write(TlpPtr request) { completer_.write(std::move(request)); }
  /// Or a deferrable write.
  void receive_read(TlpPtr request) { completer_.read(std::move(request)); }
  void receive_completion(const Tlp& completion) { requester_.receive_completion(completion); }
  /// Posted requests can leave again.
  void unblocked();
  void send(TlpPtr tlp) { core_.send(std::move(tlp)); }
  bool checks_digests() const { return core_.errors().advanced().checks_digests(); }
  /// Answers a request, which nothing in this function takes, by Unsupported Request.
  void refuse(const Tlp& request) { completer_.refuse(request); }
  void trained(unsigned generation, unsigned lanes, bool flits);
  void retrained(unsigned generation, unsigned lanes);
  void lane_failed(unsigned lane);
  unsigned active_states() const { return core_.express().active_states(); }
  unsigned deferrable_writes() const { return core_.deferrable_writes(); }
  unsigned max_payload() const { return core_.express().max_payload(); }
  void report(Error error, const Tlp* tlp) { core_.report(error, tlp); }
  std::optional<Severity> log(Error error, const Tlp* tlp) { return core_.log_error(error, tlp); }
  void tell(Severity severity) { core_.tell(severity); }

 private:
  Function(const sc_core::sc_module_name& name, const Place& place, Function* physical,
           unsigned index, const FunctionConfig& config, const Common& common, Uplink& uplink,
           vp::Domain& domain, vp::Statistics& statistics);

  void update_virtual_functions();
  void appear();
  void vanish();
  void map() { completer_.map(exists_); }

  const bool physical_;
  bool exists_;
  const vp::Picoseconds initialisation_;
  const vp::Picoseconds reset_time_;
  std::function<void()> on_reset_;

  std::optional<SrIov> sr_iov_;
  FunctionCore core_;
  Interrupts interrupts_;
  Completer completer_;
  Requester requester_;
  std::optional<LinkCapabilities> link_capabilities_;  // of function 0
  std::vector<std::unique_ptr<Function>> virtual_functions_;
};

}  // namespace pcie
