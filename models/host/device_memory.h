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
  unsigned write_combining_buffers = 10;  ///< lines for each processor; 0: WC behaves like UC
};

/// How a host's processors access device memory. The memory type of each access (Intel SDM volume
/// 3, 12.3) decides what they combine, stream and cache before it becomes transactions.
///
///     vCPU 0 --- write-combining buffers, streaming-load buffer --+-- out
///     vCPU n --- write-combining buffers, streaming-load buffer --+
///                             line fills, lines held -------------+
///
///   UC          drains what its processor holds, then passes
///   WC          stores are combined in lines of 64 bytes; a load passes after the buffer of its
///               line; streaming loads (movntdqa) read a line once and use each byte of it once
///   WT, WP, WB  loads read a line and keep it until it is flushed or replaced; prefetches do so
///               without waiting; stores pass at once and update the line (WP: drop it)
///
/// All processors of the host share the lines, since its caches are coherent. Devices are not part
/// of that coherence: what a device changes is seen after a flush. Only the accesses of `out` take
/// time. Nothing is written out merely because time passes.
class DeviceMemory : public sc_core::sc_module {
 public:
  /// How many lines the host holds, and how many it reads at once. Further reads wait.
  static constexpr unsigned lines_held = 64;
  static constexpr unsigned lines_read = 10;

  /// Each processor binds once and calls b_transport from an SC_THREAD of its own, one access at a
  /// time, of 1 to 64 bytes within a line. An access without a ProcessorAccess passes unchanged.
  tlm_utils::multi_passthrough_target_socket<DeviceMemory> processor;
  /// Reads and writes of 1 to 64 bytes within a line, from several threads. The target spends its
  /// time inside b_transport and returns no delay.
  tlm_utils::simple_initiator_socket<DeviceMemory> out;

  DeviceMemory(const sc_core::sc_module_name& name, const DeviceMemoryConfig& config,
               vp::Statistics& statistics);

  /// Drops all lines and buffers, and the reads under way. No processor may be inside an access.
  void reset();

 private:
  using Access = vp::ProcessorAccess;

  struct Processor {
    bool holds() const { return unread != 0 || (buffers && !buffers->empty()); }

    std::optional<CombiningBuffers> buffers;
    std::uint64_t streamed_line = 0;
    std::uint64_t unread = 0;  // bytes of it that no streaming load has used
    LineData streamed;
    std::uint64_t streaming = 0;  // address and bytes of the present streaming loads
    unsigned streaming_bytes = 0;
    tlm::tlm_generic_payload payload;
  };

  /// A line on its way from the device.
  struct Fill {
    bool busy = false;
    bool dropped =
        false;  // flushed or written since: serves the loads that wait for it, but is not kept
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
  bool load_streamed(Processor& processor, tlm::tlm_generic_payload& payload);
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
