// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>

namespace pcie {

/// What an AtomicOp does with its target (PCIe 5.0, 6.15); `none` is no AtomicOp.
enum class AtomicOperation : std::uint8_t { none, fetch_add, swap, compare_and_swap };

/// What a PCIe request says beyond address and data; rides on the generic payload between a
/// function and the device logic behind it.
///
/// Protocol on both of a function's sockets, `bar` (function to device logic, address = offset in
/// the BAR) and `dma` (device logic to function, address = host bus address), a subset of the
/// TLM-2.0 base protocol (IEEE 1666-2011, 15.2):
///   - the initiator calls nb_transport_fw with BEGIN_REQ, 1 to 64 bytes (bar) or 1 to 4096 (dma);
///   - a write answers TLM_COMPLETED: it is posted, the target has taken the data. Or, while the
///     target has no room, TLM_ACCEPTED, and once it has taken the data it calls nb_transport_bw
///     with BEGIN_RESP, which the initiator answers with TLM_COMPLETED. Only then has the write
///     its place among all that happens; until then a function sends no other write;
///   - a read answers TLM_ACCEPTED, and later the target calls nb_transport_bw with BEGIN_RESP.
///     Or the read answers TLM_COMPLETED at once;
///   - an AtomicOp, on `dma` only, is a payload of TLM_IGNORE_COMMAND with `atomic` and its
///   operands
///     as data: one of 4 or 8 bytes, for compare_and_swap two of 4, 8 or 16, what to compare with
///     first. It is answered as a read is, and its first operand has become the value before;
///   - a deferrable write is a write of up to 128 bytes with `deferrable`, that does not cross 4
///   KiB.
///     It is answered as a read is. On `bar` it comes in one piece, with byte enables if there is a
///     hole in it; device logic that cannot take it now sets `deferred` and has done nothing. On
///     `dma` it ends when it has been taken: what was deferred is sent again;
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
  AtomicOperation atomic = AtomicOperation::none;
  bool deferrable = false;  ///< a write that may be deferred (PCIe 6.0, 6.32)
  bool deferred = false;    ///< and was, says device logic

  tlm_extension_base* clone() const override { return new Access(*this); }
  void copy_from(const tlm_extension_base& other) override {
    *this = static_cast<const Access&>(other);
  }
};

/// How device logic asks its function for an interrupt.
struct InterruptIf : virtual sc_core::sc_interface {
  /// Sends vector `vector` by MSI-X if that is enabled, else by MSI if that is; while the vector is
  /// masked, its pending bit is set instead. Ignored and counted if neither is enabled, or the
  /// vector is beyond the table or what software has granted.
  virtual void signal(unsigned vector) = 0;
};

/// By what software lets a function interrupt (PCIe 5.0, 6.1).
enum class InterruptMode : std::uint8_t { intx, msi, msi_x };

/// For device logic that knows the ways apart, or has a pin.
struct InterruptModesIf : InterruptIf {
  virtual InterruptMode interrupt_mode() const = 0;
  /// Vectors that signal() takes now; 0 in INTx mode.
  virtual unsigned interrupt_vectors() const = 0;
  /// The level of the function's INTx pin, passed on in INTx mode; ignored by a function without.
  virtual void set_intx(bool level) = 0;
};

}  // namespace pcie
