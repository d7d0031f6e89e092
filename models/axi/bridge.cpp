// SPDX-License-Identifier: Apache-2.0
#include "models/axi/bridge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "models/pcie/protocol/configuration_error.h"
#include "vp/log/log.h"

namespace axi {
namespace {

constexpr std::uint64_t min_clock = 1'000;
constexpr std::uint64_t max_clock = 10'000'000'000;
constexpr unsigned msi_x_bar = 2;
constexpr std::uint64_t least_msi_x_bar = 4096;

std::uint64_t checked(std::uint64_t clock_hz) {
  if (clock_hz < min_clock || clock_hz > max_clock) {
    throw pcie::ConfigurationError(
        fmt::format("clock of {} Hz: 1 kHz to 10 GHz are possible", clock_hz));
  }
  return clock_hz;
}

}  // namespace

pcie::FunctionConfig Bridge::function_config(const BlockType& type, std::uint64_t clock_hz) {
  pcie::FunctionConfig function;
  function.identity.vendor = function.identity.subsystem_vendor = type.vendor;
  function.identity.device = type.device;
  function.identity.class_code = type.class_code;
  function.bars = {pcie::BarConfig::memory_64(0, type.bar_size)};
  if (type.vectors > 0) {
    std::uint64_t half = least_msi_x_bar / 2;
    while (half < 16 * std::uint64_t{type.vectors}) half *= 2;
    function.bars.push_back(pcie::BarConfig::memory_32(msi_x_bar, 2 * half));
    function.msi_x = {type.vectors, msi_x_bar, 0, msi_x_bar, half};
    function.interrupt_pin = type.level ? 1 : 0;
  }
  // The first edge of a reset comes up to a period after it.
  const vp::Picoseconds reset = rtl::ClockGrid(checked(clock_hz)).time(reset_edges + 1);
  function.initialisation = function.reset_time = reset;
  return function;
}

Bridge::Bridge(const sc_core::sc_module_name& name, const BlockType& type,
               const BridgeConfig& config, vp::Domain& domain, vp::Trace& trace,
               vp::Statistics& statistics)
    : sc_module(name),
      bar("bar"),
      dma("dma"),
      interrupt("interrupt"),
      type_(type),
      block_(type.make(config.seed)),
      pins_(block_->pins),
      domain_(domain),
      grid_(checked(config.clock_hz)),
      addresses_(pins_.registers.awaddr.bits() < 64
                     ? std::uint64_t{1} << pins_.registers.awaddr.bits()
                     : ~std::uint64_t{0}),
      trace_(trace),
      waveform_(!config.vcd.empty()),
      faults_(vp::log::get(type.name), this->name()),
      registers_(pins_.registers, faults_,
                 [this](tlm::tlm_generic_payload& payload) {
                   tlm::tlm_phase phase = tlm::BEGIN_RESP;
                   sc_core::sc_time delay;
                   bar->nb_transport_bw(payload, phase, delay);
                 }),
      writes_(pins_.write, faults_, write_host()),
      reads_(pins_.read, faults_, read_host()),
      clock_(domain, [this] { tick(); }),
      go_on_(domain, [this] { writes_.go_on(); }),
      interrupts_((pins_.interrupts.bits + 7) / 8) {
  bar.register_nb_transport_fw(this, &Bridge::access);
  dma.register_nb_transport_bw(this, &Bridge::answered);
  const std::string prefix = std::string(this->name()) + ".";
  statistics.latency(prefix + "register_read_latency", registers_.read_latency());
  statistics.counter(prefix + "clocks", clocks_);
  statistics.counter(prefix + "register_reads", registers_.reads());
  statistics.counter(prefix + "register_writes", registers_.writes());
  statistics.counter(prefix + "register_write_errors", faults_.register_writes());
  statistics.counter(prefix + "beyond_the_registers", unreachable_);
  statistics.counter(prefix + "dma_reads", reads_.bursts());
  statistics.counter(prefix + "dma_read_errors", reads_.errors());
  statistics.counter(prefix + "dma_writes", writes_.bursts());
  statistics.counter(prefix + "dma_write_errors", writes_.errors());
  statistics.counter(prefix + "unsupported_bursts", faults_.unsupported_count());
  statistics.counter(prefix + "protocol_violations", faults_.violations());
  statistics.counter(prefix + "interrupts", interrupt_count_);
  power_up();
  if (waveform_ && !block_->open_waveform(config.vcd)) {
    throw pcie::ConfigurationError("cannot write the waveform file " + config.vcd);
  }
  start();
}

WritePort::Host Bridge::write_host() {
  return {[this](tlm::tlm_generic_payload& payload) { return send(payload); },
          [this](unsigned vector) { signal(vector); },
          [this](bool level) { interrupt->set_intx(level); }, [this] { start(); }};
}

ReadPort::Host Bridge::read_host() {
  return {[this](tlm::tlm_generic_payload& payload) { return send(payload); }, [this] { start(); }};
}

// The card had power long before time 0, so its reset is over.
void Bridge::power_up() {
  pins_.reset.set(pins_.reset_level);
  for (unsigned edge = 0; edge < reset_edges; ++edge) {
    block_->settle();
    block_->rise();
  }
  pins_.reset.set(!pins_.reset_level);
}

// Accesses of the host.

tlm::tlm_sync_enum Bridge::access(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                  sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  const std::uint64_t address = payload.get_address();
  const unsigned length = payload.get_data_length();
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
    status = tlm::TLM_COMMAND_ERROR_RESPONSE;
  } else if (payload.get_byte_enable_ptr() != nullptr) {
    status = tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  } else if (length == 0 ||
             address % RegisterPort::most_bytes + length > RegisterPort::most_bytes) {
    status = tlm::TLM_BURST_ERROR_RESPONSE;
  } else if (const auto* access = payload.get_extension<pcie::Access>();
             (access != nullptr && access->bar != 0) || address >= addresses_ ||
             length > addresses_ - address) {
    ++unreachable_;
    status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
  }
  if (status != tlm::TLM_OK_RESPONSE) {
    payload.set_response_status(status);
    return tlm::TLM_COMPLETED;
  }
  const vp::Picoseconds arrival = vp::now() + static_cast<vp::Picoseconds>(delay.value());
  const tlm::tlm_sync_enum result = registers_.push(payload, arrival);
  start();
  return result;
}

// DMA and interrupts.

tlm::tlm_sync_enum Bridge::send(tlm::tlm_generic_payload& payload) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  return dma->nb_transport_fw(payload, phase, delay);
}

tlm::tlm_sync_enum Bridge::answered(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                    sc_core::sc_time&) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  if (payload.is_read()) {
    reads_.answered(payload);
  } else {
    writes_.answered();
    if (!go_on_.pending()) go_on_.at(vp::now());
  }
  return tlm::TLM_COMPLETED;
}

void Bridge::signal(unsigned vector) {
  // A function in INTx mode sends what set_intx() says.
  if (type_.level && interrupt->interrupt_mode() == pcie::InterruptMode::intx) return;
  ++interrupt_count_;
  if (trace_.on()) {
    trace_.write("{{\"t\":{},\"interrupt\":\"{}\",\"vector\":{}}}", vp::now(), name(), vector);
  }
  interrupt->signal(vector);
}

void Bridge::reset() {
  registers_.reset();
  writes_.reset();
  reads_.reset();
  std::fill(interrupts_.begin(), interrupts_.end(), std::uint8_t{0});
  level_ = false;  // the function has deasserted its pin
  reset_left_ = reset_edges;
  reset_at_ = vp::now();
  start();
}

// The clock.

// Lets the clock run from the first edge after now, unless it runs already.
void Bridge::start() {
  if (running_) return;
  running_ = true;
  next_ = std::max(next_, grid_.after(vp::now()));
  clock_.at(grid_.time(next_));
}

void Bridge::tick() {
  const vp::Picoseconds now = grid_.time(next_);
  // The block does not see a reset at the edge of the same instant, and the bridge has forgotten
  // already what the block does at that edge.
  const bool resets = reset_left_ > 0;
  const bool in_reset = resets && reset_at_ < now;
  pins_.reset.set(in_reset == pins_.reset_level);
  if (!resets) {
    registers_.present(now);
    writes_.present(now);
    reads_.present(now);
  }
  settle();
  if (!resets && may_stop()) {
    // This edge does not take place. What arrived at this very instant is for the next one.
    running_ = false;
    ++next_;
    if (registers_.waiting() || writes_.waiting() || reads_.waiting()) start();
    return;
  }
  if (in_reset) --reset_left_;
  if (!resets) {
    registers_.sample(now);
    writes_.sample();
    reads_.sample();
    sample_interrupts();
  }
  rise();
  registers_.release();
  clock_.at(grid_.time(next_));
}

// Whether this edge and those that follow change nothing until something comes.
bool Bridge::may_stop() const {
  return pins_.idle.get() != 0 && !registers_.busy() && !writes_.busy() && !reads_.busy() &&
         !registers_.driven() && !writes_.driven() && !reads_.driven() && !interrupts_changed();
}

// Makes the outputs follow the inputs before the next edge.
void Bridge::settle() {
  block_->settle();
  if (waveform_) {
    const vp::Picoseconds before = grid_.time(next_ - 1);
    block_->dump(static_cast<std::uint64_t>((before + grid_.time(next_)) / 2));
  }
}

void Bridge::rise() {
  const vp::Picoseconds now = grid_.time(next_);
  block_->set_time(now);
  block_->rise();
  if (waveform_) block_->dump(static_cast<std::uint64_t>(now));
  ++next_;
  ++clocks_;
}

bool Bridge::interrupts_changed() const {
  return !interrupts_.empty() &&
         std::memcmp(interrupts_.data(), pins_.interrupts.bytes, interrupts_.size()) != 0;
}

// Sends an interrupt for each pin that has risen since the edge before.
void Bridge::sample_interrupts() {
  if (!interrupts_changed()) return;
  bool level = false;
  for (unsigned vector = 0; vector < pins_.interrupts.bits; ++vector) {
    const bool high = pins_.interrupts.bit(vector);
    level |= high;
    const bool before = (interrupts_[vector / 8] >> vector % 8 & 1) != 0;
    if (high && !before) writes_.interrupt(vector);
  }
  std::memcpy(interrupts_.data(), pins_.interrupts.bytes, interrupts_.size());
  if (type_.level && level != level_) writes_.level(level);
  level_ = level;
}

}  // namespace axi
