// SPDX-License-Identifier: Apache-2.0
#include "platforms/machine/ipu_machine.h"

#include <fmt/format.h>

#include "platforms/description/ipu_map.h"
#include "platforms/machine/credits.h"
#include "platforms/machine/downstream_port.h"
#include "platforms/machine/qemu_arguments.h"

namespace platform {
namespace {

// Below everything of QEMU's machine: what it does not have is the simulation's.
constexpr int under_qemu = -1000;
constexpr std::uint64_t address_space = 1ull << 40;

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

  QemuArguments arguments(platform.simulation, options.gdb_port);
  arguments.add("-machine", fmt::format("oae-ipu,sram-size={}", ipu.sram));
  arguments.add("-cpu", ipu.core);
  arguments.add("-smp", std::to_string(ipu.cores));
  arguments.add("-m", fmt::format("{}b", ipu.dram));
  arguments.add("-kernel", ipu.firmware.path);
  config.arguments = arguments.take();
  return config;
}

// The smallest that a BAR of whole ports can be.
static_assert(OAE_STREAM_SIZE == OAE_PORT_SIZE);
std::uint64_t port_bar_size(unsigned ports) {
  std::uint64_t bytes = OAE_PORT_SIZE;
  while (bytes < ports * std::uint64_t{OAE_PORT_SIZE}) bytes *= 2;
  return bytes;
}

pcie::FunctionConfig test_function_config(const Endpoint& endpoint) {
  const TestFunction& test = endpoint.test_function;
  pcie::FunctionConfig function =
      pcie::TestFunction::function_config(test.msi_vectors, test.msi_x_vectors);
  function.identity.vendor = test.id.vendor;
  function.identity.device = test.id.device;
  function.identity.class_code = 0xff0000;  // fits no defined class (PCI Code and ID Assignment)
  function.identity.revision = endpoint.revision;
  function.identity.subsystem_vendor = endpoint.subsystem.vendor;
  function.identity.subsystem = endpoint.subsystem.device;
  function.reset_time = 1 * vp::ms;
  function.no_soft_reset = false;
  return function;
}

ipu::DmaEngine::Timing dma_timing(const Ipu& ipu) {
  return {ipu.dma.latency, static_cast<std::uint64_t>(ipu.dma.rate) / 8, ipu.dma.outstanding};
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
                                         ipu_map::sram_base,
                                         size(ipu.sram),
                                         ipu_map::dram_base,
                                         size(ipu.dram),
                                         ipu.firmware_options.poll,
                                         cell_of(platform, ipu.name)};
  for (const OaeLink* link : links_of(platform, ipu.name)) {
    std::uint64_t ports = 0;
    for (unsigned i = 0; i < link->ports; ++i) ports |= std::uint64_t{1} << (link->first_port + i);
    machine.links.push_back({cell_of(platform, link->a == ipu.name ? link->b : link->a), ports});
  }
  return machine;
}

pcie::EndpointConfig endpoint_config(const Ipu& ipu, const PcieLink& link) {
  pcie::FunctionConfig function;
  function.identity.vendor = ipu.endpoint.id.vendor;
  function.identity.device = ipu.endpoint.id.device;
  function.identity.class_code = ipu.endpoint.class_code;
  function.identity.revision = ipu.endpoint.revision;
  function.identity.subsystem_vendor = ipu.endpoint.subsystem.vendor;
  function.identity.subsystem = ipu.endpoint.subsystem.device;
  function.reset_time = 1 * vp::ms;
  function.no_soft_reset = false;  // the host can reset it by D3hot, too
  function.bars = {
      {ipu_map::register_bar, ipu_map::register_bar_size, true, false},
      {ipu_map::port_bar, port_bar_size(ipu.oae.ports), true, true},
      {ipu_map::stream_bar, port_bar_size(ipu.oae.ports), true, true},
  };
  function.msi_x.vectors = ipu_map::vectors(ipu.oae.ports);
  function.msi_x.table_bar = ipu_map::register_bar;
  function.msi_x.table_offset = ipu_map::msi_x_table;
  function.msi_x.pending_bar = ipu_map::register_bar;
  function.msi_x.pending_offset = ipu_map::msi_x_pending;

  if (ipu.endpoint.virtual_functions > 0) {
    pcie::VirtualFunctionsConfig& virtual_functions = function.virtual_functions;
    virtual_functions.count = ipu.endpoint.virtual_functions;
    virtual_functions.device = static_cast<std::uint16_t>(ipu.endpoint.id.device + 1);
    virtual_functions.bars = {{ipu_map::virtual_bar, ipu_map::virtual_bar_size, true, true}};
    virtual_functions.msi_x = {1, ipu_map::virtual_bar, ipu_map::virtual_msi_x_table,
                               ipu_map::virtual_bar, ipu_map::virtual_msi_x_pending};
  }

  pcie::EndpointConfig config;
  config.generation = link.generation;
  config.lanes = link.lanes;
  config.latency = ipu.endpoint.latency;
  config.max_payload = link.max_payload_size;
  config.tags = ipu.endpoint.tags;
  config.credits = credit_config(link.credits_down);
  config.active_states = active_states(link);
  config.eye = {link.eye.timing, link.eye.voltage};
  config.functions = {function};
  if (ipu.endpoint.test_function.present) {
    config.functions.push_back(test_function_config(ipu.endpoint));
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
      sram_bytes(qemu, ipu_map::sram_base, size(ipu.sram)),
      dram_bytes(qemu, ipu_map::dram_base, size(ipu.dram)),
      endpoint("endpoint", endpoint_config(ipu, link), domain, statistics),
      bars("bars"),
      noc("noc", ipu.noc_latency),
      sram("sram", sram_bytes, 0),
      dram("dram", dram_bytes, 0),
      uart("uart", domain, {}, ipu_map::UART_SPI,
           [this](std::uint8_t byte) { console.put(static_cast<char>(byte)); }),
      mailbox("mailbox", domain, ipu_map::MAILBOX_SPI),
      dma("dma", domain, dma_timing(ipu), ipu_map::DMA_SPI),
      system_controller(
          "system_controller", machine_of(ipu, platform),
          [&outcome, who = ipu.name](ipu::SystemController::HaltReason reason) {
            if (reason == ipu::SystemController::HaltReason::fault) {
              outcome.end(vp::ExitCode::firmware_fault,
                          who + ": the firmware faulted; its console has the registers");
            } else {
              outcome.end(vp::ExitCode::success, who + ": the firmware ended the run");
            }
          }),
      oae("oae",
          {ipu.oae.ports, static_cast<std::uint64_t>(ipu.oae.clock), ipu_map::OAE_SPI, options.vcd},
          domain, trace, statistics) {
  pcie::Function& function = endpoint.function(0);

  for (vp::qemu::Cpu& core : qemu.cpu) core.socket.bind(noc.in);
  dma.memory.bind(noc.in);
  noc.connect(ipu_map::uart.base, ipu_map::uart.size, uart.socket);
  noc.connect(ipu_map::mailbox.base, ipu_map::mailbox.size, mailbox.socket,
              ipu::Noc::Timing::decoupled);
  noc.connect(ipu_map::dma.base, ipu_map::dma.size, dma.socket);
  noc.connect(ipu_map::oae.base, ipu_map::oae.size, oae.registers, ipu::Noc::Timing::decoupled);
  noc.connect(ipu_map::system_controller.base, ipu_map::system_controller.size,
              system_controller.socket);
  noc.connect(ipu_map::sram_base, sram_bytes.size(), sram.socket);
  noc.connect(ipu_map::dram_base, dram_bytes.size(), dram.socket);

  function.on_reset([this] {
    mailbox.reset();
    oae.function_reset();
  });
  function.bar.bind(bars.bar);
  bars.connect(ipu_map::register_bar, ipu_map::host_registers.base, ipu_map::host_registers.size,
               oae.bar);
  bars.connect(ipu_map::register_bar, ipu_map::host_mailbox.base, ipu_map::host_mailbox.size,
               mailbox.host);
  bars.connect(ipu_map::port_bar, 0, ipu.oae.ports * std::uint64_t{OAE_PORT_SIZE}, oae.bar);
  bars.connect(ipu_map::stream_bar, 0, ipu.oae.ports * std::uint64_t{OAE_STREAM_SIZE}, oae.bar);

  oae.dma.bind(function.dma);
  dma.host.bind(function.dma);
  oae.interrupt.bind(function);
  mailbox.interrupt.bind(function);

  if (ipu.endpoint.test_function.present) {
    pcie::Function& second = endpoint.function(1);
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
  for (unsigned i = 0; i < ipu.endpoint.virtual_functions; ++i) {
    pcie::Function& virtual_function = function.virtual_function(i);
    virtual_devices.push_back(std::make_unique<ipu::CopyDevice>(
        fmt::format("vf{}", i).c_str(), domain, dma_timing(ipu), ipu_map::virtual_memory_size));
    ipu::CopyDevice& device = *virtual_devices.back();
    virtual_function.bar.bind(device.bar);
    virtual_function.on_reset([&device] { device.reset(); });
    device.engine.host.bind(virtual_function.dma);
    device.interrupt.bind(virtual_function);
  }

  for (const OaeLink* link : links_of(platform, ipu.name)) {
    const auto n = static_cast<unsigned>(oae_links.size());
    oae_links.push_back(std::make_unique<oae::Link>(
        fmt::format("oae_link{}", n).c_str(),
        oae::LinkConfig{static_cast<std::uint64_t>(link->rate), ipu_map::OAE_LINK_SPI + n}, domain,
        trace, statistics));
    noc.connect(ipu_map::oae_link(n).base, ipu_map::oae_link(n).size, oae_links.back()->registers);
    oae_links.back()->irq.bind(qemu);
  }

  statistics.counter(ipu.name + ".instructions", [this] { return qemu.instructions(); });

  uart.irq.bind(qemu);
  mailbox.irq.bind(qemu);
  dma.irq.bind(qemu);
  oae.irq.bind(qemu);

  qemu.map_memory(0, address_space, under_qemu);
  qemu.on_requests({[] {}, [] {}, [] { Outcome::pause(); }});
  console.on_input([this] {
    while (console.has_input()) {
      const char byte = console.take();
      uart.receive({&byte, 1});
    }
  });
}

}  // namespace platform
