// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vp/config/node.h"
#include "vp/config/report.h"
#include "vp/config/units.h"

/// A schema says once, as a table, what a configuration struct may hold:
///
///     const Struct<Link>& link_schema() {
///       static const Struct<Link> schema({
///           {"name", &Link::name, name(), "What it is called", required},
///           {"lanes", &Link::lanes, one_of({1, 2, 4, 8, 16}), "Width"},
///           {"latency", &Link::latency, duration(1'000, 10'000'000), "One way"},
///       });
///       return schema;
///     }
///
/// From it come the reading of a file, with all mistakes told at once, and the printed reference.
/// Defaults are those of a default-constructed struct, so they too stand once, beside the members.
namespace vp::config {

/// What is known while a tree is read, and kept for checks across values.
class Reading {
 public:
  /// Names of files that begin with neither `/`, `./` nor `../` are looked for in `search`.
  explicit Reading(std::filesystem::path search = {}) : search_(std::move(search)) {}

  const std::filesystem::path& search() const { return search_; }
  Report& report() { return report_; }

  /// A value at `path` (`hosts[0].vcpus`) stands at `origin`.
  void place(const std::string& path, const Origin& origin) { origins_[path] = origin; }
  /// Reports a mistake in the value at `path`, at its place or that of what it is in.
  void mistake(const std::string& path, std::string found, std::string accepted,
               std::string remedy = {});
  /// False if the value at `path`, or one it is in, or one in it, is known to be mistaken: a
  /// consequence would only distract.
  bool good(const std::string& path) const;
  /// Makes the value at `path` not good, where the mistake has been told in other words.
  void distrust(const std::string& path) { bad_.insert(path); }
  Origin origin(std::string_view path) const;

  /// A key that the map at `path` does not have; it has `keys`.
  void unknown_key(const std::string& path, const Entry& entry,
                   const std::vector<std::string>& keys);
  /// True if an unknown key of the map at `path` was likely meant to be `key`.
  bool misspelt(const std::string& path, const std::string& key) const;
  /// Reports the unknown keys, now that all keys of the schema are known.
  void tell_unknown_keys(const std::vector<struct Row>& rows);

 private:
  struct UnknownKey {
    std::string path, key;
    Origin origin;
    std::vector<std::string> keys;
    std::string meant;
  };

  std::filesystem::path search_;
  Report report_;
  std::map<std::string, Origin, std::less<>> origins_;
  std::set<std::string> bad_;
  std::vector<UnknownKey> unknown_;
  std::size_t more_unknown_ = 0;
};

/// One line of the printed reference.
struct Row {
  std::string path;      ///< `hosts[].vcpus`
  std::string accepts;   ///< `an integer from 1 to 16`
  std::string fallback;  ///< the default as one writes it, or empty where a value is required
  std::string text;
};

/// How values of C++ type T are read from a node, described and printed.
template <class T>
struct Type {
  std::string accepts;
  /// Reads into the value, or reports why not and leaves it as it is.
  std::function<void(const Node&, const std::string& path, Reading&, T&)> read;
  std::function<std::string(const T&)> print;
  /// Appends the rows of the keys below; none for a single value.
  std::function<void(const std::string& path, std::vector<Row>&)> rows = [](auto&, auto&) {};
};

/// Reports the node as found where something else would be accepted.
void wrong_type(const Node& node, const std::string& path, Reading& reading,
                const std::string& accepts);

// ---- Kinds of values: each converts to Type<T> for the T it can be kept in. ----

/// A whole number, decimal or `0x` hexadecimal.
struct Integer {
  std::int64_t low, high;
  bool hexadecimal = false;  ///< how it is printed

  template <class T>
  operator Type<T>() const;
};
inline Integer integer(std::int64_t low, std::int64_t high) {
  return {low, high};
}
inline Integer hexadecimal(std::int64_t low, std::int64_t high) {
  return {low, high, true};
}

/// One of a few whole numbers.
struct IntegerChoice {
  std::vector<std::int64_t> values;

  template <class T>
  operator Type<T>() const;
};
inline IntegerChoice one_of(std::vector<std::int64_t> values) {
  return {std::move(values)};
}

/// A quantity with its unit, kept in whole numbers of the smallest unit.
struct Measure {
  const Quantity* quantity;
  std::int64_t low, high;
  std::int64_t step = 1;  ///< the value must be a multiple of it

  template <class T>
  operator Type<T>() const;
};
inline Measure duration(std::int64_t low, std::int64_t high) {
  return {&duration_quantity(), low, high};
}
inline Measure size(std::int64_t low, std::int64_t high, std::int64_t step = 1) {
  return {&size_quantity(), low, high, step};
}
inline Measure frequency(std::int64_t low, std::int64_t high) {
  return {&frequency_quantity(), low, high};
}
inline Measure bit_rate(std::int64_t low, std::int64_t high) {
  return {&bit_rate_quantity(), low, high};
}
inline Measure instruction_rate(std::int64_t low, std::int64_t high) {
  return {&instruction_rate_quantity(), low, high};
}

/// One of a few sizes, such as powers of two.
struct SizeChoice {
  std::vector<std::int64_t> values;  ///< bytes

  template <class T>
  operator Type<T>() const;
};
inline SizeChoice size_of(std::vector<std::int64_t> values) {
  return {std::move(values)};
}

/// `true` or `false`.
Type<bool> boolean();

/// A number without a unit, as `0`, `0.25` or `1e-9`.
Type<double> ratio(double low, double high);

/// Text of at most `longest` bytes, on one line.
Type<std::string> string(std::size_t longest = 4096);

/// A lower-case letter, then lower-case letters, digits, `-` or `_`; 32 at most.
Type<std::string> name();

/// One of a few words that stand for values of an enumeration, or for themselves.
template <class T>
Type<T> choice(std::vector<std::pair<std::string, T>> values);
Type<std::string> word(std::vector<std::string> words);

/// The ids of a PCI function, `vendor:device`, four hexadecimal digits each.
struct PciId {
  std::uint16_t vendor = 0;
  std::uint16_t device = 0;
  bool operator==(const PciId& other) const {
    return vendor == other.vendor && device == other.device;
  }
};
Type<PciId> pci_id();

/// A date and time of day in UTC, `2026-01-31T12:00:00`, kept as seconds since 1970, leap seconds
/// not counted; years 1970 to 2099.
struct Instant {
  std::int64_t seconds = 0;
};
Type<Instant> instant();

/// A file that the configuration names.
struct File {
  std::string text;            ///< as it was written
  std::filesystem::path path;  ///< where that is
  bool found_by_name = false;  ///< it was looked for in the search directory
  Origin origin;               ///< where it was written, for mistakes in the file itself
};
/// The name of an existing file, or of an existing directory: relative to the platform file (on the
/// command line, to the current directory) if it begins with `./` or `../`, absolute if with `/`,
/// else in the directory searched (Reading::search).
Type<File> file();
Type<File> directory();
/// The same, or `none`.
Type<std::optional<File>> optional_file();

/// A list of `low` to `high` values of one kind.
template <class Kind>
struct List {
  Kind kind;
  std::size_t low, high;

  template <class T>
  operator Type<std::vector<T>>() const;
};
template <class Kind>
List<Kind> list(Kind kind, std::size_t low, std::size_t high) {
  return {std::move(kind), low, high};
}

/// A map whose keys are some of a few words, and whose values are of one kind.
template <class T>
Type<std::map<std::string, T>> map_of(std::vector<std::string> words, Type<T> type);

// ---- Tables ----

enum class Presence { optional, required };
inline constexpr Presence required = Presence::required;

/// One line of the table of a struct S.
template <class S>
class Key {
 public:
  template <class T, class Kind>
  Key(std::string name, T S::*member, const Kind& kind, std::string text,
      Presence presence = Presence::optional);

  std::string name;
  std::string accepts;
  std::string text;
  Presence presence;
  std::function<void(const Node&, const std::string& path, Reading&, S&)> read;
  std::function<std::string(const S&)> print;
  std::function<void(const std::string& path, std::vector<Row>&)> rows;
};

/// The table of a struct S: a map with these keys and no others.
template <class S>
class Struct {
 public:
  explicit Struct(std::vector<Key<S>> keys) : keys_(std::move(keys)) {}

  void read(const Node& node, const std::string& path, Reading& reading, S& value) const;
  void rows(const std::string& path, std::vector<Row>& rows) const;

  operator Type<S>() const;

 private:
  std::vector<Key<S>> keys_;
};

/// The reference of a whole schema, in the order of its tables.
template <class S>
std::vector<Row> reference(const Struct<S>& schema) {
  std::vector<Row> rows;
  schema.rows("", rows);
  return rows;
}

/// Reads the tree of a file. Mistakes are in the reading's report.
template <class S>
S read(const Struct<S>& schema, const Node& root, Reading& reading);

/// The reference as text, those keys that hold `filter` in their path.
std::string print_reference(const std::vector<Row>& rows, std::string_view filter);

}  // namespace vp::config

#include "vp/config/schema_impl.h"
