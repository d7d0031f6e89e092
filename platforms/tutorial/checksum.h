// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

/// A device that reads bytes from memory and computes their CRC-32 (IEEE 802.3). It is a plain
/// model of SystemC and TLM-2.0, which knows neither PCIe nor oae-vp.
///
///     0x00 address   rw  of the bytes, lower half     0x04  upper half
///     0x08 length    rw  1 to 65536
///     0x0c start     wo  any value; without effect while the device is busy
///     0x10 status    rw  busy 1, done 2, failed 4; any write clears done and failed
///     0x14 result    ro  the CRC-32 of the last bytes
///
/// Registers have 32 bits. The interrupt output is high while done or failed is set.
class Checksum : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Checksum> registers;
  tlm_utils::simple_initiator_socket<Checksum> memory;
  sc_core::sc_out<bool> irq;

  /// `per_byte` is the time that a byte takes in the device, after it has arrived.
  Checksum(const sc_core::sc_module_name& name, sc_core::sc_time per_byte);

  /// Ends the work and clears the registers.
  void reset();

 private:
  enum Register : unsigned { address, upper_address, length, start, status, result, count };
  enum Status : std::uint32_t { busy = 1, done = 2, failed = 4 };
  static constexpr std::uint32_t longest = 65536;

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void write(unsigned number, std::uint32_t value);
  void work();
  bool fetch();
  void set_status(std::uint32_t value);

  const sc_core::sc_time per_byte_;
  std::uint32_t values_[count] = {};
  std::vector<unsigned char> bytes_;
  unsigned resets_ = 0;
  sc_core::sc_event started_;
};
