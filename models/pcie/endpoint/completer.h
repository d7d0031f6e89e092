// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/pcie/config/capabilities/msi_x.h"
#include "models/pcie/endpoint/access.h"
#include "models/pcie/endpoint/function_core.h"
#include "models/pcie/protocol/completion_queue.h"
#include "vp/ring.h"
#include "vp/statistics/statistics.h"
#include "vp/time/domain.h"

namespace pcie {

/// Handles the requests for a function's BARs: divides them among device logic and the MSI-X
/// registers, by the protocol of access.h, and completes reads.
class Completer : private tlm::tlm_mm_interface {
 public:
  using Socket = tlm_utils::simple_initiator_socket_optional<Completer>;

  /// `bar` leads to device logic. `reads` is the number of reads that device logic accepts at a
  /// time, at least 1. `msi_x` is nullptr for a function without MSI-X. Throws ConfigurationError
  /// if `reads` is 0.
  Completer(FunctionCore& core, Socket& bar, unsigned reads, MsiX* msi_x, vp::Domain& domain,
            vp::Statistics& statistics);

  /// Reads the BARs' addresses again. `exists` is false for a virtual function that is disabled.
  void map(bool exists);
  /// Whether a request lies in a BAR.
  bool claims(const Tlp& request) const { return hit(request) != nullptr; }
  /// Handles a memory write for which claims() holds. A function in reset supports no request.
  void write(TlpPtr request);
  /// Handles a memory read or a deferrable write for which claims() holds.
  void read(TlpPtr request);
  /// Answers a request that this function does not support with Unsupported Request.
  void refuse(const Tlp& request);
  /// Ends the requests that device logic has not answered; must follow map().
  void reset();

 private:
  // A payload which owns the extension of access.h, as TLM-2.0 requires.
  struct Payload : tlm::tlm_generic_payload {
    Payload() : access(*new Access) { set_extension(&access); }
    Access& access;
  };
  // A BAR that is decoded now.
  struct Range {
    std::uint64_t base;
    std::uint64_t size;
    unsigned bar;
  };
  // A read that device logic answers; its data gathers in the request itself. It can also be a
  // deferrable write, which has one piece.
  struct Read : Payload {
    TlpPtr request;
    unsigned at = 0;                        // progress in its 4 x length bytes
    unsigned piece = 0;                     // bytes that device logic has not returned yet
    bool dropped = false;                   // a reset has ended it; the answer is ignored
    std::array<std::uint8_t, 128> enables;  // byte enables of a deferrable write with a hole
  };
  enum class Region { logic, table, pending };

  const Range* hit(const Tlp& request) const;
  Region region(unsigned bar, std::uint64_t offset, unsigned& bytes) const;
  void describe(Access& access, const TlpHeader& header) const;

  void continue_write();
  tlm::tlm_sync_enum write_piece(const Tlp& request, const Range& range, unsigned begin,
                                 unsigned bytes);
  void note(const Tlp& request, Status answer);
  void resume_write();

  Read* allocate_read();
  void free(tlm::tlm_generic_payload* payload) override;
  void release(Read& read);
  void start(TlpPtr request);
  void start_waiting();
  void offer(Read& read);
  Status status_of(const Read& read) const;
  void advance(Read& read);
  void finish(Read& read, Status status);
  void drop(Read& read);
  void end_reads();

  void resume();
  tlm::tlm_sync_enum response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);

  FunctionCore& core_;
  Socket& bar_;
  const unsigned most_reads_;
  MsiX* const msi_x_;
  std::vector<Range> ranges_;  // the BARs that are decoded now

  Payload write_;
  TlpPtr written_;               // the request of `write_`; nullptr after a reset
  TlpPtr dropped_;               // the one before a reset, whose data device logic still has
  unsigned written_at_ = 0;      // progress in its 4 x length bytes
  Status write_status_{};        // the first status other than success
  bool write_accepted_ = false;  // device logic has accepted a piece that it had to delay
  std::vector<std::unique_ptr<Read>> reads_;
  std::vector<Read*> free_reads_;
  vp::Ring<TlpPtr> waiting_reads_;  // reads beyond the number that device logic accepts
  bool starting_ = false;           // prevents recursion of start_waiting()
  bool releasing_ = false;          // free() is called by release()
  vp::Ring<Read*> resumed_;         // reads that continue with their next piece
  vp::Event resume_;
  CompletionQueue completions_;

  std::uint64_t read_count_ = 0;
  std::uint64_t write_count_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t deferrable_count_ = 0;
  std::uint64_t deferred_ = 0;
};

}  // namespace pcie
