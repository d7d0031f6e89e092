// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "vp/time/time.h"

namespace ipu {

/// Where the bytes of a memory are kept. The IPU's QEMU owns the bytes from which its cores
/// execute. It has to see each write, so that it can discard code that it has translated.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual std::uint64_t size() const = 0;
  /// Copy `length` bytes from or to `offset`; offset + length <= size().
  virtual void read(std::uint64_t offset, std::uint8_t* bytes, std::uint64_t length) = 0;
  virtual void write(std::uint64_t offset, const std::uint8_t* bytes, std::uint64_t length) = 0;
  /// Returns the first byte, for direct reads during the whole simulation, or nullptr if direct
  /// reads are impossible.
  virtual std::uint8_t* bytes() = 0;
  /// Returns whether bytes() may also be written to directly.
  virtual bool direct_writes() const = 0;
};

/// Storage that the model owns. It is zero at first.
class PlainStorage : public Storage {
 public:
  explicit PlainStorage(std::uint64_t size) : bytes_(size) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::uint8_t* bytes, std::uint64_t length) override;
  void write(std::uint64_t offset, const std::uint8_t* bytes, std::uint64_t length) override;
  std::uint8_t* bytes() override { return bytes_.data(); }
  bool direct_writes() const override { return true; }

 private:
  std::vector<std::uint8_t> bytes_;
};

/// SRAM or DRAM: a target with a fixed access time in front of a storage.
///
/// Reads and writes any number of bytes at any alignment; `latency` (0 ps or more) is added to the
/// delay annotation of each access. The response is TLM_ADDRESS_ERROR_RESPONSE beyond the end,
/// TLM_BURST_ERROR_RESPONSE for streaming and TLM_BYTE_ENABLE_ERROR_RESPONSE for byte enables.
/// Grants direct memory access to the whole memory, for reading and, if the storage allows it, for
/// writing.
class Memory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Memory> socket;

  Memory(const sc_core::sc_module_name& name, Storage& storage, vp::Picoseconds latency);

  const Storage& storage() const { return storage_; }

 private:
  tlm::tlm_response_status access(tlm::tlm_generic_payload& payload);
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);

  Storage& storage_;
  const sc_core::sc_time latency_;
};

}  // namespace ipu
