// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/hierarchy/root_complex.h"

#include <fmt/format.h>

#include <cstring>
#include <functional>

#include "models/pcie/protocol/atomic.h"
#include "models/pcie/protocol/configuration_error.h"
#include "models/pcie/protocol/split.h"
#include "vp/time/wakeup.h"

namespace pcie {
namespace {

constexpr unsigned max_access = 64;
/// Writes of one DW to this range are message interrupts (Intel SDM volume 3, 11.11.1).
constexpr AddressRange interrupt_messages{0xfee00000, 0x100000};

void check(const RootComplexConfig& config) {
  const std::uint64_t buses = config.ecam.size >> 20;
  if (buses < 1 || buses > 256 || config.ecam.size & 0xfffff || config.ecam.base & 0xfffff) {
    throw ConfigurationError("ECAM must have 1 to 256 MiB and begin at a multiple of 1 MiB");
  }
  for (const AddressRange& range : {config.memory32, config.memory64}) {
    if (range.base + range.size < range.base) {
      throw ConfigurationError("a memory window must not wrap around");
    }
  }
  if (config.memory32.base + config.memory32.size > std::uint64_t{1} << 32) {
    throw ConfigurationError("the 32-bit window must end below 4 GiB");
  }
  const AddressRange* ranges[] = {&config.ecam, &config.memory32, &config.memory64};
  for (const AddressRange* a : ranges) {
    for (const AddressRange* b : ranges) {
      if (a != b && a->size != 0 && b->contains(a->base)) {
        throw ConfigurationError("ECAM and the memory windows must not overlap");
      }
    }
  }
  if (config.ports.size() > 31) throw ConfigurationError("at most 31 root ports are possible");
  if (config.tags != 32 && config.tags != 256) {
    throw ConfigurationError("the number of tags must be 32 or 256");
  }
  if (config.latency < 0 || config.memory_latency < 0 || config.interrupt_latency < 0 ||
      config.completion_timeout <= 0) {
    throw ConfigurationError(
        "a latency must not be negative, and the completion timeout must be positive");
  }
}

std::uint32_t little_endian(const std::uint8_t* data, unsigned bytes) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value |= std::uint32_t{data[i]} << 8 * i;
  return value;
}

// Makes the processor's wait an appointment, so that the domain's peers do not believe it idle.
void wait_in(vp::Domain& domain, vp::Picoseconds span) {
  if (span <= 0 || vp::Agenda::get().skip_to(vp::now() + span)) return;
  bool over = false;
  vp::Wakeup wakeup;
  vp::Event appointment(domain, [&] {
    over = true;
    wakeup.wake();
  });
  appointment.after(span);
  while (!over) wakeup.wait();
}

}  // namespace

RootComplex::RootComplex(const sc_core::sc_module_name& name, const RootComplexConfig& config,
                         vp::Domain& domain, vp::Statistics& statistics)
    : sc_module(name),
      host("host"),
      memory("memory"),
      interrupt("interrupt"),
      config_(config),
      domain_(domain),
      interrupts_due_(domain, [this] { deliver_interrupts(); }),
      arbiter_(config.ports.size(), config.ports.size() + 1) {
  check(config);
  host.register_b_transport(this, &RootComplex::transport);
  if (config.host_bridge) {
    host_bridge_ = std::make_unique<Type0Header>(host_bridge_space_, config.host_bridge_identity,
                                                 false, 0, std::vector<BarConfig>{});
  }
  const RootPort::Common common{
      config.latency,
      config.completion_timeout,
      config.tags,
      config.max_payload,
      config.read_boundary,
      config.peer_to_peer ? static_cast<unsigned>(config.ports.size()) : 0,
      config.deferrable_writes,
      config.completions};
  HostIf& host_side = *this;
  for (unsigned i = 0; i < config.ports.size(); ++i) {
    ports_.push_back(std::make_unique<RootPort>(fmt::format("port{}", i).c_str(), i,
                                                config.ports[i], common, host_side, domain,
                                                statistics));
  }
  const std::string prefix = std::string(this->name()) + ".";
  statistics.latency(prefix + "read_latency", read_latency_);
  statistics.counter(prefix + "reads", reads_);
  statistics.counter(prefix + "writes", writes_);
  statistics.counter(prefix + "config_reads", config_reads_);
  statistics.counter(prefix + "config_writes", config_writes_);
  statistics.counter(prefix + "reads_all_ones", reads_all_ones_);
  statistics.counter(prefix + "writes_dropped", writes_dropped_);
}

void RootComplex::reset() {
  host_bridge_space_.reset();
  interrupts_.clear();
  interrupts_due_.cancel();
  for (const auto& port : ports_) port->reset();
}

void RootComplex::transport(int, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const unsigned length = payload.get_data_length();
  if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
    return payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  }
  if (length < 1 || length > max_access || payload.get_streaming_width() < length) {
    return payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  }
  if (delay != sc_core::SC_ZERO_TIME) {
    wait_in(domain_, static_cast<vp::Picoseconds>(delay.value()));
    delay = sc_core::SC_ZERO_TIME;
  }
  const bool write = payload.is_write();
  const std::uint64_t address = payload.get_address();
  std::uint8_t* data = payload.get_data_ptr();
  const std::uint8_t* enables = payload.get_byte_enable_ptr();
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  if (enables == nullptr) {
    status = access(write, address, data, length);
  } else {
    const unsigned period = payload.get_byte_enable_length();
    if (period == 0) return payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    for (unsigned begin = 0, end; begin < length; begin = end + 1) {
      for (end = begin; end < length && enables[end % period] != 0;) ++end;
      if (end == begin) continue;
      status = access(write, address + begin, data + begin, end - begin);
      if (status != tlm::TLM_OK_RESPONSE) break;
    }
  }
  payload.set_response_status(status);
}

tlm::tlm_response_status RootComplex::access(bool write, std::uint64_t address, std::uint8_t* data,
                                             unsigned bytes) {
  for (const AddressRange* range : {&config_.memory64, &config_.memory32, &config_.ecam}) {
    if (!range->contains(address)) continue;
    if (bytes > range->size - (address - range->base)) break;
    if (range == &config_.ecam) {
      access_config(write, address - range->base, data, bytes);
    } else {
      access_memory(write, address, data, bytes);
    }
    return tlm::TLM_OK_RESPONSE;
  }
  if (!write) std::memset(data, 0xff, bytes);
  return tlm::TLM_ADDRESS_ERROR_RESPONSE;
}

void RootComplex::access_memory(bool write, std::uint64_t address, std::uint8_t* data,
                                unsigned bytes) {
  const vp::Picoseconds start = vp::now();
  for (unsigned piece; bytes > 0; address += piece, data += piece, bytes -= piece) {
    piece = request_piece(address, bytes, 4096);
    RootPort* port = port_of_address(address);
    if (port != nullptr) {
      piece = request_piece(address, piece, port->max_payload());
    }
    if (write) {
      ++writes_;
      if (port != nullptr) {
        port->post(Tlp::memory_write(address, data, piece));
      } else {
        ++writes_dropped_;
      }
    } else {
      ++reads_;
      if (port == nullptr || !port->transact(Tlp::memory_read(address, piece), data).good()) {
        ++reads_all_ones_;
        std::memset(data, 0xff, piece);
      }
    }
  }
  if (!write) read_latency_.sample(vp::now() - start);
}

//     An ECAM offset is: bus 27:20 | device 19:15 | function 14:12 | register 11:0
void RootComplex::access_config(bool write, std::uint64_t offset, std::uint8_t* data,
                                unsigned bytes) {
  for (unsigned piece; bytes > 0; offset += piece, data += piece, bytes -= piece) {
    piece = request_piece(offset, bytes, 4);
    const Id target = static_cast<Id>(offset >> 12);
    if (write) {
      ++config_writes_;
      config_write(target, offset & 0xfff, data, piece);
    } else {
      ++config_reads_;
      config_read(target, offset & 0xfff, data, piece);
    }
  }
}

void RootComplex::config_read(Id target, unsigned offset, std::uint8_t* data, unsigned bytes) {
  std::memset(data, 0xff, bytes);
  if (bus_of(target) == 0) {
    wait_in(domain_, 2 * config_.latency);
    if (const ConfigSpace* space = internal(target)) {
      const std::uint32_t value = space->read(offset, bytes);
      for (unsigned i = 0; i < bytes; ++i) data[i] = value >> 8 * i;
    }
    return;
  }
  RootPort* port = port_of_bus(target);
  if (port == nullptr) return;
  const bool type1 = bus_of(target) != port->secondary_bus();
  const vp::Picoseconds last_retry = vp::now() + config_.completion_timeout;
  std::uint8_t word[4];
  RootPort::Answer answer;
  do {
    answer = port->transact(Tlp::config_read(type1, target, offset, bytes), word);
    if (answer.good()) {
      std::memcpy(data, word + (offset & 3), bytes);
      return;
    }
    if (!answer.answered || answer.status != Status::configuration_retry) return;
    if (port->retry_visible() && offset == 0 && bytes >= 2) {  // 2.3.2: the vendor ID reads 0001
      data[0] = 1;
      data[1] = 0;
      return;
    }
  } while (vp::now() < last_retry);
}

void RootComplex::config_write(Id target, unsigned offset, const std::uint8_t* data,
                               unsigned bytes) {
  const std::uint32_t value = little_endian(data, bytes);
  if (bus_of(target) == 0) {
    wait_in(domain_, 2 * config_.latency);
    if (ConfigSpace* space = internal(target)) {
      space->write(offset, bytes, value);
      drain();  // packets that wait may have another route now
    }
    return;
  }
  RootPort* port = port_of_bus(target);
  if (port == nullptr) return;
  const bool type1 = bus_of(target) != port->secondary_bus();
  const vp::Picoseconds last_retry = vp::now() + config_.completion_timeout;
  RootPort::Answer answer;
  do {
    answer = port->transact(Tlp::config_write(type1, target, offset, bytes, value), nullptr);
  } while (answer.answered && answer.status == Status::configuration_retry &&
           vp::now() < last_retry);
}

ConfigSpace* RootComplex::internal(Id target) {
  if (function_of(target) != 0) return nullptr;
  const unsigned device = device_of(target);
  if (device == 0) return host_bridge_ ? &host_bridge_space_ : nullptr;
  return device <= ports_.size() ? &ports_[device - 1]->config_space() : nullptr;
}

// The only device of a link has number 0, unless ARI makes the number part of the function number.
RootPort* RootComplex::port_of_bus(Id target) {
  for (const auto& port : ports_) {
    if (!port->routes(bus_of(target))) continue;
    const bool direct = bus_of(target) == port->secondary_bus() && !port->forwards_ari();
    return direct && device_of(target) != 0 ? nullptr : port.get();
  }
  return nullptr;
}

RootPort* RootComplex::port_of_address(std::uint64_t address) {
  for (const auto& port : ports_) {
    if (port->claims(address)) return port.get();
  }
  return nullptr;
}

bool RootComplex::write(const Tlp& request) {
  if (config_.interrupt_latency > 0 && interrupt_messages.contains(request.get_address()) &&
      request.header.length == 1 && request.header.first_be == 0xf) {
    Interrupt interrupt{vp::now() + config_.interrupt_latency, request.get_address(), {}};
    std::memcpy(interrupt.data, request.data(), sizeof interrupt.data);
    interrupts_.push(interrupt);
    if (!interrupts_due_.pending()) interrupts_due_.at(interrupt.when);
    return true;
  }
  bool claimed = true;
  for (Tlp::Run run = request.next_run(0); !run.empty(); run = request.next_run(run.end)) {
    sc_core::sc_time delay;
    claimed &= access_host_memory(tlm::TLM_WRITE_COMMAND, request.get_address() + run.begin,
                                  const_cast<std::uint8_t*>(request.data()) + run.begin,
                                  run.end - run.begin, delay);
  }
  return claimed;
}

void RootComplex::deliver_interrupts() {
  Interrupt interrupt = interrupts_.pop();
  if (!interrupts_.empty()) interrupts_due_.at(interrupts_.front().when);
  sc_core::sc_time delay;
  access_host_memory(tlm::TLM_WRITE_COMMAND, interrupt.address, interrupt.data,
                     sizeof interrupt.data, delay);
}

bool RootComplex::read(Tlp& request, vp::Picoseconds& delay) {
  std::memset(request.data(), 0, 4);
  std::memset(request.data() + 4 * (request.header.length - 1), 0, 4);
  sc_core::sc_time annotated;
  for (Tlp::Run run = request.next_run(0); !run.empty(); run = request.next_run(run.end)) {
    if (!access_host_memory(tlm::TLM_READ_COMMAND, request.get_address() + run.begin,
                            request.data() + run.begin, run.end - run.begin, annotated)) {
      return false;
    }
  }
  delay = config_.memory_latency + static_cast<vp::Picoseconds>(annotated.value());
  return true;
}

// The AtomicOp happens at one instant of simulated time, so no access comes between read and write.
Status RootComplex::atomic(Tlp& request, vp::Picoseconds& delay) {
  const unsigned bytes = operand_bytes(request.header.type, request.payload_bytes());
  const std::uint64_t address = request.get_address();
  std::uint8_t before[16];
  std::uint8_t after[16];
  sc_core::sc_time read_time, write_time;
  if (!is_memory(address, bytes) ||
      !access_host_memory(tlm::TLM_READ_COMMAND, address, before, bytes, read_time)) {
    return Status::unsupported_request;
  }
  std::memcpy(after, before, bytes);
  if (execute(request.header.type, after, request.data(), bytes) &&
      !access_host_memory(tlm::TLM_WRITE_COMMAND, address, after, bytes, write_time)) {
    return Status::completer_abort;
  }
  std::memcpy(request.data(), before, bytes);
  delay = config_.memory_latency + static_cast<vp::Picoseconds>(read_time.value());
  return Status::success;
}

// Memory accepts the write at once, and the completion takes as long as that of a read.
Status RootComplex::deferrable_write(const Tlp& request, vp::Picoseconds& delay) {
  delay = config_.memory_latency;
  const unsigned bytes = request.payload_bytes();
  if (request.next_run(0).empty()) return Status::success;
  if (!is_memory(request.get_address(), bytes) || !write(request)) {
    return Status::unsupported_request;
  }
  return Status::success;
}

// Only a posted write can be a message interrupt.
bool RootComplex::is_memory(std::uint64_t address, unsigned bytes) const {
  return config_.ram.size != 0 ? is_ram(address, bytes) : !interrupt_messages.contains(address);
}

bool RootComplex::is_ram(std::uint64_t address, unsigned bytes) const {
  return config_.ram.contains(address) && bytes <= config_.ram.size - (address - config_.ram.base);
}

// An access to the root complex's own ranges would return to it; these ranges contain no memory.
bool RootComplex::own_address(std::uint64_t address) const {
  return config_.ecam.contains(address) || config_.memory32.contains(address) ||
         config_.memory64.contains(address);
}

bool RootComplex::access_host_memory(tlm::tlm_command command, std::uint64_t address,
                                     std::uint8_t* data, unsigned bytes, sc_core::sc_time& delay) {
  if (own_address(address)) return false;
  memory_access_.set_command(command);
  memory_access_.set_address(address);
  memory_access_.set_data_ptr(data);
  memory_access_.set_data_length(bytes);
  memory_access_.set_streaming_width(bytes);
  memory_access_.set_byte_enable_ptr(nullptr);
  memory_access_.set_dmi_allowed(false);
  memory_access_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  memory->b_transport(memory_access_, delay);
  return memory_access_.is_response_ok();
}

RootPort* RootComplex::claiming(std::uint64_t address) {
  const bool inside = config_.memory32.contains(address) || config_.memory64.contains(address);
  return inside ? port_of_address(address) : nullptr;
}

RootPort* RootComplex::routing(unsigned bus) {
  for (const auto& port : ports_) {
    if (port->routes(bus)) return port.get();
  }
  return nullptr;
}

void RootComplex::drain() {
  const auto exit_of = [this](std::size_t exit) -> const RootPort* {
    return exit < ports_.size() ? ports_[exit].get() : nullptr;
  };
  const auto open = [&](std::size_t exit, CreditClass of) {
    const RootPort* port = exit_of(exit);
    return port == nullptr || port->open(of);
  };
  const auto pass = [&](std::size_t entry, std::size_t exit, CreditClass of) {
    const auto wanted = [&, from = ports_[entry].get()](const Tlp& tlp) {
      return credit_class(tlp.header.type) == of && from->exit(tlp) == exit_of(exit);
    };
    return ports_[entry]->deliver_one(std::cref(wanted));
  };
  arbiter_.serve(open, pass);
}

// Two bridges swizzle the pin by device number: the device below has number 0, the root port its
// own.
void RootComplex::intx(unsigned port, unsigned pin, bool level) {
  const unsigned line = (pin + port + 1) % 4;
  const std::uint32_t before = intx_levels_[line];
  const std::uint32_t mask = 1u << port;
  intx_levels_[line] = level ? before | mask : before & ~mask;
  if ((before != 0) != (intx_levels_[line] != 0) && interrupt.size() > 0) {
    interrupt->set_line(line, level);
  }
}

}  // namespace pcie
