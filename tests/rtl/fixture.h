// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Voae_block.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "tests/rtl/reference_block.h"

/// Drives the pins of the verilated block and compares every result with the reference block, to
/// which each operation is applied when the block accepts it. What disagrees fails the test.
///
/// Nothing is checked by time but that a thing happens at all, within `patience` clocks.
class Fixture {
 public:
  explicit Fixture(unsigned ports = 8, std::uint64_t seed = 1, std::uint32_t clock_khz = 500'000);
  ~Fixture();

  /// How often a valid or ready pin is held back, in percent of the clocks.
  unsigned stall = 0;
  /// Whether MSI-X is to be compared; the reference knows no deadlines.
  bool compare_signals = true;
  /// While it is set, no interrupt leaves, and drain() does not wait for those.
  bool hold_interrupts = false;

  // Posts. Requests are done in this order; firmware's writes and reads each in theirs.
  void post_write(unsigned bar, unsigned address, const void* data, unsigned bytes);
  void post_read(unsigned bar, unsigned address, unsigned bytes, bool refused = false);
  void post_reset();  // of the function
  /// The block loses its power and has it again. What was posted and not answered is gone.
  void lose_power();
  void post_put(unsigned address, std::uint64_t data, unsigned strobe = 0xff);
  void post_get(unsigned address);

  void clock();
  /// Runs until all is done and the block is not busy, and compares what both have seen.
  void drain();
  /// Lets time pass with the clock stopped, which it must be allowed to be.
  void sleep(std::uint64_t clocks);
  /// Number of the request that was posted last, as on_completion has it.
  unsigned number() const { return tag_; }
  std::size_t posted() const { return requests_.size() + puts_.size() + gets_.size(); }

  // One thing at a time
  void write(unsigned bar, unsigned address, std::uint64_t value, unsigned bytes = 8);
  std::uint64_t read(unsigned bar, unsigned address, unsigned bytes = 8, bool refused = false);
  void write_slot(unsigned port, const Slot& slot);
  std::uint64_t answer(unsigned port, bool refused = false);
  /// The streamed answer, in one read.
  Slot stream(unsigned port);
  void confirm(unsigned port, std::uint8_t epoch, std::uint32_t sequence);
  void reverse(unsigned port, std::uint8_t epoch, std::uint32_t sequence);
  void function_reset();
  /// Lets time pass until the block commits the port's swap by itself, which holds words.
  void expire(unsigned port);
  void put(unsigned address, std::uint64_t value, unsigned strobe = 0xff);
  std::uint64_t get(unsigned address);
  /// As put(), publishing a sealed slot.
  void publish(unsigned port, const Slot& slot);

  // What the block answers, for software that waits for it
  std::function<void(unsigned number, const Slot& line)> on_completion;
  std::function<void(std::uint64_t address, const Slot& slot)> on_slot;
  std::function<void(std::uint64_t value)> on_get;
  std::function<void()> on_put;

  VerilatedContext context;
  Voae_block top{&context};
  ReferenceBlock reference;
  std::mt19937_64 random;

  std::uint64_t now = 0;      ///< clocks so far
  std::uint64_t latency = 0;  ///< clocks from accepting the last read to its completion
  Slot line{};                ///< what was read last of each word of a line
  Slot pushed{};              ///< the last slot written
  std::uint64_t pushed_address = 0;
  unsigned pushes = 0;            ///< slots written
  unsigned pushed = 0;            ///< swaps that took place so
  unsigned streamed = 0;          ///< and so
  unsigned expired = 0;           ///< swaps that the limit committed
  bool error = false;             ///< of the last access
  std::vector<unsigned> signals;  ///< MSI-X vectors
  std::vector<Transition> transitions;

 private:
  static constexpr unsigned patience = 4000;

  struct Request {
    bool write;
    bool reset;  // of the function, and nothing else
    ReferenceBlock::Line line;
    Slot data;
    std::uint64_t enable;
    bool refused;
    unsigned tag;
  };
  struct Access {
    unsigned address;
    std::uint64_t data;
    unsigned strobe;
  };
  struct Read {
    Request request;
    ReferenceBlock::Read expected;
    std::uint64_t accepted;
    std::uint64_t alive;    // when the firmware had last given its sign of life
    bool answered = false;  // the slot was written
    bool refused = false;
  };
  /// A NOT_READY that stays, and what has been seen of it so far.
  struct Refusal {
    std::uint64_t age_at_least;
    std::optional<std::uint64_t> age;
    std::optional<std::uint64_t> crc;
  };

  void power_up();
  // A valid pin stays up, once up, until its ready; a ready pin may do as it likes.
  bool go() { return stall == 0 || random() % 100 >= stall; }
  void post(bool write, unsigned bar, unsigned address, const void* data, unsigned bytes,
            bool refused);
  void drive();
  void take_request();
  void take_access();
  void take_answer();
  void check_formed(const Slot& seen, unsigned words, Slot& expected);
  void take_completion();
  void check_signals();
  void check_limit(const Transition& seen);
  void take_response();
  void check_age(std::uint64_t age) const;

  std::deque<Request> requests_;
  std::deque<Access> puts_;
  std::deque<Access> gets_;
  unsigned tag_ = 0;
  std::optional<Read> read_;
  std::map<unsigned, Refusal> refusals_;  // by port
  std::optional<bool> put_;               // whether it must be well
  bool getting_ = false;
  unsigned address_ = 0;  // of what it gets
  std::optional<std::uint64_t> get_;
  std::uint64_t result_ = 0;
  std::uint64_t alive_ = 0;
  unsigned waited_ = 0;
  std::size_t heard_ = 0;     // signals that were compared,
  std::size_t expected_ = 0;  //   with these of the reference
  bool voided_ = false;       // a reset may have taken some back since
  std::map<unsigned, std::uint64_t> exchanged_;  // when the port's last swap was
};
