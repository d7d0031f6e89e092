// SPDX-License-Identifier: Apache-2.0
// Timed reads of a register in plain SystemC, per second of wall time: one thread calls
// b_transport, and the target waits once for the request's flight time and once for the
// completion's. It is the baseline for reads through the whole machine.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <systemc>
#include <tlm>

namespace {

struct Register : sc_core::sc_module {
  tlm_utils::simple_target_socket<Register> socket{"socket"};

  explicit Register(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_b_transport(this, &Register::b_transport);
  }

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    wait(250, sc_core::SC_NS);
    std::memcpy(payload.get_data_ptr(), &value_, payload.get_data_length());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    wait(250, sc_core::SC_NS);
  }

 private:
  std::uint64_t value_ = 1;
};

struct Reader : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Reader> socket{"socket"};
  std::uint64_t sum = 0;  // of the values read

  SC_HAS_PROCESS(Reader);
  Reader(const sc_core::sc_module_name& name, std::uint64_t count)
      : sc_module(name), count_(count) {
    SC_THREAD(run);
  }

 private:
  void run() {
    std::uint64_t value = 0;
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_READ_COMMAND);
    payload.set_data_ptr(reinterpret_cast<std::uint8_t*>(&value));
    payload.set_data_length(sizeof value);
    payload.set_streaming_width(sizeof value);
    for (std::uint64_t i = 0; i < count_; ++i) {
      sc_core::sc_time delay;
      payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
      socket->b_transport(payload, delay);
      sum += value;
    }
  }

  const std::uint64_t count_;
};

}  // namespace

int sc_main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 4'000'000;
  Register target("register");
  Reader reader("reader", count);
  reader.socket.bind(target.socket);
  const auto start = std::chrono::steady_clock::now();
  sc_core::sc_start();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (reader.sum != count) return 1;
  std::printf("%ju reads: %.0f per second\n", static_cast<std::uintmax_t>(count), count / seconds);
  return 0;
}
