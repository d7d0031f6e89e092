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
#include "models/pcie/protocol/completion_queue.h"
#include "vp/time/time.h"

namespace pcie {

/// What the requester, the completer and the interrupts of a function share: its identity, the
/// registers that permit or forbid accesses, its errors, and the port.
class FunctionCore {
 public:
  /// Properties that all functions of an endpoint share.
  struct Common {
    unsigned generation;
    unsigned lanes;
    unsigned max_payload;       ///< supported payload in bytes
    unsigned max_read_request;  ///< Max_Read_Request_Size after a reset, in bytes
    unsigned tags;              ///< outstanding requests, 32, 256 or 768
    vp::Picoseconds completion_timeout;
    bool multi_function;
    bool alternative_routing;  ///< ARI
    unsigned active_states;    ///< supported states, a set of ActiveState
    Eye eye;                   ///< eye of the receiver
    CompletionConfig completions;
    bool aligned_requests;  ///< see EndpointConfig
  };
  /// The endpoint's port.
  class Uplink {
   public:
    virtual ~Uplink() = default;
    virtual bool up() const = 0;
    virtual void transmit(TlpPtr tlp) = 0;
    /// Whether posted requests wait for credits; Function::unblocked() follows.
    virtual bool full() const = 0;
    /// Function `number` drives a pin, 1 to 4, which it shares with others, if the link is up.
    virtual void set_pin(unsigned number, unsigned pin, bool level) = 0;
    /// Device logic has not accepted a write yet. No other packet may follow before release().
    virtual void hold() = 0;
    virtual void release() = 0;
  };
  /// The additional properties of a virtual function.
  struct Virtual {
    FunctionCore& physical;
    const SrIov& sr_iov;
    unsigned index;  ///< counts from 0
  };

  /// `name` is for the log and must outlive the object. A physical function has no `of`. Throws
  /// ConfigurationError if a value is impossible. `first` is function 0, or nullptr for
  /// function 0 itself and for a virtual function.
  FunctionCore(const char* name, unsigned number, const FunctionConfig& config,
               const Common& common, Uplink& uplink, const std::optional<Virtual>& of,
               const FunctionCore* first);
  FunctionCore(const FunctionCore&) = delete;

  const char* name() const { return name_; }
  spdlog::logger& log() const { return log_; }
  unsigned number() const { return number_; }
  bool is_virtual() const { return physical_ != nullptr; }
  /// The number of a virtual function from 1, or 0 for a physical function.
  unsigned virtual_number() const { return virtual_number_; }
  const Common& common() const { return common_; }
  Uplink& uplink() { return uplink_; }

  ConfigSpace& space() { return space_; }
  EndpointHeader& header() { return *header_; }
  PowerManagement& power() { return power_; }
  PciExpress& express() { return express_; }
  const PciExpress& express() const { return express_; }
  const ErrorReporting& errors() const { return errors_; }
  /// The payload that the function's packets may have, in bytes. With ARI, function 0 decides for
  /// all (7.5.3.4).
  unsigned max_payload() const { return payload_governor_.max_payload(); }

  /// The ID of the last configuration write; a virtual function has one from its physical function.
  Id id() const { return id_; }
  void capture(Id id) { id_ = id; }
  /// Whether no reset is in progress. Until then, configuration requests get a retry.
  bool ready() const { return vp::now() >= ready_; }
  void be_ready_after(vp::Picoseconds delay) { ready_ = vp::now() + delay; }
  bool d0() const { return power_.d0() && (physical_ == nullptr || physical_->power_.d0()); }
  /// Whether software permits 10-bit tags.
  bool ten_bit_tags() const {
    return sr_iov_ != nullptr ? sr_iov_->ten_bit_tags() : express_.ten_bit_tags();
  }
  /// The longest deferrable write that device logic accepts, in bytes, or 0 without support.
  unsigned deferrable_writes() const { return deferrable_writes_; }
  bool requests_deferrable_writes() const {
    return device_3_ && device_3_->requests_deferrable_writes();
  }
  bool may_master() const { return header_->master_enabled() && d0() && uplink_.up(); }

  /// Sends a packet of this function, with a digest if software has enabled digests. Software must
  /// also have enabled the IDO attribute of completions.
  void send(TlpPtr tlp) {
    if (tlp->is_completion()) tlp->header.id_based_ordering &= express_.id_based_completions();
    tlp->header.ecrc = errors_.advanced().generates_digests();  // 2.7.1
    uplink_.transmit(std::move(tlp));
  }
  /// Logs an error of this function and reports it if software has enabled that. `tlp` is the TLP
  /// with the error, or nullptr.
  void report(Error error, const Tlp* tlp);
  /// Logs the error only. Returns the severity of the message about it, if any.
  std::optional<Severity> log_error(Error error, const Tlp* tlp);
  /// Sends a message if software has enabled that. Returns whether it was sent.
  bool send_error_message(Severity severity);
  /// The function has received a packet that is addressed to it.
  void received(const Tlp& tlp) { errors_.conventional().received(Side::primary, tlp); }

 private:
  const char* const name_;
  spdlog::logger& log_;
  const unsigned number_;
  FunctionCore* const physical_;  // virtual functions only
  const SrIov* const sr_iov_;     // virtual functions only: the capability that enables it
  const unsigned virtual_number_;
  const Common common_;
  Uplink& uplink_;
  Id id_;
  vp::Picoseconds ready_ = 0;

  ConfigSpace space_;
  const std::unique_ptr<EndpointHeader> header_;
  PowerManagement power_;
  PciExpress express_;
  const PciExpress& payload_governor_;
  ErrorReporting errors_;
  const unsigned deferrable_writes_;
  std::optional<Device3> device_3_;
};

}  // namespace pcie
