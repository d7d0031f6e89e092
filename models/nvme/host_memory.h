// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <systemc>
#include <utility>
#include <vector>

#include "models/pcie/endpoint/access.h"
#include "vp/ring.h"
#include "vp/time/domain.h"

namespace nvme {

/// The controller's accesses to host memory, through the function's DMA. Any number may be under
/// way.
///
/// An access ends in an appointment of its own, at the instant of the function's answer and never
/// within the call that started it. A reset of the function, which answers all accesses first, can
/// therefore forget them before anybody hears of it.
class HostMemory : public sc_core::sc_module {
 public:
  static constexpr unsigned most_bytes = 4096;  ///< of one access

  /// Called at the end of an access. `ok` is false if the function has refused it, or if a read has
  /// failed: an Unsupported Request, a Completer Abort, a timeout, or poisoned data. `data` are the
  /// bytes, which are valid during the call.
  using Done = std::function<void(bool ok, const std::uint8_t* data)>;

  /// To the function's `dma` socket. Protocol: models/pcie/endpoint/access.h.
  tlm_utils::simple_initiator_socket<HostMemory> dma;

  /// Calls `idle` when the last write has left of those for which writing() held.
  HostMemory(const sc_core::sc_module_name& name, vp::Domain& domain, std::function<void()> idle)
      : sc_module(name), dma("dma"), idle_(std::move(idle)), end_(domain, [this] { end(); }) {
    dma.register_nb_transport_bw(this, &HostMemory::nb_transport_bw);
  }

  /// 1 to `most_bytes` bytes.
  void read(std::uint64_t address, unsigned bytes, Done done) {
    Transfer& transfer = allocate(address, bytes, std::move(done));
    transfer.set_read();
    start(transfer);
  }
  void write(std::uint64_t address, const void* data, unsigned bytes, Done done) {
    Transfer& transfer = allocate(address, bytes, std::move(done));
    std::memcpy(transfer.data.data(), data, bytes);
    transfer.set_write();
    ++writes_;
    start(transfer);
  }

  /// Whether writes have not left yet, so that they may still change host memory.
  bool writing() const { return writes_ > 0; }

  /// Nobody hears of the accesses so far. The function may still work on them.
  void forget() { ++life_; }

 private:
  struct Transfer : tlm::tlm_generic_payload {
    Transfer() { set_extension(new pcie::Access); }  // the payload owns it
    std::array<std::uint8_t, most_bytes> data;
    Done done;
    std::uint64_t life;
  };

  Transfer& allocate(std::uint64_t address, unsigned bytes, Done done) {
    if (free_.empty()) {
      transfers_.push_back(std::make_unique<Transfer>());
      free_.push_back(transfers_.back().get());
    }
    Transfer& transfer = *free_.back();
    free_.pop_back();
    transfer.set_address(address);
    transfer.set_data_ptr(transfer.data.data());
    transfer.set_data_length(bytes);
    transfer.set_streaming_width(bytes);
    transfer.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    transfer.done = std::move(done);
    transfer.life = life_;
    return transfer;
  }

  void start(Transfer& transfer) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    if (dma->nb_transport_fw(transfer, phase, delay) == tlm::TLM_COMPLETED) {
      answered(transfer);
    }
  }

  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time&) {
    if (phase == tlm::BEGIN_RESP) answered(static_cast<Transfer&>(payload));
    return tlm::TLM_COMPLETED;
  }

  void answered(Transfer& transfer) {
    if (transfer.is_write()) --writes_;
    ended_.push(&transfer);
    if (!end_.pending()) end_.at(vp::now());
  }

  void end() {
    while (!ended_.empty()) {
      Transfer& transfer = *ended_.pop();
      const Done done = std::exchange(transfer.done, nullptr);
      if (transfer.life == life_) done(transfer.is_response_ok(), transfer.data.data());
      free_.push_back(&transfer);
    }
    if (!writing()) idle_();
  }

  const std::function<void()> idle_;
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::vector<Transfer*> free_;
  vp::Ring<Transfer*> ended_;
  unsigned writes_ = 0;
  std::uint64_t life_ = 0;
  vp::Event end_;
};

}  // namespace nvme
