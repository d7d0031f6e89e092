// SPDX-License-Identifier: Apache-2.0
#include "vp/images/manifest.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace vp::images {

namespace {

constexpr const char* run_setup = "run scripts/setup";
constexpr const char* run_again = "run scripts/setup again";

}  // namespace

Manifest Manifest::read(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / "manifest.json";
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    throw Mistake(
        fmt::format("there is no `{}`, which lists the files that setup made", file.string()),
        run_setup);
  const Bytes bytes = Bytes::read(file);
  const nlohmann::json json =
      nlohmann::json::parse(bytes.data(), bytes.data() + bytes.size(), nullptr, false);
  const auto malformed = [&](const std::string& what) {
    throw Mistake(fmt::format("`{}` {}", file.string(), what), run_again);
  };
  if (json.is_discarded()) malformed("is not valid JSON");
  if (!json.is_object() || !json.contains("files") || !json["files"].is_object())
    malformed("has no object `files`");

  Manifest manifest;
  for (const auto& [name, entry] : json["files"].items()) {
    const bool good = entry.is_object() && entry.contains("size") && entry.contains("sha256") &&
                      entry["size"].is_number_unsigned() && entry["sha256"].is_string();
    const std::string hash = good ? entry["sha256"].get<std::string>() : "";
    if (hash.size() != 64 || hash.find_first_not_of("0123456789abcdef") != hash.npos)
      malformed(fmt::format("gives no size or no hash for `{}`", name));
    manifest.files_[name] = {entry["size"].get<std::uint64_t>(), hash};
  }
  return manifest;
}

void Manifest::check(const std::string& name, std::uint64_t size, const std::string& hash) const {
  const auto file = files_.find(name);
  if (file == files_.end())
    throw Mistake("setup did not make it, since manifest.json does not have it",
                  fmt::format("{}, or name a file of your own by its path", run_again));
  if (file->second.size != size)
    throw Mistake(
        fmt::format("it has {} bytes, but setup made it with {}", size, file->second.size),
        run_again);
  if (file->second.sha256 != hash)
    throw Mistake("its contents are not those that setup made",
                  fmt::format("{}, or name a file of your own by its path", run_again));
}

}  // namespace vp::images
