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

/// Sends a function's requests on behalf of device logic: reads, writes, deferrable writes and
/// AtomicOps of host memory, by the protocol of access.h. It allocates the tags of requests that
/// wait for completions. No read passes a write that waits, and neither does an interrupt (see
/// Interrupts).
class Requester {
 public:
  using Socket =
      tlm_utils::multi_passthrough_target_socket<Requester, 32, tlm::tlm_base_protocol_types, 0,
                                                 sc_core::SC_ZERO_OR_MORE_BOUND>;

  /// `dma` comes from device logic. A write that a completer defers is repeated `deferral` later.
  /// Throws ConfigurationError if `deferral` is not positive.
  Requester(FunctionCore& core, Socket& dma, vp::Picoseconds deferral, vp::Domain& domain,
            vp::Statistics& statistics);

  /// Whether any request waits for its completion.
  bool pending() const { return requests_.count() > 0; }
  void receive_completion(const Tlp& completion);
  /// Sends the requests that wait for a tag or for a permission that a register may now give.
  void issue();
  /// Sends the first of the writes that wait, when posted requests can leave again. Returns whether
  /// it has left, or was refused; answer_write() must follow then. After the last one, issue() must
  /// follow.
  bool send_waiting();
  /// Tells device logic that this write has left. The logic may write more at once.
  void answer_write();
  /// Whether writes wait.
  bool data_waits() const { return !writes_.empty(); }
  /// How many writes have ever waited, and how many of these wait no more.
  std::uint64_t writes_begun() const { return writes_waited_ + writes_.size(); }
  std::uint64_t writes_left() const { return writes_waited_; }
  /// Sends a message interrupt. Returns false if it cannot leave now. The caller keeps it behind
  /// the writes before it.
  bool send_message_interrupt(std::uint64_t address, std::uint32_t data);
  /// Ends all outstanding requests.
  void reset();

 private:
  // An access of device logic that waits for completions: a read, an AtomicOp or a deferrable
  // write.
  struct Read {
    tlm::tlm_generic_payload* payload = nullptr;
    int initiator = 0;  // index among those bound to the socket
    Access access;
    unsigned issued = 0;       // bytes requested so far
    unsigned outstanding = 0;  // requests without a completion
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
    vp::Picoseconds start = 0;
    std::uint64_t behind = 0;  // how many of the writes that have ever waited were there before it
  };
  // A write to host memory that waits until the writes before it have left.
  struct Write {
    tlm::tlm_generic_payload* payload = nullptr;
    int initiator = 0;
    Access access;
    unsigned done = 0;  // bytes sent so far
  };
  // A deferrable write that the completer has deferred.
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
  unsigned piece(std::uint64_t address, unsigned bytes, unsigned most) const;
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
  vp::Ring<Read*> unissued_;  // the first entry may be partly issued
  vp::Ring<Deferred> deferred_;
  vp::Event retry_;
  vp::Ring<Write> writes_;           // waiting writes; a part of the first may have left
  std::uint64_t writes_waited_ = 0;  // how many have left writes_
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
