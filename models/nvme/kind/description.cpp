// SPDX-License-Identifier: Apache-2.0
#include "models/nvme/kind/description.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/nvme/storage/image_file.h"

namespace nvme {

using namespace vp::config;

namespace {

constexpr std::int64_t KiB = 1024;
constexpr std::int64_t MiB = 1024 * KiB;
constexpr std::int64_t GiB = 1024 * MiB;
constexpr std::int64_t TiB = 1024 * GiB;

constexpr std::size_t longest_serial_number = 20;

/// Text of at most `longest` printable characters of ASCII (5.15.2.2).
Type<std::string> printable(std::size_t longest) {
  Type<std::string> type = string(longest);
  type.accepts = fmt::format("at most {} printable characters of ASCII", longest);
  type.read = [accepts = type.accepts, read = type.read](const Node& node, const std::string& path,
                                                         Reading& reading, std::string& value) {
    read(node, path, reading, value);
    const bool good =
        std::all_of(value.begin(), value.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
    if (!good)
      reading.mistake(path, shown(value) + " has other characters", accepts, "replace them");
  };
  return type;
}

const Struct<NamespaceDescription> name_space({
    {"image", &NamespaceDescription::image, optional_file(),
     "File with the first contents, in whole blocks; it never changes, unless `write_through` is "
     "set"},
    {"size", &NamespaceDescription::size, size(0, 16 * TiB),
     "Size of a namespace without an image, which is all zeros at first; a multiple of "
     "`block_size`"},
    {"block_size", &NamespaceDescription::block_size, size_of({512, 4096}), "A logical block"},
    {"cache", &NamespaceDescription::cache, size(0, 1 * GiB),
     "Volatile write cache, a multiple of `block_size`; 0B is none"},
    {"write_through", &NamespaceDescription::write_through, boolean(),
     "Whether what is written changes the image; the machine can then not be forked"},
    {"overlay_memory", &NamespaceDescription::overlay_memory, size(0, 64 * GiB),
     "Memory of the simulator for what differs from the image; the rest goes to a temporary file"},
});

void check_namespace(const std::string& path, const NamespaceDescription& described,
                     Reading& reading) {
  if (!reading.good(path)) return;
  const std::int64_t block = described.block_size;
  const auto whole_blocks = [&](const char* key, std::int64_t bytes) {
    if (bytes % block == 0) return;
    reading.mistake(fmt::format("{}.{}", path, key),
                    fmt::format("{} are not whole blocks of {}", size_quantity().print(bytes),
                                size_quantity().print(block)),
                    fmt::format("a multiple of {}", size_quantity().print(block)),
                    fmt::format("write {}", size_quantity().print((bytes / block + 1) * block)));
  };
  if (described.image && described.size != 0)
    reading.mistake(path + ".size", "a namespace with an image is as large as the image", "",
                    "remove `size`, or `image`");
  if (!described.image && described.size == 0)
    reading.mistake(path, "it has neither an image nor a size", "`image` or `size`",
                    "add `size: 64MiB` for a blank namespace, or name the file of an image");
  if (!described.image && described.write_through)
    reading.mistake(path + ".write_through", "there is no image to write to", "false",
                    "remove it, or name the file of an image");
  whole_blocks("size", described.size);
  whole_blocks("cache", described.cache);
}

}  // namespace

std::vector<Key<Description>> keys() {
  return {
      {"id", &Description::id, pci_id(), "PCI vendor and device id"},
      {"serial_number", &Description::serial_number, printable(longest_serial_number),
       "Serial number, from which the UUIDs of the namespaces follow; '' is the name of the "
       "device"},
      {"model_number", &Description::model_number, printable(40), "Model number"},
      {"namespaces", &Description::namespaces, list(name_space, 1, 256),
       "Namespaces, with the NSIDs 1 and following", required},
      {"read_latency", &Description::read_latency, duration(0, 10 * vp::s),
       "Time of a Read or Compare, without that of its data; latencies of commands overlap"},
      {"write_latency", &Description::write_latency, duration(0, 10 * vp::s),
       "Time of all other I/O commands, without that of their data"},
      {"admin_latency", &Description::admin_latency, duration(0, 10 * vp::s),
       "Time of an admin command"},
      {"rate", &Description::rate, bit_rate(8, 8'000'000'000'000),
       "Rate at which the medium passes data, of one command after another; a multiple of 8bit/s"},
      {"ready_time", &Description::ready_time, duration(0, 127 * vp::s),
       "Time from the enabling of the controller until it is ready"},
      {"queue_pairs", &Description::queue_pairs, integer(1, 255), "I/O queue pairs"},
      {"queue_entries", &Description::queue_entries, integer(2, 65536),
       "Largest I/O queue, in entries"},
      {"commands", &Description::commands, integer(1, 4096),
       "Commands that the controller executes at a time"},
      {"max_transfer", &Description::max_transfer,
       size_of({8 * KiB, 16 * KiB, 32 * KiB, 64 * KiB, 128 * KiB, 256 * KiB, 512 * KiB, 1 * MiB,
                2 * MiB, 4 * MiB, 8 * MiB}),
       "Most data of a command"},
  };
}

void Description::check(const std::string& path, Reading& reading) const {
  for (std::size_t i = 0; i < namespaces.size(); ++i)
    check_namespace(fmt::format("{}.namespaces[{}]", path, i), namespaces[i], reading);
  if (serial_number.empty() && name.size() > longest_serial_number)
    reading.mistake(path + ".name", fmt::format("{} is too long for a serial number", shown(name)),
                    fmt::format("at most {} characters", longest_serial_number),
                    "shorten it, or set `serial_number`");
  if (model_number.empty())
    reading.mistake(path + ".model_number", "the text is empty", "1 to 40 characters",
                    "write a text, or remove the key");
  if (rate % 8 != 0)
    reading.mistake(path + ".rate", "the medium passes whole bytes", "a multiple of 8bit/s",
                    "round it");
}

std::vector<device::InputFile> Description::inputs() const {
  std::vector<device::InputFile> files;
  for (std::size_t i = 0; i < namespaces.size(); ++i) {
    const NamespaceDescription& each = namespaces[i];
    if (!each.image) continue;
    files.push_back({fmt::format("namespaces[{}].image", i), *each.image, each.write_through,
                     [block_size = each.block_size,
                      writable = each.write_through](const std::filesystem::path& file) {
                       check_image(file.string(), block_size, writable);
                     }});
  }
  return files;
}

std::string Description::forbids_forks() const {
  for (std::size_t i = 0; i < namespaces.size(); ++i)
    if (namespaces[i].write_through)
      return fmt::format("namespaces[{}].write_through is true, and all would write to one image",
                         i);
  return {};
}

std::string Description::summary() const {
  std::string text;
  for (const NamespaceDescription& each : namespaces) {
    text += text.empty() ? "" : ", ";
    text += each.image ? each.image->text : size_quantity().print(each.size) + " blank";
  }
  return text;
}

}  // namespace nvme
