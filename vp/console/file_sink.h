// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vp/console/sink.h"

namespace vp {

/// A file, or a descriptor that the caller has opened, such as standard output.
class FileSink : public Sink {
 public:
  enum class Mode { truncate, append };

  /// Creates or truncates the file, or appends to it. Throws ConsoleError.
  explicit FileSink(const std::string& path, Mode mode = Mode::truncate);
  /// Writes to `descriptor`, which stays open; `name` is for messages.
  FileSink(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  ~FileSink() override;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  void write(std::string_view bytes) override;

 private:
  int descriptor_;
  std::string name_;
  bool owned_ = false;
  bool failed_ = false;
};

}  // namespace vp
