// SPDX-License-Identifier: Apache-2.0
#include "platforms/machine/host_machine.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "platforms/machine/completions.h"
#include "platforms/machine/downstream_port.h"
#include "vp/qemu/arguments.h"

namespace platform {
namespace {

// Priority above all memory regions of QEMU's own machine.
constexpr int over_qemu = 10;
// Below this address ROM shadows RAM. What does not fit low memory continues above 4 GiB.
constexpr std::uint64_t ram_base = 1ull << 20;
constexpr std::uint64_t low_memory_end = 3ull << 30;

vp::qemu::Instance::Config qemu_config(const Host& host, const Platform& platform,
                                       const HostMachine::Options& options, vp::Console& console) {
  vp::qemu::Instance::Config config;
  config.library = platform.qemu.host_library.path;
  config.cpus = host.vcpus;
  config.ips = static_cast<std::uint64_t>(host.instruction_rate);
  config.max_quantum = platform.simulation.max_quantum;
  config.slice = platform.simulation.vcpu_slice;
  config.spin_slice = platform.simulation.spin_slice;
  config.consoles = {&console};

  vp::qemu::Arguments arguments(platform.simulation.seed, options.gdb_port);
  arguments.add("-machine", "microvm,pcie=on,acpi=on,rtc=on");
  // All of a machine's vCPUs count the same time, at one rate and whether they halt or not. Linux
  // has timers of high resolution only if it can tell that nobody has changed the counters.
  arguments.add("-cpu", host.cpu + ",+invtsc,+tsc-adjust");
  arguments.add("-smp", std::to_string(host.vcpus));
  arguments.add("-m", fmt::format("{}b", host.memory));
  arguments.add(
      "-rtc", fmt::format("base={:%Y-%m-%dT%H:%M:%S},clock=vm",
                          fmt::gmtime(static_cast<std::time_t>(platform.simulation.rtc.seconds))));
  arguments.add("-L", platform.qemu.roms.path);
  arguments.add("-chardev", "oae,id=console0");
  arguments.add("-serial", "chardev:console0");
  arguments.add("-kernel", host.kernel.path);
  if (host.initrd) arguments.add("-initrd", host.initrd->path);
  arguments.add("-append", host.append);
  config.arguments = arguments.words();
  return config;
}

pcie::RootComplexConfig root_complex_config(const Host& host,
                                            const std::vector<const PcieLink*>& links,
                                            const vp::qemu::Instance::PcieWindows& windows,
                                            std::uint32_t seed) {
  pcie::RootComplexConfig config;
  config.ecam = {windows.ecam, windows.ecam_size};
  config.memory32 = {windows.mmio32, windows.mmio32_size};
  config.memory64 = {windows.mmio64, windows.mmio64_size};
  config.ram = {ram_base,
                std::min(static_cast<std::uint64_t>(host.memory), low_memory_end) - ram_base};
  config.latency = host.root_complex.latency;
  config.memory_latency = host.root_complex.memory_latency;
  config.interrupt_latency = host.root_complex.interrupt_latency;
  config.completion_timeout = host.root_complex.completion_timeout;
  config.peer_to_peer = host.root_complex.peer_to_peer;
  config.completions = completion_config(host.root_complex.completions, seed);
  config.ports.clear();
  for (const PcieLink* link : links) {
    pcie::RootPortConfig port;
    set_downstream_port(port, *link);
    config.ports.push_back(port);
    config.max_payload = std::max(config.max_payload, link->max_payload_size);
  }
  return config;
}

}  // namespace

HostMachine::HostMachine(const sc_core::sc_module_name& name, const Host& host,
                         const Platform& platform, const std::vector<const PcieLink*>& links,
                         Options options, Outcome& outcome, vp::Statistics& statistics)
    : sc_module(name),
      domain("domain"),
      console(host.name),
      control(std::move(options.control)),
      qemu("qemu", domain, qemu_config(host, platform, options, console)),
      memory("memory", qemu),
      device_memory("device_memory", {host.write_combining_buffers}, statistics),
      root_complex("root_complex",
                   root_complex_config(host, links, qemu.pcie_windows(), platform.simulation.seed),
                   domain, statistics),
      panicked_(domain, [&outcome, this] { outcome.end(vp::ExitCode::guest_panic, panic_); }) {
  outcome.add(domain);
  outcome.add_host();
  for (vp::qemu::Cpu& cpu : qemu.cpu) cpu.socket.bind(device_memory.processor);
  device_memory.out.bind(root_complex.host);
  root_complex.memory.bind(memory.socket);
  root_complex.interrupt.bind(qemu);
  map_pcie();
  qemu.map_io(vp::ControlChannel::io_base, vp::ControlChannel::io_size,
              {[this](auto&, auto offset, auto size) {
                 return control.read(static_cast<unsigned>(offset), size);
               },
               [this](auto&, auto offset, auto size, auto value) {
                 control.write(static_cast<unsigned>(offset), size, value);
               }});

  console.watch(std::string(vp::kernel_panic), [this](std::string_view line, vp::Picoseconds when) {
    if (panicked_.pending()) return;
    panic_ = fmt::format("{}: {}", console.name(), line);
    panicked_.at(when);
  });
  qemu.on_requests({
      [&outcome] { outcome.host_is_off(); },
      [this] {
        device_memory.reset();
        root_complex.reset();
      },
      [] { Outcome::pause(); },
  });
  statistics.counter(host.name + ".instructions", [this] { return qemu.instructions(); });
  statistics.counter(host.name + ".control.messages", control.messages());
  statistics.counter(host.name + ".control.rejected", control.rejected());
}

void HostMachine::map_pcie() {
  const auto windows = qemu.pcie_windows();
  qemu.map_memory(windows.ecam, windows.ecam_size, over_qemu);
  qemu.map_memory(windows.mmio32, windows.mmio32_size, over_qemu);
  qemu.map_memory(windows.mmio64, windows.mmio64_size, over_qemu);

  const auto forward = [this, ecam = windows.ecam](vp::qemu::Cpu& cpu, tlm::tlm_command command,
                                                   std::uint64_t offset, unsigned size,
                                                   std::uint32_t value) -> std::uint32_t {
    const auto target = config_mechanism.ecam_offset(offset, size);
    std::uint64_t data = value;
    return target && cpu.access(command, ecam + *target, size, data)
               ? static_cast<std::uint32_t>(data)
               : 0xffff'ffffu;
  };
  qemu.map_io(pcie::ConfigMechanism::io_base, pcie::ConfigMechanism::io_size,
              {[this, forward](vp::qemu::Cpu& cpu, std::uint64_t offset, unsigned size) {
                 return offset == 0 && size == 4
                            ? config_mechanism.address()
                            : forward(cpu, tlm::TLM_READ_COMMAND, offset, size, 0);
               },
               [this, forward](vp::qemu::Cpu& cpu, std::uint64_t offset, unsigned size,
                               std::uint32_t value) {
                 config_mechanism.set_address(offset, size, value);
                 forward(cpu, tlm::TLM_WRITE_COMMAND, offset, size, value);
               }});
}

}  // namespace platform
