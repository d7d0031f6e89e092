// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/dma_engine.h"

#include <algorithm>

#include "oae_registers.h"
#include "vp/time/transfer.h"

namespace ipu {
namespace {

constexpr std::uint64_t control_mask =
    OAE_DMA_CONTROL_START_MASK | OAE_DMA_CONTROL_SOURCE_HOST_MASK |
    OAE_DMA_CONTROL_DESTINATION_HOST_MASK | OAE_DMA_CONTROL_IRQ_ENABLE_MASK;
constexpr std::uint64_t status_mask = OAE_DMA_STATUS_DONE_MASK | OAE_DMA_STATUS_ERROR_MASK;

}  // namespace

DmaEngine::DmaEngine(const sc_core::sc_module_name& name, vp::Domain& domain, const Timing& timing,
                     unsigned line)
    : RegisterBlock(name, 8),
      memory("memory"),
      host("host"),
      irq("irq", line),
      timing_(timing),
      pieces_(timing.outstanding),
      begin_(domain, [this] { advance(); }),
      pass_(domain, [this] { deliver(); }),
      end_(domain, [this] { finish(); }) {
  host.register_nb_transport_bw(this, &DmaEngine::nb_transport_bw);
}

void DmaEngine::reset() {
  for (vp::Event* event : {&begin_, &pass_, &end_}) event->cancel();
  delivered_ = fetched_;
  copy_ = {};
  source_ = destination_ = length_ = control_ = status_ = 0;
  update_irq();
}

std::optional<std::uint64_t> DmaEngine::read(std::uint64_t offset) {
  switch (offset) {
    case OAE_DMA_SOURCE:
      return source_;
    case OAE_DMA_DESTINATION:
      return destination_;
    case OAE_DMA_LENGTH:
      return length_;
    case OAE_DMA_CONTROL:
      return control_;
    case OAE_DMA_STATUS:
      return status_;
    default:
      return std::nullopt;
  }
}

bool DmaEngine::write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
                      vp::Picoseconds delay) {
  switch (offset) {
    case OAE_DMA_SOURCE:
      source_ = merge(source_, value, mask);
      break;
    case OAE_DMA_DESTINATION:
      destination_ = merge(destination_, value, mask);
      break;
    case OAE_DMA_LENGTH:
      length_ = merge(length_, value, mask & OAE_DMA_LENGTH_BYTES_MASK);
      break;
    case OAE_DMA_CONTROL: {
      const bool running = control_ & OAE_DMA_CONTROL_START_MASK;
      const std::uint64_t fixed = running ? OAE_DMA_CONTROL_START_MASK : 0;
      control_ = merge(control_, value, mask & control_mask & ~fixed);
      if (!running && (control_ & OAE_DMA_CONTROL_START_MASK)) start(delay);
      break;
    }
    case OAE_DMA_STATUS:
      status_ &= ~(value & status_mask);
      break;
    default:
      return false;
  }
  update_irq();
  return true;
}

void DmaEngine::start(vp::Picoseconds delay) {
  status_ = 0;
  copy_ = {source_,
           destination_,
           length_,
           (control_ & OAE_DMA_CONTROL_SOURCE_HOST_MASK) != 0,
           (control_ & OAE_DMA_CONTROL_DESTINATION_HOST_MASK) != 0,
           false,
           0};
  begin_.after(delay + timing_.latency);
}

void DmaEngine::advance() {
  fetch_ahead();
  pass_head();
  if (copy_.left == 0 && fetched_ == delivered_) {
    end_.at(std::max(vp::now(), copy_.written));
  }
}

// A target may answer within the call, so all members are up to date before each request.
void DmaEngine::fetch_ahead() {
  while (copy_.left > 0 && fetched_ - delivered_ < pieces_.size()) {
    Piece& next = piece(fetched_++);
    const std::uint64_t source = copy_.source;
    const std::uint64_t length = std::min({copy_.left, timing_.piece - copy_.source % timing_.piece,
                                           timing_.piece - copy_.destination % timing_.piece});
    next.destination = copy_.destination;
    next.length = static_cast<std::uint32_t>(length);
    next.landed = vp::never;
    copy_.source += length;
    copy_.destination += length;
    copy_.left -= length;
    fetch(next, source);
  }
}

void DmaEngine::fetch(Piece& piece, std::uint64_t source) {
  piece.payload.set_read();
  piece.payload.set_address(source);
  piece.payload.set_data_ptr(piece.data.data());
  piece.payload.set_data_length(piece.length);
  piece.payload.set_streaming_width(piece.length);
  piece.payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  if (!copy_.source_host) {
    piece.landed = access_memory(piece);
    return;
  }
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  if (host->nb_transport_fw(piece.payload, phase, delay) == tlm::TLM_COMPLETED) {
    piece.landed = vp::now() + static_cast<vp::Picoseconds>(delay.value());
  }
}

tlm::tlm_sync_enum DmaEngine::nb_transport_bw(tlm::tlm_generic_payload& payload,
                                              tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  for (std::uint64_t number = delivered_; number != fetched_; ++number) {
    Piece& waiting = piece(number);
    if (&waiting.payload != &payload) continue;
    if (payload.is_write()) {
      writing_ = false;
      delivered(vp::now() + static_cast<vp::Picoseconds>(delay.value()));
      break;
    }
    waiting.landed = vp::now() + static_cast<vp::Picoseconds>(delay.value());
    advance();
    break;
  }
  return tlm::TLM_COMPLETED;
}

// Pieces pass in order. Those after a failed one are dropped.
void DmaEngine::pass_head() {
  while (delivered_ != fetched_) {
    const Piece& head = piece(delivered_);
    if (head.landed == vp::never || pass_.pending() || writing_) return;
    if (!copy_.failed && head.payload.is_response_ok()) {
      pass_.at(std::max(vp::now(), head.landed) +
               vp::transfer_time(head.length, timing_.bytes_per_second));
      return;
    }
    fail();
    copy_.written = std::max(copy_.written, head.landed);
    ++delivered_;
  }
}

void DmaEngine::deliver() {
  Piece& head = piece(delivered_);
  head.payload.set_write();
  head.payload.set_address(head.destination);
  head.payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  vp::Picoseconds written = vp::now();
  if (copy_.destination_host) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    writing_ = host->nb_transport_fw(head.payload, phase, delay) == tlm::TLM_ACCEPTED;
    if (writing_) return;
    written += static_cast<vp::Picoseconds>(delay.value());
  } else {
    written = access_memory(head);
  }
  delivered(written);
}

void DmaEngine::delivered(vp::Picoseconds written) {
  const Piece& head = piece(delivered_);
  copy_.written = std::max(copy_.written, written);
  if (head.payload.is_response_ok()) {
    bytes_ += head.length;
  } else {
    fail();
  }
  ++delivered_;
  advance();
}

// Ends the copy: requests no more pieces.
void DmaEngine::fail() {
  copy_.failed = true;
  copy_.left = 0;
}

void DmaEngine::finish() {
  ++copies_;
  if (copy_.failed) ++errors_;
  control_ &= ~OAE_DMA_CONTROL_START_MASK;
  status_ |= OAE_DMA_STATUS_DONE_MASK | OAE_PUT(OAE_DMA_STATUS_ERROR, copy_.failed);
  update_irq();
}

void DmaEngine::update_irq() {
  irq.set((status_ & OAE_DMA_STATUS_DONE_MASK) && (control_ & OAE_DMA_CONTROL_IRQ_ENABLE_MASK));
}

// The engine has no process of its own, so it must not reach a target that might wait, such as a
// register block behind a clock.
vp::Picoseconds DmaEngine::access_memory(Piece& piece) {
  sc_core::sc_time delay;
  if (is_memory(piece.payload.get_address(), piece.length)) {
    memory->b_transport(piece.payload, delay);
  } else {
    piece.payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  return vp::now() + static_cast<vp::Picoseconds>(delay.value());
}

bool DmaEngine::is_memory(std::uint64_t address, std::uint64_t length) {
  probe_.set_read();
  probe_.set_address(address);
  probe_.set_data_length(static_cast<unsigned>(length));
  tlm::tlm_dmi dmi;
  return memory->get_direct_mem_ptr(probe_, dmi) && dmi.is_read_allowed() &&
         address >= dmi.get_start_address() && address + (length - 1) <= dmi.get_end_address();
}

}  // namespace ipu
