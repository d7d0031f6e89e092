// SPDX-License-Identifier: Apache-2.0
#include "vp/images/manifest.h"

#include <sys/stat.h>

#include "tests/vp/config/temporary.h"
#include "tests/vp/images/samples.h"
#include "vp/images/sha256.h"

using testing::HasSubstr;
using namespace vp::images;

namespace {

// FIPS 180-4 examples.
const std::string hash_of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const std::string hash_of_nothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

template <class Action>
std::string mistake(const Action& action) {
  try {
    action();
  } catch (const Mistake& mistake) {
    return std::string(mistake.what()) + " / " + mistake.remedy();
  }
  return {};
}

TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(sha256("abc", 3), hash_of_abc);
  EXPECT_EQ(sha256("", 0), hash_of_nothing);
}

TEST(Manifest, ChecksNameSizeAndHash) {
  const TemporaryDirectory directory;
  directory.write("manifest.json", R"({"files": {"a": {"sha256": ")" + hash_of_abc +
                                       R"(", "size": 3}, "sub/b": {"sha256": ")" + hash_of_nothing +
                                       R"(", "size": 0}}})");
  const Manifest manifest = Manifest::read(directory.path());
  const auto check = [&](const char* name, std::uint64_t size, const std::string& hash) {
    return mistake([&] { manifest.check(name, size, hash); });
  };
  EXPECT_EQ(check("a", 3, hash_of_abc), "");
  EXPECT_EQ(check("sub/b", 0, hash_of_nothing), "");
  EXPECT_THAT(check("a", 4, hash_of_abc), HasSubstr("4 bytes, but setup made it with 3"));
  EXPECT_THAT(check("a", 3, hash_of_nothing), HasSubstr("contents are not those"));
  EXPECT_THAT(check("c", 3, hash_of_abc), HasSubstr("setup did not make it"));
  for (const auto& each :
       {check("a", 4, hash_of_abc), check("a", 3, hash_of_nothing), check("c", 0, hash_of_abc)})
    EXPECT_THAT(each, HasSubstr("run scripts/setup again"));
}

TEST(Manifest, RefusesWhatIsNone) {
  const TemporaryDirectory directory;
  const auto read = [&] { return mistake([&] { Manifest::read(directory.path()); }); };
  EXPECT_THAT(read(), HasSubstr("there is no `"));
  EXPECT_THAT(read(), HasSubstr("/ run scripts/setup"));
  struct Wrong {
    std::string content, found;
  };
  const Wrong table[] = {
      {"", "is empty"},
      {"{", "is not valid JSON"},
      {"{\"files\": {\"a\": 1}", "is not valid JSON"},
      {"[]", "no object `files`"},
      {"{}", "no object `files`"},
      {"{\"files\": []}", "no object `files`"},
      {"{\"files\": {\"a\": 1}}", "no size or no hash for `a`"},
      {"{\"files\": {\"a\": {\"size\": 1}}}", "no size or no hash"},
      {"{\"files\": {\"a\": {\"sha256\": \"" + hash_of_abc + "\"}}}", "no size or no hash"},
      {"{\"files\": {\"a\": {\"size\": -1, \"sha256\": \"" + hash_of_abc + "\"}}}", "no size"},
      {"{\"files\": {\"a\": {\"size\": \"1\", \"sha256\": \"" + hash_of_abc + "\"}}}", "no size"},
      {"{\"files\": {\"a\": {\"size\": 1, \"sha256\": \"abc\"}}}", "no hash"},
      {"{\"files\": {\"a\": {\"size\": 1, \"sha256\": 5}}}", "no hash"},
      {"{\"files\": {\"a\": {\"size\": 1, \"sha256\": \"" + std::string(64, 'G') + "\"}}}",
       "no hash"},
      {std::string(200'000, '['), "is not valid JSON"},
  };
  for (const Wrong& each : table) {
    directory.write("manifest.json", each.content);
    EXPECT_THAT(read(), HasSubstr(each.found)) << each.content.substr(0, 80);
  }
}

TEST(Bytes, ReadsWholeRegularFilesOnly) {
  const TemporaryDirectory directory;
  const Bytes bytes = Bytes::read(directory.write("a", "\x01\x02\x03\x04\x05"));
  EXPECT_EQ(bytes.size(), 5u);
  EXPECT_EQ(bytes.u32(1), 0x05040302u);
  EXPECT_EQ(bytes.u16(3), 0x0504);
  EXPECT_EQ(bytes.u32(2), 0u);
  EXPECT_TRUE(bytes.holds(5, 0));
  EXPECT_FALSE(bytes.holds(5, 1));
  EXPECT_FALSE(bytes.holds(~0ull, 2));
  EXPECT_THAT(mistake([&] { Bytes::read(directory.path() / "absent"); }), HasSubstr("no such"));
  EXPECT_THAT(mistake([&] { Bytes::read(directory.path()); }), HasSubstr("not a regular file"));
  EXPECT_THAT(mistake([&] { Bytes::read("/dev/zero"); }), HasSubstr("not a regular file"));
  EXPECT_THAT(mistake([&] { Bytes::read(directory.write("b", "")); }), HasSubstr("empty"));
  const auto large = directory.write("c", "x");
  std::filesystem::resize_file(large, max_image_size + 1);  // sparse
  EXPECT_THAT(mistake([&] { Bytes::read(large); }), HasSubstr("are supported"));
}

}  // namespace
