// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "vp/time/time.h"

namespace ipu {

/// Memory that a host's processors and the IPU's cores both reach: the place of queues between
/// them. The host reaches it through a BAR. The cores see it at two addresses, and firmware chooses
/// by them how it maps the memory.
///
///     host ------ BAR ----------------------+
///     cores --+-- uncached -----------------+-- memory
///             `-- cached ---- lines held ---+
///
/// All cores share the lines of 64 bytes that their cache holds; it holds as many as there are. An
/// access that hits takes no time beside its instruction. Another one reads the line first. The
/// cache is coherent with the function, as that of an Arm server's I/O is (Arm SBSA, level 3): a
/// write of the host drops the line, and a read of the host sees what the cores have written.
class QueueMemory : public sc_core::sc_module {
 public:
  static constexpr unsigned line_size = 64;

  struct Timing {
    vp::Picoseconds latency = 0;    ///< added to each uncached access
    vp::Picoseconds line_fill = 0;  ///< added to a cached access of a line that is not held
  };

  /// The host's side; addresses are offsets in the memory. Protocol:
  /// models/pcie/endpoint/access.h; reads complete at once.
  tlm_utils::passthrough_target_socket<QueueMemory> host;
  /// The cores' sides. They support accesses of 1 to 64 bytes, without byte enables and without
  /// streaming.
  tlm_utils::simple_target_socket<QueueMemory> uncached;
  tlm_utils::simple_target_socket<QueueMemory> cached;

  /// `size` in bytes, a multiple of the line's size.
  QueueMemory(const sc_core::sc_module_name& name, std::uint64_t size, const Timing& timing);

  /// Clears the memory after a reset of the function, and drops all lines.
  void reset();

  // Counters
  const std::uint64_t& host_reads() const { return host_reads_; }
  const std::uint64_t& host_writes() const { return host_writes_; }
  const std::uint64_t& core_accesses() const { return core_accesses_; }
  const std::uint64_t& line_fills() const { return line_fills_; }

 private:
  void access_uncached(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void access_cached(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  bool access_of_core(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void copy(tlm::tlm_generic_payload& payload, std::uint64_t length);
  /// Calls `act` for each line that the payload's bytes are in. There is at least one byte.
  template <typename Act>
  void for_lines(const tlm::tlm_generic_payload& payload, std::uint64_t length, Act act);
  /// Says that a read has the same answer until its line changes, if it lies within one.
  void say_repeatable(tlm::tlm_generic_payload& payload);

  const sc_core::sc_time latency_;
  const sc_core::sc_time line_fill_;
  struct Line {
    bool held = false;
    std::uint64_t version = 0;  ///< changes when a read may return something new, or take longer
  };
  std::vector<std::uint8_t> bytes_;
  std::vector<Line> lines_;

  std::uint64_t host_reads_ = 0;
  std::uint64_t host_writes_ = 0;
  std::uint64_t core_accesses_ = 0;
  std::uint64_t line_fills_ = 0;
};

}  // namespace ipu
