// SPDX-License-Identifier: Apache-2.0
#include "models/device/plugin.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "models/device/kind.h"
#include "vp/images/file.h"
#include "vp/plugin/check.h"
#include "vp/plugin/rehearsal.h"

namespace device {

namespace fs = std::filesystem;
using vp::images::Bytes;
using vp::images::Mistake;

namespace {

/// Names of the files that this process has loaded. The program's own name is empty.
std::set<std::string> loaded_files() {
  std::set<std::string> names;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        static_cast<std::set<std::string>*>(to)->insert(info->dlpi_name);
        return 0;
      },
      &names);
  return names;
}

/// Loads the library, whose static constructors register its kinds.
void open(const fs::path& file) {
  const std::size_t before = kinds().size();
  const KindsFrom from(file.string());
  // The path is absolute, since the loader would search for a mere name elsewhere.
  if (::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) == nullptr)
    throw Mistake(std::string("it cannot be loaded: ") + ::dlerror(),
                  "link it with what it needs, and put the libraries where it finds them");
  if (!from.conflict().empty())
    throw Mistake(from.conflict(), "give the kind another name, or leave out one of the plugins");
  if (kinds().size() == before)
    throw Mistake("it registers no kind of device",
                  "define an object of device::Registration with static storage in it; if there is "
                  "one, the plugin is linked with a second copy of the core library");
}

/// Checks the libraries that were loaded since `before`.
void check_companions(const std::set<std::string>& before, const fs::path& plugin) {
  for (const std::string& name : loaded_files()) {
    if (before.count(name) != 0 || name == plugin.string() || name.find('/') == name.npos) continue;
    try {
      Bytes bytes = Bytes::read(name);
      vp::plugin::check_for_second_core(bytes);
    } catch (const Mistake& mistake) {
      throw Mistake("it needs " + name + ", which cannot be used: " + mistake.what(),
                    mistake.remedy());
    }
  }
}

}  // namespace

void load_plugin(const fs::path& file) {
  static std::set<std::pair<dev_t, ino_t>> loaded;  // files, whatever their names
  Bytes bytes = Bytes::read(file);
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) throw Mistake("there is no such file", "check its name");
  if (loaded.count({status.st_dev, status.st_ino}) != 0) return;

  vp::plugin::check(bytes);
  if (::dlsym(RTLD_DEFAULT, "oae_vp_core") == nullptr)
    throw std::logic_error("a program without the core library loads no plugins");
  const fs::path absolute = fs::canonical(file);
  vp::plugin::rehearse([&] {
    const std::set<std::string> before = loaded_files();
    open(absolute);
    check_companions(before, absolute);
  });
  open(absolute);
  loaded.insert({status.st_dev, status.st_ino});
}

}  // namespace device
