// SPDX-License-Identifier: Apache-2.0
#include "platforms/machine/ipu_machine.h"

#include <fmt/format.h>

#include "oae_memory_map.h"
#include "platforms/machine/endpoint.h"
#include "platforms/machine/qemu_arguments.h"

namespace platform {
namespace {

// Priority below all memory regions of QEMU's own machine: only what they leave free reaches the
// simulation.
constexpr int under_qemu = -1000;
constexpr std::uint64_t address_space = 1ull << 40;

// Memory that only the engine of one virtual function reaches.
constexpr std::uint64_t virtual_memory_size = 0x1'0000;

static_assert(OAE_IPU_LINK_COUNT == OAE_SYSTEM_LINK_PEER_COUNT);

std::uint64_t size(std::int64_t bytes) {
  return static_cast<std::uint64_t>(bytes);
}

vp::qemu::Instance::Config qemu_config(const Ipu& ipu, const Platform& platform,
                                       const IpuMachine::Options& options) {
  vp::qemu::Instance::Config config;
  config.library = platform.qemu.ipu_library.path;
  config.cpus = ipu.cores;
  config.ips = static_cast<std::uint64_t>(ipu.instruction_rate);
  config.max_quantum = platform.simulation.max_quantum;
  config.decoupled = true;
  config.slice = platform.simulation.vcpu_slice;
  config.spin_slice = platform.simulation.spin_slice;

  QemuArguments arguments(platform.simulation, options.gdb_port);
  arguments.add("-machine", fmt::format("oae-ipu,sram-size={}", ipu.sram));
  arguments.add("-cpu", ipu.core);
  arguments.add("-smp", std::to_string(ipu.cores));
  arguments.add("-m", fmt::format("{}b", ipu.dram));
  arguments.add("-kernel", ipu.firmware.path);
  config.arguments = arguments.words();
  return config;
}

static_assert(OAE_STREAM_SIZE == OAE_PORT_SIZE);

// The smallest power of two that has room for this: a BAR has such a size.
std::uint64_t bar_size(std::uint64_t room) {
  std::uint64_t bytes = OAE_PORT_SIZE;
  while (bytes < room) bytes *= 2;
  return bytes;
}

std::uint64_t port_bar_size(unsigned ports) {
  return bar_size(ports * std::uint64_t{OAE_PORT_SIZE});
}

/// Describes a function beside function 0, as far as all of these are alike.
void describe(pcie::FunctionConfig& function, const PciId& id, const Endpoint& endpoint) {
  function.identity.vendor = id.vendor;
  function.identity.device = id.device;
  function.identity.class_code =
      0xff0000;  // does not fit any defined class (PCI Code and ID Assignment)
  function.identity.revision = endpoint.revision;
  function.identity.subsystem_vendor = endpoint.subsystem.vendor;
  function.identity.subsystem = endpoint.subsystem.device;
  function.reset_time = 1 * vp::ms;
  function.no_soft_reset = false;
}

pcie::FunctionConfig test_function_config(const Endpoint& endpoint) {
  const TestFunction& test = endpoint.test_function;
  pcie::FunctionConfig function =
      pcie::TestFunction::function_config(test.msi_vectors, test.msi_x_vectors);
  describe(function, test.id, endpoint);
  return function;
}

pcie::FunctionConfig queue_function_config(const Endpoint& endpoint) {
  const QueueFunction& queue = endpoint.queue_function;
  pcie::FunctionConfig function;
  describe(function, queue.id, endpoint);
  function.bars = {
      pcie::BarConfig::memory_64(OAE_QUEUE_BAR, OAE_QUEUE_BAR_SIZE),
      pcie::BarConfig::prefetchable_64(OAE_QUEUE_MEMORY_BAR, bar_size(size(queue.memory)))};
  function.msi_x = {queue.vectors, OAE_QUEUE_BAR, OAE_QUEUE_BAR_MSI_X_TABLE_BASE, OAE_QUEUE_BAR,
                    OAE_QUEUE_BAR_MSI_X_PENDING_BASE};
  return function;
}

pcie::FunctionConfig load_function_config(const Endpoint& endpoint) {
  pcie::FunctionConfig function;
  describe(function, endpoint.load_function.id, endpoint);
  function.bars = {pcie::BarConfig::memory_64(OAE_LOAD_BAR, OAE_LOAD_BAR_SIZE)};
  return function;
}

ipu::QueueMemory::Timing queue_timing(const Ipu& ipu) {
  const vp::Picoseconds latency = ipu.endpoint.queue_function.memory_latency;
  return {latency, latency + 2 * ipu.noc_latency};
}

ipu::DmaEngine::Timing dma_timing(const Ipu& ipu) {
  return {ipu.dma.latency, static_cast<std::uint64_t>(ipu.dma.rate) / 8, ipu.dma.outstanding,
          ipu.dma.piece};
}

unsigned cell_of(const Platform& platform, const std::string& name) {
  unsigned cell = 0;
  while (platform.ipus[cell].name != name) ++cell;
  return cell;
}

std::vector<const OaeLink*> links_of(const Platform& platform, const std::string& ipu) {
  std::vector<const OaeLink*> links;
  for (const OaeLink& link : platform.oae_links) {
    if (link.a == ipu || link.b == ipu) links.push_back(&link);
  }
  return links;
}

ipu::SystemController::Machine machine_of(const Ipu& ipu, const Platform& platform) {
  ipu::SystemController::Machine machine{ipu.cores,
                                         OAE_IPU_SRAM_BASE,
                                         size(ipu.sram),
                                         OAE_IPU_DRAM_BASE,
                                         size(ipu.dram),
                                         ipu.firmware_options.poll,
                                         cell_of(platform, ipu.name)};
  if (ipu.endpoint.queue_function.present) {
    machine.queue_memory = size(ipu.endpoint.queue_function.memory);
  }
  for (const OaeLink* link : links_of(platform, ipu.name)) {
    std::uint64_t ports = 0;
    for (unsigned i = 0; i < link->ports; ++i) ports |= std::uint64_t{1} << (link->first_port + i);
    machine.links.push_back({cell_of(platform, link->a == ipu.name ? link->b : link->a), ports});
  }
  return machine;
}

pcie::EndpointConfig ipu_endpoint_config(const Ipu& ipu, const PcieLink& link, std::uint32_t seed) {
  pcie::FunctionConfig function;
  function.identity.vendor = ipu.endpoint.id.vendor;
  function.identity.device = ipu.endpoint.id.device;
  function.identity.class_code = ipu.endpoint.class_code;
  function.identity.revision = ipu.endpoint.revision;
  function.identity.subsystem_vendor = ipu.endpoint.subsystem.vendor;
  function.identity.subsystem = ipu.endpoint.subsystem.device;
  function.reset_time = 1 * vp::ms;
  function.no_soft_reset = false;  // so a host can also reset it by D3hot
  function.bars = {
      pcie::BarConfig::memory_64(OAE_REGISTER_BAR, OAE_REGISTER_BAR_SIZE),
      pcie::BarConfig::prefetchable_64(OAE_PORT_BAR, port_bar_size(ipu.oae.ports)),
      pcie::BarConfig::prefetchable_64(OAE_STREAM_BAR, port_bar_size(ipu.oae.ports)),
  };
  function.msi_x.vectors = OAE_REGISTER_BAR_SHARED_VECTORS + ipu.oae.ports;
  function.msi_x.table_bar = OAE_REGISTER_BAR;
  function.msi_x.table_offset = OAE_REGISTER_BAR_MSI_X_TABLE_BASE;
  function.msi_x.pending_bar = OAE_REGISTER_BAR;
  function.msi_x.pending_offset = OAE_REGISTER_BAR_MSI_X_PENDING_BASE;

  if (ipu.endpoint.virtual_functions > 0) {
    pcie::VirtualFunctionsConfig& virtual_functions = function.virtual_functions;
    virtual_functions.count = ipu.endpoint.virtual_functions;
    virtual_functions.device = static_cast<std::uint16_t>(ipu.endpoint.id.device + 1);
    virtual_functions.bars = {
        pcie::BarConfig::prefetchable_64(OAE_VIRTUAL_BAR, OAE_VIRTUAL_BAR_SIZE)};
    virtual_functions.msi_x = {1, OAE_VIRTUAL_BAR, OAE_VIRTUAL_BAR_MSI_X_TABLE_BASE,
                               OAE_VIRTUAL_BAR, OAE_VIRTUAL_BAR_MSI_X_PENDING_BASE};
  }

  pcie::EndpointConfig config = endpoint_config(ipu.endpoint, link, seed);
  config.functions = {function};
  if (ipu.endpoint.test_function.present) {
    config.functions.push_back(test_function_config(ipu.endpoint));
  }
  if (ipu.endpoint.queue_function.present) {
    config.functions.push_back(queue_function_config(ipu.endpoint));
  }
  if (ipu.endpoint.load_function.present) {
    config.functions.push_back(load_function_config(ipu.endpoint));
  }
  return config;
}

}  // namespace

IpuMachine::IpuMachine(const sc_core::sc_module_name& name, const Ipu& ipu,
                       const Platform& platform, const PcieLink& link, const Options& options,
                       Outcome& outcome, vp::Trace& trace, vp::Statistics& statistics)
    : sc_module(name),
      domain("domain"),
      console(ipu.name),
      qemu("qemu", domain, qemu_config(ipu, platform, options)),
      sram_bytes(qemu, OAE_IPU_SRAM_BASE, size(ipu.sram)),
      dram_bytes(qemu, OAE_IPU_DRAM_BASE, size(ipu.dram)),
      endpoint("endpoint", ipu_endpoint_config(ipu, link, platform.simulation.seed), domain,
               statistics),
      bars("bars"),
      noc("noc", ipu.noc_latency),
      sram("sram", sram_bytes, 0),
      dram("dram", dram_bytes, 0),
      uart("uart", domain, {}, OAE_IPU_CONSOLE_SPI,
           [this](std::uint8_t byte) { console.put(static_cast<char>(byte)); }),
      mailbox("mailbox", domain, OAE_IPU_MAILBOX_SPI),
      dma("dma", domain, dma_timing(ipu), OAE_IPU_DMA_SPI),
      system_controller(
          "system_controller", machine_of(ipu, platform),
          [&outcome, who = ipu.name](ipu::SystemController::HaltReason reason) {
            if (reason == ipu::SystemController::HaltReason::fault) {
              outcome.end(vp::ExitCode::firmware_fault,
                          who + ": the firmware faulted; its console shows the registers");
            } else {
              outcome.end(vp::ExitCode::success, who + ": the firmware ended the run");
            }
          }),
      oae("oae",
          {ipu.oae.ports, static_cast<std::uint64_t>(ipu.oae.clock), OAE_IPU_OAE_SPI, options.vcd,
           options.check_rtl},
          domain, trace, statistics) {
  outcome.add(domain);
  pcie::Function& function = endpoint.function(0);

  for (vp::qemu::Cpu& core : qemu.cpu) core.socket.bind(noc.in);
  dma.memory.bind(noc.in);
  noc.connect(OAE_IPU_CONSOLE_BASE, OAE_IPU_CONSOLE_SIZE, uart.socket);
  noc.connect(OAE_IPU_MAILBOX_BASE, OAE_IPU_MAILBOX_SIZE, mailbox.socket,
              ipu::Noc::Timing::decoupled);
  noc.connect(OAE_IPU_DMA_BASE, OAE_IPU_DMA_SIZE, dma.socket);
  noc.connect(OAE_IPU_OAE_BASE, OAE_IPU_OAE_SIZE, oae.registers, ipu::Noc::Timing::decoupled);
  noc.connect(OAE_IPU_SYSTEM_BASE, OAE_IPU_SYSTEM_SIZE, system_controller.socket);
  noc.connect(OAE_IPU_SRAM_BASE, sram_bytes.size(), sram.socket);
  noc.connect(OAE_IPU_DRAM_BASE, dram_bytes.size(), dram.socket);

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
  if (ipu.endpoint.test_function.present) {
    pcie::Function& second = endpoint.function(functions++);
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
  if (ipu.endpoint.queue_function.present) {
    pcie::Function& shared = endpoint.function(functions++);
    const std::uint64_t bytes = size(ipu.endpoint.queue_function.memory);
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
    noc.connect(OAE_IPU_QUEUE_MEMORY_BASE, bytes, queue_memory->uncached,
                ipu::Noc::Timing::decoupled);
    noc.connect(OAE_IPU_QUEUE_CACHED_BASE, bytes, queue_memory->cached, ipu::Noc::Timing::decoupled,
                ipu::Noc::Place::beside_cores);
  }
  if (ipu.endpoint.load_function.present) {
    pcie::Function& load = endpoint.function(functions++);
    load_generator.emplace("load_generator", domain);
    load.bar.bind(load_generator->bar);
    load_generator->dma.bind(load.dma);
    load.on_reset([this] { load_generator->reset(); });
    const std::string prefix = ipu.name + ".load.";
    statistics.latency(prefix + "short", load_generator->short_latency());
    statistics.latency(prefix + "long", load_generator->long_latency());
    statistics.counter(prefix + "generated", load_generator->generated());
    statistics.counter(prefix + "dropped", load_generator->dropped());
    statistics.counter(prefix + "refused", load_generator->refused());
    statistics.counter(prefix + "answered", load_generator->answered());
    statistics.counter(prefix + "unknown", load_generator->unknown());
  }
  for (unsigned i = 0; i < ipu.endpoint.virtual_functions; ++i) {
    pcie::Function& virtual_function = function.virtual_function(i);
    virtual_devices.push_back(std::make_unique<ipu::CopyDevice>(
        fmt::format("vf{}", i).c_str(), domain, dma_timing(ipu), virtual_memory_size));
    ipu::CopyDevice& device = *virtual_devices.back();
    virtual_function.bar.bind(device.bar);
    virtual_function.on_reset([&device] { device.reset(); });
    device.engine.host.bind(virtual_function.dma);
    device.interrupt.bind(virtual_function);
  }

  for (const OaeLink* link : links_of(platform, ipu.name)) {
    const auto n = static_cast<unsigned>(oae_links.size());
    oae_links.push_back(
        std::make_unique<oae::Link>(fmt::format("oae_link{}", n).c_str(),
                                    oae::LinkConfig{static_cast<std::uint64_t>(link->rate),
                                                    OAE_IPU_LINK_SPI + n, options.check_rtl},
                                    domain, trace, statistics));
    noc.connect(OAE_IPU_LINK_AT(n), OAE_IPU_LINK_SIZE, oae_links.back()->registers);
    oae_links.back()->irq.bind(qemu);
  }

  statistics.counter(ipu.name + ".instructions", [this] { return qemu.instructions(); });

  uart.irq.bind(qemu);
  mailbox.irq.bind(qemu);
  dma.irq.bind(qemu);
  oae.irq.bind(qemu);

  qemu.map_memory(0, address_space, under_qemu);
  qemu.on_requests({[] {}, [] {}, [] { Outcome::pause(); }});
  console.on_input([this] { input_.at(std::max(vp::now(), domain.reached())); });
}

}  // namespace platform
