// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "platforms/description/load.h"
#include "tests/platforms/workshop.h"
#include "tests/vp/config/mistakes.h"

namespace {

/// Pieces of text that have a meaning in YAML.
const char* const pieces[] = {"\n",  ":",    ": ",   "- ",     "  ", "\t",  "[",
                              "]",   "{",    "}",    ",",      "#",  "'",   "\"",
                              "&a ", "*a",   "!!x",  "|",      ">",  "%",   "@",
                              "`",   "~",    "---",  "...",    "?",  "\\",  "\r",
                              "\0",  "\xff", "null", "true",   "0",  "-1",  "1e9",
                              "x3",  "ns",   "<<",   "\u00e9", "0x", "1.5", "99999999999999999999"};

std::string mutate(const std::string& original, std::mt19937_64& random) {
  std::string text = original;
  for (unsigned changes = 1 + random() % 4; changes > 0 && !text.empty(); --changes) {
    const std::size_t at = random() % text.size();
    const std::size_t length = std::min<std::size_t>(random() % 40, text.size() - at);
    switch (random() % 6) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, pieces[random() % std::size(pieces)]);
        break;
      case 3:
        text.insert(random() % text.size(), text.substr(at, length));
        break;
      case 4:
        text.resize(at);
        break;
      default:
        text.replace(at, 1, pieces[random() % std::size(pieces)]);
    }
  }
  return text;
}

/// Loads the text. The result must be a platform, or mistakes that all have a place.
void survive(const Workshop& workshop, const std::string& text,
             const std::vector<vp::config::Override>& changes = {}) {
  try {
    platform::load(vp::config::text_source("fuzz.yaml", text, workshop.path("")), workshop.images(),
                   changes, "");
  } catch (const vp::config::Mistakes& mistakes) {
    EXPECT_FALSE(mistakes.report().empty());
    for (const auto& problem : mistakes.report().problems()) {
      EXPECT_TRUE(problem.origin.source) << text;
      EXPECT_NE(problem.found, "") << text;
    }
    EXPECT_NE(std::string(mistakes.what()), "");
  }
}

std::string read(const std::filesystem::path& file) {
  std::stringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

TEST(Fuzz, NoMutationOfAShippedFileDoesHarm) {
  const Workshop workshop;
  std::mt19937_64 random(1);
  for (const char* name : {"oae-mini.yaml", "e2000.yaml"}) {
    const std::string original = read(std::filesystem::path(PLATFORMS) / name);
    for (int i = 0; i < FUZZ_ROUNDS; ++i) survive(workshop, mutate(original, random));
  }
}

TEST(Fuzz, NoBeginningOfAShippedFileDoesHarm) {
  const Workshop workshop;
  const std::string original = read(std::filesystem::path(PLATFORMS) / "oae-mini.yaml");
  for (std::size_t length = 0; length < original.size(); length += 3)
    survive(workshop, original.substr(0, length));
}

TEST(Fuzz, NoOverrideDoesHarm) {
  const Workshop workshop;
  std::mt19937_64 random(2);
  const std::string originals[] = {"hosts[0].vcpus=4", "pcie_links[*].latency_up=250ns",
                                   "log={pcie: debug}", "ipus[0].oae={ports: 4, clock: 1GHz}"};
  for (const std::string& original : originals)
    for (int i = 0; i < FUZZ_ROUNDS; ++i) {
      const std::string text = mutate(original, random);
      std::vector<vp::config::Override> changes;
      const auto report = mistakes_of([&] { changes.push_back(vp::config::parse_override(text)); });
      if (report.empty()) survive(workshop, Workshop::good, changes);
    }
}

TEST(Fuzz, NoFileOfNoiseDoesHarm) {
  const Workshop workshop;
  std::mt19937_64 random(3);
  for (int i = 0; i < FUZZ_ROUNDS; ++i) {
    std::string text;
    for (unsigned length = random() % 200; length > 0; --length)
      text += random() % 3 ? std::string(pieces[random() % std::size(pieces)])
                           : std::string(1, static_cast<char>(' ' + random() % 95));
    survive(workshop, text);
  }
}

}  // namespace
