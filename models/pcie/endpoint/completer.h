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
#include "vp/ring.h"
#include "vp/statistics/statistics.h"
#include "vp/time/domain.h"

namespace pcie {

/// What a function does with requests for its BARs: cuts them for device logic or the MSI-X table,
/// by the protocol of access.h, and completes reads.
class Completer : private tlm::tlm_mm_interface {
 public:
  using Socket = tlm_utils::simple_initiator_socket_optional<Completer>;

  /// To device logic by `bar`. `reads` is how many device logic works on at a time; `msi_x` is
  /// nullptr for a function without.
  Completer(FunctionCore& core, Socket& bar, unsigned reads, MsiX* msi_x, vp::Domain& domain,
            vp::Statistics& statistics);

  /// Finds the BARs anew. `exists` is false for a virtual function that is not enabled.
  void map(bool exists);
  /// Whether a request is in a BAR.
  bool claims(const Tlp& request) const { return hit(request) != nullptr; }
  /// A write, or a read or deferrable write, that is claimed.
  void write(TlpPtr request);
  void read(TlpPtr request);
  /// Answers a request, which nothing in this function takes, by Unsupported Request.
  void refuse(const Tlp& request);
  /// Ends what device logic works on, after map().
  void reset();

 private:
  // A payload with the extension of access.h, which it owns, as TLM-2.0 has it.
  struct Payload : tlm::tlm_generic_payload {
    Payload() : access(*new Access) { set_extension(&access); }
    Access& access;
  };
  // A BAR while it decodes.
  struct Range {
    std::uint64_t base;
    std::uint64_t size;
    unsigned bar;
  };
  // A read that device logic works on; its data gathers in the request's own room. Or a deferrable
  // write, which is one piece.
  struct Read : Payload {
    TlpPtr request;
    unsigned at = 0;                        // of its 4 x length bytes
    unsigned piece = 0;                     // bytes asked for
    bool dropped = false;                   // by a reset: the answer of device logic is for nobody
    std::array<std::uint8_t, 128> enables;  // of a deferrable write with a hole
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

  Read* take_read();
  void free(tlm::tlm_generic_payload* payload) override;
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
  std::vector<Range> ranges_;  // those that decode now

  Payload write_;
  TlpPtr written_;            // the request that it is of; none after a reset
  unsigned written_at_ = 0;   // of its 4 x length bytes
  Status write_status_{};     // the first that was no success
  bool write_taken_ = false;  // by device logic, which had no room for it at first
  std::vector<std::unique_ptr<Read>> reads_;
  std::vector<Read*> free_reads_;
  vp::Ring<TlpPtr> waiting_reads_;  // while device logic works on as many as it can
  bool starting_ = false;           // keeps start_waiting() from calling itself
  vp::Ring<Read*> resumed_;         // that go on with their next piece
  vp::Event resume_;

  std::uint64_t read_count_ = 0;
  std::uint64_t write_count_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t deferrable_count_ = 0;
  std::uint64_t deferred_ = 0;
};

}  // namespace pcie
