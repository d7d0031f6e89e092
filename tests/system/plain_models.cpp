// SPDX-License-Identifier: Apache-2.0
// The program oae-vp with models beside the platform that know nothing but SystemC:
//   plain_models honest ...   a timer sends interrupts to the first host, and a DMA engine with a clock of its own writes words
//   plain_models lying ...    a model acts on the first host at a time that the host may already have passed
// What follows is the command line of oae-vp.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "platforms/program/program.h"
#include "tests/vp/qemu/plain_models.h"
#include "vp/qemu/instance.h"
#include "vp/qemu/memory_target.h"
#include "vp/time/calendar.h"
#include "vp/time/domain.h"

namespace {

// An address in memory that plain_models_test.py keeps from Linux, so that /dev/mem may read it.
constexpr std::uint64_t word_address = 0x10000000;
// What a message signalled interrupt writes: Linux counts this vector as a rescheduling interrupt.
constexpr std::uint64_t message_address = 0xfee00000;
constexpr std::uint32_t message = 0xfd;

/// Sends an interrupt as a message periodically, from a thread.
struct MessageTicker : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<MessageTicker> memory{"memory"};

  MessageTicker(const sc_core::sc_module_name& name, const sc_core::sc_time& period)
      : sc_module(name), period_(period) {
    SC_HAS_PROCESS(MessageTicker);
    SC_THREAD(tick);
  }

 private:
  void tick() {
    wait(700, sc_core::SC_MS);  // until Linux takes interrupts
    for (;;) {
      wait(period_);
      plain::write(memory, message_address, message);
    }
  }

  const sc_core::sc_time period_;
};

/// Writes to the host's memory at once when the IPU's domain keeps an appointment, as if nothing lay
/// between the two.
struct Shortcut : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Shortcut> memory{"memory"};

  Shortcut(const sc_core::sc_module_name& name, vp::Calendar& ipu)
      : sc_module(name), appointment_(ipu, [this] { act_.notify(); }) {
    SC_HAS_PROCESS(Shortcut);
    SC_METHOD(act);
    dont_initialize();
    sensitive << act_;
    appointment_.at(300 * vp::ms);
  }

 private:
  void act() { plain::write(memory, word_address, std::uint64_t{1}); }

  sc_core::sc_event act_;
  vp::Event appointment_;
};

/// Creates the models when the platform is there to bind them to.
struct Models : sc_core::sc_module {
  Models(const sc_core::sc_module_name& name, bool honest) : sc_module(name), honest_(honest) {}

 private:
  template <typename Part>
  static Part& find(const char* name) {
    auto* part = dynamic_cast<Part*>(sc_core::sc_find_object(name));
    if (part == nullptr) SC_REPORT_FATAL("models", (std::string("there is no ") + name).c_str());
    return *part;
  }

  vp::qemu::MemoryTarget& host_memory(const char* name) {
    memories_.push_back(std::make_unique<vp::qemu::MemoryTarget>(
        name, find<vp::qemu::Instance>("host.qemu")));
    return *memories_.back();
  }

  void before_end_of_elaboration() override {
    if (honest_) {
      ticker_ = std::make_unique<MessageTicker>("ticker", sc_core::sc_time(103.1, sc_core::SC_US));
      ticker_->memory.bind(host_memory("ticker_memory").socket);
      dma_ = std::make_unique<plain::ClockedDma>("dma", sc_core::sc_time(2.6, sc_core::SC_US),
                                                 word_address, 7);
      dma_->memory.bind(host_memory("dma_memory").socket);
    } else {
      shortcut_ = std::make_unique<Shortcut>("shortcut", find<vp::Domain>("ipu.domain"));
      shortcut_->memory.bind(host_memory("shortcut_memory").socket);
    }
  }

  const bool honest_;
  std::vector<std::unique_ptr<vp::qemu::MemoryTarget>> memories_;
  std::unique_ptr<MessageTicker> ticker_;
  std::unique_ptr<plain::ClockedDma> dma_;
  std::unique_ptr<Shortcut> shortcut_;
};

}  // namespace

int sc_main(int argc, char** argv) {
  const std::string habit = argc > 1 ? argv[1] : "";
  if (habit != "honest" && habit != "lying") {
    std::cerr << "usage: plain_models honest|lying OPTION-OF-OAE-VP...\n";
    return 2;
  }
  Models models("models", habit == "honest");
  return static_cast<int>(platform::program(argc - 1, argv + 1, platform::surroundings(),
                                            platform::run, std::cout, std::cerr));
}

int main(int argc, char** argv) {
  ::setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  return sc_core::sc_elab_and_sim(argc, argv);
}
