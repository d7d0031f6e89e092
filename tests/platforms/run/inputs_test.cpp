// SPDX-License-Identifier: Apache-2.0
#include "platforms/run/inputs.h"

#include <unistd.h>

#include "tests/platforms/workshop.h"

using testing::HasSubstr;
using vp::ExitCode;

namespace {

/// Returns the error output of `oae-vp check good`.
std::string verdict(const Workshop& workshop, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"check", "good"});
  return workshop.call(more).err;
}

TEST(Inputs, AreListedWithTheirHashes) {
  const Workshop workshop;
  const auto result = workshop.call({"run", "good"});
  std::vector<std::string> roles;
  for (const platform::Input& input : result.options.inputs) {
    roles.push_back(input.role);
    EXPECT_EQ(input.sha256.size(), 64u);
    EXPECT_EQ(input.size, std::filesystem::file_size(input.path));
  }
  EXPECT_THAT(roles,
              testing::ElementsAre("qemu.host_library", "qemu.ipu_library",
                                   "qemu.roms.bios-microvm.bin", "qemu.roms.linuxboot_dma.bin",
                                   "host.kernel", "host.initrd", "ipu.firmware"));
}

TEST(Inputs, WithAWrongStructureAreRefused) {
  struct Wrong {
    const char *name, *place, *found;
    std::string content;
  };
  const Wrong table[] = {
      {"vmlinuz", ":8:13:", "host.kernel", samples::firmware()},
      {"vmlinuz", ":8:13:", "cut off", samples::kernel().substr(0, 5000)},
      {"initramfs.cpio", ":9:13:", "host.initrd", samples::kernel()},
      {"initramfs.cpio", ":9:13:", "has no /init",
       samples::entry("root/init", "x") + samples::entry("TRAILER!!!", "")},
      {"oae-fw.elf", ":13:15:", "ipu.firmware", samples::library()},
      {"oae-fw.elf", ":13:15:", "lies in no memory", samples::firmware(0x4000'0000)},
      {"libqemu-x86_64.so", ":3:17:", "does not export", samples::library("main")},
      {"libqemu-aarch64.so", ":4:16:", "qemu.ipu_library", "text"},
  };
  for (const Wrong& each : table) {
    Workshop workshop;
    workshop.image(each.name, each.content);
    workshop.write_manifest();
    const std::string found = verdict(workshop);
    EXPECT_THAT(found, HasSubstr(each.place)) << each.name;
    EXPECT_THAT(found, HasSubstr(each.found)) << each.name;
    EXPECT_THAT(found, HasSubstr("1 mistake, ")) << each.name;
    EXPECT_THAT(found, HasSubstr("remedy: ")) << each.name;
  }
}

TEST(Inputs, ThatDifferFromTheManifestAreRefused) {
  for (const char* name :
       {"vmlinuz", "initramfs.cpio", "oae-fw.elf", "libqemu-x86_64.so", "libqemu-aarch64.so",
        "firmware/bios-microvm.bin", "firmware/linuxboot_dma.bin"}) {
    Workshop workshop;
    std::string content;
    std::getline(std::ifstream(workshop.images() / name, std::ios::binary), content, '\1');
    std::stringstream whole;
    whole << std::ifstream(workshop.images() / name, std::ios::binary).rdbuf();
    content = whole.str();
    content.back() = static_cast<char>(content.back() ^ 1);
    workshop.image(name, content);  // the manifest stays
    EXPECT_THAT(verdict(workshop), HasSubstr("contents are not those that setup made")) << name;
    EXPECT_THAT(verdict(workshop), HasSubstr("run scripts/setup again")) << name;
    workshop.image(name, content + "x");
    EXPECT_THAT(verdict(workshop), HasSubstr("setup made it with")) << name;
  }
}

TEST(Inputs, WithoutAManifestAreRefused) {
  const Workshop workshop;
  std::filesystem::remove(workshop.images() / "manifest.json");
  EXPECT_THAT(verdict(workshop), HasSubstr("there is no `"));
  EXPECT_THAT(verdict(workshop), HasSubstr("run scripts/setup"));
  EXPECT_THAT(verdict(workshop), HasSubstr("1 mistake, "));
}

TEST(Inputs, OfTheUsersOwnNeedNoManifest) {
  const Workshop workshop;
  const std::string own = workshop.file("own/kernel", samples::kernel() + "signed").string();
  EXPECT_EQ(verdict(workshop, {"--kernel", own}), "");
  EXPECT_EQ(verdict(workshop, {"--set", "hosts[0].kernel=" + own}), "");
  workshop.file("own.yaml", Workshop::changed("vmlinuz", "./own/kernel"));
  EXPECT_EQ(workshop.call({"check", "own"}).err, "");
  EXPECT_THAT(verdict(workshop, {"--kernel", workshop.file("own/bad", "x").string()}),
              HasSubstr("--kernel `"));
}

TEST(Inputs, MayLackInitIfTheCommandLineNamesAnother) {
  Workshop workshop;
  workshop.image("initramfs.cpio", samples::entry("sh", "x") + samples::entry("TRAILER!!!", ""));
  workshop.write_manifest();
  EXPECT_THAT(verdict(workshop), HasSubstr("has no /init"));
  EXPECT_THAT(verdict(workshop, {"--append", "xrdinit=/sh"}), HasSubstr("has no /init"));
  EXPECT_EQ(verdict(workshop, {"--append", "rdinit=/sh"}), "");
  EXPECT_EQ(verdict(workshop, {"--append", "root=/dev/vda"}), "");
  EXPECT_EQ(verdict(workshop, {"--initrd", "none"}), "");
}

TEST(Inputs, OfDevicesAreListedWithTheirHashes) {
  const Workshop workshop;
  const std::string content(3 << 20, 'x');
  workshop.file("disk.img", content);
  workshop.file("disk.yaml", Workshop::with_disk("size: 1MiB", "image: ./disk.img"));
  const auto result = workshop.call({"run", "disk"});
  ASSERT_TRUE(result.platform) << result.err;
  const platform::Input& input = result.options.inputs.back();
  EXPECT_EQ(input.role, "disk.namespaces[0].image");
  EXPECT_EQ(input.size, content.size());
  EXPECT_EQ(input.sha256, vp::images::sha256(content.data(), content.size()));
  EXPECT_THAT(workshop.call({"run", "disk", "--trace", workshop.path("disk.img").string()}).err,
              HasSubstr("this is also disk.namespaces[0].image"));
}

TEST(Inputs, OfDevicesThatCannotBeUsedAreRefused) {
  const Workshop workshop;
  workshop.file("disk.yaml", Workshop::with_disk("size: 1MiB", "image: ./disk.img"));
  const auto expect = [&](const char* found, const char* remedy,
                          const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"check", "disk"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const std::string said = workshop.call(arguments).err;
    EXPECT_THAT(said, HasSubstr("disk.yaml:18:16: "));
    EXPECT_THAT(said, HasSubstr(found));
    EXPECT_THAT(said, HasSubstr(remedy));
    EXPECT_THAT(said, HasSubstr("1 mistake, "));
  };
  expect("there is no `", "remedy: check the name");
  workshop.file("disk.img", "");
  expect("disk.namespaces[0].image `", "remedy: extend it with 'truncate --size=512 ");
  workshop.file("disk.img", std::string(513, 'x'));
  expect("it has 513 bytes, which are not whole blocks of 512 bytes",
         "remedy: extend it with 'truncate --size=1024 ");
  workshop.file("disk.img", std::string(1024, 'x'));
  EXPECT_EQ(workshop.call({"check", "disk"}).err, "");
  expect("it has 1024 bytes, which are not whole blocks of 4096 bytes", "truncate --size=4096 ",
         {"--set", "devices[0].namespaces[0].block_size=4KiB"});
  std::filesystem::permissions(workshop.path("disk.img"), std::filesystem::perms::none);
  // Root may read everything.
  if (::geteuid() == 0) {
    for (const auto& each :
         {workshop.path(""), workshop.images(), workshop.path("images/firmware")})
      std::filesystem::permissions(each, std::filesystem::perms(0755));
    ASSERT_EQ(::seteuid(65534), 0);
  }
  expect("it cannot be read: Permission denied", "remedy: check its permissions");
}

TEST(Inputs, ThatADeviceChangesHaveNoOtherUse) {
  const Workshop workshop;
  workshop.file("disk.img", std::string(1024, 'x'));
  const std::string image = "image: ./disk.img";
  workshop.file("disk.yaml", Workshop::with_disk("size: 1MiB", image + "\n      - " + image));
  EXPECT_EQ(workshop.call({"check", "disk"}).err, "") << "both read it";
  const std::string said =
      workshop.call({"check", "disk", "--set", "devices[0].namespaces[1].write_through=true"}).err;
  EXPECT_THAT(said, HasSubstr("disk.yaml:19:16: disk.namespaces[1].image changes `"));
  EXPECT_THAT(said, HasSubstr("which is also disk.namespaces[0].image"));
  EXPECT_THAT(said, HasSubstr("remedy: name a copy of the file, or do not write through"));
}

TEST(Inputs, MustFitTheMemory) {
  Workshop workshop;
  std::string kernel = samples::kernel();
  samples::put(kernel, 0x260, 64 << 20, 4);  // init_size is all of the memory
  workshop.image("vmlinuz", kernel);
  workshop.write_manifest();
  EXPECT_THAT(verdict(workshop, {"--set", "hosts[0].memory=64MiB"}),
              HasSubstr("kernel and initramfs need"));
  EXPECT_EQ(verdict(workshop, {"--set", "hosts[0].memory=64MiB", "--initrd", "none"}), "");
  EXPECT_EQ(verdict(workshop, {"--set", "hosts[0].memory=65MiB"}), "");
}

TEST(Inputs, FirmwareMustFitTheIpu) {
  Workshop workshop;
  std::string firmware = samples::firmware();
  samples::put(firmware, 64 + 40, 16 << 20, 8);  // p_memsz
  workshop.image("oae-fw.elf", firmware);
  workshop.write_manifest();
  EXPECT_EQ(verdict(workshop, {"--set", "ipus[0].dram=16MiB"}), "");
  samples::put(firmware, 64 + 40, (16 << 20) + 1, 8);
  workshop.image("oae-fw.elf", firmware);
  workshop.write_manifest();
  EXPECT_THAT(verdict(workshop, {"--set", "ipus[0].dram=16MiB"}), HasSubstr("lies in no memory"));
}

TEST(Inputs, CommandLineMustFitTheKernel) {
  Workshop workshop;
  std::string kernel = samples::kernel();
  samples::put(kernel, 0x238, 12, 4);  // cmdline_size; `console=ttyS0` has 13
  workshop.image("vmlinuz", kernel);
  workshop.write_manifest();
  EXPECT_THAT(verdict(workshop), HasSubstr("may have 12 bytes, but `append` has 13"));
}

}  // namespace
