// SPDX-License-Identifier: Apache-2.0
#include "vp/config/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "vp/config/report.h"

namespace vp::config {

namespace {

constexpr std::int64_t kilo = 1'000, mega = 1'000 * kilo, giga = 1'000 * mega, tera = 1'000 * giga;
constexpr std::int64_t kibi = 1'024, mebi = 1'024 * kibi, gibi = 1'024 * mebi, tebi = 1'024 * gibi;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

const Quantity& duration_quantity() {
  static const Quantity quantity = {
      "a duration",
      "250ns",
      {{"ps", 1}, {"ns", kilo}, {"us", mega}, {"ms", giga}, {"s", tera}},
      {{"\u00b5s", "us"}, {"\u03bcs", "us"}, {"sec", "s"}, {"usec", "us"}, {"msec", "ms"}}};
  return quantity;
}

const Quantity& size_quantity() {
  static const Quantity quantity = {
      "a size",
      "512MiB",
      {{"B", 1}, {"KiB", kibi}, {"MiB", mebi}, {"GiB", gibi}, {"TiB", tebi}},
      {{"K", "KiB"},
       {"M", "MiB"},
       {"G", "GiB"},
       {"T", "TiB"},
       {"KB", "KiB"},
       {"MB", "MiB"},
       {"GB", "GiB"},
       {"TB", "TiB"},
       {"Ki", "KiB"},
       {"Mi", "MiB"},
       {"Gi", "GiB"}}};
  return quantity;
}

const Quantity& frequency_quantity() {
  static const Quantity quantity = {"a frequency",
                                    "500MHz",
                                    {{"Hz", 1}, {"kHz", kilo}, {"MHz", mega}, {"GHz", giga}},
                                    {{"M", "MHz"}, {"G", "GHz"}, {"k", "kHz"}}};
  return quantity;
}

const Quantity& bit_rate_quantity() {
  static const Quantity quantity = {"a rate",
                                    "200Gb/s",
                                    {{"b/s", 1},
                                     {"B/s", 8},
                                     {"kb/s", kilo},
                                     {"kB/s", 8 * kilo},
                                     {"Mb/s", mega},
                                     {"MB/s", 8 * mega},
                                     {"Gb/s", giga},
                                     {"GB/s", 8 * giga},
                                     {"Tb/s", tera},
                                     {"TB/s", 8 * tera}},
                                    {{"bps", "b/s"},
                                     {"kbps", "kb/s"},
                                     {"Mbps", "Mb/s"},
                                     {"Gbps", "Gb/s"},
                                     {"Gbit/s", "Gb/s"},
                                     {"Mbit/s", "Mb/s"},
                                     {"Gb", "Gb/s"},
                                     {"G", "Gb/s"},
                                     {"GBps", "GB/s"}}};
  return quantity;
}

const Quantity& instruction_rate_quantity() {
  static const Quantity quantity = {
      "an instruction rate",
      "1GIPS",
      {{"IPS", 1}, {"kIPS", kilo}, {"MIPS", mega}, {"GIPS", giga}},
      {{"GHz", "GIPS"}, {"MHz", "MIPS"}, {"G", "GIPS"}, {"M", "MIPS"}}};
  return quantity;
}

std::string Quantity::unit_names() const {
  std::vector<std::string> names;
  for (const Unit& unit : units) names.emplace_back(unit.name);
  return alternatives(names);
}

std::string Quantity::print(std::int64_t value) const {
  const Unit* best = &units.front();
  for (const Unit& unit : units)
    if (value != 0 && value % unit.factor == 0) best = &unit;
  return fmt::format("{}{}", value / best->factor, best->name);
}

Measured measure(std::string_view text, const Quantity& quantity) {
  const auto wrong = [&](std::string found, std::string remedy) {
    return Measured{0, std::move(found), std::move(remedy)};
  };
  const std::string show = shown(text);

  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  const std::string_view whole = text.substr(0, end);
  std::string_view fraction;
  if (end < text.size() && text[end] == '.') {
    const std::size_t start = ++end;
    while (end < text.size() && is_digit(text[end])) ++end;
    fraction = text.substr(start, end - start);
    if (fraction.empty())
      return wrong(fmt::format("{}: no digit after the point", show), "write a digit after it");
  }
  if (whole.empty()) {
    const std::string example = fmt::format("write it like `{}`", quantity.example);
    if (!text.empty() && text[0] == '-')
      return wrong(fmt::format("{} is negative", show), "write it without the `-`");
    return wrong(fmt::format("{} is not a number with a unit", show), example);
  }
  std::string_view name = text.substr(end);
  const std::string number(text.substr(0, end));
  if (!name.empty() && name.front() == ' ') name.remove_prefix(1);

  const auto unit = std::find_if(quantity.units.begin(), quantity.units.end(),
                                 [&](const Unit& u) { return u.name == name; });
  if (unit == quantity.units.end()) {
    if (name.empty())
      return wrong(fmt::format("{} has no unit", show),
                   fmt::format("write a unit after it: {}", quantity.unit_names()));
    std::string meant;
    for (const auto& [mistaken, right] : quantity.mistaken)
      if (mistaken == name) meant = right;
    if (meant.empty()) {
      std::vector<std::string> names;
      for (const Unit& u : quantity.units) names.emplace_back(u.name);
      meant = nearest(name, names);
    }
    return wrong(fmt::format("{}: {} is not a unit of {}", show, shown(name),
                             quantity.name.substr(quantity.name.find(' ') + 1)),
                 meant.empty() ? fmt::format("write one of {}", quantity.unit_names())
                               : fmt::format("did you mean `{}{}`?", number, meant));
  }

  // The arithmetic is exact: all digits form one integer, which is scaled by the unit and divided
  // by the power of ten that the decimal point means.
  using Wide = unsigned __int128;
  constexpr std::size_t longest =
      18;  // the most fraction digits that can matter; 1 TiB is 2^40 bytes
  constexpr Wide limit = std::numeric_limits<std::int64_t>::max();
  const auto too_large = [&] { return wrong(fmt::format("{} is too large", show), ""); };
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  const auto too_fine = [&] {
    const Unit& smallest = quantity.units.front();
    return wrong(fmt::format("{} is not a whole number of {}", show, smallest.name),
                 fmt::format("write a multiple of 1{}", smallest.name));
  };
  Wide value = 0;
  for (const char c : whole) {
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (value > limit) return too_large();
  }
  value *= static_cast<Wide>(unit->factor);
  if (value > limit) return too_large();
  if (fraction.size() > longest) return too_fine();
  Wide part = 0, power = 1;
  for (const char c : fraction) {
    part = part * 10 + static_cast<unsigned>(c - '0');
    power *= 10;
  }
  part *= static_cast<Wide>(unit->factor);
  if (part % power != 0) return too_fine();
  value += part / power;
  if (value > limit) return too_large();
  return {static_cast<std::int64_t>(value), {}, {}};
}

}  // namespace vp::config
