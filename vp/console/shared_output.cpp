// SPDX-License-Identifier: Apache-2.0
#include "vp/console/shared_output.h"

namespace vp {

class SharedOutput::Part : public Sink {
 public:
  Part(SharedOutput& shared, const std::string& name) : shared_(shared), prefix_(name + "| ") {}

  ~Part() override {
    if (shared_.unfinished_ == this) shared_.unfinished_ = nullptr;
  }

  void write(std::string_view bytes) override {
    std::string& text = shared_.text_;
    text.clear();
    while (!bytes.empty()) {
      if (shared_.unfinished_ != this) {
        if (shared_.unfinished_ != nullptr) text += "\r\n";
        text += prefix_;
      }
      const std::size_t end = bytes.find('\n');
      shared_.unfinished_ = end == bytes.npos ? this : nullptr;
      const std::size_t length = end == bytes.npos ? bytes.size() : end + 1;
      text += bytes.substr(0, length);
      bytes.remove_prefix(length);
    }
    shared_.output_.write(text);
  }

 private:
  SharedOutput& shared_;
  const std::string prefix_;
};

std::unique_ptr<Sink> SharedOutput::sink(const std::string& name) {
  return std::make_unique<Part>(*this, name);
}

}  // namespace vp
