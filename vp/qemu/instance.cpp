// SPDX-License-Identifier: Apache-2.0
#include "vp/qemu/instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vp/qemu/library.h"
#include "vp/time/agenda.h"

namespace vp::qemu {
namespace {

ProcessorAccess::Operation operation_of(OaeLineOperation operation) {
  switch (operation) {
    case OAE_LINE_FLUSH:
      return ProcessorAccess::Operation::flush;
    case OAE_LINE_PREFETCH:
      return ProcessorAccess::Operation::prefetch;
    default:
      return ProcessorAccess::Operation::stream;
  }
}

}  // namespace

Instance::Instance(const sc_core::sc_module_name& name, Domain& domain, Config config)
    : sc_module(name),
      domain_(domain),
      config_(std::move(config)),
      gdb_(std::count(config_.arguments.begin(), config_.arguments.end(), "-gdb") > 0),
      api_(load_library(config_.library)),
      timers_(
          domain,
          [this] {
            api_->run_timers();
            rearm_timers();
          },
          domain.new_rank()) {
  OaeCallbacks callbacks{};
  callbacks.opaque = this;
  callbacks.now = [](void*) -> std::int64_t { return now(); };
  callbacks.read = [](void* self, int region, int cpu, OaeMemoryType type, std::uint64_t offset,
                      unsigned size, std::uint64_t* value) {
    auto& instance = *static_cast<Instance*>(self);
    bool done = false;
    *value = 0;
    instance.guard(cpu, [&] {
      done = instance.access(region, cpu, static_cast<MemoryType>(type), tlm::TLM_READ_COMMAND,
                             offset, size, *value);
    });
    return done;
  };
  callbacks.write = [](void* self, int region, int cpu, OaeMemoryType type, std::uint64_t offset,
                       unsigned size, std::uint64_t value) {
    auto& instance = *static_cast<Instance*>(self);
    bool done = false;
    instance.guard(cpu, [&] {
      done = instance.access(region, cpu, static_cast<MemoryType>(type), tlm::TLM_WRITE_COMMAND,
                             offset, size, value);
    });
    return done;
  };
  callbacks.line = [](void* self, int cpu, OaeLineOperation operation, OaeMemoryType type,
                      std::uint64_t address, unsigned size) {
    auto& instance = *static_cast<Instance*>(self);
    instance.guard(cpu, [&] {
      instance.cpu[static_cast<std::size_t>(cpu)].act(
          operation_of(operation), static_cast<MemoryType>(type), address, size);
    });
  };
  callbacks.drain = [](void* self, int cpu) {
    auto& instance = *static_cast<Instance*>(self);
    instance.guard(cpu, [&] {
      instance.cpu[static_cast<std::size_t>(cpu)].act(ProcessorAccess::Operation::drain,
                                                      MemoryType::uncacheable, 0, 0);
    });
  };
  callbacks.order = [](void* self, int cpu, OaeOrder order) {
    auto& instance = *static_cast<Instance*>(self);
    instance.guard(cpu, [&] { instance.cpu[static_cast<std::size_t>(cpu)].order(order); });
  };
  callbacks.wake = [](void* self, int cpu, std::int64_t when) {
    auto& cpus = static_cast<Instance*>(self)->cpu;
    Agenda::get().doubt_others();
    // QEMU kicks its vCPUs also while it makes them.
    if (static_cast<std::size_t>(cpu) < cpus.size()) cpus[static_cast<std::size_t>(cpu)].wake(when);
  };
  callbacks.timers_changed = [](void* self) {
    Agenda::get().doubt_others();
    static_cast<Instance*>(self)->rearm_timers();
  };
  callbacks.console_output = [](void* self, int index, const std::uint8_t* data, std::size_t size) {
    auto& instance = *static_cast<Instance*>(self);
    Agenda::get().doubt_others();
    Console& console = *instance.config_.consoles.at(static_cast<std::size_t>(index));
    for (std::size_t i = 0; i < size; ++i) {
      console.put(static_cast<char>(data[i]), instance.present());
    }
    // Somebody may answer before the vCPU would have come back.
    if (Cpu* cpu = instance.running_) cpu->renew();
  };
  callbacks.console_ready = [](void* self, int index) {
    Agenda::get().doubt_others();
    static_cast<Instance*>(self)->feed(static_cast<unsigned>(index));
  };

  std::vector<std::string> words{config_.library};
  words.insert(words.end(), config_.arguments.begin(), config_.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  api_->create(static_cast<int>(words.size()), argv.data(), &callbacks, config_.ips, gdb_);

  cpu.init(config_.cpus, [this](const char* cpu_name, std::size_t index) {
    return new Cpu(cpu_name, *this, static_cast<unsigned>(index));
  });
  awake_ = config_.cpus;
  for (unsigned i = 0; i < config_.consoles.size(); ++i) {
    config_.consoles[i]->on_input([this, i] { feed(i); });
  }
  domain_.add_actor(*this);
  all_.push_back(this);
  rearm_timers();
}

Instance::~Instance() {
  all_.erase(std::remove(all_.begin(), all_.end(), this), all_.end());
}

void Instance::map_memory(std::uint64_t base, std::uint64_t size, int priority) {
  regions_.push_back({base, {}});
  api_->map_region(static_cast<int>(regions_.size()) - 1, OAE_SPACE_MEMORY, base, size, priority);
}

void Instance::map_io(std::uint64_t base, std::uint64_t size, IoPorts ports) {
  regions_.push_back({base, std::move(ports)});
  api_->map_region(static_cast<int>(regions_.size()) - 1, OAE_SPACE_IO, base, size, 0);
}

Instance::PcieWindows Instance::pcie_windows() const {
  PcieWindows windows{};
  if (!api_->pcie_windows(&windows.ecam, &windows.ecam_size, &windows.mmio32, &windows.mmio32_size,
                          &windows.mmio64, &windows.mmio64_size)) {
    throw LibraryError(config_.library + ": its machine has no PCI Express host bridge");
  }
  return windows;
}

bool Instance::read_memory(std::uint64_t address, void* data, std::uint64_t size) {
  entered();
  return debug_read(address, data, size);
}

bool Instance::write_memory(std::uint64_t address, const void* data, std::uint64_t size) {
  entered();
  return debug_write(address, data, size);
}

bool Instance::debug_read(std::uint64_t address, void* data, std::uint64_t size) {
  return api_->read_memory(address, data, size);
}

bool Instance::debug_write(std::uint64_t address, const void* data, std::uint64_t size) {
  return api_->write_memory(address, data, size);
}

void* Instance::ram(std::uint64_t address, std::uint64_t& size) {
  return api_->ram_pointer(address, &size);
}

void Instance::set_line(unsigned number, bool level) {
  entered();
  api_->set_line(static_cast<int>(number), level);
}

// The effects of an access that is made ahead of the kernel's time happen at the time of the
// access, or later if the access waits for its target.
void Instance::entered() const {
  domain_.enter(ahead_ == nullptr ? now() : std::max(now(), ahead_->local_));
}

void Instance::lose_power() {
  off_ = unpowered_ = true;
  rearm_timers();
}

bool Instance::power_up() {
  if (accesses_ > 0) return false;
  for (Cpu& one : cpu) one.set_holding(false);
  api_->reset();
  off_ = unpowered_ = false;
  for (Cpu& one : cpu) one.wake(now());
  rearm_timers();
  return true;
}

Picoseconds Instance::floor() const {
  Picoseconds floor = never;
  for (const Cpu& one : cpu) floor = std::min(floor, one.floor());
  return floor;
}

bool Instance::poll() {
  if (accesses_ == 0) return service(true);
  polled_ = true;
  gathering_ = gdb_;
  return true;
}

Instance::Rest Instance::rest() const {
  Rest rest;
  if (off_) return rest;
  for (const Cpu& one : cpu) {
    ++(one.asleep_ ? rest.halted : rest.waiting);
    rest.since = std::max(rest.since, one.local_);
  }
  return rest;
}

std::uint64_t Instance::instructions() const {
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < config_.cpus; ++i) sum += api_->vcpu_instructions(static_cast<int>(i));
  return sum;
}

// Returns the exception that is being handled. If it is a broken promise, the message also names the
// access that caused it.
std::exception_ptr Instance::failure_of(int cpu_index) const {
  try {
    throw;
  } catch (const BrokenPromise& broken) {
    if (cpu_index < 0) return std::current_exception();
    const Cpu& accessor = cpu[static_cast<std::size_t>(cpu_index)];
    return std::make_exception_ptr(
        BrokenPromise(fmt::format("{}; while {} accesses {:#x}", broken.what(), accessor.name(),
                                  accessor.payload_.get_address())));
  } catch (...) {
    return std::current_exception();
  }
}

template <typename Work>
void Instance::guard(int cpu_index, Work work) {
  try {
    work();
  } catch (...) {
    failure_ = failure_of(cpu_index);
    if (cpu_index >= 0) api_->vcpu_set_limit(cpu_index, now(), OAE_LIMIT_EXACT);
  }
}

bool Instance::access(int region, int cpu_index, MemoryType type, tlm::tlm_command command,
                      std::uint64_t offset, unsigned size, std::uint64_t& value) {
  const Region& target = regions_[static_cast<std::size_t>(region)];
  if (target.ports.read) {
    if (cpu_index < 0) return false;
    Cpu& accessor = cpu[static_cast<std::size_t>(cpu_index)];
    accessor.enter();
    accessor.catch_up();
    if (command == tlm::TLM_READ_COMMAND) {
      value = target.ports.read(accessor, offset, size);
    } else {
      target.ports.write(accessor, offset, size, static_cast<std::uint32_t>(value));
    }
    accessor.leave(now());
    return true;
  }
  const std::uint64_t address = target.base + offset;
  if (cpu_index >= 0) {
    return cpu[static_cast<std::size_t>(cpu_index)].access(command, address, size, value, type);
  }
  // GDB looks without touching.
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
  payload.set_data_length(size);
  payload.set_streaming_width(size);
  return cpu[0].socket->transport_dbg(payload) == size;
}

void Instance::rearm_timers() {
  const Picoseconds deadline = off_ ? never : api_->next_deadline();
  if (deadline == never) {
    timers_.cancel();
  } else if (const Picoseconds when = std::max(deadline, now()); when != timers_.when()) {
    timers_.at(when);
  }
}

void Instance::feed(unsigned index) {
  Console& console = *config_.consoles[index];
  while (console.has_input()) {
    const auto byte = static_cast<std::uint8_t>(console.peek());
    if (api_->console_input(static_cast<int>(index), &byte, 1) == 0) return;
    console.read();
  }
}

bool Instance::service(bool io) {
  const unsigned requests = api_->service(io || std::exchange(polled_, false));
  if (requests == 0) return true;
  Agenda::get().doubt_others();
  if ((requests & OAE_REQUEST_RESET) != 0) {
    for (Cpu& one : cpu) one.set_holding(false);
    if (requests_.reset) requests_.reset();
  }
  if ((requests & OAE_REQUEST_SHUTDOWN) != 0 && !off_) {
    off_ = true;
    rearm_timers();
    if (requests_.shutdown) requests_.shutdown();
  }
  if ((requests & OAE_REQUEST_STOPPED) == 0) return true;
  if (requests_.stopped) requests_.stopped();
  return false;
}

Picoseconds Instance::present() const {
  return running_ != nullptr ? api_->vcpu_local_time(running_->index_) : now();
}

}  // namespace vp::qemu
