// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/queue_controller.h"

#include <algorithm>
#include <utility>

#include "oae_registers.h"

namespace ipu {
namespace {

bool is_data(std::uint64_t offset) {
  return offset >= OAE_QUEUE_DATA && offset < OAE_QUEUE_DATA + QueueController::line_size;
}

}  // namespace

QueueController::QueueController(const sc_core::sc_module_name& name, vp::Domain& domain)
    : RegisterBlock(name, 8),
      interrupt("interrupt"),
      dma("dma"),
      arrival_(domain, [this] { arrive(); }) {
  dma.register_nb_transport_bw(this, &QueueController::nb_transport_bw);
  payload_.set_extension(new pcie::Access);  // the payload owns it
  payload_.set_command(tlm::TLM_WRITE_COMMAND);
  payload_.set_data_ptr(reinterpret_cast<unsigned char*>(line_.data()));
  payload_.set_data_length(line_size);
  payload_.set_streaming_width(line_size);
}

void QueueController::reset() {
  arrival_.cancel();
  sent_.clear();
  forgotten_ = writing_;
  page_ = refused_ = 0;
  data_ = {};
}

std::optional<std::uint64_t> QueueController::read(std::uint64_t offset) {
  if (is_data(offset)) return data_[(offset - OAE_QUEUE_DATA) / 8];
  switch (offset) {
    case OAE_QUEUE_INTERRUPT:
    case OAE_QUEUE_PUSH:
      return 0;
    case OAE_QUEUE_PAGE:
      return page_;
    case OAE_QUEUE_REFUSED:
      return refused_;
    default:
      return std::nullopt;
  }
}

bool QueueController::write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
                            vp::Picoseconds delay) {
  if (is_data(offset)) {
    std::uint64_t& word = data_[(offset - OAE_QUEUE_DATA) / 8];
    word = merge(word, value, mask);
    return true;
  }
  switch (offset) {
    case OAE_QUEUE_INTERRUPT:
      if (mask & OAE_QUEUE_INTERRUPT_VECTOR_MASK)
        send(
            {vp::now() + delay, static_cast<unsigned>(OAE_GET(value, OAE_QUEUE_INTERRUPT_VECTOR))});
      return true;
    case OAE_QUEUE_PAGE:
      page_ = merge(page_, value, mask & OAE_QUEUE_PAGE_ADDRESS_MASK);
      return true;
    case OAE_QUEUE_PUSH:
      if (mask & OAE_QUEUE_PUSH_LINE_MASK)
        push(static_cast<unsigned>(OAE_GET(value, OAE_QUEUE_PUSH_LINE)), delay);
      return true;
    default:
      return read(offset).has_value();
  }
}

void QueueController::push(unsigned line, vp::Picoseconds delay) {
  if (page_ == 0)
    ++refused_;
  else
    send({vp::now() + delay, std::nullopt, page_ + line * line_size, data_});
}

void QueueController::send(const Sent& sent) {
  const auto later = std::upper_bound(
      sent_.begin(), sent_.end(), sent,
      [](const Sent& one, const Sent& other) { return one.arrival < other.arrival; });
  sent_.insert(later, sent);
  if (!writing_) arrival_.at(std::max(vp::now(), sent_.front().arrival));
}

void QueueController::arrive() {
  while (!writing_ && !sent_.empty() && sent_.front().arrival <= vp::now()) {
    const Sent sent = sent_.front();
    sent_.pop_front();
    if (sent.vector) {
      ++interrupts_;
      interrupt->signal(*sent.vector);
    } else {
      write_line(sent);
    }
  }
  if (!writing_ && !sent_.empty()) arrival_.at(sent_.front().arrival);
}

void QueueController::write_line(const Sent& sent) {
  ++lines_;
  line_ = sent.line;
  payload_.set_address(sent.address);
  payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  writing_ = true;
  if (dma->nb_transport_fw(payload_, phase, delay) == tlm::TLM_COMPLETED) written();
}

void QueueController::written() {
  writing_ = false;
  if (!std::exchange(forgotten_, false) && !payload_.is_response_ok()) ++refused_;
}

tlm::tlm_sync_enum QueueController::nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                                    sc_core::sc_time&) {
  written();
  arrive();
  return tlm::TLM_COMPLETED;
}

}  // namespace ipu
