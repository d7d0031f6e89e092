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
  vp::Picoseconds latency = 0;         ///< time from a command to its first request, 0 or more
  std::uint64_t bytes_per_second = 1;  ///< rate at which data passes, 1 or more
  unsigned outstanding = 1;            ///< pieces of up to 4 KiB requested in advance, 1 or more
};

/// Device logic with which a host can test BARs, interrupts and DMA of a function. It is the
/// counterpart of Linux's driver pci_endpoint_test and has the registers of Linux's own endpoint
/// function (Linux, Documentation/PCI/endpoint/pci-test-function.rst).
///
///     BAR 0 has registers of 32 bits. Those without an effect are memory.
///     0x00 magic
///     0x04 command       raise INTx 0, MSI 1, MSI-X 2; read 3, write 4, copy 5; reads 0 afterwards
///     0x08 status        read done 0, failed 1; write 2, 3; copy 4, 5; interrupt raised 6;
///                        source invalid 7, destination invalid 8
///     0x0c source        0x10 its upper half; a host bus address
///     0x14 destination   0x18 its upper half
///     0x1c size          bytes, 1 to 1 MiB
///     0x20 checksum      CRC-32 of the data (IEEE 802.3) without the final inversion
///     0x24 interrupt     type that signals the end of a transfer: 0 INTx, 1 MSI, 2 MSI-X
///     0x28 number        vector for that and for the raise commands, from 1
///     0x2c flags         no effect, since all data moves by DMA
///     0x1000 MSI-X pending bits   0x8000 MSI-X table
///     BAR 1 to 5 are memory.
///
/// A read succeeds if the data has the expected checksum. A write generates data and stores their
/// checksum. A command is a single bit. A command with several bits, or one that arrives during a
/// transfer, is not executed; the transfers that it names have failed. Posted writes have no
/// completion, so a transfer to an address that does not exist succeeds and the data is lost. INTx
/// stays asserted until software clears `interrupt raised`. An interrupt that software has not
/// enabled or granted is not raised.
class TestFunction : public sc_core::sc_module {
 public:
  static constexpr std::uint64_t max_size = 1 << 20;  ///< bytes of a transfer

  /// `bar` comes from the function; `dma` and `interrupt` lead to it. Protocol: access.h.
  tlm_utils::simple_target_socket<TestFunction> bar;
  tlm_utils::simple_initiator_socket<TestFunction> dma;
  sc_core::sc_port<InterruptModesIf> interrupt;

  /// The configuration of its function, without an identity. 0 vectors omit the capability.
  static FunctionConfig function_config(unsigned msi_vectors, unsigned msi_x_vectors);

  /// Throws ConfigurationError if a value is impossible.
  TestFunction(const sc_core::sc_module_name& name, const TestFunctionConfig& config,
               vp::Domain& domain);

  /// Must be called at any reset of the function: ends the transfer, clears registers and memory.
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
    bool arrived;  // the data is complete, or the read has failed
  };

  tlm::tlm_sync_enum access(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                            sc_core::sc_time& delay);
  void write(std::uint64_t offset, const std::uint8_t* data, unsigned bytes);
  std::uint64_t address(Word low) const {
    return words_[low] | std::uint64_t{words_[low + 1]} << 32;
  }

  void accept_command();
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
  std::array<std::vector<std::uint8_t>, 6> memory_;  // behind BAR 1 to 5; entry 0 is empty
  bool pin_ = false;

  // The transfer in progress.
  struct Transfer {
    std::uint32_t command;  // 0 without a transfer
    std::uint64_t source;
    std::uint64_t destination;
    std::uint32_t left;      // bytes not requested yet
    std::uint32_t checksum;  // expected checksum of a read
    std::uint32_t crc;       // CRC-32 of the data so far, with the final inversion
    std::uint32_t status;    // status bits of failures and invalid addresses
    std::uint32_t refused;   // status bits of commands that arrived during the transfer
  };
  Transfer transfer_{};
  std::vector<Piece> pieces_;  // a ring of which fetched_ - delivered_ entries are in use
  std::uint64_t fetched_ = 0;
  std::uint64_t delivered_ = 0;
  bool writing_ = false;  // the write of the head piece is not accepted yet
  std::mt19937_64 random_;
  vp::Event begin_;
  vp::Event pass_;  // the moment at which the head piece has passed
  vp::Event end_;
};

}  // namespace pcie
