// SPDX-License-Identifier: Apache-2.0
#include "platforms/program/options.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "models/ipu/kind/description.h"
#include "tests/platforms/workshop.h"

using platform::ConsoleTarget;
using testing::HasSubstr;
using testing::Not;
using vp::ExitCode;
using Kind = platform::ConsoleTarget::Kind;

namespace {

TEST(Program, RunsWhatIsSound) {
  const Workshop workshop;
  const auto result = workshop.call({"run", "good"});
  EXPECT_EQ(result.exit_code, ExitCode::guest_panic);  // the run's own verdict
  ASSERT_TRUE(result.platform);
  EXPECT_EQ(result.platform->name, "good");
  EXPECT_FALSE(result.options.until);
  EXPECT_EQ(result.options.consoles.at("host").kind, Kind::terminal);
  EXPECT_EQ(result.options.consoles.at("ipu").kind, Kind::off);
}

TEST(Program, PassesOptionsOn) {
  const Workshop workshop;
  const std::string script = workshop.file("script", "expect \"# \"\nsend \"ls\\n\"\n").string();
  const std::string kernel = workshop.file("k", samples::kernel()).string();
  const std::string firmware = workshop.file("f", samples::firmware()).string();
  const std::string initrd = workshop.file("i", samples::initramfs()).string();
  const auto result = workshop.call({"run",
                                     workshop.path("good.yaml").string(),
                                     "--until",
                                     "1.5s",
                                     "--until-mark",
                                     "booted",
                                     "--kernel",
                                     kernel,
                                     "--append",
                                     "quiet loglevel=7",
                                     "--initrd",
                                     initrd,
                                     "--firmware",
                                     firmware,
                                     "--console",
                                     "ipu=" + workshop.path("fw.log").string(),
                                     "--input",
                                     script,
                                     "--share",
                                     workshop.path("").string(),
                                     "--trace",
                                     workshop.path("t.json").string(),
                                     "--vcd",
                                     workshop.path("w.vcd").string(),
                                     "--check-rtl",
                                     "--stats",
                                     workshop.path("s.json").string(),
                                     "--set",
                                     "hosts[0].vcpus=4",
                                     "--set=pcie_links[*].lanes=8",
                                     "--log",
                                     "pcie=debug",
                                     "--log=all=error",
                                     "--images",
                                     workshop.images().string()});
  ASSERT_TRUE(result.platform) << result.err;
  const platform::RunOptions& options = result.options;
  EXPECT_EQ(options.until, 1'500'000'000'000);
  EXPECT_EQ(options.mark, "booted");
  EXPECT_EQ(options.consoles.at("host").kind, Kind::terminal);
  EXPECT_EQ(options.consoles.at("ipu").kind, Kind::file);
  EXPECT_EQ(options.consoles.at("ipu").file, workshop.path("fw.log"));
  EXPECT_EQ(options.input->steps.size(), 2u);
  EXPECT_EQ(options.share, workshop.path(""));
  EXPECT_EQ(options.trace, workshop.path("t.json"));
  EXPECT_THAT(options.vcd, testing::ElementsAre(testing::Pair("ipu", workshop.path("w.vcd"))));
  EXPECT_EQ(options.stats, workshop.path("s.json"));
  EXPECT_TRUE(options.check_rtl);
  EXPECT_EQ(result.platform->hosts[0].vcpus, 4u);
  EXPECT_EQ(result.platform->hosts[0].kernel.path, kernel);
  EXPECT_EQ(result.platform->hosts[0].initrd->path, initrd);
  EXPECT_EQ(result.platform->hosts[0].append, "console=ttyS0 quiet loglevel=7");
  const auto& ipu = dynamic_cast<const ipu::Description&>(*result.platform->lists.at("ipus").at(0));
  EXPECT_EQ(ipu.firmware.path, firmware);
  EXPECT_EQ(result.platform->pcie_links[0].lanes, 8u);
  EXPECT_EQ(result.platform->log.at("pcie"), "debug");
  EXPECT_EQ(result.platform->log.at("all"), "error");
  // The file is read and not changed.
  EXPECT_FALSE(std::filesystem::exists(workshop.path("t.json")));
}

TEST(Program, PassesAWaveformOfEachPartOn) {
  const Workshop workshop;
  const std::string ipu = workshop.path("i=1").string();
  const std::string copier = workshop.path("c").string();
  const auto result =
      workshop.call({"run", "good", "--set", "devices=[{name: c, kind: copier}]", "--set",
                     "pcie_links=[{up: host, down: ipu}, {up: host, down: c}]", "--vcd", ipu,
                     "--vcd", "c=" + copier});
  ASSERT_TRUE(result.platform) << result.err;
  EXPECT_THAT(result.options.vcd,
              testing::ElementsAre(testing::Pair("c", copier), testing::Pair("ipu", ipu)));
}

TEST(Program, PassesTheCommandsOfChildrenOn) {
  const Workshop workshop;
  const std::string commands =
      workshop.file("c", "# two\n\n  oae bench \r\n\t\n #no\necho '# a' # b").string();
  const auto result =
      workshop.call({"run", "good", "--snapshot-at", "booted", "--children", commands, "--console",
                     "host=off", "--share", workshop.path("").string(), "--trace",
                     workshop.path("t").string(), "--jobs", "3"});
  ASSERT_TRUE(result.platform) << result.err;
  ASSERT_TRUE(result.options.snapshot);
  const platform::SnapshotOptions& snapshot = *result.options.snapshot;
  EXPECT_EQ(snapshot.mark.kind, vp::Mark::Kind::name);
  EXPECT_EQ(snapshot.mark.text, "booted");
  EXPECT_THAT(snapshot.commands, testing::ElementsAre("oae bench", "echo '# a' # b"));
  EXPECT_TRUE(snapshot.forks);
  EXPECT_EQ(snapshot.outputs, commands + ".out");
  EXPECT_EQ(snapshot.jobs, 3u);
  EXPECT_FALSE(std::filesystem::exists(snapshot.outputs));
}

TEST(Program, PassesTheCommandOfASingleChildOn) {
  const Workshop workshop;
  const auto result =
      workshop.call({"run", "good", "--snapshot-at", "line:a shell: # ", "--child", " ls ", "--vcd",
                     workshop.path("v").string(), "--console", "host=pty"});
  ASSERT_TRUE(result.platform) << result.err;
  const platform::SnapshotOptions& snapshot = *result.options.snapshot;
  EXPECT_EQ(snapshot.mark.kind, vp::Mark::Kind::line);
  EXPECT_EQ(snapshot.mark.text, "a shell: # ");
  EXPECT_THAT(snapshot.commands, testing::ElementsAre("ls"));
  EXPECT_FALSE(snapshot.forks);
}

TEST(Program, ReplacesTheOutputOfEarlierChildren) {
  const Workshop workshop;
  const std::string commands = workshop.file("c", "ls\n").string();
  const std::vector<std::string> arguments = {"run",    "good",       "--snapshot-at",
                                              "booted", "--children", commands};
  std::filesystem::create_directory(commands + ".out");
  EXPECT_TRUE(workshop.call(arguments).platform);  // empty
  workshop.file("c.out/precious", "");
  EXPECT_THAT(workshop.call(arguments).err,
              HasSubstr("is not empty and does not come from an earlier run"));
  workshop.file("c.out/summary.json", "{}");
  EXPECT_TRUE(workshop.call(arguments).platform);
}

TEST(Program, FilesOfOptionsAreInTheCurrentDirectory) {
  const Workshop workshop;
  workshop.file("own", samples::kernel());
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(workshop.path(""));
  const auto plain = workshop.call({"check", "good", "--kernel", "own"});
  const auto set = workshop.call({"check", "good", "--set", "hosts[0].kernel=./own"});
  const auto name = workshop.call({"check", "good", "--set", "hosts[0].kernel=own"});
  std::filesystem::current_path(before);
  EXPECT_EQ(plain.err, "");
  EXPECT_EQ(set.err, "");
  EXPECT_THAT(name.err, HasSubstr("images/own"));
}

TEST(Program, ChecksAndStartsNothing) {
  const Workshop workshop;
  const auto good = workshop.call({"check", "good"});
  EXPECT_EQ(good.exit_code, ExitCode::success);
  EXPECT_FALSE(good.platform);
  EXPECT_THAT(good.out, HasSubstr("IPU ipu: 1 core (neoverse-n1, 1GIPS), 4MiB SRAM, 128MiB DRAM"));
  workshop.file("disk.yaml", Workshop::with_disk());
  EXPECT_THAT(workshop.call({"check", "disk"}).out, HasSubstr("  nvme disk: 1MiB blank\n"));
  EXPECT_THAT(good.out, HasSubstr("PCIe host -> ipu: generation 4 x16, 250ns down, 250ns up"));
  EXPECT_THAT(good.out, HasSubstr("good.yaml: no mistakes\n"));
  workshop.file("bad.yaml", Workshop::changed("kernel:", "kernal:"));
  const auto bad = workshop.call({"check", "bad"});
  EXPECT_EQ(bad.exit_code, ExitCode::mistake);
  EXPECT_EQ(bad.out, "");
  EXPECT_THAT(bad.err, HasSubstr("bad.yaml:8:5: unknown key `kernal`"));
  EXPECT_EQ(workshop.call({"run", "bad"}).exit_code, ExitCode::mistake);
}

TEST(Program, PrintsKeys) {
  const Workshop workshop;
  const auto all = workshop.call({"keys"});
  EXPECT_EQ(all.exit_code, ExitCode::success);
  EXPECT_THAT(all.out,
              HasSubstr("hosts[].vcpus\n    Virtual CPUs\n    a whole number from 1 to 16; "
                        "default 1\n"));
  EXPECT_THAT(all.out, HasSubstr("pcie_links[].lanes\n"));
  EXPECT_THAT(workshop.call({"keys", "lanes"}).out, Not(HasSubstr("vcpus")));
  EXPECT_EQ(workshop.call({"keys", "xyzzy"}).exit_code, ExitCode::mistake);
}

TEST(Program, Helps) {
  const Workshop workshop;
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"--help"}, {"-h"}, {"run", "--help"}, {"check", "-h"}, {"keys", "--help"}}) {
    const auto result = workshop.call(arguments);
    EXPECT_EQ(result.exit_code, ExitCode::success);
    EXPECT_THAT(result.out, HasSubstr("Examples:"));
  }
  EXPECT_THAT(workshop.call({"--version"}).out, HasSubstr("oae-vp 0."));
  const std::string help = workshop.call({"run", "--help"}).out;
  for (const char* option : {"--until",       "--until-mark", "--kernel",          "--append",
                             "--initrd",      "--firmware",   "--console",         "--input",
                             "--share",       "--gdb",        "--trace",           "--vcd",
                             "--stats",       "--set",        "--images",          "--log",
                             "--snapshot-at", "--children",   "--children-output", "--jobs",
                             "--child",       "--check-rtl",  "--export"})
    EXPECT_THAT(help, HasSubstr(option));
  // Lines fit a terminal.
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

// Options find an IPU wherever it stands in the file, and a machine without one has no such name.
TEST(Program, NamesAnIpuAmongTheDevices) {
  const Workshop workshop;
  const std::string link = "pcie_links=[{up: host, down: card}]";
  const std::string card = "devices=[{name: card, kind: ipu, firmware: oae-fw.elf, console: pty}]";
  workshop.file("card.yaml",
                Workshop::changed("ipus:\n  - name: ipu\n    firmware: oae-fw.elf\n", ""));
  const auto result = workshop.call({"run", "card", "--set", card, "--set", link, "--gdb",
                                     "ipu=4711", "--vcd", workshop.path("w.vcd").string(),
                                     "--console", "ipu=" + workshop.path("log").string()});
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.options.gdb, testing::ElementsAre(testing::Pair("card", 4711)));
  EXPECT_THAT(result.options.vcd,
              testing::ElementsAre(testing::Pair("card", workshop.path("w.vcd"))));
  EXPECT_EQ(result.options.consoles.at("card").kind, Kind::file);
  const auto plain = workshop.call({"run", "card", "--set", card, "--set", link});
  EXPECT_EQ(plain.options.consoles.at("card").kind, Kind::pty);
  EXPECT_THAT(workshop.call({"check", "card", "--set", card, "--set", link}).out,
              HasSubstr("  IPU card: 1 core (neoverse-n1, 1GIPS), 4MiB SRAM"));

  const std::string disk = "devices=[{name: card, kind: nvme, namespaces: [{size: 1MiB}]}]";
  EXPECT_EQ(workshop.call({"run", "card", "--set", disk, "--set", link}).err, "");
  for (const char* option : {"--gdb", "--console"}) {
    EXPECT_THAT(workshop.call({"run", "card", "--set", disk, "--set", link, option, "ipu=1"}).err,
                HasSubstr("the platform has no `ipu`"));
  }
  EXPECT_THAT(workshop.call({"run", "card", "--set", disk, "--set", link, "--vcd", "w.vcd"}).err,
              HasSubstr("the platform has no RTL"));
}

struct Wrong {
  std::vector<std::string> arguments;
  const char *found, *more;
};

TEST(Program, RefusesCommandLines) {
  const Workshop workshop;
  workshop.file("script", "expect\n");
  workshop.file("read-only", "");
  workshop.file("commands", "ls\n");
  workshop.file("comments", "# nothing\n\n");
  workshop.file("control", "ls\nl\x01s\n");
  workshop.file("long", "ls\n\n" + std::string(4001, 'x') + "\n");
  const auto path = [&](const char* name) { return workshop.path(name).string(); };
  const Wrong table[] = {
      {{}, "Examples:", ""},
      {{"chek", "good"}, "subcommand", "did you mean `check`"},
      {{"run"}, "PLATFORM is required", "oae-vp run --help"},
      {{"run", "good", "other"}, "not expected: other", "oae-vp run --help"},
      {{"run", "good", "--kernl", "x"}, "--kernl", "did you mean `--kernel`"},
      {{"check", "good", "--until", "1s"}, "--until", ""},
      {{"run", "good", "--until"}, "--until", "1 required"},
      {{"run", "good", "--until", "1s", "--until", "2s"}, "--until", ""},
      {{"run", "god"}, "platform `god`: there is no such platform", "did you mean `good`"},
      {{"run", "./good"}, "no such platform and no such file", ""},
      {{"run", path("images")}, "is a directory", "name a file in it"},
      {{"run", "/dev/null"}, "not a regular file", ""},
      {{"run", "good", "--until", "5"}, "--until `5`, column 1: `5` has no unit", "2.5s"},
      {{"run", "good", "--until", "0s"}, "the time is 0", "above 0"},
      {{"run", "good", "--until", "-1s"}, "negative", ""},
      {{"run", "good", "--until", ""}, "not a number with a unit", ""},
      {{"run", "good", "--until-mark", "a b"}, "`a b` is not a valid name of a mark", "letters"},
      {{"run", "good", "--until-mark", ""}, "is not a valid name of a mark", "letters"},
      {{"run", "good", "--snapshot-at", "a"}, "--snapshot-at needs --children or --child", ""},
      {{"run", "good", "--children", path("commands")}, "--children needs --snapshot-at", ""},
      {{"run", "good", "--child", "ls"}, "--child needs --snapshot-at", ""},
      {{"run", "good", "--jobs", "1"}, "--jobs needs --children", ""},
      {{"run", "good", "--snapshot-at", "a", "--child", "ls", "--children-output", "d"},
       "--children-output needs --children",
       ""},
      {{"run", "good", "--snapshot-at", "a", "--child", "ls", "--children", path("commands")},
       "--child and --children exclude each other",
       "one of the two"},
      {{"run", "good", "--snapshot-at", "a b", "--child", "ls"},
       "is not a valid name of a mark",
       "letters"},
      {{"run", "good", "--snapshot-at", "line:", "--child", "ls"},
       "--snapshot-at `line:`, column 6: the text is empty, too long, or has a control character",
       "1 to 200"},
      {{"run", "good", "--snapshot-at", "line:" + std::string(201, 'x'), "--child", "ls"},
       "the text is empty, too long, or has a control character",
       "1 to 200"},
      {{"run", "good", "--snapshot-at", "line:a\tb", "--child", "ls"},
       "the text is empty",
       "control"},
      {{"run", "good", "--snapshot-at", "a", "--until-mark", "a", "--child", "ls"},
       "this is also the mark of --until-mark",
       "different"},
      {{"run", "good", "--snapshot-at", "a", "--child", " "}, "the command is empty", "one line"},
      {{"run", "good", "--snapshot-at", "a", "--child", "a\nb"},
       "the command has a control character",
       "one line"},
      {{"run", "good", "--snapshot-at", "a", "--child", std::string(4001, 'x')},
       "the command has 4001 bytes",
       "at most 4000"},
      {{"run", "good", "--snapshot-at", "a", "--children", path("absent")},
       "absent: there is no such file",
       ""},
      {{"run", "good", "--snapshot-at", "a", "--children", path("images")}, "a directory", ""},
      {{"run", "good", "--snapshot-at", "a", "--children", path("read-only")},
       "read-only: the file is empty",
       ""},
      {{"run", "good", "--snapshot-at", "a", "--children", path("comments")},
       "the file has no command",
       "comments"},
      {{"run", "good", "--snapshot-at", "a", "--children", path("control")}, "control:2:", ""},
      {{"run", "good", "--snapshot-at", "a", "--children", path("long")},
       "long:3:1: the command has 4001 bytes",
       "--share"},
      {{"run", "good", "--snapshot-at", "a", "--children", path("commands"), "--children-output",
        path("images")},
       "is not empty and does not come from an earlier run",
       "name another"},
      {{"run", "good", "--snapshot-at", "a", "--children", path("commands"), "--children-output",
        path("good.yaml")},
       "is not a directory",
       "name another"},
      {{"run", "good", "--snapshot-at", "a", "--children", path("commands"), "--children-output",
        path("none/d")},
       "there is no directory",
       "create it"},
      {{"run", "good", "--snapshot-at", "a", "--children", path("commands"), "--children-output",
        ""},
       "the name is empty",
       ""},
      {{"run", "good", "--snapshot-at", "a", "--children", path("commands"), "--jobs", "0"},
       "`0` is not a number of children",
       "1 to 1024"},
      {{"run", "good", "--snapshot-at", "a", "--children", path("commands"), "--jobs", "1025"},
       "is not a number of children",
       "1 to 1024"},
      {{"run", "good", "--snapshot-at", "a", "--children", path("commands"), "--jobs", "-1"},
       "is not a number of children",
       "1 to 1024"},
      {{"run", "good", "--snapshot-at", "a", "--children", path("commands"), "--gdb", "host=9999"},
       "children cannot have a debugger",
       "--child COMMAND"},
      {{"run", "good", "--snapshot-at", "a", "--children", path("commands"), "--vcd", path("v")},
       "children cannot have waveforms",
       "--child COMMAND"},
      {{"run", "good", "--snapshot-at", "a", "--children", path("commands"), "--console",
        "ipu=pty"},
       "children cannot have a pseudo-terminal, which the console of ipu has",
       "--console ipu=off"},
      {{"run", "good", "--snapshot-at", "a", "--children", path("commands"), "--trace",
        "/dev/null"},
       "this is not a regular file",
       "name another"},
      {{"run", "good", "--snapshot-at", "a", "--children", path("commands"), "--stats",
        path("commands")},
       "this is also the file of --children",
       "name another"},
      {{"run", "good", "--set", "hosts[0].vcpus"}, "it has no `=`", "hosts[0].vcpus=2"},
      {{"run", "good", "--set", "hosts[0].vcpus=17"},
       "--set `hosts[0].vcpus=17`, column 16",
       "1 to 16"},
      {{"run", "good", "--set", "hosts[1].vcpus=1"}, "hosts has 1 element", "from 0 to 0"},
      {{"run", "good", "--set", "hots[0].vcpus=1"},
       "column 1: unknown key `hots`",
       "did you mean `hosts`"},
      {{"run", "good", "--set", "hosts.vcpus=1"}, "hosts is a list", "`hosts[0].vcpus`"},
      {{"run", "good", "--log", "pcie"}, "it has no `=`", "--log pcie=debug"},
      {{"run", "good", "--log", "pcei=debug"},
       "--log `pcei=debug`, column 1: unknown key `pcei`",
       "did you mean `pcie`"},
      {{"run", "good", "--log", "pcie=debgu"},
       "column 6: log.pcie: found `debgu`",
       "did you mean `debug`"},
      {{"run", "good", "--kernel", "absent"}, "--kernel `absent`, column 1", "an existing file"},
      {{"run", "good", "--kernel", ""}, "--kernel ``", ""},
      {{"run", "good", "--firmware", path("good.yaml")}, "is not an ELF file", "remedy"},
      {{"run", "good", "--initrd", path("good.yaml")}, "neither a cpio archive", "remedy"},
      {{"run", "good", "--images", path("absent")}, "no such directory", "run scripts/setup"},
      {{"run", "good", "--images", path("good.yaml")}, "is not a directory", "run scripts/setup"},
      {{"run", "good", "--console", "hots"}, "the platform has no `hots`", "host, ipu or both"},
      {{"run", "good", "--console", ""}, "the platform has no ``", "host, ipu or both"},
      {{"run", "good", "--console", "ipu="}, "nothing is after the `=`", "ipu=firmware.log"},
      {{"run", "good", "--console", "=pty"}, "nothing is before the `=`", "ipu=firmware.log"},
      {{"run", "good", "--console", "both=" + path("log")},
       "several consoles cannot share a file",
       "--console host=FILE"},
      {{"run", "good", "--console", "host", "--console", "host=pty"},
       "already sends the console",
       "remove one"},
      {{"run", "good", "--console", "both", "--console", "ipu=pty"},
       "already sends the console",
       "remove one"},
      {{"run", "good", "--console", "ipu=" + path("none/log")}, "there is no directory", "create"},
      {{"run", "good", "--console", "host=" + path("l"), "--console", "ipu=" + path("l")},
       "this is also the console of host",
       "name another file"},
      {{"run", "good", "--input", path("absent")}, "no such file", "script"},
      {{"run", "good", "--input", path("images")}, "not a regular file", "script"},
      {{"run", "good", "--input", path("script")}, "the script has mistakes", ":1:"},
      {{"run", "good", "--share", path("absent")}, "no such directory", "create it"},
      {{"run", "good", "--share", path("good.yaml")}, "is not a directory", ""},
      {{"run", "good", "--gdb", "1234"}, "it has no `=`", "host=1234"},
      {{"run", "good", "--gdb", "hots=1234"}, "the platform has no `hots`", "did you mean `host`"},
      {{"run", "good", "--gdb", "host=0"}, "`0` is not a TCP port", "1 to 65535"},
      {{"run", "good", "--gdb", "host=65536"}, "is not a TCP port", "1 to 65535"},
      {{"run", "good", "--gdb", "host=x"}, "is not a TCP port", "1 to 65535"},
      {{"run", "good", "--gdb", "host=99999999999999999999"}, "is not a TCP port", "1 to 65535"},
      {{"run", "good", "--trace", path("none/t")}, "there is no directory", "create it"},
      {{"run", "good", "--trace", path("images")}, "is a directory", "name a file in it"},
      {{"run", "good", "--trace", ""}, "an empty file name", ""},
      {{"run", "good", "--trace", path("good.yaml") + "/t"}, "there is no directory", ""},
      {{"run", "good", "--trace", path("t"), "--stats", path("t")},
       "this is also the file of --trace",
       "name another file"},
      {{"run", "good", "--trace", path("t"), "--vcd", path("images/../t")},
       "this is also the file of --trace",
       "name another file"},
      {{"run", "good", "--stats", path("good.yaml")}, "this is also the platform file", "another"},
      {{"run", "good", "--stats", path("images/vmlinuz")}, "this is also host.kernel", "another"},
      {{"run", "good", "--vcd", path("none/w")}, "--vcd `", "create it"},
      {{"run", "good", "--vcd", "ipu=" + path("none/w")}, "--vcd `", "create it"},
      {{"run", "good", "--vcd", "ipu="}, "nothing is after the `=`", "ipu=ipu.vcd"},
      {{"run", "good", "--vcd", "=w"}, "nothing is before the `=`", "ipu=ipu.vcd"},
      {{"run", "good", "--vcd", "ip=" + path("w")}, "the platform has no RTL `ip`", "mean `ipu`"},
      {{"run", "good", "--vcd", "wave=2"}, "the platform has no RTL `wave`", "./wave=2"},
      {{"run", "good", "--vcd", path("v"), "--vcd", "ipu=" + path("w")},
       "`ipu` already has a waveform",
       "remove one"},
      {{"run", "good", "--set", "devices=[{name: d, kind: nvme, namespaces: [{size: 1MiB}]}]",
        "--set", "pcie_links=[{up: host, down: ipu}, {up: host, down: d}]", "--vcd",
        "d=" + path("w")},
       "the device `d` has no RTL",
       "another part"},
      {{"run", "good", "--set", "devices=[{name: c, kind: copier}]", "--set",
        "pcie_links=[{up: host, down: ipu}, {up: host, down: c}]", "--vcd", path("w"), "--vcd",
        "c=" + path("w")},
       "this is also the waveform of c",
       "name another"},
      {{"run", "good", "--stats", path("none/s")}, "--stats `", "create it"},
  };
  for (const Wrong& each : table) {
    const auto result = workshop.call(each.arguments);
    SCOPED_TRACE(testing::PrintToString(each.arguments));
    EXPECT_EQ(result.exit_code, ExitCode::mistake);
    EXPECT_FALSE(result.platform);
    EXPECT_THAT(result.err, HasSubstr(each.found));
    EXPECT_THAT(result.err, HasSubstr(each.more));
  }
}

TEST(Program, ReportsMistakesInOptionsAndFileAtOnce) {
  const Workshop workshop;
  workshop.file("bad.yaml", Workshop::changed("vmlinuz", "none"));
  const auto result = workshop.call(
      {"run", "bad", "--until", "5", "--trace", "/none/t", "--set", "x", "--log", "pcie=loud"});
  EXPECT_THAT(result.err, HasSubstr("5 mistakes, nothing was started"));
}

TEST(Program, NoOutputGoesToASocket) {
  const Workshop workshop;
  const std::string path = workshop.path("socket").string();
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  for (const auto& [option, value] : {std::pair{"--trace", path},
                                      {"--stats", path},
                                      {"--vcd", path},
                                      {"--console", "host=" + path}}) {
    const auto result = workshop.call({"run", "good", option, value});
    EXPECT_EQ(result.exit_code, ExitCode::mistake);
    EXPECT_THAT(result.err, HasSubstr("is a socket")) << option;
  }
  ::close(listener);
}

TEST(Program, SeveralOutputsMayGoToADevice) {
  const Workshop workshop;
  const auto result =
      workshop.call({"run", "good", "--trace", "/dev/null", "--stats", "/dev/null"});
  EXPECT_TRUE(result.platform) << result.err;
}

TEST(Program, ADefectIsNotReportedAsAMistake) {
  const Workshop workshop;
  std::string name = "oae-vp", command = "run", platform = "good";
  char* argv[] = {name.data(), command.data(), platform.data(), nullptr};
  std::ostringstream out, err;
  const ExitCode code = platform::program(
      3, argv, {{workshop.path("")}, {workshop.images()}},
      [](const auto&, const auto&) -> ExitCode { throw std::logic_error("impossible"); }, out, err);
  EXPECT_EQ(code, ExitCode::broken_promise);
  EXPECT_THAT(err.str(), HasSubstr("defect of the simulator: impossible"));
}

TEST(Consoles, GoWhereTheyAreSent) {
  const Workshop workshop;
  struct Case {
    std::vector<std::string> consoles;
    Kind host, ipu;
  };
  const Case table[] = {
      {{}, Kind::terminal, Kind::off},
      {{"host"}, Kind::terminal, Kind::off},
      {{"ipu"}, Kind::off, Kind::terminal},
      {{"both"}, Kind::terminal, Kind::terminal},
      {{"host", "ipu"}, Kind::terminal, Kind::terminal},
      {{"ipu", "host=pty"}, Kind::pty, Kind::terminal},
      {{"host=pty", "ipu"}, Kind::pty, Kind::terminal},
      {{"ipu=terminal"}, Kind::terminal, Kind::terminal},
      {{"ipu=pty"}, Kind::terminal, Kind::pty},
      {{"host=off"}, Kind::off, Kind::off},
      {{"both=pty"}, Kind::pty, Kind::pty},
      {{"ipu=./pty"}, Kind::terminal, Kind::file},
      {{"ipu=/dev/null"}, Kind::terminal, Kind::file},
  };
  for (const Case& each : table) {
    SCOPED_TRACE(testing::PrintToString(each.consoles));
    std::vector<std::string> arguments = {"run", "good"};
    for (const std::string& console : each.consoles) {
      arguments.push_back("--console");
      arguments.push_back(console);
    }
    const auto result = workshop.call(arguments);
    ASSERT_TRUE(result.platform) << result.err;
    EXPECT_EQ(result.options.consoles.at("host").kind, each.host);
    EXPECT_EQ(result.options.consoles.at("ipu").kind, each.ipu);
  }
}

TEST(Children, CannotShareADiskThatIsWritten) {
  const Workshop workshop;
  workshop.file("disk.img", std::string(1024, 'x'));
  workshop.file("disk.yaml", Workshop::with_disk("size: 1MiB", "image: ./disk.img"));
  const std::string commands = workshop.file("commands", "true\n").string();
  std::vector<std::string> arguments = {"run",        "disk",   "--snapshot-at", "booted",
                                        "--children", commands, "--console",     "host=off"};
  EXPECT_TRUE(workshop.call(arguments).platform);
  arguments.insert(arguments.end(), {"--set", "devices[0].namespaces[0].write_through=true"});
  const std::string said = workshop.call(arguments).err;
  EXPECT_THAT(said, HasSubstr("children cannot have the device disk: namespaces[0].write_through"));
  EXPECT_THAT(said, HasSubstr("run a single command by --child"));
  arguments[4] = "--child";
  arguments[5] = "true";
  EXPECT_TRUE(workshop.call(arguments).platform);
}

TEST(Exports, NameWhatDevicesStore) {
  const Workshop workshop;
  workshop.file("disk.img", std::string(1024, 'x'));
  workshop.file("disk.yaml", Workshop::with_disk("      - size: 1MiB",
                                                 "      - {size: 1MiB}\n"
                                                 "      - {image: ./disk.img}"));
  const auto path = [&](const char* name) { return workshop.path(name).string(); };
  const auto good = workshop.call({"run", "disk", "--export", "disk=" + path("a"), "--export",
                                   "disk.1=" + path("b"), "--export", "disk.2=" + path("c")});
  ASSERT_TRUE(good.platform) << good.err;
  ASSERT_EQ(good.options.exports.size(), 3u);
  EXPECT_EQ(good.options.exports[0].storage, "disk");
  EXPECT_EQ(good.options.exports[0].file, path("a"));
  EXPECT_EQ(good.options.exports[1].storage, "disk");
  EXPECT_EQ(good.options.exports[2].storage, "disk.2");

  const auto refuses = [&](const std::vector<std::string>& exports, const char* found,
                           const char* more = "", const char* platform = "disk") {
    std::vector<std::string> arguments = {"run", platform};
    for (const std::string& each : exports) {
      arguments.push_back("--export");
      arguments.push_back(each);
    }
    const std::string said = workshop.call(arguments).err;
    EXPECT_THAT(said, HasSubstr(found));
    EXPECT_THAT(said, HasSubstr(more));
    EXPECT_THAT(said, HasSubstr("1 mistake, "));
  };
  refuses({"disk"}, "it has no `=`", "--export disk=disk.img");
  refuses({"disc=" + path("a")}, "no device stores `disc`", "did you mean `disk`?");
  refuses({"disk.3=" + path("a")}, "no device stores `disk.3`", "disk.2");
  refuses({"ipu=" + path("a")}, "no device stores `ipu`");
  refuses({"disk=" + path("a")}, "no device of the platform stores anything", "", "good");
  refuses({"disk=" + path("absent/a")}, "there is no directory");
  refuses({"disk=" + path("images")}, "is a directory");
  refuses({"disk=/dev/null"}, "this is not a regular file");
  refuses({"disk=" + path("disk.img")}, "this is also disk.namespaces[1].image");
  refuses({"disk=" + path("a"), "disk.2=" + path("a")}, "this is also the file of --export disk");
}

TEST(Consoles, AndDebuggersKnowPartsByNameOrKind) {
  const Workshop workshop;
  workshop.file("named.yaml", R"(name: named
qemu: {host_library: libqemu-x86_64.so, ipu_library: libqemu-aarch64.so, roms: firmware}
hosts: [{name: server, kernel: vmlinuz}]
ipus:
  - {name: card0, firmware: oae-fw.elf}
  - {name: card1, firmware: oae-fw.elf, console: pty}
pcie_links: [{up: server, down: card0}, {up: server, down: card1}]
)");
  const auto result = workshop.call({"run", "named", "--console", "card1=off"});
  ASSERT_TRUE(result.platform) << result.err;
  EXPECT_EQ(result.options.consoles.size(), 3u);
  EXPECT_EQ(result.options.consoles.at("card1").kind, Kind::off);
  EXPECT_EQ(
      workshop.call({"run", "named", "--console", "host=off"}).options.consoles.at("server").kind,
      Kind::off);
  // The platform has two IPUs.
  EXPECT_THAT(workshop.call({"run", "named", "--console", "ipu=off"}).err,
              HasSubstr("server, card0, card1 or both"));
}

TEST(Debuggers, NeedAFreePort) {
  const Workshop workshop;
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const unsigned port = ntohs(address.sin_port);
  const std::string gdb = "host=" + std::to_string(port);
  EXPECT_THAT(workshop.call({"run", "good", "--gdb", gdb}).err,
              HasSubstr("port " + std::to_string(port) + " is in use"));
  ::close(listener);
  const auto result = workshop.call({"run", "good", "--gdb", gdb});
  ASSERT_TRUE(result.platform) << result.err;
  EXPECT_EQ(result.options.gdb.at("host"), port);
  EXPECT_THAT(workshop.call({"run", "good", "--gdb", gdb, "--gdb", "ipu=" + gdb.substr(5)}).err,
              HasSubstr("is in use"));
  EXPECT_THAT(
      workshop.call({"run", "good", "--gdb", gdb, "--gdb", "host=" + std::to_string(port ^ 1)}).err,
      HasSubstr("mistake"));
}

}  // namespace
