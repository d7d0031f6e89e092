// SPDX-License-Identifier: Apache-2.0
#include "platforms/description/schema.h"

#include "models/ipu/kind/description.h"
#include "platforms/description/load.h"
#include "tests/platforms/workshop.h"

using platform::Platform;
using testing::HasSubstr;

namespace {

Platform shipped(const Workshop& workshop, const std::string& name) {
  return platform::load(std::filesystem::path(PLATFORMS) / (name + ".yaml"), workshop.images(), {},
                        "");
}

const ipu::Description& first_ipu(const Platform& platform) {
  return dynamic_cast<const ipu::Description&>(*platform.lists.at("ipus").at(0));
}

TEST(Shipped, OaeMini) {
  const Workshop workshop;
  const Platform platform = shipped(workshop, "oae-mini");
  EXPECT_EQ(platform.name, "oae-mini");
  ASSERT_EQ(platform.hosts.size(), 1u);
  EXPECT_EQ(platform.hosts[0].vcpus, 1u);
  EXPECT_EQ(platform.hosts[0].memory, 512 * platform::MiB);
  EXPECT_EQ(platform.hosts[0].instruction_rate, 1'000'000'000);
  ASSERT_EQ(platform.all_devices().size(), 1u);
  const ipu::Description& ipu = first_ipu(platform);
  EXPECT_EQ(ipu.kind, "ipu");
  EXPECT_EQ(ipu.cores, 1u);
  EXPECT_EQ(ipu.functions.id, (vp::config::PciId{0xf0ae, 0x0ae0}));
  EXPECT_EQ(ipu.oae.ports, 8u);
  EXPECT_EQ(ipu.oae.clock, 500'000'000);
  ASSERT_EQ(platform.pcie_links.size(), 1u);
  EXPECT_EQ(platform.pcie_links[0].generation, 4u);
  EXPECT_EQ(platform.pcie_links[0].lanes, 16u);
  EXPECT_EQ(platform.pcie_links[0].latency_down, 250'000);
  EXPECT_EQ(platform.pcie_links[0].latency_up, 250'000);
  EXPECT_EQ(platform.simulation.max_quantum, 100'000'000);
}

TEST(Shipped, E2000) {
  const Workshop workshop;
  const Platform platform = shipped(workshop, "e2000");
  const ipu::Description& ipu = first_ipu(platform);
  EXPECT_EQ(ipu.cores, 16u);
  EXPECT_EQ(ipu.core, "neoverse-n1");
  EXPECT_EQ(ipu.instruction_rate, 2'500'000'000);
  EXPECT_EQ(ipu.dma.rate, 200'000'000'000);
  EXPECT_EQ(ipu.dma.piece, 4096u);
  EXPECT_EQ(platform.pcie_links.at(0).generation, 4u);
  EXPECT_EQ(platform.pcie_links[0].lanes, 16u);
  // The latencies on the path of a host's read add up to the published figure, with 2 % for bytes
  // and block.
  const std::int64_t read = 2 * platform.hosts.at(0).root_complex.latency +
                            2 * ipu.endpoint.latency + platform.pcie_links[0].latency_down +
                            platform.pcie_links[0].latency_up;
  EXPECT_GE(read, 735 * platform::ns);
  EXPECT_LE(read, 750 * platform::ns);
}

// Every platform file of the project is valid, names itself, and contains no path of a machine.
TEST(Shipped, AllAreSound) {
  const Workshop workshop;
  unsigned count = 0;
  for (const auto& each : std::filesystem::directory_iterator(PLATFORMS)) {
    if (each.path().extension() != ".yaml") continue;
    ++count;
    const std::string name = each.path().stem().string();
    EXPECT_EQ(shipped(workshop, name).name, name);
    std::stringstream text;
    text << std::ifstream(each.path()).rdbuf();
    EXPECT_THAT(text.str(), testing::Not(HasSubstr(": /"))) << name;
  }
  EXPECT_GE(count, 2u);
}

TEST(Schema, EveryKeyHasATextAndNoDefaultIsRefused) {
  for (const auto& row : vp::config::reference(platform::schema())) {
    if (row.path.rfind("log.", 0) == 0) continue;
    EXPECT_NE(row.text, "") << row.path;
    EXPECT_NE(row.accepts, "") << row.path;
  }
}

// The default that the reference shows can be written into a file, and changes nothing.
TEST(Schema, EveryDefaultReadsBack) {
  const Workshop workshop;
  const auto file = workshop.file("switch.yaml", Workshop::with_switch());
  for (const auto& row : vp::config::reference(platform::schema())) {
    if (row.fallback.empty() || row.accepts == "a map" || row.fallback == "not set" ||
        row.path.find('[') == row.path.npos ||
        row.path.find('[', row.path.find('[') + 1) != row.path.npos)
      continue;  // the file has no list within a list
    std::string path = row.path;
    // `ipus[].cores`, and `devices[nvme].commands` of the device of that kind
    const std::size_t open = path.find('['), close = path.find(']');
    std::string kind = path.substr(open + 1, close - open - 1);
    if (kind.empty()) kind = "nvme";
    const std::string more = kind == "nvme" ? ", namespaces: [{size: 1MiB}]" : "";
    path.replace(open, close + 1 - open, "[0]");
    std::vector<vp::config::Override> changes;
    for (const std::string& change :
         {std::string("ipus=[{name: x, firmware: oae-fw.elf}, {name: y, firmware: oae-fw.elf}]"),
          "devices=[{name: z, kind: " + kind + more + "}]",
          std::string("pcie_links=[{up: host, down: sw0}, {up: sw0, down: x}, {up: sw0, down: y}, "
                      "{up: sw0, down: z}]"),
          std::string("oae_links=[{a: x, b: y}]"), path + "=" + row.fallback}) {
      changes.push_back(vp::config::parse_override(change));
    }
    EXPECT_NO_THROW(platform::load(file, workshop.images(), changes, "")) << path;
  }
}

}  // namespace
