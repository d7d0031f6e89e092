// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/in_child.h"
#include "vp/qemu/instance.h"
#include "vp/time/agenda.h"

namespace vp::qemu {

inline constexpr std::uint64_t device = 0x0900'0000;
inline constexpr std::uint64_t sram = 0x1000'0000;
inline constexpr std::uint64_t dram = 0x8000'0000;

/// An access as the device saw it.
struct Access {
  Picoseconds time;
  unsigned cpu;
  char kind;  // 'r' or 'w'; 'd', 'f', 'p' or 's': drain, flush, prefetch, stream
  std::uint64_t address;
  unsigned size;
  std::uint64_t value;
  MemoryType type = MemoryType::uncacheable;

  bool operator==(const Access& other) const { return text() == other.text(); }
  std::string text() const {
    char line[128];
    std::snprintf(line, sizeof line, "%lld cpu%u %c %llx/%u = %llx\n", static_cast<long long>(time),
                  cpu, kind, static_cast<unsigned long long>(address), size,
                  static_cast<unsigned long long>(value));
    return line;
  }
};

inline std::ostream& operator<<(std::ostream& out, const Access& access) {
  return out << access.text();
}

/// A device that the vCPUs of an instance access. It records the accesses, and the test sets its
/// answers.
class Device : public sc_core::sc_module {
 public:
  struct Behaviour {
    std::uint64_t value = 0;  ///< the value that a read returns
    Picoseconds wait = 0;     ///< time inside b_transport
    Picoseconds delay = 0;    ///< time in the delay argument
    bool refuse = false;      ///< answers with an address error
  };

  Device(const sc_core::sc_module_name& name, Instance& instance) : sc_module(name) {
    for (Cpu& one : instance.cpu) {
      const int index = static_cast<int>(sockets_.size());
      sockets_.push_back(std::make_unique<Socket>(("cpu" + std::to_string(index)).c_str()));
      sockets_.back()->register_b_transport(this, &Device::b_transport, index);
      sockets_.back()->register_transport_dbg(this, &Device::transport_dbg, index);
      one.socket.bind(*sockets_.back());
    }
  }

  /// The answer of the device at an address.
  std::map<std::uint64_t, Behaviour> at;
  /// Called after an access is recorded. May wait. Returns the value for a read.
  std::function<void(Access&)> on_access;
  /// Whether the device holds data of the vCPU after an access. Without a function it never does.
  std::function<bool(const Access&)> holding;
  /// The memory that transport_dbg writes and reads.
  std::map<std::uint64_t, std::uint8_t> debug;

  std::vector<Access> accesses;

  /// Returns the accesses to one address.
  std::vector<Access> of(std::uint64_t address) const {
    std::vector<Access> found;
    for (const Access& one : accesses) {
      if (one.address == address) found.push_back(one);
    }
    return found;
  }
  std::string trace() const {
    std::string text;
    for (const Access& one : accesses) text += one.text();
    return text;
  }

 private:
  using Socket = tlm_utils::simple_target_socket_tagged<Device>;

  void b_transport(int cpu, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (payload.get_command() != tlm::TLM_IGNORE_COMMAND) {
      EXPECT_LE(payload.get_data_length(), 8u);
    }
    EXPECT_EQ(payload.get_streaming_width(), payload.get_data_length());
    EXPECT_EQ(payload.get_byte_enable_ptr(), nullptr);
    EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
    auto* attributes = payload.get_extension<ProcessorAccess>();
    ASSERT_NE(attributes, nullptr);
    Access access{now(),
                  static_cast<unsigned>(cpu),
                  payload.is_read()    ? 'r'
                  : payload.is_write() ? 'w'
                                       : kind_of(*attributes),
                  payload.get_address(),
                  payload.get_data_length(),
                  0,
                  attributes->type};
    const auto found = at.find(access.address);
    const Behaviour behaviour = found == at.end() ? Behaviour{} : found->second;
    if (payload.is_read()) {
      access.value = behaviour.value;
    } else if (payload.is_write()) {
      std::memcpy(&access.value, payload.get_data_ptr(), access.size);
    }
    const std::size_t place = accesses.size();
    accesses.push_back(access);
    if (on_access) on_access(access);
    if (behaviour.wait > 0) wait(to_sc_time(behaviour.wait));
    accesses[place].value = access.value;
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &access.value, access.size);
    delay += to_sc_time(behaviour.delay);
    attributes->holding = holding && holding(access);
    payload.set_response_status(behaviour.refuse ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                                 : tlm::TLM_OK_RESPONSE);
  }

  static char kind_of(const ProcessorAccess& access) {
    using Operation = ProcessorAccess::Operation;
    EXPECT_NE(access.operation, Operation::access);
    switch (access.operation) {
      case Operation::drain:
        return 'd';
      case Operation::flush:
        return 'f';
      case Operation::prefetch:
        return 'p';
      default:
        return 's';
    }
  }

  unsigned transport_dbg(int, tlm::tlm_generic_payload& payload) {
    for (unsigned i = 0; i < payload.get_data_length(); ++i) {
      std::uint8_t& byte = debug[payload.get_address() + i];
      if (payload.is_read()) {
        payload.get_data_ptr()[i] = byte;
      } else {
        byte = payload.get_data_ptr()[i];
      }
    }
    return payload.get_data_length();
  }

  std::vector<std::unique_ptr<Socket>> sockets_;
};

/// The IPU machine with one of the programs in guests/.
inline Instance::Config ipu(const std::string& guest, unsigned cpus = 1) {
  Instance::Config config;
  config.library = OAE_VP_IMAGES "/libqemu-aarch64.so";
  config.cpus = cpus;
  config.arguments = {"-nodefaults", "-no-user-config",
                      "-display",    "none",
                      "-machine",    "oae-ipu",
                      "-m",          "128",
                      "-smp",        std::to_string(cpus),
                      "-cpu",        "neoverse-n1",
                      "-accel",      "tcg",
                      "-icount",     "shift=0,sleep=off",
                      "-seed",       "1",
                      "-kernel",     OAE_VP_GUESTS "/" + guest + ".elf"};
  return config;
}

/// The host machine with one of the programs in guests/ as its BIOS.
inline Instance::Config host(const std::string& guest, unsigned cpus = 1) {
  Instance::Config config;
  config.library = OAE_VP_IMAGES "/libqemu-x86_64.so";
  config.cpus = cpus;
  config.arguments = {"-nodefaults", "-no-user-config",
                      "-display",    "none",
                      "-machine",    "microvm,pcie=on,acpi=on,rtc=on",
                      "-m",          "16",
                      "-smp",        std::to_string(cpus),
                      "-cpu",        "max",
                      "-accel",      "tcg",
                      "-icount",     "shift=0,sleep=off",
                      "-rtc",        "base=2026-01-01T00:00:00,clock=vm",
                      "-seed",       "1",
                      "-bios",       OAE_VP_GUESTS "/" + guest + ".rom"};
  return config;
}

/// A machine, its domain, and a device at every address that the machine does not use.
struct Machine {
  explicit Machine(Instance::Config config, const std::string& name = "machine")
      : domain((name + "_domain").c_str()),
        qemu(name.c_str(), domain, std::move(config)),
        device((name + "_device").c_str(), qemu) {
    qemu.map_memory(0, 1ull << 40, -1000);
  }

  /// The program's parameter; see guests/ipu.inc.
  void parameter(unsigned index, std::uint64_t value) {
    ASSERT_TRUE(qemu.write_memory(sram + 8 * index, &value, sizeof value));
  }

  Domain domain;
  Instance qemu;
  Device device;
};

inline void run(Picoseconds span) {
  simulate(span);
}

}  // namespace vp::qemu
