// SPDX-License-Identifier: Apache-2.0
#include "platforms/run/run.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "platforms/machine/machine.h"
#include "platforms/run/children_summary.h"
#include "platforms/run/outputs.h"
#include "platforms/run/share_archive.h"
#include "vp/config/units.h"
#include "vp/console/file_sink.h"
#include "vp/console/pseudo_terminal.h"
#include "vp/console/script_player.h"
#include "vp/console/shared_output.h"
#include "vp/console/terminal.h"
#include "vp/control/share.h"
#include "vp/log/log.h"
#include "vp/qemu/instance.h"
#include "vp/snapshot/children.h"
#include "vp/statistics/statistics.h"
#include "vp/time/agenda.h"
#include "vp/time/wall_clock.h"
#include "vp/trace/trace.h"

namespace platform {
namespace {

using vp::ExitCode;
using Clock = std::chrono::steady_clock;

// Simulated time between two looks at the outside, unless the looks would come too often.
constexpr vp::Picoseconds longest_step = 1 * vp::ms;
constexpr auto look_interval = std::chrono::milliseconds(10);
// Wall time between two looks, whatever the simulation does.
constexpr auto longest_look_interval = std::chrono::milliseconds(50);

/// A platform from its first to its last picosecond.
class Run {
 public:
  Run(const Platform& platform, const RunOptions& options);
  ExitCode simulate();

 private:
  void prepare_share();
  HostMachine::Options host_options(const Host& host);
  Machine::DeviceOptions device_options(const std::string& name) const;
  std::optional<unsigned> gdb_port(const std::string& name) const;
  void set_log_levels();
  void connect_consoles();
  void connect_console(vp::Console& console, const ConsoleTarget& target);
  std::vector<vp::Console*> all_consoles();
  /// The processors of a host or a device.
  struct Processors {
    std::string name;
    vp::qemu::Instance* qemu;
  };
  std::vector<Processors> all_processors();
  nlohmann::json head(const std::string& command) const;

  void advance();
  void step();
  void look_whether_halted();
  bool may_be_woken() const;
  bool forks() const { return options_.snapshot && options_.snapshot->forks; }
  void fork_children();
  int be_child(std::size_t number, vp::ChildNote& note);
  void settle_child(const std::string& command, const std::filesystem::path& directory);

  void look_outside();
  bool gdb_holds();
  void wait_for_gdb();
  void keep_to_real_time();
  std::string export_as(std::string_view what);
  bool export_storages();
  ExitCode finish();

  Platform platform_;
  RunOptions options_;
  Outcome outcome_;
  vp::Trace trace_;
  vp::Statistics statistics_;
  std::optional<ShareArchive> share_archive_;
  std::optional<vp::Share> share_;
  vp::FileSink standard_output_{STDOUT_FILENO, "standard output"};
  vp::SharedOutput shared_output_{standard_output_};
  std::optional<Machine> machine_;
  std::optional<vp::Snapshot> snapshot_;
  std::optional<vp::Terminal> terminal_;
  std::optional<vp::ScriptPlayer> script_;
  bool interactive_ = false;
  bool resting_ = false;           // no event is left
  vp::ChildNote* note_ = nullptr;  // the note of a child
  Clock::time_point looked_;
  Clock::time_point begin_;
};

Run::Run(const Platform& platform, const RunOptions& options)
    : platform_(platform), options_(options) {
  if (!options_.share.empty()) prepare_share();
  if (forks()) Outputs(options_.snapshot->outputs).prepare();
  if (!options_.trace.empty()) {
    trace_.open(options_.trace.string(),
                head(options_.snapshot && !forks() ? options_.snapshot->commands[0] : ""));
  }
  machine_.emplace(
      platform_,
      Machine::Options{[this](const Host& host) { return host_options(host); },
                       [this](const std::string& name) { return device_options(name); }},
      outcome_, trace_, statistics_);
  if (options_.until) outcome_.limit(*options_.until);
  if (options_.snapshot) snapshot_.emplace(options_.snapshot->mark);
  set_log_levels();
  connect_consoles();
  if (options_.input) {
    HostMachine& first = *machine_->hosts.front();
    script_.emplace(first.domain, first.console, *options_.input,
                    [this](const std::string& what) { outcome_.end(ExitCode::limit, what); });
  }
}

void Run::prepare_share() {
  share_.emplace(options_.share.string());
  for (Host& host : platform_.hosts) {
    const std::filesystem::path initrd = host.initrd ? host.initrd->path : std::filesystem::path();
    share_archive_.emplace(initrd, options_.share);
    if (!host.initrd) host.initrd.emplace();
    host.initrd->path = share_archive_->path();
    options_.inputs.push_back(
        {host.name + ".share", options_.share, share_archive_->size(), share_archive_->sha256()});
  }
}

HostMachine::Options Run::host_options(const Host& host) {
  HostMachine::Options options;
  options.gdb_port = gdb_port(host.name);
  options.control.on_exit = [this, name = host.name](int code) {
    outcome_.set_guest_code(name, code);
  };
  options.control.on_mark = [this](const std::string& name) {
    vp::log::get("control").info("mark {}", name);
    if (name == options_.mark) outcome_.end(ExitCode::success, "");
    return snapshot_ ? snapshot_->say(name) : std::string();
  };
  options.control.on_inject = [this](std::string_view what) { return machine_->inject(what); };
  options.control.on_hot_plug = [this, name = host.name](std::string_view what) {
    return machine_->operate_hot_plug(name, what);
  };
  if (share_) {
    options.control.on_file = [this](const std::string& name, std::string_view bytes) {
      return share_->write(name, bytes);
    };
    options.control.on_export = [this](std::string_view what) { return export_as(what); };
  }
  return options;
}

Machine::DeviceOptions Run::device_options(const std::string& name) const {
  const auto vcd = options_.vcd.find(name);
  return {gdb_port(name), vcd == options_.vcd.end() ? "" : vcd->second.string(),
          options_.check_rtl};
}

std::optional<unsigned> Run::gdb_port(const std::string& name) const {
  const auto found = options_.gdb.find(name);
  return found == options_.gdb.end() ? std::nullopt : std::optional<unsigned>(found->second);
}

void Run::set_log_levels() {
  // The general level comes first, so that it does not override the others.
  if (const auto all = platform_.log.find("all"); all != platform_.log.end()) {
    vp::log::set_level("all", all->second);
  }
  for (const auto& [component, level] : platform_.log) {
    if (component == "all") continue;
    vp::log::get(component);
    vp::log::set_level(component, level);
  }
}

std::vector<vp::Console*> Run::all_consoles() {
  std::vector<vp::Console*> consoles;
  for (const auto& host : machine_->hosts) consoles.push_back(&host->console);
  for (const auto& device : machine_->devices) {
    if (vp::Console* console = device->serial_console()) consoles.push_back(console);
  }
  return consoles;
}

std::vector<Run::Processors> Run::all_processors() {
  std::vector<Processors> all;
  for (const auto& host : machine_->hosts) all.push_back({host->console.name(), &host->qemu});
  for (const auto& device : machine_->devices) {
    if (vp::qemu::Instance* qemu = device->processors()) all.push_back({device->name(), qemu});
  }
  return all;
}

void Run::connect_consoles() {
  // A run that forks does not read the keyboard, so that Ctrl-C ends it and all of its children.
  terminal_.emplace(
      [this](vp::Terminal::End) { outcome_.stop(ExitCode::interrupted, "interrupted"); },
      forks() ? -1 : STDIN_FILENO);
  for (vp::Console* console : all_consoles()) {
    const auto target = options_.consoles.find(console->name());
    if (target != options_.consoles.end()) connect_console(*console, target->second);
    if (forks()) {
      console->add_sink(std::make_unique<vp::FileSink>(
          Outputs(options_.snapshot->outputs).boot_console(console->name()).string()));
    }
  }
  for (const auto& host : machine_->hosts) {
    if (snapshot_) snapshot_->watch(host->console, host->domain);
  }
}

void Run::connect_console(vp::Console& console, const ConsoleTarget& target) {
  switch (target.kind) {
    case ConsoleTarget::Kind::terminal: {
      const auto at_terminal = std::count_if(
          options_.consoles.begin(), options_.consoles.end(),
          [](const auto& one) { return one.second.kind == ConsoleTarget::Kind::terminal; });
      if (at_terminal > 1) {
        console.add_sink(shared_output_.sink(console.name()));
      } else {
        console.add_sink(std::make_unique<vp::FileSink>(STDOUT_FILENO, "standard output"));
      }
      terminal_->add(console);
      interactive_ = isatty(STDIN_FILENO) != 0 && !options_.input && !forks();
      break;
    }
    case ConsoleTarget::Kind::pty: {
      auto pty = std::make_unique<vp::PseudoTerminal>();
      fmt::print(stderr, "oae-vp: console of {}: {}\n", console.name(), pty->path());
      console.add_sink(std::move(pty));
      break;
    }
    case ConsoleTarget::Kind::file:
      console.add_sink(std::make_unique<vp::FileSink>(target.file.string()));
      break;
    case ConsoleTarget::Kind::off:
      break;
  }
}

nlohmann::json Run::head(const std::string& command) const {
  nlohmann::json inputs;
  for (const Input& input : options_.inputs) inputs[input.role] = input.sha256;
  nlohmann::json head = {{"format", 1},
                         {"program", "oae-vp " OAE_VP_VERSION},
                         {"platform", platform_.name},
                         {"inputs", inputs}};
  // The command of a child is an input too.
  if (!command.empty()) {
    head["child"] = {{"mark", options_.snapshot->mark.print()}, {"command", command}};
  }
  return head;
}

ExitCode Run::simulate() {
  for (const auto& [name, port] : options_.gdb) {
    fmt::print(stderr, "oae-vp: {} waits for GDB: target remote 127.0.0.1:{}\n", name, port);
  }
  // This comes after QEMU's start, which installs handlers of its own for signals.
  terminal_->start();
  vp::WallClock::start(longest_look_interval);
  begin_ = looked_ = Clock::now();
  if (script_) script_->start();
  advance();
  if (!outcome_.ended()) fork_children();
  return finish();
}

// Simulates to the end of the run, or to the mark at which it is to be forked.
void Run::advance() {
  while (!outcome_.over()) {
    if (snapshot_ && snapshot_->reached() && !outcome_.ended()) {
      if (forks()) return;
      snapshot_->go_on(options_.snapshot->commands[0]);
    }
    if (vp::now() >= outcome_.end_time()) {
      const std::string mark =
          snapshot_ && snapshot_->ahead() ? snapshot_->mark().print() : options_.mark;
      outcome_.stop(ExitCode::limit, fmt::format("the time limit came before {}",
                                                 mark.empty() ? "the end" : "mark " + mark));
      break;
    }
    if (gdb_holds()) {
      wait_for_gdb();
      continue;
    }
    step();
    if (note_ != nullptr) note_->time = vp::now();
    look_outside();
    if (resting_) look_whether_halted();
    if (interactive_) keep_to_real_time();
  }
}

void Run::step() {
  const vp::Picoseconds span = std::min(longest_step, outcome_.end_time() - vp::now());
  vp::WallClock::look();
  try {
    // After the last event of all, time stands still.
    const bool acts = sc_core::sc_time_to_pending_activity() <= vp::to_sc_time(span);
    vp::simulate(span, acts ? sc_core::SC_EXIT_ON_STARVATION : sc_core::SC_RUN_TO_TIME);
  } catch (const sc_core::sc_report& report) {
    outcome_.abandon(ExitCode::broken_promise,
                     fmt::format("defect of a model: {}", report.get_msg()));
  }
  resting_ = !sc_core::sc_pending_activity();
}

// Only an event or somebody outside could wake a processor.
void Run::look_whether_halted() {
  if (outcome_.ended()) return;
  if (may_be_woken()) {
    if (!interactive_) std::this_thread::sleep_for(look_interval);
    return;
  }
  vp::Picoseconds since = vp::now();
  std::string who;
  for (const auto& [name, qemu] : all_processors()) {
    const vp::qemu::Instance::Rest rest = qemu->rest();
    since = std::max(since, rest.since);
    const std::string moment = vp::config::duration_quantity().print(rest.since);
    if (rest.halted > 0) {
      who += fmt::format("  {}: processors that have halted: {}; the last halted at {}\n", name,
                         rest.halted, moment);
    }
    if (rest.waiting > 0) {
      who += fmt::format(
          "  {}: processors whose access no model has answered: {}; the last began to wait at {}\n",
          name, rest.waiting, moment);
    }
  }
  if (since > vp::now()) sc_core::sc_start(vp::to_sc_time(since - vp::now()));
  outcome_.stop(ExitCode::halted,
                "nothing can happen any more: no event is left, and nobody can type\n" + who +
                    "  a guest ends its run by powering off, not by halting; a console on a "
                    "terminal or a pty can wake one");
}

bool Run::may_be_woken() const {
  const auto is_pty = [](const auto& console) {
    return console.second.kind == ConsoleTarget::Kind::pty;
  };
  return interactive_ || !options_.gdb.empty() ||
         std::any_of(options_.consoles.begin(), options_.consoles.end(), is_pty);
}

void Run::fork_children() {
  const SnapshotOptions& snapshot = *options_.snapshot;
  const Outputs outputs(snapshot.outputs);
  for (vp::Console* console : all_consoles()) console->poll();
  trace_.flush();
  ChildrenSummary summary(snapshot.commands, stdout);
  try {
    vp::Children::run(
        snapshot.commands.size(), snapshot.jobs,
        {[this](std::size_t number, vp::ChildNote& note) { return be_child(number, note); },
         [&](const vp::ChildResult& result) { summary.add(result); },
         [this] {
           terminal_->poll();
           return !outcome_.over();
         }});
  } catch (const vp::ForkError& error) {
    outcome_.stop(ExitCode::failed, error.what());
  } catch (const vp::ThreadsRemain& threads) {
    outcome_.abandon(ExitCode::broken_promise,
                     fmt::format("defect of a model: {}", threads.what()));
  }
  if (!summary.finish(outputs.summary(), snapshot.outputs)) {
    outcome_.stop(ExitCode::failed, outputs.summary().string() + ": cannot be written");
  }
  outcome_.stop(summary.exit_code(), "");
}

int Run::be_child(std::size_t number, vp::ChildNote& note) {
  const SnapshotOptions& snapshot = *options_.snapshot;
  const std::string& command = snapshot.commands[number];
  settle_child(command, Outputs(snapshot.outputs).make_child(number + 1));
  vp::WallClock::start(longest_look_interval);
  snapshot_->go_on(command);
  note_ = &note;
  advance();
  note.time = vp::now();
  note.guest_code = outcome_.guest_code();
  return static_cast<int>(finish());
}

// From here on the child shares nothing with its parent.
void Run::settle_child(const std::string& command, const std::filesystem::path& directory) {
  redirect_output(directory / "messages.txt");
  const Outputs outputs(options_.snapshot->outputs);
  for (vp::Console* console : all_consoles()) {
    const std::filesystem::path log = directory / (console->name() + ".log");
    std::filesystem::copy_file(outputs.boot_console(console->name()), log);
    console->replace_sinks(
        std::make_unique<vp::FileSink>(log.string(), vp::FileSink::Mode::append));
  }
  if (!options_.trace.empty()) {
    options_.trace = directory / "trace.jsonl";
    trace_.continue_in(options_.trace.string(), head(command));
  }
  if (!options_.stats.empty()) options_.stats = directory / "stats.json";
  for (Export& one : options_.exports) one.file = directory / (one.storage + ".img");
  if (share_) {
    std::filesystem::create_directory(directory / "share");
    share_.emplace((directory / "share").string());
  }
}

void Run::look_outside() {
  const auto present = Clock::now();
  if (present - looked_ < look_interval) return;
  looked_ = present;
  terminal_->poll();
  for (vp::Console* console : all_consoles()) console->poll();
}

bool Run::gdb_holds() {
  bool holds = false;
  if (options_.gdb.empty()) return false;
  for (const Processors& each : all_processors()) holds |= !each.qemu->poll();
  return holds;
}

void Run::wait_for_gdb() {
  while (!outcome_.over() && gdb_holds()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    look_outside();
  }
}

// Without this, a guest that only waits would run hours ahead of the user at its shell.
void Run::keep_to_real_time() {
  const auto simulated = std::chrono::nanoseconds(vp::now() / vp::ns);
  const auto ahead = simulated - (Clock::now() - begin_);
  if (ahead < look_interval) {
    // The time that a busy guest has lost is not made up for.
    if (ahead < -look_interval) begin_ = Clock::now() - simulated;
    return;
  }
  pollfd keyboard{STDIN_FILENO, POLLIN, 0};
  const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(ahead);
  ::poll(&keyboard, 1, static_cast<int>(wait.count()));
  look_outside();
}

// A guest asks for `STORAGE NAME`, where NAME is that of a file in the share.
std::string Run::export_as(std::string_view what) {
  const std::size_t blank = what.find(' ');
  if (blank == what.npos) return "export takes what to export, and the name of a file";
  return share_->fill(std::string(what.substr(blank + 1)), [&](int file) {
    return machine_->export_storage(what.substr(0, blank), file);
  });
}

bool Run::export_storages() {
  bool good = true;
  for (const Export& one : options_.exports) {
    const std::string why =
        write_file(one.file, [&](int file) { return machine_->export_storage(one.storage, file); });
    if (why.empty()) continue;
    fmt::print(stderr, "oae-vp: {}: {} is not exported: {}\n", one.file.string(), one.storage, why);
    good = false;
  }
  return good;
}

ExitCode Run::finish() {
  vp::WallClock::stop();
  if (snapshot_ && snapshot_->ahead() && outcome_.code() == ExitCode::success) {
    outcome_.replace(ExitCode::limit,
                     fmt::format("the run ended before mark {}", snapshot_->mark().print()));
  }
  ExitCode code = outcome_.code();
  for (vp::Console* console : all_consoles()) console->poll();
  trace_.close();
  if (trace_.failed()) {
    fmt::print(stderr, "oae-vp: {}: the trace is incomplete\n", options_.trace.string());
    if (code == ExitCode::success) code = ExitCode::failed;
  }
  if (!export_storages() && code == ExitCode::success) code = ExitCode::failed;
  if (!options_.stats.empty()) {
    try {
      statistics_.write(options_.stats.string(), {{"platform", platform_.name},
                                                  {"time_ps", vp::now()},
                                                  {"exit_code", static_cast<int>(code)}});
    } catch (const vp::StatisticsError& error) {
      fmt::print(stderr, "oae-vp: {}\n", error.what());
      if (code == ExitCode::success) code = ExitCode::failed;
    }
  }
  if (!outcome_.why().empty()) fmt::print(stderr, "oae-vp: {}\n", outcome_.why());
  return code;
}

}  // namespace

ExitCode run(const Platform& platform, const RunOptions& options) {
  return Run(platform, options).simulate();
}

}  // namespace platform
