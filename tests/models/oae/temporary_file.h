// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

/// A file of this process that goes with the object. Whoever writes it makes it.
struct TemporaryFile {
  /// The name of the file ends in `name`.
  explicit TemporaryFile(const std::string& name)
      : path(testing::TempDir() + "oae_test_" + std::to_string(::getpid()) + name) {}
  ~TemporaryFile() { std::remove(path.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;

  std::string contents() const {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  const std::string path;
};
