// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vp/config/source.h"

namespace vp::config {

struct Entry;

/// A value of a YAML file with the place it was read from. Duplicate keys are kept, so that the
/// schema can tell of them.
struct Node {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  Origin origin;
  std::string text;     ///< of a scalar
  bool quoted = false;  ///< the scalar stands in quotes, or is a block: surely a string
  std::vector<Node> items;
  std::vector<Entry> entries;

  /// The value of the last entry with this key, or nullptr.
  Node* find(std::string_view key);
  /// What a mistake calls it: `` `text` ``, "a list", "a map" or "nothing".
  std::string description() const;
};

struct Entry {
  std::string key;
  Origin origin;
  Node value;
};

/// Deepest nesting of lists and maps.
inline constexpr unsigned max_depth = 16;

/// Reads one YAML document. Throws Mistakes for what is no YAML, and for what a configuration does
/// not need: several documents, anchors, aliases, tags, keys that are no plain text, tabs as
/// indentation, nesting beyond `max_depth`.
Node parse_yaml(const std::shared_ptr<const Source>& source);

/// Reads the bytes from `offset` on of an argument: YAML if it begins with `[`, `{` or a quote,
/// else the text itself.
Node parse_argument(const std::shared_ptr<const Source>& source, std::size_t offset);

}  // namespace vp::config
