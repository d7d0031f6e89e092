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

#include "tests/rtl/block/reference/block.h"

/// Drives the pins of the verilated block, applies each operation to the reference block when the
/// block accepts it, and compares every result. A difference fails the test.
///
/// Times are not compared. Each event must only happen within `patience` clocks.
class Fixture {
 public:
  explicit Fixture(unsigned ports = 8, std::uint64_t seed = 1, std::uint32_t clock_khz = 500'000);
  ~Fixture();

  /// How often a valid or ready pin is held back, in percent of the clocks.
  unsigned stall = 0;
  /// Whether MSI-X is compared; the reference has no deadlines.
  bool compare_signals = true;
  /// While it is set, no interrupt leaves, and drain() does not wait for those.
  bool hold_interrupts = false;
  /// The slots of reads that are accepted while it is set have to wait until it is cleared. drain()
  /// does not wait for such a read.
  bool hold_slots = false;

  // These functions post operations. Requests are executed in their order, and so are the writes
  // and the reads of the firmware.
  void post_write(unsigned bar, unsigned address, const void* data, unsigned bytes);
  void post_read(unsigned bar, unsigned address, unsigned bytes, bool refused = false);
  void post_reset();  // a reset of the function
  /// The block loses its power and has it again. What was posted and not answered is gone.
  void lose_power();
  void post_put(unsigned address, std::uint64_t data, unsigned strobe = 0xff);
  void post_get(unsigned address);

  void clock();
  /// Runs until all operations have ended and the block is not busy, and compares both sides.
  void drain();
  /// Lets time pass with the clock stopped. The block must permit that.
  void sleep(std::uint64_t clocks);
  /// The number of the last posted request, which on_completion gets.
  unsigned number() const { return tag_; }
  std::size_t posted() const { return requests_.size() + puts_.size() + gets_.size(); }

  // These functions post one operation and wait for it.
  void write(unsigned bar, unsigned address, std::uint64_t value, unsigned bytes = 8);
  std::uint64_t read(unsigned bar, unsigned address, unsigned bytes = 8, bool refused = false);
  void write_slot(unsigned port, const Slot& slot);
  std::uint64_t answer(unsigned port, bool refused = false);
  /// Reads the streamed answer in one read.
  Slot stream(unsigned port);
  void confirm(unsigned port, std::uint8_t epoch, std::uint32_t sequence);
  void reverse(unsigned port, std::uint8_t epoch, std::uint32_t sequence);
  void function_reset();
  /// Lets time pass until the block commits the port's swap by itself, which holds words.
  void expire(unsigned port);
  void put(unsigned address, std::uint64_t value, unsigned strobe = 0xff);
  std::uint64_t get(unsigned address);
  /// Publishes a sealed slot by put().
  void publish(unsigned port, const Slot& slot);

  // Called with the results of the block, for software that waits for them
  std::function<void(unsigned number, const Slot& line)> on_completion;
  std::function<void(std::uint64_t address, const Slot& slot)> on_slot;
  std::function<void(std::uint64_t value)> on_get;
  std::function<void()> on_put;

  VerilatedContext context;
  Voae_block top{&context};
  ReferenceBlock reference;
  std::mt19937_64 random;

  std::uint64_t now = 0;      ///< clocks since the start
  std::uint64_t latency = 0;  ///< clocks from accepting the last read to its completion
  Slot line{};                ///< the last value read of each word of a line
  Slot pushed_slot{};         ///< the last slot that was pushed
  std::uint64_t pushed_address = 0;
  unsigned pushes = 0;            ///< slots that were pushed
  unsigned pushed = 0;            ///< swaps by pushed answers
  unsigned streamed = 0;          ///< swaps by streamed answers
  unsigned pushed_late = 0;       ///< slots that had to wait and were accepted
  unsigned refused_late = 0;      ///< slots that had to wait and were refused
  unsigned refused_at_once = 0;   ///< slots that were refused when they were offered
  unsigned expired = 0;           ///< swaps that the limit committed
  bool error = false;             ///< whether the last access failed
  std::vector<unsigned> signals;  ///< MSI-X vectors
  std::vector<Transition> transitions;

 private:
  static constexpr unsigned patience = 4000;

  struct Request {
    bool write;
    bool reset;  // a reset of the function instead of a request
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
    std::uint64_t alive;    // the time of the firmware's last sign of life
    bool late;              // the slot must wait for at least one clock
    bool offered = false;   // the slot has been offered to the host
    bool answered = false;  // it was written or refused
  };
  /// A NOT_READY that is retained, and the parts of it that were read.
  struct Refusal {
    std::uint64_t age_at_least;
    std::optional<std::uint64_t> age;
    std::optional<std::uint64_t> crc;
  };

  void power_up();
  // A valid pin stays high until its ready. A ready pin may change at any time.
  bool go() { return stall == 0 || random() % 100 >= stall; }
  void post(bool write, unsigned bar, unsigned address, const void* data, unsigned bytes,
            bool refused);
  void drive();
  bool accepts_slot();
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
  Slot pins_{0xa5a5'a5a5'a5a5'a5a5, 0xa5a5'a5a5'a5a5'a5a5};  // data of the last request
  std::optional<Read> read_;
  std::map<unsigned, Refusal> refusals_;  // by port
  std::optional<bool> put_;               // whether the write must succeed
  bool getting_ = false;
  unsigned address_ = 0;  // the address of the read
  std::optional<std::uint64_t> get_;
  std::uint64_t result_ = 0;
  std::uint64_t alive_ = 0;
  unsigned waited_ = 0;
  std::size_t heard_ = 0;                        // signals that were compared,
  std::size_t expected_ = 0;                     //   with these of the reference
  bool voided_ = false;                          // a reset may have taken some back since
  std::map<unsigned, std::uint64_t> exchanged_;  // when the port's last swap was
};
