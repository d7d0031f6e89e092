// SPDX-License-Identifier: Apache-2.0
#include "vp/console/shared_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/vp/console/note_sink.h"

namespace vp {
namespace {

class SharedOutputTest : public testing::Test {
 protected:
  std::string text() const {
    std::string text;
    for (const std::string& write : writes_) text += write;
    return text;
  }

  std::vector<std::string> writes_;
  NoteSink output_{writes_};
  SharedOutput shared_{output_};
  std::unique_ptr<Sink> host_ = shared_.sink("host");
  std::unique_ptr<Sink> ipu_ = shared_.sink("ipu");
};

TEST_F(SharedOutputTest, EachLineBeginsWithItsConsole) {
  host_->write("a\r\nb\r\n");
  ipu_->write("c\n");
  host_->write("\n");
  EXPECT_EQ(text(), "host| a\r\nhost| b\r\nipu| c\nhost| \n");
}

TEST_F(SharedOutputTest, ALineGoesOnWithoutASecondPrefix) {
  host_->write("~ #");
  host_->write(" l");
  host_->write("s\nfile\n");
  EXPECT_EQ(text(), "host| ~ # ls\nhost| file\n");
}

TEST_F(SharedOutputTest, AnUnfinishedLineEndsBeforeAnotherConsoleWrites) {
  host_->write("~ # ");
  ipu_->write("ready\nse");
  host_->write("ls\n");
  ipu_->write("t\n");
  EXPECT_EQ(text(), "host| ~ # \r\nipu| ready\nipu| se\r\nhost| ls\nipu| t\n");
}

TEST_F(SharedOutputTest, EachWriteIsOneWrite) {
  host_->write("a\nb\nc");
  EXPECT_EQ(writes_.size(), 1);
}

TEST_F(SharedOutputTest, AConsoleMayCloseInTheMiddleOfALine) {
  host_->write("a");
  host_.reset();
  ipu_->write("b\n");
  EXPECT_EQ(text(), "host| aipu| b\n");
}

}  // namespace
}  // namespace vp
