// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vp/config/source.h"

namespace vp::config {

struct Entry;

/// A value of a YAML file with the place from which it was read. Duplicate keys are kept, so that
/// the schema can report them.
struct Node {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  Origin origin;
  std::string text;     ///< the text of a scalar
  bool quoted = false;  ///< the scalar is in quotes or is a block, so it is a string
  std::vector<Node> items;
  std::vector<Entry> entries;

  /// Returns the value of the last entry with this key, or nullptr.
  Node* find(std::string_view key);
  /// Returns how a mistake describes it: `` `text` ``, "a list", "a map" or "nothing".
  std::string description() const;
};

struct Entry {
  std::string key;
  Origin origin;
  Node value;
};

/// The deepest nesting of lists and maps.
inline constexpr unsigned max_depth = 16;

/// Reads one YAML document. Throws Mistakes if the text is not valid YAML, and for what a
/// configuration does not need: several documents, anchors, aliases, tags, keys that are not plain
/// text, tabs as indentation, nesting beyond `max_depth`.
Node parse_yaml(const std::shared_ptr<const Source>& source);

/// Reads the bytes of an argument from `offset` on. They are YAML if they begin with `[`, `{` or a
/// quote. Otherwise they are the text itself.
Node parse_argument(const std::shared_ptr<const Source>& source, std::size_t offset);

}  // namespace vp::config
