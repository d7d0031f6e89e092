// SPDX-License-Identifier: Apache-2.0
#include "vp/config/node.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "vp/config/report.h"

namespace vp::config {

namespace {

/// Returns a remedy for a message of the parser, in words that a user knows.
std::string syntax_remedy(std::string_view message) {
  struct Hint {
    std::string_view message, remedy;
  };
  static constexpr Hint hints[] = {
      {"illegal map value", "write one `key: value` a line; put a value that holds `: ` in quotes"},
      {"end of map not found", "check the indentation of this line against the lines above it"},
      {"end of sequence not found",
       "check the indentation of this line against the lines above it"},
      {"end of map flow not found", "close the `{` with a `}`"},
      {"end of sequence flow not found", "close the `[` with a `]`"},
      {"illegal flow end", "remove the bracket, or open one before it"},
      {"illegal block entry", "begin the list on a line of its own"},
      {"unknown token", "put a value that begins with this character in quotes"},
      {"illegal EOF in scalar", "close the quote"},
      {"illegal document indicator in scalar", "close the quote"},
      {"unknown escape character", "write a backslash in double quotes twice"},
      {"bad file", "nest less deeply, and close every bracket"},
  };
  for (const Hint& hint : hints)
    if (message.substr(0, hint.message.size()) == hint.message) return std::string(hint.remedy);
  return "compare the line with one of the platform files that come with the program";
}

/// Builds the tree from the events of the parser, so that every value keeps its place.
class Builder : public YAML::EventHandler {
 public:
  /// Byte `skipped` of the parser's text is byte `offset` of the source.
  Builder(const std::shared_ptr<const Source>& source, std::size_t offset, std::size_t skipped)
      : source_(source), offset_(offset), skipped_(skipped) {}

  Node root() { return std::move(root_); }
  unsigned documents() const { return documents_; }

  Origin place(const YAML::Mark& mark) const {
    return mark.is_null() ? Origin{source_, 0, 0} : place(offset_of(mark));
  }

 private:
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1)
      fail({place(mark), "a second document begins", "one document in a file",
            "remove the line `---` and what follows, or make it a file of its own"});
  }
  void OnDocumentEnd() override {}
  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    fail({place(mark), fmt::format("anchor {}", shown("&" + name)), "plain values",
          "write the value out where it is needed; put text that begins with `&` in quotes"});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail({place(mark), "an alias (`*name`)", "plain values",
          "write the value out; put text that begins with `*` in quotes"});
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    Node node;
    // The parser marks a missing value at what follows it. The place of its key, or of what stands
    // before it, is nearer.
    if (!open_.empty() && open_.back().has_key)
      node.origin = open_.back().key_origin;
    else
      node.origin = place(before(offset_of(mark)));
    if (!open_.empty() && open_.back().node.kind == Node::Kind::map && !open_.back().has_key)
      fail({place(mark), "a key is empty", "a key in plain text", "write `key: value`"});
    add(std::move(node));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    check_tag(mark, tag);
    Node node;
    node.kind = Node::Kind::scalar;
    node.origin = place(mark);
    node.text = value;
    node.quoted = tag == "!";
    if (node.quoted) check_quote(mark);
    Frame* map =
        open_.empty() || open_.back().node.kind != Node::Kind::map ? nullptr : &open_.back();
    if (map && !map->has_key) {
      map->has_key = true;
      map->key = value;
      map->key_origin = node.origin;
      return;
    }
    add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::list, mark, tag);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::map, mark, tag);
  }
  void OnMapEnd() override { close(); }

  std::size_t offset_of(const YAML::Mark& mark) const {
    const std::size_t position = static_cast<std::size_t>(mark.pos);
    return offset_ + (position > skipped_ ? position - skipped_ : 0);
  }

  /// Does the same as origin_at(), and continues to count at the previous place.
  Origin place(std::size_t offset) const {
    offset = std::min(offset, source_->text.size());
    if (offset < counted_.offset) counted_ = {};
    for (; counted_.offset < offset; ++counted_.offset) {
      const char c = source_->text[counted_.offset];
      if (c == '\n') {
        ++counted_.line;
        counted_.column = 1;
      } else if ((c & 0xc0) != 0x80) {
        ++counted_.column;
      }
    }
    return {source_, counted_.line, counted_.column};
  }

  /// Returns the last character before `offset` that is not a space.
  std::size_t before(std::size_t offset) const {
    const std::string& text = source_->text;
    offset = std::min(offset, text.size());
    while (offset > 0 && std::isspace(static_cast<unsigned char>(text[offset - 1]))) --offset;
    return offset == 0 ? 0 : offset - 1;
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!")
      fail({place(mark), fmt::format("tag {}", shown(tag)), "plain values",
            "remove the tag; put text that begins with `!` in quotes"});
  }

  /// Reports a quote that is never closed, since the parser accepts the end of the file in its
  /// place.
  void check_quote(const YAML::Mark& mark) const {
    const std::string& text = source_->text;
    std::size_t i = offset_of(mark);
    if (i >= text.size() || (text[i] != '"' && text[i] != '\'')) return;  // a block scalar
    const char quote = text[i];
    for (++i; i < text.size(); ++i) {
      if (quote == '"' && text[i] == '\\') {
        ++i;
      } else if (text[i] == quote) {
        if (quote == '"' || i + 1 >= text.size() || text[i + 1] != '\'') return;
        ++i;
      }
    }
    fail({place(mark), "a quote is never closed", "a string in quotes", "close the quote"});
  }

  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag) {
    check_tag(mark, tag);
    if (!open_.empty() && open_.back().node.kind == Node::Kind::map && !open_.back().has_key)
      fail({place(mark), "a list or a map as a key", "a key in plain text",
            "close every bracket; put a key that begins with one in quotes"});
    if (open_.size() == max_depth)
      fail({place(mark), "the nesting is too deep", fmt::format("{} levels at most", max_depth),
            "nest less deeply"});
    open_.emplace_back();
    open_.back().node.kind = kind;
    open_.back().node.origin = place(mark);
  }

  void close() {
    Node node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }

  void add(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& parent = open_.back();
    if (parent.node.kind == Node::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else {
      parent.node.entries.push_back(
          {std::move(parent.key), std::move(parent.key_origin), std::move(node)});
      parent.has_key = false;
    }
  }

  struct Frame {
    Node node;
    bool has_key = false;
    std::string key;
    Origin key_origin;
  };

  std::shared_ptr<const Source> source_;
  std::size_t offset_, skipped_;
  mutable struct {
    std::size_t offset = 0;
    unsigned line = 1, column = 1;
  } counted_;
  std::vector<Frame> open_;
  Node root_;
  unsigned documents_ = 0;
};

void check_indentation(const std::shared_ptr<const Source>& source) {
  Report report;
  const std::string& text = source->text;
  unsigned line = 1;
  for (std::size_t start = 0; start < text.size(); ++line) {
    std::size_t end = text.find('\n', start);
    if (end == text.npos) end = text.size();
    const std::size_t first = text.find_first_not_of(' ', start);
    if (first < end && text[first] == '\t' && text.find_first_not_of(" \t\r\n", first) < end)
      report.add({{source, line, static_cast<unsigned>(first - start) + 1},
                  "a tab indents a line",
                  "spaces",
                  "replace each tab by spaces"});
    start = end + 1;
  }
  report.check();
}

Node parse(const std::shared_ptr<const Source>& source, std::size_t offset,
           std::string_view prefix = {}) {
  // The parser reports an open bracket or quote more clearly at the end of a line than at that of a
  // file.
  std::istringstream stream(std::string(prefix) + source->text.substr(offset) + "\n");
  Builder builder(source, offset, prefix.size());
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    fail({builder.place(error.mark), fmt::format("this is not valid YAML: {}", error.msg), "",
          syntax_remedy(error.msg)});
  }
  Node root = builder.root();
  if (builder.documents() == 0 || root.kind == Node::Kind::null)
    fail({Origin{source, 0, 0}, "the file is empty", "", ""});
  return root;
}

}  // namespace

Node* Node::find(std::string_view key) {
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)
    if (entry->key == key) return &entry->value;
  return nullptr;
}

std::string Node::description() const {
  switch (kind) {
    case Kind::null:
      return "nothing";
    case Kind::scalar:
      return shown(text);
    case Kind::list:
      return "a list";
    case Kind::map:
      return "a map";
  }
  return {};
}

Node parse_yaml(const std::shared_ptr<const Source>& source) {
  check_indentation(source);
  return parse(source, 0);
}

Node parse_argument(const std::shared_ptr<const Source>& source, std::size_t offset) {
  const std::string_view text = std::string_view(source->text).substr(offset);
  if (!text.empty() && std::string_view("[{\"'").find(text.front()) != std::string_view::npos) {
    Node root = parse(source, offset, "value: ");
    if (root.entries.size() == 1) return std::move(root.entries[0].value);
    fail({origin_at(source, offset), "more than one value", "one value", "write it on one line"});
  }
  Node node;
  node.kind = Node::Kind::scalar;
  node.origin = origin_at(source, offset);
  node.text = std::string(text);
  return node;
}

}  // namespace vp::config
