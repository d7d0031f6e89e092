// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>
#include <systemc>

#include "platforms/program/options.h"

namespace platform {

namespace {

using vp::ExitCode;

constexpr const char* exit_codes =
    "Exit codes:\n"
    "  0 all went well                     4 firmware fault\n"
    "  1 a guest command or check failed   5 time limit, or mark not reached\n"
    "  2 mistake in the platform file, an  6 a model broke a promise: a defect\n"
    "    option or an input file           130 interrupted\n"
    "  3 guest panic\n";

constexpr const char* overview =
    "Examples:\n"
    "  oae-vp run oae-mini                       boot the default platform\n"
    "  oae-vp run switch                         two IPUs below a PCIe switch\n"
    "  oae-vp run my.yaml --set hosts[0].vcpus=4\n"
    "  oae-vp check my.yaml                      every mistake of a file, with its place\n"
    "  oae-vp keys pcie_links                    what a platform file may say of PCIe links\n"
    "  oae-vp run --help                         all options of a run, with examples\n\n";

constexpr const char* run_examples =
    "Consoles. --console NAME gives NAME the terminal (keyboard included) instead of the one that\n"
    "the platform file gives it to; --console NAME=TARGET sends one console elsewhere. NAME is a\n"
    "host or IPU of the platform, `host` or `ipu` where there is one, or `both`. TARGET is\n"
    "`terminal`, `pty` (a pseudo-terminal, whose name is printed), `off` or a file (`./pty` if it\n"
    "is called so). On the terminal Ctrl-A x ends the simulator; Ctrl-C goes to the guest.\n\n"
    "Children. MARK is a name that the guest says by `vpctl mark NAME`, whose output is then the\n"
    "command; or `line:TEXT`, a line of a host's console with TEXT in it, where a shell is: the\n"
    "command is typed there, then `exit`. The shipped guest says `booted` when it has loaded its\n"
    "driver. Of several hosts the first that comes to the mark gets the command. A child goes\n"
    "on alone and writes DIR/N/: NAME.log for each console, trace.jsonl with --trace, stats.json\n"
    "with --stats, share/ with --share, messages.txt. Consoles and trace begin with the boot. Its\n"
    "own output is where these options say, and in DIR/boot/. DIR/summary.json tells how each has\n"
    "ended. The exit code is 0, or that of the child that ended worst: 6 (or a crash), 4, 3, 130,\n"
    "5, 1. A debugger, waveforms and pseudo-terminals are for one machine: --child makes a run\n"
    "that is equal to that of the child, without a fork.\n\n"
    "Examples:\n"
    "  oae-vp run oae-mini --console ipu\n"
    "  oae-vp run oae-mini --snapshot-at booted --children commands.txt --jobs 4 --until 10s\n"
    "  oae-vp run oae-mini --snapshot-at booted --child 'oae bench' --gdb host=1234\n"
    "  oae-vp run oae-mini --console ipu=firmware.log --console host=pty\n"
    "  oae-vp run oae-mini --kernel ./bzImage --append 'nokaslr loglevel=7' --gdb host=1234\n"
    "  oae-vp run oae-mini --input commands.txt --until 5s --stats run.json\n"
    "  oae-vp run e2000 --set ipus[0].cores=4 --set pcie_links[*].lanes=8 --log pcie=debug\n\n";

constexpr const char* check_examples =
    "Examples:\n"
    "  oae-vp check my.yaml\n"
    "  oae-vp check oae-mini --set hosts[0].memory=1GiB --images ../build/images\n\n";

constexpr const char* keys_examples =
    "Examples:\n"
    "  oae-vp keys              all keys\n"
    "  oae-vp keys latency      those with `latency` in their path\n\n";

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(28); }
  std::string make_footer(const CLI::App* app) const override { return "\n" + app->get_footer(); }
};

/// Options that change the platform; `run` and `check` have them.
void add_platform_options(CLI::App& app, CommandLine& line) {
  const char* group = "Platform";
  app.add_option("PLATFORM", line.platform, "name of a platform that comes along, or a path")
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
  list("--set", line.set, "change a value of the file; see `oae-vp keys`", "KEY=VALUE");
  list("--log", line.log, "least level that a component logs, as debug; `all` for the others",
       "COMPONENT=LEVEL");
  single("--kernel", line.kernel, "Linux of every host, a bzImage of your own", "FILE");
  single("--initrd", line.initrd, "initramfs of every host, or `none`", "FILE");
  single("--firmware", line.firmware, "firmware of every IPU, an ELF file", "FILE");
  app.add_option("--append", line.append, "added to the command line of every kernel")
      ->option_text("TEXT")
      ->group(group);
  single("--images", line.images, "where files are that are named without a path", "DIR");
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
  single("--until", line.until, "end after this simulated time, as 2.5s; exit code 5", "TIME");
  single("--until-mark", line.mark, "end when the guest says `vpctl mark NAME`", "NAME");
  single("--snapshot-at", line.snapshot_at, "go on from this mark with --children or --child",
         "MARK");
  single("--children", line.children, "fork at MARK, once for each line: a guest command", "FILE");
  single("--children-output", line.children_output, "what children write (default: FILE.out)",
         "DIR");
  single("--jobs", line.jobs, "children at once (default: one for each core)", "N");
  single("--child", line.child, "do at MARK what a child would do, without a fork", "COMMAND");
  list("--console", line.console, "where a console goes; see below", "NAME[=TARGET]");
  single("--input", line.input, "script of input for the first host's console", "FILE");
  single("--share", line.share, "existing directory whose files the guest has, and may add to",
         "DIR");
  list("--gdb", line.gdb, "wait for GDB at this TCP port of this machine", "NAME=PORT");
  single("--trace", line.trace, "write all transactions, JSON lines", "FILE");
  single("--vcd", line.vcd, "write the signals of the OAE block", "FILE");
  single("--stats", line.stats, "write counters and latencies at the end, JSON", "FILE");
}

/// What else to say of a command line that does not parse.
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
                       fmt::format("oae-vp {} (SystemC {})", OAE_VP_VERSION, sc_core::sc_release()))
      ->description("the version");
  app.get_option("--help")->description("this text")->configurable(false);

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
    err << fmt::format("    `oae-vp {}--help` tells all options\n",
                       chosen.empty() ? "" : chosen[0]->get_name() + " ");
    return {std::nullopt, ExitCode::mistake};
  }
  line.command = run->parsed()     ? CommandLine::Command::run
                 : check->parsed() ? CommandLine::Command::check
                                   : CommandLine::Command::keys;
  return {line, ExitCode::success};
}

}  // namespace platform
