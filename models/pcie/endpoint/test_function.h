// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "models/pcie/endpoint/access.h"
#include "models/pcie/endpoint/function.h"
#include "vp/time/domain.h"

namespace pcie {

struct TestFunctionConfig {
  vp::Picoseconds latency = 0;         ///< from a command to its first request, 0 or more
  std::uint64_t bytes_per_second = 1;  ///< at which data passes, 1 or more
  unsigned outstanding = 1;            ///< pieces of up to 4 KiB asked for ahead, 1 or more
};

/// Device logic by which a host tries out BARs, interrupts and DMA of a function: the counterpart
/// of Linux's driver pci_endpoint_test, with the registers of Linux's own endpoint function
/// (Linux, Documentation/PCI/endpoint/pci-test-function.rst).
///
///     BAR 0, 32 bits each, memory but for what they do
///     0x00 magic
///     0x04 command       raise INTx 0, MSI 1, MSI-X 2; read 3, write 4, copy 5; 0 once taken
///     0x08 status        read done 0, failed 1; write 2, 3; copy 4, 5; interrupt raised 6;
///                        source invalid 7, destination invalid 8
///     0x0c source        0x10 its upper half; host bus address
///     0x14 destination   0x18 its upper half
///     0x1c size          bytes, 1 to 1 MiB
///     0x20 checksum      of the data, CRC-32 (IEEE 802.3) without the inversion at the end
///     0x24 interrupt     by which a transfer tells its end: 0 INTx, 1 MSI, 2 MSI-X
///     0x28 number        of its vector and of that to raise, from 1 on
///     0x2c flags         no effect: all data moves by DMA
///     0x1000 MSI-X pending bits   0x8000 MSI-X table
///     BAR 1 to 5: memory
///
/// A read passes if the data has the checksum; a write makes data up and tells their checksum. A
/// command is one bit. One that is several, or comes while a transfer runs, is not begun, and if it
/// names transfers, they have failed. Posted writes have no answer, so one to an address that is
/// not there is lost and the transfer succeeds. INTx stands until software clears `interrupt
/// raised`; what software has not enabled or granted is not raised.
class TestFunction : public sc_core::sc_module {
 public:
  static constexpr std::uint64_t max_size = 1 << 20;  ///< bytes of a transfer

  /// From the function's `bar`, and to its `dma` and itself. Protocol: access.h.
  tlm_utils::simple_target_socket<TestFunction> bar;
  tlm_utils::simple_initiator_socket<TestFunction> dma;
  sc_core::sc_port<InterruptModesIf> interrupt;

  /// The function in front of it, without its identity. Six 32-bit BARs; 0 vectors: none.
  static FunctionConfig function_config(unsigned msi_vectors, unsigned msi_x_vectors);

  /// Throws ConfigurationError if a value is impossible.
  TestFunction(const sc_core::sc_module_name& name, const TestFunctionConfig& config,
               vp::Domain& domain);

  /// As the function's, in any way: no transfer runs, registers and BARs are zero.
  void reset();

 private:
  static constexpr unsigned piece_size = 4096;

  enum Word : unsigned {
    magic,
    command,
    status,
    source,
    upper_source,
    destination,
    upper_destination,
    size,
    checksum,
    interrupt_type,
    interrupt_number,
    flags,
    words
  };

  struct Piece {
    Piece() { payload.set_extension(new Access); }  // the payload owns it
    tlm::tlm_generic_payload payload;
    std::array<std::uint8_t, piece_size> data;
    std::uint64_t destination;
    std::uint32_t length;
    bool landed;  // its data is here, or is not going to be
  };

  tlm::tlm_sync_enum access(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                            sc_core::sc_time& delay);
  void write(std::uint64_t offset, const std::uint8_t* data, unsigned bytes);
  std::uint64_t address(Word low) const {
    return words_[low] | std::uint64_t{words_[low + 1]} << 32;
  }

  void take_command();
  void start(std::uint32_t what);
  void advance();
  void fetch_ahead();
  void fetch(Piece& piece);
  void pass_head();
  void deliver();
  void delivered();
  void fail(tlm::tlm_response_status response, std::uint32_t invalid);
  void finish();
  void raise(std::uint32_t type);
  void set_pin(bool level);
  tlm::tlm_sync_enum response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  Piece& piece(std::uint64_t number) { return pieces_[number % pieces_.size()]; }

  const TestFunctionConfig config_;

  std::array<std::uint32_t, words> words_{};
  std::array<std::vector<std::uint8_t>, 6> memory_;  // behind BAR 1 to 5
  bool pin_ = false;

  // The transfer that runs.
  struct Transfer {
    std::uint32_t command;  // 0: none runs
    std::uint64_t source;
    std::uint64_t destination;
    std::uint32_t left;      // bytes not asked for yet
    std::uint32_t checksum;  // that a read has to have
    std::uint32_t crc;       // of what has passed, with the inversion at the end
    std::uint32_t status;    // failures and what was invalid
    std::uint32_t refused;   // failures of commands that came while it runs
  };
  Transfer transfer_{};
  std::vector<Piece> pieces_;  // a ring; pieces fetched_ - delivered_ are in use
  std::uint64_t fetched_ = 0;
  std::uint64_t delivered_ = 0;
  bool writing_ = false;  // there is no room for the head piece yet
  std::mt19937_64 random_;
  vp::Event begin_;
  vp::Event pass_;  // the head piece has passed
  vp::Event end_;
};

}  // namespace pcie
