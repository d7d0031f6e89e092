// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>
#include <systemc>

#include "platforms/program/options.h"
#include "vp/plugin/api_version.h"

namespace platform {

namespace {

using vp::ExitCode;

constexpr const char* exit_codes =
    "Exit codes:\n"
    "  0 all went well                     4 the firmware faulted\n"
    "  1 a guest command or check failed   5 time limit, or mark not reached\n"
    "  2 mistake in the platform file, an  6 a model broke a promise: a defect\n"
    "    option or an input file           7 all processors halted for good\n"
    "  3 the guest panicked                130 the run was interrupted\n";

constexpr const char* overview =
    "Examples:\n"
    "  oae-vp run oae-mini                       boots the default platform\n"
    "  oae-vp run switch                         boots two IPUs below a PCIe switch\n"
    "  oae-vp run my.yaml --set hosts[0].vcpus=4\n"
    "  oae-vp check my.yaml                      prints every mistake of a file\n"
    "  oae-vp keys pcie_links                    prints the keys of PCIe links\n"
    "  oae-vp run --help                         prints all options of a run\n\n";

constexpr const char* run_examples =
    "Consoles. --console NAME connects the console of NAME with the terminal, instead of the one\n"
    "that the platform file connects. --console NAME=TARGET sends one console elsewhere. NAME is "
    "a\n"
    "host or an IPU of the platform, `host` or `ipu` if there is only one, or `both`. TARGET is\n"
    "`terminal`, `pty` (a pseudo-terminal, whose name is printed), `off`, or a file (write "
    "`./pty`\n"
    "for a file of that name). On the terminal Ctrl-A x ends the simulator, and Ctrl-C goes to "
    "the\n"
    "guest.\n\n"
    "Children. MARK is a name that the guest gives by `vpctl mark NAME`; the output of `vpctl` is\n"
    "then the command. Or MARK is `line:TEXT`: a line of a host's console that contains TEXT. A\n"
    "shell has to wait there, since the command is typed, and then `exit`. The shipped guest "
    "gives\n"
    "the mark `booted` when it has loaded its driver. Of several hosts, the first that comes to "
    "the\n"
    "mark gets the command. Each child goes on alone and writes into DIR/N/: NAME.log for each\n"
    "console, trace.jsonl with --trace, stats.json with --stats, share/ with --share, and\n"
    "messages.txt. Consoles and trace begin with the boot. The run before the fork writes to the\n"
    "files of these options and into DIR/boot/. DIR/summary.json says how each child ended. The\n"
    "exit code is 0, or that of the child that ended worst: 6 (or a crash), 4, 3, 7, 130, 5, 1. A\n"
    "debugger, waveforms and pseudo-terminals need a single machine: --child makes a run that is\n"
    "equal to that of a child, without a fork.\n\n"
    "Disks. --export disk=FILE writes the first namespace of the disk `disk` to FILE, --export\n"
    "disk.2=FILE the second one. Each child writes its own to DIR/N/disk.img and "
    "DIR/N/disk.2.img.\n"
    "It is what the guest would read from the disk, with what a volatile write cache holds. Only "
    "a\n"
    "guest that has written everything (by `sync`, or by powering off) leaves a whole file "
    "system.\n\n"
    "Examples:\n"
    "  oae-vp run oae-mini --console ipu\n"
    "  oae-vp run oae-mini --snapshot-at booted --children commands.txt --jobs 4 --until 10s\n"
    "  oae-vp run oae-mini --snapshot-at booted --child 'oae bench' --gdb host=1234\n"
    "  oae-vp run oae-mini --console ipu=firmware.log --console host=pty\n"
    "  oae-vp run oae-mini --kernel ./bzImage --append 'nokaslr loglevel=7' --gdb host=1234\n"
    "  oae-vp run oae-mini --input commands.txt --until 5s --stats run.json\n"
    "  oae-vp run debian --export disk=after.img\n"
    "  oae-vp run copier.yaml --vcd copier=copier.vcd --vcd ipu=ipu.vcd\n"
    "  oae-vp run e2000 --set ipus[0].cores=4 --set pcie_links[*].lanes=8 --log pcie=debug\n\n";

constexpr const char* check_examples =
    "Examples:\n"
    "  oae-vp check my.yaml\n"
    "  oae-vp check oae-mini --set hosts[0].memory=1GiB --images ../build/images\n\n";

constexpr const char* keys_examples =
    "Examples:\n"
    "  oae-vp keys              prints all keys\n"
    "  oae-vp keys latency      prints those with `latency` in their path\n"
    "  oae-vp keys --plugin ./libchecksum.so checksum\n\n";

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(28); }
  std::string make_footer(const CLI::App* app) const override { return "\n" + app->get_footer(); }
};

/// The options that change the platform. Both `run` and `check` have them.
void add_platform_options(CLI::App& app, CommandLine& line) {
  const char* group = "Platform";
  app.add_option("PLATFORM", line.platform, "name of a shipped platform, or path of a file")
      ->required()
      ->option_text(" ");
  const auto list = [&](const char* name, std::vector<std::string>& values, const char* text,
                        const char* form) {
    app.add_option(name, values, text)->allow_extra_args(false)->option_text(form)->group(group);
  };
  const auto single = [&](const char* name, std::optional<std::string>& value, const char* text,
                          const char* form) {
    app.add_option(name, value, text)->option_text(form)->group(group);
  };
  list("--set", line.set, "change a value of the platform file", "KEY=VALUE");
  list("--log", line.log, "least level that a component logs, such as debug; `all` sets the others",
       "COMPONENT=LEVEL");
  single("--kernel", line.kernel, "kernel of every host, a bzImage", "FILE");
  single("--initrd", line.initrd, "initramfs of every host, or `none`", "FILE");
  single("--firmware", line.firmware, "firmware of every IPU, an ELF file", "FILE");
  app.add_option("--append", line.append, "text to add to the command line of every kernel")
      ->option_text("TEXT")
      ->group(group);
  single("--images", line.images, "directory of files that are named without a path", "DIR");
}

void add_run_options(CLI::App& app, CommandLine& line) {
  const char* group = "Run";
  const auto single = [&](const char* name, std::optional<std::string>& value, const char* text,
                          const char* form) {
    app.add_option(name, value, text)->option_text(form)->group(group);
  };
  const auto list = [&](const char* name, std::vector<std::string>& values, const char* text,
                        const char* form) {
    app.add_option(name, values, text)->allow_extra_args(false)->option_text(form)->group(group);
  };
  single("--until", line.until, "end after this simulated time, such as 2.5s; exit code 5", "TIME");
  single("--until-mark", line.mark, "end when the guest runs `vpctl mark NAME`", "NAME");
  single("--snapshot-at", line.snapshot_at, "mark at which --children or --child begin", "MARK");
  single("--children", line.children, "fork at MARK for each line, a command of the guest", "FILE");
  single("--children-output", line.children_output, "directory of the children (default: FILE.out)",
         "DIR");
  single("--jobs", line.jobs, "children that run at once (default: one for each core)", "N");
  single("--child", line.child, "do at MARK what a child would do, without a fork", "COMMAND");
  list("--console", line.console, "where the output of a console goes; see below", "NAME[=TARGET]");
  single("--input", line.input, "script of input for the first host's console", "FILE");
  single("--share", line.share, "existing directory whose files the guest gets and may add to",
         "DIR");
  list("--gdb", line.gdb, "wait for GDB at this local TCP port", "NAME=PORT");
  single("--trace", line.trace, "write all transactions as JSON lines", "FILE");
  list("--vcd", line.vcd, "write the signals of the RTL of NAME, or of the first IPU",
       "[NAME=]FILE");
  app.add_flag("--check-rtl", line.check_rtl, "check the assertions of the OAE RTL; slower")
      ->group(group);
  list("--export", line.exports, "write what a device stores at the end to an image; see below",
       "DEVICE[.N]=FILE");
  single("--stats", line.stats, "write counters and latencies at the end as JSON", "FILE");
}

/// A remedy for a command line that cannot be parsed, or an empty string.
std::string remedy(const CLI::App& app, int argc, char** argv) {
  std::vector<const CLI::App*> parts = {&app};
  for (const CLI::App* each : app.get_subcommands()) parts.push_back(each);
  std::vector<std::string> names;
  for (const CLI::App* part : parts)
    for (const CLI::Option* option : part->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (word.size() < 3 || word.compare(0, 2, "--") != 0) continue;
    if (std::count(names.begin(), names.end(), word)) continue;
    const std::string meant = vp::config::nearest(word, names);
    if (!meant.empty())
      return fmt::format("{}: did you mean {}?", vp::config::shown(word), vp::config::shown(meant));
  }
  if (app.get_subcommands().empty() && argc > 1) {
    const std::string meant = vp::config::nearest(argv[1], {"run", "check", "keys"});
    if (!meant.empty()) return fmt::format("did you mean {}?", vp::config::shown(meant));
  }
  return {};
}

}  // namespace

Parsed parse_command_line(int argc, char** argv, std::ostream& out, std::ostream& err) {
  CommandLine line;
  CLI::App app("Boots a platform: Linux hosts and IPUs over a timed PCIe model.\n", "oae-vp");
  app.formatter(std::make_shared<HelpFormatter>());
  app.require_subcommand(1);
  app.footer(std::string(overview) + exit_codes);
  app.set_version_flag("--version",
                       fmt::format("oae-vp {} (SystemC {}, plugin interface {})", OAE_VP_VERSION,
                                   sc_core::sc_release(), OAE_VP_API_VERSION))
      ->description("print the version");
  app.get_option("--help")->description("print this text")->configurable(false);

  CLI::App* run = app.add_subcommand("run", "runs a platform");
  add_platform_options(*run, line);
  add_run_options(*run, line);
  run->footer(std::string(run_examples) + exit_codes);
  CLI::App* check =
      app.add_subcommand("check", "reports every mistake in a platform file and starts nothing");
  add_platform_options(*check, line);
  check->footer(std::string(check_examples) + exit_codes);
  CLI::App* keys = app.add_subcommand("keys", "prints what a platform file may hold");
  keys->add_option("TEXT", line.filter, "only keys with this text in their path")->option_text(" ");
  keys->add_option("--plugin", line.plugins, "print the keys of this plugin's kinds, too")
      ->allow_extra_args(false)
      ->option_text("FILE");
  keys->footer(keys_examples);

  if (argc < 2) {
    err << app.help();
    return {std::nullopt, ExitCode::mistake};
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    out << (chosen.empty() ? app.help() : chosen[0]->help("oae-vp"));
    return {};
  } catch (const CLI::CallForAllHelp&) {
    out << app.help("", CLI::AppFormatMode::All);
    return {};
  } catch (const CLI::CallForVersion& version) {
    out << version.what() << '\n';
    return {};
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    const std::string more = remedy(app, argc, argv);
    err << "oae-vp: " << error.what() << '\n';
    if (!more.empty()) err << "    remedy: " << more << '\n';
    err << fmt::format("    `oae-vp {}--help` prints all options\n",
                       chosen.empty() ? "" : chosen[0]->get_name() + " ");
    return {std::nullopt, ExitCode::mistake};
  }
  line.command = run->parsed()     ? CommandLine::Command::run
                 : check->parsed() ? CommandLine::Command::check
                                   : CommandLine::Command::keys;
  return {line, ExitCode::success};
}

}  // namespace platform
