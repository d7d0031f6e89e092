// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/endpoint/requester.h"

#include <algorithm>
#include <string>
#include <utility>

#include "models/pcie/protocol/atomic.h"
#include "models/pcie/protocol/configuration_error.h"
#include "models/pcie/protocol/split.h"

namespace pcie {
namespace {

constexpr unsigned max_deferrable = 128;  // PCIe 6.0, 6.32

}  // namespace

Requester::Requester(FunctionCore& core, Socket& dma, vp::Picoseconds deferral, vp::Domain& domain,
                     vp::Statistics& statistics)
    : core_(core),
      dma_(dma),
      deferral_(deferral),
      requests_(core.common().tags > 256 ? ten_bit_tags.end : 256),
      retry_(domain, [this] { retry(); }),
      timeout_(domain, [this] { expire(); }) {
  if (deferral <= 0) {
    throw ConfigurationError("the time until a deferred write is repeated must be positive");
  }
  dma.register_nb_transport_fw(this, &Requester::request);
  const std::string prefix = std::string(core.name()) + ".";
  statistics.latency(prefix + "dma_read_latency", latency_);
  statistics.counter(prefix + "dma_refused", refused_);
  statistics.counter(prefix + "atomics", atomics_);
  statistics.counter(prefix + "dma_deferrable_writes", deferrable_count_);
  statistics.counter(prefix + "dma_retries", retries_);
  statistics.counter(prefix + "completion_timeouts", timeouts_);
  statistics.counter(prefix + "unexpected_completions", unexpected_);
}

tlm::tlm_sync_enum Requester::request(int initiator, tlm::tlm_generic_payload& payload,
                                      tlm::tlm_phase& phase, sc_core::sc_time&) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;
  const Access* extension = payload.get_extension<Access>();
  const Access access = extension != nullptr ? *extension : Access();
  const tlm::tlm_response_status refused = refusal(payload, access);
  if (refused != tlm::TLM_OK_RESPONSE) {
    ++refused_;
    payload.set_response_status(refused);
    return tlm::TLM_COMPLETED;
  }
  if (payload.is_write() && !access.deferrable) {
    Write write{&payload, initiator, access};
    if (writes_.empty() && transmit(write)) return tlm::TLM_COMPLETED;
    writes_.push(write);
    return tlm::TLM_ACCEPTED;
  }
  if (free_reads_.empty()) {
    reads_.push_back(std::make_unique<Read>());
    free_reads_.push_back(reads_.back().get());
  }
  Read& read = *free_reads_.back();
  free_reads_.pop_back();
  read.payload = &payload;
  read.initiator = initiator;
  read.access = access;
  read.issued = 0;
  read.outstanding = 0;
  read.status = tlm::TLM_OK_RESPONSE;
  read.start = vp::now();
  read.behind = writes_begun();
  unissued_.push(&read);
  issue();
  return tlm::TLM_ACCEPTED;
}

// Returns TLM_OK_RESPONSE if the access is permitted.
tlm::tlm_response_status Requester::refusal(const tlm::tlm_generic_payload& payload,
                                            const Access& access) const {
  const unsigned length = payload.get_data_length();
  const std::uint64_t address = payload.get_address();
  const bool atomic = access.atomic != AtomicOperation::none;
  if ((payload.get_command() == tlm::TLM_IGNORE_COMMAND) != atomic || !may_request(access)) {
    return tlm::TLM_COMMAND_ERROR_RESPONSE;
  }
  if (length < 1 || length > Tlp::max_bytes) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (atomic) {
    const auto type = tlp_type_of(access.atomic);
    const unsigned operand = type ? operand_bytes(*type, length) : 0;
    if (operand == 0) return tlm::TLM_BURST_ERROR_RESPONSE;
    return address % operand == 0 ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE;
  }
  if (access.deferrable) {
    if (!payload.is_write()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
    if (length > max_deferrable) return tlm::TLM_BURST_ERROR_RESPONSE;
    if (request_piece(address, length, 4096) < length) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    return tlm::TLM_OK_RESPONSE;
  }
  return address + (length - 1) < address ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
}

// Sends as much of a write as there is room for. Returns whether all of it has left.
bool Requester::transmit(Write& write) {
  tlm::tlm_generic_payload& payload = *write.payload;
  const unsigned length = payload.get_data_length();
  for (unsigned piece; write.done < length; write.done += piece) {
    if (core_.uplink().full()) return false;
    const std::uint64_t address = payload.get_address() + write.done;
    piece = this->piece(address, length - write.done, core_.max_payload());
    TlpPtr tlp = Tlp::memory_write(address, payload.get_data_ptr() + write.done, piece);
    attributes(tlp->header, write.access);
    core_.send(std::move(tlp));
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  return true;
}

bool Requester::send_waiting() {
  if (writes_.empty()) return false;
  if (!core_.may_master()) {
    ++refused_;
    writes_.front().payload->set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  } else if (!transmit(writes_.front())) {
    return false;
  }
  ++writes_waited_;
  return true;
}

void Requester::answer_write() {
  respond(writes_.pop());
}

void Requester::respond(const Write& write) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  dma_[write.initiator]->nb_transport_bw(*write.payload, phase, delay);
}

void Requester::attributes(TlpHeader& header, const Access& access) const {
  header.requester = core_.id();
  header.traffic_class = access.traffic_class & 7;
  header.relaxed_ordering = access.relaxed_ordering && core_.express().relaxed_ordering();
  header.id_based_ordering = access.id_based_ordering && core_.express().id_based_ordering();
}

// How many of the bytes one request carries.
unsigned Requester::piece(std::uint64_t address, unsigned bytes, unsigned most) const {
  return core_.common().aligned_requests ? request_piece(address, bytes, most)
                                         : longest_request(address, bytes, most);
}

TlpPtr Requester::next_request(Read& read) const {
  const tlm::tlm_generic_payload& payload = *read.payload;
  const std::uint64_t address = payload.get_address() + read.issued;
  TlpPtr tlp;
  if (const auto type = tlp_type_of(read.access.atomic)) {
    tlp = Tlp::atomic(*type, address, payload.get_data_ptr(), payload.get_data_length());
  } else if (read.access.deferrable) {
    tlp = Tlp::deferrable_write(address, payload.get_data_ptr(), payload.get_data_length());
  } else {
    tlp = Tlp::memory_read(address, piece(address, payload.get_data_length() - read.issued,
                                          core_.express().max_read_request()));
  }
  attributes(tlp->header, read.access);
  return tlp;
}

TagRange Requester::tags() const {
  if (core_.ten_bit_tags()) return ten_bit_tags;
  return {0, core_.express().extended_tags() ? std::min(core_.common().tags, 256u) : 32};
}

void Requester::issue() {
  while (!unissued_.empty() && unissued_.front()->behind <= writes_waited_) {
    Read& read = *unissued_.front();
    const unsigned length = read.payload->get_data_length();
    if (!may_request(read.access)) {
      read.status = tlm::TLM_COMMAND_ERROR_RESPONSE;
      read.issued = length;
      ++refused_;
    }
    while (read.issued < length) {
      if (!requests_.available(tags())) return;
      TlpPtr tlp = next_request(read);
      Requests::Request& request =
          requests_.start(*tlp, tags(), read.payload->get_data_ptr() + read.issued);
      request.owner = &read;
      const vp::Picoseconds timeout =
          core_.express().completion_timeout(core_.common().completion_timeout);
      if (timeout != vp::never) {
        request.deadline = vp::now() + timeout;
        if (request.deadline < timeout_.when()) timeout_.at(request.deadline);
      }
      read.issued += tlp->header.type == TlpType::MRd ? request.bytes : length;
      ++read.outstanding;
      core_.send(std::move(tlp));
    }
    unissued_.pop();
    if (read.outstanding == 0) respond(read);
  }
}

void Requester::receive_completion(const Tlp& completion) {
  if (!core_.ready()) return;  // 6.6.2: completions are dropped silently during a reset
  core_.received(completion);
  const Requests::Outcome outcome = completion.header.requester == core_.id()
                                        ? requests_.complete(completion)
                                        : Requests::Outcome{nullptr, false};
  if (!outcome.expected) {
    core_.log().log(unexpected_++ == 0 ? spdlog::level::warn : spdlog::level::debug,
                    "{}: unexpected completion, tag {}", core_.name(), completion.header.tag);
    return core_.report(Error::unexpected_completion, &completion);
  }
  if (completion.header.poisoned) core_.report(Error::poisoned_tlp, &completion);
  if (outcome.finished != nullptr) {
    finish(*outcome.finished);
    issue();
  }
}

void Requester::finish(Requests::Request& request) {
  Read& read = *request.owner;
  const bool deferred =
      read.access.deferrable && !request.timed_out && request.status == Status::configuration_retry;
  if (read.status == tlm::TLM_OK_RESPONSE && !deferred) {
    if (request.timed_out) {
      read.status = tlm::TLM_GENERIC_ERROR_RESPONSE;
    } else if (request.status != Status::success) {
      read.status = request.status == Status::unsupported_request ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                                                  : tlm::TLM_GENERIC_ERROR_RESPONSE;
    }
  }
  requests_.release(request);
  if (requests_.count() == 0) timeout_.cancel();
  --read.outstanding;
  if (deferred) {
    deferred_.push({vp::now() + deferral_, &read});
    if (!retry_.pending()) retry_.at(deferred_.front().when);
    return;
  }
  if (read.outstanding == 0 && read.issued == read.payload->get_data_length()) respond(read);
}

void Requester::retry() {
  while (!deferred_.empty() && deferred_.front().when <= vp::now()) {
    Read& read = *deferred_.pop().read;
    read.issued = 0;
    ++retries_;
    unissued_.push(&read);
  }
  if (!deferred_.empty()) retry_.at(deferred_.front().when);
  issue();
}

void Requester::respond(Read& read) {
  tlm::tlm_generic_payload& payload = *read.payload;
  payload.set_response_status(read.status);
  if (read.access.atomic != AtomicOperation::none) {
    ++atomics_;
  } else if (read.access.deferrable) {
    ++deferrable_count_;
  } else {
    latency_.sample(vp::now() - read.start);
  }
  free_reads_.push_back(&read);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  dma_[read.initiator]->nb_transport_bw(payload, phase, delay);
}

void Requester::expire() {
  while (Requests::Request* request = requests_.expired(vp::now())) {
    core_.log().log(timeouts_++ == 0 ? spdlog::level::warn : spdlog::level::debug,
                    "{}: no completion in time", core_.name());
    core_.report(Error::completion_timeout, nullptr);
    request->timed_out = true;
    finish(*request);
  }
  issue();
  const vp::Picoseconds next = requests_.deadline();
  if (next != vp::never) timeout_.at(next);
}

// 6.6.2: the function drops its requests. Device logic gets its responses after all are dropped.
void Requester::reset() {
  timeout_.cancel();
  retry_.cancel();
  std::vector<Read*> ended;
  auto abort = [&ended](Read& read) {
    if (read.status == tlm::TLM_OK_RESPONSE) read.status = tlm::TLM_GENERIC_ERROR_RESPONSE;
    ended.push_back(&read);
  };
  requests_.each([&](Requests::Request& request) {
    Read& read = *request.owner;
    requests_.release(request);
    if (--read.outstanding == 0 && read.issued == read.payload->get_data_length()) abort(read);
  });
  while (!unissued_.empty()) abort(*unissued_.pop());
  while (!deferred_.empty()) abort(*deferred_.pop().read);
  for (Read* read : ended) respond(*read);
  for (std::size_t count = writes_.size(); count > 0; --count) {
    writes_.front().payload->set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    ++writes_waited_;
    respond(writes_.pop());
  }
}

bool Requester::send_message_interrupt(std::uint64_t address, std::uint32_t data) {
  if (!core_.may_master() || core_.uplink().full()) return false;
  const std::uint8_t bytes[4] = {
      static_cast<std::uint8_t>(data), static_cast<std::uint8_t>(data >> 8),
      static_cast<std::uint8_t>(data >> 16), static_cast<std::uint8_t>(data >> 24)};
  TlpPtr tlp = Tlp::memory_write(address, bytes, 4);
  tlp->header.requester = core_.id();
  core_.send(std::move(tlp));
  return true;
}

}  // namespace pcie
