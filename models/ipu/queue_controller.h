// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "models/ipu/register_block.h"
#include "models/pcie/endpoint/access.h"
#include "vp/time/domain.h"

namespace ipu {

/// Lets the cores interrupt the host through the queue function, and write lines of 64 bytes into a
/// page of host memory. Register map: rtl/registers/queue.yaml.
///
///     0x000 interrupt  wo  MSI-X vector, from 0
///     0x008 page       rw  host bus address of the page; 0: there is none
///     0x010 push       wo  writes the data as this line of the page
///     0x018 refused    ro  lines that were not written
///     0x040 data       rw  8 words
///
/// A line takes the data and the page that the registers have when `push` is written. What the
/// cores have sent reaches the function in order. A line that the function cannot accept yet holds
/// up what follows it. The function ignores vectors that it does not have.
class QueueController : public RegisterBlock {
 public:
  static constexpr unsigned line_size = 64;

  sc_core::sc_port<pcie::InterruptIf> interrupt;
  /// To the function's `dma` socket. Protocol: models/pcie/endpoint/access.h.
  tlm_utils::simple_initiator_socket<QueueController> dma;

  QueueController(const sc_core::sc_module_name& name, vp::Domain& domain);

  /// Clears the registers, and cancels what is on its way, after a reset of the function.
  void reset();

  /// Interrupts and lines that have reached the function.
  const std::uint64_t& interrupts() const { return interrupts_; }
  const std::uint64_t& lines() const { return lines_; }

 private:
  using Line = std::array<std::uint64_t, line_size / 8>;

  /// A write on its way from a core.
  struct Sent {
    vp::Picoseconds arrival;
    std::optional<unsigned> vector;  // of an interrupt, or else:
    std::uint64_t address = 0;
    Line line{};
  };

  std::optional<std::uint64_t> read(std::uint64_t offset) override;
  bool write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
             vp::Picoseconds delay) override;
  void push(unsigned line, vp::Picoseconds delay);
  void send(const Sent& sent);
  void arrive();
  void write_line(const Sent& sent);
  void written();
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);

  std::uint64_t page_ = 0;
  std::uint64_t refused_ = 0;
  Line data_{};

  vp::Event arrival_;  // of the first of them
  std::deque<Sent> sent_;
  bool writing_ = false;    // the function has not accepted the last line yet
  bool forgotten_ = false;  // that line was sent before a reset
  Line line_{};             // on its way to the host
  tlm::tlm_generic_payload payload_;
  std::uint64_t interrupts_ = 0;
  std::uint64_t lines_ = 0;
};

}  // namespace ipu
