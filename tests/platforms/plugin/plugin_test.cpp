// SPDX-License-Identifier: Apache-2.0
#include "models/device/plugin.h"

#include <dlfcn.h>

#include "models/device/kind.h"
#include "tests/platforms/workshop.h"
#include "vp/images/file.h"
#include "vp/plugin/check.h"
#include "vp/snapshot/child.h"

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using vp::ExitCode;

namespace {

std::filesystem::path plugin(const std::string& name) {
  return std::filesystem::path(PLUGINS) / ("lib" + name + ".so");
}

/// A platform file with these plugins and a device of the kind `lamp`.
std::string with_lamp(const std::string& plugins) {
  std::string text = Workshop::good;
  text.insert(text.find("qemu:"), "plugins: [" + plugins + "]\n");
  text.insert(text.find("pcie_links:"), "devices:\n  - {name: desk, kind: lamp, colours: 5}\n");
  return text + "  - up: host\n    down: desk\n";
}

std::string good_plugin() {
  return plugin("lamp").string();
}

TEST(Plugin, BringsItsKinds) {
  const Workshop workshop;
  workshop.file("lamp.yaml", with_lamp(good_plugin()));
  const auto checked = workshop.call({"check", "lamp", "--log", "lamp=debug"});
  EXPECT_EQ(checked.err, "");
  EXPECT_THAT(checked.out, HasSubstr("  plugin " + good_plugin() + "\n"));
  EXPECT_THAT(checked.out, HasSubstr("  lamp desk: 5 colours\n"));
  EXPECT_EQ(workshop.call({"check", "lamp"}).err, "") << "once more in the same process";
  EXPECT_THAT(workshop.call({"check", "lamp", "--set", "devices[0].colours=9"}).err,
              HasSubstr("devices[0].colours: found `9`"));
  EXPECT_THAT(workshop.call({"check", "lamp", "--set", "devices[0].kind=lapm"}).err,
              HasSubstr("did you mean `lamp`?"));
}

TEST(Plugin, IsNamedRelativelyToThePlatformFile) {
  const Workshop workshop;
  std::filesystem::create_directory(workshop.path("build"));
  std::filesystem::copy_file(plugin("lamp"), workshop.path("build/liblamp.so"));
  workshop.file("lamp.yaml", with_lamp("./build/liblamp.so"));
  EXPECT_EQ(workshop.call({"check", "lamp"}).err, "");
}

TEST(Plugin, HasItsHashInTheHeadOfTheTrace) {
  const Workshop workshop;
  workshop.file("lamp.yaml", with_lamp(good_plugin()));
  const auto result = workshop.call({"run", "lamp"});
  ASSERT_TRUE(result.platform) << result.err;
  std::stringstream content;
  content << std::ifstream(plugin("lamp"), std::ios::binary).rdbuf();
  const std::string bytes = content.str();
  for (const platform::Input& input : result.options.inputs) {
    if (input.role != "plugins[0]") continue;
    EXPECT_EQ(input.sha256, vp::images::sha256(bytes.data(), bytes.size()));
    EXPECT_EQ(input.size, bytes.size());
    return;
  }
  ADD_FAILURE() << "the plugin is no input of the run";
}

TEST(Plugin, HasItsKeysInTheReference) {
  const Workshop workshop;
  EXPECT_EQ(workshop.call({"keys", "devices[lamp]"}).exit_code, ExitCode::mistake);
  const auto keys = workshop.call({"keys", "--plugin", good_plugin(), "devices[lamp]"});
  EXPECT_THAT(keys.out, HasSubstr("devices[lamp].colours\n    How many it has\n"));
  EXPECT_THAT(
      workshop.call({"keys", "--plugin", plugin("nothing").string()}).err,
      AllOf(HasSubstr("--plugin"), HasSubstr("it registers no kind"), HasSubstr("remedy: ")));
  EXPECT_THAT(workshop.call({"keys", "--plugin", "none.so"}).err, HasSubstr("no such file"));
}

// The plugin and the core agree about types: the description is cast in the plugin, and an
// extension has one number.
TEST(Plugin, SharesTheCore) {
  device::load_plugin(plugin("lamp"));
  const device::Kind* kind = device::find_kind("lamp");
  ASSERT_NE(kind, nullptr);
  vp::config::Reading reading;
  const auto source = vp::config::argument_source("a", "{name: desk, kind: lamp, colours: 2}");
  const auto description = kind->read(
      vp::config::parse_yaml(vp::config::text_source("a.yaml", source->text, ".")), "a", reading);
  EXPECT_TRUE(reading.report().empty()) << reading.report().text();
  vp::Trace trace;
  vp::Statistics statistics;
  const auto built = kind->build(*description, {pcie::EndpointConfig(), 0, trace, statistics});
  EXPECT_STREQ(built->name(), "desk");
  void* handle = ::dlopen(plugin("lamp").c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(handle, nullptr);
  const auto number = reinterpret_cast<unsigned (*)()>(::dlsym(handle, "number_of_extension"));
  ASSERT_NE(number, nullptr);
  EXPECT_EQ(number(), pcie::Access::ID);
  const auto core = reinterpret_cast<const char*>(::dlsym(handle, "oae_vp_core"));
  EXPECT_EQ(core, ::dlsym(RTLD_DEFAULT, "oae_vp_core"));
}

// A defect of a plugin is not taken for one of the simulator.
TEST(Plugin, WhoseKindThrowsIsNamed) {
  const Workshop workshop;
  workshop.file("lamp.yaml", with_lamp(good_plugin()));
  const auto read = workshop.call({"check", "lamp", "--set", "devices[0].colours=8"});
  EXPECT_EQ(read.exit_code, ExitCode::broken_promise);
  EXPECT_THAT(read.err, HasSubstr("the kind `lamp` of " + good_plugin() +
                                  " throws an exception while it reads devices[0]: it is no"));

  vp::Trace trace;
  vp::Statistics statistics;
  const auto seven = workshop.call({"run", "lamp", "--set", "devices[0].colours=7"});
  ASSERT_TRUE(seven.platform) << seven.err;
  try {
    device::build(*seven.platform->devices[0], {pcie::EndpointConfig(), 0, trace, statistics});
    ADD_FAILURE() << "it was built";
  } catch (const device::KindFailed& failed) {
    EXPECT_THAT(failed.what(), HasSubstr("the kind `lamp` of " + good_plugin() +
                                         " throws an exception while it builds `desk`: the fuse"));
  }
}

// It is loaded twice, once on trial, and what it prints comes once.
TEST(Plugin, PrintsOnce) {
  testing::internal::CaptureStdout();
  device::load_plugin(plugin("lamp"));
  device::load_plugin(plugin("lamp"));
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "the lamp is on\n");
}

struct Wrong {
  std::string plugins;
  const char *place, *found, *remedy;
};

// Without its plugin, nothing is said about the device.
TEST(Plugin, ThatCannotBeUsedIsRefused) {
  const Workshop workshop;
  workshop.file("text.so", "hello");
  workshop.file("script.so", "#!/bin/sh\n");
  std::filesystem::copy_file(plugin("lamp"), workshop.path("copy.so"));
  std::filesystem::copy_file(plugin("lamp"), workshop.path("short.so"));
  std::filesystem::resize_file(workshop.path("short.so"), 1000);
  const auto at = [](const char* name) { return plugin(name).string(); };
  const Wrong table[] = {
      {"./missing.so", "2:11", "there is no `", "check the name"},
      {"missing.so", "2:11", "there is no `", "begins with `./`"},
      {"./images", "2:11", "is a directory", ""},
      {"./text.so", "2:11", "it is not an ELF file", "ELF file"},
      {"./script.so", "2:11", "it is a script and not an ELF file", "ELF file"},
      {"./short.so", "2:11", "cut off", "copy or build it again"},
      {at("without_note"), "2:11", "it has no note of a plugin", "oae_vp_add_plugin()"},
      {at("other_api"), "2:11", "the version `999` of the plugin interface, but oae-vp has `1`",
       "oae_vp_add_plugin()"},
      {at("other_compiler"), "2:11", "the compiler `gcc 4`, but oae-vp has `",
       "-DCMAKE_CXX_COMPILER"},
      {at("other_systemc"), "2:11", "SystemC `2.2.0`, but oae-vp has `2.3.", "install the SystemC"},
      {at("short_note"), "2:11", "its note does not say `compiler`", "oae_vp_add_plugin()"},
      {at("throws"), "2:11",
       "it throws an exception while it is being loaded: the key does not turn", "must not throw"},
      {at("crashes"), "2:11", "signal 6 (Aborted):\nthe bulb bursts", "must not end the process"},
      {at("nothing"), "2:11", "it registers no kind of device", "device::Registration"},
      {at("nvme"), "2:11", "it registers the kind `nvme`, which oae-vp itself has already",
       "another name"},
      {at("second_core"), "2:11",
       "it has a second copy of the core library, which has `vp::images::sha256",
       "link OaeVp::core alone"},
      {at("lamp") + ", " + at("lamp"), "2:", "this is plugins[0] again", "remove it"},
      {at("lamp") + ", ./copy.so", "2:", "the kind `lamp`, which /",
       "leave out one of the plugins"},
  };
  for (const Wrong& each : table) {
    SCOPED_TRACE(each.plugins);
    workshop.file("lamp.yaml", with_lamp(each.plugins));
    const auto result = workshop.call({"check", "lamp"});
    EXPECT_EQ(result.exit_code, ExitCode::mistake);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("lamp.yaml:" + std::string(each.place)));
    EXPECT_THAT(result.err, HasSubstr(each.found));
    EXPECT_THAT(result.err, HasSubstr(each.remedy));
    EXPECT_THAT(result.err, HasSubstr("1 mistake, "));
    EXPECT_THAT(result.err, HasSubstr("plugins"));
    EXPECT_THAT(result.err, Not(HasSubstr("devices[0]")));
  }
}

TEST(Plugin, SeveralMistakesAreReportedTogether) {
  const Workshop workshop;
  workshop.file("lamp.yaml",
                with_lamp(plugin("nothing").string() + ", " + plugin("other_api").string()));
  const std::string said = workshop.call({"check", "lamp"}).err;
  EXPECT_THAT(said, HasSubstr("it registers no kind"));
  EXPECT_THAT(said, HasSubstr("`999`"));
  EXPECT_THAT(said, HasSubstr("2 mistakes, "));
}

// A damaged file is refused or found good, and does no harm either way.
TEST(Plugin, NoDamageOfItsHeadersOrNotesDoesHarm) {
  std::stringstream content;
  content << std::ifstream(plugin("nothing"), std::ios::binary).rdbuf();
  const std::string good = content.str();
  const auto check = [](std::string file) {
    vp::images::Bytes bytes(std::vector<unsigned char>(file.begin(), file.end()));
    try {
      vp::plugin::check(bytes);
    } catch (const vp::images::Mistake& mistake) {
      return std::string(mistake.what());
    }
    return std::string();
  };
  EXPECT_EQ(check(good), "");
  for (std::size_t length = 1; length < 2000; length += 7)
    EXPECT_NE(check(good.substr(0, length)), "") << length;
  // What is loaded is all there, and what tells whether there is a second core is not.
  EXPECT_THAT(check(good.substr(0, good.size() - 1)), HasSubstr("its section headers"));
  const std::size_t note = good.find(std::string("OAE-VP\0", 7));
  ASSERT_NE(note, good.npos);
  for (std::size_t i = 0; i < note + 64; ++i)
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string damaged = good;
      damaged[i] = value;
      check(std::move(damaged));
    }
  std::string renamed = good;
  renamed[note] = 'x';
  EXPECT_THAT(check(renamed), HasSubstr("no note"));
}

// A fork would lose the thread.
TEST(Plugin, WhoseThreadRunsIsNamedWhenTheProcessForks) {
  void* handle = ::dlopen(plugin("thread").c_str(), RTLD_NOW);
  ASSERT_NE(handle, nullptr) << ::dlerror();
  const auto call = [&](const char* name) {
    reinterpret_cast<void (*)()>(::dlsym(handle, name))();
  };
  call("begin");
  try {
    vp::Child([] { return 0; });
    ADD_FAILURE() << "it was forked";
  } catch (const vp::ThreadsRemain& threads) {
    EXPECT_THAT(threads.what(), HasSubstr("which executes " + plugin("thread").string()));
    EXPECT_THAT(threads.what(), HasSubstr("must have ended its threads"));
  }
  call("end");
  EXPECT_EQ(vp::Child([] { return 0; }).wait(), vp::Ending{});
}

}  // namespace
