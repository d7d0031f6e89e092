// SPDX-License-Identifier: Apache-2.0
// Accesses in the middle of translated code happen at their exact times, whatever was translated
// before, and even if the code is overwritten.
#include <utility>

#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

const std::vector<Picoseconds> quanta{10 * ns, 200 * ns, 1 * us, 10 * us, 1 * ms};
constexpr Picoseconds stall = 33 * ns;

/// The actions of the guest, instruction by instruction.
class Model {
 public:
  explicit Model(unsigned size) : size_(size) {}

  void pass(unsigned instructions) { time_ += static_cast<Picoseconds>(instructions) * ns; }
  /// The next instruction accesses the device.
  void access(char kind, std::uint64_t address, std::uint64_t value, unsigned size = 0) {
    pass(1);
    again(kind, address, value, size);
  }
  /// The same instruction accesses the device.
  void again(char kind, std::uint64_t address, std::uint64_t value, unsigned size = 0) {
    trace_ += Access{time_, 0, kind, address, size > 0 ? size : size_, value}.text();
    ++accesses_;
    time_ += stall_at(address);
  }
  std::string trace() const { return trace_; }
  std::size_t accesses() const { return accesses_; }

  static Picoseconds stall_at(std::uint64_t address) { return (address & 8) != 0 ? stall : 0; }

 private:
  const unsigned size_;
  Picoseconds time_ = 0;
  std::string trace_;
  std::size_t accesses_ = 0;
};

/// The value that a device gives at an address.
std::uint64_t value_at(std::uint64_t address) {
  return address & 0x7f;
}

void behave(Machine& machine, std::uint64_t base) {
  for (std::uint64_t offset = 0; offset < 0x80; offset += 8) {
    machine.device.at[base + offset] = {value_at(base + offset), Model::stall_at(base + offset), 0};
  }
}

/// Returns as many of the first lines of the device's trace as the model has.
std::string head(const Machine& machine, std::size_t lines) {
  EXPECT_GE(machine.device.accesses.size(), lines);
  std::string text;
  for (std::size_t i = 0; i < std::min(lines, machine.device.accesses.size()); ++i) {
    text += machine.device.accesses[i].text();
  }
  return text;
}

/// The parameter is a mask: the guest rewrites the code in rounds whose number has none of its
/// bits.
class RewrittenTest : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Masks, RewrittenTest, testing::Values(0, 1, 7, 0x3f, 0x7fff),
                         testing::PrintToStringParamName());

constexpr unsigned rounds = 600;

TEST_P(RewrittenTest, IsOfNoEffectOnAnArmCore) {
  Model model(8);
  bool device_next = false, one = false;
  std::uint64_t count = 0;
  model.pass(13);
  for (unsigned round = 0; round < rounds; ++round) {
    model.pass(2);
    if ((round & GetParam()) == 0) {
      one = !one;
      model.pass(12);
    }
    model.pass(1);
    const auto read = [&](std::uint64_t offset) {
      model.access('r', device + offset, value_at(offset));
    };
    const auto toggled = [&] {
      if (device_next) {
        read(0);
      } else {
        model.pass(1);
      }
      device_next = !device_next;
    };
    ++count;
    if (one) {
      model.pass(1);
      read(8);
      model.pass(1);
      model.access('w', device + 16, count);
      toggled();
      model.pass(1);
      model.access('w', device + 24, value_at(8));
      model.pass(3);
    } else {
      read(32);
      model.pass(2);
      toggled();
      model.pass(1);
      read(40);
      model.again('r', device + 48, value_at(48));
      model.access('w', device + 16, count);
      model.pass(1);
    }
    model.pass(2);
  }
  const auto trace = [&](unsigned cores, Picoseconds quantum, Picoseconds slice) {
    return in_child([&] {
      Instance::Config config = ipu("rewritten", cores);
      config.max_quantum = quantum;
      config.slice = slice;
      Machine machine(std::move(config));
      machine.parameter(0, GetParam());
      behave(machine, device);
      run(100 * us);
      return head(machine, model.accesses());
    });
  };
  for (const Picoseconds quantum : quanta) {
    EXPECT_TRUE(trace(1, quantum, 1 * us) == model.trace()) << quantum;
  }
  // Turns end in the middle of blocks, whose parts are translated for themselves.
  for (const Picoseconds slice : {1 * ns, 3 * ns, 7 * ns, 100 * ns}) {
    EXPECT_TRUE(trace(2, 1 * us, slice) == model.trace()) << "slices of " << slice;
  }
}

TEST_P(RewrittenTest, IsOfNoEffectOnAHostVcpu) {
  constexpr std::uint64_t base = 0xd0000;
  Model model(2);
  bool device_next = false, one = false;
  std::uint64_t count = 0;
  model.pass(13);
  for (unsigned round = 0; round < rounds; ++round) {
    model.pass(2);
    if ((round & GetParam()) == 0) {
      one = !one;
      model.pass(16);
    }
    model.pass(2);
    const auto toggled = [&] {
      if (device_next) {
        model.access('r', base, value_at(0));
      } else {
        model.pass(1);
      }
      device_next = !device_next;
    };
    ++count;
    if (one) {
      model.pass(1);
      model.access('r', base + 8, value_at(8));
      model.pass(1);
      model.access('w', base + 16, count);
      toggled();
      model.pass(3);
      model.access('w', base + 24, count & 0xff, 1);
      model.pass(1);
    } else {
      model.access('r', base + 32, value_at(32));
      model.pass(2);
      toggled();
      model.pass(3);
      model.access('w', base + 24, count & 0xff, 1);
      model.access('w', base + 16, count);
      model.pass(1);
    }
    model.pass(3);
  }
  for (const Picoseconds quantum : quanta) {
    const std::string trace = in_child([&] {
      Instance::Config config = host("rewritten-host");
      config.max_quantum = quantum;
      Machine machine(std::move(config));
      machine.qemu.map_memory(base, 0x1000, 10);
      const auto mask = static_cast<std::uint16_t>(GetParam());
      EXPECT_TRUE(machine.qemu.write_memory(0x500, &mask, sizeof mask));
      behave(machine, base);
      run(100 * us);
      return head(machine, model.accesses());
    });
    EXPECT_TRUE(trace == model.trace()) << quantum;
  }
}

// After an access the vCPU executes the code that the device has left there.
TEST(CpuBlocksTest, ADeviceMayReplaceTheCodeBehindItsAccess) {
  constexpr std::uint64_t routine = sram + 0x2000;
  constexpr std::uint32_t add_one = 0x91000421, add_three = 0x91000c21;  // ADD X1, X1, #n
  Model model(8);
  std::uint64_t count = 0;
  bool device_next = false;
  model.pass(13);
  for (unsigned round = 0; round < rounds; ++round) {
    model.pass(round == 0 ? 2 + 12 + 1 : 2 + 1);
    model.pass(1);
    model.access('r', device + 8, value_at(8));
    model.pass(1);
    count += round % 5 == 2 ? 3 : 1;
    model.access('w', device + 16, count);
    if (std::exchange(device_next, !device_next)) {
      model.access('r', device, value_at(0));
    } else {
      model.pass(1);
    }
    model.pass(1);
    model.access('w', device + 24, value_at(8));
    model.pass(3 + 2);
  }
  for (const Picoseconds quantum : quanta) {
    const std::string trace = in_child([&] {
      Instance::Config config = ipu("rewritten");
      config.max_quantum = quantum;
      Machine machine(std::move(config));
      machine.parameter(0, ~std::uint64_t{0});
      behave(machine, device);
      unsigned round = 0;
      machine.device.on_access = [&](Access& access) {
        if (access.address != device + 8) return;
        const std::uint32_t code = round % 5 == 2 ? add_three : add_one;
        // Most rounds do not rewrite the code.
        if (round % 5 == 2 || round % 5 == 3) {
          EXPECT_TRUE(machine.qemu.write_memory(routine + 8, &code, sizeof code));
        }
        ++round;
      };
      run(100 * us);
      return head(machine, model.accesses());
    });
    EXPECT_TRUE(trace == model.trace()) << quantum;
  }
}

}  // namespace
}  // namespace vp::qemu
