// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdint>
#include <vector>

#include "models/ipu/register_block.h"
#include "models/pcie/endpoint/access.h"
#include "vp/irq_output.h"
#include "vp/time/domain.h"

namespace ipu {

/// Copies between IPU memory and host memory, in pieces that cross no multiple of their largest
/// size on either side. Register map: rtl/registers/dma.yaml.
///
///     0x000 source       rw   IPU address or host bus address
///     0x008 destination  rw   IPU address or host bus address
///     0x010 length       rw   bytes, 32 bits
///     0x018 control      rw   start, source_host, destination_host, irq_enable
///     0x020 status       w1c  done, error
///
/// After `latency` the engine requests up to `outstanding` pieces ahead. Each piece passes the
/// engine whole, in order, at `bytes_per_second`, and is then written. The copy is done when its
/// last write is done. Writes to the registers while a copy runs take effect for the next copy. An
/// error ends the copy after all requested pieces have come back; what was written before the error
/// stays.
///
/// In the IPU the engine reaches memory only: targets that grant direct memory access.
class DmaEngine : public RegisterBlock {
 public:
  static constexpr unsigned most_of_piece = 4096;

  struct Timing {
    vp::Picoseconds latency;         ///< from the start to the first request, 0 or more
    std::uint64_t bytes_per_second;  ///< 1 or more
    unsigned outstanding;            ///< pieces requested ahead, 1 or more
    unsigned piece = most_of_piece;  ///< bytes of a piece at most, a power of two
  };

  /// To the NoC.
  tlm_utils::simple_initiator_socket<DmaEngine> memory;
  /// To the function's `dma` socket. Protocol: models/pcie/endpoint/access.h.
  tlm_utils::simple_initiator_socket<DmaEngine> host;
  vp::IrqOutput irq;

  /// `line` is the number of `irq` at its controller.
  DmaEngine(const sc_core::sc_module_name& name, vp::Domain& domain, const Timing& timing,
            unsigned line);

  /// Returns to the initial state. A running copy is dropped, but what it has written stays. No
  /// read of host memory may be outstanding.
  void reset();

  /// Number of copies that have ended, with or without error.
  const std::uint64_t& copies() const { return copies_; }
  const std::uint64_t& errors() const { return errors_; }
  /// Number of bytes written.
  const std::uint64_t& bytes() const { return bytes_; }

 private:
  struct Piece {
    Piece() { payload.set_extension(new pcie::Access); }  // the payload owns it
    tlm::tlm_generic_payload payload;
    std::array<std::uint8_t, most_of_piece> data;
    std::uint64_t destination;
    std::uint32_t length;
    vp::Picoseconds landed;  // when its data has arrived, or `never`
  };

  std::optional<std::uint64_t> read(std::uint64_t offset) override;
  bool write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
             vp::Picoseconds delay) override;
  void start(vp::Picoseconds delay);
  void advance();
  void fetch_ahead();
  void fetch(Piece& piece, std::uint64_t source);
  void pass_head();
  void deliver();
  void delivered(vp::Picoseconds written);
  void fail();
  void finish();
  void update_irq();
  /// Reads or writes the piece in IPU memory. Returns the time at which that is done.
  vp::Picoseconds access_memory(Piece& piece);
  bool is_memory(std::uint64_t address, std::uint64_t length);
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);

  Piece& piece(std::uint64_t number) { return pieces_[number % pieces_.size()]; }

  const Timing timing_;

  // Registers.
  std::uint64_t source_ = 0;
  std::uint64_t destination_ = 0;
  std::uint64_t length_ = 0;
  std::uint64_t control_ = 0;
  std::uint64_t status_ = 0;

  // The copy under way.
  struct Copy {
    std::uint64_t source;
    std::uint64_t destination;
    std::uint64_t left;  // bytes that are not requested yet
    bool source_host;
    bool destination_host;
    bool failed;
    vp::Picoseconds written;  // when the last write is done
  };
  Copy copy_{};
  std::vector<Piece> pieces_;  // a ring; pieces fetched_ - delivered_ are in use
  std::uint64_t fetched_ = 0;
  std::uint64_t delivered_ = 0;
  bool writing_ = false;  // the host has not accepted the head piece yet
  tlm::tlm_generic_payload probe_;
  vp::Event begin_;
  vp::Event pass_;  // the head piece has passed the engine
  vp::Event end_;

  std::uint64_t copies_ = 0;
  std::uint64_t errors_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace ipu
