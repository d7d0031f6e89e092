// SPDX-License-Identifier: Apache-2.0
#include "models/host/device_memory.h"

#include <fmt/format.h>

#include <cstring>

namespace host {
namespace {

using Operation = vp::ProcessorAccess::Operation;
using vp::MemoryType;

void answer(tlm::tlm_generic_payload& payload, const LineData& line) {
  std::memcpy(payload.get_data_ptr(), line.data() + offset_in_line(payload.get_address()),
              payload.get_data_length());
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace

DeviceMemory::DeviceMemory(const sc_core::sc_module_name& name, const DeviceMemoryConfig& config,
                           vp::Statistics& statistics)
    : sc_module(name), processor("processor"), out("out"), config_(config) {
  processor.register_b_transport(this, &DeviceMemory::transport);
  processor.register_transport_dbg(this, &DeviceMemory::transport_dbg);
  for (unsigned i = 0; i < lines_read; ++i) {
    sc_core::sc_spawn([this, i] { run_fill(fills_[i]); }, fmt::format("fill{}", i).c_str());
  }
  const std::string prefix = std::string(this->name()) + ".";
  statistics.counter(prefix + "combined_writes", combined_writes_);
  statistics.counter(prefix + "partial_writes", partial_writes_);
  statistics.counter(prefix + "streamed_lines", streamed_lines_);
  statistics.counter(prefix + "lines_filled", lines_filled_);
  statistics.counter(prefix + "line_hits", line_hits_);
  statistics.counter(prefix + "prefetches", prefetches_);
}

void DeviceMemory::end_of_elaboration() {
  for (unsigned i = 0; i < processor.size(); ++i) {
    Processor& one = processors_.emplace_back();
    if (config_.write_combining_buffers == 0) continue;
    one.buffers.emplace(config_.write_combining_buffers, [this, &one](std::uint64_t address,
                                                                      const std::uint8_t* data,
                                                                      unsigned bytes) {
      ++(bytes == line_size ? combined_writes_ : partial_writes_);
      pass(one.payload, tlm::TLM_WRITE_COMMAND, address, const_cast<std::uint8_t*>(data), bytes);
    });
  }
}

void DeviceMemory::reset() {
  lines_.clear();
  for (Fill& fill : fills_) fill.dropped = true;
  for (Processor& one : processors_) {
    if (one.buffers) one.buffers->clear();
    one.unread = 0;
    one.streaming_bytes = 0;
  }
}

void DeviceMemory::transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  auto* request = payload.get_extension<Access>();
  if (request == nullptr) return out->b_transport(payload, delay);
  Processor& who = processors_[static_cast<std::size_t>(id)];
  const bool combining = request->type == MemoryType::write_combining;
  if (request->operation != Operation::access) {
    act(who, *request, payload.get_address(), payload.get_data_length());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  } else if (combining && who.buffers) {
    combine(who, payload, delay);
  } else if (combining || request->type == MemoryType::uncacheable) {
    if (who.holds()) drain(who);
    out->b_transport(payload, delay);
  } else if (payload.is_read()) {
    load(payload);
  } else {
    store(request->type, payload, delay);
  }
  request->holding = who.holds();
}

unsigned DeviceMemory::transport_dbg(int, tlm::tlm_generic_payload& payload) {
  return out->transport_dbg(payload);
}

void DeviceMemory::act(Processor& processor, const Access& request, std::uint64_t address,
                       unsigned bytes) {
  switch (request.operation) {
    case Operation::access:
      break;
    case Operation::drain:
      return drain(processor);
    case Operation::flush:
      return flush(address);
    case Operation::prefetch:
      if (request.type != MemoryType::uncacheable && request.type != MemoryType::write_combining) {
        prefetch(address);
      }
      break;
    case Operation::stream:
      if (request.type == MemoryType::write_combining && processor.buffers) {
        stream(processor, address, bytes);
      }
      break;
  }
}

void DeviceMemory::combine(Processor& processor, tlm::tlm_generic_payload& payload,
                           sc_core::sc_time& delay) {
  const std::uint64_t address = payload.get_address();
  CombiningBuffers& buffers = *processor.buffers;
  if (payload.is_write()) {
    if (processor.streamed_line == line_of(address)) processor.unread = 0;
    buffers.store(address, payload.get_data_ptr(), payload.get_data_length());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  } else if (!load_streamed(processor, payload)) {
    buffers.evict(address);
    out->b_transport(payload, delay);
  }
}

bool DeviceMemory::load_streamed(Processor& processor, tlm::tlm_generic_payload& payload) {
  const unsigned bytes = payload.get_data_length();
  if (processor.streaming_bytes < bytes || payload.get_address() != processor.streaming) {
    processor.streaming_bytes = 0;
    return false;
  }
  processor.streaming += bytes;
  processor.streaming_bytes -= bytes;
  processor.unread &= ~byte_mask(payload.get_address(), bytes);
  answer(payload, processor.streamed);
  return true;
}

void DeviceMemory::stream(Processor& processor, std::uint64_t address, unsigned bytes) {
  const std::uint64_t line = line_of(address), wanted = byte_mask(address, bytes);
  if (processor.streamed_line != line || (processor.unread & wanted) != wanted) {
    processor.buffers->evict(address);
    processor.unread = 0;
    if (!pass(processor.payload, tlm::TLM_READ_COMMAND, line, processor.streamed.data(),
              line_size)) {
      return;
    }
    ++streamed_lines_;
    processor.streamed_line = line;
    processor.unread = ~std::uint64_t{0};
  }
  processor.streaming = address;
  processor.streaming_bytes = bytes;
}

void DeviceMemory::prefetch(std::uint64_t address) {
  while (lines_.find(address) == nullptr && filling(address) == nullptr) {
    if (start_fill(address) != nullptr) {
      ++prefetches_;
      // Waits until the read is on its way, since its answer bounds how far the processor may run
      // ahead.
      return wait(sc_core::SC_ZERO_TIME);
    }
    wait(idle_fill_);
  }
}

void DeviceMemory::load(tlm::tlm_generic_payload& payload) {
  const std::uint64_t address = payload.get_address();
  for (;;) {
    if (const LineData* line = lines_.find(address)) {
      ++line_hits_;
      return answer(payload, *line);
    }
    Fill* fill = filling(address);
    if (fill == nullptr) fill = start_fill(address);
    wait(fill != nullptr ? fill->done : idle_fill_);
    // A line that was dropped on its way may be older than what the processor has seen since.
    if (fill == nullptr || fill->dropped) continue;
    answer(payload, fill->data);
    if (!fill->good) payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
}

void DeviceMemory::store(MemoryType type, tlm::tlm_generic_payload& payload,
                         sc_core::sc_time& delay) {
  const std::uint64_t address = payload.get_address();
  if (Fill* on_its_way = filling(address)) on_its_way->dropped = true;
  if (type == MemoryType::write_protected) {
    lines_.drop(address);
  } else if (LineData* line = lines_.find(address)) {
    std::memcpy(line->data() + offset_in_line(address), payload.get_data_ptr(),
                payload.get_data_length());
  }
  out->b_transport(payload, delay);
}

void DeviceMemory::flush(std::uint64_t address) {
  lines_.drop(address);
  if (Fill* on_its_way = filling(address)) on_its_way->dropped = true;
}

void DeviceMemory::drain(Processor& processor) {
  if (processor.buffers) processor.buffers->drain();
  processor.unread = 0;
}

DeviceMemory::Fill* DeviceMemory::filling(std::uint64_t address) {
  for (Fill& fill : fills_) {
    if (fill.busy && !fill.dropped && fill.line == line_of(address)) return &fill;
  }
  return nullptr;
}

// Returns nullptr while all are busy.
DeviceMemory::Fill* DeviceMemory::start_fill(std::uint64_t address) {
  for (Fill& fill : fills_) {
    if (fill.busy) continue;
    fill.busy = true;
    fill.dropped = false;
    fill.line = line_of(address);
    fill.start.notify();
    return &fill;
  }
  return nullptr;
}

void DeviceMemory::run_fill(Fill& fill) {
  for (;;) {
    while (!fill.busy) wait(fill.start);
    fill.good = pass(fill.payload, tlm::TLM_READ_COMMAND, fill.line, fill.data.data(), line_size);
    ++lines_filled_;
    if (fill.good && !fill.dropped) lines_.insert(fill.line, fill.data);
    fill.busy = false;
    fill.done.notify();
    idle_fill_.notify();
  }
}

bool DeviceMemory::pass(tlm::tlm_generic_payload& payload, tlm::tlm_command command,
                        std::uint64_t address, std::uint8_t* data, unsigned bytes) {
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(data);
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time delay;
  out->b_transport(payload, delay);
  return payload.is_response_ok();
}

}  // namespace host
