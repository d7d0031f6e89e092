// SPDX-License-Identifier: Apache-2.0
#include "platforms/program/program.h"

#include <ostream>
#include <system_error>

#include "models/device/kind.h"
#include "models/device/plugin.h"
#include "platforms/description/load.h"
#include "platforms/description/schema.h"
#include "platforms/program/options.h"
#include "platforms/program/summary.h"
#include "vp/images/file.h"

namespace platform {

namespace fs = std::filesystem;
using vp::ExitCode;
using vp::config::Mistakes;
using vp::config::Report;

namespace {

/// Returns the directory of images that the user names, or the default.
fs::path image_directory(const CommandLine& line, const Surroundings& around, Report& report) {
  std::error_code error;
  if (line.images) {
    if (!fs::is_directory(*line.images, error))
      report.add({origin_at(vp::config::argument_source("--images", *line.images), 0),
                  fs::exists(*line.images, error) ? "this is not a directory"
                                                  : "there is no such directory",
                  "the directory that scripts/setup fills", "run scripts/setup"});
    return *line.images;
  }
  for (const fs::path& each : around.images)
    if (fs::is_directory(each, error)) return each;
  return around.images.empty() ? fs::path("images") : around.images.back();
}

ExitCode run_or_check(const CommandLine& line, const Surroundings& around, const Run& run,
                      std::ostream& out) {
  Report report;
  const bool runs = line.command == CommandLine::Command::run;
  const fs::path images = image_directory(line, around, report);
  const std::vector<vp::config::Override> changes = overrides(line, report);
  RunOptions options;
  if (runs) options = run_options(line, report);

  std::optional<Platform> platform;
  fs::path file;
  try {
    file = find_platform(line.platform, around.platforms);
    platform = load(file, images, changes, line.append);
    if (runs) name_parts(line, *platform, options, report);
    options.inputs = check_inputs(*platform, images);
    if (runs) check_outputs(line, file, options, report);
  } catch (const Mistakes& mistakes) {
    report.add(mistakes.report());
  }
  report.check();
  if (!runs) {
    out << summary(*platform) << file.string() << ": no mistakes\n";
    return ExitCode::success;
  }
  return run(*platform, options);
}

/// Prints the keys of a platform file with the text of the command line in their path.
ExitCode print_keys(const CommandLine& line, std::ostream& out, std::ostream& err) {
  Report report;
  for (const std::string& plugin : line.plugins) {
    try {
      device::load_plugin(plugin);
    } catch (const vp::images::Mistake& mistake) {
      report.add({origin_at(vp::config::argument_source("--plugin", plugin), 0), mistake.what(), "",
                  mistake.remedy()});
    }
  }
  report.check();
  const std::string text =
      vp::config::print_reference(vp::config::reference(schema()), line.filter);
  out << text;
  if (text.empty())
    err << "oae-vp: no key contains " << vp::config::shown(line.filter)
        << "; `oae-vp keys` prints all keys\n";
  return text.empty() ? ExitCode::mistake : ExitCode::success;
}

}  // namespace

Surroundings surroundings() {
  Surroundings around;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path here = program.parent_path();
    const fs::path installed = (here / "../share/oae-vp").lexically_normal();
    around.platforms.push_back(here);
    around.platforms.push_back(installed / "platforms");
    around.images.push_back(installed / "images");
    for (const fs::path& up : {here, here / "..", here / "../.."})
      around.images.push_back((up / "images").lexically_normal());
  }
  around.platforms.emplace_back(OAE_VP_PLATFORMS);
  around.images.emplace_back(OAE_VP_IMAGES);
  return around;
}

ExitCode program(int argc, char** argv, const Surroundings& around, const Run& run,
                 std::ostream& out, std::ostream& err) {
  const Parsed parsed = parse_command_line(argc, argv, out, err);
  if (!parsed.command_line) return parsed.exit_code;
  const CommandLine& line = *parsed.command_line;
  try {
    if (line.command == CommandLine::Command::keys) return print_keys(line, out, err);
    return run_or_check(line, around, run, out);
  } catch (const Mistakes& mistakes) {
    err << mistakes.what();
    return ExitCode::mistake;
  } catch (const device::KindFailed& failed) {
    err << "oae-vp: " << failed.what() << '\n';
    return ExitCode::broken_promise;
  } catch (const std::exception& defect) {
    err << "oae-vp: defect of the simulator: " << defect.what() << '\n';
    return ExitCode::broken_promise;
  }
}

}  // namespace platform
