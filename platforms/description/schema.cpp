// SPDX-License-Identifier: Apache-2.0
#include "platforms/description/schema.h"

#include <fmt/format.h>

#include <functional>
#include <set>

#include "models/device/kind.h"
#include "models/pcie/protocol/error.h"
#include "models/pcie/protocol/tlp.h"
#include "platforms/description/faults.h"
#include "platforms/description/receive_buffers.h"

namespace platform {

using namespace vp::config;

namespace {

/// What messages call the devices in lists of their kinds, as the beginning of an enumeration that
/// ends with `device`.
std::string listed_nouns(const char* separator) {
  std::string text;
  for (const device::Kind* kind : device::kinds()) {
    if (!kind->traits().list.empty()) text += kind->traits().noun + separator;
  }
  return text;
}

std::string article(const std::string& noun) {
  return noun.find_first_of("AEIOUaeiou") == 0 ? "an " : "a ";
}

const Struct<Simulation> simulation({
    {"max_quantum", &Simulation::max_quantum, duration(50 * ns, longest_quantum),
     "How far a vCPU may run ahead of the models; it changes wall time and no result"},
    {"vcpu_slice", &Simulation::vcpu_slice, duration(50 * ns, 1 * ms),
     "How long a vCPU runs before a sibling that shares its memory runs; it changes results"},
    {"spin_slice", &Simulation::spin_slice, duration(10 * ns, 1 * ms),
     "Replaces a longer vcpu_slice while a vCPU spins: for 10 us after each PAUSE, YIELD or WFE"},
    {"seed", &Simulation::seed, integer(0, 0xffff'ffff), "Seed of all that is random to a guest"},
    {"rtc", &Simulation::rtc, instant(), "Date and time of a guest's real-time clock at the start"},
});

const Struct<RootComplex> root_complex({
    {"latency", &RootComplex::latency, duration(0, 100 * us),
     "Time that a request or a completion takes through it, in either direction"},
    {"memory_latency", &RootComplex::memory_latency, duration(0, 100 * us),
     "Added to each read of host memory by a device"},
    {"interrupt_latency", &RootComplex::interrupt_latency, duration(0, 100 * us),
     "Added to each message interrupt, for its way to the local APIC and into the processor"},
    {"completion_timeout", &RootComplex::completion_timeout, duration(50 * us, 64 * s),
     "Time after which a read without an answer returns all ones (PCIe 6.0, 7.5.3.16)"},
    {"peer_to_peer", &RootComplex::peer_to_peer, boolean(),
     "Lets devices below one root port reach those below another, and sends requests that a "
     "switch redirects back down; otherwise both are refused"},
    {"completions", &RootComplex::completions, device::completion_keys(),
     "How it answers devices' reads of host memory"},
});

Struct<Host> host() {
  return Struct<Host>({
      {"name", &Host::name, name(), device::name_text(), required},
      {"vcpus", &Host::vcpus, integer(1, 16), "Virtual CPUs"},
      {"cpu", &Host::cpu,
       word({"max", "qemu64", "Nehalem", "Haswell", "Skylake-Server", "Icelake-Server",
             "SapphireRapids", "EPYC", "EPYC-Rome", "EPYC-Milan"}),
       "Model of the vCPUs, by QEMU's name"},
      {"instruction_rate", &Host::instruction_rate, instruction_rate(1'000'000, 100'000'000'000),
       "Instructions that each vCPU executes in a second of simulated time"},
      {"write_combining_buffers", &Host::write_combining_buffers, integer(0, 64),
       "Buffers of 64 bytes in which each vCPU combines writes; with 0 the memory behaves as "
       "uncached"},
      {"memory", &Host::memory, size(64 * MiB, 64 * GiB, MiB), "RAM"},
      {"kernel", &Host::kernel, file(), "Linux for x86-64, a bzImage", required},
      {"initrd", &Host::initrd, optional_file(), "Initial RAM file system, a newc cpio archive"},
      // COMMAND_LINE_SIZE of Linux on x86 is 2048, a NUL included.
      {"append", &Host::append, string(2047), "Kernel command line"},
      {"console", &Host::console, device::console_kinds(),
       "Where the output of the serial console goes"},
      {"root_complex", &Host::root_complex, root_complex, "PCIe root complex"},
  });
}

Struct<Switch> pcie_switch() {
  return Struct<Switch>({
      {"name", &Switch::name, name(), device::name_text(), required},
      {"latency", &Switch::latency, duration(0, 100 * us),
       "Time from a packet's arrival at one port to its departure from another"},
      {"cut_through", &Switch::cut_through, boolean(),
       "Whether a packet may begin to leave when this time has passed since the arrival of its "
       "header, instead of its last byte"},
      {"max_payload_size", &Switch::max_payload_size, size_of({128, 256, 512, 1024, 2048, 4096}),
       "Largest payload that its ports support"},
  });
}

// The ranges are those of the counters of scaled flow control (PCIe 5.0, 2.6.1 and 3.4.2).
const Struct<Credits> credits({
    {"buffer", &Credits::buffer, word(receive_buffers()),
     "Receive buffer that decides if no credits are given: as large as the link needs, without "
     "limit, or that of a real port"},
    {"posted_headers", &Credits::posted_headers, integer(0, 127 * 16), "Posted requests"},
    {"posted_data", &Credits::posted_data, integer(0, 2047 * 16),
     "Their data, in units of 16 bytes"},
    {"non_posted_headers", &Credits::non_posted_headers, integer(0, 127 * 16),
     "Non-posted requests"},
    {"non_posted_data", &Credits::non_posted_data, integer(0, 2047 * 16),
     "Their data, in units of 16 bytes"},
    {"completion_headers", &Credits::completion_headers, integer(0, 127 * 16),
     "Completions; finite only at a port of a switch"},
    {"completion_data", &Credits::completion_data, integer(0, 2047 * 16),
     "Their data, in units of 16 bytes; finite only at a port of a switch"},
    {"scale", &Credits::scale, one_of({1, 4, 16}),
     "How many credits one on the wire may stand for; each number has the least that suffices"},
});

std::vector<std::string> errors() {
  std::vector<std::string> names;
  for (const pcie::Error error : pcie::all_errors) names.push_back(pcie::to_string(error));
  names.push_back(lane_failure);
  return names;
}

std::vector<std::string> tlps() {
  std::vector<std::string> names;
  for (unsigned i = 0; i < pcie::tlp_types; ++i) {
    names.push_back(pcie::to_string(static_cast<pcie::TlpType>(i)));
  }
  return names;
}

const Struct<PcieFault> fault({
    {"direction", &PcieFault::direction, word({"down", "up"}),
     "Direction of the packet: `down` is detected at the lower end, `up` at the upper end",
     required},
    {"error", &PcieFault::error, word(errors()),
     "The error; after a lane_failure the link goes on with the lanes that are left", required},
    {"tlp", &PcieFault::tlp, word(tlps()),
     "Type of the packet that has the error; not set for an error that belongs to no packet"},
    {"number", &PcieFault::number, integer(1, 0xffff'ffff),
     "Which packet of that type has it, counted from 1 after `at`"},
    {"lane", &PcieFault::lane, integer(0, 15), "The lane that fails, for a lane_failure"},
    {"at", &PcieFault::at, duration(0, 1'000'000 * s),
     "Simulated time of the fault, or from which on packets count"},
});

const Struct<ActiveStates> active_states({
    {"l0s", &ActiveStates::l0s, boolean(),
     "Whether either direction can enter L0s, if software enables it; not with generation 6"},
    {"l1", &ActiveStates::l1, boolean(),
     "Whether the link can enter L1, if software enables it at both ends"},
    {"l0s_after", &ActiveStates::l0s_after, duration(0, 7 * us),
     "How long a direction is idle before it enters L0s (PCIe 5.0, 5.4.1.1.1)"},
    {"l1_after", &ActiveStates::l1_after, duration(0, 1 * s),
     "How long the link is idle before it enters L1"},
});

const Struct<Eye> eye({
    {"timing", &Eye::timing, integer(0, 16), "Steps of the sampler to either side"},
    {"voltage", &Eye::voltage, integer(0, 32), "Steps of the sampler up or down"},
});

const Struct<HotPlugAction> hot_plug_action({
    {"action", &HotPlugAction::action,
     word({"remove", "insert", "button", "open", "close", "power_fault"}),
     "What happens, in the words of `vpctl hot_plug`: the card is removed or inserted, the "
     "attention "
     "button is pressed, the latch is opened or closed, or the slot's power fails",
     required},
    {"at", &HotPlugAction::at, duration(0, 1'000'000 * s), "Simulated time"},
});

const Struct<HotPlug> hot_plug({
    {"capable", &HotPlug::capable, boolean(),
     "Whether cards may be inserted and removed while the host runs"},
    {"surprise", &HotPlug::surprise, boolean(),
     "Whether a card may be removed without notice, which is then not an error; needs `capable`"},
    {"attention_button", &HotPlug::attention_button, boolean(),
     "Whether it has a button, by which a user asks to remove or insert a card; needs `capable`"},
    {"indicators", &HotPlug::indicators, boolean(),
     "Whether it has an attention and a power indicator; needs `capable`"},
    {"power_controller", &HotPlug::power_controller, boolean(),
     "Whether the host can switch the card's power and sees power faults; needs `capable`"},
    {"latch", &HotPlug::latch, boolean(),
     "Whether a latch with a sensor (MRL) holds the card; needs `capable`"},
    {"interlock", &HotPlug::interlock, boolean(),
     "Whether the host can lock the card (electromechanical interlock); needs `capable`"},
    {"command_time", &HotPlug::command_time, duration(0, 1 * s),
     "Time until the hot-plug slot completes a command of the host and reports that; with 0 it "
     "completes "
     "at once and does not report; needs `capable`"},
    {"actions", &HotPlug::actions, list(hot_plug_action, 0, 1000),
     "What happens at the slot at given times, such as the removal of a card"},
});

Struct<PcieLink> pcie_link() {
  return Struct<PcieLink>({
      {"up", &PcieLink::up, name(), "Host or switch at the upper end", required},
      {"down", &PcieLink::down, name(), listed_nouns(", ") + "device or switch at the lower end",
       required},
      {"generation", &PcieLink::generation, integer(1, 6),
       "PCIe generation: 2.5, 5, 8, 16, 32, 64 GT/s"},
      {"lanes", &PcieLink::lanes, one_of({1, 2, 4, 8, 16}), "Width"},
      // The link's latency is how far one side may run ahead of the other. With 0 neither could
      // run.
      {"latency_down", &PcieLink::latency_down, duration(1 * ns, 1 * ms),
       "Time through PHYs and wire away from the host, without the time that the bytes take"},
      {"latency_up", &PcieLink::latency_up, duration(1 * ns, 1 * ms),
       "Time through PHYs and wire towards the host, without the time that the bytes take"},
      {"max_payload_size", &PcieLink::max_payload_size, size_of({128, 256, 512, 1024, 2048, 4096}),
       "Largest payload that both ends support"},
      {"max_read_request_size", &PcieLink::max_read_request_size,
       size_of({128, 256, 512, 1024, 2048, 4096}),
       "Largest read that the " + listed_nouns(" or ") + "device requests after a reset"},
      {"bit_error_rate", &PcieLink::bit_error_rate, ratio(0, 1e-6),
       "Bit error rate of each lane; packets with errors are sent again, and in generations 3 to 5 "
       "errors of idle symbols send the link to Recovery"},
      {"retraining", &PcieLink::retraining, duration(0, 1 * s),
       "Time in Recovery, which follows four failed replays, a lane failure, or a request of the "
       "host"},
      {"credits_down", &PcieLink::credits_down, credits,
       "Flow control credits that the lower end's receive buffer advertises; 0 is infinite"},
      {"credits_up", &PcieLink::credits_up, credits,
       "Flow control credits that the upper end's receive buffer advertises; 0 is infinite"},
      {"transmit_queue", &PcieLink::transmit_queue, size(0, 16 * MiB),
       "Bytes of packets that wait at each end for the wire; 0B is as many as the port's latency "
       "needs"},
      {"retry_buffer", &PcieLink::retry_buffer, size(0, 16 * MiB),
       "Bytes of packets that wait at each end for an acknowledgement; 0B is as many as the link "
       "needs"},
      {"dllps", &PcieLink::dllps, word({"traffic", "published"}),
       "What ACKs and UpdateFCs take of the wire: what traffic causes, or the share that "
       "Neugebauer "
       "et "
       "al. (SIGCOMM 2018) charge"},
      {"faults", &PcieLink::faults, list(fault, 0, 1000), "Errors that are injected"},
      {"aspm", &PcieLink::aspm, active_states,
       "Active state power management of both ends; the generation decides how long waking takes"},
      {"eye", &PcieLink::eye, eye,
       "Margin that lane margining finds at each end, from generation 4 on"},
      {"hot_plug", &PcieLink::hot_plug, hot_plug, "Hot-plug slot of the port at the upper end"},
      {"downstream_port_containment", &PcieLink::downstream_port_containment, boolean(),
       "Whether the port at the upper end can contain errors by disabling the link (DPC)"},
  });
}

/// The keys of the QEMU libraries of kinds, and of the ROMs.
Struct<Qemu> qemu() {
  std::vector<Key<Qemu>> keys = {
      {"host_library", &Qemu::host_library, file(), "QEMU library of the hosts", required}};
  for (const device::Kind* kind : device::kinds()) {
    if (kind->traits().library_text.empty()) continue;
    const std::function<std::optional<File>&(Qemu&)> library =
        [name = kind->name()](Qemu& qemu) -> std::optional<File>& { return qemu.libraries[name]; };
    keys.push_back({kind->name() + "_library", library, optional_file(),
                    kind->traits().library_text + ", if there are any"});
  }
  keys.push_back({"roms", &Qemu::roms, directory(),
                  "Directory with the BIOS and the option ROMs of the hosts", required});
  return Struct<Qemu>(keys);
}

/// The keys of the lists of kinds.
std::vector<Key<Platform>> lists() {
  std::vector<Key<Platform>> keys;
  for (const device::Kind* kind : device::kinds()) {
    const device::Traits& traits = kind->traits();
    if (traits.list.empty()) continue;
    const std::function<std::vector<device::DescriptionPtr>&(Platform&)> list_of =
        [key = traits.list](Platform& platform) -> std::vector<device::DescriptionPtr>& {
      return platform.lists[key];
    };
    keys.push_back(
        {traits.list, list_of, list(device::listed(*kind), 0, traits.most), traits.list_text});
  }
  return keys;
}

/// The further top-level keys of kinds.
std::vector<Key<Platform>> sections() {
  std::vector<Key<Platform>> keys;
  for (const device::Kind* kind : device::kinds()) {
    for (const device::SectionKey& section : kind->sections()) {
      const std::function<device::SectionPtr&(Platform&)> value =
          [key = section.key](Platform& platform) -> device::SectionPtr& {
        return platform.sections[key];
      };
      keys.push_back({section.key, value, section.type, section.text});
    }
  }
  return keys;
}

/// Throws KindFailed if kinds add a key that is there already.
void check_unique(const std::vector<Key<Platform>>& keys) {
  std::set<std::string> names;
  for (const Key<Platform>& key : keys) {
    if (names.insert(key.name).second) continue;
    throw device::KindFailed(
        fmt::format("a kind of devices adds the key {} to platform files, which they have already\n"
                    "  this is a defect of the kind; leave its plugin out until it is mended",
                    shown(key.name)));
  }
}

}  // namespace

std::vector<std::string> log_components() {
  std::set<std::string> all = {"console", "control", "host", "pcie", "platform", "qemu"};
  for (const device::Kind* kind : device::kinds()) {
    all.insert(kind->name());
    all.insert(kind->traits().components.begin(), kind->traits().components.end());
  }
  std::vector<std::string> names = {"all"};
  names.insert(names.end(), all.begin(), all.end());
  return names;
}

const std::vector<std::string>& log_levels() {
  static const std::vector<std::string> names = {"trace", "debug",    "info", "warning",
                                                 "error", "critical", "off"};
  return names;
}

Type<std::vector<File>> plugin_files() {
  return list(file(), 0, 16);
}

Struct<Platform> schema() {
  const std::string lower = listed_nouns(", ") + "device or switch";
  const std::vector<Key<Platform>> keys = joined<Platform>({
      {
          {"name", &Platform::name, name(), "Name of the machine", required},
          {"title", &Platform::title, string(200), "Description in one line"},
          {"plugins", &Platform::plugins, plugin_files(),
           "Shared libraries that bring further kinds of devices, each built by "
           "oae_vp_add_plugin()"},
          {"simulation", &Platform::simulation, simulation, "Values of the simulation"},
          {"qemu", &Platform::qemu, qemu(), "QEMU, which runs the processors", required},
          {"hosts", &Platform::hosts, list(host(), 1, 8), "x86-64 machines that run Linux",
           required},
          {"switches", &Platform::switches, list(pcie_switch(), 0, 16), "PCIe switches"},
      },
      lists(),
      {
          {"devices", &Platform::devices, list(device::any_kind(), 0, 16),
           "Further devices, each of a kind"},
          {"pcie_links", &Platform::pcie_links, list(pcie_link(), 1, 32),
           "PCIe links, each from a host or switch to " + article(lower) + lower +
               "; the ports of each are in this order",
           required},
      },
      sections(),
      {
          {"log", &Platform::log, map_of(log_components(), word(log_levels())),
           "Least level that each component logs; `all` is the level of those not named"},
      },
  });
  check_unique(keys);
  return Struct<Platform>(keys);
}

}  // namespace platform
