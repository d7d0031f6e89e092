// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <optional>

#include "models/pcie/config/capabilities/device_3.h"
#include "models/pcie/config/capabilities/lane_margining.h"
#include "models/pcie/config/capabilities/pci_express.h"
#include "models/pcie/config/capabilities/power_management.h"
#include "models/pcie/config/capabilities/sr_iov.h"
#include "models/pcie/config/config_space.h"
#include "models/pcie/config/error_reporting.h"
#include "models/pcie/config/header.h"
#include "models/pcie/endpoint/function_config.h"
#include "vp/time/time.h"

namespace pcie {

/// What the requester, the completer and the interrupts of a function share: who it is, the
/// registers that say what it may do, its errors, and the way up.
class FunctionCore {
 public:
  /// What all functions of an endpoint share.
  struct Common {
    unsigned generation;
    unsigned lanes;
    unsigned max_payload;  ///< supported, bytes
    unsigned tags;         ///< requests outstanding, 32, 256 or 768
    vp::Picoseconds completion_timeout;
    bool multi_function;
    bool alternative_routing;  ///< ARI
    unsigned active_states;    ///< that the link may go into
    Eye eye;                   ///< of the receiver
  };
  /// The endpoint below.
  class Uplink {
   public:
    virtual ~Uplink() = default;
    virtual bool up() const = 0;
    virtual void transmit(TlpPtr tlp) = 0;
    /// Posted requests wait for credits; Function::unblocked() follows.
    virtual bool full() const = 0;
    /// Device logic has not yet taken a write, and then it has; between, none may follow.
    virtual void hold() = 0;
    virtual void let_go() = 0;
  };
  /// What makes a function virtual.
  struct Virtual {
    FunctionCore& physical;
    const SrIov& sr_iov;
    unsigned index;  ///< from 0
  };

  /// `name`, for the log, lives as long; a physical function is virtual `of` none. Throws
  /// ConfigurationError if a value is impossible.
  FunctionCore(const char* name, unsigned number, const FunctionConfig& config,
               const Common& common, Uplink& uplink, const std::optional<Virtual>& of);
  FunctionCore(const FunctionCore&) = delete;

  const char* name() const { return name_; }
  spdlog::logger& log() const { return log_; }
  unsigned number() const { return number_; }
  bool is_virtual() const { return physical_ != nullptr; }
  /// From 1 on; 0 of a physical function.
  unsigned virtual_number() const { return virtual_number_; }
  const Common& common() const { return common_; }
  Uplink& uplink() { return uplink_; }

  ConfigSpace& space() { return space_; }
  EndpointHeader& header() { return *header_; }
  PowerManagement& power() { return power_; }
  PciExpress& express() { return express_; }
  const PciExpress& express() const { return express_; }
  const ErrorReporting& errors() const { return errors_; }

  /// As captured from the last configuration write; of a virtual function by its physical one.
  Id id() const { return id_; }
  void capture(Id id) { id_ = id; }
  /// Whether no reset is in progress; until then configuration is answered with a retry.
  bool ready() const { return vp::now() >= ready_; }
  void be_ready_after(vp::Picoseconds delay) { ready_ = vp::now() + delay; }
  bool d0() const { return power_.d0() && (physical_ == nullptr || physical_->power_.d0()); }
  /// Whether software lets it use tags of 10 bits.
  bool ten_bit_tags() const {
    return sr_iov_ != nullptr ? sr_iov_->ten_bit_tags() : express_.ten_bit_tags();
  }
  /// Most bytes of a deferrable write that device logic takes; 0: it takes none.
  unsigned deferrable_writes() const { return deferrable_writes_; }
  bool requests_deferrable_writes() const {
    return device_3_ && device_3_->requests_deferrable_writes();
  }
  bool may_master() const { return header_->master_enabled() && d0() && uplink_.up(); }

  /// Sends a packet that this function is the origin of, with a digest where software wants that.
  void send(TlpPtr tlp) {
    tlp->header.ecrc = errors_.advanced().generates_digests();  // 2.7.1
    uplink_.transmit(std::move(tlp));
  }
  /// An error of this function; `tlp` is at fault, if one is. Logged, and told of if software asks.
  void report(Error error, const Tlp* tlp);
  /// The same without telling, which is left to the caller.
  std::optional<Severity> log_error(Error error, const Tlp* tlp);
  void tell(Severity severity);

 private:
  const char* const name_;
  spdlog::logger& log_;
  const unsigned number_;
  FunctionCore* const physical_;  // of a virtual function
  const SrIov* const sr_iov_;     // and which enables it
  const unsigned virtual_number_;
  const Common common_;
  Uplink& uplink_;
  Id id_;
  vp::Picoseconds ready_ = 0;

  ConfigSpace space_;
  const std::unique_ptr<EndpointHeader> header_;
  PowerManagement power_;
  PciExpress express_;
  ErrorReporting errors_;
  const unsigned deferrable_writes_;
  std::optional<Device3> device_3_;
};

}  // namespace pcie
