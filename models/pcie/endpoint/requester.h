// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "models/pcie/endpoint/access.h"
#include "models/pcie/endpoint/function_core.h"
#include "models/pcie/protocol/outstanding.h"
#include "vp/ring.h"
#include "vp/statistics/latency.h"
#include "vp/statistics/statistics.h"
#include "vp/time/domain.h"

namespace pcie {

/// What a function asks of others for its device logic: reads, writes, deferrable writes and
/// AtomicOps of host memory, by the protocol of access.h, and the tags of those that wait for
/// completions.
class Requester {
 public:
  using Socket =
      tlm_utils::multi_passthrough_target_socket<Requester, 32, tlm::tlm_base_protocol_types, 0,
                                                 sc_core::SC_ZERO_OR_MORE_BOUND>;

  /// From device logic by `dma`; what a completer defers is sent again `deferral` later.
  Requester(FunctionCore& core, Socket& dma, vp::Picoseconds deferral, vp::Domain& domain,
            vp::Statistics& statistics);

  /// Whether requests wait for completions.
  bool pending() const { return requests_.count() > 0; }
  void receive_completion(const Tlp& completion);
  /// Sends what waits for a tag, or for what a register may now permit.
  void issue();
  /// Posted requests can leave again.
  void unblocked();
  /// A message interrupt, behind the data that device logic has written before; false while it
  /// cannot leave.
  bool send_message_interrupt(std::uint64_t address, std::uint32_t data);
  /// Ends all that is outstanding.
  void reset();

 private:
  // A read of host memory by device logic, or an AtomicOp, or a deferrable write.
  struct Read {
    tlm::tlm_generic_payload* payload = nullptr;
    int initiator = 0;  // of those bound to the socket
    Access access;
    unsigned issued = 0;       // bytes
    unsigned outstanding = 0;  // requests
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
    vp::Picoseconds start = 0;
  };
  // A write to host memory that waits for those before it to leave.
  struct Write {
    tlm::tlm_generic_payload* payload = nullptr;
    int initiator = 0;
    Access access;
    unsigned done = 0;  // bytes
  };
  // One that was deferred.
  struct Deferred {
    vp::Picoseconds when = 0;
    Read* read = nullptr;
  };
  using Requests = Outstanding<Read*>;

  bool may_request(const Access& access) const {
    return core_.may_master() &&
           (access.atomic == AtomicOperation::none || core_.express().requests_atomics()) &&
           (!access.deferrable || core_.requests_deferrable_writes());
  }
  TagRange tags() const;

  tlm::tlm_sync_enum request(int initiator, tlm::tlm_generic_payload& payload,
                             tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_response_status refusal(const tlm::tlm_generic_payload& payload,
                                   const Access& access) const;
  bool transmit(Write& write);
  void attributes(TlpHeader& header, const Access& access) const;
  TlpPtr next_request(Read& read) const;
  void finish(Requests::Request& request);
  void respond(Read& read);
  void respond(const Write& write);
  void expire();
  void retry();

  FunctionCore& core_;
  Socket& dma_;
  const vp::Picoseconds deferral_;
  Requests requests_;
  std::vector<std::unique_ptr<Read>> reads_;
  std::vector<Read*> free_reads_;
  vp::Ring<Read*> unissued_;  // the first may be partly issued
  vp::Ring<Deferred> deferred_;
  vp::Event retry_;
  vp::Ring<Write> writes_;  // that wait; the first may have left in part
  vp::Event timeout_;

  vp::Latency latency_;
  std::uint64_t refused_ = 0;
  std::uint64_t atomics_ = 0;
  std::uint64_t deferrable_count_ = 0;
  std::uint64_t retries_ = 0;
  std::uint64_t timeouts_ = 0;
  std::uint64_t unexpected_ = 0;
};

}  // namespace pcie
