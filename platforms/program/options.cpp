// SPDX-License-Identifier: Apache-2.0
#include "platforms/program/options.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <system_error>

#include "models/device/kind.h"
#include "platforms/program/option_checks.h"
#include "platforms/program/snapshot_options.h"
#include "vp/config/units.h"

namespace platform {

namespace fs = std::filesystem;
using vp::config::alternatives;
using vp::config::argument_source;
using vp::config::make_override;
using vp::config::Mistakes;
using vp::config::nearest;
using vp::config::Node;
using vp::config::Origin;
using vp::config::origin_at;
using vp::config::Override;
using vp::config::Report;
using vp::config::shown;

Origin place(const char* option, const std::string& value, std::size_t offset) {
  return origin_at(argument_source(option, value), offset);
}

namespace {

/// Makes a node of a value in an option's argument.
Node scalar(const Origin& origin, std::string text) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.origin = origin;
  node.text = std::move(text);
  return node;
}

/// An option's argument of the form `name=value`.
struct Assignment {
  std::string name, value;
  Origin name_place, value_place;
};

std::optional<Assignment> split(const char* option, const std::string& text, const char* example,
                                Report& report) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0 || equals + 1 == text.size()) {
    report.add({place(option, text, std::min(equals, text.size())),
                equals == text.npos ? "it has no `=`"
                : equals == 0       ? "nothing is before the `=`"
                                    : "nothing is after the `=`",
                fmt::format("{} {}", option, example), ""});
    return std::nullopt;
  }
  return Assignment{text.substr(0, equals), text.substr(equals + 1), place(option, text),
                    place(option, text, equals + 1)};
}

/// Returns the change that makes every element at `path` use a file of the user.
std::optional<Override> own_file(const char* option, const std::optional<std::string>& file,
                                 const char* path, bool may_be_none) {
  if (!file) return std::nullopt;
  // A plain name would be looked for among the images. In an option it means the current directory.
  std::string text = *file;
  if (!text.empty() && text[0] != '/' && !(may_be_none && text == "none")) text = "./" + text;
  return make_override(path, scalar(place(option, *file), text));
}

/// Checks that a file can be created or replaced. Does not touch the file.
void check_output(const Origin& origin, const fs::path& file, Report& report) {
  std::error_code error;
  const auto refuse = [&](std::string found, std::string remedy) {
    report.add({origin, std::move(found), "a file that can be written", std::move(remedy)});
  };
  if (file.empty()) return refuse("an empty file name", "");
  const fs::file_status status = fs::status(file, error);
  if (fs::exists(status)) {
    if (fs::is_directory(status))
      return refuse(fmt::format("{} is a directory", shown(file.string())), "name a file in it");
    if (fs::is_socket(status) || fs::is_block_file(status))
      return refuse(fmt::format("{} is a {}", shown(file.string()),
                                fs::is_socket(status) ? "socket" : "block device"),
                    "name a file, a pipe or a terminal");
    if (::access(file.c_str(), W_OK) != 0)
      return refuse(fmt::format("{}: {}", shown(file.string()), std::strerror(errno)), "");
    return;
  }
  const fs::path directory = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!fs::is_directory(directory, error))
    return refuse(fmt::format("there is no directory {}", shown(directory.string())), "create it");
  if (file.filename().empty() || ::access(directory.c_str(), W_OK | X_OK) != 0)
    refuse(fmt::format("{}: {}", shown(directory.string()), std::strerror(errno)),
           "name a directory that you may write to");
}

fs::path output(const char* option, const std::optional<std::string>& file, Report& report) {
  if (!file) return {};
  check_output(place(option, *file), *file, report);
  return *file;
}

std::optional<std::int64_t> until(const CommandLine& line, Report& report) {
  if (!line.until) return std::nullopt;
  const auto measured = vp::config::measure(*line.until, vp::config::duration_quantity());
  const char* accepted = "a duration above 0, such as `2.5s` or `100us`";
  if (!measured.found.empty())
    report.add({place("--until", *line.until), measured.found, accepted, measured.remedy});
  else if (measured.value == 0)
    report.add({place("--until", *line.until), "the time is 0", accepted, ""});
  return measured.value;
}

std::optional<vp::Script> input(const std::optional<std::string>& file, Report& report) {
  if (!file) return std::nullopt;
  std::error_code error;
  if (!fs::is_regular_file(*file, error)) {
    report.add({place("--input", *file),
                fs::exists(*file, error) ? "this is not a regular file" : "there is no such file",
                "a script of console input", "see vp/console/script.h for its statements"});
    return std::nullopt;
  }
  try {
    return vp::Script::read(*file);
  } catch (const vp::ScriptMistake& mistake) {
    report.add({place("--input", *file), std::string("the script has mistakes:\n") + mistake.what(),
                "", ""});
    return std::nullopt;
  }
}

fs::path share(const std::optional<std::string>& directory, Report& report) {
  if (!directory) return {};
  std::error_code error;
  const char* accepted = "an existing directory that can be written to";
  if (!fs::is_directory(*directory, error))
    report.add(
        {place("--share", *directory),
         fs::exists(*directory, error) ? "this is not a directory" : "there is no such directory",
         accepted, "create it"});
  else if (::access(directory->c_str(), R_OK | W_OK | X_OK) != 0)
    report.add({place("--share", *directory), std::strerror(errno), accepted, ""});
  return *directory;
}

/// The parts of a platform that an option names.
class Parts {
 public:
  /// All hosts, and the devices that have what the option is about.
  template <class Has>
  Parts(const Platform& platform, const Has& has) {
    for (const Host& host : platform.hosts) {
      names_.push_back(host.name);
      of_word_["host"].push_back(host.name);
    }
    for (const device::DescriptionPtr& each : platform.all_devices()) {
      if (!has(*each)) continue;
      names_.push_back(each->name);
      of_word_[each->kind].push_back(each->name);
    }
  }

  const std::vector<std::string>& all() const { return names_; }

  /// Returns the part of this name. `host` also means the only host, and the name of a kind the
  /// only device of that kind, as `ipu` does.
  std::optional<std::string> find(const std::string& name) const {
    if (std::count(names_.begin(), names_.end(), name)) return name;
    const auto found = of_word_.find(name);
    if (found != of_word_.end() && found->second.size() == 1) return found->second[0];
    return std::nullopt;
  }

  void report_unknown(const Origin& origin, const std::string& name, bool both,
                      Report& report) const {
    std::vector<std::string> names = names_;
    if (both) names.push_back("both");
    const std::string meant = nearest(name, names);
    report.add({origin, fmt::format("the platform has no {}", shown(name)), alternatives(names),
                meant.empty() ? "" : fmt::format("did you mean {}?", shown(meant))});
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::vector<std::string>> of_word_;
};

ConsoleTarget target(const std::string& text) {
  using Kind = ConsoleTarget::Kind;
  if (text == "terminal") return {Kind::terminal, {}};
  if (text == "pty") return {Kind::pty, {}};
  if (text == "off") return {Kind::off, {}};
  return {Kind::file, text};
}

ConsoleTarget target(ConsoleKind kind) {
  switch (kind) {
    case ConsoleKind::terminal:
      return {ConsoleTarget::Kind::terminal, {}};
    case ConsoleKind::pty:
      return {ConsoleTarget::Kind::pty, {}};
    case ConsoleKind::off:
      break;
  }
  return {};
}

void name_consoles(const CommandLine& line, const Platform& platform, const Parts& parts,
                   RunOptions& options, Report& report) {
  for (const Host& host : platform.hosts) options.consoles[host.name] = target(host.console);
  for (const device::DescriptionPtr& each : platform.all_devices())
    if (const auto kind = each->console_target()) options.consoles[each->name] = target(*kind);

  std::map<std::string, ConsoleTarget> asked;
  bool terminal_moves = false;
  for (const std::string& text : line.console) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const Origin origin = place("--console", text);
    ConsoleTarget to{ConsoleTarget::Kind::terminal, {}};
    if (equals == text.npos) {
      terminal_moves = true;
    } else if (!split("--console", text, "ipu=firmware.log", report)) {
      continue;
    } else {
      to = target(text.substr(equals + 1));
    }
    std::vector<std::string> names;
    if (name == "both") {
      names = parts.all();
    } else if (const auto part = parts.find(name)) {
      names = {*part};
    } else {
      parts.report_unknown(origin, name, true, report);
      continue;
    }
    if (to.kind == ConsoleTarget::Kind::file) {
      const Origin value = place("--console", text, equals + 1);
      if (names.size() > 1) {
        report.add({value, "several consoles cannot share a file", "a file for each console",
                    fmt::format("write --console {}=FILE for each", names[0])});
        continue;
      }
      check_output(value, to.file, report);
    }
    for (const std::string& part : names)
      if (!asked.emplace(part, to).second)
        report.add(
            {origin,
             fmt::format("another option already sends the console of {} elsewhere", shown(part)),
             "one --console for each part", "remove one of them"});
  }
  if (terminal_moves)
    for (auto& [name, to] : options.consoles)
      if (to.kind == ConsoleTarget::Kind::terminal) to = {};
  for (const auto& [name, to] : asked) options.consoles[name] = to;
}

/// Returns true if a server can listen at this port of the loopback interface.
bool port_is_free(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return true;  // QEMU's server will report what is wrong
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool free =
      ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(socket);
  return free;
}

void name_debuggers(const CommandLine& line, const Parts& parts, RunOptions& options,
                    Report& report) {
  for (const std::string& text : line.gdb) {
    const auto assignment = split("--gdb", text, "host=1234", report);
    if (!assignment) continue;
    const auto part = parts.find(assignment->name);
    if (!part) {
      parts.report_unknown(assignment->name_place, assignment->name, false, report);
      continue;
    }
    const std::string& digits = assignment->value;
    const bool number = digits.size() <= 5 && digits.find_first_not_of("0123456789") == digits.npos;
    const unsigned long port = number ? std::stoul(digits) : 0;
    if (port == 0 || port > 65'535) {
      report.add({assignment->value_place, shown(digits) + " is not a TCP port",
                  "a whole number from 1 to 65535", ""});
      continue;
    }
    const bool taken = std::any_of(options.gdb.begin(), options.gdb.end(),
                                   [&](const auto& other) { return other.second == port; });
    if (taken || !port_is_free(static_cast<std::uint16_t>(port)))
      report.add({assignment->value_place, fmt::format("port {} is in use", port),
                  "a free TCP port", fmt::format("try {}", port == 65'535 ? 1234 : port + 1)});
    else if (!options.gdb.emplace(*part, static_cast<std::uint16_t>(port)).second)
      report.add({assignment->name_place, fmt::format("{} already has a debugger", shown(*part)),
                  "one --gdb for each part", "remove one of them"});
  }
}

void name_exports(const CommandLine& line, const Platform& platform, RunOptions& options,
                  Report& report) {
  std::vector<std::string> storages;
  for (const device::DescriptionPtr& each : platform.all_devices()) {
    for (unsigned number = 1; number <= each->storages(); ++number)
      storages.push_back(number == 1 ? each->name : fmt::format("{}.{}", each->name, number));
  }
  for (const std::string& text : line.exports) {
    const auto assignment = split("--export", text, "disk=disk.img", report);
    if (!assignment) continue;
    std::string storage = assignment->name;
    if (storage.size() > 2 && storage.compare(storage.size() - 2, 2, ".1") == 0)
      storage.resize(storage.size() - 2);
    if (!std::count(storages.begin(), storages.end(), storage)) {
      const std::string meant = nearest(storage, storages);
      report.add({assignment->name_place,
                  storages.empty() ? "no device of the platform stores anything"
                                   : fmt::format("no device stores {}", shown(assignment->name)),
                  storages.empty() ? "" : alternatives(storages),
                  meant.empty() ? "" : fmt::format("did you mean {}?", shown(meant))});
      continue;
    }
    const fs::path file = assignment->value;
    std::error_code error;
    if (fs::exists(file, error) && !fs::is_regular_file(file, error) &&
        !fs::is_directory(file, error)) {
      report.add({assignment->value_place, "this is not a regular file", "a file of its own",
                  "name another file"});
      continue;
    }
    check_output(assignment->value_place, file, report);
    // At the end another file takes the place of one that is there, which needs its directory.
    const fs::path directory = file.has_parent_path() ? file.parent_path() : fs::path(".");
    if (fs::is_regular_file(file, error) && ::access(directory.c_str(), W_OK | X_OK) != 0) {
      report.add({assignment->value_place,
                  fmt::format("{}: {}", shown(directory.string()), std::strerror(errno)),
                  "a file that can be replaced", "name a directory that you may write to"});
    }
    options.exports.push_back({storage, file});
  }
}

/// Without a name, a waveform is that of the first device with RTL.
void name_waveforms(const CommandLine& line, const Platform& platform, RunOptions& options,
                    Report& report) {
  std::vector<std::string> names, without;
  for (const device::DescriptionPtr& each : platform.all_devices())
    (each->has_waveform() ? names : without).push_back(each->name);
  const Parts parts(platform, [](const device::Description& each) { return each.has_waveform(); });
  for (const std::string& text : line.vcd) {
    if (names.empty()) {
      report.add({place("--vcd", text), "the platform has no RTL", "", "remove the option"});
      continue;
    }
    const std::size_t equals = text.find('=');
    std::string name = names[0];
    std::size_t file = 0;
    // No part has a name with a slash, so that `./a=b` is a file.
    if (equals < text.find('/')) {
      if (!split("--vcd", text, "ipu=ipu.vcd", report)) continue;
      name = text.substr(0, equals);
      if (!std::count(without.begin(), without.end(), name)) name = parts.find(name).value_or(name);
      file = equals + 1;
    }
    const Origin origin = place("--vcd", text);
    if (std::count(without.begin(), without.end(), name)) {
      report.add({origin, fmt::format("the device {} has no RTL", shown(name)), alternatives(names),
                  "name another part, or remove the option"});
    } else if (!std::count(names.begin(), names.end(), name)) {
      const std::string meant = nearest(name, names);
      report.add({origin, fmt::format("the platform has no RTL {}", shown(name)),
                  alternatives(names),
                  meant.empty() ? fmt::format("write --vcd ./{} for a file of that name", text)
                                : fmt::format("did you mean {}?", shown(meant))});
    } else {
      const fs::path path = text.substr(file);
      check_output(place("--vcd", text, file), path, report);
      if (!options.vcd.emplace(name, path).second)
        report.add({origin, fmt::format("{} already has a waveform", shown(name)),
                    "one --vcd for each part", "remove one of them"});
    }
  }
}

}  // namespace

void check_mark(const char* option, const std::string& mark, Report& report) {
  static constexpr const char* allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
  if (mark.empty() || mark.size() > 128 || mark[0] == '.' || mark[0] == '-' ||
      mark.find_first_not_of(allowed) != mark.npos)
    report.add({place(option, mark), shown(mark) + " is not a valid name of a mark",
                "up to 128 letters, digits and `._+-`, of which `.` and `-` cannot be first", ""});
}

std::vector<Override> overrides(const CommandLine& line, Report& report) {
  std::vector<Override> changes;
  const auto collect = [&](const auto& make) {
    try {
      if (std::optional<Override> change = make()) changes.push_back(std::move(*change));
    } catch (const Mistakes& mistakes) {
      report.add(mistakes.report());
    }
  };
  for (const std::string& text : line.set)
    collect([&]() -> std::optional<Override> { return vp::config::parse_override(text); });
  for (const std::string& text : line.log)
    collect([&]() -> std::optional<Override> {
      const auto assignment = split("--log", text, "pcie=debug", report);
      if (!assignment) return std::nullopt;
      Override change = make_override("log", scalar(assignment->value_place, assignment->value));
      change.path.push_back(
          {Override::Step::Kind::key, assignment->name, 0, assignment->name_place});
      return change;
    });
  collect([&] { return own_file("--kernel", line.kernel, "hosts[*].kernel", false); });
  collect([&] { return own_file("--initrd", line.initrd, "hosts[*].initrd", true); });
  for (const device::Kind* kind : device::kinds()) {
    const device::Traits& traits = kind->traits();
    if (traits.list.empty() || traits.firmware.empty()) continue;
    const std::string path = fmt::format("{}[*].{}", traits.list, traits.firmware);
    collect([&] { return own_file("--firmware", line.firmware, path.c_str(), false); });
  }
  return changes;
}

RunOptions run_options(const CommandLine& line, Report& report) {
  RunOptions options;
  options.until = until(line, report);
  if (line.mark) {
    check_mark("--until-mark", *line.mark, report);
    options.mark = *line.mark;
  }
  options.snapshot = snapshot_options(line, report);
  options.input = input(line.input, report);
  options.share = share(line.share, report);
  options.trace = output("--trace", line.trace, report);
  options.stats = output("--stats", line.stats, report);
  options.check_rtl = line.check_rtl;
  return options;
}

void name_parts(const CommandLine& line, const Platform& platform, RunOptions& options,
                Report& report) {
  const Parts with_console(
      platform, [](const device::Description& each) { return each.console_target().has_value(); });
  const Parts with_processors(
      platform, [](const device::Description& each) { return each.has_processors(); });
  name_consoles(line, platform, with_console, options, report);
  name_debuggers(line, with_processors, options, report);
  name_exports(line, platform, options, report);
  name_waveforms(line, platform, options, report);
  check_forks(line, platform, options, report);
}

void check_outputs(const CommandLine& line, const fs::path& platform_file,
                   const RunOptions& options, Report& report) {
  struct Use {
    std::string what;
    fs::path file;
  };
  std::vector<Use> uses = {{"the platform file", platform_file}};
  for (const Input& input : options.inputs) uses.push_back({input.role, input.path});
  if (line.input) uses.push_back({"the file of --input", *line.input});
  if (line.children) uses.push_back({"the file of --children", *line.children});

  const auto same = [](const fs::path& a, const fs::path& b) {
    std::error_code error;
    if (fs::exists(a, error) && fs::exists(b, error)) {
      // Several outputs may go to one device, such as /dev/null.
      return fs::is_regular_file(a, error) && fs::equivalent(a, b, error);
    }
    return fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error);
  };
  const auto write = [&](const char* option, const std::string& value, const std::string& what,
                         const fs::path& file) {
    if (file.empty()) return;
    for (const Use& use : uses)
      if (same(use.file, file)) {
        report.add({place(option, value), fmt::format("this is also {}", use.what),
                    "a file that nothing else uses", "name another file"});
        return;
      }
    uses.push_back({what, file});
  };
  if (line.trace) write("--trace", *line.trace, "the file of --trace", options.trace);
  if (line.stats) write("--stats", *line.stats, "the file of --stats", options.stats);
  for (const Export& one : options.exports)
    write("--export", one.storage + "=" + one.file.string(), "the file of --export " + one.storage,
          one.file);
  for (const auto& [name, file] : options.vcd)
    write("--vcd", file.string(), "the waveform of " + name, file);
  for (const auto& [name, to] : options.consoles)
    if (to.kind == ConsoleTarget::Kind::file)
      write("--console", name + "=" + to.file.string(), "the console of " + name, to.file);
}

}  // namespace platform
