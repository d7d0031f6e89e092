// SPDX-License-Identifier: Apache-2.0
// Faults of the device itself: what can be asked for, and what the host then sees.
#include "models/nvme/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/nvme/fixture.h"

namespace nvme::test {
namespace {

using testing::HasSubstr;

constexpr unsigned identify = 6, abort_command = 8, get_features = 10;

Words abort_of(std::uint16_t id, unsigned queue = 1) {
  return with(command(abort_command), {{10, queue | std::uint32_t{id} << 16}});
}

TEST(NvmeFaults, MistakesAreSaid) {
  Faults faults;
  const std::pair<std::vector<std::string_view>, const char*> table[] = {
      {{}, "can hold, fail"},
      {{"melt"}, "can hold, fail"},
      {{"hold", "0"}, "a whole number from 1 up"},
      {{"hold", "-1"}, "a whole number from 1 up"},
      {{"hold", "1x"}, "a whole number from 1 up"},
      {{"hold", "4294967296"}, "a whole number from 1 up"},
      {{"hold", "1", "reed"}, "no such command; there are io admin flush write read"},
      {{"hold", "1", "read", "2"}, "takes nothing behind that"},
      {{"fail"}, "fail takes a status"},
      {{"fail", "0"}, "fail takes a status"},
      {{"fail", "0x000"}, "fail takes a status"},
      {{"fail", "0x800"}, "fail takes a status"},
      {{"fail", "0x"}, "fail takes a status"},
      {{"fail", "sucess"}, "write_fault"},
      {{"fail", "write_fault", "1", ""}, "no such command"},
      {{"refuse_abort", "1", "2"}, "takes nothing behind that"},
      {{"stay_disabled", "no"}, "a whole number from 1 up"},
      {{"clear", "1"}, "takes nothing behind that"},
  };
  for (const auto& [words, found] : table) EXPECT_THAT(faults.ask(words), HasSubstr(found));
  EXPECT_FALSE(faults.any()) << "a mistake asks for nothing";
  EXPECT_FALSE(faults.refuses_abort());
  EXPECT_FALSE(faults.stays_disabled());
  EXPECT_EQ(faults.count(), 0u);
}

TEST(NvmeFaults, EachFindsItsCommandsInTheOrderOfTheRequests) {
  Faults faults;
  EXPECT_EQ(faults.ask({"fail", "0x281", "2", "read"}), "");
  EXPECT_EQ(faults.ask({"hold"}), "");
  EXPECT_EQ(faults.ask({"fail", "internal_error", "1", "identify"}), "");
  EXPECT_EQ(faults.ask({"hold", "1", "admin"}), "");
  const auto is = [](const Faults::Fate& fate, Faults::Effect effect, unsigned status) {
    return fate.effect == effect && fate.status == static_cast<StatusCode>(status);
  };
  EXPECT_TRUE(is(faults.fate(false, read), Faults::Effect::fail, 0x281));
  EXPECT_TRUE(is(faults.fate(false, write), Faults::Effect::hold, 0));
  EXPECT_TRUE(is(faults.fate(false, write), Faults::Effect::none, 0));
  EXPECT_TRUE(is(faults.fate(false, read), Faults::Effect::fail, 0x281));
  EXPECT_TRUE(is(faults.fate(false, read), Faults::Effect::none, 0));
  // Opcode 6 is Identify in the admin queue alone.
  EXPECT_TRUE(is(faults.fate(true, get_features), Faults::Effect::hold, 0));
  EXPECT_TRUE(is(faults.fate(false, identify), Faults::Effect::none, 0));
  EXPECT_TRUE(is(faults.fate(true, identify), Faults::Effect::fail, 0x006));
  EXPECT_FALSE(faults.any());
  EXPECT_EQ(faults.count(), 5u);
  EXPECT_EQ(faults.ask({"hold", "9"}), "");
  EXPECT_EQ(faults.ask({"refuse_abort", "9"}), "");
  EXPECT_EQ(faults.ask({"clear"}), "");
  EXPECT_FALSE(faults.any());
  EXPECT_FALSE(faults.refuses_abort());
}

TEST(NvmeFaults, AGuestCannotAskWithoutAnEnd) {
  Faults faults;
  for (int i = 0; i < 256; ++i) ASSERT_EQ(faults.ask({"hold", "2", "read"}), "") << i;
  EXPECT_THAT(faults.ask({"fail", "0x281"}), HasSubstr("256 faults wait"));
  EXPECT_EQ(faults.ask({"refuse_abort"}), "") << "which is a number, and takes no place";
  for (int i = 0; i < 2; ++i) faults.fate(false, read);
  EXPECT_EQ(faults.ask({"fail", "0x281"}), "") << "one has happened";
  EXPECT_EQ(faults.ask({"clear"}), "");
  EXPECT_FALSE(faults.any());
}

TEST(NvmeFaults, AFailedCommandHasNoEffect) {
  Host host;
  host.run([&] {
    host.begin();
    EXPECT_EQ(host.controller.inject({"fail", "write_fault", "2", "write"}), "");
    EXPECT_EQ(host.controller.inject({"fail", "0x281", "1", "read"}), "");
    host.pattern(data, 512, 1);
    for (int i = 0; i < 2; ++i) {
      const Completion completion = host.perform(io(write, 7, 1));
      EXPECT_EQ(completion.code, 0x280u);
      EXPECT_FALSE(completion.final);
      EXPECT_TRUE(completion.more) << "the error log has an entry";
    }
    const Completion completion = host.perform(io(read, 7, 1, data + 0x1000));
    EXPECT_EQ(completion.code, 0x281u);
    EXPECT_TRUE(completion.final);
    EXPECT_EQ(host.perform(io(read, 7, 1, data + 0x1000)).code, 0u);
    EXPECT_EQ(host.bytes(data + 0x1000, 512), std::vector<std::uint8_t>(512));
    EXPECT_EQ(host.perform(io(write, 7, 1)).code, 0u);
    EXPECT_EQ(host.perform(io(read, 7, 1, data + 0x1000)).code, 0u);
    EXPECT_EQ(host.bytes(data + 0x1000, 512), host.bytes(data, 512));
    EXPECT_EQ(host.counter_of("injected_faults"), 3u);
    EXPECT_EQ(host.counter_of("writes"), 1u);
  });
}

TEST(NvmeFaults, HeldCommandsLeaveOthersAlone) {
  Host host;
  host.run([&] {
    host.begin();
    EXPECT_EQ(host.controller.inject({"hold", "2", "read"}), "");
    const std::uint16_t first = host.submit(1, io(read, 0, 1)),
                        second = host.submit(1, io(read, 1, 1));
    const std::uint16_t third = host.submit(1, io(write, 2, 1));
    host.ring(1);
    EXPECT_EQ(host.wait_for(1).id, third);
    pause(1 * vp::ms);
    EXPECT_FALSE(host.poll(1));
    for (const std::uint16_t id : {second, first}) {
      EXPECT_EQ(host.admin(abort_of(id)).result, 0u);
      const Completion completion = host.wait_for(1);
      EXPECT_EQ(completion.id, id);
      EXPECT_EQ(completion.code, 0x007u);
    }
    EXPECT_EQ(host.perform(io(read, 0, 1)).code, 0u);
  });
}

// 5.1: the command that was to be aborted goes on, here for ever, until the controller is reset.
TEST(NvmeFaults, ARefusedAbortAbortsNothing) {
  Host host;
  host.run([&] {
    host.begin();
    EXPECT_EQ(host.controller.inject({"hold"}), "");
    EXPECT_EQ(host.controller.inject({"refuse_abort", "2"}), "");
    const std::uint16_t held = host.submit(1, io(read, 0, 1));
    host.ring(1);
    for (int i = 0; i < 2; ++i) {
      const Completion completion = host.admin(abort_of(held));
      EXPECT_EQ(completion.code, 0u);
      EXPECT_EQ(completion.result, 1u);
      EXPECT_FALSE(host.poll(1));
    }
    EXPECT_EQ(host.admin(abort_of(held)).result, 0u);
    EXPECT_EQ(host.wait_for(1).id, held);
  });
}

// An Abort that is itself held takes none of the places for others, and can be aborted.
TEST(NvmeFaults, AnAbortCanBeHeld) {
  Host host;
  host.run([&] {
    host.begin();
    EXPECT_EQ(host.controller.inject({"hold", "1", "abort"}), "");
    const std::uint16_t held = host.submit(0, abort_of(1));
    host.ring(0);
    pause(1 * vp::ms);
    EXPECT_FALSE(host.poll(0));
    const std::uint16_t other = host.submit(0, abort_of(held, 0));
    host.ring(0);
    Completion completion = host.wait_for(0);
    EXPECT_EQ(completion.id, held);
    EXPECT_EQ(completion.code, 0x007u);
    completion = host.wait_for(0);
    EXPECT_EQ(completion.id, other);
    EXPECT_EQ(completion.result, 0u);
    // 5.15.2.1, ACL: still four at a time.
    for (unsigned i = 0; i < 6; ++i) host.submit(0, abort_of(9));
    host.ring(0);
    unsigned refused = 0;
    for (unsigned i = 0; i < 6; ++i) refused += host.wait_for(0).code == 0x103;
    EXPECT_EQ(refused, 2u);
  });
}

TEST(NvmeFaults, FaultsWaitThroughResets) {
  Host host;
  host.run([&] {
    host.begin();
    EXPECT_EQ(host.controller.inject({"fail", "0x006", "1", "flush"}), "");
    host.disable();
    host.reset_function();
    pause(10 * vp::us);
    host.begin();
    EXPECT_EQ(host.perform(command(flush, 1)).code, 0x006u);
    EXPECT_EQ(host.perform(command(flush, 1)).code, 0u);
  });
}

TEST(NvmeFaults, AFatalErrorStopsIt) {
  Host host;
  host.run([&] {
    host.find();
    EXPECT_EQ(host.controller.inject({"fatal"}), "the controller is not ready");
    host.begin();
    EXPECT_EQ(host.controller.inject({"fatal"}), "");
    EXPECT_EQ(host.get(Host::csts) & 2, 2u);
    EXPECT_EQ(host.controller.inject({"fatal"}), "the controller is not ready");
    host.submit(1, io(read, 0, 1));
    host.ring(1);
    pause(1 * vp::ms);
    EXPECT_FALSE(host.poll(1));
    host.put(Host::cc, 0);
    host.wait_for_status(3, 0);
    host.begin();
    EXPECT_EQ(host.perform(io(read, 0, 1)).code, 0u);
  });
}

TEST(NvmeFaults, ItMayStayDisabled) {
  Host host;
  host.run([&] {
    host.find();
    EXPECT_EQ(host.controller.inject({"stay_disabled", "2"}), "");
    host.put(Host::aqa, 0x000f000f);
    host.put(Host::asq, 0x1000, 8);
    host.put(Host::acq, 0x2000, 8);
    for (int i = 0; i < 2; ++i) {
      host.put(Host::cc, 1);
      pause(600 * vp::ms);
      EXPECT_EQ(host.get(Host::csts), 0u);
      host.put(Host::cc, 0);
      EXPECT_EQ(host.get(Host::csts), 0u);
    }
    host.begin();
    EXPECT_EQ(host.perform(io(read, 0, 1)).code, 0u);
  });
}

}  // namespace
}  // namespace nvme::test
