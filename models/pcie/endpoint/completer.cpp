// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/endpoint/completer.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "models/pcie/protocol/configuration_error.h"
#include "models/pcie/protocol/split.h"

namespace pcie {
namespace {

constexpr unsigned max_piece = 64;
constexpr unsigned read_boundary = 128;  // RCB of every completer except a root complex

Status to_status(tlm::tlm_response_status response) {
  if (response > tlm::TLM_INCOMPLETE_RESPONSE) return Status::success;
  return response == tlm::TLM_ADDRESS_ERROR_RESPONSE ? Status::unsupported_request
                                                     : Status::completer_abort;
}

Error to_error(Status status) {
  return status == Status::unsupported_request ? Error::unsupported_request
                                               : Error::completer_abort;
}

// The functions draw different times.
CompletionConfig completion_config(const FunctionCore& core) {
  CompletionConfig config = core.common().completions;
  config.seed += core.number() + 256u * core.virtual_number();
  return config;
}

}  // namespace

Completer::Completer(FunctionCore& core, Socket& bar, unsigned reads, MsiX* msi_x,
                     vp::Domain& domain, vp::Statistics& statistics)
    : core_(core),
      bar_(bar),
      most_reads_(reads),
      msi_x_(msi_x),
      resume_(domain, [this] { resume(); }),
      completions_(completion_config(core), domain,
                   [this](TlpPtr completion) { core_.send(std::move(completion)); }) {
  if (reads < 1) throw ConfigurationError("device logic must accept at least one read");
  bar.register_nb_transport_bw(this, &Completer::response);
  write_.set_command(tlm::TLM_WRITE_COMMAND);
  const std::string prefix = std::string(core.name()) + ".";
  statistics.counter(prefix + "bar_reads", read_count_);
  statistics.counter(prefix + "bar_writes", write_count_);
  statistics.counter(prefix + "refused", refused_);
  statistics.counter(prefix + "deferrable_writes", deferrable_count_);
  statistics.counter(prefix + "deferred_writes", deferred_);
}

void Completer::map(bool exists) {
  ranges_.clear();
  EndpointHeader& header = core_.header();
  if (!exists || !header.decodes() || !core_.d0()) return;
  for (const BarConfig& bar : header.bars()) {
    ranges_.push_back({header.bar_address(bar), bar.size, bar.index});
  }
}

void Completer::reset() {
  if (written_) dropped_ = std::move(written_);
  completions_.flush();
  end_reads();
}

const Completer::Range* Completer::hit(const Tlp& request) const {
  const std::uint64_t address = request.get_address();
  const std::uint64_t bytes = 4u * request.header.length;
  for (const Range& range : ranges_) {
    const std::uint64_t offset = address - range.base;
    if (offset < range.size) return bytes <= range.size - offset ? &range : nullptr;
  }
  return nullptr;
}

// The owner of the byte at `offset`. `bytes` shrinks so that all of it has the same owner.
Completer::Region Completer::region(unsigned bar, std::uint64_t offset, unsigned& bytes) const {
  bytes = request_piece(offset, bytes, max_piece);
  if (msi_x_ == nullptr) return Region::logic;
  const MsiXConfig& msi_x = msi_x_->config();
  auto within = [&](unsigned region_bar, std::uint64_t begin, std::uint64_t size) {
    if (bar != region_bar || offset >= begin + size) return false;
    const std::uint64_t end = offset < begin ? begin : begin + size;
    bytes = static_cast<unsigned>(std::min<std::uint64_t>(bytes, end - offset));
    return offset >= begin;
  };
  if (within(msi_x.table_bar, msi_x.table_offset, msi_x_->table_bytes())) return Region::table;
  if (within(msi_x.pending_bar, msi_x.pending_offset, msi_x_->pending_bytes())) {
    return Region::pending;
  }
  return Region::logic;
}

void Completer::describe(Access& access, const TlpHeader& header) const {
  access.function = core_.number();
  access.virtual_function = core_.virtual_number();
  access.requester = header.requester;
  access.traffic_class = header.traffic_class;
  access.relaxed_ordering = header.relaxed_ordering;
  access.id_based_ordering = header.id_based_ordering;
}

// The next functions handle writes to a BAR.

void Completer::write(TlpPtr request) {
  ++write_count_;
  if (!core_.ready()) {
    ++refused_;
    return;
  }
  written_ = std::move(request);
  written_at_ = 0;
  write_status_ = Status::success;
  continue_write();
}

void Completer::continue_write() {
  const Tlp& request = *written_;
  const Range range = *hit(request);  // no configuration write passes a memory write
  for (;;) {
    const Tlp::Run run = request.next_run(written_at_);
    if (run.empty()) break;
    const std::uint64_t offset = request.get_address() + run.begin - range.base;
    unsigned bytes = run.end - run.begin;
    const std::uint8_t* data = request.data() + run.begin;
    const Region owner = region(range.bar, offset, bytes);
    written_at_ = run.begin + bytes;
    switch (owner) {
      case Region::table:
        msi_x_->write_table(offset - msi_x_->config().table_offset, data, bytes);
        break;
      case Region::pending:  // read-only
        break;
      case Region::logic:
        if (bar_.size() == 0) {
          note(request, Status::unsupported_request);
        } else if (write_piece(request, range, run.begin, bytes) == tlm::TLM_COMPLETED) {
          note(request, to_status(write_.get_response_status()));
        } else {
          core_.uplink().hold();
          return;
        }
    }
  }
  // 6.2.3.2.3: a TLP reports one error.
  if (write_status_ != Status::success) core_.report(to_error(write_status_), &request);
  written_.reset();
  start_waiting();
}

void Completer::note(const Tlp& request, Status answer) {
  if (answer == Status::success) return;
  core_.log().log(refused_++ == 0 ? spdlog::level::warn : spdlog::level::debug,
                  "{}: write at {:#x} refused", core_.name(), request.get_address());
  if (write_status_ == Status::success) write_status_ = answer;
}

void Completer::resume_write() {
  if (!std::exchange(write_accepted_, false)) return;
  if (written_) {
    note(*written_, to_status(write_.get_response_status()));
    continue_write();
  }
  dropped_.reset();
  start_waiting();
  core_.uplink().release();
}

tlm::tlm_sync_enum Completer::write_piece(const Tlp& request, const Range& range, unsigned begin,
                                          unsigned bytes) {
  describe(write_.access, request.header);
  write_.access.bar = range.bar;
  write_.set_address(request.get_address() + begin - range.base);
  write_.set_data_ptr(const_cast<std::uint8_t*>(request.data()) + begin);
  write_.set_data_length(bytes);
  write_.set_streaming_width(bytes);
  write_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  return bar_->nb_transport_fw(write_, phase, delay);
}

// The next functions handle reads of a BAR.

void Completer::read(TlpPtr request) {
  ++(request->header.type == TlpType::DMWr ? deferrable_count_ : read_count_);
  if (!core_.ready()) return refuse(*request);
  if (free_reads_.empty() && reads_.size() == most_reads_) {
    waiting_reads_.push(std::move(request));
  } else {
    start(std::move(request));
  }
}

Completer::Read* Completer::allocate_read() {
  if (free_reads_.empty()) {
    reads_.push_back(std::make_unique<Read>());
    Read& read = *reads_.back();
    read.set_mm(this);
    free_reads_.push_back(&read);
  }
  Read* read = free_reads_.back();
  free_reads_.pop_back();
  read->acquire();
  return read;
}

void Completer::free(tlm::tlm_generic_payload* payload) {
  free_reads_.push_back(static_cast<Read*>(payload));
  if (!releasing_ && !waiting_reads_.empty() && !resume_.pending()) resume_.at(vp::now());
}

// The payload is free if device logic has not acquired it, or else once device logic releases it.
void Completer::release(Read& read) {
  releasing_ = true;
  read.release();
  releasing_ = false;
}

void Completer::start(TlpPtr request) {
  Read& read = *allocate_read();
  describe(read.access, request->header);
  const bool deferrable = request->header.type == TlpType::DMWr;
  read.access.deferrable = deferrable;
  read.access.deferred = false;
  read.set_command(deferrable ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  read.set_byte_enable_ptr(nullptr);
  read.set_byte_enable_length(0);
  read.at = 0;
  if (!deferrable) std::memset(request->data(), 0, 4u * request->header.length);
  read.request = std::move(request);
  deferrable ? offer(read) : advance(read);
}

// PCIe 6.0, 6.32: device logic accepts all of a deferrable write or none of it.
void Completer::offer(Read& read) {
  const Tlp& request = *read.request;
  if (request.next_run(0).empty()) return finish(read, Status::success);
  // Software may have moved the BAR since the write arrived.
  const Range* range = hit(request);
  if (range == nullptr) return finish(read, Status::unsupported_request);
  const unsigned first = request.first_byte();
  const std::uint64_t offset = request.get_address() + first - range->base;
  const unsigned span = request.span();
  for (unsigned at = 0, bytes; at < span; at += bytes) {
    bytes = span - at;
    if (region(range->bar, offset + at, bytes) != Region::logic || bar_.size() == 0) {
      return finish(read, Status::unsupported_request);
    }
  }
  bool hole = false;
  for (unsigned i = 0; i < span; ++i) {
    const bool enabled = request.enabled(first + i);
    read.enables[i] = enabled ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
    hole |= !enabled;
  }
  if (hole) {
    read.set_byte_enable_ptr(read.enables.data());
    read.set_byte_enable_length(span);
  }
  read.at = first;
  read.piece = 4u * request.header.length - first;  // a deferrable write has one piece only
  read.access.bar = range->bar;
  read.set_address(offset);
  read.set_data_ptr(const_cast<std::uint8_t*>(request.data()) + first);
  read.set_data_length(span);
  read.set_streaming_width(span);
  read.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  if (bar_->nb_transport_fw(read, phase, delay) == tlm::TLM_COMPLETED) {
    finish(read, status_of(read));
  }
}

Status Completer::status_of(const Read& read) const {
  const Status status = to_status(read.get_response_status());
  const bool deferred = read.access.deferrable && read.access.deferred;
  return deferred && status == Status::success ? Status::configuration_retry : status;
}

void Completer::advance(Read& read) {
  Tlp& request = *read.request;
  for (;;) {
    const Tlp::Run run = request.next_run(read.at);
    if (run.empty()) return finish(read, Status::success);
    // Software may have moved the BAR since the read arrived.
    const Range* range = hit(request);
    if (range == nullptr) return finish(read, Status::unsupported_request);
    const std::uint64_t offset = request.get_address() + run.begin - range->base;
    read.at = run.begin;
    read.piece = run.end - run.begin;
    std::uint8_t* data = request.data() + read.at;
    switch (region(range->bar, offset, read.piece)) {
      case Region::table:
        msi_x_->read_table(offset - msi_x_->config().table_offset, data, read.piece);
        break;
      case Region::pending:
        msi_x_->read_pending(offset - msi_x_->config().pending_offset, data, read.piece);
        break;
      case Region::logic: {
        if (bar_.size() == 0) return finish(read, Status::unsupported_request);
        read.access.bar = range->bar;
        read.set_address(offset);
        read.set_data_ptr(data);
        read.set_data_length(read.piece);
        read.set_streaming_width(read.piece);
        read.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay;
        if (bar_->nb_transport_fw(read, phase, delay) != tlm::TLM_COMPLETED) return;
        const Status status = to_status(read.get_response_status());
        if (status != Status::success) return finish(read, status);
        break;
      }
    }
    read.at += read.piece;
  }
}

tlm::tlm_sync_enum Completer::response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time&) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  // The payload must not be used for the next piece before this call has returned.
  if (&payload == &write_) {
    write_accepted_ = true;
    if (!resume_.pending()) resume_.at(vp::now());
    return tlm::TLM_COMPLETED;
  }
  Read& read = static_cast<Read&>(payload);
  if (read.dropped) {
    drop(read);
    return tlm::TLM_COMPLETED;
  }
  const Status status = status_of(read);
  read.at += read.piece;
  if (status != Status::success || read.request->next_run(read.at).empty()) {
    finish(read, status);
  } else {
    resumed_.push(&read);
    if (!resume_.pending()) resume_.at(vp::now());
  }
  return tlm::TLM_COMPLETED;
}

void Completer::resume() {
  resume_write();
  for (std::size_t count = resumed_.size(); count > 0; --count) {
    Read& read = *resumed_.pop();
    read.dropped ? drop(read) : advance(read);
  }
  start_waiting();
}

void Completer::finish(Read& read, Status status) {
  TlpPtr request = std::move(read.request);
  release(read);
  if (request->header.type == TlpType::DMWr &&
      (status == Status::success || status == Status::configuration_retry)) {
    if (status != Status::success) ++deferred_;
    core_.send(Tlp::completion(*request, core_.id(), status));
  } else if (status == Status::success) {
    const CompletionSize size{core_.max_payload(), read_boundary,
                              core_.common().completions.at_boundaries};
    complete_read(*request, core_.id(), size,
                  [this](TlpPtr completion) { completions_.send_after(0, std::move(completion)); });
  } else {
    core_.log().log(refused_++ == 0 ? spdlog::level::warn : spdlog::level::debug,
                    "{}: {} at {:#x} refused", core_.name(), to_string(request->header.type),
                    request->get_address());
    core_.report(to_error(status), request.get());
    core_.send(Tlp::completion(*request, core_.id(), status));
  }
  start_waiting();
}

// The request was kept until now, because device logic had the address of its data.
void Completer::drop(Read& read) {
  read.dropped = false;
  read.request.reset();
  release(read);
  start_waiting();
}

// After a reset, Memory Space is disabled. Reads that device logic has not answered therefore end
// with Unsupported Request, if there is a link.
void Completer::end_reads() {
  auto refuse = [this](const Tlp& request) {
    ++refused_;
    core_.send(Tlp::completion(request, core_.id(), Status::unsupported_request));
  };
  for (const auto& read : reads_) {
    if (!read->request || std::exchange(read->dropped, true)) continue;
    refuse(*read->request);
  }
  while (!waiting_reads_.empty()) refuse(*waiting_reads_.pop());
}

// Device logic gets no deferrable write before it has accepted the write that it has.
void Completer::start_waiting() {
  if (starting_) return;
  starting_ = true;
  while (!waiting_reads_.empty() && !free_reads_.empty()) {
    const bool writes = waiting_reads_.front()->header.type == TlpType::DMWr;
    if (writes && (written_ || dropped_)) break;
    start(waiting_reads_.pop());
  }
  starting_ = false;
}

void Completer::refuse(const Tlp& request) {
  core_.log().log(refused_++ == 0 ? spdlog::level::warn : spdlog::level::debug,
                  "{}: {} at {:#x} refused", core_.name(), pcie::to_string(request.header.type),
                  request.get_address());
  core_.received(request);
  core_.report(Error::unsupported_request, &request);
  core_.send(Tlp::completion(request, core_.id(), Status::unsupported_request));
}

}  // namespace pcie
