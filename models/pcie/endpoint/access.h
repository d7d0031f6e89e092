// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>

namespace pcie {

/// The operation of an AtomicOp (PCIe 5.0, 6.15). An access with `none` is no AtomicOp.
enum class AtomicOperation : std::uint8_t { none, fetch_add, swap, compare_and_swap };

/// The properties of a PCIe request that a generic payload does not have. The extension accompanies
/// the payload between a function and the device logic behind it.
///
/// A function has two sockets: `bar`, from function to device logic with an offset in the BAR as
/// the address, and `dma`, from device logic to function with a host bus address. Both use this
/// subset of the TLM-2.0 base protocol (IEEE 1666-2011, 15.2):
///   - The initiator calls nb_transport_fw with BEGIN_REQ and 1 to 64 bytes (bar) or 1 to 4096
///   bytes
///     (dma).
///   - A write returns TLM_COMPLETED when the target has accepted the data, since writes are
///   posted.
///     A target without room returns TLM_ACCEPTED, and calls nb_transport_bw with BEGIN_RESP once
///     it has accepted the data. The initiator answers that call with TLM_COMPLETED. Such a write
///     takes effect only then, and a function sends no other write before.
///   - A read returns TLM_ACCEPTED, and the target later calls nb_transport_bw with BEGIN_RESP; or
///     the read returns TLM_COMPLETED at once.
///   - An AtomicOp exists on `dma` only. Its payload has TLM_IGNORE_COMMAND and `atomic`, and its
///     data are the operands: one of 4 or 8 bytes, or for compare_and_swap two of 4, 8 or 16 bytes,
///     the value to compare with first. It completes like a read, and then its first operand holds
///     the value that the target had before.
///   - A deferrable write has `deferrable` and up to 128 bytes, and does not cross 4 KiB. It
///     completes like a read. On `bar` it arrives in one piece, with byte enables if it has a hole.
///     Device logic that cannot accept it yet sets `deferred` and ignores the data. On `dma` it
///     completes when the completer has accepted it; the function repeats a deferred request.
///   - The payload and its data belong to the initiator until the transaction completes.
///   - Unsupported Request corresponds to TLM_ADDRESS_ERROR_RESPONSE and Completer Abort to
///     TLM_GENERIC_ERROR_RESPONSE, for responses on `bar` and for completions of DMA reads.
struct Access : tlm::tlm_extension<Access> {
  std::uint8_t bar = 0;                ///< BAR number, 0 to 5; the lower number of a 64-bit BAR
  std::uint8_t function = 0;           ///< number of the physical function within the device
  std::uint16_t virtual_function = 0;  ///< number from 1, or 0 for the physical function itself
  std::uint16_t requester = 0;         ///< bus[15:8] device[7:3] function[2:0]
  std::uint8_t traffic_class = 0;      ///< 0 to 7
  bool relaxed_ordering = false;       ///< RO attribute
  bool id_based_ordering = false;      ///< IDO attribute
  AtomicOperation atomic = AtomicOperation::none;
  bool deferrable = false;  ///< whether the completer may defer the write (PCIe 6.0, 6.32)
  bool deferred = false;    ///< set by device logic that has deferred the write

  tlm_extension_base* clone() const override { return new Access(*this); }
  void copy_from(const tlm_extension_base& other) override {
    *this = static_cast<const Access&>(other);
  }
};

/// The interface by which device logic requests interrupts from its function.
struct InterruptIf : virtual sc_core::sc_interface {
  /// Sends the vector by MSI-X if that is enabled, or else by MSI if that is enabled. A masked
  /// vector becomes pending instead. The request is ignored and counted if neither is enabled, or
  /// if the vector is beyond the table or beyond the vectors that software has granted.
  virtual void signal(unsigned vector) = 0;
};

/// The mechanism that software has enabled for a function's interrupts (PCIe 5.0, 6.1).
enum class InterruptMode : std::uint8_t { intx, msi, msi_x };

/// The interface for device logic that distinguishes the mechanisms or drives a pin.
struct InterruptModesIf : InterruptIf {
  virtual InterruptMode interrupt_mode() const = 0;
  /// The vectors that signal() accepts now, 0 in INTx mode.
  virtual unsigned interrupt_vectors() const = 0;
  /// Sets the level of the function's INTx pin, which is sent in INTx mode. A function without a
  /// pin ignores the call.
  virtual void set_intx(bool level) = 0;
};

}  // namespace pcie
