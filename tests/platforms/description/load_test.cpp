// SPDX-License-Identifier: Apache-2.0
#include "platforms/description/load.h"

#include "models/ipu/kind/description.h"
#include "models/ipu/kind/oae_links.h"
#include "tests/platforms/workshop.h"
#include "tests/vp/config/mistakes.h"

using platform::Platform;
using testing::HasSubstr;

namespace {

struct Wrong {
  std::string from, to;
  const char *place, *found, *accepted, *remedy;
};

// The report of this file must contain the texts of the row. At 0:0, there is no mistake.
void expect_among_mistakes(const Wrong& each, const std::string& text) {
  SCOPED_TRACE(each.from + " -> " + each.to);
  const Workshop workshop;
  const auto file = workshop.file("platform.yaml", text);
  const auto report = mistakes_of([&] { platform::load(file, workshop.images(), {}, ""); });
  if (std::string(each.place) == "0:0") {
    EXPECT_TRUE(report.empty()) << report.text();
  } else {
    ASSERT_FALSE(report.empty());
    EXPECT_THAT(report.text(), HasSubstr(each.found));
    EXPECT_THAT(report.text(), HasSubstr(each.accepted));
    EXPECT_THAT(report.text(), HasSubstr(each.remedy));
    EXPECT_THAT(report.text(), HasSubstr(std::string(":") + each.place + ":"));
  }
}

// One piece of the good file is replaced by another. The report must then contain these texts.
TEST(Load, RefusesWithPlaceAcceptedAndRemedy) {
  const Wrong table[] = {
      // Required keys
      {"name: good\n", "", "1:1", "`name` is missing", "a name", "add `name: ...`"},
      {"    kernel: vmlinuz\n", "", "7:5", "`kernel` is missing in hosts[0]", "existing file",
       "add"},
      {"    firmware: oae-fw.elf\n", "", "12:5", "`firmware` is missing in ipus[0]", "", "add"},
      {"    down: ipu\n", "", "15:5", "`down` is missing in pcie_links[0]", "a name", "add"},
      {"  ipu_library: libqemu-aarch64.so\n", "", "3:3",
       "`ipu_library` is missing, which ipu needs", "existing file", "add `ipu_library: ...`"},
      {"ipu_library: libqemu-aarch64.so", "ipu_library: none", "4:16",
       "`ipu_library` is missing, which ipu needs", "existing file", ""},
      {"ipu_library", "ipu_libary", "4:3", "unknown key `ipu_libary` in qemu", "",
       "did you mean `ipu_library`?"},
      {"  roms: firmware\n", "", "3:3", "`roms` is missing in qemu", "directory", "add"},
      // Keys
      {"kernel:", "kernal:", "8:5", "unknown key `kernal`", "vcpus", "did you mean `kernel`"},
      {"    kernel:", "    lanes: 4\n    kernel:", "8:5", "unknown key `lanes` in hosts[0]", "",
       "`pcie_links[].lanes`"},
      {"hosts:", "host:", "6:1", "unknown key `host`", "hosts", "did you mean `hosts`"},
      {"name: good", "name: good\nname: two", "2:1", "second time", ":1:1", "remove"},
      // Hosts
      {"name: host\n", "name: host\n    vcpus: 17\n", "8:12", "hosts[0].vcpus: found `17`",
       "1 to 16", "16 or less"},
      {"name: host\n", "name: host\n    vcpus: 0\n", "8:12", "found `0`", "1 to 16", "1 or more"},
      {"name: host\n", "name: host\n    memory: 512\n", "8:13", "has no unit", "", "write a unit"},
      {"name: host\n", "name: host\n    memory: 512MB\n", "8:13", "`MB` is not a unit", "64MiB",
       "did you mean `512MiB`"},
      {"name: host\n", "name: host\n    memory: 63MiB\n", "8:13", "found `63MiB`", "from 64MiB",
       "64MiB or more"},
      {"name: host\n", "name: host\n    memory: 512.5MiB\n", "8:13", "found `512.5MiB`",
       "a multiple of 1MiB", "write 512MiB or 513MiB"},
      {"name: host\n", "name: host\n    cpu: haswell\n", "8:10", "found `haswell`", "Nehalem",
       "did you mean `Haswell`"},
      {"name: host\n", "name: host\n    instruction_rate: 1GHz\n", "8:23", "`GHz` is not a unit",
       "GIPS", "did you mean `1GIPS`"},
      {"name: host\n", "name: host\n    console: tty\n", "8:14", "found `tty`",
       "terminal, pty or off", "did you mean `pty`"},
      {"name: host\n", "name: host\n    root_complex:\n      latency: 1s\n", "9:16",
       "hosts[0].root_complex.latency: found `1s`", "100us", "100us or less"},
      {"name: host\n", "name: host\n    root_complex:\n      completion_timeout: 49us\n", "9:27",
       "found `49us`", "50us to 64s", "50us or more"},
      {"console=ttyS0", std::string(2048, 'x'), "10:13", "2048 bytes", "at most 2047", "shorten"},
      // IPUs
      {"name: ipu\n", "name: ipu\n    cores: 25\n", "13:12", "found `25`", "1 to 24", "24 or less"},
      {"name: ipu\n", "name: ipu\n    cores: 0\n", "13:12", "found `0`", "1 to 24", "1 or more"},
      {"name: ipu\n", "name: ipu\n    core: neoverse-n3\n", "13:11", "found `neoverse-n3`",
       "neoverse-n1", "did you mean `neoverse-n"},
      {"name: ipu\n", "name: ipu\n    oae: {ports: 65}\n", "13:18", "found `65`", "1 to 64",
       "64 or less"},
      {"name: ipu\n", "name: ipu\n    oae: {clock: 0.5Hz}\n", "13:18", "not a whole number of Hz",
       "", "1Hz"},
      {"name: ipu\n", "name: ipu\n    dma: {rate: 200Gbps}\n", "13:17", "`Gbps` is not a unit", "",
       "did you mean `200Gb/s`"},
      {"name: ipu\n", "name: ipu\n    endpoint: {id: f0ae}\n", "13:20", "not a pair of PCI ids",
       "f0ae:0ae0", ""},
      {"name: ipu\n", "name: ipu\n    endpoint: {class: 0x1000000}\n", "13:23", "found `0x1000000`",
       "0xffffff", "0xffffff or less"},
      {"name: ipu\n", "name: ipu\n    endpoint: {test_function: {msi_vectors: 33}}\n", "13:45",
       "found `33`", "0 to 32", "32 or less"},
      {"name: ipu\n", "name: ipu\n    endpoint: {test_function: {msi_x_vectors: 2049}}\n", "13:47",
       "found `2049`", "0 to 2048", "2048 or less"},
      {"name: ipu\n", "name: ipu\n    firmware_options: {poll: yes}\n", "13:30", "found `yes`",
       "true or false", "write `true`"},
      {"name: ipu\n", "name: ipu\n    sram: 64\n", "13:11", "no unit", "", "write a unit"},
      // Links
      {"up: host\n", "up: host\n    lanes: 3\n", "16:12", "pcie_links[0].lanes: found `3`",
       "1, 2, 4, 8 or 16", "write 2 or 4"},
      {"up: host\n", "up: host\n    lanes: x3\n", "16:12", "not a whole number", "1, 2, 4, 8 or 16",
       ""},
      {"up: host\n", "up: host\n    generation: 7\n", "16:17", "found `7`", "1 to 6", "6 or less"},
      {"up: host\n", "up: host\n    generation: 0\n", "16:17", "found `0`", "1 to 6", "1 or more"},
      {"up: host\n", "up: host\n    latency_down: 250\n", "16:19", "has no unit", "", "unit"},
      {"up: host\n", "up: host\n    latency_up: 0ns\n", "16:17", "found `0ns`", "from 1ns",
       "1ns or more"},
      {"up: host\n", "up: host\n    max_payload_size: 300B\n", "16:23", "found `300B`", "128B",
       "write 256B or 512B"},
      {"up: host\n", "up: host\n    max_read_request_size: 8KiB\n", "16:28", "found `8KiB`", "4KiB",
       "write 4KiB"},
      {"up: host\n", "up: host\n    credits_down: {posted_headers: 128}\n", "16:36",
       "128 credits are more", "at most 127 with a scale of 1", "raise `scale`"},
      {"up: host\n", "up: host\n    credits_up: {scale: 4, posted_data: 8189}\n", "16:41",
       "8189 credits are more", "at most 8188 with a scale of 4", "raise `scale`"},
      {"up: host\n", "up: host\n    credits_up: {scale: 4, posted_headers: 130}\n", "16:44",
       "so many credits are counted in units of 4", "a multiple of 4", "write 128 or 132"},
      {"up: host\n",
       "up: host\n    generation: 3\n    credits_up: {scale: 4, posted_headers: 128}\n", "17:25",
       "generation 3 has no scaled flow control", "1", "remove it"},
      {"up: host\n", "up: host\n    credits_up: {scale: 2}\n", "16:25", "found `2`", "1, 4 or 16",
       ""},
      {"up: host\n", "up: host\n    credits_up: {posted_data: 15}\n", "16:31",
       "15 credits are less than one packet of 256 bytes", "16 or more", "raise it"},
      {"up: host\n", "up: host\n    credits_up: {non_posted_data: 1}\n", "16:35",
       "1 credit is less than an AtomicOp may need", "2 or more", "raise it"},
      {"up: host\n", "up: host\n    faults: [{direction: up, error: bad_tpl}]\n", "16:37",
       "found `bad_tpl`", "bad_tlp", "did you mean `bad_tlp`"},
      {"up: host\n", "up: host\n    faults: [{error: bad_tlp}]\n", "16:14",
       "`direction` is missing", "down or up", "add"},
      {"up: host\n", "up: host\n    faults: [{direction: down, error: surprise_down}]\n", "16:14",
       "the lower end of a link does not detect surprise_down", "", "Errors"},
      {"up: host\n", "up: host\n    faults: [{direction: up, error: poisoned_egress_blocked}]\n",
       "16:14", "poisoned_egress_blocked is an error of packets that leave a port", "", "Errors"},
      {"up: host\n",
       "up: host\n    faults: [{direction: up, error: completion_timeout, tlp: MWr}]\n", "16:14",
       "a MWr cannot have the error completion_timeout", "", "Errors"},
      {"up: host\n",
       "up: host\n    faults: [{direction: up, error: bad_tlp, tlp: MWr, number: 0}]\n", "16:64",
       "found `0`", "1 to", "1 or more"},
      {"up: host\n",
       "up: host\n    lanes: 8\n    faults: [{direction: up, error: lane_failure, lane: 8}]\n",
       "17:57", "a link of 8 lanes has no lane 8", "0 to 7", "count from 0"},
      {"up: host\n", "up: host\n    generation: 6\n    aspm: {l0s: true, l1: true}\n", "17:17",
       "in flit mode has no L0s", "`l1` alone", "remove `l0s`"},
      {"up: host", "up: hots", "15:9", "there is no host `hots`", "host", "did you mean `host`"},
      {"down: ipu", "down: iup", "16:11", "there is no IPU `iup`", "ipu", "did you mean `ipu`"},
      {"up: host\n    down: ipu", "up: ipu\n    down: ipu", "15:9", "there is no host `ipu`",
       "host", "exchange `up` and `down`"},
      {"down: ipu\n", "down: ipu\n  - {up: host, down: ipu}\n", "17:22",
       "pcie_links[0] already leads to `ipu`", "one link to each IPU", "remove"},
      {"pcie_links:\n  - up: host\n    down: ipu\n", "pcie_links: []\n", "14:13",
       "the list has 0 elements", "1 to 32", "add"},
      {"up: host\n", "up: host\n    latency_down: 1ms\n    latency_up: 1ms\n", "0:0", "", "", ""},
      // Names
      {"- name: ipu", "- name: host", "12:11", "`host` means something else", "another name",
       "`ipu0`"},
      {"- name: host", "- name: both", "7:11", "`both` means something else", "another name",
       "`host0`"},
      {"- name: host", "- name: Host", "7:11", "`Host` is not a valid name", "lower-case",
       "rename"},
      {"firmware: oae-fw.elf\n", "firmware: oae-fw.elf\n  - {name: ipu2, firmware: oae-fw.elf}\n",
       "14:12", "no PCIe link leads to `ipu2`", "one link", "{up: host, down: ipu2}"},
      // Files
      {"kernel: vmlinuz", "kernel: vmlinux", "8:13", "there is no", "an existing file",
       "did you mean `vmlinuz`"},
      {"firmware: oae-fw.elf", "firmware: ./none.elf", "13:15", "there is no", "an existing file",
       "check the name"},
      {"roms: firmware", "roms: vmlinuz", "5:9", "is not a directory", "an existing directory", ""},
      {"kernel: vmlinuz", "kernel: firmware", "8:13", "is a directory", "an existing file",
       "name a file in it"},
      // Other keys
      {"name: good\n", "name: good\nsimulation: {max_quantum: 49ns}\n", "2:27", "found `49ns`",
       "from 50ns to 1ms", "50ns or more"},
      {"name: good\n", "name: good\nsimulation: {vcpu_slice: 2ms}\n", "2:26", "found `2ms`",
       "from 50ns to 1ms", "1ms or less"},
      {"name: good\n", "name: good\nsimulation: {spin_slice: 9ns}\n", "2:26", "found `9ns`",
       "from 10ns to 1ms", "10ns or more"},
      {"name: good\n", "name: good\nsimulation: {seed: -1}\n", "2:20", "found `-1`",
       "0 to 4294967295", "0 or more"},
      {"name: good\n", "name: good\nsimulation: {rtc: now}\n", "2:19", "not a date and time", "UTC",
       ""},
      {"name: good\n", "name: good\nlog: {pcei: debug}\n", "2:7", "unknown key `pcei`", "pcie",
       "did you mean `pcie`"},
      {"name: good\n", "name: good\nlog: {pcie: verbose}\n", "2:13", "found `verbose`", "trace",
       ""},
  };
  const Workshop workshop;
  for (const Wrong& each : table) {
    SCOPED_TRACE(each.from + " -> " + each.to.substr(0, 80));
    const auto file = workshop.file("bad.yaml", Workshop::changed(each.from, each.to));
    const auto report = mistakes_of([&] { platform::load(file, workshop.images(), {}, ""); });
    if (std::string(each.place) == "0:0")
      EXPECT_TRUE(report.empty()) << report.text();
    else
      expect_one(report, each.place, each.found, each.accepted, each.remedy);
  }
}

// Lines 11 to 17: switches, - name: sw0, ipus, - name: ipu, firmware, pcie_links, {up: host.
TEST(Load, SwitchesAreATreeBelowEachHost) {
  const Wrong table[] = {
      {"", "", "0:0", "", "", ""},
      {"name: sw0", "name: host", "12:11", "`host` means something else", "another name", "`sw0`"},
      {"name: sw0", "name: ipu0", "17:22", "there is no IPU or switch `sw0`", "ipu0", ""},
      {"up: sw0", "up: sw1", "18:10", "there is no host or switch `sw1`", "sw0",
       "did you mean `sw0`"},
      {"up: sw0", "up: ipu", "18:10", "there is no host or switch `ipu`", "sw0", "exchange"},
      {"down: sw0", "down: host", "17:22", "there is no IPU or switch `host`", "sw0", "exchange"},
      {"  - {up: host, down: sw0}\n", "", "12:11", "no PCIe link leads to `sw0`",
       "one link to each switch", "{up: host, down: sw0}"},
      {"up: host", "up: sw0", "12:11", "no host is above `sw0`, because its links form a loop",
       "a tree below each host", "begin the link to sw0 at `host`"},
      {"{up: sw0,", "{up: host,", "12:11", "nothing is below `sw0`", "at least one link", "remove"},
      {"down: ipu}\n", "down: ipu}\n  - {up: host, down: sw0}\n", "19:22",
       "pcie_links[0] already leads to `sw0`", "one link", "remove"},
      {"name: sw0", "name: sw0\n    latency: 101ps", "13:14", "odd number of picoseconds", "even",
       "1ps"},
      {"name: sw0", "name: sw0\n    max_payload_size: 128B", "18:5", "sw0 supports 128 bytes",
       "at most 128B", "raise max_payload_size of sw0"},
      {"down: sw0}", "down: sw0, credits_down: {completion_headers: 1}}", "0:0", "", "", ""},
      {"down: sw0}", "down: sw0, credits_up: {completion_headers: 1}}", "17:60",
       "room for all completions", "0 at a root complex or an endpoint", "remove"},
      {"down: sw0}", "down: sw0, credits_down: {non_posted_data: 1}}", "17:59",
       "1 credit is less than an AtomicOp may need", "2 or more", "raise it"},
      {"down: ipu}", "down: ipu, credits_up: {non_posted_data: 1}}", "18:56",
       "1 credit is less than an AtomicOp may need", "2 or more", "raise it"},
      {"down: ipu}", "down: ipu, credits_down: {non_posted_data: 1}}", "0:0", "", "", ""},
      {"name: sw0", "name: sw0\n    cut_through: true", "0:0", "", "", ""},
      {"name: ipu\n",
       "name: ipu\n    endpoint: {aligned_requests: false, completions: {split: true, spread: "
       "10us}}\n",
       "0:0", "", "", ""},
      {"name: ipu\n", "name: ipu\n    endpoint: {completions: {spread: 11us}}\n", "15:38", "11us",
       "10us", ""},
      {"down: ipu}", "down: ipu, credits_up: {completion_data: 15}}", "18:56",
       "15 credits are less than one packet", "16 or more", "raise it"},
  };
  for (const Wrong& each : table)
    expect_among_mistakes(each, Workshop::with_switch(each.from, each.to));
}

// Lines 14 to 24: devices, - name: disk, kind, namespaces, - size, pcie_links, and two links.
TEST(Load, DevicesStandBelowLinks) {
  const Wrong table[] = {
      {"", "", "0:0", "", "", ""},
      {"name: disk", "name: ipu", "15:11", "`ipu` means something else", "another name",
       "`device0`"},
      {"name: ipu\n", "name: disk\n", "15:11", "`disk` is also ipus[0].name", "names that differ",
       "rename"},
      {"kind: nvme", "kind: nmve", "16:11", "devices[0].kind: found `nmve`", "nvme",
       "did you mean `nvme`"},
      {"size: 1MiB", "sise: 1MiB", "18:9", "unknown key `sise` in devices[0].namespaces[0]",
       "block_size", "did you mean `size`"},
      {"size: 1MiB", "size: 1000B", "18:15", "1000B are not whole blocks", "a multiple of 512B",
       "write 1KiB"},
      {"size: 1MiB", "image: ./none", "18:16", "there is no", "an existing file", "check the name"},
      {"  - up: host\n    down: disk\n", "", "15:11", "no PCIe link leads to `disk`",
       "one link to each IPU or device", "{up: host, down: disk}"},
      {"down: disk", "down: disc", "23:11", "there is no IPU or device `disc`", "ipu or disk",
       "did you mean `disk`"},
      {"up: host\n    down: disk", "up: disk\n    down: disk", "22:9", "there is no host `disk`",
       "host", "exchange `up` and `down`"},
      {"down: ipu", "down: disk", "23:11", "pcie_links[0] already leads to `disk`",
       "one link to each IPU or device", "remove"},
      {"kind: nvme", "kind: nvme\n    endpoint: {latency: 101us}", "17:25", "found `101us`",
       "100us", "100us or less"},
      {"name: host\n", "name: host\n    root_complex: {completion_timeout: 50us}\n", "0:0", "", "",
       ""},
  };
  for (const Wrong& each : table)
    expect_among_mistakes(each, Workshop::with_disk(each.from, each.to));
}

// Devices of a kind log by its name.
TEST(Load, KindsHaveALevelInTheLog) {
  const Workshop workshop;
  const auto file = workshop.file("disk.yaml", Workshop::with_disk());
  const Platform platform = platform::load(file, workshop.images(),
                                           {vp::config::parse_override("log={nvme: debug}")}, "");
  EXPECT_EQ(platform.log.at("nvme"), "debug");
}

// A read of a device has to end before the host gives up, as one of an IPU does.
TEST(Load, ADeviceIsNotTooFarAway) {
  const Workshop workshop;
  const auto file = workshop.file("disk.yaml", Workshop::with_disk());
  const auto report = mistakes_of([&] {
    platform::load(file, workshop.images(),
                   {vp::config::parse_override("hosts[0].root_complex.completion_timeout=50us"),
                    vp::config::parse_override("devices[0].endpoint.latency=25us")},
                   "");
  });
  ASSERT_EQ(report.count(), 1u) << report.text();
  EXPECT_THAT(report.text(), HasSubstr("pcie_links[1]"));
  EXPECT_THAT(report.text(), HasSubstr("raise root_complex.completion_timeout"));
}

// The words are those of `vpctl inject`, without the name of the device.
TEST(Load, FaultsOfADeviceAreTimed) {
  const Workshop workshop;
  const auto file = workshop.file("disk.yaml", Workshop::with_disk());
  const auto load = [&](const std::string& faults) {
    return platform::load(file, workshop.images(),
                          {vp::config::parse_override("devices[0].faults=[" + faults + "]")}, "");
  };
  const Platform platform = load(
      "{at: 1.5ms, inject: fail write_fault 3 write}, {inject: fatal}, {at: 2s, inject: clear}");
  const std::vector<device::Fault>& faults = platform.devices.at(0)->faults;
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(faults[0].at, 1'500 * platform::us);
  EXPECT_EQ(faults[0].inject, "fail write_fault 3 write");
  EXPECT_EQ(faults[1].at, 0);
  const struct {
    const char *faults, *place, *found;
  } table[] = {
      {"{at: 1s, inject: melt}", "column 37", "devices[0].faults[0].inject: an NVMe disk can hold"},
      {"{at: 1s, inject: hold 0}", "column 37", "a whole number from 1 up"},
      {"{inject: fatal}, {inject: fatal now}", "faults[1].inject", "an NVMe disk can hold, fail"},
      {"{at: 1, inject: fatal}", "faults[0].at", "`1` has no unit"},
      {"{at: 1s}", "faults[0]", "`inject` is missing"},
      {"{at: 1s, inject: ''}", "faults[0].inject", "an NVMe disk can hold"},
  };
  for (const auto& each : table) {
    SCOPED_TRACE(each.faults);
    const auto report = mistakes_of([&] { load(each.faults); });
    EXPECT_EQ(report.count(), 1u) << report.text();
    EXPECT_THAT(report.text(), HasSubstr(each.place));
    EXPECT_THAT(report.text(), HasSubstr(each.found));
  }
  // An IPU has no faults of its own, and so it has no such key.
  const auto report = mistakes_of([&] {
    platform::load(file, workshop.images(),
                   {vp::config::parse_override("ipus[0].faults=[{inject: fatal}]")}, "");
  });
  EXPECT_THAT(report.text(), HasSubstr("unknown key `faults` in ipus[0]"));
}

TEST(Load, WhatHappensAtASlotIsTimed) {
  const Workshop workshop;
  const auto load = [&](const std::string& slot) {
    return platform::load(workshop.path("good.yaml"), workshop.images(),
                          {vp::config::parse_override("pcie_links[0].hot_plug=" + slot)}, "");
  };
  const Platform platform = load(
      "{capable: true, surprise: true, actions: [{at: 3s, action: remove}, {at: 4s, action: "
      "insert}]}");
  const auto& actions = platform.pcie_links[0].hot_plug.actions;
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(actions[0].action, "remove");
  EXPECT_EQ(actions[1].at, 4 * platform::s);
  EXPECT_NO_THROW(load("{actions: [{action: remove}]}")) << "any card may be torn out";
  const std::pair<const char*, const char*> needs[] = {{"button", "attention_button"},
                                                       {"open", "latch"},
                                                       {"close", "latch"},
                                                       {"power_fault", "power_controller"}};
  for (const auto& [action, key] : needs) {
    const std::string actions = std::string("actions: [{action: ") + action + "}]}";
    const auto report = mistakes_of([&] { load("{capable: true, " + actions); });
    EXPECT_EQ(report.count(), 1u) << report.text();
    EXPECT_THAT(report.text(), HasSubstr(std::string("pcie_links[0].hot_plug.actions[0].action: ") +
                                         action + " needs `" + key + "`"));
    EXPECT_NO_THROW(load(std::string("{capable: true, ") + key + ": true, " + actions));
  }
  EXPECT_THAT(mistakes_of([&] { load("{actions: [{action: steal}]}"); }).text(),
              HasSubstr("found `steal`"));
}

// An IPU is a device, so that it may stand in `devices` with the keys that it has in `ipus`.
TEST(Load, AnIpuStandsAmongOtherDevices) {
  const Workshop workshop;
  const std::string text = R"(name: cards
qemu: {host_library: libqemu-x86_64.so, ipu_library: libqemu-aarch64.so, roms: firmware}
hosts: [{name: host, kernel: vmlinuz}]
switches: [{name: sw0}]
ipus:
  - {name: first, firmware: oae-fw.elf}
devices:
  - {name: disk, kind: nvme, namespaces: [{size: 1MiB}]}
  - {name: ipu, kind: ipu, firmware: oae-fw.elf, cores: 4, endpoint: {id: "f0ae:1234", latency: 30ns}}
pcie_links:
  - {up: host, down: sw0}
  - {up: sw0, down: ipu}
  - {up: sw0, down: disk}
  - {up: host, down: first}
oae_links: [{a: ipu, b: first, ports: 4}]
)";
  const auto load = [&](const std::string& content) {
    return platform::load(workshop.file("cards.yaml", content), workshop.images(), {}, "");
  };
  const Platform platform = load(text);
  std::vector<std::string> all;
  for (const auto& each : platform.all_devices()) all.push_back(each->name);
  EXPECT_THAT(all, testing::ElementsAre("first", "disk", "ipu"));
  const auto ipus = platform.devices_of("ipu");
  ASSERT_EQ(ipus.size(), 2u);
  const auto& card = dynamic_cast<const ipu::Description&>(*ipus[1]);
  EXPECT_EQ(card.cores, 4u);
  EXPECT_EQ(card.functions.id, (vp::config::PciId{0xf0ae, 0x1234}));
  EXPECT_EQ(card.endpoint.latency, 30 * platform::ns);
  const auto* links = device::section<ipu::OaeLinks>(platform.sections);
  ASSERT_NE(links, nullptr);
  EXPECT_EQ(ipu::links_of(platform.sections, "ipu").size(), 1u);

  const struct {
    const char *from, *to, *place, *found, *accepted, *remedy;
  } table[] = {
      {"cores: 4", "cores: 25", "9:57", "devices[1].cores: found `25`", "1 to 24", "24 or less"},
      {"kind: ipu, firmware: oae-fw.elf", "kind: ipu", "9:5", "`firmware` is missing in devices[1]",
       "", "add"},
      {"latency: 30ns", "latency: 1ms", "9:97", "found `1ms`", "100us", ""},
      {"latency: 30ns", "tag: 32", "9:88", "unknown key `tag` in devices[1].endpoint", "tags",
       "did you mean `tags`?"},
      {"a: ipu", "a: disk", "15:17", "there is no IPU `disk`", "first or ipu", ""},
      {"name: disk", "name: ipu", "8:12", "`ipu` means something else", "another name",
       "`device0`"},
      {"down: ipu", "down: ipv", "12:21", "there is no IPU, switch or device `ipv`", "",
       "did you mean `ipu`?"},
      {"  - {up: sw0, down: ipu}\n", "", "9:12", "no PCIe link leads to `ipu`",
       "one link to each IPU or device", ""},
  };
  for (const auto& each : table) {
    SCOPED_TRACE(each.to);
    std::string changed = text;
    changed.replace(changed.find(each.from), std::string(each.from).size(), each.to);
    if (std::string(each.to) == "name: ipu") {
      // The IPU gets another name, so that only that of the disk is a mistake.
      for (const char* key : {"name: ipu, kind: ipu", "down: ipu", "a: ipu"}) {
        const std::size_t at = changed.find(key) + std::string_view(key).find("ipu");
        changed.replace(at, 3, "cpu");
      }
      changed.replace(changed.find("down: disk"), 10, "down: ipu");
    }
    const auto report = mistakes_of([&] { load(changed); });
    EXPECT_THAT(report.text(), HasSubstr(each.place));
    EXPECT_THAT(report.text(), HasSubstr(each.found));
    EXPECT_THAT(report.text(), HasSubstr(each.accepted));
    EXPECT_THAT(report.text(), HasSubstr(each.remedy));
  }
}

TEST(Load, AMachineNeedsNoIpu) {
  const Workshop workshop;
  std::string text = Workshop::with_disk("ipus:\n  - name: ipu\n    firmware: oae-fw.elf\n", "");
  text.replace(text.find("  - up: host\n    down: ipu\n"), 27, "");
  text.replace(text.find("  ipu_library: libqemu-aarch64.so\n"), 34, "");
  const Platform platform =
      platform::load(workshop.file("disk.yaml", text), workshop.images(), {}, "");
  ASSERT_EQ(platform.all_devices().size(), 1u);
  EXPECT_EQ(platform.all_devices()[0]->kind, "nvme");
}

// The read passes all switches, with 2 x 100 us of latency at each, and may take 50 ms.
TEST(Load, AReadThroughSwitchesHasToBeAnsweredInTime) {
  const Workshop workshop;
  for (const unsigned depth : {1u, 8u, 9u}) {
    std::string switches = "name: sw0\n    latency: 100us\n", links = "down: sw0}\n";
    for (unsigned i = 1; i < depth; ++i) {
      switches += "  - {name: sw" + std::to_string(i) + ", latency: 100us}\n";
      links += "  - {up: sw" + std::to_string(i - 1) + ", down: sw" + std::to_string(i) + "}\n";
    }
    links += "  - {up: sw" + std::to_string(depth - 1) + ", down: ipu}\n";
    std::string text = Workshop::with_switch("name: sw0\n", switches);
    text.replace(text.find("down: sw0}"), text.npos, links);
    const auto file = workshop.file("deep.yaml", text);
    for (const unsigned patience : {50'000u, 200 * depth}) {
      const auto report = mistakes_of([&] {
        platform::load(file, workshop.images(),
                       {vp::config::parse_override("hosts[0].root_complex.completion_timeout=" +
                                                   std::to_string(patience) + "us")},
                       "");
      });
      SCOPED_TRACE(report.text());
      if (patience == 50'000) {
        EXPECT_EQ(report.empty(), depth <= 8);
      } else {
        EXPECT_THAT(report.text(), HasSubstr("a read takes at least"));
      }
    }
  }
}

TEST(Load, AReadThatCannotBeAnsweredInTimeIsAMistake) {
  const Workshop workshop;
  const auto load = [&](const char* latency) {
    return mistakes_of([&] {
      platform::load(
          workshop.path("good.yaml"), workshop.images(),
          {vp::config::parse_override("hosts[0].root_complex.completion_timeout=50us"),
           vp::config::parse_override("hosts[0].root_complex.latency=0ns"),
           vp::config::parse_override("ipus[0].endpoint.latency=0ns"),
           vp::config::parse_override("pcie_links[0].latency_down=25us"),
           vp::config::parse_override(std::string("pcie_links[0].latency_up=") + latency)},
          "");
    });
  };
  EXPECT_TRUE(load("24.999999us").empty());
  expect_one(load("25us"), "15:5", "at least 50us there and back, and host gives up after 50us",
             "less than the completion timeout", "raise");
}

TEST(Load, TheKeysOfAHotPlugSlotNeedCapable) {
  const Workshop workshop;
  const auto load = [&](const std::string& hot_plug) {
    return mistakes_of([&] {
      platform::load(workshop.path("good.yaml"), workshop.images(),
                     {vp::config::parse_override("pcie_links[0].hot_plug=" + hot_plug)}, "");
    });
  };
  for (const std::string key : {"surprise", "attention_button", "indicators", "power_controller"}) {
    EXPECT_TRUE(load("{capable: true, " + key + ": true}").empty()) << key;
    EXPECT_TRUE(load("{" + key + ": false}").empty()) << key;
    const auto report = load("{" + key + ": true}");
    EXPECT_NE(report.text().find("pcie_links[0].hot_plug." + key), std::string::npos)
        << report.text();
    EXPECT_NE(report.text().find("add `capable: true`"), std::string::npos) << report.text();
  }
}

TEST(Load, SeveralHostsAndIpus) {
  const Workshop workshop;
  const std::string text = R"(name: pair
qemu: {host_library: libqemu-x86_64.so, ipu_library: libqemu-aarch64.so, roms: firmware}
hosts:
  - {name: a, kernel: vmlinuz}
  - {name: b, kernel: vmlinuz}
ipus:
  - {name: x, firmware: oae-fw.elf}
  - {name: y, firmware: oae-fw.elf}
pcie_links:
  - {up: a, down: x}
  - {up: b, down: y, lanes: 8}
)";
  const Platform pair =
      platform::load(workshop.file("pair.yaml", text), workshop.images(), {}, "quiet");
  ASSERT_EQ(pair.hosts.size(), 2u);
  EXPECT_EQ(pair.hosts[1].append, "quiet");
  EXPECT_EQ(pair.pcie_links[1].down, "y");
  EXPECT_EQ(pair.pcie_links[1].lanes, 8u);

  std::string twice = text;
  twice.replace(twice.find("name: b"), 7, "name: a");
  const auto report = mistakes_of(
      [&] { platform::load(workshop.file("twice.yaml", twice), workshop.images(), {}, ""); });
  EXPECT_THAT(report.text(), HasSubstr("`a` is also hosts[0].name"));
}

// All mistakes of the file and of the command line are reported at once, without their
// consequences.
TEST(Load, ReportsAllMistakesAtOnce) {
  const Workshop workshop;
  const auto file =
      workshop.file("bad.yaml", Workshop::changed("name: host\n", "name: Host\n    vcpus: 99\n"));
  const auto report = mistakes_of([&] {
    platform::load(file, workshop.images(),
                   {vp::config::parse_override("pcie_links[0].lanes=3"),
                    vp::config::parse_override("ipus[7].cores=1")},
                   "");
  });
  EXPECT_EQ(report.count(), 4u) << report.text();
}

TEST(Load, OverridesReplaceMistakes) {
  const Workshop workshop;
  const auto file = workshop.file("bad.yaml", Workshop::changed("kernel: vmlinuz", "kernel: none"));
  const Platform platform =
      platform::load(file, workshop.images(),
                     {vp::config::parse_override("hosts[0].kernel=vmlinuz"),
                      vp::config::parse_override("hosts[*].vcpus=16"),
                      vp::config::parse_override("pcie_links[0].latency_up=1.25us")},
                     "a=b");
  EXPECT_EQ(platform.hosts[0].vcpus, 16u);
  EXPECT_EQ(platform.pcie_links[0].latency_up, 1'250'000);
  EXPECT_EQ(platform.hosts[0].append, "console=ttyS0 a=b");
}

TEST(Load, TheLimitCountsWhatAppendAdds) {
  const Workshop workshop;
  const auto load = [&](std::size_t length) {
    return mistakes_of([&] {
      platform::load(workshop.path("good.yaml"), workshop.images(), {}, std::string(length, 'x'));
    });
  };
  const std::size_t rest = 2047 - std::string("console=ttyS0 ").size();
  EXPECT_TRUE(load(rest).empty());
  expect_one(load(rest + 1), "10:13", "2048 bytes", "2047", "--append");
}

TEST(FindPlatform, ByNameOrPath) {
  const Workshop workshop;
  const std::vector<std::filesystem::path> directories = {workshop.path("")};
  EXPECT_EQ(platform::find_platform("good", directories), workshop.path("good.yaml"));
  EXPECT_EQ(platform::find_platform("good.yaml", directories), workshop.path("good.yaml"));
  const std::string path = workshop.path("good.yaml").string();
  EXPECT_EQ(platform::find_platform(path, {}), path);
  for (const char* name : {"god", "", ".", "..", "images", "good.yml"}) {
    SCOPED_TRACE(name);
    const auto report = mistakes_of([&] { platform::find_platform(name, directories); });
    EXPECT_EQ(report.count(), 1u);
    EXPECT_THAT(report.text(), HasSubstr("good, or the path of a platform file"));
  }
  EXPECT_THAT(mistakes_of([&] { platform::find_platform("god", directories); }).text(),
              HasSubstr("did you mean `good`"));
  EXPECT_EQ(mistakes_of([&] { platform::find_platform("a/good", directories); }).count(), 1u);
  // A directory of that name does no harm.
  workshop.file("good/x", "");
  EXPECT_EQ(platform::find_platform("good", directories), workshop.path("good.yaml"));
}

}  // namespace
