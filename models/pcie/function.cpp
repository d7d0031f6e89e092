// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/function.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "models/pcie/atomic.h"
#include "models/pcie/capabilities/alternative_routing.h"
#include "models/pcie/capabilities/serial_number.h"
#include "models/pcie/config_request.h"
#include "models/pcie/errors.h"
#include "models/pcie/split.h"
#include "vp/log/log.h"

namespace pcie {
namespace {

constexpr unsigned max_bar_piece = 64;
constexpr unsigned endpoint_read_boundary = 128;  // RCB of all but root complexes

Status to_status(tlm::tlm_response_status response) {
  if (response > tlm::TLM_INCOMPLETE_RESPONSE) return Status::success;
  return response == tlm::TLM_ADDRESS_ERROR_RESPONSE ? Status::unsupported_request
                                                     : Status::completer_abort;
}

Error to_error(Status status) {
  return status == Status::unsupported_request ? Error::unsupported_request
                                               : Error::completer_abort;
}

void check_msi_x(const FunctionConfig& config) {
  const MsiXConfig& msi_x = config.msi_x;
  const std::uint64_t table = 16u * std::uint64_t{msi_x.vectors};
  const std::uint64_t pending = (msi_x.vectors + 63) / 64 * 8;
  auto inside = [&config](unsigned index, std::uint64_t end) {
    return std::any_of(config.bars.begin(), config.bars.end(),
                       [&](const BarConfig& bar) { return bar.index == index && end <= bar.size; });
  };
  if (!inside(msi_x.table_bar, msi_x.table_offset + table) ||
      !inside(msi_x.pending_bar, msi_x.pending_offset + pending)) {
    throw ConfigurationError("MSI-X table and pending bits are inside a BAR");
  }
  if (msi_x.table_bar == msi_x.pending_bar && msi_x.table_offset < msi_x.pending_offset + pending &&
      msi_x.pending_offset < msi_x.table_offset + table) {
    throw ConfigurationError("MSI-X table and pending bits overlap");
  }
}

std::unique_ptr<EndpointHeader> make_header(ConfigSpace& space, const FunctionConfig& config,
                                            bool multi_function, const SrIov* virtual_by,
                                            unsigned index) {
  if (virtual_by != nullptr) {
    return std::make_unique<VirtualHeader>(space, config.identity, *virtual_by, index);
  }
  return std::make_unique<Type0Header>(space, config.identity, multi_function, config.interrupt_pin,
                                       config.bars);
}

FunctionConfig virtual_config(const FunctionConfig& physical) {
  FunctionConfig config = physical;
  config.bars = physical.virtual_functions.bars;
  config.msi_x = physical.virtual_functions.msi_x;
  config.virtual_functions = {};
  config.interrupt_pin = 0;
  config.serial_number.reset();
  return config;
}

}  // namespace

Function::Function(const sc_core::sc_module_name& name, const Place& place,
                   const FunctionConfig& config, const Common& common, Uplink& uplink,
                   vp::Domain& domain, vp::Statistics& statistics)
    : Function(name, place, nullptr, 0, config, common, uplink, domain, statistics) {}

Function::Function(const sc_core::sc_module_name& name, const Place& place, Function* physical,
                   unsigned index, const FunctionConfig& config, const Common& common,
                   Uplink& uplink, vp::Domain& domain, vp::Statistics& statistics)
    : sc_module(name),
      bar("bar"),
      dma("dma"),
      interrupt("interrupt"),
      number_(place.number),
      physical_(physical),
      index_(index),
      exists_(physical == nullptr),
      config_(config),
      common_(common),
      uplink_(uplink),
      log_(vp::log::get("pcie")),
      id_(make_alternative_id(0, place.number)),
      header_(make_header(space_, config, common.multi_function,
                          physical != nullptr ? &*physical->sr_iov_ : nullptr, index)),
      power_(space_, config.no_soft_reset),
      express_(space_,
               {PortType::endpoint, common.generation, common.lanes, common.max_payload,
                common.tags > 32},
               physical != nullptr ? &physical->express_ : nullptr),
      errors_(space_, express_, PortType::endpoint,
              physical != nullptr ? &physical->errors_ : nullptr),
      resume_(domain, [this] { resume(); }),
      timeout_(domain, [this] { expire(); }) {
  const auto interrupt_by = [this](std::uint64_t address, std::uint32_t data) {
    return send_message_interrupt(address, data);
  };
  if (config.msi.vectors > 0) msi_.emplace(space_, config.msi, interrupt_by);
  if (config.msi_x.vectors > 0) {
    check_msi_x(config);
    msi_x_.emplace(space_, config.msi_x, interrupt_by);
  }
  if (config.serial_number) add_serial_number(space_, *config.serial_number);
  if (common.alternative_routing) add_alternative_routing(space_, place.next);
  if (physical == nullptr && number_ == 0) {
    link_capabilities_.emplace(space_, PortType::endpoint, common.generation, common.lanes);
  }
  if (const VirtualFunctionsConfig& virtual_functions = config.virtual_functions;
      virtual_functions.count > 0) {
    SrIov* lowest =
        place.lowest_with_sr_iov != nullptr ? &*place.lowest_with_sr_iov->sr_iov_ : nullptr;
    sr_iov_.emplace(space_,
                    SrIovConfig{virtual_functions.count, virtual_functions.device,
                                virtual_functions.bars, number_, place.first_virtual - number_,
                                place.first_virtual_without_ari - number_},
                    lowest);
    for (unsigned i = 0; i < virtual_functions.count; ++i) {
      virtual_functions_.emplace_back(new Function(fmt::format("vf{}", i).c_str(), {number_}, this,
                                                   i, virtual_config(config), common, uplink,
                                                   domain, statistics));
    }
  }
  // 6.6.2: a function level reset is over within 100 ms.
  if (config.reset_time < 0 || config.reset_time > 100 * vp::ms || config.initialisation < 0) {
    throw ConfigurationError("a reset takes 0 to 100 ms, and initialisation no negative time");
  }
  if (config.bar_reads < 1) throw ConfigurationError("device logic takes at least one read");

  bar.register_nb_transport_bw(this, &Function::bar_response);
  dma.register_nb_transport_fw(this, &Function::dma_request);
  interrupt.bind(*this);
  write_.set_command(tlm::TLM_WRITE_COMMAND);

  const std::string prefix = std::string(this->name()) + ".";
  statistics.latency(prefix + "dma_read_latency", dma_latency_);
  statistics.counter(prefix + "bar_reads", bar_read_count_);
  statistics.counter(prefix + "bar_writes", bar_write_count_);
  statistics.counter(prefix + "refused", refused_);
  statistics.counter(prefix + "dma_refused", dma_refused_);
  statistics.counter(prefix + "atomics", atomics_);
  statistics.counter(prefix + "completion_timeouts", timeouts_);
  statistics.counter(prefix + "unexpected_completions", unexpected_);
  statistics.counter(prefix + "interrupts", interrupts_);
  statistics.counter(prefix + "interrupts_ignored", interrupts_ignored_);
}

void Function::reset(Reset kind) {
  set_intx(false);  // 6.6.2: Deassert_INTx goes before the reset, if there is a link
  intx_told_ = false;
  space_.reset(kind);
  if (msi_) msi_->reset();
  if (msi_x_) msi_x_->reset();
  if (kind == Reset::function) {
    ready_ = vp::now() + config_.reset_time;
  } else if (physical_ == nullptr) {
    id_ = make_alternative_id(0, number_);  // otherwise the device's, which is not reset
  }
  map();
  written_.reset();
  end_bar_reads();
  end_dma();
  update_virtual_functions();
  if (on_reset_) on_reset_();
}

void Function::trained(unsigned generation, unsigned lanes, bool flits) {
  express_.trained(generation, lanes, flits);
  if (link_capabilities_) link_capabilities_->trained(generation);
  ready_ = vp::now() + config_.initialisation;
  update_intx();
}

void Function::retrained(unsigned generation, unsigned lanes) {
  express_.retrained(generation, lanes);
  if (link_capabilities_) link_capabilities_->retrained(generation);
}

void Function::lane_failed(unsigned lane) {
  if (link_capabilities_) link_capabilities_->lane_failed(lane);
}

// Configuration.

void Function::receive_config(const Tlp& request) {
  // 2.3.1: permitted after any reset, that of the return from D3hot included.
  if (!ready()) {
    return send(Tlp::completion(request, id_, Status::configuration_retry));
  }
  const TlpHeader& header = request.header;
  if (!request.has_data()) {
    express_.set_transactions_pending(requests_.count() > 0);
    return send(perform(request, space_, id_));
  }
  if (physical_ == nullptr) {
    id_ = common_.alternative_routing
              ? make_alternative_id(bus_of(header.target), number_)
              : make_id(bus_of(header.target), device_of(header.target), number_);
  }
  send(perform(request, space_, id_));
  const bool asked = express_.take_reset();
  if (power_.take_reset() || asked) return reset(Reset::function);
  // The completion is on its way before anything that the write permits.
  map();
  update_virtual_functions();
  update_intx();
  if (msi_) msi_->flush();
  if (msi_x_) msi_x_->flush();
  issue();
}

// Virtual functions.

// After whatever may have changed the capability, the id, or the power state.
void Function::update_virtual_functions() {
  if (!sr_iov_) return;
  for (unsigned i = 0; i < virtual_functions_.size(); ++i) {
    Function& function = *virtual_functions_[i];
    const bool exists = i < sr_iov_->count();
    if (function.exists_ && !exists) function.vanish();
    function.id_ = sr_iov_->id(id_, i);
    if (!function.exists_ && exists) function.appear();
    function.map();
  }
}

// 9.2.1.2: as after a reset.
void Function::appear() {
  exists_ = true;
  ready_ = vp::now() + config_.initialisation;
}

void Function::vanish() {
  exists_ = false;
  reset(Reset::fundamental);
}

Function* Function::claiming(const Tlp& request) {
  if (hit(request) != nullptr) return this;
  if (!sr_iov_) return nullptr;
  const unsigned index = sr_iov_->index_at(request.get_address());
  if (index == sr_iov_->count()) return nullptr;
  Function& function = *virtual_functions_[index];
  return function.hit(request) != nullptr ? &function : nullptr;
}

Function* Function::virtual_function_of(Id id) {
  if (!sr_iov_) return nullptr;
  const unsigned index = sr_iov_->index_of(id_, id);
  return index < sr_iov_->count() ? virtual_functions_[index].get() : nullptr;
}

void Function::map() {
  ranges_.clear();
  if (!exists_ || !header_->decodes() || !d0()) return;
  for (const BarConfig& bar : header_->bars()) {
    ranges_.push_back({header_->bar_address(bar), bar.size, bar.index});
  }
}

const Function::Range* Function::hit(const Tlp& request) const {
  const std::uint64_t address = request.get_address();
  const std::uint64_t bytes = 4u * request.header.length;
  for (const Range& range : ranges_) {
    const std::uint64_t offset = address - range.base;
    if (offset < range.size) return bytes <= range.size - offset ? &range : nullptr;
  }
  return nullptr;
}

// Whose the byte at `offset` is; `bytes` shrinks to where that ends.
Function::Region Function::region(unsigned bar, std::uint64_t offset, unsigned& bytes) const {
  bytes = request_piece(offset, bytes, max_bar_piece);
  if (!msi_x_) return Region::logic;
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

// Writes to a BAR.

void Function::receive_write(TlpPtr request) {
  ++bar_write_count_;
  written_ = std::move(request);
  written_at_ = 0;
  write_status_ = Status::success;
  continue_write();
}

void Function::continue_write() {
  const Tlp& request = *written_;
  const Range range = *hit(request);  // no configuration passes a write
  for (;;) {
    const Tlp::Run run = request.next_run(written_at_);
    if (run.empty()) break;
    const std::uint64_t offset = request.get_address() + run.begin - range.base;
    unsigned bytes = run.end - run.begin;
    const std::uint8_t* data = request.data() + run.begin;
    const Region whose = region(range.bar, offset, bytes);
    written_at_ = run.begin + bytes;
    switch (whose) {
      case Region::table:
        msi_x_->write_table(offset - config_.msi_x.table_offset, data, bytes);
        break;
      case Region::pending:  // read-only
        break;
      case Region::logic:
        if (bar.size() == 0) {
          note(request, Status::unsupported_request);
        } else if (write_piece(request, range, run.begin, bytes) == tlm::TLM_COMPLETED) {
          note(request, to_status(write_.get_response_status()));
        } else {
          uplink_.hold();
          return;
        }
    }
  }
  // 6.2.3.2.3: one error a TLP.
  if (write_status_ != Status::success) report(to_error(write_status_), &request);
  written_.reset();
}

void Function::note(const Tlp& request, Status answer) {
  if (answer == Status::success) return;
  log_.log(refused_++ == 0 ? spdlog::level::warn : spdlog::level::debug,
           "{}: write at {:#x} refused", name(), request.get_address());
  if (write_status_ == Status::success) write_status_ = answer;
}

void Function::resume_write() {
  if (!std::exchange(write_taken_, false)) return;
  if (written_) {
    note(*written_, to_status(write_.get_response_status()));
    continue_write();
  }
  uplink_.let_go();
}

tlm::tlm_sync_enum Function::write_piece(const Tlp& request, const Range& range, unsigned begin,
                                         unsigned bytes) {
  Access& access = write_.access;
  access.bar = range.bar;
  access.function = number_;
  access.virtual_function = physical_ != nullptr ? index_ + 1 : 0;
  access.requester = request.header.requester;
  access.traffic_class = request.header.traffic_class;
  access.relaxed_ordering = request.header.relaxed_ordering;
  access.id_based_ordering = request.header.id_based_ordering;
  write_.set_address(request.get_address() + begin - range.base);
  write_.set_data_ptr(const_cast<std::uint8_t*>(request.data()) + begin);
  write_.set_data_length(bytes);
  write_.set_streaming_width(bytes);
  write_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  return bar->nb_transport_fw(write_, phase, delay);
}

// Reads of a BAR.

void Function::receive_read(TlpPtr request) {
  ++bar_read_count_;
  if (free_bar_reads_.empty() && bar_reads_.size() == config_.bar_reads) {
    waiting_reads_.push(std::move(request));
  } else {
    start(std::move(request));
  }
}

Function::BarRead* Function::take_bar_read() {
  if (free_bar_reads_.empty()) {
    bar_reads_.push_back(std::make_unique<BarRead>());
    BarRead& read = *bar_reads_.back();
    read.set_mm(this);
    read.set_command(tlm::TLM_READ_COMMAND);
    free_bar_reads_.push_back(&read);
  }
  BarRead* read = free_bar_reads_.back();
  free_bar_reads_.pop_back();
  read->acquire();
  return read;
}

void Function::free(tlm::tlm_generic_payload* payload) {
  free_bar_reads_.push_back(static_cast<BarRead*>(payload));
}

void Function::start(TlpPtr request) {
  BarRead& read = *take_bar_read();
  const TlpHeader& header = request->header;
  read.access.function = number_;
  read.access.virtual_function = physical_ != nullptr ? index_ + 1 : 0;
  read.access.requester = header.requester;
  read.access.traffic_class = header.traffic_class;
  read.access.relaxed_ordering = header.relaxed_ordering;
  read.access.id_based_ordering = header.id_based_ordering;
  read.at = 0;
  std::memset(request->data(), 0, 4u * header.length);
  read.request = std::move(request);
  advance(read);
}

void Function::advance(BarRead& read) {
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
        msi_x_->read_table(offset - config_.msi_x.table_offset, data, read.piece);
        break;
      case Region::pending:
        msi_x_->read_pending(offset - config_.msi_x.pending_offset, data, read.piece);
        break;
      case Region::logic: {
        if (bar.size() == 0) return finish(read, Status::unsupported_request);
        read.access.bar = range->bar;
        read.set_address(offset);
        read.set_data_ptr(data);
        read.set_data_length(read.piece);
        read.set_streaming_width(read.piece);
        read.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay;
        if (bar->nb_transport_fw(read, phase, delay) != tlm::TLM_COMPLETED) return;
        const Status status = to_status(read.get_response_status());
        if (status != Status::success) return finish(read, status);
        break;
      }
    }
    read.at += read.piece;
  }
}

tlm::tlm_sync_enum Function::bar_response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                          sc_core::sc_time&) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  // A payload is not free for the next piece before this call has returned.
  if (&payload == &write_) {
    write_taken_ = true;
    if (!resume_.pending()) resume_.at(vp::now());
    return tlm::TLM_COMPLETED;
  }
  BarRead& read = static_cast<BarRead&>(payload);
  if (read.dropped) {
    drop(read);
    return tlm::TLM_COMPLETED;
  }
  const Status status = to_status(read.get_response_status());
  read.at += read.piece;
  if (status != Status::success || read.request->next_run(read.at).empty()) {
    finish(read, status);
  } else {
    resumed_.push(&read);
    if (!resume_.pending()) resume_.at(vp::now());
  }
  return tlm::TLM_COMPLETED;
}

void Function::resume() {
  resume_write();
  for (std::size_t count = resumed_.size(); count > 0; --count) {
    BarRead& read = *resumed_.pop();
    read.dropped ? drop(read) : advance(read);
  }
}

void Function::finish(BarRead& read, Status status) {
  TlpPtr request = std::move(read.request);
  read.release();
  auto answer = [this](TlpPtr completion) { send(std::move(completion)); };
  if (status == Status::success) {
    complete_read(*request, id_, express_.max_payload(), endpoint_read_boundary, answer);
  } else {
    log_.log(refused_++ == 0 ? spdlog::level::warn : spdlog::level::debug,
             "{}: read at {:#x} refused", name(), request->get_address());
    report(to_error(status), request.get());
    send(Tlp::completion(*request, id_, status));
  }
  start_waiting();
}

// The request was kept since device logic had its data's address.
void Function::drop(BarRead& read) {
  read.dropped = false;
  read.request.reset();
  read.release();
  start_waiting();
}

// Memory Space is off after a reset, so reads of BARs end as what finds none, if there is a link.
void Function::end_bar_reads() {
  auto refuse = [this](const Tlp& request) {
    ++refused_;
    send(Tlp::completion(request, id_, Status::unsupported_request));
  };
  for (const auto& read : bar_reads_) {
    if (!read->request || std::exchange(read->dropped, true)) continue;
    refuse(*read->request);
  }
  while (!waiting_reads_.empty()) refuse(*waiting_reads_.pop());
}

void Function::start_waiting() {
  if (starting_) return;
  starting_ = true;
  while (!waiting_reads_.empty() && !free_bar_reads_.empty()) start(waiting_reads_.pop());
  starting_ = false;
}

// 2.7.1
void Function::send(TlpPtr tlp) {
  tlp->header.ecrc = errors_.advanced().generates_digests();
  uplink_.transmit(std::move(tlp));
}

void Function::refuse(const Tlp& request) {
  log_.log(refused_++ == 0 ? spdlog::level::warn : spdlog::level::debug, "{}: {} at {:#x} refused",
           name(), pcie::to_string(request.header.type), request.get_address());
  report(Error::unsupported_request, &request);
  send(Tlp::completion(request, id_, Status::unsupported_request));
}

// DMA.

tlm::tlm_sync_enum Function::dma_request(int initiator, tlm::tlm_generic_payload& payload,
                                         tlm::tlm_phase& phase, sc_core::sc_time&) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;
  const unsigned length = payload.get_data_length();
  const std::uint64_t address = payload.get_address();
  const Access* extension = payload.get_extension<Access>();
  const Access access = extension != nullptr ? *extension : Access();
  tlm::tlm_response_status refusal = tlm::TLM_OK_RESPONSE;
  const bool atomic = access.atomic != AtomicOperation::none;
  if ((payload.get_command() == tlm::TLM_IGNORE_COMMAND) != atomic || !may_request(access)) {
    refusal = tlm::TLM_COMMAND_ERROR_RESPONSE;
  } else if (length < 1 || length > Tlp::max_bytes) {
    refusal = tlm::TLM_BURST_ERROR_RESPONSE;
  } else if (payload.get_byte_enable_ptr() != nullptr) {
    refusal = tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  } else if (atomic) {
    refusal = atomic_refusal(payload, access.atomic);
  } else if (address + (length - 1) < address) {
    refusal = tlm::TLM_ADDRESS_ERROR_RESPONSE;
  }
  if (refusal != tlm::TLM_OK_RESPONSE) {
    ++dma_refused_;
    payload.set_response_status(refusal);
    return tlm::TLM_COMPLETED;
  }
  if (payload.is_write()) {
    DmaWrite write{&payload, initiator, access};
    if (dma_writes_.empty() && transmit(write)) return tlm::TLM_COMPLETED;
    dma_writes_.push(write);
    return tlm::TLM_ACCEPTED;
  }
  if (free_dma_reads_.empty()) {
    dma_reads_.push_back(std::make_unique<DmaRead>());
    free_dma_reads_.push_back(dma_reads_.back().get());
  }
  DmaRead& read = *free_dma_reads_.back();
  free_dma_reads_.pop_back();
  read.payload = &payload;
  read.initiator = initiator;
  read.access = access;
  read.issued = 0;
  read.outstanding = 0;
  read.status = tlm::TLM_OK_RESPONSE;
  read.start = vp::now();
  unissued_.push(&read);
  issue();
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_response_status Function::atomic_refusal(const tlm::tlm_generic_payload& payload,
                                                  AtomicOperation operation) {
  const auto type = tlp_type_of(operation);
  const unsigned operand = type ? operand_bytes(*type, payload.get_data_length()) : 0;
  if (operand == 0) return tlm::TLM_BURST_ERROR_RESPONSE;
  return payload.get_address() % operand == 0 ? tlm::TLM_OK_RESPONSE
                                              : tlm::TLM_ADDRESS_ERROR_RESPONSE;
}

// As far as there is room on the way up; whether that was all of it.
bool Function::transmit(DmaWrite& write) {
  tlm::tlm_generic_payload& payload = *write.payload;
  const unsigned length = payload.get_data_length();
  for (unsigned piece; write.done < length; write.done += piece) {
    if (uplink_.full()) return false;
    const std::uint64_t address = payload.get_address() + write.done;
    piece = request_piece(address, length - write.done, express_.max_payload());
    TlpPtr tlp = Tlp::memory_write(address, payload.get_data_ptr() + write.done, piece);
    attributes(tlp->header, write.access);
    send(std::move(tlp));
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  return true;
}

void Function::unblocked() {
  while (!dma_writes_.empty()) {
    if (!may_master()) {
      ++dma_refused_;
      dma_writes_.front().payload->set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    } else if (!transmit(dma_writes_.front())) {
      return;
    }
    respond(dma_writes_.pop());
  }
  if (msi_) msi_->flush();
  if (msi_x_) msi_x_->flush();
  for (const auto& function : virtual_functions_) function->unblocked();
}

void Function::respond(const DmaWrite& write) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  dma[write.initiator]->nb_transport_bw(*write.payload, phase, delay);
}

void Function::attributes(TlpHeader& header, const Access& access) const {
  header.requester = id_;
  header.traffic_class = access.traffic_class & 7;
  header.relaxed_ordering = access.relaxed_ordering && express_.relaxed_ordering();
  header.id_based_ordering = access.id_based_ordering && express_.id_based_ordering();
}

TlpPtr Function::next_request(DmaRead& read) const {
  const tlm::tlm_generic_payload& payload = *read.payload;
  const std::uint64_t address = payload.get_address() + read.issued;
  TlpPtr tlp;
  if (const auto type = tlp_type_of(read.access.atomic)) {
    tlp = Tlp::atomic(*type, address, payload.get_data_ptr(), payload.get_data_length());
  } else {
    tlp = Tlp::memory_read(address, request_piece(address, payload.get_data_length() - read.issued,
                                                  express_.max_read_request()));
  }
  attributes(tlp->header, read.access);
  return tlp;
}

void Function::issue() {
  while (!unissued_.empty()) {
    DmaRead& read = *unissued_.front();
    const unsigned length = read.payload->get_data_length();
    if (!may_request(read.access)) {
      read.status = tlm::TLM_COMMAND_ERROR_RESPONSE;
      read.issued = length;
      ++dma_refused_;
    }
    while (read.issued < length) {
      if (!requests_.available(tags())) return;
      TlpPtr tlp = next_request(read);
      Requests::Request& request =
          requests_.start(*tlp, tags(), read.payload->get_data_ptr() + read.issued);
      request.owner = &read;
      if (express_.completion_timeout()) {
        request.deadline = vp::now() + common_.completion_timeout;
        if (!timeout_.pending()) timeout_.at(request.deadline);
      }
      read.issued += tlp->is_atomic() ? length : request.bytes;
      ++read.outstanding;
      send(std::move(tlp));
    }
    unissued_.pop();
    if (read.outstanding == 0) respond(read);
  }
}

void Function::receive_completion(const Tlp& completion) {
  if (!ready()) return;  // 6.6.2: silently, while a reset is in progress
  const Requests::Outcome outcome = completion.header.requester == id_
                                        ? requests_.complete(completion)
                                        : Requests::Outcome{nullptr, false};
  if (!outcome.expected) {
    log_.log(unexpected_++ == 0 ? spdlog::level::warn : spdlog::level::debug,
             "{}: unexpected completion, tag {}", name(), completion.header.tag);
    return report(Error::unexpected_completion, &completion);
  }
  if (completion.header.poisoned) report(Error::poisoned_tlp, &completion);
  if (outcome.finished != nullptr) {
    finish(*outcome.finished);
    issue();
  }
}

void Function::finish(Requests::Request& request) {
  DmaRead& read = *request.owner;
  if (read.status == tlm::TLM_OK_RESPONSE) {
    if (request.timed_out) {
      read.status = tlm::TLM_GENERIC_ERROR_RESPONSE;
    } else if (request.status != Status::success) {
      read.status = request.status == Status::unsupported_request ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                                                  : tlm::TLM_GENERIC_ERROR_RESPONSE;
    }
  }
  requests_.release(request);
  if (requests_.count() == 0) timeout_.cancel();
  if (--read.outstanding == 0 && read.issued == read.payload->get_data_length()) respond(read);
}

void Function::respond(DmaRead& read) {
  tlm::tlm_generic_payload& payload = *read.payload;
  payload.set_response_status(read.status);
  if (read.access.atomic == AtomicOperation::none) {
    dma_latency_.sample(vp::now() - read.start);
  } else {
    ++atomics_;
  }
  free_dma_reads_.push_back(&read);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  dma[read.initiator]->nb_transport_bw(payload, phase, delay);
}

void Function::expire() {
  while (Requests::Request* request = requests_.expired(vp::now())) {
    log_.log(timeouts_++ == 0 ? spdlog::level::warn : spdlog::level::debug,
             "{}: no completion in time", name());
    report(Error::completion_timeout, nullptr);
    request->timed_out = true;
    finish(*request);
  }
  issue();
  const vp::Picoseconds next = requests_.deadline();
  if (next != vp::never) timeout_.at(next);
}

// 6.6.2: the function loses track of its requests. Device logic is told once all are forgotten.
void Function::end_dma() {
  timeout_.cancel();
  std::vector<DmaRead*> ended;
  auto abort = [&ended](DmaRead& read) {
    if (read.status == tlm::TLM_OK_RESPONSE) read.status = tlm::TLM_GENERIC_ERROR_RESPONSE;
    ended.push_back(&read);
  };
  requests_.each([&](Requests::Request& request) {
    DmaRead& read = *request.owner;
    requests_.release(request);
    if (--read.outstanding == 0 && read.issued == read.payload->get_data_length()) abort(read);
  });
  while (!unissued_.empty()) abort(*unissued_.pop());
  for (DmaRead* read : ended) respond(*read);
  for (std::size_t count = dma_writes_.size(); count > 0; --count) {
    dma_writes_.front().payload->set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    respond(dma_writes_.pop());
  }
}

// Errors.

// 6.6.2: during a reset none is logged.
std::optional<Severity> Function::log(Error error, const Tlp* tlp) {
  return ready() ? errors_.report(error, tlp) : std::nullopt;
}

void Function::report(Error error, const Tlp* tlp) {
  if (const auto severity = log(error, tlp)) tell(*severity);
}

void Function::tell(Severity severity) {
  if (uplink_.up()) send(Tlp::message(error_message(severity), id_));
}

// Interrupts.

// MSI-X goes before MSI: enabling both is undefined (6.1.4).
InterruptMode Function::interrupt_mode() const {
  if (msi_x_ && msi_x_->enabled()) return InterruptMode::msi_x;
  return msi_ && msi_->enabled() ? InterruptMode::msi : InterruptMode::intx;
}

unsigned Function::interrupt_vectors() const {
  switch (interrupt_mode()) {
    case InterruptMode::msi_x:
      return config_.msi_x.vectors;
    case InterruptMode::msi:
      return std::min(msi_->granted(), config_.msi.vectors);
    case InterruptMode::intx:
      break;
  }
  return 0;
}

void Function::signal(unsigned vector) {
  bool taken = false;
  switch (interrupt_mode()) {
    case InterruptMode::msi_x:
      taken = msi_x_->signal(vector);
      break;
    case InterruptMode::msi:
      taken = msi_->signal(vector);
      break;
    case InterruptMode::intx:
      break;
  }
  ++(taken ? interrupts_ : interrupts_ignored_);
}

bool Function::send_message_interrupt(std::uint64_t address, std::uint32_t data) {
  if (!may_master() || uplink_.full() || !dma_writes_.empty()) return false;
  const std::uint8_t bytes[4] = {
      static_cast<std::uint8_t>(data), static_cast<std::uint8_t>(data >> 8),
      static_cast<std::uint8_t>(data >> 16), static_cast<std::uint8_t>(data >> 24)};
  TlpPtr tlp = Tlp::memory_write(address, bytes, 4);
  tlp->header.requester = id_;
  send(std::move(tlp));
  return true;
}

void Function::set_intx(bool level) {
  if (config_.interrupt_pin == 0) return;
  intx_level_ = level;
  header_->set_interrupt_status(level);
  update_intx();
}

// 6.1.4: messages and INTx exclude each other.
void Function::update_intx() {
  const bool level =
      intx_level_ && header_->intx_enabled() && d0() && interrupt_mode() == InterruptMode::intx;
  if (level == intx_told_ || !uplink_.up()) return;
  intx_told_ = level;
  const unsigned code = (level ? assert_inta : deassert_inta) + config_.interrupt_pin - 1;
  send(Tlp::message(static_cast<MessageCode>(code), id_));
}

}  // namespace pcie
