// SPDX-License-Identifier: Apache-2.0
// The admin commands (NVMe 1.4, 5). Offsets and codes are written as the specification has them.
#include <gtest/gtest.h>

#include <string>

#include "tests/models/nvme/fixture.h"

namespace nvme::test {
namespace {

constexpr unsigned delete_sq = 0, create_sq = 1, get_log = 2, delete_cq = 4, create_cq = 5,
                   identify = 6, abort_command = 8, set_features = 9, get_features = 10,
                   event_request = 12;

Words of(unsigned opcode, std::uint32_t word10, std::uint32_t word11 = 0, std::uint64_t prp1 = data,
         std::uint32_t name_space = 0) {
  return with(command(opcode, name_space, prp1), {{10, word10}, {11, word11}});
}

TEST(NvmeAdmin, IdentifyController) {
  Host host;
  host.run([&] {
    host.begin();
    // The structure may begin inside a page; it goes on in the page of PRP 2.
    EXPECT_EQ(host.admin(with(command(identify, 0, data + 0xc00, data + 0x3000), {{10, 1}})).code,
              0u);
    std::vector<std::uint8_t> found = host.bytes(data + 0xc00, 0x400);
    const auto rest = host.bytes(data + 0x3000, 0xc00);
    found.insert(found.end(), rest.begin(), rest.end());
    const auto text = [&](unsigned at, unsigned length) {
      return std::string(found.begin() + at, found.begin() + at + length);
    };
    EXPECT_EQ(found[0] | found[1] << 8, 0xf0ae);
    EXPECT_EQ(text(4, 20), "S1                  ");
    EXPECT_EQ(text(24, 16), "OAE-VP NVMe disk");
    EXPECT_EQ(text(64, 8), "1.0     ");
    EXPECT_EQ(found[77], 5) << "MDTS: 128 KiB";
    EXPECT_EQ(found[80] | found[81] << 8 | found[82] << 16, 0x010400);
    EXPECT_EQ(found[111], 1) << "an I/O controller";
    EXPECT_EQ(found[256] | found[257] << 8, 0) << "no optional admin commands";
    EXPECT_EQ(found[258], 3) << "ACL";
    EXPECT_EQ(found[259], 3) << "AERL";
    EXPECT_EQ(found[262], 63) << "ELPE";
    EXPECT_EQ(found[512], 0x66);
    EXPECT_EQ(found[513], 0x44);
    EXPECT_EQ(found[516], 2) << "namespaces";
    EXPECT_EQ(found[520], 1 | 1 << 2 | 1 << 3) << "compare, dataset management, write zeroes";
    EXPECT_EQ(found[525], 6) << "no cache; Flush takes all namespaces";
    EXPECT_EQ(text(768, 37), "nqn.2014-08.org.nvmexpress:uuid:" + text(800, 5));
    EXPECT_EQ(found[768 + 32 + 36], 0);
  });
}

TEST(NvmeAdmin, IdentifyNamespaces) {
  Host host;
  host.run([&] {
    host.begin();
    EXPECT_EQ(host.admin(of(identify, 0, 0, data, 1)).code, 0u);
    EXPECT_EQ(host.value<std::uint64_t>(data), 2048u);
    EXPECT_EQ(host.value<std::uint64_t>(data + 8), 2048u);
    EXPECT_EQ(*host.at(data + 25), 0) << "one format";
    EXPECT_EQ(*host.at(data + 33), 9) << "what is deallocated reads as zeros";
    EXPECT_EQ(host.value<std::uint32_t>(data + 128), 9u << 16);
    EXPECT_EQ(host.admin(of(identify, 0, 0, data, 2)).code, 0u);
    EXPECT_EQ(host.value<std::uint64_t>(data), 256u);
    EXPECT_EQ(host.value<std::uint32_t>(data + 128), 12u << 16);
    for (const std::uint32_t absent : {0u, 3u, 0xfffffffeu, 0xffffffffu}) {
      const Completion completion = host.admin(of(identify, 0, 0, data, absent));
      EXPECT_EQ(completion.code, 0x00bu) << absent;
      EXPECT_TRUE(completion.final && completion.more);
      EXPECT_EQ(host.admin(of(identify, 3, 0, data, absent)).code, 0x00bu);
    }
    const std::vector<std::vector<std::uint32_t>> lists = {{1, 2, 0}, {2, 0, 0}, {0, 0, 0}};
    for (std::uint32_t after = 0; after < 3; ++after) {
      EXPECT_EQ(host.admin(of(identify, 2, 0, data, after)).code, 0u);
      for (unsigned i = 0; i < 3; ++i) {
        EXPECT_EQ(host.value<std::uint32_t>(data + 4 * i), lists[after][i]);
      }
    }
    EXPECT_EQ(host.admin(of(identify, 2, 0, data, 0xfffffffe)).code, 0x00bu);
    host.admin(of(identify, 3, 0, data, 1));
    host.admin(of(identify, 3, 0, data + 0x1000, 2));
    EXPECT_EQ(host.value<std::uint32_t>(data), 3u | 16 << 8) << "a UUID";
    EXPECT_NE(host.bytes(data + 4, 16), host.bytes(data + 0x1004, 16));
    EXPECT_EQ(host.value<std::uint32_t>(data + 20), 0u);
    for (const unsigned structure : {4u, 5u, 0x10u, 0x13u, 0xffu}) {
      EXPECT_EQ(host.admin(of(identify, structure, 0, data, 1)).code, 0x002u);
    }
  });
}

// 5.3 to 5.6: every way to be refused.
TEST(NvmeAdmin, QueuesAreCreatedAndDeleted) {
  Host host;
  host.run([&] {
    host.find();
    host.enable_msi_x();
    host.enable();
    const auto code = [&](unsigned opcode, std::uint32_t word10, std::uint32_t word11 = 0,
                          std::uint64_t prp1 = 0x40000) {
      return host.admin(of(opcode, word10, word11, prp1)).code;
    };
    const std::uint32_t entries = 15u << 16;
    EXPECT_EQ(code(create_cq, 0 | entries, 1), 0x101u);
    EXPECT_EQ(code(create_cq, 5 | entries, 1), 0x101u);
    EXPECT_EQ(code(create_cq, 0xffff | entries, 1), 0x101u);
    EXPECT_EQ(code(create_cq, 1, 1), 0x102u) << "one entry";
    EXPECT_EQ(code(create_cq, 1 | 64u << 16, 1), 0x102u) << "more than MQES";
    EXPECT_EQ(code(create_cq, 1 | entries, 0), 0x002u) << "not contiguous";
    EXPECT_EQ(code(create_cq, 1 | entries, 1, 0x40800), 0x013u);
    EXPECT_EQ(code(create_cq, 1 | entries, 3 | 5 << 16), 0x108u) << "vectors 0 to 4 exist";
    EXPECT_EQ(code(create_sq, 1 | entries, 1 | 1 << 16), 0x100u) << "its completion queue";
    EXPECT_EQ(code(create_cq, 1 | 63u << 16, 3 | 4 << 16), 0u);
    EXPECT_EQ(code(create_cq, 1 | entries, 1), 0x101u) << "it exists";
    EXPECT_EQ(code(create_sq, 0 | entries, 1 | 1 << 16), 0x101u);
    EXPECT_EQ(code(create_sq, 5 | entries, 1 | 1 << 16), 0x101u);
    EXPECT_EQ(code(create_sq, 1 | entries, 1), 0x101u) << "the admin completion queue";
    EXPECT_EQ(code(create_sq, 1 | entries, 1 | 5 << 16), 0x101u);
    EXPECT_EQ(code(create_sq, 1, 1 | 1 << 16), 0x102u);
    EXPECT_EQ(code(create_sq, 1 | 64u << 16, 1 | 1 << 16), 0x102u);
    EXPECT_EQ(code(create_sq, 1 | entries, 1 << 16), 0x002u);
    EXPECT_EQ(code(create_sq, 1 | entries, 1 | 1 << 16, 0x40008), 0x013u);
    EXPECT_EQ(code(create_sq, 1 | entries, 1 | 1 << 16, 0x50000), 0u);
    EXPECT_EQ(code(create_sq, 1 | entries, 1 | 1 << 16, 0x50000), 0x101u);
    EXPECT_EQ(code(create_sq, 2 | entries, 1 | 1 << 16, 0x60000), 0u) << "they share it";
    for (const unsigned opcode : {delete_sq, delete_cq}) {
      for (const std::uint32_t queue : {0u, 3u, 5u, 0xffffu})
        EXPECT_EQ(code(opcode, queue), 0x101u);
    }
    EXPECT_EQ(code(delete_cq, 1), 0x10cu);
    EXPECT_EQ(code(delete_sq, 1), 0u);
    EXPECT_EQ(code(delete_cq, 1), 0x10cu);
    EXPECT_EQ(code(delete_sq, 2), 0u);
    EXPECT_EQ(code(delete_cq, 1), 0u);
    host.disable();
    host.enable(16, 1);  // the sizes of I/O entries are not set
    EXPECT_EQ(code(create_cq, 1 | entries, 1), 0x102u);
  });
}

TEST(NvmeAdmin, DeletionEndsTheQueuesCommands) {
  Host host;
  host.run([&] {
    host.begin();
    EXPECT_EQ(host.controller.inject({"hold", "2"}), "");
    for (unsigned i = 0; i < 5; ++i) host.submit(1, io(read, i, 1));
    host.ring(1);
    pause(5 * vp::us);
    EXPECT_EQ(host.admin(of(delete_sq, 1)).code, 0u);
    unsigned aborted = 0;
    while (const auto completion = host.poll(1)) {
      EXPECT_EQ(completion->code, 0x008u);
      ++aborted;
    }
    EXPECT_EQ(aborted, 5u);
    host.submit(1, io(read, 0, 1));
    host.ring(1);
    pause(50 * vp::us);
    EXPECT_FALSE(host.poll(1));
  });
}

// The commands whose entries are being read belong to the queue, also those that fail at once.
class DeletionDuringAFetch : public testing::TestWithParam<unsigned> {};

TEST_P(DeletionDuringAFetch, AwaitsWhatWasFetched) {
  Host host;
  host.run([&] {
    host.begin();
    host.submit(0, of(delete_sq, 1));
    host.ring(0);
    pause(GetParam() * vp::ns);
    for (unsigned i = 0; i < 2; ++i) host.submit(1, command(0x7f, 1));
    host.ring(1);
    pause(50 * vp::us);
    const auto deleted = host.poll(0);
    ASSERT_TRUE(deleted);
    EXPECT_EQ(deleted->code, 0u);
    EXPECT_FALSE(host.poll(0)) << "a completion of the other queue";
    unsigned completions = 0;
    while (const auto completion = host.poll(1)) ++completions;
    EXPECT_TRUE(completions == 0 || completions == 2) << completions;
    for (unsigned i = 0; i < 40; ++i) EXPECT_EQ(host.admin(of(identify, 1)).code, 0u) << i;
  });
}
INSTANTIATE_TEST_SUITE_P(NvmeAdmin, DeletionDuringAFetch, testing::Range(0u, 3000u, 100u),
                         testing::PrintToStringParamName());

TEST(NvmeAdmin, WhatIsUnknownIsRefused) {
  Host host;
  host.run([&] {
    host.begin();
    for (unsigned opcode = 0; opcode < 256; ++opcode) {
      if (opcode <= 2 || (opcode >= 4 && opcode <= 6) || (opcode >= 8 && opcode <= 10) ||
          opcode == 12) {
        continue;
      }
      const Completion completion = host.admin(command(opcode));
      EXPECT_EQ(completion.code, 0x001u) << opcode;
      EXPECT_TRUE(completion.final);
    }
    // Fused operations and SGLs.
    for (const std::uint32_t bits : {1u << 8, 2u << 8, 1u << 14, 2u << 14}) {
      EXPECT_EQ(host.admin(with(of(identify, 1), {{0, identify | bits}})).code, 0x002u);
      EXPECT_EQ(host.perform(with(io(read, 0, 1), {{0, read | bits}})).code, 0x002u);
    }
  });
}

TEST(NvmeAdmin, ACommandIdInUseIsRefused) {
  Host host;
  host.run([&] {
    host.begin();
    EXPECT_EQ(host.controller.inject({"hold"}), "");
    Words words = io(read, 0, 1);
    words[0] |= 0x1234u << 16;
    host.submit_as_is(host.queue(1), words);
    host.submit_as_is(host.queue(1), words);
    host.ring(1);
    const Completion completion = host.wait_for(1);
    EXPECT_EQ(completion.code, 0x003u);
    EXPECT_EQ(completion.id, 0x1234u);
    words = command(event_request);
    host.submit_as_is(host.queue(0), words);
    host.submit_as_is(host.queue(0), words);
    host.ring(0);
    EXPECT_EQ(host.wait_for(0).code, 0x003u);
  });
}

// 5.1.
TEST(NvmeAdmin, Abort) {
  Host host;
  host.run([&] {
    host.begin();
    EXPECT_EQ(host.controller.inject({"hold"}), "");
    const std::uint16_t held = host.submit(1, io(read, 0, 1));
    host.ring(1);
    pause(20 * vp::us);
    EXPECT_FALSE(host.poll(1));
    EXPECT_EQ(host.admin(of(abort_command, 1 | (held + 1u) << 16)).result, 1u) << "no such one";
    EXPECT_EQ(host.admin(of(abort_command, 2 | std::uint32_t{held} << 16)).result, 1u);
    Completion completion = host.admin(of(abort_command, 1 | std::uint32_t{held} << 16));
    EXPECT_EQ(completion.code, 0u);
    EXPECT_EQ(completion.result, 0u);
    completion = host.wait_for(1);
    EXPECT_EQ(completion.id, held);
    EXPECT_EQ(completion.code, 0x007u);
    EXPECT_FALSE(completion.final);
    EXPECT_EQ(host.admin(of(abort_command, 1 | std::uint32_t{held} << 16)).result, 1u);
    // A request for an event can be aborted as well.
    const std::uint16_t request = host.submit(0, command(event_request));
    host.submit(0, of(abort_command, std::uint32_t{request} << 16));
    host.ring(0);
    completion = host.wait_for(0);
    EXPECT_EQ(completion.id, request);
    EXPECT_EQ(completion.code, 0x007u);
    EXPECT_EQ(host.wait_for(0).result, 0u);
    // 5.15.2.1, ACL: four at a time.
    for (unsigned i = 0; i < 6; ++i) host.submit(0, of(abort_command, 1));
    host.ring(0);
    unsigned refused = 0;
    for (unsigned i = 0; i < 6; ++i) refused += host.wait_for(0).code == 0x103;
    EXPECT_EQ(refused, 2u);
    EXPECT_EQ(host.admin(of(abort_command, 1)).code, 0u);
  });
}

TEST(NvmeAdmin, FourRequestsForEventsAtATime) {
  Host host;
  host.run([&] {
    host.begin();
    for (unsigned i = 0; i < 5; ++i) host.submit(0, command(event_request));
    host.ring(0);
    const Completion completion = host.wait_for(0);
    EXPECT_EQ(completion.code, 0x105u);
    pause(50 * vp::us);
    EXPECT_FALSE(host.poll(0));
    EXPECT_EQ(host.admin(of(identify, 1)).code, 0u);
  });
}

struct Setting {
  std::uint32_t feature, value, code, then;
};

// 5.21.1: what is set is what is got; what cannot be is refused, and the value stays.
TEST(NvmeAdmin, Features) {
  ControllerConfig config = small_config();
  config.namespaces[0].cache = 4096;
  Host host(config);
  host.run([&] {
    host.find();
    host.enable_msi_x();
    host.enable();
    const auto value_of = [&](std::uint32_t feature, std::uint32_t word = 0) {
      return host.admin(of(get_features, feature, word, data, 1));
    };
    const std::map<std::uint32_t, std::uint32_t> defaults = {
        {1, 7},          {2, 0}, {4, 340}, {5, 0},  {6, 1},
        {7, 0x00030003}, {8, 0}, {9, 0},   {10, 0}, {11, 0}};
    for (std::uint32_t feature = 0; feature < 256; ++feature) {
      const Completion completion = value_of(feature);
      const auto found = defaults.find(feature);
      EXPECT_EQ(completion.code, found == defaults.end() ? 0x002u : 0u) << feature;
      if (found != defaults.end()) EXPECT_EQ(completion.result, found->second) << feature;
      if (found == defaults.end()) {
        EXPECT_EQ(host.admin(of(set_features, feature)).code, 0x002u) << feature;
      }
      EXPECT_EQ(host.admin(of(set_features, feature | 1u << 31)).code, 0x10du) << "not saveable";
      EXPECT_EQ(value_of(feature | 1u << 8).code, 0x002u) << "no other value can be selected";
    }
    for (const Setting& one :
         {Setting{1, 0x03020102, 0, 0x03020102}, Setting{2, 1, 0x002, 0}, Setting{2, 0, 0, 0},
          Setting{4, 400, 0, 400}, Setting{4, 500 | 15 << 16, 0, 500},
          Setting{4, 1 | 1 << 16, 0x002, 500}, Setting{4, 1 | 2 << 20, 0x002, 500},
          Setting{5, 100, 0, 100}, Setting{5, 1 << 16, 0x002, 100}, Setting{6, 0, 0, 0},
          Setting{6, 1, 0, 1}, Setting{7, 0x00010001, 0, 0x00030003},
          Setting{7, 0x0000ffff, 0x002, 0x00030003}, Setting{7, 0xffff0000, 0x002, 0x00030003},
          Setting{8, 0x0405, 0, 0x0405}, Setting{9, 5, 0x002, 0}, Setting{10, 1, 0, 1},
          Setting{11, 2, 0, 2}}) {
      const Completion completion = host.admin(of(set_features, one.feature, one.value, data, 1));
      EXPECT_EQ(completion.code, one.code) << one.feature << ' ' << one.value;
      EXPECT_EQ(value_of(one.feature).result, one.then) << one.feature << ' ' << one.value;
    }
    EXPECT_EQ(value_of(4, 1 << 20).result, 0u) << "the lower threshold";
    EXPECT_EQ(host.admin(of(set_features, 5, 7, data, 3)).code, 0x00bu);
    EXPECT_EQ(host.admin(of(set_features, 5, 7, data, 0xffffffff)).code, 0u);
    EXPECT_EQ(host.admin(of(get_features, 5, 0, data, 2)).result, 7u);
    host.create(1);
    EXPECT_EQ(host.admin(of(set_features, 7, 0x00010001)).code, 0x00cu) << "too late";
  });
}

TEST(NvmeAdmin, WithoutACacheThereIsNoSuchFeature) {
  Host host;
  host.run([&] {
    host.begin();
    EXPECT_EQ(host.admin(of(get_features, 6)).code, 0x002u);
    EXPECT_EQ(host.admin(of(set_features, 6, 1)).code, 0x002u);
  });
}

TEST(NvmeAdmin, Logs) {
  Host host;
  host.run([&] {
    host.begin();
    for (unsigned i = 0; i < 3; ++i) host.perform(io(read, 0, 16, data, data + 0x1000));
    host.perform(io(write, 0, 1));
    host.perform(io(read, 2048, 1));
    const auto log = [&](std::uint32_t id, std::uint32_t dwords, std::uint32_t name_space = ~0u,
                         std::uint64_t offset = 0) {
      std::memset(host.at(data), 0xee, 0x1000);
      return host
          .admin(with(of(get_log, id | (dwords - 1) << 16, 0, data, name_space),
                      {{12, static_cast<std::uint32_t>(offset)},
                       {13, static_cast<std::uint32_t>(offset >> 32)}}))
          .code;
    };
    EXPECT_EQ(log(2, 128), 0u);
    EXPECT_EQ(*host.at(data), 0) << "no warning";
    EXPECT_EQ(host.value<std::uint16_t>(data + 1), 310u);
    EXPECT_EQ(*host.at(data + 3), 100);
    EXPECT_EQ(host.value<std::uint64_t>(data + 32), 1u) << "48 sectors, in thousands, rounded up";
    EXPECT_EQ(host.value<std::uint64_t>(data + 48), 1u);
    EXPECT_EQ(host.value<std::uint64_t>(data + 64), 3u);
    EXPECT_EQ(host.value<std::uint64_t>(data + 80), 1u);
    EXPECT_EQ(host.value<std::uint64_t>(data + 112), 1u) << "power cycles";
    EXPECT_EQ(host.value<std::uint64_t>(data + 176), 1u) << "errors";
    EXPECT_EQ(*host.at(data + 512), 0xee) << "no more than was asked for";
    EXPECT_EQ(log(1, 16), 0u);
    EXPECT_EQ(host.value<std::uint64_t>(data), 1u);
    EXPECT_EQ(host.value<std::uint16_t>(data + 8), 1u) << "the queue";
    EXPECT_EQ(host.value<std::uint16_t>(data + 12), (0x6000u | 0x080u) << 1);
    EXPECT_EQ(host.value<std::uint64_t>(data + 16), 2048u) << "the block";
    EXPECT_EQ(host.value<std::uint32_t>(data + 24), 1u) << "the namespace";
    EXPECT_EQ(log(1, 8, ~0u, 8), 0u);
    EXPECT_EQ(host.value<std::uint16_t>(data), 1u) << "from an offset";
    EXPECT_EQ(log(3, 128), 0u);
    EXPECT_EQ(*host.at(data), 1);
    EXPECT_EQ(std::string(host.at(data + 8), host.at(data + 16)), "1.0     ");
    EXPECT_EQ(log(2, 128, 1), 0x002u) << "none for one namespace";
    for (const std::uint32_t id : {0u, 4u, 5u, 0x70u, 0xffu}) EXPECT_EQ(log(id, 1), 0x109u);
    EXPECT_EQ(log(3, 1, ~0u, 2), 0x002u);
    EXPECT_EQ(log(3, 1, ~0u, 512), 0u);
    EXPECT_EQ(host.value<std::uint32_t>(data), 0u) << "behind its end";
    EXPECT_EQ(log(3, 1, ~0u, 516), 0x002u);
    EXPECT_EQ(log(3, 1, ~0u, std::uint64_t{1} << 40), 0x002u);
    EXPECT_EQ(host.admin(of(get_log, 3 | 0xffffu << 16, 1)).code, 0x002u) << "more than MDTS";
  });
}

// 5.2 and 5.21.1.4.
TEST(NvmeAdmin, TheTemperatureCrossesItsThreshold) {
  Host host;
  host.run([&] {
    host.begin();
    host.submit(0, command(event_request));
    host.ring(0);
    EXPECT_EQ(host.admin(of(set_features, 4, 310)).code, 0u);
    EXPECT_EQ(host.admin(of(set_features, 4, 340)).code, 0u);
    EXPECT_FALSE(host.poll(0)) << "not wanted";
    host.admin(of(set_features, 11, 2));
    for (const std::uint32_t threshold : {310u, 310u | 1 << 20}) {
      const std::uint32_t harmless = threshold == 310 ? 311 : 309 | 1 << 20;
      EXPECT_EQ(host.admin(of(set_features, 4, harmless)).code, 0u);
      EXPECT_FALSE(host.poll(0));
      host.submit(0, of(set_features, 4, threshold));
      host.ring(0);
      const Completion event = host.wait_for(0);
      EXPECT_EQ(event.result, 0x00020101u);
      EXPECT_EQ(host.wait_for(0).code, 0u);
      host.admin(of(get_log, 2 | 127u << 16, 0, data, ~0u));
      EXPECT_EQ(*host.at(data), 2) << "the warning";
      host.admin(of(set_features, 4, harmless));
      host.submit(0, command(event_request));
      host.ring(0);
    }
  });
}

TEST(NvmeAdmin, MemoryThatIsAbsentIsATransferError) {
  Host host;
  host.run([&] {
    host.begin();
    // Writes to it are lost, since they have no completion.
    EXPECT_EQ(host.admin(of(identify, 1, 0, 0x80000000)).code, 0u);
    EXPECT_EQ(host.admin(of(identify, 1, 0, data + 2)).code, 0x013u);
    EXPECT_EQ(host.admin(with(command(identify, 0, data + 4, data + 8), {{10, 1}})).code, 0x013u);
  });
}

}  // namespace
}  // namespace nvme::test
