// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <deque>
#include <optional>
#include <systemc>

#include "models/host/combining_buffers.h"
#include "models/host/device_lines.h"
#include "vp/processor_access.h"
#include "vp/statistics/statistics.h"

namespace host {

struct DeviceMemoryConfig {
  unsigned write_combining_buffers = 10;  ///< lines a processor; 0: WC behaves like UC
};

/// How a host's processors see device memory, by the memory type of each access (Intel SDM volume
/// 3, 12.3): what they combine, stream and cache before it becomes transactions.
///
///     vCPU 0 --- write-combining buffers, streaming-load buffer --+-- out
///     vCPU n --- write-combining buffers, streaming-load buffer --+
///                             line fills, lines held -------------+
///
///   UC          drains what its processor holds, then passes
///   WC          stores gather in lines of 64 bytes; loads pass, behind what is held of their line;
///               streaming loads (movntdqa) read a line once and hand each byte of it out once
///   WT, WP, WB  loads read a line and hold it until it is flushed or makes room; prefetches do so
///               and do not wait; stores pass at once, and update the line (WP: drop it)
///
/// Lines are common to all processors of the host, as its caches are coherent; devices do not take
/// part in that: what a device changes is seen after a flush. Nothing takes time but what `out`
/// takes. What is held without end stays: nothing is written out because time goes by.
class DeviceMemory : public sc_core::sc_module {
 public:
  /// Lines that the host holds, and how many it reads at once; a further read waits for its turn.
  static constexpr unsigned lines_held = 64;
  static constexpr unsigned lines_read = 10;

  /// One binding for each processor: b_transport from an SC_THREAD of its own, one at a time, 1 to
  /// 64 bytes within a line, with a ProcessorAccess; without one it passes.
  tlm_utils::multi_passthrough_target_socket<DeviceMemory> processor;
  /// Reads and writes of 1 to 64 bytes within a line, from several threads. What the target does
  /// not pass through here takes its time inside b_transport, without a delay that comes back.
  tlm_utils::simple_initiator_socket<DeviceMemory> out;

  DeviceMemory(const sc_core::sc_module_name& name, const DeviceMemoryConfig& config,
               vp::Statistics& statistics);

  /// Forgets all that is held and being read. No processor may be inside an access.
  void reset();

 private:
  using Access = vp::ProcessorAccess;

  struct Processor {
    bool holds() const { return unread != 0 || (buffers && !buffers->empty()); }

    std::optional<CombiningBuffers> buffers;
    std::uint64_t streamed_line = 0;
    std::uint64_t unread = 0;  // bytes of it that no streaming load has taken
    LineData streamed;
    std::uint64_t streaming = 0;  // address and bytes of the loads that stream now
    unsigned streaming_bytes = 0;
    tlm::tlm_generic_payload payload;
  };

  /// A line on its way from the device.
  struct Fill {
    bool busy = false;
    bool dropped =
        false;  // flushed or written since: for those who wait for it, but not to be held
    bool good = false;
    std::uint64_t line = 0;
    LineData data;
    tlm::tlm_generic_payload payload;
    sc_core::sc_event start;
    sc_core::sc_event done;
  };

  void transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(int id, tlm::tlm_generic_payload& payload);
  void end_of_elaboration() override;

  void act(Processor& processor, const Access& request, std::uint64_t address, unsigned bytes);
  void combine(Processor& processor, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  bool take_streamed(Processor& processor, tlm::tlm_generic_payload& payload);
  void stream(Processor& processor, std::uint64_t address, unsigned bytes);
  void prefetch(std::uint64_t address);
  void load(tlm::tlm_generic_payload& payload);
  void store(vp::MemoryType type, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void flush(std::uint64_t address);
  void drain(Processor& processor);

  Fill* filling(std::uint64_t address);
  Fill* start_fill(std::uint64_t address);
  void run_fill(Fill& fill);
  bool pass(tlm::tlm_generic_payload& payload, tlm::tlm_command command, std::uint64_t address,
            std::uint8_t* data, unsigned bytes);

  const DeviceMemoryConfig config_;
  std::deque<Processor> processors_;
  DeviceLines lines_{lines_held};
  std::array<Fill, lines_read> fills_;
  sc_core::sc_event idle_fill_;

  std::uint64_t combined_writes_ = 0;
  std::uint64_t partial_writes_ = 0;
  std::uint64_t streamed_lines_ = 0;
  std::uint64_t lines_filled_ = 0;
  std::uint64_t line_hits_ = 0;
  std::uint64_t prefetches_ = 0;
};

}  // namespace host
