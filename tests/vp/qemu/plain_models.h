// SPDX-License-Identifier: Apache-2.0
// Models as any user of SystemC writes them: they know nothing of domains and appointments.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <systemc>
#include <tlm>

#include "vp/interrupt_line.h"

namespace plain {

/// Writes `value` at once; the memory must accept it.
template <typename Socket, typename Value>
void write(Socket& memory, std::uint64_t address, Value value) {
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_WRITE_COMMAND);
  payload.set_address(address);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
  payload.set_data_length(sizeof value);
  payload.set_streaming_width(sizeof value);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  memory->b_transport(payload, delay);
  if (!payload.is_response_ok()) SC_REPORT_ERROR(memory.name(), "the memory refuses the write");
}

/// Raises an interrupt periodically, from a thread.
struct Ticker : sc_core::sc_module {
  sc_core::sc_port<vp::InterruptLineIf> irq{"irq"};

  Ticker(const sc_core::sc_module_name& name, unsigned line, const sc_core::sc_time& period)
      : sc_module(name), line_(line), period_(period) {
    SC_HAS_PROCESS(Ticker);
    SC_THREAD(tick);
  }

 private:
  void tick() {
    for (;;) {
      wait(period_);
      irq->set_line(line_, true);
    }
  }

  const unsigned line_;
  const sc_core::sc_time period_;
};

/// Writes a word of memory every so many cycles of its own clock: one method counts, and a signal
/// makes the other one write.
struct ClockedDma : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<ClockedDma> memory{"memory"};

  ClockedDma(const sc_core::sc_module_name& name, const sc_core::sc_time& cycle,
             std::uint64_t address, unsigned cycles)
      : sc_module(name), clock_("clock", cycle), address_(address), cycles_(cycles) {
    SC_HAS_PROCESS(ClockedDma);
    SC_METHOD(count);
    dont_initialize();
    sensitive << clock_.posedge_event();
    SC_METHOD(write);
    dont_initialize();
    sensitive << word_;
  }

 private:
  void count() {
    if (++counted_ % cycles_ == 0) word_.write(word_.read() + 1);
  }

  void write() { plain::write(memory, address_, word_.read()); }

  sc_core::sc_clock clock_;
  sc_core::sc_signal<std::uint64_t> word_{"word"};
  const std::uint64_t address_;
  const unsigned cycles_;
  unsigned counted_ = 0;
};

/// Registers that take a while to answer. It keeps a record of all accesses. A read of register 2
/// starts a job, unless jobs take no time; it ends with an interrupt.
struct RegisterBank : sc_core::sc_module {
  tlm_utils::simple_target_socket<RegisterBank> socket{"socket"};
  sc_core::sc_port<vp::InterruptLineIf> irq{"irq"};
  std::string record;
  unsigned writes[8] = {};

  RegisterBank(const sc_core::sc_module_name& name, unsigned line, const sc_core::sc_time& job)
      : sc_module(name), line_(line), job_(job) {
    SC_HAS_PROCESS(RegisterBank);
    socket.register_b_transport(this, &RegisterBank::b_transport);
    SC_METHOD(finish);
    dont_initialize();
    sensitive << done_;
  }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t offset = payload.get_address() % 64;
    std::uint64_t value = 0;
    if (payload.is_read()) {
      value = ++reads_;
      std::memcpy(payload.get_data_ptr(), &value, payload.get_data_length());
      if (offset == 16 && job_ > sc_core::SC_ZERO_TIME) done_.notify(job_);
      delay += sc_core::sc_time(41, sc_core::SC_NS);
    } else {
      std::memcpy(&value, payload.get_data_ptr(), payload.get_data_length());
      ++writes[offset / 8];
      delay += sc_core::sc_time(7, sc_core::SC_NS);
    }
    record += (sc_core::sc_time_stamp() + delay).to_string() + " " + std::to_string(offset) + " " +
              std::to_string(value) + "\n";
    // The guest says which interrupt it has taken.
    if (offset == 40 && value >= 32) irq->set_line(static_cast<unsigned>(value) - 32, false);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  void finish() { irq->set_line(line_, true); }

  const unsigned line_;
  const sc_core::sc_time job_;
  std::uint64_t reads_ = 0;
  sc_core::sc_event done_;
};

/// Lies about time: whoever writes to it interrupts another machine at once, although the two are
/// declared to be apart.
struct Doorbell : sc_core::sc_module {
  tlm_utils::simple_target_socket<Doorbell> socket{"socket"};
  sc_core::sc_port<vp::InterruptLineIf> irq{"irq"};

  explicit Doorbell(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_HAS_PROCESS(Doorbell);
    socket.register_b_transport(this, &Doorbell::b_transport);
    SC_METHOD(ring);
    dont_initialize();
    sensitive << rung_;
  }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    if (payload.is_write()) rung_.notify();
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  void ring() { irq->set_line(5, true); }

  sc_core::sc_event rung_;
};

}  // namespace plain
