// SPDX-License-Identifier: Apache-2.0
// A failed assertion of the RTL, which has printed its text, ends as an exception: the model broke
// a promise, and whoever runs it decides what that means. So do $stop and $finish.
#include <verilated.h>

#include <stdexcept>
#include <string>

void vl_stop(const char* file, int line, const char* module) {
  throw std::logic_error(std::string(module) + ": assertion failed at " + file + ":" +
                         std::to_string(line));
}

void vl_finish(const char* file, int line, const char* module) {
  throw std::logic_error(std::string(module) + ": $finish at " + file + ":" + std::to_string(line));
}

void vl_fatal(const char* file, int line, const char* module, const char* message) {
  throw std::logic_error(std::string(module) + ": " + message + " at " + file + ":" +
                         std::to_string(line));
}
