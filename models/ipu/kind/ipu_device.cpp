// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/kind/ipu_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/device/processors.h"
#include "models/ipu/kind/functions.h"
#include "models/ipu/kind/oae_links.h"
#include "oae_memory_map.h"
#include "vp/log/log.h"

namespace ipu {
namespace {

// Priority below all memory regions of QEMU's own machine: only what they leave free reaches the
// simulation.
constexpr int under_qemu = -1000;
constexpr std::uint64_t address_space = 1ull << 40;

// After that time the IPU looks again whether the accesses of its cores have ended.
constexpr vp::Picoseconds access_end = 100 * vp::ns;

// Memory that only the engine of one virtual function reaches.
constexpr std::uint64_t virtual_memory_size = 0x1'0000;

static_assert(OAE_IPU_LINK_COUNT == OAE_SYSTEM_LINK_PEER_COUNT);
static_assert(OAE_IPU_WINDOW_LINK_COUNT == oae::Relay::links);
static_assert(OAE_IPU_WINDOW_LINK_COUNT == oae::Block::max_links);

std::uint64_t size(std::int64_t bytes) {
  return static_cast<std::uint64_t>(bytes);
}

vp::qemu::Instance::Config qemu_config(const Description& ipu, const device::Site& site) {
  vp::qemu::Arguments arguments = device::qemu_arguments(site);
  arguments.add("-machine", fmt::format("oae-ipu,sram-size={}", ipu.sram));
  arguments.add("-cpu", ipu.core);
  arguments.add("-smp", std::to_string(ipu.cores));
  arguments.add("-m", fmt::format("{}b", ipu.dram));
  arguments.add("-kernel", ipu.firmware.path);

  vp::qemu::Instance::Config config = device::qemu_config(site, std::move(arguments));
  config.cpus = ipu.cores;
  config.ips = static_cast<std::uint64_t>(ipu.instruction_rate);
  config.decoupled = true;
  return config;
}

QueueMemory::Timing queue_timing(const Description& ipu) {
  const vp::Picoseconds latency = ipu.functions.queue.memory_latency;
  return {latency, latency + 2 * ipu.noc_latency};
}

DmaEngine::Timing dma_timing(const Description& ipu) {
  return {ipu.dma.latency, static_cast<std::uint64_t>(ipu.dma.rate) / 8, ipu.dma.outstanding,
          ipu.dma.piece};
}

/// The cell number of an IPU: the number of IPUs before it in the platform file.
unsigned cell_of(const device::Site& site, const std::string& ipu) {
  return static_cast<unsigned>(std::find(site.peers.begin(), site.peers.end(), ipu) -
                               site.peers.begin());
}

SystemController::Machine machine_of(const Description& ipu, const device::Site& site) {
  SystemController::Machine machine{
      ipu.cores,      OAE_IPU_SRAM_BASE,         size(ipu.sram),         OAE_IPU_DRAM_BASE,
      size(ipu.dram), ipu.firmware_options.poll, cell_of(site, ipu.name)};
  if (ipu.functions.queue.present) machine.queue_memory = size(ipu.functions.queue.memory);
  const std::vector<const OaeLink*> links = links_of(site.sections, ipu.name);
  const bool relayed = relays(links);
  for (const OaeLink* link : links) {
    machine.links.push_back({cell_of(site, link->peer_of(ipu.name)), link->port_mask(),
                             link->windowed() && !relayed, relayed});
  }
  return machine;
}

// Both ends of all links differ in their errors. Devices have fewer numbers than this shift leaves.
std::uint64_t error_seed(const device::Site& site, unsigned link) {
  return site.seed + (std::uint64_t{link + 1} << 20);
}

oae::WindowLinkConfig window_config(const OaeLink& link, const device::Site& site, unsigned n) {
  return {OAE_IPU_LINK_SPI + n, link.bit_error_rate, error_seed(site, n)};
}

oae::BlockConfig block_config(const Description& ipu, const device::Site& site) {
  oae::BlockConfig config{ipu.oae.ports, static_cast<std::uint64_t>(ipu.oae.clock), OAE_IPU_OAE_SPI,
                          site.vcd, site.check_rtl};
  const std::vector<const OaeLink*> links = links_of(site.sections, ipu.name);
  if (relays(links)) return config;
  for (const OaeLink* link : links) {
    const auto n = static_cast<unsigned>(config.links.size());
    if (link->windowed()) config.links.push_back(window_config(*link, site, n));
  }
  return config;
}

}  // namespace

IpuDevice::IpuDevice(const sc_core::sc_module_name& name, const Description& ipu,
                     const device::Site& site)
    : Device(name, site, function_configs(ipu)),
      console(ipu.name),
      qemu("qemu", domain, qemu_config(ipu, site)),
      sram_bytes(qemu, OAE_IPU_SRAM_BASE, size(ipu.sram)),
      dram_bytes(qemu, OAE_IPU_DRAM_BASE, size(ipu.dram)),
      bars("bars"),
      noc("noc", ipu.noc_latency),
      sram("sram", sram_bytes, 0),
      dram("dram", dram_bytes, 0),
      uart("uart", domain, {}, OAE_IPU_CONSOLE_SPI,
           [this](std::uint8_t byte) { console.put(static_cast<char>(byte)); }),
      mailbox("mailbox", domain, OAE_IPU_MAILBOX_SPI),
      dma("dma", domain, dma_timing(ipu), OAE_IPU_DMA_SPI),
      system_controller("system_controller", machine_of(ipu, site),
                        [end = site.end_run, who = ipu.name](SystemController::HaltReason reason) {
                          if (reason == SystemController::HaltReason::fault) {
                            end(vp::ExitCode::firmware_fault,
                                who + ": the firmware faulted; its console shows the registers");
                          } else {
                            end(vp::ExitCode::success, who + ": the firmware ended the run");
                          }
                        }),
      oae("oae", block_config(ipu, site), domain, site.trace, site.statistics),
      trace_(site.trace) {
  pcie::Function& function = endpoint.function(0);

  for (vp::qemu::Cpu& core : qemu.cpu) core.socket.bind(noc.in);
  dma.memory.bind(noc.in);
  noc.connect(OAE_IPU_CONSOLE_BASE, OAE_IPU_CONSOLE_SIZE, uart.socket);
  noc.connect(OAE_IPU_MAILBOX_BASE, OAE_IPU_MAILBOX_SIZE, mailbox.socket, Noc::Timing::decoupled);
  noc.connect(OAE_IPU_DMA_BASE, OAE_IPU_DMA_SIZE, dma.socket);
  noc.connect(OAE_IPU_OAE_BASE, OAE_IPU_OAE_SIZE, oae.registers, Noc::Timing::decoupled);
  noc.connect(OAE_IPU_SYSTEM_BASE, OAE_IPU_SYSTEM_SIZE, system_controller.socket);
  noc.connect(OAE_IPU_SRAM_BASE, sram_bytes.size(), sram.socket);
  noc.connect(OAE_IPU_DRAM_BASE, dram_bytes.size(), dram.socket);

  function.on_power_loss([this] { lose_power(); });
  function.on_power_up([this] { power_up(); });
  function.on_reset([this] {
    mailbox.reset();
    oae.function_reset();
  });
  function.bar.bind(bars.bar);
  bars.connect(OAE_REGISTER_BAR, OAE_REGISTER_BAR_HOST_BASE, OAE_REGISTER_BAR_HOST_SIZE, oae.bar);
  bars.connect(OAE_REGISTER_BAR, OAE_REGISTER_BAR_MAILBOX_BASE, OAE_REGISTER_BAR_MAILBOX_SIZE,
               mailbox.host);
  bars.connect(OAE_PORT_BAR, 0, ipu.oae.ports * std::uint64_t{OAE_PORT_SIZE}, oae.bar);
  bars.connect(OAE_STREAM_BAR, 0, ipu.oae.ports * std::uint64_t{OAE_STREAM_SIZE}, oae.bar);

  oae.dma.bind(function.dma);
  dma.host.bind(function.dma);
  oae.interrupt.bind(function);
  mailbox.interrupt.bind(function);

  unsigned functions = 1;
  if (ipu.functions.test.present) add_test_function(ipu, endpoint.function(functions++));
  if (ipu.functions.queue.present) {
    add_queue_function(ipu, endpoint.function(functions++), site.statistics);
  }
  if (ipu.functions.load.present) {
    add_load_function(endpoint.function(functions++), site.statistics);
  }
  add_virtual_functions(ipu);
  add_oae_links(site);

  site.statistics.counter(ipu.name + ".instructions", [this] { return qemu.instructions(); });

  uart.irq.bind(qemu);
  mailbox.irq.bind(qemu);
  dma.irq.bind(qemu);
  oae.irq.bind(qemu);

  qemu.map_memory(0, address_space, under_qemu);
  qemu.on_requests(device::qemu_requests());
  console.on_input([this] { input_.at(std::max(vp::now(), domain.reached())); });
}

// The functions have ended their requests, and reset what is behind them.
void IpuDevice::lose_power() {
  power_up_.cancel();
  if (!std::exchange(powered_, false)) return;
  note_power(false);
  qemu.lose_power();
  oae.lose_power();
  if (relay) relay->lose_power();
  for (const auto& link : oae_links) link->lose_power();
  uart.reset();
  mailbox.reset();
  dma.reset();
}

void IpuDevice::power_up() {
  if (!qemu.power_up()) return power_up_.after(access_end);
  powered_ = true;
  note_power(true);
  oae.power_up();
  if (relay) relay->power_up();
  for (const auto& link : oae_links) link->power_up();
}

void IpuDevice::note_power(bool on) const {
  vp::log::get("ipu").info("{}: {}", name(), on ? "has power again" : "has lost its power");
  if (trace_.on()) trace_.write("{{\"t\":{},\"power\":\"{}\",\"on\":{}}}", vp::now(), name(), on);
}

void IpuDevice::add_test_function(const Description& ipu, pcie::Function& second) {
  test_function.emplace(
      "test_function",
      pcie::TestFunctionConfig{ipu.dma.latency, static_cast<std::uint64_t>(ipu.dma.rate) / 8,
                               ipu.dma.outstanding},
      domain);
  second.bar.bind(test_function->bar);
  test_function->dma.bind(second.dma);
  test_function->interrupt.bind(second);
  second.on_reset([this] { test_function->reset(); });
}

void IpuDevice::add_queue_function(const Description& ipu, pcie::Function& shared,
                                   vp::Statistics& statistics) {
  const std::uint64_t bytes = size(ipu.functions.queue.memory);
  queue_memory.emplace("queue_memory", bytes, queue_timing(ipu));
  queue_controller.emplace("queue_controller", domain);
  shared.bar.bind(queue_memory->host);
  queue_controller->interrupt.bind(shared);
  queue_controller->dma.bind(shared.dma);
  shared.on_reset([this] {
    queue_memory->reset();
    queue_controller->reset();
  });
  const std::string prefix = ipu.name + ".queue_memory.";
  statistics.counter(prefix + "host_reads", queue_memory->host_reads());
  statistics.counter(prefix + "host_writes", queue_memory->host_writes());
  statistics.counter(prefix + "core_accesses", queue_memory->core_accesses());
  statistics.counter(prefix + "line_fills", queue_memory->line_fills());
  statistics.counter(prefix + "interrupts", queue_controller->interrupts());
  statistics.counter(prefix + "lines", queue_controller->lines());
  noc.connect(OAE_IPU_QUEUE_BASE, OAE_IPU_QUEUE_SIZE, queue_controller->socket);
  noc.connect(OAE_IPU_QUEUE_MEMORY_BASE, bytes, queue_memory->uncached, Noc::Timing::decoupled);
  noc.connect(OAE_IPU_QUEUE_CACHED_BASE, bytes, queue_memory->cached, Noc::Timing::decoupled,
              Noc::Place::beside_cores);
}

void IpuDevice::add_load_function(pcie::Function& load, vp::Statistics& statistics) {
  load_generator.emplace("load_generator", domain);
  load.bar.bind(load_generator->bar);
  load_generator->dma.bind(load.dma);
  load.on_reset([this] { load_generator->reset(); });
  const std::string prefix = std::string(name()) + ".load.";
  statistics.latency(prefix + "short", load_generator->short_latency());
  statistics.latency(prefix + "long", load_generator->long_latency());
  statistics.counter(prefix + "generated", load_generator->generated());
  statistics.counter(prefix + "dropped", load_generator->dropped());
  statistics.counter(prefix + "refused", load_generator->refused());
  statistics.counter(prefix + "answered", load_generator->answered());
  statistics.counter(prefix + "unknown", load_generator->unknown());
}

void IpuDevice::add_virtual_functions(const Description& ipu) {
  for (unsigned i = 0; i < ipu.functions.virtual_functions; ++i) {
    pcie::Function& virtual_function = endpoint.function(0).virtual_function(i);
    virtual_devices.push_back(std::make_unique<CopyDevice>(fmt::format("vf{}", i).c_str(), domain,
                                                           dma_timing(ipu), virtual_memory_size));
    CopyDevice& device = *virtual_devices.back();
    virtual_function.bar.bind(device.bar);
    virtual_function.on_reset([&device] { device.reset(); });
    device.engine.host.bind(virtual_function.dma);
    device.interrupt.bind(virtual_function);
  }
}

std::vector<oae::WindowLink*> IpuDevice::window_links() {
  if (relay) return {&relay->link(0), &relay->link(1)};
  std::vector<oae::WindowLink*> found;
  for (const auto& link : oae.links()) found.push_back(link.get());
  return found;
}

void IpuDevice::add_relay(const std::vector<const OaeLink*>& links, const device::Site& site) {
  oae::RelayConfig config;
  config.clock_hz = static_cast<std::uint64_t>(links[0]->rate) / oae::WindowLink::bits_per_clock;
  config.checked = site.check_rtl;
  for (unsigned n = 0; n < oae::Relay::links; ++n) {
    config.links[n] = window_config(*links[n], site, n);
  }
  relay.emplace("relay", config, domain, site.trace, site.statistics);
}

void IpuDevice::add_oae_links(const device::Site& site) {
  const std::vector<const OaeLink*> links = links_of(site.sections, name());
  if (relays(links)) add_relay(links, site);
  unsigned window = 0;
  for (oae::WindowLink* link : window_links()) {
    noc.connect(OAE_IPU_WINDOW_LINK_AT(window++), OAE_IPU_WINDOW_LINK_SIZE, link->registers);
    link->irq.bind(qemu);
  }
  for (const OaeLink* link : links) {
    if (link->windowed()) continue;
    const auto n = static_cast<unsigned>(oae_links.size());
    oae_links.push_back(std::make_unique<oae::Link>(
        fmt::format("oae_link{}", n).c_str(),
        oae::LinkConfig{static_cast<std::uint64_t>(link->rate), OAE_IPU_LINK_SPI + n,
                        site.check_rtl, link->bit_error_rate, error_seed(site, n)},
        domain, site.trace, site.statistics));
    noc.connect(OAE_IPU_LINK_AT(n), OAE_IPU_LINK_SIZE, oae_links.back()->registers);
    oae_links.back()->irq.bind(qemu);
  }
}

}  // namespace ipu
