// SPDX-License-Identifier: Apache-2.0
#include "tests/models/pcie/fixture.h"

#include <cstring>
#include <nlohmann/json.hpp>

namespace pcie {

HostMemory::HostMemory(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
  socket.register_b_transport(this, &HostMemory::transport);
}

void HostMemory::transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const std::uint64_t address = payload.get_address();
  const unsigned length = payload.get_data_length();
  std::uint8_t* data = payload.get_data_ptr();
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  if (payload.is_write() && address >= 0xfee00000 && address < 0xfef00000) {
    messages.push_back({vp::now(), address, {data, data + length}});
    return;
  }
  const std::uint64_t offset = address - base;
  if (offset >= bytes.size() || length > bytes.size() - offset) {
    ++refused;
    return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  if (payload.is_write()) {
    if (keep_writes) writes.push_back({vp::now(), address, {data, data + length}});
    std::memcpy(&bytes[offset], data, length);
  } else {
    std::memcpy(data, &bytes[offset], length);
    delay += vp::to_sc_time(read_time);
  }
}

void HostMemory::fill() {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = i * 7 >> 3;
}

std::vector<std::uint8_t> HostMemory::at(std::uint64_t address, unsigned length) const {
  const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(address);
  return {first, first + length};
}

std::vector<bool> Lines::levels() const {
  std::vector<bool> found;
  for (const auto& [number, level] : changes) found.push_back(level);
  return found;
}

unsigned Lines::count(unsigned number) const {
  return static_cast<unsigned>(
      std::count_if(changes.begin(), changes.end(),
                    [number](const auto& change) { return change.first == number; }));
}

bool Lines::level(unsigned number) const {
  const auto last = std::find_if(changes.rbegin(), changes.rend(),
                                 [number](const auto& change) { return change.first == number; });
  return last != changes.rend() && last->second;
}

Logic::Logic(const sc_core::sc_module_name& name, vp::Domain& domain)
    : sc_module(name), bar("bar"), dma("dma"), response_(domain, [this] { respond(); }) {
  bar.register_nb_transport_fw(this, &Logic::bar_access);
  dma.register_nb_transport_bw(this, &Logic::dma_response);
  for (auto& bytes : memory) bytes.resize(0x10000);
}

tlm::tlm_sync_enum Logic::bar_access(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time&) {
  const Access& access = *payload.get_extension<Access>();
  EXPECT_EQ(phase, tlm::BEGIN_REQ);
  EXPECT_GE(payload.get_data_length(), 1u);
  EXPECT_LE(payload.get_data_length(), access.deferrable ? 128u : 64u);
  if (keep_uses) {
    uses.push_back({payload.is_write(), access.bar, payload.get_address(),
                    payload.get_data_length(), access.requester});
    if (on_use) on_use(uses.back());
  }
  EXPECT_FALSE(payload.is_write() && holds_write()) << "after a write that was not taken";
  if (payload.is_write() && full && !access.deferrable) {
    untaken_ = &payload;
    return tlm::TLM_ACCEPTED;
  }
  if (payload.is_write()) {
    perform(payload);
    return tlm::TLM_COMPLETED;
  }
  most_outstanding = std::max(most_outstanding, ++outstanding);
  if (silent) return tlm::TLM_ACCEPTED;
  if (latency == 0) {
    --outstanding;
    perform(payload);
    return tlm::TLM_COMPLETED;
  }
  pending_.push_back({vp::now() + latency, &payload});
  if (!response_.pending()) response_.at(pending_.front().first);
  return tlm::TLM_ACCEPTED;
}

void Logic::accept() {
  if (untaken_ == nullptr) return;
  tlm::tlm_generic_payload& payload = *std::exchange(untaken_, nullptr);
  perform(payload);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  EXPECT_EQ(bar->nb_transport_bw(payload, phase, delay), tlm::TLM_COMPLETED);
}

void Logic::perform(tlm::tlm_generic_payload& payload) {
  const Access& access = *payload.get_extension<Access>();
  std::uint8_t* at = &memory[access.bar][payload.get_address()];
  payload.set_response_status(answer);
  if (answer != tlm::TLM_OK_RESPONSE) return;
  if (payload.is_write()) {
    const std::uint8_t* enables = payload.get_byte_enable_ptr();
    if (enables == nullptr) {
      std::memcpy(at, payload.get_data_ptr(), payload.get_data_length());
      return;
    }
    for (unsigned i = 0; i < payload.get_data_length(); ++i) {
      if (enables[i] != 0) at[i] = payload.get_data_ptr()[i];
    }
  } else {
    std::memcpy(payload.get_data_ptr(), at, payload.get_data_length());
  }
}

void Logic::respond() {
  tlm::tlm_generic_payload& payload = *pending_.front().second;
  pending_.pop_front();
  if (!pending_.empty()) response_.at(pending_.front().first);
  --outstanding;
  perform(payload);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  EXPECT_EQ(bar->nb_transport_bw(payload, phase, delay), tlm::TLM_COMPLETED);
}

std::unique_ptr<Logic::Dma> Logic::dma_write(std::uint64_t address,
                                             const std::vector<std::uint8_t>& data) {
  return start(tlm::TLM_WRITE_COMMAND, address, data);
}

std::unique_ptr<Logic::Dma> Logic::dma_read(std::uint64_t address, unsigned bytes) {
  return start(tlm::TLM_READ_COMMAND, address, std::vector<std::uint8_t>(bytes));
}

std::unique_ptr<Logic::Dma> Logic::start(tlm::tlm_command command, std::uint64_t address,
                                         std::vector<std::uint8_t> data) {
  auto transfer = std::make_unique<Dma>();
  transfer->data = std::move(data);
  transfer->set_extension(transfer->access);
  transfer->set_command(command);
  transfer->set_address(address);
  transfer->set_data_ptr(transfer->data.data());
  transfer->set_data_length(transfer->data.size());
  transfer->set_streaming_width(transfer->data.size());
  start(*transfer);
  return transfer;
}

void Logic::start(Dma& transfer) {
  transfer.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  if (dma->nb_transport_fw(transfer, phase, delay) == tlm::TLM_COMPLETED) {
    transfer.done = true;
    transfer.when = vp::now();
  }
}

tlm::tlm_sync_enum Logic::dma_response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time&) {
  Dma& transfer = static_cast<Dma&>(payload);
  EXPECT_EQ(phase, tlm::BEGIN_RESP);
  EXPECT_FALSE(transfer.done);
  transfer.done = true;
  transfer.when = vp::now();
  transfer.finished.notify();
  if (on_done) on_done(transfer);
  return tlm::TLM_COMPLETED;
}

Fixture::Config::Config() {
  root_complex.memory64 = {0x4000000000, 0x40000000};
  link.transmit_queue = roomy;
  FunctionConfig function;
  function.identity.subsystem_vendor = 0xf0ae;
  function.identity.subsystem = 0x0001;
  function.bars = {BarConfig::memory_64(0, 0x10000), BarConfig::prefetchable_64(2, 0x8000),
                   BarConfig::memory_32(4, 0x1000)};
  function.msi_x = {16, 0, 0x8000, 0, 0xc000};
  function.serial_number = 0x0123456789abcdef;
  endpoint.functions = {function};
}

Fixture::Fixture(const Config& config, const sc_core::sc_module_name& name)
    : sc_module(name),
      host("host"),
      card("card"),
      root_complex("root_complex", config.root_complex, host, statistics),
      endpoint("endpoint", config.endpoint, card, statistics),
      link("link", config.link, root_complex.port(0), endpoint, trace, statistics),
      memory("memory"),
      lines("lines"),
      logic("logic", card),
      processor("processor"),
      has_bit_errors_(config.link.bit_error_rate > 0) {
  processor.bind(root_complex.host);
  root_complex.memory.bind(memory.socket);
  root_complex.interrupt.bind(lines);
  endpoint.function(0).bar.bind(logic.bar);
  logic.dma.bind(endpoint.function(0).dma);
  if (!config.trace.empty()) trace.open(config.trace, nlohmann::json::object());
}

void Fixture::spawn(std::function<void()> script) {
  ++running_;
  sc_core::sc_spawn([this, script] {
    script();
    // The idle wire always has another error to come.
    if (--running_ == 0 && has_bit_errors_) sc_core::sc_pause();
  });
}

void Fixture::run(std::function<void()> script) {
  spawn(std::move(script));
  sc_core::sc_start();
  EXPECT_EQ(running_, 0u) << "a script waits for something that never happens";
}

tlm::tlm_response_status Fixture::access(tlm::tlm_generic_payload& payload) {
  sc_core::sc_time delay;
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  processor->b_transport(payload, delay);
  return payload.get_response_status();
}

namespace {
void fill(tlm::tlm_generic_payload& payload, tlm::tlm_command command, std::uint64_t address,
          std::uint8_t* data, unsigned bytes) {
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(data);
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
}
}  // namespace

std::vector<std::uint8_t> Fixture::read_bytes(std::uint64_t address, unsigned bytes) {
  std::vector<std::uint8_t> data(bytes, 0x5a);
  tlm::tlm_generic_payload payload;
  fill(payload, tlm::TLM_READ_COMMAND, address, data.data(), bytes);
  EXPECT_EQ(access(payload), tlm::TLM_OK_RESPONSE) << std::hex << address;
  return data;
}

void Fixture::write_bytes(std::uint64_t address, const std::vector<std::uint8_t>& data) {
  std::vector<std::uint8_t> copy = data;
  tlm::tlm_generic_payload payload;
  fill(payload, tlm::TLM_WRITE_COMMAND, address, copy.data(), copy.size());
  EXPECT_EQ(access(payload), tlm::TLM_OK_RESPONSE) << std::hex << address;
}

std::uint64_t Fixture::read(std::uint64_t address, unsigned bytes) {
  std::uint64_t value = 0x5a5a5a5a5a5a5a5a;
  tlm::tlm_generic_payload payload;
  fill(payload, tlm::TLM_READ_COMMAND, address, reinterpret_cast<std::uint8_t*>(&value), bytes);
  EXPECT_EQ(access(payload), tlm::TLM_OK_RESPONSE) << std::hex << address;
  return bytes == 8 ? value : value & ((std::uint64_t{1} << 8 * bytes) - 1);
}

void Fixture::write(std::uint64_t address, std::uint64_t value, unsigned bytes) {
  tlm::tlm_generic_payload payload;
  fill(payload, tlm::TLM_WRITE_COMMAND, address, reinterpret_cast<std::uint8_t*>(&value), bytes);
  EXPECT_EQ(access(payload), tlm::TLM_OK_RESPONSE) << std::hex << address;
}

std::uint32_t Fixture::config_read(Id id, unsigned offset, unsigned bytes) {
  return static_cast<std::uint32_t>(read(ecam + (std::uint64_t{id} << 12) + offset, bytes));
}

void Fixture::config_write(Id id, unsigned offset, std::uint32_t value, unsigned bytes) {
  write(ecam + (std::uint64_t{id} << 12) + offset, value, bytes);
}

unsigned Fixture::find_capability(Id id, std::uint8_t capability) {
  unsigned offset = config_read(id, Header::capabilities_pointer, 1);
  for (int i = 0; i < 48 && offset != 0; ++i) {
    if (config_read(id, offset, 1) == capability) return offset;
    offset = config_read(id, offset + 1, 1);
  }
  return 0;
}

unsigned Fixture::find_extended_capability(Id id, std::uint16_t capability) {
  for (unsigned offset = ConfigSpace::first_extended_capability; offset != 0;
       offset = config_read(id, offset, 4) >> 20) {
    if (config_read(id, offset, 2) == capability) return offset;
  }
  return 0;
}

void Fixture::enable_errors(Id id) {
  const unsigned control = find_capability(id, PciExpress::id) + PciExpress::device_control;
  config_write(id, control, config_read(id, control, 2) | 0xf, 2);
}

void Fixture::enable_msi(Id id) {
  const unsigned msi = find_capability(id, Msi::id);
  config_write(id, msi + Msi::message_address, 0xfee01000, 4);
  config_write(id, msi + Msi::message_control, Msi::ControlBit::enable, 2);
}

void Fixture::enumerate() {
  config_write(root_port, Type1Header::primary_bus_number, 0x00010100, 4);  // buses 0, 1, 1
  config_write(root_port, Type1Header::memory_base, 0xc010c000, 4);         // 2 MiB
  config_write(root_port, Type1Header::prefetchable_memory_base, 0x00010001,
               4);  // low part of the 64-bit window: 1 MiB
  config_write(root_port, Type1Header::prefetchable_base_upper, 0x40, 4);
  config_write(root_port, Type1Header::prefetchable_limit_upper, 0x40, 4);
  config_write(root_port, Header::command, memory_and_master, 2);
  config_write(device, Type0Header::bar(0), static_cast<std::uint32_t>(bar0), 4);
  config_write(device, Type0Header::bar(1), 0, 4);
  config_write(device, Type0Header::bar(2), static_cast<std::uint32_t>(bar2), 4);
  config_write(device, Type0Header::bar(3), static_cast<std::uint32_t>(bar2 >> 32), 4);
  config_write(device, Type0Header::bar(4), static_cast<std::uint32_t>(bar4), 4);
  config_write(device, Header::command, memory_and_master, 2);
}

void Fixture::set_sizes(unsigned payload, unsigned read_request) {
  auto code = [](unsigned bytes) {
    unsigned value = 0;
    while (128u << value < bytes) ++value;
    return value;
  };
  for (const Id id : {root_port, device}) {
    const unsigned control = find_capability(id, PciExpress::id) + PciExpress::device_control;
    const std::uint32_t value = config_read(id, control, 2) & ~0x70e0u;
    config_write(id, control, value | code(payload) << 5 | code(read_request) << 12, 2);
  }
}

void Fixture::wait_for(Logic::Dma& dma) {
  while (!dma.done) sc_core::wait(dma.finished);
}

void Fixture::expect_work() {
  logic.memory[2][8] = 0x42;
  EXPECT_EQ(read(bar2 + 8, 1), 0x42u);
  auto dma = logic.dma_read(0x1000, 4096);
  wait_for(*dma);
  EXPECT_TRUE(dma->is_response_ok());
  EXPECT_EQ(dma->data, memory.at(0x1000, 4096));
}

std::uint64_t Fixture::counter(const std::string& name) const {
  const nlohmann::json all = statistics.json();
  const auto& counters = all.at("counters");
  EXPECT_TRUE(counters.contains("fixture." + name)) << counters.dump(1);
  return counters.value("fixture." + name, std::uint64_t{0});
}

}  // namespace pcie
