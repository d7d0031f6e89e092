// SPDX-License-Identifier: Apache-2.0
#include "models/device/kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "vp/control/words.h"

namespace device {

using namespace vp::config;

namespace {

struct Known {
  const Kind* kind;
  std::string plugin;  // from which it comes; empty if it is the program's own
};

/// Registrations of other files may be constructed before anything of this one.
std::map<std::string, Known>& known() {
  static std::map<std::string, Known> kinds;
  return kinds;
}

/// The plugin that is being loaded, or nullptr.
KindsFrom*& loading() {
  static KindsFrom* plugin = nullptr;
  return plugin;
}

std::string origin(const Known& known) {
  return known.plugin.empty() ? "oae-vp itself" : known.plugin;
}

[[noreturn]] void fail(const Known& known, const std::string& doing, const char* thrown) {
  throw KindFailed(
      fmt::format("the kind {} of {} throws an exception while it {}: {}\n"
                  "  this is a defect of the kind; leave its devices out until it is mended",
                  shown(known.kind->name()), origin(known), doing, thrown));
}

/// Performs an action of a kind. What it throws would not say where it comes from.
template <class Action>
auto perform(const Known& known, const std::string& doing, const Action& action) {
  try {
    return action(*known.kind);
  } catch (const Mistakes&) {
    throw;
  } catch (const std::exception& thrown) {
    fail(known, doing, thrown.what());
  } catch (...) {
    fail(known, doing, "it is no std::exception");
  }
}

/// The text of a key of the map, or an empty string.
std::string text_of(const Node& map, const std::string& key) {
  std::string text;
  for (const Entry& entry : map.entries) {
    if (entry.key == key && entry.value.kind == Node::Kind::scalar) text = entry.value.text;
  }
  return text;
}

/// Reads the keys that all kinds have. Whether the others are sound cannot be known.
DescriptionPtr read_common(Node node, const std::string& path, Reading& reading) {
  const std::vector<Key<Description>> keys = common_keys<Description>();
  const auto is_other = [&](const Entry& entry) {
    return std::none_of(keys.begin(), keys.end(),
                        [&](const Key<Description>& key) { return key.name == entry.key; });
  };
  node.entries.erase(std::remove_if(node.entries.begin(), node.entries.end(), is_other),
                     node.entries.end());
  const auto description = std::make_shared<Description>();
  Struct<Description>(keys).read(node, path, reading, *description);
  return description;
}

}  // namespace

void Kind::check_faults(const Description& description, const std::string& path,
                        Reading& reading) const {
  for (std::size_t i = 0; i < description.faults.size(); ++i) {
    const std::string at = fmt::format("{}.faults[{}].inject", path, i);
    if (!reading.good(at)) continue;
    const std::string why = description.check_fault(vp::words(description.faults[i].inject));
    if (!why.empty()) reading.mistake(at, why, "a fault that devices of this kind can have");
  }
}

std::vector<const Kind*> kinds() {
  std::vector<const Kind*> all;
  for (const auto& [name, each] : known()) all.push_back(each.kind);
  return all;
}

const Kind* find_kind(const std::string& name) {
  const auto found = known().find(name);
  return found == known().end() ? nullptr : found->second.kind;
}

std::unique_ptr<Device> build(const Description& description, const Site& site) {
  return perform(known().at(description.kind), fmt::format("builds {}", shown(description.name)),
                 [&](const Kind& kind) { return kind.build(description, site); });
}

void add_kind(const Kind& kind) {
  KindsFrom* const from = loading();
  const auto [place, is_new] =
      known().emplace(kind.name(), Known{&kind, from != nullptr ? from->plugin() : ""});
  if (is_new) return;
  std::string conflict = fmt::format("it registers the kind {}, which {} has already",
                                     shown(kind.name()), origin(place->second));
  if (from == nullptr) throw std::logic_error(conflict);
  from->note(std::move(conflict));
}

void remove_kind(const Kind& kind) {
  const auto found = known().find(kind.name());
  if (found != known().end() && found->second.kind == &kind) known().erase(found);
}

KindsFrom::KindsFrom(std::string plugin) : plugin_(std::move(plugin)) {
  loading() = this;
}

KindsFrom::~KindsFrom() {
  loading() = nullptr;
}

Type<DescriptionPtr> any_kind() {
  Type<DescriptionPtr> type;
  type.accepts = "a map";
  type.read = [](const Node& node, const std::string& path, Reading& reading,
                 DescriptionPtr& value) {
    const auto found = known().find(text_of(node, "kind"));
    if (found == known().end()) {
      value = read_common(node, path, reading);
      return;
    }
    value = perform(found->second, fmt::format("reads {}", path), [&](const Kind& kind) {
      return kind.read(node, path, reading, Form::of_any_kind);
    });
  };
  type.print = [](const DescriptionPtr&) { return std::string("as of its keys"); };
  type.rows = [](const std::string& path, std::vector<Row>& rows) {
    Struct<Description>(common_keys<Description>()).rows(path, rows);
    for (const auto& [name, each] : known()) {
      // `devices[]` becomes `devices[nvme]`.
      const std::string at = path.substr(0, path.size() - 1) + name + "]";
      const std::string& list = each.kind->traits().list;
      rows.push_back({at, "a device of the kind " + name, "not set",
                      each.kind->text() +
                          (list.empty() ? "" : "; its further keys are those of " + list + "[]")});
      if (!list.empty()) continue;
      perform(each, "lists its keys",
              [&](const Kind& kind) { kind.rows(at, rows, Form::of_any_kind); });
    }
  };
  return type;
}

Type<DescriptionPtr> listed(const Kind& kind) {
  Type<DescriptionPtr> type;
  type.accepts = "a map";
  type.read = [name = kind.name()](const Node& node, const std::string& path, Reading& reading,
                                   DescriptionPtr& value) {
    value = perform(known().at(name), fmt::format("reads {}", path),
                    [&](const Kind& kind) { return kind.read(node, path, reading, Form::listed); });
  };
  type.print = [](const DescriptionPtr&) { return std::string("as of its keys"); };
  type.rows = [name = kind.name()](const std::string& path, std::vector<Row>& rows) {
    perform(known().at(name), "lists its keys",
            [&](const Kind& kind) { kind.rows(path, rows, Form::listed); });
  };
  return type;
}

std::string name_text() {
  std::string text = "Name, unique among hosts, switches";
  for (const Kind* kind : kinds()) {
    if (!kind->traits().list.empty()) text += ", " + kind->traits().noun + "s";
  }
  return text + " and devices";
}

}  // namespace device
