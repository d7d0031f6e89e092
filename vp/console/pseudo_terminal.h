// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vp/console/sink.h"

namespace vp {

/// A pseudo-terminal to which the user attaches a terminal program, at any time and repeatedly.
/// What nobody reads is kept, the last 64 KiB of it.
class PseudoTerminal : public Sink {
 public:
  /// Throws ConsoleError.
  PseudoTerminal();
  ~PseudoTerminal() override;
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  /// What to attach to, such as /dev/pts/3.
  const std::string& path() const { return path_; }

  void write(std::string_view bytes) override;
  void read(std::string& input, std::size_t room) override;

 private:
  void drain();

  int master_ = -1;
  int slave_ = -1;  // ours, so that the terminal outlives those who attach
  std::string path_;
  std::string backlog_;
};

}  // namespace vp
