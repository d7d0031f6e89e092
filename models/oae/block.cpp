// SPDX-License-Identifier: Apache-2.0
#include "models/oae/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "oae_registers.h"
#include "vp/time/decoupled.h"

namespace oae {
namespace {

constexpr unsigned line_bytes = 64;
constexpr unsigned max_ports = 64;
constexpr std::uint64_t no_edge = ~std::uint64_t{0};
constexpr std::uint64_t write_edges = 3;  // of the host: accept, execute, store
constexpr std::uint64_t most_more = 2;    // if a slot is read: fetch, and deliver or judge

const char* state_name(unsigned state) {
  switch (state) {
    case OAE_PORT_STATE_CLOSED:
      return "closed";
    case OAE_PORT_STATE_IDLE:
      return "idle";
    case OAE_PORT_STATE_TENTATIVE:
      return "tentative";
    case OAE_PORT_STATE_COMMITTED:
      return "committed";
    case OAE_PORT_STATE_REVERSED:
      return "reversed";
    default:
      return "history_lost";
  }
}

unsigned checked_links(const BlockConfig& config) {
  if (config.links.size() > Block::max_links) {
    throw ConfigurationError(
        fmt::format("{} links with a window at one block: at most {} are possible",
                    config.links.size(), Block::max_links));
  }
  return static_cast<unsigned>(config.links.size());
}

}  // namespace

Block::Block(const sc_core::sc_module_name& name, const BlockConfig& config, vp::Domain& domain,
             vp::Trace& trace, vp::Statistics& statistics)
    : sc_module(name),
      bar("bar"),
      registers("registers"),
      dma("dma"),
      interrupt("interrupt"),
      irq("irq", config.irq_line),
      config_(config),
      domain_(domain),
      grid_(checked_clock(config.clock_hz)),
      trace_(trace),
      waveform_(!config.vcd.empty()),
      checked_(config.checked || waveform_),
      rtl_(config.links.empty() ? make_block_rtl(checked_)
                                : make_cell_rtl(checked_links(config), checked_)),
      clock_(domain, [this] { tick(); }) {
  if (config.ports < 1 || config.ports > max_ports) {
    throw ConfigurationError(
        fmt::format("{} swap ports: 1 to {} are possible", config.ports, max_ports));
  }
  add_links(statistics);
  bar.register_nb_transport_fw(this, &Block::nb_transport_fw);
  registers.register_b_transport(this, &Block::b_transport);
  dma.register_nb_transport_bw(this, &Block::slot_answered);

  slot_.set_command(tlm::TLM_WRITE_COMMAND);
  slot_.set_data_ptr(slot_data_);
  slot_.set_data_length(sizeof slot_data_);
  slot_.set_streaming_width(sizeof slot_data_);
  slot_.set_extension(new pcie::Access);  // the payload owns it from now on

  const std::string prefix = std::string(this->name()) + ".";
  statistics.latency(prefix + "read_latency", read_latency_);
  statistics.counter(prefix + "clocks", clocks_);
  statistics.counter(prefix + "requests", requests_seen_);
  statistics.counter(prefix + "firmware_accesses", accesses_seen_);
  statistics.counter(prefix + "exchanged", exchanged_);
  statistics.counter(prefix + "committed", committed_);
  statistics.counter(prefix + "reversed", reversed_);
  statistics.counter(prefix + "slots_written", slots_written_);
  statistics.counter(prefix + "slots_refused", slots_refused_);
  statistics.counter(prefix + "interrupts", interrupts_);

  BlockRtl& block = *rtl_;
  block.ports = config_.ports;
  block.clock_khz = static_cast<std::uint32_t>(config_.clock_hz / 1'000);
  block.completion_ready = 1;
  block.dma_ready = 1;
  block.interrupt_ready = 1;
  block.axi_bready = 1;
  block.axi_rready = 1;
  reset(*rtl_, 0);
  // The card had power long before time 0, so the clearing of its journals is over.
  while (block.busy) block.rise();
  if (waveform_ && !block.open_waveform(config_.vcd)) {
    throw ConfigurationError("cannot write the waveform file " + config_.vcd);
  }
  schedule();  // links have a deadline from the beginning
}

Block::~Block() = default;

void Block::add_links(vp::Statistics& statistics) {
  const auto changed = [this] {
    ++version_;
    schedule();
  };
  const auto count = static_cast<unsigned>(config_.links.size());
  for (unsigned n = 0; n < count; ++n) {
    const std::string link = count == 1 ? "link" : fmt::format("link{}", n);
    links_.push_back(std::make_unique<WindowLink>(link.c_str(), config_.links[n], rtl_->ends[n],
                                                  grid_, changed, domain_, trace_, statistics));
  }
}

// Power.

void Block::lose_power() {
  if (!std::exchange(powered_, false)) return;
  clock_.cancel();
  ++version_;
  running_ = ahead_ = completing_ = false;
  peeked_.reset();
  change_.reset();
  irq_edge_ = 0;
  const std::uint64_t edge = grid_.after(vp::now());
  if (next_ > edge) clocks_ -= next_ - edge;  // those that were run ahead
  next_ = std::max(next_, edge);
  reset(*rtl_, next_);
  accesses_.abandon(*rtl_);
  end_requests();
  for (const auto& link : links_) link->lose_power(next_);
  ++next_;
  show();
}

// Ends the requests whose answers the function has yet to get. It has forgotten them.
void Block::end_requests() {
  rtl_->request_valid = 0;
  slot_waits_ = false;
  slot_answered_.reset();
  const auto end = [this](tlm::tlm_generic_payload* payload) {
    if (payload == nullptr) return;
    payload->set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    respond(*payload);
  };
  end(std::exchange(read_.payload, nullptr));
  while (!requests_.empty()) {
    const Request request = requests_.remove(0);
    if (request.is_read()) end(request.payload);
  }
  end(std::exchange(write_.payload, nullptr));
}

void Block::power_up() {
  if (std::exchange(powered_, true)) return;
  next_ = std::max(next_, grid_.after(vp::now()));
  reset(*rtl_, next_);
  for (const auto& link : links_) link->power_up(grid_.time(next_));
  ++next_;
  schedule();
}

// Requests of the host.

tlm::tlm_sync_enum Block::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                          sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  const auto* access = payload.get_extension<pcie::Access>();
  const unsigned bar_number = access != nullptr ? access->bar : 0;
  const std::uint64_t address = payload.get_address();
  const std::uint64_t size = bar_number == 0   ? OAE_HOST_SIZE
                             : bar_number == 2 ? max_ports * OAE_PORT_SIZE
                             : bar_number == 4 ? max_ports * OAE_STREAM_SIZE
                                               : 0;
  const tlm::tlm_response_status status = check(payload, line_bytes, size);
  payload.set_response_status(powered_ ? status : tlm::TLM_GENERIC_ERROR_RESPONSE);
  if (!payload.is_response_ok()) return tlm::TLM_COMPLETED;

  Request request{};
  request.payload = &payload;
  request.arrival = vp::now() + static_cast<vp::Picoseconds>(delay.value());
  request.write = payload.is_write();
  request.bar = static_cast<std::uint8_t>(bar_number);
  request.line = static_cast<unsigned>(address / line_bytes);
  request.at = address % line_bytes;
  request.traffic_class = access != nullptr ? access->traffic_class & 7 : 0;
  const unsigned length = payload.get_data_length();
  request.enable = enabled_bytes(payload) << request.at;
  if (request.write) std::memcpy(request.data + request.at, payload.get_data_ptr(), length);
  ++requests_seen_;
  if (request.write && !requests_.has_room()) {
    write_ = request;
    return tlm::TLM_ACCEPTED;
  }
  push(request);
  schedule();
  return request.write ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
}

void Block::push(const Request& request) {
  requests_.push(request);
  ++version_;
}

void Block::function_reset() {
  if (!powered_) return;
  accept_write();  // it came before the reset, so it goes first even without room
  Request request{};
  request.reset = true;
  request.arrival = vp::now();
  push(request);
  schedule();
}

// Accepts the write that waits, since the queue has room again.
void Block::accept_write() {
  if (write_.payload == nullptr) return;
  tlm::tlm_generic_payload& payload = *std::exchange(write_.payload, nullptr);
  push(write_);
  respond(payload);
}

void Block::respond(tlm::tlm_generic_payload& payload) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  bar->nb_transport_bw(payload, phase, delay);
}

// Accesses of the firmware.

void Block::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const tlm::tlm_response_status status = check(payload, 8, OAE_FIRMWARE_SIZE);
  payload.set_response_status(powered_ ? status : tlm::TLM_GENERIC_ERROR_RESPONSE);
  if (!payload.is_response_ok()) return;

  RegisterAccess access(payload, vp::now() + static_cast<vp::Picoseconds>(delay.value()));
  const std::uint64_t clocks = clocks_;
  const bool idle = next_input() == no_edge && next_ <= grid_.after(access.arrival);
  accesses_.push(access);
  ++accesses_seen_;
  if (access.write) ++version_;
  if (vp::may_stay_ahead(payload) && run_ahead(access)) {
    const vp::Picoseconds answered = grid_.time(next_ - 1);
    delay = vp::to_sc_time(answered - vp::now());
    if (idle && !access.write && !running_ && grid_.period() != 0 && !waveform_) {
      vp::repeatable(payload, {&version_,
                               grid_.period(),
                               access.arrival,
                               answered,
                               {{&accesses_seen_, 1}, {&clocks_, clocks_ - clocks}}});
    }
  } else {
    schedule();
    accesses_.wait_for(access);
    delay = sc_core::SC_ZERO_TIME;
  }
  access.answer(payload);
}

// The clock.

// Returns the next edge at which the block works, apart from its own deadline.
std::uint64_t Block::next_input() const {
  const BlockRtl& block = *rtl_;
  if (block.busy || completing_ || accesses_.in_work()) return next_;
  std::uint64_t edge = no_edge;
  for (const auto& link : links_) {
    if (link->active()) return next_;
    edge = std::min(edge, link->next_input());
  }
  if (slot_answered_) edge = std::min(edge, grid_.after(*slot_answered_));
  const std::size_t next = requests_.next(slot_waits_);
  if (next != RequestQueue::none) edge = std::min(edge, grid_.after(requests_[next].arrival));
  if (accesses_.waiting()) edge = std::min(edge, grid_.after(accesses_.arrival()));
  return edge;
}

bool Block::links_rest() const {
  return std::all_of(links_.begin(), links_.end(), [](const auto& link) { return link->rests(); });
}

// Schedules the next edge that other models can notice.
void Block::schedule() {
  if (ticking_ || ahead_ || !powered_) return;
  const BlockRtl& block = *rtl_;
  std::uint64_t edge = next_input();
  running_ = edge != no_edge;
  if (block.deadline_valid) edge = std::min<std::uint64_t>(edge, block.deadline);
  if (edge == no_edge) return clock_.cancel();
  due_ = std::max(next_, edge);
  clock_.at(grid_.time(due_));
}

// Answers an access at once by running edges ahead that nothing else can affect. Returns whether
// that was possible. What an edge shows to other models is shown at the edge's own time.
bool Block::run_ahead(const RegisterAccess& access) {
  const BlockRtl& block = *rtl_;
  if (ahead_ || !requests_.empty()) return false;
  if (!links_rest()) return false;
  clock_.cancel();
  const vp::Picoseconds horizon = domain_.horizon();
  const bool answered = peek(access, horizon);
  while (!answered && !access.done && !ahead_ && !completing_ && !block.dma_valid &&
         !block.completion_valid && !block.interrupt_valid && links_rest()) {
    const std::uint64_t edge = std::max(next_, next_input());
    if (grid_.time(edge) >= horizon || (block.deadline_valid && block.deadline <= edge)) break;
    next_ = edge;
    visible_edge();
    look();
  }
  arm();
  return access.done;
}

// Returns whether nothing is at work in the block, and no deadline has passed.
bool Block::quiet() const {
  const BlockRtl& block = *rtl_;
  return !block.busy && !completing_ && !block.dma_valid && !block.request_valid &&
         !accesses_.in_work();
}

// Answers an access of the firmware without the clock of the RTL. The answer is that of the RTL,
// since nothing else happens in the block before it. Returns whether that was possible.
bool Block::peek(const RegisterAccess& access, vp::Picoseconds horizon) {
  constexpr std::uint64_t edges = 4;  // accept, execute, store, respond
  constexpr std::uint64_t stored = 2;
  const BlockRtl& block = *rtl_;
  if (!quiet() || !accesses_.waits_alone()) return false;
  const std::uint64_t edge = std::max(next_, grid_.after(access.arrival));
  const std::uint64_t last = edge + edges + most_more - 1;
  if (grid_.time(last) >= horizon || (block.deadline_valid && block.deadline <= last)) return false;
  RegisterAnswer answer;
  if (access.write) {
    const WriteEffect effect = write_unclocked(access);
    answer.possible = effect.possible;
    answer.more = effect.more;
    ahead_ = effect.possible && shows();
    shown_ = edge + stored + effect.more;
  } else {
    answer = rtl_->peek({false, 0, access.address / 8}, edge + 1);
  }
  if (!answer.possible) return false;
  peeked_ = {access, edge, edges + answer.more};
  next_ = edge + peeked_->edges;
  clocks_ += peeked_->edges;
  accesses_.answer(answer.value, answer.error);
  return true;
}

// Has the effect of a write of the firmware, if the RTL has it without the clock.
WriteEffect Block::write_unclocked(const RegisterAccess& access) {
  std::uint64_t line[8] = {};
  const std::uint64_t address = access.address / 8;
  const unsigned word = address % 8;
  line[word] = access.data;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(line);
  return rtl_->execute(
      {false, 0, address / 8, bytes, std::uint64_t{access.strobe} << 8 * word, word});
}

// Has the effect of the first request, a write of the host, at the edge that accepts it. Returns
// whether that was possible. Requests that wait behind it change nothing, since they keep their
// order.
bool Block::write_unclocked(const Request& request) {
  const BlockRtl& block = *rtl_;
  if (block.deadline_valid && block.deadline < next_ + write_edges + most_more) return false;
  const WriteEffect effect =
      rtl_->execute({true, request.bar, request.line, request.data, request.enable});
  if (!effect.possible) return false;
  const std::uint64_t edges = write_edges + effect.more;
  if (effect.change) {
    change_ = effect.change;
    ahead_ = true;
    shown_ = next_ + 1;
    irq_edge_ = next_ + edges - 1;
  }
  peeked_ = {request, next_, edges};
  next_ += edges;
  clocks_ += edges;
  requests_.remove(0);
  if (requests_.has_room()) accept_write();
  return true;
}

// The same for the host: for a read that is the only request, at the edge that accepts it and at
// the one that completes it, and for a write.
bool Block::peek() {
  BlockRtl& block = *rtl_;
  const bool alone = !accesses_.waiting();
  if (completing_) {
    completing_ = false;
    if (!alone || !requests_.empty()) {
      execute_peeked(peeked_->edges - 1);
      return false;
    }
    ++next_;
    ++clocks_;
    complete();
    return true;
  }
  if (!alone || !quiet() || slot_answered_ || requests_.empty()) return false;
  if (requests_[0].reset || requests_[0].arrival >= grid_.time(next_)) return false;
  if (requests_[0].write) return write_unclocked(requests_[0]);
  if (requests_.size() != 1) return false;
  Request request = requests_[0];
  std::uint64_t edges = 3;  // accept, store, complete, and one for each word
  for (std::uint64_t word = 0; word < 8; ++word) edges += (request.enable >> 8 * word & 0xff) != 0;
  if (edges == 3 || (block.deadline_valid && block.deadline < next_ + edges)) return false;
  std::uint64_t edge = next_;
  for (std::uint64_t word = 0; word < 8; ++word) {
    if ((request.enable >> 8 * word & 0xff) == 0) continue;
    const RegisterAnswer answer = rtl_->peek({true, request.bar, request.line * 8 + word}, ++edge);
    if (!answer.possible) return false;
    std::memcpy(request.data + 8 * word, &answer.value, 8);
  }
  requests_.remove(0);
  read_ = request;
  peeked_ = {request, next_, edges};
  next_ += edges - 1;
  clocks_ += edges - 1;
  completing_ = true;
  return true;
}

// Executes the first edges of the operation that had no clock. Its inputs were alone then. A write
// has its effect once more, which changes nothing.
void Block::execute_peeked(std::uint64_t edges) {
  BlockRtl& block = *rtl_;
  if (const auto* request = std::get_if<Request>(&peeked_->operation)) {
    put(*request);
  } else {
    RegisterAccesses::put(block, std::get<RegisterAccess>(peeked_->operation));
  }
  for (std::uint64_t edge = peeked_->edge; edge < peeked_->edge + edges; ++edge) {
    block.now = edge;
    block.rise();
    block.request_valid = 0;
    RegisterAccesses::withdraw(block);
  }
  peeked_.reset();
}

void Block::tick() {
  ticking_ = true;
  ++version_;
  if (!ahead_) {
    next_ = due_;
    if (peek()) {
      ticking_ = false;
      return arm();
    }
    visible_edge();
  }
  ahead_ = false;
  show();
  while (!ahead_ && hidden()) {
    if (checked_) settle();
    rise();
    look();
  }
  ticking_ = false;
  arm();
}

void Block::arm() {
  if (ahead_) {
    clock_.at(grid_.time(shown_));
  } else {
    schedule();
  }
}

// Makes the outputs follow the inputs before the next edge.
void Block::settle() {
  rtl_->now = next_;
  rtl_->settle();
  if (waveform_) {
    const vp::Picoseconds before = grid_.time(next_ - 1);
    rtl_->dump(static_cast<std::uint64_t>((before + grid_.time(next_)) / 2));
  }
}

void Block::rise() {
  rtl_->now = next_;
  rtl_->rise();
  if (waveform_) rtl_->dump(static_cast<std::uint64_t>(grid_.time(next_)));
  ++next_;
  ++clocks_;
}

// Returns whether the block works without reading inputs or showing outputs. Links may always read
// their wires.
bool Block::hidden() const {
  const BlockRtl& block = *rtl_;
  return links_.empty() && !block.idle && !block.dma_valid && !block.completion_valid &&
         !block.interrupt_valid && !block.axi_bvalid && !block.axi_rvalid;
}

bool Block::shows() const {
  return rtl_->trace_valid || irq_level_ != static_cast<bool>(rtl_->irq) ||
         std::any_of(links_.begin(), links_.end(), [](const auto& link) { return link->shows(); });
}

// Looks whether the last edge has to be shown.
void Block::look() {
  ahead_ = shows();
  shown_ = next_ - 1;
}

// Shows other models what that edge changed.
void Block::show() {
  const BlockRtl& block = *rtl_;
  if (change_) {
    show(*std::exchange(change_, std::nullopt));
  } else if (block.trace_valid) {
    show({block.trace_port, block.trace_epoch, block.trace_sequence, block.trace_from,
          block.trace_to});
  }
  if (const std::uint64_t later = std::exchange(irq_edge_, 0)) {
    ahead_ = shows();
    shown_ = later;
    return;
  }
  irq_level_ = block.irq;
  irq.set(irq_level_);
  for (const auto& link : links_) link->show();
}

void Block::show(const JournalChange& change) {
  if (change.to == OAE_PORT_STATE_TENTATIVE) ++exchanged_;
  if (change.to == OAE_PORT_STATE_COMMITTED) ++committed_;
  if (change.to == OAE_PORT_STATE_REVERSED) ++reversed_;
  if (!trace_.on()) return;
  trace_.write(
      "{{\"t\":{},\"swap\":\"{}\",\"port\":{},\"epoch\":{},\"seq\":{},"
      "\"from\":\"{}\",\"to\":\"{}\"}}",
      vp::now(), name(), change.port, change.epoch, change.sequence, state_name(change.from),
      state_name(change.to));
}

// Runs an edge at which pins matter, at its time.
void Block::visible_edge() {
  BlockRtl& block = *rtl_;
  // Whose turn it is depends on the operation before. That matters if several wait.
  if (peeked_ && ((!requests_.empty() && (accesses_.waiting() || accesses_.in_work())) ||
                  (block.deadline_valid && block.deadline <= next_))) {
    execute_peeked(peeked_->edges);
  }
  const bool idle = block.idle;
  present();
  const bool host = block.request_valid;
  const bool firmware = block.axi_awvalid || block.axi_arvalid;
  // All outputs depend on the state alone, except those that say that an input is accepted. While
  // the block is not idle it accepts none. If nothing is at work, it accepts an input that waits
  // alone.
  const bool alone =
      host != firmware && !block.busy && !block.dma_valid && !(host && block.request_reset);
  bool requested = idle && host;
  bool accessed = idle && firmware;
  if (checked_ || !links_.empty() || (idle && (host || firmware) && !alone)) {
    settle();
    requested = host && block.request_ready;
    accessed = block.axi_awready || block.axi_arready;
  }
  const bool completed = block.completion_valid;
  const bool interrupts = block.interrupt_valid;
  const unsigned vector = block.interrupt_vector;
  if (block.dma_valid) offer_slot();
  if (completed) std::memcpy(read_.data, block.completion_data, line_bytes);
  accesses_.sample(block, accessed);
  for (const auto& link : links_) link->sample(next_);
  rise();
  if (idle && !block.idle) peeked_.reset();
  if (requested) {
    block.request_valid = 0;
    const Request request = requests_.remove(presented_);
    if (request.is_read()) read_ = request;
    if (requests_.has_room()) accept_write();
  }
  accesses_.release(block);
  if (interrupts) {
    ++interrupts_;
    if (trace_.on()) {
      trace_.write("{{\"t\":{},\"interrupt\":\"{}\",\"vector\":{}}}", vp::now(), name(), vector);
    }
    interrupt->signal(vector);
  }
  if (completed) complete();
  accesses_.finish();
  for (const auto& link : links_) link->finish();
}

// Puts inputs that have arrived on the pins.
void Block::present() {
  BlockRtl& block = *rtl_;
  const vp::Picoseconds now = grid_.time(next_);
  // A read that waits for a slot leaves the pins to the writes that pass it.
  if (slot_waits_ && block.request_valid && requests_[presented_].is_read()) {
    block.request_valid = 0;
  }
  const std::size_t next = requests_.next(slot_waits_);
  if (!block.request_valid && next != RequestQueue::none && requests_[next].arrival < now) {
    presented_ = next;
    put(requests_[next]);
  }
  accesses_.present(block, now);
  for (const auto& link : links_) link->present(now);
}

void Block::put(const Request& request) {
  BlockRtl& block = *rtl_;
  block.request_valid = 1;
  block.request_write = request.write;
  block.request_reset = request.reset;
  block.request_bar = request.bar;
  block.request_line = static_cast<std::uint16_t>(request.line);
  block.request_enable = request.enable;
  block.request_class = request.traffic_class;
  if (request.write) std::memcpy(block.request_data, request.data, line_bytes);
}

// Writes the answer to the host's memory. The block keeps it until that is possible.
void Block::offer_slot() {
  BlockRtl& block = *rtl_;
  if (!slot_waits_) send_slot();
  block.dma_ready = !slot_waits_ || (slot_answered_ && *slot_answered_ < grid_.time(next_));
  if (!block.dma_ready) return;
  slot_waits_ = false;
  slot_answered_.reset();
  block.dma_refused = !slot_.is_response_ok();
  ++(block.dma_refused ? slots_refused_ : slots_written_);
}

void Block::send_slot() {
  const BlockRtl& block = *rtl_;
  std::memcpy(slot_data_, block.dma_data, sizeof slot_data_);
  auto& access = *slot_.get_extension<pcie::Access>();
  access.traffic_class = block.dma_class;
  slot_.set_address(block.dma_address);
  slot_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  slot_waits_ = dma->nb_transport_fw(slot_, phase, delay) == tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum Block::slot_answered(tlm::tlm_generic_payload&, tlm::tlm_phase& phase,
                                        sc_core::sc_time&) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  slot_answered_ = vp::now();
  schedule();
  return tlm::TLM_COMPLETED;
}

void Block::complete() {
  tlm::tlm_generic_payload& payload = *std::exchange(read_.payload, nullptr);
  const unsigned length = payload.get_data_length();
  copy_enabled(payload.get_data_ptr(), read_.data + read_.at, length, read_.enable >> read_.at);
  read_latency_.sample(vp::now() - read_.arrival);
  respond(payload);
}

}  // namespace oae
