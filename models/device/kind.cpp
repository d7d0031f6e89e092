// SPDX-License-Identifier: Apache-2.0
#include "models/device/kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

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

std::vector<const Kind*> kinds() {
  std::vector<const Kind*> all;
  for (const auto& [name, each] : known()) all.push_back(each.kind);
  return all;
}

const Kind* find_kind(const std::string& name) {
  const auto found = known().find(name);
  return found == known().end() ? nullptr : found->second.kind;
}

void add_kind(const Kind& kind) {
  KindsFrom* const from = loading();
  const auto [place, is_new] =
      known().emplace(kind.name(), Known{&kind, from != nullptr ? from->plugin() : ""});
  if (is_new) return;
  const std::string& other = place->second.plugin;
  std::string conflict = fmt::format("it registers the kind {}, which {} has already",
                                     shown(kind.name()), other.empty() ? "oae-vp itself" : other);
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
    const Kind* kind = find_kind(text_of(node, "kind"));
    value = kind != nullptr ? kind->read(node, path, reading) : read_common(node, path, reading);
  };
  type.print = [](const DescriptionPtr&) { return std::string("as of its keys"); };
  type.rows = [](const std::string& path, std::vector<Row>& rows) {
    Struct<Description>(common_keys<Description>()).rows(path, rows);
    for (const Kind* kind : kinds()) {
      // `devices[]` becomes `devices[nvme]`.
      const std::string at = path.substr(0, path.size() - 1) + kind->name() + "]";
      rows.push_back({at, "a device of the kind " + kind->name(), "not set", kind->text()});
      kind->rows(at, rows);
    }
  };
  return type;
}

}  // namespace device
