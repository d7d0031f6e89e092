// SPDX-License-Identifier: Apache-2.0
#include "vp/config/override.h"

#include <fmt/format.h>

#include <algorithm>

namespace vp::config {

namespace {

using Step = Override::Step;

/// Reads a path; `place(i)` is the origin of its byte i.
template <class Place>
std::vector<Step> parse_path(std::string_view text, const Place& place) {
  static constexpr const char* grammar = "keys joined by `.`, and `[index]` after a list";
  std::vector<Step> path;
  for (std::size_t i = 0; i < text.size() || path.empty();) {
    Step step;
    step.origin = place(i);
    if (i < text.size() && text[i] == '[' && !path.empty()) {
      const std::size_t end = text.find(']', i);
      const std::string_view index = text.substr(i + 1, end == text.npos ? end : end - i - 1);
      if (end == text.npos) fail({place(i), "a `[` is never closed", grammar, "write a `]`"});
      if (index == "*") {
        step.kind = Step::Kind::all;
      } else {
        step.kind = Step::Kind::index;
        if (index.empty() || index.size() > 6 ||
            index.find_first_not_of("0123456789") != index.npos)
          fail({place(i), fmt::format("index {}", shown(index)), "`[0]` and up, or `[*]` for all",
                "count the elements from 0"});
        step.index = std::stoul(std::string(index));
      }
      i = end + 1;
    } else {
      if (!path.empty()) {
        if (text[i] != '.')
          fail({place(i), fmt::format("{} after an index", shown(text.substr(i, 1))), grammar,
                "write a `.` before a key"});
        ++i;
      }
      const std::size_t end = std::min(text.find_first_of(".[]", i), text.size());
      step.origin = place(i);
      step.key = std::string(text.substr(i, end - i));
      if (step.key.empty()) fail({place(i), "a key is missing", grammar, "see `oae-vp keys`"});
      i = end;
    }
    if (path.size() == max_depth)
      fail({step.origin, "the path is too deep", fmt::format("{} steps at most", max_depth),
            "see `oae-vp keys`"});
    path.push_back(std::move(step));
  }
  return path;
}

void apply(const Override& change, std::size_t depth, Node& node, const std::string& where,
           Report& report) {
  if (depth == change.path.size()) {
    node = change.value;
    return;
  }
  const Step& step = change.path[depth];
  const Node::Kind wanted = step.kind == Step::Kind::key ? Node::Kind::map : Node::Kind::list;
  const std::string what = where.empty() ? "the platform" : where;
  if (node.kind == Node::Kind::null) {
    node.origin = step.origin;
    // A missing list cannot be changed. The schema reports what is missing or unknown.
    if (wanted == Node::Kind::list) return;
    node.kind = Node::Kind::map;
  }
  if (node.kind != wanted) {
    report.add({step.origin,
                fmt::format("{} is {}, and has no {}", what,
                            node.kind == Node::Kind::scalar ? "a single value" : node.description(),
                            wanted == Node::Kind::map ? "keys" : "elements"),
                node.kind == Node::Kind::list ? fmt::format("{}[index]", what) : "",
                node.kind == Node::Kind::list && !node.items.empty()
                    ? fmt::format("did you mean `{}[0].{}`?", what, step.key)
                    : "see `oae-vp keys`"});
    return;
  }

  if (step.kind == Step::Kind::key) {
    const std::string path = where.empty() ? step.key : fmt::format("{}.{}", where, step.key);
    Node* child = node.find(step.key);
    if (child == nullptr) {
      node.entries.push_back({step.key, step.origin, Node{}});
      child = &node.entries.back().value;
    }
    apply(change, depth + 1, *child, path, report);
  } else if (step.kind == Step::Kind::all) {
    for (std::size_t i = 0; i < node.items.size(); ++i)
      apply(change, depth + 1, node.items[i], fmt::format("{}[{}]", where, i), report);
  } else if (step.index < node.items.size()) {
    apply(change, depth + 1, node.items[step.index], fmt::format("{}[{}]", where, step.index),
          report);
  } else {
    const std::size_t count = node.items.size();
    report.add(
        {step.origin, fmt::format("{} has {} element{}", what, count, count == 1 ? "" : "s"),
         count == 0 ? "" : fmt::format("an index from 0 to {}", count - 1),
         fmt::format("to change the number of elements, give all of them: `{}=[{{...}}]`", what)});
  }
}

}  // namespace

Override parse_override(std::string_view assignment) {
  const auto source = argument_source("--set", assignment);
  const std::size_t equals = assignment.find('=');
  if (equals == assignment.npos)
    fail({origin_at(source, assignment.size()), "it has no `=`", "`key=value`",
          "write it like `--set hosts[0].vcpus=2`"});
  const auto place = [&](std::size_t i) { return origin_at(source, i); };
  return {parse_path(assignment.substr(0, equals), place), parse_argument(source, equals + 1)};
}

Override make_override(std::string_view path, Node value) {
  const Origin origin = value.origin;
  return {parse_path(path, [&](std::size_t) { return origin; }), std::move(value)};
}

void apply(const Override& change, Node& root, Report& report) {
  apply(change, 0, root, "", report);
}

}  // namespace vp::config
