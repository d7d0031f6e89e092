// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "models/axi/bridge.h"
#include "models/axi/kind/description.h"
#include "models/device/kind.h"

namespace axi::test {

/// The block of a kind that is linked.
inline const BlockType& block_of(const std::string& kind) {
  const device::Kind* found = device::find_kind(kind);
  if (found == nullptr) throw std::logic_error("there is no kind " + kind);
  vp::config::Reading reading;
  const auto description = found->read(vp::config::parse_yaml(vp::config::argument_source(
                                           "a.yaml", "{name: a, kind: " + kind + "}")),
                                       "devices[0]", reading);
  return *dynamic_cast<const Description&>(*description).type;
}

/// A bridge with its block, and a function whose answers a test decides. The script of the test
/// plays the host.
class Bench : public sc_core::sc_module, public pcie::InterruptModesIf {
 public:
  struct Write {
    vp::Picoseconds when;
    std::uint64_t address;
    std::vector<std::uint8_t> data;
  };
  struct Signal {
    vp::Picoseconds when;
    unsigned vector;
    std::size_t writes_before;
  };
  static constexpr std::uint64_t base = 0x12'3400'0000;  // address of the first byte of memory
  static constexpr std::uint64_t size = 0x10'0000;

  tlm_utils::simple_initiator_socket<Bench> bar;
  tlm_utils::simple_target_socket<Bench> dma;

  explicit Bench(const std::string& kind, const BridgeConfig& config = {500'000'000, 1, ""},
                 const sc_core::sc_module_name& name = "bench")
      : sc_module(name), bar("bar"), dma("dma"), domain("domain") {
    bridge = std::make_unique<Bridge>("bridge", block_of(kind), config, domain, trace, statistics);
    bar.bind(bridge->bar);
    bridge->dma.bind(dma);
    bridge->interrupt.bind(*this);
    bar.register_nb_transport_bw(this, &Bench::completed);
    dma.register_nb_transport_fw(this, &Bench::requested);
    for (std::uint64_t i = 0; i < size; ++i) {
      memory[i] = static_cast<std::uint8_t>(i * 2654435761u >> 13);
    }
  }

  /// Runs the script to its end.
  void run(const std::function<void()>& script) {
    bool ended = false;
    sc_core::sc_spawn([&] {
      script();
      ended = true;
      sc_core::sc_stop();
    });
    sc_core::sc_start();
    EXPECT_TRUE(ended) << "the script is stuck";
  }
  static void pass(vp::Picoseconds span) { sc_core::wait(vp::to_sc_time(span)); }
  static void pass_until(vp::Picoseconds when) { pass(when - vp::now()); }

  // The host.

  tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* data,
                                  unsigned bytes, std::uint8_t bar_number = 0) {
    tlm::tlm_generic_payload payload;
    pcie::Access extension;
    extension.bar = bar_number;
    payload.set_extension(&extension);
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    if (bar->nb_transport_fw(payload, phase, delay) == tlm::TLM_ACCEPTED) {
      waiting_.push_back(&payload);
      while (!std::exchange(completed_, false)) sc_core::wait(completion_);
    }
    payload.clear_extension(&extension);
    return payload.get_response_status();
  }
  tlm::tlm_response_status write_bytes(std::uint64_t address, std::vector<std::uint8_t> data) {
    return access(tlm::TLM_WRITE_COMMAND, address, data.data(), static_cast<unsigned>(data.size()));
  }
  std::vector<std::uint8_t> read_bytes(std::uint64_t address, unsigned bytes) {
    std::vector<std::uint8_t> data(bytes);
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, address, data.data(), bytes), tlm::TLM_OK_RESPONSE);
    return data;
  }
  void put(std::uint64_t address, std::uint64_t value, unsigned bytes = 8) {
    EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, address, &value, bytes), tlm::TLM_OK_RESPONSE);
  }
  std::uint64_t get(std::uint64_t address, unsigned bytes = 8) {
    std::uint64_t value = 0;
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, address, &value, bytes), tlm::TLM_OK_RESPONSE);
    return value;
  }
  std::uint64_t counter(const std::string& name) const {
    return statistics.json().at("counters").at("bench.bridge." + name);
  }

  // The function.

  bool full = false;  ///< accepts no write until make_room()
  vp::Picoseconds read_latency = 100 * vp::ns;
  std::function<vp::Picoseconds()> latency_of;  ///< of each read, if it is set
  tlm::tlm_response_status write_answer = tlm::TLM_OK_RESPONSE;
  tlm::tlm_response_status read_answer = tlm::TLM_OK_RESPONSE;
  bool refuses_reads = false;  ///< at once
  pcie::InterruptMode mode = pcie::InterruptMode::msi_x;

  /// Accepts the write that waits, and those that come.
  void make_room() {
    full = false;
    accept_one();
  }
  /// Accepts the write that waits.
  void accept_one() {
    if (held_ == nullptr) return;
    tlm::tlm_generic_payload& payload = *std::exchange(held_, nullptr);
    store(payload);
    respond(payload);
  }
  bool holds_write() const { return held_ != nullptr; }
  std::uint8_t& at(std::uint64_t address) { return memory.at(address - base); }

  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(size);
  std::vector<Write> writes;
  std::vector<std::pair<std::uint64_t, unsigned>> reads;  ///< address and bytes
  std::vector<Signal> signals;
  std::vector<std::pair<bool, std::size_t>> levels;  ///< level of the pin, and writes before

  void signal(unsigned vector) override { signals.push_back({vp::now(), vector, writes.size()}); }
  pcie::InterruptMode interrupt_mode() const override { return mode; }
  unsigned interrupt_vectors() const override { return 2048; }
  void set_intx(bool level) override { levels.emplace_back(level, writes.size()); }

  vp::Domain domain;
  vp::Trace trace;
  vp::Statistics statistics;
  std::unique_ptr<Bridge> bridge;

 private:
  tlm::tlm_sync_enum completed(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                               sc_core::sc_time&) {
    EXPECT_EQ(phase, tlm::BEGIN_RESP);
    EXPECT_THAT(waiting_, testing::ElementsAre(&payload));
    waiting_.clear();
    completed_ = true;
    completion_.notify();
    return tlm::TLM_COMPLETED;
  }

  tlm::tlm_sync_enum requested(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                               sc_core::sc_time&) {
    EXPECT_GE(payload.get_data_length(), 1u);
    EXPECT_LE(payload.get_address() % 4096 + payload.get_data_length(), 4096u);
    if (payload.is_write()) {
      EXPECT_EQ(held_, nullptr) << "a write before the one before was accepted";
      if (full) {
        held_ = &payload;
        return tlm::TLM_ACCEPTED;
      }
      store(payload);
      return tlm::TLM_COMPLETED;
    }
    reads.emplace_back(payload.get_address(), payload.get_data_length());
    if (refuses_reads) {
      payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
      return tlm::TLM_COMPLETED;
    }
    const vp::Picoseconds latency = latency_of ? latency_of() : read_latency;
    answers_.push_back(std::make_unique<vp::Event>(domain, [this, &payload] {
      payload.set_response_status(read_answer);
      if (payload.is_response_ok()) {
        std::memcpy(payload.get_data_ptr(), &at(payload.get_address()), payload.get_data_length());
      }
      respond(payload);
    }));
    answers_.back()->after(latency);
    return tlm::TLM_ACCEPTED;
  }

  void store(tlm::tlm_generic_payload& payload) {
    payload.set_response_status(write_answer);
    if (write_answer != tlm::TLM_OK_RESPONSE) return;
    const std::uint8_t* data = payload.get_data_ptr();
    writes.push_back({vp::now(), payload.get_address(), {data, data + payload.get_data_length()}});
    std::memcpy(&at(payload.get_address()), data, payload.get_data_length());
  }

  void respond(tlm::tlm_generic_payload& payload) {
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay;
    EXPECT_EQ(dma->nb_transport_bw(payload, phase, delay), tlm::TLM_COMPLETED);
  }

  std::vector<tlm::tlm_generic_payload*> waiting_;
  bool completed_ = false;
  sc_core::sc_event completion_;
  tlm::tlm_generic_payload* held_ = nullptr;
  std::deque<std::unique_ptr<vp::Event>> answers_;
};

/// The registers of exerciser.sv, which have 64 bits.
class Exerciser : public Bench {
 public:
  using Bench::Bench;

  /// A burst as a test wants it.
  struct Command {
    std::uint64_t address = base;
    unsigned beats = 1;
    unsigned size_log = 2;
    unsigned type = 1;  ///< FIXED 0, INCR 1, WRAP 2
    unsigned id = 0;
    bool write = false;
    bool sparse = false;
    unsigned more = 0;  ///< further bits of the command
  };
  struct Beat {
    unsigned id, response;
    bool last;
    bool operator==(const Beat& other) const {
      return id == other.id && response == other.response && last == other.last;
    }
  };

  void start(const Command& command) {
    put(0x200, command.address);
    put(0x208,
        (command.beats - 1) | command.size_log << 8 | command.type << 11 | command.id << 16 |
            unsigned{command.write} << 24 | unsigned{command.sparse} << 25 | command.more,
        4);
  }
  /// Clears what was received, and sets the stalls.
  void clear(unsigned stalls = 0, std::uint32_t seed = 1) {
    put(0x218, stalls | std::uint64_t{seed} << 32);
  }
  unsigned beats() { return get(0x210) & 0xffff; }
  unsigned responses() { return get(0x210) >> 16 & 0xffff; }
  void wait_for_answers() {
    for (int i = 0; i < 100'000; ++i) {
      if ((get(0x210) >> 32 & 0xffff) == 0) return;
      pass(20 * vp::ns);
    }
    ADD_FAILURE() << "a burst has no answer";
  }
  /// ID and response of a write.
  std::pair<unsigned, unsigned> response(unsigned number) {
    const std::uint64_t value = get(0x2000 + 8 * number);
    return {value & 0xff, value >> 8 & 3};
  }
  Beat beat(unsigned number) {
    const std::uint64_t value = get(0x4000 + 8 * number);
    return {static_cast<unsigned>(value & 0xff), static_cast<unsigned>(value >> 8 & 3),
            (value >> 10 & 1) != 0};
  }
  /// All lanes of a beat on a bus of so many bytes.
  std::vector<std::uint8_t> lanes(unsigned beat, unsigned bus) {
    return read_bytes(0x8000 + beat * bus, bus);
  }
};

/// What the beats of a burst transfer, as the pseudocode of the AXI specification says (IHI 0022H,
/// A3.4.2): for each beat, the address of its first byte and the lanes.
struct Lanes {
  std::uint64_t address;
  unsigned first, last;
};
inline std::vector<Lanes> lanes_of(const Exerciser::Command& command, unsigned bus) {
  const std::uint64_t bytes = std::uint64_t{1} << command.size_log;
  const std::uint64_t total = bytes * command.beats;
  const std::uint64_t lower = command.address / total * total;
  std::uint64_t address = command.address;
  bool aligned = address % bytes == 0;
  std::vector<Lanes> beats;
  for (unsigned i = 0; i < command.beats; ++i) {
    const std::uint64_t start = address / bytes * bytes;
    const auto first = static_cast<unsigned>(address % bus);
    const auto last = static_cast<unsigned>(aligned ? first + bytes - 1
                                                    : start + bytes - 1 - address / bus * bus);
    beats.push_back({address, first, last});
    if (command.type == 0) continue;
    if (!aligned) {
      address = start + bytes;
      aligned = true;
      continue;
    }
    address += bytes;
    if (command.type == 2 && address >= lower + total) address = lower;
  }
  return beats;
}

/// The byte that exerciser.sv writes, and whether its strobe is set.
inline std::uint8_t byte_of(unsigned burst, unsigned beat, unsigned lane) {
  return static_cast<std::uint8_t>(37 * burst + 11 * beat + 5 * lane + 1);
}
inline bool strobed(const Exerciser::Command& command, unsigned burst, unsigned beat,
                    unsigned lane) {
  return !command.sparse || (burst + 3 * beat + lane * lane) % 4 != 0;
}

}  // namespace axi::test
