// SPDX-License-Identifier: Apache-2.0
#include "platforms/program/snapshot_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "platforms/program/option_checks.h"
#include "platforms/run/outputs.h"
#include "vp/snapshot/children.h"

namespace platform {

namespace fs = std::filesystem;
using vp::config::Mistakes;
using vp::config::Origin;
using vp::config::Report;
using vp::config::shown;

namespace {

// The longest line that a terminal's line discipline accepts (N_TTY_BUF_SIZE), less what is typed
// besides the command.
constexpr std::size_t longest_command = 4000;
constexpr std::size_t longest_line_text = 200;
constexpr unsigned most_jobs = 1024;

std::string trimmed(std::string_view text) {
  constexpr const char* blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(blanks) + 1 - begin));
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < ' ' || c == 0x7f;
}

bool fits_one_line(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return c != '\t' && is_control(c); });
}

vp::Mark mark(const std::string& text, Report& report) {
  const vp::Mark mark = vp::Mark::parse(text);
  if (mark.kind == vp::Mark::Kind::name) {
    check_mark("--snapshot-at", text, report);
  } else if (mark.text.empty() || mark.text.size() > longest_line_text ||
             std::any_of(mark.text.begin(), mark.text.end(), is_control)) {
    report.add(
        {place("--snapshot-at", text, text.size() - mark.text.size()),
         "the text is empty, too long, or has a control character",
         fmt::format("`line:` and 1 to {} bytes without control characters", longest_line_text),
         ""});
  }
  return mark;
}

void check_command(const Origin& origin, const std::string& command, Report& report) {
  if (command.empty() || !fits_one_line(command))
    report.add({origin,
                command.empty() ? "the command is empty" : "the command has a control character",
                "a command for the guest on one line", ""});
  if (command.size() > longest_command)
    report.add({origin, fmt::format("the command has {} bytes", command.size()),
                fmt::format("at most {} bytes", longest_command),
                "write a script and share it with the guest by --share"});
}

/// Reads one command from each line. Skips blank lines and those that begin with `#`.
std::vector<std::string> read_commands(const std::string& file, Report& report) {
  std::vector<std::string> commands;
  try {
    const auto source = vp::config::read_source(file);
    const std::string& text = source->text;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      std::string command = trimmed(std::string_view(text).substr(begin, end - begin));
      if (!command.empty() && command[0] != '#') {
        check_command(vp::config::origin_at(source, begin), command, report);
        commands.push_back(std::move(command));
      }
      begin = end + 1;
    }
    if (commands.empty())
      report.add({vp::config::origin_at(source, 0), "the file has no command",
                  "a command for the guest on each line",
                  "lines that begin with `#` are comments"});
  } catch (const Mistakes& mistakes) {
    report.add(mistakes.report());
  }
  return commands;
}

fs::path outputs(const CommandLine& line, Report& report) {
  const std::string text = line.children_output.value_or(*line.children + ".out");
  const auto refuse = [&](std::string found, std::string remedy) {
    report.add({line.children_output ? place("--children-output", text)
                                     : place("--children", *line.children),
                std::move(found), "a directory in which the children can write",
                std::move(remedy)});
  };
  std::error_code error;
  if (text.empty()) {
    refuse("the name is empty", "name a directory");
  } else if (fs::exists(text, error)) {
    if (!fs::is_directory(text, error))
      refuse(shown(text) + " is not a directory",
             "name another directory by --children-output DIR");
    else if (::access(text.c_str(), R_OK | W_OK | X_OK) != 0)
      refuse(fmt::format("{}: {}", shown(text), std::strerror(errno)), "");
    else if (!fs::is_empty(text, error) && !Outputs::is_one(text))
      refuse(shown(text) + " is not empty and does not come from an earlier run",
             "name another directory by --children-output DIR");
  } else {
    const fs::path parent = fs::path(text).has_parent_path() ? fs::path(text).parent_path() : ".";
    if (!fs::is_directory(parent, error))
      refuse(fmt::format("there is no directory {}", shown(parent.string())), "create it");
    else if (::access(parent.c_str(), W_OK | X_OK) != 0)
      refuse(fmt::format("{}: {}", shown(parent.string()), std::strerror(errno)),
             "name another directory by --children-output DIR");
  }
  return text;
}

unsigned jobs(const std::optional<std::string>& text, Report& report) {
  if (!text) return vp::Children::cores();
  const bool number =
      !text->empty() && text->size() <= 4 && text->find_first_not_of("0123456789") == text->npos;
  const unsigned long value = number ? std::stoul(*text) : 0;
  if (value == 0 || value > most_jobs)
    report.add({place("--jobs", *text), shown(*text) + " is not a number of children",
                fmt::format("a whole number from 1 to {}", most_jobs), ""});
  return static_cast<unsigned>(value);
}

}  // namespace

std::optional<SnapshotOptions> snapshot_options(const CommandLine& line, Report& report) {
  const auto alone = [&](const char* option, const std::optional<std::string>& value,
                         bool has_other, const char* other) {
    if (value && !has_other)
      report.add({place(option, *value), fmt::format("{} needs {}", option, other),
                  fmt::format("{} together with {}", option, other), ""});
  };
  alone("--children", line.children, line.snapshot_at.has_value(), "--snapshot-at");
  alone("--child", line.child, line.snapshot_at.has_value(), "--snapshot-at");
  alone("--snapshot-at", line.snapshot_at, line.children || line.child, "--children or --child");
  alone("--children-output", line.children_output, line.children.has_value(), "--children");
  alone("--jobs", line.jobs, line.children.has_value(), "--children");
  if (line.children && line.child)
    report.add({place("--child", *line.child), "--child and --children exclude each other",
                "one of the two; --child runs a child's command without a fork", ""});
  if (!line.snapshot_at) return std::nullopt;

  SnapshotOptions options;
  options.mark = mark(*line.snapshot_at, report);
  if (line.mark && *line.mark == *line.snapshot_at)
    report.add({place("--snapshot-at", *line.snapshot_at), "this is also the mark of --until-mark",
                "different marks", ""});
  if (line.child) {
    options.forks = false;
    options.commands = {trimmed(*line.child)};
    check_command(place("--child", *line.child), options.commands[0], report);
  } else if (line.children) {
    options.commands = read_commands(*line.children, report);
    options.outputs = outputs(line, report);
    options.jobs = jobs(line.jobs, report);
  }
  return options;
}

void check_forks(const CommandLine& line, const Platform& platform, const RunOptions& options,
                 Report& report) {
  if (!options.snapshot || !options.snapshot->forks) return;
  const auto refuse = [&](const char* option, const std::string& value, const char* what) {
    report.add({place(option, value), fmt::format("children cannot have {}", what), "",
                "run a single command by --child COMMAND in place of --children"});
  };
  for (const std::string& text : line.gdb) refuse("--gdb", text, "a debugger");
  for (const std::string& text : line.vcd) refuse("--vcd", text, "waveforms");
  for (const auto& [name, to] : options.consoles)
    if (to.kind == ConsoleTarget::Kind::pty) {
      report.add(
          {place("--children", *line.children),
           fmt::format("children cannot have a pseudo-terminal, which the console of {} has", name),
           "", fmt::format("write --console {}=off; each child has a log file of its own", name)});
    }
  for (const device::DescriptionPtr& each : platform.all_devices())
    if (const std::string why = each->forbids_forks(); !why.empty())
      report.add(
          {place("--children", *line.children),
           fmt::format("children cannot have the device {}: {}", each->name, why), "",
           "change that, or run a single command by --child COMMAND in place of --children"});
  std::error_code error;
  if (!options.trace.empty() && fs::exists(options.trace, error) &&
      !fs::is_regular_file(options.trace, error))
    report.add({place("--trace", *line.trace), "this is not a regular file",
                "a regular file, since children read the common part from it",
                "name another file"});
}

}  // namespace platform
