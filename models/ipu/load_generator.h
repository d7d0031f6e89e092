// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdint>
#include <deque>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/ipu/poisson_process.h"
#include "models/ipu/register_block.h"
#include "models/pcie/endpoint/access.h"
#include "vp/statistics/latency.h"
#include "vp/time/domain.h"

namespace ipu {

/// The load on a host: requests that come at the times of a Poisson process, whether or not those
/// before them are answered (an open loop), and the clock that measures their answers. Register
/// map: rtl/registers/load.yaml.
///
///     0x000 control     rw  run
///     0x008 status      ro  invalid, refused
///     0x010 seed        rw
///     0x018 interval    rw  mean, ps
///     0x020 count       rw  0: no limit
///     0x028 warm_up     rw  requests that are not measured
///     0x030 long_share  rw  parts of 2^32
///     0x038 ring        rw  host bus address
///     0x040 ring_size   rw  entries
///     0x048 taken       rw
///     0x050 answer      wo  number of a request
///     0x058 generated   ro
///     0x060 dropped     ro
///     0x068 answered    ro
///     0x070 unknown     ro
///     0x078 first       ro  number of the first request
///     0x080 refused     ro
///     0x088 generated_long, 0x090 dropped_long, 0x098 answered_long  ro
///     0x0a0 limit       rw  ps; 0: none
///     0x0a8 late, 0x0b0 late_long  ro  measured answers that took longer than `limit`
///
/// Requests have consecutive numbers, which go on over starts and begin with 1 after a reset.
/// Request `first` + n is written at once into entry (n - d) mod `ring_size`, where d is the number
/// of requests since the start that were dropped before. The entry is 32 bytes: the time at which
/// the request came (ps), its kind (0 short, 1 long), 0, and its number. That number is above all
/// that were written before, so the host knows by it that the entry is new, even if a write from
/// before the start arrives late. A request is dropped if the ring is full by what the host says in
/// `taken`, or if 65,536 requests wait for their answers. If the function refuses a write, it and
/// those behind it are counted in `refused`. Time and kind of the requests depend on seed, interval
/// and long_share alone.
class LoadGenerator : public sc_core::sc_module, private Registers {
 public:
  static constexpr unsigned entry_size = 32;
  static constexpr std::uint64_t most_waiting = 1 << 16;

  /// The host's side; addresses are offsets in the BAR. Protocol: models/pcie/endpoint/access.h;
  /// reads complete at once.
  tlm_utils::passthrough_target_socket<LoadGenerator> bar;
  /// To the function's `dma` socket.
  tlm_utils::simple_initiator_socket<LoadGenerator> dma;

  LoadGenerator(const sc_core::sc_module_name& name, vp::Domain& domain);

  /// Must be called at any reset of the function.
  void reset();

  /// From the time of a request to the arrival of its answer, by kind. Both go on over resets.
  const vp::Latency& short_latency() const { return latency_[0]; }
  const vp::Latency& long_latency() const { return latency_[1]; }
  // Counters since the last start
  const std::uint64_t& generated() const { return all_.generated; }
  const std::uint64_t& dropped() const { return all_.dropped; }
  const std::uint64_t& refused() const { return refused_; }
  const std::uint64_t& answered() const { return all_.answered; }
  const std::uint64_t& unknown() const { return unknown_; }

 private:
  struct Waiting {
    std::uint64_t number = 0;  // 0: none waits
    vp::Picoseconds came = 0;
    unsigned kind = 0;
  };
  struct Counts {
    std::uint64_t generated = 0;
    std::uint64_t dropped = 0;
    std::uint64_t answered = 0;
    std::uint64_t late = 0;
  };
  using Entry = std::array<std::uint64_t, entry_size / 8>;

  std::optional<std::uint64_t> read(std::uint64_t offset) override;
  bool write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
             vp::Picoseconds delay) override;
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void start();
  void stop();
  void forget();
  void plan();
  void generate();
  void deliver();
  void delivered();
  void answer(std::uint64_t number);
  void count(std::uint64_t Counts::*what, unsigned kind);

  // Registers
  bool running_ = false;
  std::uint64_t status_ = 0;
  std::uint64_t seed_ = 0;
  std::uint64_t interval_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t warm_up_ = 0;
  std::uint64_t long_share_ = 0;
  std::uint64_t limit_ = 0;
  std::uint64_t ring_ = 0;
  std::uint64_t ring_size_ = 0;
  std::uint64_t address_ = 0;  // of the ring in use, whatever the registers say meanwhile
  std::uint64_t size_ = 1;     // its entries
  std::uint64_t taken_ = 0;
  Counts all_;
  Counts long_;  // of these, the long requests
  std::uint64_t refused_ = 0;
  std::uint64_t unknown_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;  // number of the newest request since the reset

  PoissonProcess process_{0, 1};
  vp::Picoseconds next_ = 0;  // when the next request comes
  vp::Event arrival_;
  std::vector<Waiting> waiting_;  // by number modulo most_waiting
  std::deque<Entry> entries_;     // which are not in host memory yet
  std::uint64_t written_ = 0;     // entries that are
  bool writing_ = false;          // the function has not accepted the first of them yet
  bool forgotten_ = false;        // what it has not accepted was written before a start or a reset
  tlm::tlm_generic_payload payload_;
  Entry data_{};
  std::array<vp::Latency, 2> latency_;
};

}  // namespace ipu
