// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>

namespace pcie {

/// What a PCIe request says beyond address and data; rides on the generic payload between a
/// function and the device logic behind it.
///
/// Protocol on both of a function's sockets, `bar` (function to device logic, address = offset in
/// the BAR) and `dma` (device logic to function, address = host bus address), a subset of the
/// TLM-2.0 base protocol (IEEE 1666-2011, 15.2):
///   - the initiator calls nb_transport_fw with BEGIN_REQ, 1 to 64 bytes (bar) or 1 to 4096 (dma);
///   - a write answers TLM_COMPLETED: it is posted, the target has taken the data;
///   - a read answers TLM_ACCEPTED, and later the target calls nb_transport_bw with BEGIN_RESP,
///     which the initiator answers with TLM_COMPLETED. Or the read answers TLM_COMPLETED at once.
///   - the payload and its data belong to the initiator until the transaction completes;
///   - TLM_ADDRESS_ERROR_RESPONSE becomes Unsupported Request, TLM_GENERIC_ERROR_RESPONSE becomes
///     Completer Abort, and the reverse for completions of DMA reads.
struct Access : tlm::tlm_extension<Access> {
  std::uint8_t bar = 0;       ///< BAR number, 0 to 5, of a 64-bit BAR the lower
  std::uint8_t function = 0;  ///< function number within the device, of a physical function
  std::uint16_t virtual_function = 0;  ///< from 1 on; 0 for the physical function itself
  std::uint16_t requester = 0;         ///< bus[15:8] device[7:3] function[2:0]
  std::uint8_t traffic_class = 0;      ///< 0 to 7
  bool relaxed_ordering = false;       ///< RO attribute
  bool id_based_ordering = false;      ///< IDO attribute

  tlm_extension_base* clone() const override { return new Access(*this); }
  void copy_from(const tlm_extension_base& other) override {
    *this = static_cast<const Access&>(other);
  }
};

/// How device logic asks its function for an interrupt.
struct InterruptIf : virtual sc_core::sc_interface {
  /// Sends vector `vector` by MSI-X, or sets its pending bit while it is masked; a vector beyond
  /// the table is ignored and counted.
  virtual void signal(unsigned vector) = 0;
};

}  // namespace pcie
