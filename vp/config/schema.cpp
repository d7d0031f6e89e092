// SPDX-License-Identifier: Apache-2.0
#include "vp/config/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <system_error>

namespace vp::config {

namespace fs = std::filesystem;

namespace {

bool begins(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

/// Returns true if one of the paths is equal to the other or lies in it.
bool related(std::string_view a, std::string_view b) {
  const std::string_view shorter = a.size() < b.size() ? a : b;
  const std::string_view longer = a.size() < b.size() ? b : a;
  if (shorter.empty()) return longer.empty();
  if (!begins(longer, shorter)) return false;
  return longer.size() == shorter.size() || longer[shorter.size()] == '.' ||
         longer[shorter.size()] == '[';
}

/// Reads a scalar of a kind that is written as text, with or without quotes.
bool read_text(const Node& node, const std::string& path, Reading& reading,
               const std::string& accepts, std::string& text) {
  if (node.kind != Node::Kind::scalar) {
    wrong_type(node, path, reading, accepts);
    return false;
  }
  text = node.text;
  return true;
}

/// Parses decimal or hexadecimal digits. Returns false if the text is not a number or does not fit.
bool parse_integer(std::string_view text, std::int64_t& value) {
  const bool negative = begins(text, "-");
  if (negative) text.remove_prefix(1);
  const bool hex = begins(text, "0x");
  if (hex) text.remove_prefix(2);
  const unsigned base = hex ? 16 : 10;
  if (text.empty()) return false;
  value = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (hex ? !std::isxdigit(byte) : !std::isdigit(byte)) return false;
    const int digit = std::isdigit(byte) ? c - '0' : std::tolower(byte) - 'a' + 10;
    if (__builtin_mul_overflow(value, static_cast<std::int64_t>(base), &value) ||
        __builtin_add_overflow(value, static_cast<std::int64_t>(digit), &value))
      return false;
  }
  if (negative) value = -value;
  return true;
}

/// Reads a plain scalar as a whole number.
bool read_number(const Node& node, const std::string& path, Reading& reading,
                 const std::string& accepts, std::int64_t& value) {
  if (node.kind != Node::Kind::scalar) {
    wrong_type(node, path, reading, accepts);
    return false;
  }
  const std::string& text = node.text;
  if (node.quoted) {
    reading.mistake(path, fmt::format("the string {}", shown(text)), accepts, "remove the quotes");
    return false;
  }
  // Some readers of YAML take a number with a leading zero as octal, others as decimal.
  if (text.size() > 1 && text[0] == '0' && std::isdigit(static_cast<unsigned char>(text[1]))) {
    reading.mistake(path, fmt::format("{} begins with a zero", shown(text)), accepts,
                    "write the number without leading zeros");
    return false;
  }
  if (!parse_integer(text, value)) {
    const bool digits = text.find_first_not_of("0123456789") == text.npos && !text.empty();
    reading.mistake(path,
                    digits ? fmt::format("{} is too large", shown(text))
                           : fmt::format("{} is not a whole number", shown(text)),
                    accepts);
    return false;
  }
  return true;
}

std::string join(const std::vector<std::int64_t>& values,
                 const std::function<std::string(std::int64_t)>& print) {
  std::vector<std::string> names;
  for (const std::int64_t value : values) names.push_back(print(value));
  return alternatives(names);
}

/// Returns a remedy such as `write 2 or 4`: the values around one that is not accepted.
std::string nearest_values(std::int64_t value, std::vector<std::int64_t> values,
                           const std::function<std::string(std::int64_t)>& print) {
  std::sort(values.begin(), values.end());
  std::vector<std::int64_t> near;
  const auto above = std::upper_bound(values.begin(), values.end(), value);
  if (above != values.begin()) near.push_back(*std::prev(above));
  if (above != values.end()) near.push_back(*above);
  return "write " + join(near, print);
}

/// Reads the name of a file or directory.
bool read_file(const Node& node, const std::string& path, Reading& reading, bool directory,
               const std::string& accepts, File& file) {
  std::string text;
  if (!read_text(node, path, reading, accepts, text)) return false;
  const auto refuse = [&](std::string found, std::string remedy) {
    reading.mistake(path, std::move(found), accepts, std::move(remedy));
    return false;
  };
  if (text.empty()) return refuse("the name is empty", "write the name of a file");
  if (text.find('\0') != text.npos) return refuse(shown(text) + " is not a file name", "");

  File result{text, text, false, node.origin};
  if (begins(text, "./") || begins(text, "../")) {
    result.path = node.origin.source->directory / text;
  } else if (!begins(text, "/")) {
    result.path = reading.search() / text;
    result.found_by_name = true;
  }
  result.path = result.path.lexically_normal();

  std::error_code error;
  const fs::file_status status = fs::status(result.path, error);
  const std::string show = shown(result.path.string());
  if (!fs::exists(status)) {
    std::string remedy = "check the name";
    if (result.found_by_name) {
      std::vector<std::string> names;
      std::error_code ignored;
      for (fs::directory_iterator each(reading.search(), ignored), end; !ignored && each != end;
           each.increment(ignored))
        names.push_back(each->path().filename().string());
      std::sort(names.begin(), names.end());
      const std::string meant = nearest(text, names);
      remedy = meant.empty()
                   ? "run scripts/setup, or scripts/guest for the disk of a guest, or name another "
                     "directory by --images; a file of your own begins with `./`, `../` or `/`"
                   : fmt::format("did you mean {}?", shown(meant));
    }
    return refuse(fmt::format("there is no {}", show), remedy);
  }
  if (directory && status.type() != fs::file_type::directory)
    return refuse(show + " is not a directory", "");
  if (!directory && status.type() == fs::file_type::directory)
    return refuse(show + " is a directory", "name a file in it");
  if (!directory && status.type() != fs::file_type::regular)
    return refuse(show + " is not a regular file", "");
  file = result;
  return true;
}

Type<File> file_type(bool directory) {
  Type<File> type;
  type.accepts = directory ? "an existing directory" : "an existing file";
  type.read = [directory, accepts = type.accepts](const Node& node, const std::string& path,
                                                  Reading& reading, File& value) {
    read_file(node, path, reading, directory, accepts, value);
  };
  type.print = [](const File& file) { return file.text; };
  return type;
}

/// Returns the days from 1970-01-01 to a date of the Gregorian calendar.
std::int64_t days_since_1970(int year, int month, int day) {
  const auto leaps = [](std::int64_t y) { return y / 4 - y / 100 + y / 400; };
  static constexpr int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return (year - 1970) * 365LL + leaps(year - 1) - leaps(1969) + before[month - 1] +
         (leap && month > 2 ? 1 : 0) + day - 1;
}

bool parse_instant(std::string_view text, std::int64_t& seconds) {
  static constexpr std::string_view form = "dddd-dd-ddTdd:dd:dd";
  if (text.size() != form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i)
    if (form[i] == 'd' ? !std::isdigit(static_cast<unsigned char>(text[i])) : text[i] != form[i])
      return false;
  const auto number = [&](std::size_t at, std::size_t length) {
    int value = 0;
    for (const char c : text.substr(at, length)) value = value * 10 + (c - '0');
    return value;
  };
  const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
  const int hour = number(11, 2), minute = number(14, 2), second = number(17, 2);
  if (year < 1970 || year > 2099 || month < 1 || month > 12 || day < 1) return false;
  const int next_month = month == 12 ? 1 : month + 1;
  const std::int64_t first = days_since_1970(year, month, 1);
  const std::int64_t end = days_since_1970(month == 12 ? year + 1 : year, next_month, 1);
  if (day > end - first || hour > 23 || minute > 59 || second > 59) return false;
  seconds = (first + day - 1) * 86'400 + hour * 3'600 + minute * 60 + second;
  return true;
}

std::string print_instant(std::int64_t seconds) {
  std::int64_t days = seconds / 86'400;
  const std::int64_t rest = seconds % 86'400;
  int year = 1970, month = 1;
  while (days_since_1970(year + 1, 1, 1) <= days) ++year;
  while (month < 12 && days_since_1970(year, month + 1, 1) <= days) ++month;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", year, month,
                     days - days_since_1970(year, month, 1) + 1, rest / 3'600, rest / 60 % 60,
                     rest % 60);
}

}  // namespace

Origin Reading::origin(std::string_view path) const {
  for (;;) {
    const auto place = origins_.find(path);
    if (place != origins_.end()) return place->second;
    if (path.empty()) return {};
    const std::size_t end = path.find_last_of(".[");
    path = path.substr(0, end == path.npos ? 0 : end);
  }
}

void Reading::mistake(const std::string& path, std::string found, std::string accepted,
                      std::string remedy) {
  bad_.insert(path);
  report_.add({origin(path), path.empty() ? std::move(found) : fmt::format("{}: {}", path, found),
               std::move(accepted), std::move(remedy)});
}

bool Reading::good(const std::string& path) const {
  return std::none_of(bad_.begin(), bad_.end(),
                      [&](const std::string& bad) { return related(bad, path); });
}

void Reading::unknown_key(const std::string& path, const Entry& entry,
                          const std::vector<std::string>& keys) {
  // The report has the same limit.
  if (unknown_.size() == Report::limit)
    ++more_unknown_;
  else
    unknown_.push_back({path, entry.key, entry.origin, keys, nearest(entry.key, keys)});
}

bool Reading::misspelt(const std::string& path, const std::string& key) const {
  return std::any_of(unknown_.begin(), unknown_.end(), [&](const UnknownKey& unknown) {
    return unknown.path == path && unknown.meant == key;
  });
}

void Reading::report_unknown_keys(const std::vector<Row>& rows) {
  for (const UnknownKey& unknown : unknown_) {
    std::string remedy;
    if (!unknown.meant.empty()) {
      remedy = fmt::format("did you mean {}?", shown(unknown.meant));
    } else {
      const std::string tail = "." + unknown.key;
      for (const Row& row : rows)
        if (remedy.empty() && ("." + row.path).size() >= tail.size() &&
            ("." + row.path).substr(row.path.size() + 1 - tail.size()) == tail)
          remedy = fmt::format("the key is {}", shown(row.path));
      if (remedy.empty()) remedy = "remove it; `oae-vp keys` prints all keys";
    }
    const std::string where = unknown.path.empty() ? "" : " in " + unknown.path;
    report_.add({unknown.origin, fmt::format("unknown key {}{}", shown(unknown.key), where),
                 alternatives(unknown.keys), remedy});
  }
  report_.omit(more_unknown_);
}

bool check_name(const std::string& path, const std::string& name, const std::string& noun,
                const std::vector<std::string>& names, Reading& reading,
                const std::string& remedy) {
  if (!reading.good(path)) return false;
  if (std::count(names.begin(), names.end(), name) != 0) return true;
  const std::string meant = nearest(name, names);
  reading.mistake(path, fmt::format("there is no {} {}", noun, shown(name)), alternatives(names),
                  !remedy.empty()  ? remedy
                  : !meant.empty() ? fmt::format("did you mean {}?", shown(meant))
                                   : "");
  return false;
}

void wrong_type(const Node& node, const std::string& path, Reading& reading,
                const std::string& accepts) {
  reading.mistake(
      path, "found " + node.description(), accepts,
      node.kind == Node::Kind::null ? "write a value after the key, or remove the key" : "");
}

Type<bool> boolean() {
  Type<bool> type;
  type.accepts = "true or false";
  type.read = [accepts = type.accepts](const Node& node, const std::string& path, Reading& reading,
                                       bool& value) {
    if (node.kind != Node::Kind::scalar) return wrong_type(node, path, reading, accepts);
    std::string word;
    for (const char c : node.text)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (node.text == "true" && !node.quoted) {
      value = true;
    } else if (node.text == "false" && !node.quoted) {
      value = false;
    } else {
      const bool yes = word == "yes" || word == "on" || word == "1" || word == "true";
      const bool no = word == "no" || word == "off" || word == "0" || word == "false";
      reading.mistake(path, (node.quoted ? "found the string " : "found ") + shown(node.text),
                      accepts,
                      yes  ? "write `true`"
                      : no ? "write `false`"
                           : "");
    }
  };
  type.print = [](bool value) { return std::string(value ? "true" : "false"); };
  return type;
}

Type<double> ratio(double low, double high) {
  Type<double> type;
  type.accepts = fmt::format("a number from {} to {}", low, high);
  type.read = [accepts = type.accepts, low, high](const Node& node, const std::string& path,
                                                  Reading& reading, double& value) {
    if (node.kind != Node::Kind::scalar) return wrong_type(node, path, reading, accepts);
    const std::string& text = node.text;
    if (node.quoted) {
      return reading.mistake(path, fmt::format("the string {}", shown(text)), accepts,
                             "remove the quotes");
    }
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || rest != end || !std::isfinite(number)) {
      return reading.mistake(path, fmt::format("{} is not a number", shown(text)), accepts,
                             "write it as `0.5` or `1e-9`");
    }
    if (number < low || number > high) {
      return reading.mistake(path, "found " + shown(text), accepts,
                             number < low ? fmt::format("write {} or more", low)
                                          : fmt::format("write {} or less", high));
    }
    value = number;
  };
  type.print = [](double value) { return fmt::format("{}", value); };
  return type;
}

Type<std::string> string(std::size_t longest) {
  Type<std::string> type;
  type.accepts = fmt::format("text on one line, of at most {} bytes", longest);
  type.read = [longest, accepts = type.accepts](const Node& node, const std::string& path,
                                                Reading& reading, std::string& value) {
    std::string text;
    if (!read_text(node, path, reading, accepts, text)) return;
    // A text is used as one line, such as a kernel's command line.
    const auto control = std::find_if(text.begin(), text.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
    if (text.size() > longest)
      reading.mistake(path, fmt::format("{} bytes of text", text.size()), accepts, "shorten it");
    else if (control != text.end())
      reading.mistake(path,
                      fmt::format("{} contains a line end or a control character", shown(text)),
                      accepts, "write it on one line; `>-` before a block joins its lines");
    else
      value = text;
  };
  type.print = [](const std::string& value) { return "'" + value + "'"; };
  return type;
}

Type<std::string> name() {
  Type<std::string> type;
  type.accepts = "a name: a lower-case letter, then letters, digits, `-`, `_`; 32 at most";
  type.read = [accepts = type.accepts](const Node& node, const std::string& path, Reading& reading,
                                       std::string& value) {
    std::string text;
    if (!read_text(node, path, reading, accepts, text)) return;
    const bool good = !text.empty() && text.size() <= 32 && text[0] >= 'a' && text[0] <= 'z' &&
                      text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") == text.npos;
    if (!good)
      return reading.mistake(path, shown(text) + " is not a valid name", accepts, "rename it");
    value = text;
  };
  type.print = [](const std::string& value) { return value; };
  return type;
}

Type<std::string> word(std::vector<std::string> words) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const std::string& each : words) values.emplace_back(each, each);
  return choice(std::move(values));
}

Type<PciId> pci_id() {
  Type<PciId> type;
  type.accepts =
      "`vendor:device`, four hexadecimal digits each, such as `f0ae:0ae0`; no vendor ffff";
  type.read = [accepts = type.accepts](const Node& node, const std::string& path, Reading& reading,
                                       PciId& value) {
    std::string text;
    if (!read_text(node, path, reading, accepts, text)) return;
    bool good = text.size() == 9 && text[4] == ':';
    for (std::size_t i = 0; good && i < text.size(); ++i)
      good = i == 4 || std::isxdigit(static_cast<unsigned char>(text[i]));
    // A vendor id of all ones means that there is no function (PCIe 6.0, 2.3.2).
    if (!good || begins(text, "ffff") || begins(text, "FFFF"))
      return reading.mistake(path, shown(text) + " is not a pair of PCI ids", accepts);
    value.vendor = static_cast<std::uint16_t>(std::stoul(text.substr(0, 4), nullptr, 16));
    value.device = static_cast<std::uint16_t>(std::stoul(text.substr(5), nullptr, 16));
  };
  type.print = [](const PciId& id) { return fmt::format("{:04x}:{:04x}", id.vendor, id.device); };
  return type;
}

Type<Instant> instant() {
  Type<Instant> type;
  type.accepts = "a date and time in UTC such as `2026-01-31T12:00:00`, years 1970 to 2099";
  type.read = [accepts = type.accepts](const Node& node, const std::string& path, Reading& reading,
                                       Instant& value) {
    std::string text;
    if (!read_text(node, path, reading, accepts, text)) return;
    if (!parse_instant(text, value.seconds))
      reading.mistake(path, shown(text) + " is not a date and time", accepts);
  };
  type.print = [](const Instant& value) { return print_instant(value.seconds); };
  return type;
}

Type<File> file() {
  return file_type(false);
}
Type<File> directory() {
  return file_type(true);
}

Type<std::optional<File>> optional_file() {
  Type<std::optional<File>> type;
  type.accepts = "an existing file, or `none`";
  type.read = [accepts = type.accepts](const Node& node, const std::string& path, Reading& reading,
                                       std::optional<File>& value) {
    File file;
    if (node.kind == Node::Kind::scalar && node.text == "none")
      value.reset();
    else if (read_file(node, path, reading, false, accepts, file))
      value = file;
  };
  type.print = [](const std::optional<File>& file) { return file ? file->text : "none"; };
  return type;
}

namespace detail {

std::string child(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

std::string print(const Integer& kind, std::int64_t value) {
  return kind.hexadecimal ? fmt::format("{:#x}", value) : std::to_string(value);
}

std::string describe(const Integer& kind) {
  return fmt::format("a whole number from {} to {}", print(kind, kind.low), print(kind, kind.high));
}

std::string describe(const IntegerChoice& kind) {
  return join(kind.values, [](std::int64_t value) { return std::to_string(value); });
}

std::string describe(const Measure& kind) {
  const Quantity& quantity = *kind.quantity;
  return fmt::format("{} from {} to {}{} (units {})", quantity.name, quantity.print(kind.low),
                     quantity.print(kind.high),
                     kind.step == 1 ? "" : ", a multiple of " + quantity.print(kind.step),
                     quantity.unit_names());
}

std::string describe(const SizeChoice& kind) {
  return join(kind.values, [](std::int64_t value) { return size_quantity().print(value); });
}

std::string describe_list(std::string_view element, std::size_t low, std::size_t high) {
  return fmt::format("a list of {} to {}, each {}", low, high, element);
}

std::string describe_words(const std::vector<std::string>& words) {
  return alternatives(words);
}

bool read_integer(const Node& node, const std::string& path, Reading& reading, const Integer& kind,
                  std::int64_t& value) {
  if (!read_number(node, path, reading, describe(kind), value)) return false;
  if (value >= kind.low && value <= kind.high) return true;
  reading.mistake(path, "found " + shown(node.text), describe(kind),
                  value < kind.low ? fmt::format("write {} or more", print(kind, kind.low))
                                   : fmt::format("write {} or less", print(kind, kind.high)));
  return false;
}

bool read_integer(const Node& node, const std::string& path, Reading& reading,
                  const IntegerChoice& kind, std::int64_t& value) {
  if (!read_number(node, path, reading, describe(kind), value)) return false;
  if (std::count(kind.values.begin(), kind.values.end(), value)) return true;
  reading.mistake(
      path, "found " + shown(node.text), describe(kind),
      nearest_values(value, kind.values, [](std::int64_t each) { return std::to_string(each); }));
  return false;
}

bool read_measure(const Node& node, const std::string& path, Reading& reading, const Measure& kind,
                  std::int64_t& value) {
  std::string text;
  if (!read_text(node, path, reading, describe(kind), text)) return false;
  const Quantity& quantity = *kind.quantity;
  const Measured measured = measure(text, quantity);
  value = measured.value;
  if (!measured.found.empty()) {
    reading.mistake(path, measured.found, describe(kind), measured.remedy);
  } else if (value < kind.low || value > kind.high) {
    reading.mistake(path, "found " + shown(text), describe(kind),
                    value < kind.low ? fmt::format("write {} or more", quantity.print(kind.low))
                                     : fmt::format("write {} or less", quantity.print(kind.high)));
  } else if (value % kind.step != 0) {
    const std::int64_t below = value / kind.step * kind.step;
    reading.mistake(path, "found " + shown(text), describe(kind),
                    nearest_values(value, {below, below + kind.step},
                                   [&](std::int64_t each) { return quantity.print(each); }));
  } else {
    return true;
  }
  return false;
}

bool read_measure(const Node& node, const std::string& path, Reading& reading,
                  const SizeChoice& kind, std::int64_t& value) {
  std::string text;
  if (!read_text(node, path, reading, describe(kind), text)) return false;
  const Measured measured = measure(text, size_quantity());
  value = measured.value;
  if (!measured.found.empty()) {
    reading.mistake(path, measured.found, describe(kind), measured.remedy);
    return false;
  }
  if (std::count(kind.values.begin(), kind.values.end(), value)) return true;
  reading.mistake(path, "found " + shown(text), describe(kind),
                  nearest_values(value, kind.values,
                                 [](std::int64_t each) { return size_quantity().print(each); }));
  return false;
}

bool read_word(const Node& node, const std::string& path, Reading& reading,
               const std::vector<std::string>& words, std::size_t& index) {
  std::string text;
  if (!read_text(node, path, reading, alternatives(words), text)) return false;
  for (index = 0; index < words.size(); ++index)
    if (words[index] == text) return true;
  const std::string meant = nearest(text, words);
  reading.mistake(path, "found " + shown(text), alternatives(words),
                  meant.empty() ? "" : fmt::format("did you mean {}?", shown(meant)));
  return false;
}

bool read_list(const Node& node, const std::string& path, Reading& reading, std::size_t low,
               std::size_t high, const std::string& accepts) {
  if (node.kind != Node::Kind::list) {
    reading.mistake(path, "found " + node.description(), accepts,
                    "begin each element on a line of its own with `- `");
    return false;
  }
  const std::size_t count = node.items.size();
  if (count >= low && count <= high) return true;
  reading.mistake(path, fmt::format("the list has {} element{}", count, count == 1 ? "" : "s"),
                  accepts, count < low ? "add elements" : "remove elements");
  return false;
}

void read_map(const Node& node, const std::string& path, Reading& reading,
              const std::vector<std::string>& keys,
              const std::function<void(std::size_t, const Node&, const std::string&)>& read) {
  if (node.kind != Node::Kind::map) {
    reading.mistake(path, "found " + node.description(),
                    "a map with keys out of " + alternatives(keys),
                    "write `key: value`, each on a line of its own");
    return;
  }
  std::map<std::string, const Entry*> first;
  for (const Entry& entry : node.entries) {
    const auto key = std::find(keys.begin(), keys.end(), entry.key);
    if (key == keys.end()) {
      reading.unknown_key(path, entry, keys);
      continue;
    }
    const std::string at = child(path, entry.key);
    const auto [earlier, is_first] = first.emplace(entry.key, &entry);
    if (!is_first) {
      reading.place(at, entry.origin);
      reading.mistake(at, fmt::format("{} is given a second time", shown(entry.key)),
                      fmt::format("a key once; the first is at {}", earlier->second->origin.text()),
                      "remove one of them");
      continue;
    }
    reading.place(at, entry.value.origin);
    read(static_cast<std::size_t>(key - keys.begin()), entry.value, at);
  }
}

}  // namespace detail

std::string print_reference(const std::vector<Row>& rows, std::string_view filter) {
  constexpr std::size_t width = 100, indent = 4;
  constexpr char hard_space = '\1';
  std::string result;
  const auto paragraph = [&](const std::string& text) {
    std::size_t column = 0;
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t end = std::min(text.find(' ', start), text.size());
      if (column == 0 || column + 1 + (end - start) > width) {
        if (column != 0) result += '\n';
        result.append(indent, ' ');
        column = indent;
      } else {
        result += ' ';
        ++column;
      }
      for (std::size_t i = start; i < end; ++i) result += text[i] == hard_space ? ' ' : text[i];
      column += end - start;
      start = end + 1;
    }
    result += '\n';
  };
  for (const Row& row : rows) {
    if (row.path.find(filter) == row.path.npos) continue;
    result += row.path + '\n';
    if (!row.text.empty()) paragraph(row.text);
    const std::string end =
        row.fallback.empty() ? "required" : fmt::format("default{}{}", hard_space, row.fallback);
    paragraph(row.accepts + "; " + end);
  }
  return result;
}

}  // namespace vp::config
