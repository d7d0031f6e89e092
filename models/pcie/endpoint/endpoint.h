// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/logger.h>

#include <array>
#include <bitset>
#include <memory>
#include <vector>

#include "models/pcie/endpoint/function.h"
#include "models/pcie/link/port.h"
#include "vp/statistics/statistics.h"
#include "vp/time/domain.h"

namespace pcie {

struct EndpointConfig {
  unsigned generation = 5;
  unsigned lanes = 16;
  CreditConfig credits{};           ///< credits of its receive buffer; infinite for completions
  vp::Picoseconds latency = 0;      ///< traversal time in each direction
  unsigned max_payload = 256;       ///< supported payload in bytes
  unsigned max_read_request = 512;  ///< Max_Read_Request_Size after a reset, in bytes
  /// Outstanding requests of each function: 32, 256 or 768. Software must enable more than 32.
  unsigned tags = 256;
  vp::Picoseconds completion_timeout = 50 * vp::ms;  ///< greater than 0
  unsigned active_states = 0;                        ///< supported states, a set of ActiveState
  Eye eye{};                                         ///< eye of its receiver
  CompletionConfig completions{};                    ///< how each function completes reads
  /// Whether the functions cut their requests at each multiple of Max_Payload_Size or
  /// Max_Read_Request_Size. Otherwise requests are as long as these permit, and only 4 KiB cuts
  /// them.
  bool aligned_requests = true;
  /// 1 to 256 functions, numbered from 0. With more than 8 functions, or with virtual functions,
  /// the endpoint has alternative routing (ARI, 6.13), so that a function's number has 8 bits.
  std::vector<FunctionConfig> functions = {FunctionConfig{}};
};

/// An endpoint: the functions behind one link. It finds the function that a TLP addresses, and
/// answers the TLPs that address no function.
///
/// The virtual functions follow one another in the order of their physical functions. Where the
/// port above forwards ARI, their routing IDs follow those of the physical functions. Otherwise
/// they are on the next bus, since they would look like other devices on this one.
class Endpoint : public sc_core::sc_module, public Port, private Function::Uplink {
 public:
  /// Throws ConfigurationError if a value is impossible.
  Endpoint(const sc_core::sc_module_name& name, const EndpointConfig& config, vp::Domain& domain,
           vp::Statistics& statistics);

  Function& function(unsigned number) { return *functions_.at(number); }

 private:
  void receive(TlpPtr tlp) override;
  void trained(unsigned generation, unsigned lanes) override;
  void retrained(unsigned generation, unsigned lanes) override;
  unsigned active_states() const override;
  bool extended_synch() const override;
  void lane_failed(unsigned lane) override { functions_[0]->lane_failed(lane); }
  void link_lost(Reset kind) override;
  void powered_up() override;
  void detected(Error error, const Tlp* tlp) override;
  bool checks_digests() const override;
  // Nothing passes a write that device logic has not accepted yet.
  bool ready(const Tlp&) const override { return held_ == 0; }
  void unblocked(CreditClass of) override;
  bool up() const override { return link_up(); }
  void transmit(TlpPtr tlp) override { send(std::move(tlp)); }
  bool full() const override { return blocked(CreditClass::posted); }
  void set_pin(unsigned number, unsigned pin, bool level) override;
  void hold() override { ++held_; }
  void release() override {
    if (--held_ == 0) drain();
  }

  Function* physical(Id id);
  Function* virtual_function(Id id);
  Function* addressed(const Tlp& config_request);
  void configure(Function& function, const Tlp& request);
  Function* claiming(const Tlp& request);
  void receive_deferrable(Function& function, TlpPtr request);
  void report(Error error, const Tlp* tlp);
  void unsupported(const Tlp& request);

  spdlog::logger& log_;
  bool alternative_routing_ = false;
  std::vector<std::unique_ptr<Function>> functions_;
  std::size_t first_ = 0;  // the function that is served first when posted requests can leave
  unsigned held_ = 0;      // number of functions whose device logic has not accepted a write

  std::array<std::bitset<256>, 4> pins_;  // INTA to INTD: the functions that drive each

  std::uint64_t unsupported_ = 0;
  std::uint64_t absent_ = 0;
  std::uint64_t malformed_ = 0;
  std::uint64_t unexpected_ = 0;
  std::uint64_t messages_ignored_ = 0;
};

}  // namespace pcie
