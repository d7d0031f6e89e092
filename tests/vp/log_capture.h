// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/sinks/ostream_sink.h>

#include <memory>
#include <sstream>
#include <string>

#include "vp/log/log.h"

namespace vp {

/// Records all log messages for as long as it exists.
class LogCapture {
 public:
  LogCapture() { log::set_sink(std::make_shared<spdlog::sinks::ostream_sink_st>(text_)); }
  ~LogCapture() { log::set_sink(nullptr); }

  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

}  // namespace vp
