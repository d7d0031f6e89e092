// SPDX-License-Identifier: Apache-2.0
#pragma once

// The templates of schema.h, which alone includes this file.

namespace vp::config {

namespace detail {

// The parts that need no type. Each reads a value and returns true, or reports a mistake.
bool read_integer(const Node&, const std::string& path, Reading&, const Integer&, std::int64_t&);
bool read_integer(const Node&, const std::string& path, Reading&, const IntegerChoice&,
                  std::int64_t&);
bool read_measure(const Node&, const std::string& path, Reading&, const Measure&, std::int64_t&);
bool read_measure(const Node&, const std::string& path, Reading&, const SizeChoice&, std::int64_t&);
bool read_word(const Node&, const std::string& path, Reading&,
               const std::vector<std::string>& words, std::size_t&);
bool read_list(const Node&, const std::string& path, Reading&, std::size_t low, std::size_t high,
               const std::string& accepts);
/// Reports the duplicates and the unknown keys of a map. Passes the other entries to `read` with
/// the number of their key.
void read_map(const Node&, const std::string& path, Reading&, const std::vector<std::string>& keys,
              const std::function<void(std::size_t, const Node&, const std::string& path)>& read);

std::string describe(const Integer&);
std::string describe(const IntegerChoice&);
std::string describe(const Measure&);
std::string describe(const SizeChoice&);
std::string describe_list(std::string_view element, std::size_t low, std::size_t high);
std::string describe_words(const std::vector<std::string>& words);
std::string print(const Integer&, std::int64_t);
std::string child(const std::string& path, std::string_view key);

template <class T, class Kind, class Read, class Print>
Type<T> whole_number(const Kind& kind, Read read, Print print) {
  Type<T> type;
  type.accepts = describe(kind);
  type.read = [kind, read](const Node& node, const std::string& path, Reading& reading, T& value) {
    std::int64_t number = 0;
    if (read(node, path, reading, kind, number)) value = static_cast<T>(number);
  };
  type.print = [print](const T& value) { return print(static_cast<std::int64_t>(value)); };
  return type;
}

}  // namespace detail

template <class T>
Integer::operator Type<T>() const {
  return detail::whole_number<T>(
      *this, [](auto&&... all) { return detail::read_integer(all...); },
      [kind = *this](std::int64_t value) { return detail::print(kind, value); });
}

template <class T>
IntegerChoice::operator Type<T>() const {
  return detail::whole_number<T>(
      *this, [](auto&&... all) { return detail::read_integer(all...); },
      [](std::int64_t value) { return std::to_string(value); });
}

template <class T>
Measure::operator Type<T>() const {
  return detail::whole_number<T>(
      *this, [](auto&&... all) { return detail::read_measure(all...); },
      [quantity = quantity](std::int64_t value) { return quantity->print(value); });
}

template <class T>
SizeChoice::operator Type<T>() const {
  return detail::whole_number<T>(
      *this, [](auto&&... all) { return detail::read_measure(all...); },
      [](std::int64_t value) { return size_quantity().print(value); });
}

template <class T>
Type<T> choice(std::vector<std::pair<std::string, T>> values) {
  std::vector<std::string> words;
  for (const auto& [word, value] : values) words.push_back(word);
  Type<T> type;
  type.accepts = detail::describe_words(words);
  type.read = [values, words](const Node& node, const std::string& path, Reading& reading,
                              T& value) {
    std::size_t i = 0;
    if (detail::read_word(node, path, reading, words, i)) value = values[i].second;
  };
  type.print = [values](const T& value) {
    for (const auto& [word, each] : values)
      if (each == value) return word;
    return std::string();
  };
  return type;
}

template <class Kind>
template <class T>
List<Kind>::operator Type<std::vector<T>>() const {
  const Type<T> element = kind;
  Type<std::vector<T>> type;
  type.accepts = detail::describe_list(element.accepts, low, high);
  type.read = [element, low = low, high = high, accepts = type.accepts](
                  const Node& node, const std::string& path, Reading& reading,
                  std::vector<T>& value) {
    if (!detail::read_list(node, path, reading, low, high, accepts)) return;
    value.assign(node.items.size(), T{});
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const std::string at = path + "[" + std::to_string(i) + "]";
      reading.place(at, node.items[i].origin);
      element.read(node.items[i], at, reading, value[i]);
    }
  };
  type.print = [element](const std::vector<T>& value) {
    std::string text;
    for (const T& each : value) text += (text.empty() ? "" : ", ") + element.print(each);
    return "[" + text + "]";
  };
  type.rows = [element](const std::string& path, std::vector<Row>& rows) {
    element.rows(path + "[]", rows);
  };
  return type;
}

template <class T>
Type<std::map<std::string, T>> map_of(std::vector<std::string> words, Type<T> element) {
  Type<std::map<std::string, T>> type;
  type.accepts = "a map";
  type.read = [words, element](const Node& node, const std::string& path, Reading& reading,
                               std::map<std::string, T>& value) {
    detail::read_map(node, path, reading, words,
                     [&](std::size_t key, const Node& child, const std::string& at) {
                       element.read(child, at, reading, value[words[key]]);
                     });
  };
  type.print = [element](const std::map<std::string, T>& value) {
    std::string text;
    for (const auto& [key, each] : value)
      text += (text.empty() ? "" : ", ") + key + ": " + element.print(each);
    return "{" + text + "}";
  };
  type.rows = [words, element](const std::string& path, std::vector<Row>& rows) {
    for (const std::string& word : words)
      rows.push_back({detail::child(path, word), element.accepts, "not set", ""});
  };
  return type;
}

template <class S>
template <class T, class Owner, class Kind>
Key<S>::Key(std::string name_, T Owner::*of_owner, const Kind& kind, std::string text_,
            Presence presence_)
    : name(std::move(name_)), text(std::move(text_)), presence(presence_) {
  const Type<T> type = kind;
  T S::*const member = of_owner;
  accepts = type.accepts;
  read = [type, member](const Node& node, const std::string& path, Reading& reading, S& value) {
    type.read(node, path, reading, value.*member);
  };
  print = [type, member](const S& value) {
    return type.print ? type.print(value.*member) : std::string();
  };
  rows = type.rows;
}

template <class S>
template <class T, class Kind>
Key<S>::Key(std::string name_, std::function<T&(S&)> at, const Kind& kind, std::string text_,
            Presence presence_)
    : name(std::move(name_)), text(std::move(text_)), presence(presence_) {
  const Type<T> type = kind;
  accepts = type.accepts;
  read = [type, at](const Node& node, const std::string& path, Reading& reading, S& value) {
    type.read(node, path, reading, at(value));
  };
  print = [type, at](const S& value) {
    S copy = value;
    return type.print ? type.print(at(copy)) : std::string();
  };
  rows = type.rows;
}

template <class S>
template <class T, class Owner>
Key<S>::Key(T Owner::*of_owner, const Key<T>& key)
    : name(key.name), accepts(key.accepts), text(key.text), presence(key.presence), rows(key.rows) {
  T S::*const member = of_owner;
  read = [read = key.read, member](const Node& node, const std::string& path, Reading& reading,
                                   S& value) { read(node, path, reading, value.*member); };
  print = [print = key.print, member](const S& value) { return print(value.*member); };
}

template <class S>
void Struct<S>::read(const Node& node, const std::string& path, Reading& reading, S& value) const {
  std::vector<std::string> names;
  for (const Key<S>& key : keys_) names.push_back(key.name);
  std::vector<bool> seen(keys_.size(), false);
  detail::read_map(node, path, reading, names,
                   [&](std::size_t key, const Node& child, const std::string& at) {
                     seen[key] = true;
                     keys_[key].read(child, at, reading, value);
                   });
  if (node.kind != Node::Kind::map) return;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (keys_[i].presence != required || seen[i]) continue;
    const std::string at = detail::child(path, keys_[i].name);
    if (reading.misspelt(path, keys_[i].name))
      reading.distrust(at);
    else
      reading.mistake(at,
                      shown(keys_[i].name) + " is missing" + (path.empty() ? "" : " in " + path),
                      keys_[i].accepts, "add `" + keys_[i].name + ": ...`: " + keys_[i].text);
  }
}

template <class S>
void Struct<S>::rows(const std::string& path, std::vector<Row>& rows) const {
  const S defaults{};
  for (const Key<S>& key : keys_) {
    const std::string at = detail::child(path, key.name);
    rows.push_back({at, key.accepts, key.presence == required ? std::string() : key.print(defaults),
                    key.text});
    key.rows(at, rows);
  }
}

template <class S>
Struct<S>::operator Type<S>() const {
  Type<S> type;
  type.accepts = "a map";
  type.read = [self = *this](const Node& node, const std::string& path, Reading& reading,
                             S& value) { self.read(node, path, reading, value); };
  type.print = [](const S&) { return std::string("as of its keys"); };
  type.rows = [self = *this](const std::string& path, std::vector<Row>& rows) {
    self.rows(path, rows);
  };
  return type;
}

template <class S>
S read(const Struct<S>& schema, const Node& root, Reading& reading) {
  S value{};
  reading.place("", root.origin);
  schema.read(root, "", reading, value);
  reading.report_unknown_keys(reference(schema));
  return value;
}

}  // namespace vp::config
