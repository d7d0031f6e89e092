// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vp/config/node.h"
#include "vp/config/report.h"

namespace vp::config {

/// A value that replaces one of the file: `hosts[0].vcpus=4`.
///
///   path   = key { "." key | "[" index "]" | "[*]" }     [*] is every element of a list
///   value  = the text after the first "="; YAML if it begins with "[", "{" or a quote
///
/// A key that the file does not have is added. A list keeps its length, and `path=[...]` replaces
/// the whole list. If several overrides change the same value, the last one counts.
struct Override {
  struct Step {
    enum class Kind { key, index, all };
    Kind kind = Kind::key;
    std::string key;
    std::size_t index = 0;
    Origin origin;
  };
  std::vector<Step> path;
  Node value;
};

/// Reads the argument of `--set`. Throws Mistakes.
Override parse_override(std::string_view assignment);

/// Makes the override that another option means. `value` has its place in that option's argument,
/// and mistakes of the path are reported there. Throws Mistakes if `path` is malformed.
Override make_override(std::string_view path, Node value);

/// Changes the tree as the override says. If that is impossible, adds the reason to the report.
void apply(const Override& change, Node& root, Report& report);

}  // namespace vp::config
