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

/// A schema is a table that says what a configuration struct may hold:
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
/// The table serves for reading a file, with all mistakes reported at once, and for the printed
/// reference. The defaults are those of a default-constructed struct, so they stand beside the
/// members only.
namespace vp::config {

/// What is known while a tree is read. It is kept for checks across values.
class Reading {
 public:
  /// File names that begin with neither `/`, `./` nor `../` are looked for in `search`.
  explicit Reading(std::filesystem::path search = {}) : search_(std::move(search)) {}

  const std::filesystem::path& search() const { return search_; }
  Report& report() { return report_; }

  /// Records that the value at `path` (`hosts[0].vcpus`) stands at `origin`.
  void place(const std::string& path, const Origin& origin) { origins_[path] = origin; }
  /// Reports a mistake in the value at `path`, at the place of the value or of what contains it.
  void mistake(const std::string& path, std::string found, std::string accepted,
               std::string remedy = {});
  /// Returns false if a mistake is known in the value at `path`, in a value that contains it, or in
  /// one that it contains. A consequence of that mistake is then not worth a report.
  bool good(const std::string& path) const;
  /// Makes good(`path`) false, if the mistake has been reported in another way.
  void distrust(const std::string& path) { bad_.insert(path); }
  Origin origin(std::string_view path) const;

  /// Records an unknown key of the map at `path`, whose known keys are `keys`.
  void unknown_key(const std::string& path, const Entry& entry,
                   const std::vector<std::string>& keys);
  /// Returns true if an unknown key of the map at `path` was probably meant to be `key`.
  bool misspelt(const std::string& path, const std::string& key) const;
  /// Reports the unknown keys, now that all keys of the schema are known.
  void report_unknown_keys(const std::vector<struct Row>& rows);

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
  std::string fallback;  ///< the default as a user writes it, or empty if a value is required
  std::string text;
};

/// How values of C++ type T are read from a node, described and printed.
template <class T>
struct Type {
  std::string accepts;
  /// Reads the value. If that is impossible, reports why and leaves the value unchanged.
  std::function<void(const Node&, const std::string& path, Reading&, T&)> read;
  std::function<std::string(const T&)> print;
  /// Appends the rows of the keys below. A single value has none.
  std::function<void(const std::string& path, std::vector<Row>&)> rows = [](auto&, auto&) {};
};

/// Checks that the value at `path`, which is good, names one of the parts that are called `names`.
/// If there is no such part, reports that there is no `noun` of that name. `remedy` may be empty.
/// Returns whether there is one.
bool check_name(const std::string& path, const std::string& name, const std::string& noun,
                const std::vector<std::string>& names, Reading& reading,
                const std::string& remedy = {});

/// Reports a node of a wrong kind, and what would be accepted.
void wrong_type(const Node& node, const std::string& path, Reading& reading,
                const std::string& accepts);

// ---- Kinds of values. Each converts to Type<T> for each T that can hold it. ----

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

/// A quantity with its unit. It is kept as a whole number of the smallest unit.
struct Measure {
  const Quantity* quantity;
  std::int64_t low, high;
  std::int64_t step = 1;  ///< the value must be a multiple of this

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

/// A number without a unit, such as `0`, `0.25` or `1e-9`.
Type<double> ratio(double low, double high);

/// Text of at most `longest` bytes, on one line.
Type<std::string> string(std::size_t longest = 4096);

/// A lower-case letter, followed by up to 31 lower-case letters, digits, `-` or `_`.
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

/// A date and time of day in UTC, such as `2026-01-31T12:00:00`, in the years 1970 to 2099. It is
/// kept as seconds since 1970, without leap seconds.
struct Instant {
  std::int64_t seconds = 0;
};
Type<Instant> instant();

/// A file that the configuration names.
struct File {
  std::string text;            ///< as it was written
  std::filesystem::path path;  ///< where it is
  bool found_by_name = false;  ///< it was looked for in the search directory
  Origin origin;               ///< where it was written, for mistakes in the file itself
};
/// The name of an existing file or directory. If it begins with `./` or `../`, it is relative to
/// the platform file, or on the command line to the current directory. If it begins with `/`, it is
/// absolute. Otherwise it is in the searched directory (Reading::search).
Type<File> file();
Type<File> directory();
/// The name of an existing file, or `none`.
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

/// A map whose keys are out of a few words, and whose values are of one kind.
template <class T>
Type<std::map<std::string, T>> map_of(std::vector<std::string> words, Type<T> type);

// ---- Tables ----

enum class Presence { optional, required };
inline constexpr Presence required = Presence::required;

/// One line of the table of a struct S.
template <class S>
class Key {
 public:
  /// The member may be one of a struct from which S is derived.
  template <class T, class Owner, class Kind>
  Key(std::string name, T Owner::*member, const Kind& kind, std::string text,
      Presence presence = Presence::optional);
  /// The value is that to which `at` refers, such as an element of a map.
  template <class T, class Kind>
  Key(std::string name, std::function<T&(S&)> at, const Kind& kind, std::string text,
      Presence presence = Presence::optional);
  /// The key of a struct that is a member of S.
  template <class T, class Owner>
  Key(T Owner::*member, const Key<T>& key);

  std::string name;
  std::string accepts;
  std::string text;
  Presence presence;
  std::function<void(const Node&, const std::string& path, Reading&, S&)> read;
  std::function<std::string(const S&)> print;
  std::function<void(const std::string& path, std::vector<Row>&)> rows;
};

/// The keys of several tables of a struct S, in this order.
template <class S>
std::vector<Key<S>> joined(std::vector<std::vector<Key<S>>> tables) {
  std::vector<Key<S>> keys;
  for (std::vector<Key<S>>& table : tables)
    for (Key<S>& key : table) keys.push_back(std::move(key));
  return keys;
}

/// The keys of a member of S, as keys that stand among those of S.
template <class S, class T, class Owner>
std::vector<Key<S>> keys_of(T Owner::*member, const std::vector<Key<T>>& of_member) {
  std::vector<Key<S>> keys;
  for (const Key<T>& key : of_member) keys.push_back({member, key});
  return keys;
}

/// The table of a struct S, which is a map with only these keys.
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

/// Reads the tree of a file. The report of the reading has the mistakes.
template <class S>
S read(const Struct<S>& schema, const Node& root, Reading& reading);

/// Returns the reference of the keys whose path contains `filter`, as text.
std::string print_reference(const std::vector<Row>& rows, std::string_view filter);

}  // namespace vp::config

#include "vp/config/schema_impl.h"
