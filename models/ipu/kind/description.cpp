// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/kind/description.h"

#include <fmt/format.h>

#include "oae_memory_map.h"
#include "vp/config/units.h"
#include "vp/images/firmware.h"

#define TEXT_OF(number) TEXT(number)
#define TEXT(number) #number

namespace ipu {

using namespace vp::config;

namespace {

using vp::us;

Struct<FirmwareOptions> firmware_options() {
  return Struct<FirmwareOptions>({
      {"poll", &FirmwareOptions::poll, boolean(),
       "Whether it polls instead of sleeping until an interrupt"},
  });
}

Struct<DmaDescription> dma() {
  return Struct<DmaDescription>({
      {"latency", &DmaDescription::latency, duration(0, 100 * us),
       "Time from the start of a copy to its first request"},
      {"rate", &DmaDescription::rate, bit_rate(8'000, 10'000'000'000'000),
       "Rate at which data passes the engine"},
      {"outstanding", &DmaDescription::outstanding, integer(1, 256),
       "Pieces that it requests ahead"},
      {"piece", &DmaDescription::piece, size_of({64, 128, 256, 512, 1024, 2048, 4096}),
       "Largest piece that it reads and writes at once; no piece crosses a multiple of that"},
  });
}

Struct<TestFunctionDescription> test_function() {
  return Struct<TestFunctionDescription>({
      {"present", &TestFunctionDescription::present, boolean(),
       "Whether the endpoint has a function 1 for Linux's pci_endpoint_test; its DMA is as fast as "
       "the DMA engine"},
      {"id", &TestFunctionDescription::id, pci_id(), "PCI vendor and device id"},
      {"msi_vectors", &TestFunctionDescription::msi_vectors, integer(0, 32),
       "MSI vectors; 0 means no MSI"},
      {"msi_x_vectors", &TestFunctionDescription::msi_x_vectors, integer(0, 2048),
       "MSI-X vectors; 0 means no MSI-X"},
  });
}

Struct<QueueFunctionDescription> queue_function() {
  return Struct<QueueFunctionDescription>({
      {"present", &QueueFunctionDescription::present, boolean(),
       "Whether the endpoint has a function with memory that the host and the cores share, and by "
       "which the cores interrupt the host"},
      {"id", &QueueFunctionDescription::id, pci_id(), "PCI vendor and device id"},
      {"memory", &QueueFunctionDescription::memory,
       size(4 * KiB, OAE_IPU_QUEUE_MEMORY_SIZE, 4 * KiB),
       "Memory, at the beginning of the function's BAR 2"},
      {"memory_latency", &QueueFunctionDescription::memory_latency, duration(0, 100 * us),
       "Time that the memory adds to an access of a core that the cores' cache does not answer"},
      {"vectors", &QueueFunctionDescription::vectors, integer(1, 2048), "MSI-X vectors"},
  });
}
Struct<LoadFunctionDescription> load_function() {
  return Struct<LoadFunctionDescription>({
      {"present", &LoadFunctionDescription::present, boolean(),
       "Whether the endpoint has a function that writes requests into host memory at random times, "
       "and measures how long their answers take"},
      {"id", &LoadFunctionDescription::id, pci_id(), "PCI vendor and device id"},
  });
}

/// The keys below `endpoint`: those of every endpoint, and those of the functions.
std::vector<Key<Description>> endpoint() {
  using F = FunctionsDescription;
  const auto of_functions = [](std::vector<Key<F>> keys) {
    return keys_of<Description>(&Description::functions, keys);
  };
  return joined<Description>({
      of_functions({
          {"id", &F::id, pci_id(), "PCI vendor and device id"},
          {"subsystem", &F::subsystem, pci_id(), "PCI subsystem vendor and subsystem id"},
          {"class", &F::class_code, hexadecimal(0, 0xff'ffff),
           "PCI class code: base class, sub-class, programming interface"},
          {"revision", &F::revision, integer(0, 255), "PCI revision id"},
      }),
      keys_of<Description>(&device::Description::endpoint,
                           device::endpoint_keys<device::EndpointDescription>()),
      of_functions({
          {"test_function", &F::test, test_function(), "Second function, for tests of PCIe"},
          {"queue_function", &F::queue, queue_function(),
           "Function after these, for queues between host and firmware"},
          {"load_function", &F::load, load_function(), "Function after these, a load generator"},
          {"virtual_functions", &F::virtual_functions, integer(0, 64),
           "Virtual functions that software can enable (SR-IOV), each a DMA engine; their device "
           "id is "
           "the next one after `id`"},
      }),
  });
}

Struct<OaeDescription> oae() {
  return Struct<OaeDescription>({
      {"ports", &OaeDescription::ports, integer(1, 64), "Swap ports, a page of 4 KiB each"},
      {"clock", &OaeDescription::clock, frequency(1'000'000, 10'000'000'000),
       "Clock of the OAE block"},
  });
}

}  // namespace

std::vector<Key<Description>> keys() {
  const std::function<Description&(Description&)> itself = [](Description& ipu) -> Description& {
    return ipu;
  };
  return {
      {"cores", &Description::cores, integer(1, OAE_IPU_CORES), "Arm cores"},
      {"core", &Description::core,
       word({"cortex-a53", "cortex-a55", "cortex-a57", "cortex-a72", "cortex-a76", "cortex-a710",
             "neoverse-n1", "neoverse-v1", "neoverse-n2", "max"}),
       "Model of the cores, as QEMU calls it"},
      {"instruction_rate", &Description::instruction_rate,
       instruction_rate(1'000'000, 100'000'000'000),
       "Instructions that each core executes in a second of simulated time"},
      {"sram", &Description::sram, size(64 * KiB, OAE_IPU_SRAM_SIZE, 4 * KiB),
       "SRAM, which begins at address " TEXT_OF(OAE_IPU_SRAM_BASE)},
      {"dram", &Description::dram, size(16 * MiB, OAE_IPU_DRAM_SIZE, MiB),
       "DRAM, which begins at address " TEXT_OF(OAE_IPU_DRAM_BASE)},
      {"firmware", &Description::firmware, file(), "Bare-metal AArch64 program, an ELF file",
       required},
      {"firmware_options", &Description::firmware_options, firmware_options(),
       "Options that the firmware reads from the system controller"},
      {"noc_latency", &Description::noc_latency, duration(0, 100 * us),
       "Time through the network on chip, one way"},
      {"dma", &Description::dma, dma(), "DMA engine"},
      {"endpoint", itself, Struct<Description>(endpoint()), "PCIe function"},
      {"oae", &Description::oae, oae(), "Open Atomic Ethernet block"},
      {"console", &Description::console, device::console_kinds(),
       "Where the output of the serial console goes"},
  };
}

std::vector<device::InputFile> Description::inputs() const {
  device::InputFile file{"firmware", firmware};
  file.check_content = [sram = sram, dram = dram](vp::images::Bytes& bytes) {
    vp::images::check_firmware(bytes,
                               {{"sram", OAE_IPU_SRAM_BASE, static_cast<std::uint64_t>(sram)},
                                {"dram", OAE_IPU_DRAM_BASE, static_cast<std::uint64_t>(dram)}});
  };
  return {file};
}

std::string Description::summary() const {
  const auto size = [](auto value) { return size_quantity().print(value); };
  const auto plural = [](unsigned count) { return count == 1 ? "" : "s"; };
  return fmt::format("{} core{} ({}, {}), {} SRAM, {} DRAM, {} swap port{} at {}", cores,
                     plural(cores), core, instruction_rate_quantity().print(instruction_rate),
                     size(sram), size(dram), oae.ports, plural(oae.ports),
                     frequency_quantity().print(oae.clock));
}

}  // namespace ipu
