// SPDX-License-Identifier: Apache-2.0
#include "platforms/description/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "models/device/kind.h"
#include "models/device/plugin.h"
#include "platforms/description/faults.h"
#include "platforms/description/receive_buffers.h"
#include "platforms/description/schema.h"
#include "vp/images/file.h"

namespace platform {

namespace fs = std::filesystem;
using vp::config::alternatives;
using vp::config::check_name;
using vp::config::nearest;
using vp::config::Reading;
using vp::config::shown;

namespace {

/// Loads the plugins, so that the kinds of all devices are known before anything else is read.
/// Without its plugins a file cannot be checked any further: throws Mistakes.
void load_plugins(vp::config::Node& root, Reading& reading) {
  const vp::config::Node* node = root.find("plugins");
  if (node == nullptr) return;
  Reading plugins(reading.search());
  plugins.place("plugins", node->origin);
  std::vector<File> files;
  plugin_files().read(*node, "plugins", plugins, files);
  std::map<fs::path, std::size_t> seen;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string path = fmt::format("plugins[{}]", i);
    if (!plugins.good(path)) continue;
    std::error_code error;
    const auto [first, is_new] = seen.emplace(fs::canonical(files[i].path, error), i);
    if (!is_new) {
      plugins.mistake(path, fmt::format("this is plugins[{}] again", first->second),
                      "each plugin once", "remove it");
      continue;
    }
    try {
      device::load_plugin(files[i].path);
    } catch (const vp::images::Mistake& mistake) {
      plugins.mistake(path, fmt::format("{}: {}", shown(files[i].text), mistake.what()), "",
                      mistake.remedy());
    }
  }
  if (plugins.report().empty()) return;
  reading.report().add(plugins.report());
  reading.report().check();
}

/// The longest command line of Linux on x86, bytes without the NUL (COMMAND_LINE_SIZE).
constexpr std::size_t longest_command_line = 2047;

template <class T>
std::vector<std::string> names_of(const std::vector<T>& parts) {
  std::vector<std::string> names;
  for (const T& part : parts) names.push_back(part.name);
  return names;
}

/// A device, and where the platform file describes it.
struct Card {
  std::string path;
  std::string name;
  std::string noun;  ///< what messages call it, such as "IPU"
  device::DescriptionPtr description;
};

std::string noun_of(const device::Description& description) {
  const device::Kind* kind = device::find_kind(description.kind);
  return kind == nullptr ? device::Traits().noun : kind->traits().noun;
}

/// All devices, in the order of Platform::all_devices().
std::vector<Card> cards_of(const Platform& platform) {
  std::vector<Card> cards;
  const auto add = [&](const std::string& key, const std::vector<device::DescriptionPtr>& list) {
    for (std::size_t i = 0; i < list.size(); ++i)
      cards.push_back({fmt::format("{}[{}]", key, i), list[i]->name, noun_of(*list[i]), list[i]});
  };
  for (const auto& [key, list] : platform.lists) add(key, list);
  add("devices", platform.devices);
  return cards;
}

/// What messages call the devices of the machine, each noun once. The word `device` is the last.
std::vector<std::string> nouns_of(const std::vector<Card>& cards) {
  const std::string general = device::Traits().noun;
  std::vector<std::string> nouns;
  bool others = cards.empty();
  for (const Card& card : cards) {
    others |= card.noun == general;
    if (card.noun != general && !std::count(nouns.begin(), nouns.end(), card.noun))
      nouns.push_back(card.noun);
  }
  if (others) nouns.push_back(general);
  return nouns;
}

/// `IPU, switch or device`
std::string any_of(const std::vector<std::string>& nouns) {
  std::string text = nouns[0];
  for (std::size_t i = 1; i < nouns.size(); ++i)
    text += (i + 1 == nouns.size() ? " or " : ", ") + nouns[i];
  return text;
}

/// Options find the console and the debugger of a part by its name. They mean the only host by
/// `host`, and the only device of a kind with a console by the name of the kind. Names are
/// therefore unique, and no part has a name by which options mean a part of another sort.
void check_names(const Platform& platform, const std::vector<Card>& cards, Reading& reading) {
  std::map<std::string, std::string> first;
  const auto check = [&](const std::string& place, const std::string& name, const std::string& own,
                         const std::string& better) {
    const std::string path = place + ".name";
    if (!reading.good(path)) return;
    std::set<std::string> reserved = {"both", "host"};
    for (const device::Kind* kind : device::kinds())
      if (!kind->traits().list.empty()) reserved.insert(kind->name());
    reserved.erase(own);
    if (reserved.count(name) != 0)
      return reading.mistake(path, fmt::format("{} means something else in options", shown(name)),
                             "another name", fmt::format("call it `{}0`", better));
    const auto [earlier, is_first] = first.emplace(name, path);
    if (!is_first)
      reading.mistake(path, fmt::format("{} is also {}", shown(name), earlier->second),
                      "names that differ", "rename one of them");
  };
  for (std::size_t i = 0; i < platform.hosts.size(); ++i)
    check(fmt::format("hosts[{}]", i), platform.hosts[i].name, "host", "host");
  for (std::size_t i = 0; i < platform.switches.size(); ++i)
    check(fmt::format("switches[{}]", i), platform.switches[i].name, "", "sw");
  for (const Card& card : cards) {
    const std::string& kind = card.description->kind;
    const bool has_word = card.noun != device::Traits().noun;
    check(card.path, card.name, has_word ? kind : "", has_word ? kind : "device");
  }
}

/// Checks one end of a link. Returns true if `name` is among `right`; the names in `wrong` belong
/// to the other end.
bool check_end(const std::string& path, const std::string& name, const std::string& noun,
               const std::vector<std::string>& right, const std::vector<std::string>& wrong,
               Reading& reading) {
  const bool exchanged = std::count(wrong.begin(), wrong.end(), name) != 0;
  return check_name(path, name, noun, right, reading, exchanged ? "exchange `up` and `down`" : "");
}

/// Checks what one receive buffer of the link advertises. `to_switch` says that it is a switch's.
void check_credits(const std::string& path, const Credits& described, const PcieLink& link,
                   bool to_switch, Reading& reading) {
  if (!reading.good(path) || sized_by_link(described)) return;
  const Credits credits = advertised(described, link.lanes);
  if (!credits_given(described)) {
    if (16 * credits.posted_data < link.max_payload_size && credits.posted_data != 0)
      reading.mistake(
          path + ".buffer",
          fmt::format("this buffer has no room for a packet of {} bytes", link.max_payload_size),
          "", "choose another one, or lower max_payload_size");
    if (credits.scale > 1 && link.generation < 4)
      reading.mistake(
          path + ".buffer",
          fmt::format("this buffer needs scaled flow control, which generation {} does not have",
                      link.generation),
          "", "choose another one, or raise `generation` to 4 or more");
    return;
  }
  if (described.buffer != "link")
    reading.mistake(path + ".buffer", "it has no effect beside numbers of credits", "",
                    "remove either");
  if (credits.scale > 1 && link.generation < 4)
    reading.mistake(path + ".scale",
                    fmt::format("generation {} has no scaled flow control", link.generation), "1",
                    "remove it, or raise `generation` to 4 or more");
  const auto fits = [&](const char* key, unsigned value, unsigned bits) {
    const unsigned most = pcie::most_credits(bits, credits.scale);
    const unsigned unit = pcie::unit_of(value, bits, credits.scale);
    if (value > most)
      reading.mistake(path + "." + key,
                      fmt::format("{} credits are more than the counters can hold", value),
                      fmt::format("at most {} with a scale of {}", most, credits.scale),
                      "raise `scale` to 4 or 16, or write 0 for infinite");
    else if (value % unit != 0)
      reading.mistake(
          path + "." + key, fmt::format("so many credits are counted in units of {}", unit),
          fmt::format("a multiple of {}", unit),
          fmt::format("write {} or {}", value - value % unit, value - value % unit + unit));
  };
  fits("posted_headers", credits.posted_headers, pcie::header_bits);
  fits("posted_data", credits.posted_data, pcie::data_bits);
  fits("non_posted_headers", credits.non_posted_headers, pcie::header_bits);
  fits("non_posted_data", credits.non_posted_data, pcie::data_bits);
  fits("completion_headers", credits.completion_headers, pcie::header_bits);
  fits("completion_data", credits.completion_data, pcie::data_bits);
  const auto least = [&](const char* key, unsigned value) {
    if (value != 0 && 16 * value < link.max_payload_size)
      reading.mistake(fmt::format("{}.{}", path, key),
                      fmt::format("{} credits are less than one packet of {} bytes", value,
                                  link.max_payload_size),
                      fmt::format("{} or more, or 0 for infinite", link.max_payload_size / 16),
                      "raise it, or lower max_payload_size");
  };
  least("posted_data", credits.posted_data);
  least("completion_data", credits.completion_data);
  const std::pair<const char*, unsigned> completions[] = {
      {"completion_headers", credits.completion_headers},
      {"completion_data", credits.completion_data}};
  for (const auto& [key, value] : completions) {
    if (value == 0 || to_switch) continue;
    reading.mistake(fmt::format("{}.{}", path, key),
                    "a root complex or an endpoint always has room for all completions",
                    "0 at a root complex or an endpoint (PCIe 5.0, 2.6.1)", "remove it");
  }
}

/// An AtomicOp needs two data credits. Root ports complete AtomicOps and switches route them, so
/// both need room for one.
void check_atomic_credits(const std::string& path, const Credits& credits, Reading& reading) {
  if (!reading.good(path) || credits.non_posted_data != 1) return;
  reading.mistake(path + ".non_posted_data", "1 credit is less than an AtomicOp may need",
                  "2 or more, or 0 for infinite", "raise it");
}

void check_faults(const std::string& path, const PcieLink& link, Reading& reading) {
  if (!reading.good(path)) return;
  const std::vector<PcieFault>& faults = link.faults;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (faults[i].error == lane_failure) {
      if (faults[i].lane < link.lanes) continue;
      reading.mistake(fmt::format("{}[{}].lane", path, i),
                      fmt::format("a link of {} lanes has no lane {}", link.lanes, faults[i].lane),
                      fmt::format("0 to {}", link.lanes - 1), "lanes count from 0");
      continue;
    }
    const pcie::Fault fault = to_fault(faults[i]);
    if (pcie::is_possible(to_direction(faults[i]), fault)) continue;
    reading.mistake(
        fmt::format("{}[{}]", path, i),
        pcie::is_of_egress(fault.error)
            ? fmt::format("{} is an error of packets that leave a port, not of a link",
                          faults[i].error)
        : faults[i].tlp.empty()
            ? fmt::format("the lower end of a link does not detect {}", faults[i].error)
            : fmt::format("a {} cannot have the error {}", faults[i].tlp, faults[i].error),
        "an error that can happen there", "see models/pcie/README.md, Errors");
  }
}

void check_active_states(const std::string& path, const PcieLink& link, Reading& reading) {
  if (!reading.good(path) || !link.aspm.l0s || link.generation < 6) return;
  reading.mistake(path + ".l0s", "a link in flit mode has no L0s", "`l1` alone", "remove `l0s`");
}

/// What happens at a hot-plug slot needs the part that it happens to. Any card may be torn out.
void check_hot_plug_actions(const std::string& path, const HotPlug& slot, Reading& reading) {
  for (std::size_t i = 0; i < slot.actions.size(); ++i) {
    const std::string& action = slot.actions[i].action;
    const auto needs = [&](const char* key, bool has) {
      if (!has)
        reading.mistake(fmt::format("{}.actions[{}].action", path, i),
                        fmt::format("{} needs `{}`, which the slot does not have", action, key), "",
                        fmt::format("add `{}: true`, or remove the action", key));
    };
    if (action == "button") needs("attention_button", slot.attention_button);
    if (action == "open" || action == "close") needs("latch", slot.latch);
    if (action == "power_fault") needs("power_controller", slot.power_controller);
  }
}

/// The other keys of a hot-plug slot need `capable`.
void check_hot_plug(const Platform& platform, Reading& reading) {
  if (!reading.good("pcie_links")) return;
  for (std::size_t i = 0; i < platform.pcie_links.size(); ++i) {
    const HotPlug& hot_plug = platform.pcie_links[i].hot_plug;
    check_hot_plug_actions(fmt::format("pcie_links[{}].hot_plug", i), hot_plug, reading);
    const std::pair<const char*, bool> keys[] = {{"surprise", hot_plug.surprise},
                                                 {"attention_button", hot_plug.attention_button},
                                                 {"indicators", hot_plug.indicators},
                                                 {"power_controller", hot_plug.power_controller},
                                                 {"latch", hot_plug.latch},
                                                 {"interlock", hot_plug.interlock},
                                                 {"command_time", hot_plug.command_time != 0}};
    for (const auto& [key, set] : keys) {
      if (!set || hot_plug.capable) continue;
      reading.mistake(
          fmt::format("pcie_links[{}].hot_plug.{}", i, key), "the slot is not hot-plug capable",
          std::string_view(key) == "command_time" ? "0s" : "false", "add `capable: true`");
    }
  }
}

/// The most switches that may stand between a host and a device.
constexpr std::size_t deepest = 8;

template <class T>
const T* find_named(const std::vector<T>& parts, const std::string& name) {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const T& each) { return each.name == name; });
  return found == parts.end() ? nullptr : &*found;
}

/// The links from a part up to its host, the lowest first. `host` is nullptr if no host is above.
struct RouteToHost {
  const Host* host = nullptr;
  std::vector<const PcieLink*> links;
  bool loops = false;
};

RouteToHost route_to_host(const Platform& platform, std::string from) {
  RouteToHost route;
  while ((route.host = find_named(platform.hosts, from)) == nullptr) {
    const auto link = std::find_if(platform.pcie_links.begin(), platform.pcie_links.end(),
                                   [&](const PcieLink& each) { return each.down == from; });
    if (link == platform.pcie_links.end()) break;
    route.loops = std::count(route.links.begin(), route.links.end(), &*link) != 0;
    if (route.loops) break;
    route.links.push_back(&*link);
    from = link->up;
  }
  return route;
}

void check_round_trip(const std::string& path, const Platform& platform, const Card& card,
                      const RouteToHost& route, Reading& reading) {
  std::int64_t round_trip =
      2 * route.host->root_complex.latency + 2 * card.description->endpoint.latency;
  for (const PcieLink* link : route.links) {
    round_trip += link->latency_down + link->latency_up;
    if (const Switch* above = find_named(platform.switches, link->up))
      round_trip += 2 * above->latency;
  }
  if (round_trip < route.host->root_complex.completion_timeout) return;
  reading.mistake(path,
                  fmt::format("a read takes at least {} there and back, and {} gives up after {}",
                              vp::config::duration_quantity().print(round_trip), route.host->name,
                              vp::config::duration_quantity().print(
                                  route.host->root_complex.completion_timeout)),
                  "latencies that add up to less than the completion timeout",
                  "raise root_complex.completion_timeout of the host, or lower the latencies");
}

void check_switches(const Platform& platform, Reading& reading) {
  for (std::size_t i = 0; i < platform.switches.size(); ++i) {
    const Switch& each = platform.switches[i];
    const std::string path = fmt::format("switches[{}]", i);
    if (!reading.good(path)) continue;
    if (each.latency % 2 != 0)
      reading.mistake(path + ".latency", "an odd number of picoseconds",
                      "an even number, since each of two ports takes half of it", "add 1ps");
    const auto ports = std::count_if(platform.pcie_links.begin(), platform.pcie_links.end(),
                                     [&](const PcieLink& link) { return link.up == each.name; });
    if (ports == 0)
      reading.mistake(path + ".name", fmt::format("nothing is below {}", shown(each.name)),
                      "at least one link from each switch",
                      "remove the switch, or add a link to pcie_links");
    const RouteToHost route = route_to_host(platform, each.name);
    if (route.host != nullptr) {
      if (route.links.size() > deepest)
        reading.mistake(path + ".name",
                        fmt::format("{} switches stand one below the other", route.links.size()),
                        fmt::format("at most {}", deepest), "connect it further up");
    } else if (route.loops) {
      reading.mistake(
          path + ".name",
          fmt::format("no host is above {}, because its links form a loop", shown(each.name)),
          "a tree below each host",
          fmt::format("begin the link to {} at `{}`", each.name, platform.hosts[0].name));
    } else if (route.links.empty()) {
      reading.mistake(path + ".name", fmt::format("no PCIe link leads to {}", shown(each.name)),
                      "one link to each switch",
                      fmt::format("add to pcie_links: {{up: {}, down: {}}}", platform.hosts[0].name,
                                  each.name));
    }
  }
}

void check_links(const Platform& platform, const std::vector<Card>& cards, Reading& reading) {
  for (const char* list : {"hosts", "switches", "devices"})
    if (!reading.good(list)) return;
  for (const auto& [key, list] : platform.lists)
    if (!reading.good(key)) return;
  const std::vector<std::string> hosts = names_of(platform.hosts), lowest = names_of(cards),
                                 switches = names_of(platform.switches);
  std::vector<std::string> ups = hosts, downs = lowest;
  ups.insert(ups.end(), switches.begin(), switches.end());
  downs.insert(downs.end(), switches.begin(), switches.end());
  const std::string upper = switches.empty() ? "host" : "host or switch";
  const std::vector<std::string> nouns = nouns_of(cards);
  std::vector<std::string> lower_nouns = nouns;
  // A switch is named between the devices that have a word of their own and all others.
  const bool others = nouns.back() == device::Traits().noun;
  if (!switches.empty()) lower_nouns.insert(lower_nouns.end() - (others ? 1 : 0), "switch");
  const std::string lower = any_of(lower_nouns);
  std::map<std::string, std::string> leads_to;  // the name at the lower end, path of its link
  for (std::size_t i = 0; i < platform.pcie_links.size(); ++i) {
    const PcieLink& link = platform.pcie_links[i];
    const std::string path = fmt::format("pcie_links[{}]", i);
    const bool up = check_end(path + ".up", link.up, upper, ups, lowest, reading);
    const bool down = check_end(path + ".down", link.down, lower, downs, hosts, reading);
    if (down) {
      const auto [earlier, is_first] = leads_to.emplace(link.down, path);
      if (!is_first)
        reading.mistake(path + ".down",
                        fmt::format("{} already leads to {}", earlier->second, shown(link.down)),
                        fmt::format("one link to each {}", lower), "remove one of them");
    }
    if (!up || !down || !reading.good(path)) continue;
    for (const std::string& end : {link.up, link.down}) {
      const Switch* each = find_named(platform.switches, end);
      if (each != nullptr && link.max_payload_size > each->max_payload_size)
        reading.mistake(path + ".max_payload_size",
                        fmt::format("{} supports {} bytes", each->name, each->max_payload_size),
                        fmt::format("at most {}B", each->max_payload_size),
                        fmt::format("lower it, or raise max_payload_size of {}", each->name));
    }
    const RouteToHost route = route_to_host(platform, link.down);
    if (const Card* card = find_named(cards, link.down); card != nullptr && route.host != nullptr)
      check_round_trip(path, platform, *card, route, reading);
  }
  for (std::size_t i = 0; i < platform.pcie_links.size(); ++i) {
    const PcieLink& link = platform.pcie_links[i];
    const std::string path = fmt::format("pcie_links[{}]", i);
    const auto is_switch = [&](const std::string& name) {
      return find_named(platform.switches, name) != nullptr;
    };
    check_credits(path + ".credits_down", link.credits_down, link, is_switch(link.down), reading);
    check_credits(path + ".credits_up", link.credits_up, link, is_switch(link.up), reading);
    check_atomic_credits(path + ".credits_up", link.credits_up, reading);
    if (is_switch(link.down)) {
      check_atomic_credits(path + ".credits_down", link.credits_down, reading);
    }
    check_faults(path + ".faults", link, reading);
    check_active_states(path + ".aspm", link, reading);
  }
  if (!reading.good("pcie_links")) return;
  check_switches(platform, reading);
  for (const Card& card : cards)
    if (leads_to.count(card.name) == 0)
      reading.mistake(card.path + ".name",
                      fmt::format("no PCIe link leads to {}", shown(card.name)),
                      "one link to each " + any_of(nouns),
                      fmt::format("add to pcie_links: {{up: {}, down: {}}}", hosts[0], card.name));
}

/// A device with processors needs the QEMU library of its kind. A machine without such devices does
/// not.
void check_libraries(const Platform& platform, Reading& reading) {
  for (const device::Kind* kind : device::kinds()) {
    const auto devices = platform.devices_of(kind->name());
    const std::string key = kind->name() + "_library", path = "qemu." + key;
    if (kind->traits().library_text.empty() || devices.empty() ||
        platform.qemu.library_of(kind->name()) != nullptr)
      continue;
    if (!reading.good(path) || reading.misspelt("qemu", key)) continue;
    reading.mistake(
        path, fmt::format("{} is missing, which {} needs", shown(key), devices[0]->name),
        "an existing file", fmt::format("add `{}: ...`: {}", key, kind->traits().library_text));
  }
}

/// Checks the sections that kinds have added, as far as the devices of the kind are sound.
void check_sections(const Platform& platform, Reading& reading) {
  for (const device::Kind* kind : device::kinds()) {
    if (!reading.good("devices")) return;
    if (const std::string& list = kind->traits().list; !list.empty() && !reading.good(list))
      continue;
    for (const device::SectionKey& each : kind->sections()) {
      const auto found = platform.sections.find(each.key);
      if (found != platform.sections.end())
        found->second->check(platform.devices_of(kind->name()), reading);
    }
  }
}

}  // namespace

fs::path find_platform(const std::string& platform, const std::vector<fs::path>& directories) {
  std::error_code error;
  if (fs::exists(platform, error)) {
    // A directory with the name of a platform does not hide the platform.
    if (!fs::is_directory(platform, error) || platform.find('/') != platform.npos) return platform;
  }
  std::vector<std::string> names;
  if (platform.find('/') == platform.npos) {
    for (const fs::path& directory : directories) {
      for (const char* end : {".yaml", ""}) {
        const fs::path file = directory / (platform + end);
        if (!platform.empty() && fs::is_regular_file(file, error) && file.extension() == ".yaml")
          return file;
      }
      for (fs::directory_iterator each(directory, error), end; !error && each != end;
           each.increment(error))
        if (each->path().extension() == ".yaml") names.push_back(each->path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::string meant = nearest(fs::path(platform).stem().string(), names);
  vp::config::Problem problem;
  problem.origin.source = vp::config::argument_source("platform", platform);
  problem.found = "there is no such platform and no such file";
  problem.accepted = names.empty() ? "the path of a platform file"
                                   : alternatives(names) + ", or the path of a platform file";
  if (!meant.empty()) problem.remedy = fmt::format("did you mean {}?", shown(meant));
  vp::config::fail(std::move(problem));
}

Platform load(const fs::path& file, const fs::path& images,
              const std::vector<vp::config::Override>& overrides, const std::string& append) {
  return load(vp::config::read_source(file), images, overrides, append);
}

Platform load(const std::shared_ptr<const vp::config::Source>& source, const fs::path& images,
              const std::vector<vp::config::Override>& overrides, const std::string& append) {
  vp::config::Node root = vp::config::parse_yaml(source);
  Reading reading(images);
  for (const vp::config::Override& change : overrides) apply(change, root, reading.report());
  load_plugins(root, reading);
  Platform platform = read(schema(), root, reading);
  const std::vector<Card> cards = cards_of(platform);
  check_names(platform, cards, reading);
  check_links(platform, cards, reading);
  check_hot_plug(platform, reading);
  check_libraries(platform, reading);
  check_sections(platform, reading);

  for (std::size_t i = 0; i < platform.hosts.size() && !append.empty(); ++i) {
    std::string& line = platform.hosts[i].append;
    line += line.empty() ? append : " " + append;
    if (line.size() > longest_command_line)
      reading.mistake(fmt::format("hosts[{}].append", i),
                      fmt::format("{} bytes, including what --append adds", line.size()),
                      fmt::format("at most {} bytes", longest_command_line), "shorten --append");
  }
  reading.report().check();
  return platform;
}

}  // namespace platform
