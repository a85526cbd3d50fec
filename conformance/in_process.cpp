// Passes calls, packets and time of the host under test to a FabricEndpoint. It handles one
// datagram at a time; the packets that this causes leave at once.
#include "conformance/in_process.h"

#include "sim/recording/endpoint.h"

#include "fep/fabric_endpoint.h"
#include "prov/uet/settings/setting.h"

#include "fep/derive.h"

#include <algorithm>
#include <deque>
#include <map>

namespace uet::conformance {

namespace {

constexpr std::byte kBlank{0xEE};  // content of buffers before the first write

const char* name(ses::OpKind kind) {
  constexpr const char* kNames[] = {"send",        "tagged_send",   "write",
                                    "read",        "atomic",        "fetching_atomic",
                                    "recv",        "tagged_recv",   "remote_write",
                                    "remote_read", "remote_atomic", "remote_fetching_atomic"};
  return kNames[static_cast<size_t>(kind)];
}

const char* name(ses::Completion::Status status) {
  constexpr const char* kNames[] = {"ok",        "truncated", "refused", "undeliverable",
                                    "cancelled", "aborted",   "fault"};
  static_assert(std::size(kNames) == static_cast<size_t>(ses::Completion::Status::fault) + 1);
  return kNames[static_cast<size_t>(status)];
}

std::string code_of(const ses::Completion& c) {
  if (c.status == ses::Completion::Status::refused) return wire::name(c.code);
  if (c.status != ses::Completion::Status::undeliverable) return {};
  if (c.failure.reason == pds::FailureReason::nack) return wire::name(c.failure.nack);
  constexpr const char* kNames[] = {"timeout",     "nack",     "closed",   "aborted",
                                    "unreachable", "no_route", "too_long", "no_key"};
  static_assert(std::size(kNames) == static_cast<size_t>(pds::FailureReason::no_key) + 1);
  return kNames[static_cast<size_t>(c.failure.reason)];
}

class InProcess final : public Host {
 public:
  explicit InProcess(recording::Writer* writer) : fep_(writer) {}
  ~InProcess() override { fep_.finish(); }
  InProcess(const InProcess&) = delete;
  InProcess& operator=(const InProcess&) = delete;

  std::string open(const HostSpec& spec);

  Instant now() const override { return now_; }
  void send(const Datagram& datagram) override;
  void wait(Instant until, std::vector<Datagram>& packets, std::vector<Event>& events) override;
  std::string call(const Call& call) override;
  uint64_t key(const std::string& region) const override;
  const Octets* content(const std::string& name) const override;
  bool cancel(const std::string& name) override;
  void close_endpoint(size_t endpoint) override { fep_.close_endpoint(ids_[endpoint], now_); }

  bool is_in_process() const override { return true; }
  std::optional<uint64_t> counter(std::string_view name) const override;
  void report_unreachable(const FabricAddress& peer) override {
    fep_.on_unreachable(peer, now_);
    transmit();
  }
  void report_too_long(const FabricAddress& peer, uint32_t mtu_bytes) override {
    fep_.on_too_long(peer, mtu_bytes, now_);
    transmit();
  }
  void close_all(bool abort) override {
    fep_.close_all(abort, now_);
    transmit();
  }
  bool is_idle() const override { return fep_.fep().idle(); }

 private:
  // Data that a call needs until it completes, and that later lines of a case refer to.
  struct Operation {
    std::string name;
    size_t endpoint = 0;
    Octets buffer;  // sent from, or received into
    Octets compare;
    uint64_t key = 0;  // region
  };
  struct OpenEndpoint {
    static bool reserve(void* owner);
    static void release(void* owner) { ++static_cast<OpenEndpoint*>(owner)->room; }

    InProcess* host = nullptr;
    uint32_t room = 0;
  };

  static void on_complete(void* owner, const ses::Completion& completion);
  Result<void> open_endpoint(const EndpointSpec& spec);
  ses::Destination destination(const Call& call);
  Result<void> post(const Call& call, Operation& op);
  Result<void> post_send(const Call& call, Operation& op);
  Result<void> post_rma(const Call& call, Operation& op);
  Result<void> post_atomic(const Call& call, Operation& op);
  Result<void> post_receive(const Call& call, Operation& op);
  Result<void> add_region(const Call& call, Operation& op);
  void transmit();

  std::unique_ptr<TxBatch> batch_ = std::make_unique<TxBatch>();
  std::vector<ses::EndpointId> ids_;
  std::deque<OpenEndpoint> open_;
  std::deque<Operation> operations_;
  std::map<std::string, Operation*, std::less<>> by_name_;
  std::vector<Datagram> packets_;
  std::vector<Event> events_;
  Instant now_ = Instant::from_ns(1'000'000'000);
  // The recorder that cases call, and the endpoint behind it. They end before the buffers that they
  // refer to.
  recording::Endpoint fep_;
  std::unique_ptr<fep::FabricEndpoint> owned_;
};

void InProcess::on_complete(void* owner, const ses::Completion& c) {
  InProcess& host = *static_cast<OpenEndpoint*>(owner)->host;
  Event& e = host.events_.emplace_back();
  e.kind = name(c.kind);
  e.status = name(c.status);
  e.code = code_of(c);
  e.bytes = c.bytes;
  e.truncated = c.truncated_bytes;
  e.tag = c.tag;
  e.data = c.data;
  e.has_data = c.has_data;
  e.initiator = c.initiator_id;
  e.job = c.job.value();
  if (c.context.op == nullptr) return;
  const Operation& op = *static_cast<Operation*>(c.context.op);
  e.name = op.name;
  const auto* const at = static_cast<const std::byte*>(c.buffer);
  const auto from = at == nullptr ? op.buffer.begin() : op.buffer.begin() + (at - op.buffer.data());
  const auto left = static_cast<uint64_t>(op.buffer.end() - from);
  e.octets.assign(from, from + static_cast<ptrdiff_t>(std::min(left, c.bytes)));
}

bool InProcess::OpenEndpoint::reserve(void* owner) {
  auto& endpoint = *static_cast<OpenEndpoint*>(owner);
  if (endpoint.room == 0) return false;
  --endpoint.room;
  return true;
}

Result<void> InProcess::open_endpoint(const EndpointSpec& spec) {
  OpenEndpoint& endpoint = open_.emplace_back();
  endpoint.host = this;
  endpoint.room = spec.room;
  ses::CompletionSink sink;
  sink.owner = &endpoint;
  sink.complete = on_complete;
  sink.reserve = OpenEndpoint::reserve;
  sink.release = OpenEndpoint::release;
  sink.all_remote = spec.reports_remote;
  ses::EndpointOptions options;
  options.mode = static_cast<pds::Mode>(spec.mode);
  options.reject_truncated = spec.rejects_truncated;
  const ses::EndpointName name{JobId(spec.job), PidOnFep(spec.pid), ResourceIndex(spec.ri),
                               spec.initiator, spec.is_absolute};
  ids_.push_back(UET_TRY(fep_.open_endpoint(name, options, sink, sink)));
  return {};
}

std::string InProcess::open(const HostSpec& spec) {
  fep::Config config;
  config.cms = cms::Config::software();
  if (spec.profile == Profile::spec) config.pds = pds::Config::spec();
  if (spec.profile == Profile::refprov) fep::meet_refprov(config);
  for (const Setting& s : spec.settings) {
    if (const auto set = prov::set_stack_number(config, s.name, s.value); !set.ok()) {
      return "setting " + s.name + ": " + uet::name(set.error());
    }
  }
  fep::derive(config);
  auto made = fep_.create(config, spec.address, spec.seed);
  if (!made.ok()) return std::string("settings: ") + uet::name(made.error());
  owned_ = std::move(*made);
  for (const EndpointSpec& e : spec.endpoints) {
    if (const auto opened = open_endpoint(e); !opened.ok()) {
      return "endpoint " + e.name + ": " + uet::name(opened.error());
    }
  }
  return {};
}

void InProcess::send(const Datagram& datagram) {
  Octets octets = datagram.octets;
  RxDatagram d;
  d.bytes = octets;
  d.from = datagram.peer;
  d.from.port = datagram.ev;
  d.ev = Entropy(datagram.ev);
  d.dscp = datagram.dscp;
  d.ecn = datagram.ecn;
  d.at = now_ - datagram.arrived_ago;
  d.sdi = datagram.sdi;
  fep_.receive({&d, 1}, now_);
  transmit();
}

void InProcess::transmit() {
  while (fep_.transmit(*batch_, now_) != 0) {
    for (TxPacket& p : batch_->packets()) {
      Datagram& d = packets_.emplace_back();
      d.octets.assign(p.header, p.header + p.header_bytes);
      for (uint32_t i = 0; i < p.slice_count; ++i) {
        d.octets.insert(d.octets.end(), p.slices[i].data, p.slices[i].data + p.slices[i].length);
      }
      d.peer = p.to;
      d.ev = p.ev.value();
      d.dscp = p.dscp;
      d.ecn = p.ecn;
      d.sdi = p.sdi;
      d.at = now_;
      p.fate = TxFate::sent;
    }
    (void)fep_.on_sent(*batch_, now_);
    batch_->compact();
  }
}

void InProcess::wait(Instant until, std::vector<Datagram>& packets, std::vector<Event>& events) {
  transmit();
  while (packets_.empty() && events_.empty() && now_ < until) {
    // An expired deadline is handled a little later, so that time always advances.
    const Instant due = std::max(fep_.fep().next_deadline(), now_ + Duration::microseconds(1));
    now_ = std::min(until, due);
    fep_.advance(now_);
    transmit();
  }
  packets.insert(packets.end(), packets_.begin(), packets_.end());
  events.insert(events.end(), events_.begin(), events_.end());
  packets_.clear();
  events_.clear();
}

ses::Destination InProcess::destination(const Call& call) {
  ses::Destination to;
  const auto peer = fep_.peers().find_or_add(call.to, now_);
  if (peer.ok()) {
    to.peer = *peer;
    fep_.peers().list(to.peer);  // as an entry of an address vector, until the end of the case
  }
  to.pid = PidOnFep(call.pid);
  to.ri = ResourceIndex(call.ri);
  to.initiator_id = call.initiator;
  to.job = JobId(call.job);
  to.capabilities = call.capabilities;
  return to;
}

uint32_t flags_of(const Call& call) {
  uint32_t flags = 0;
  if (call.has_data) flags |= ses::kOpRemoteData;
  if (call.is_delivery_complete) flags |= ses::kOpDeliveryComplete;
  if (call.is_fence) flags |= ses::kOpFence;
  if (call.is_quiet) flags |= ses::kOpQuiet;
  if (call.is_rudi) flags |= ses::kOpRudi;
  return flags;
}

Result<void> InProcess::post_send(const Call& call, Operation& op) {
  const IoSlice slice{op.buffer.data(), op.buffer.size()};
  ses::SendRequest request;
  request.to = destination(call);
  request.iov = {&slice, 1};
  request.tagged = call.verb == Verb::tagged;
  request.tag = call.tag;
  request.data = call.data;
  request.flags = flags_of(call);
  request.context.op = &op;
  UET_CHECK(fep_.send(ids_[call.endpoint], request, now_));
  return {};
}

Result<void> InProcess::post_rma(const Call& call, Operation& op) {
  const IoSlice slice{op.buffer.data(), op.buffer.size()};
  ses::RmaRequest request;
  request.to = destination(call);
  request.read = call.verb == Verb::read;
  request.iov = {&slice, 1};
  request.remote_offset = call.offset;
  request.key = call.key;
  request.data = call.data;
  request.flags = flags_of(call);
  request.context.op = &op;
  UET_CHECK(fep_.rma(ids_[call.endpoint], request, now_));
  return {};
}

Result<void> InProcess::post_atomic(const Call& call, Operation& op) {
  const IoSlice operand{call.octets.data(), call.octets.size()};
  const IoSlice compare{call.compare.data(), call.compare.size()};
  const IoSlice result{op.buffer.data(), op.buffer.size()};
  ses::AtomicRequest request;
  request.to = destination(call);
  request.code = {call.op, call.type};
  request.operand = {&operand, 1};
  if (call.is_compare) request.compare = {&compare, 1};
  if (call.is_fetch || call.is_compare) request.result = {&result, 1};
  request.form = call.is_compare
                     ? ses::AtomicForm::compare
                     : (call.is_fetch ? ses::AtomicForm::fetch : ses::AtomicForm::plain);
  request.remote_offset = call.offset;
  request.key = call.key;
  request.flags = flags_of(call);
  request.context.op = &op;
  UET_CHECK(fep_.atomic(ids_[call.endpoint], request, now_));
  return {};
}

Result<void> InProcess::post_receive(const Call& call, Operation& op) {
  const IoSlice slice{op.buffer.data(), op.buffer.size()};
  ses::ReceiveRequest request;
  request.iov = {&slice, 1};
  request.tagged = call.is_tagged;
  request.tag = call.tag;
  request.ignore = call.ignore;
  request.multi = call.is_multi;
  request.multi_min = call.multi_min;
  request.directed = call.is_directed;
  if (call.is_directed) {
    request.from = destination(call).peer;
    request.from_initiator = call.initiator;
  }
  if (call.job != 0) request.job = call.job;
  request.context.op = &op;
  return fep_.receive(ids_[call.endpoint], request, now_);
}

Result<void> InProcess::add_region(const Call& call, Operation& op) {
  const IoSlice slice{op.buffer.data(), op.buffer.size()};
  ses::RegionRequest request;
  request.iov = {&slice, 1};
  request.access = (call.can_read ? ses::kRemoteRead : 0u) |
                   (call.can_write ? ses::kRemoteWrite : 0u) |
                   (call.can_atomic ? ses::kAtomic : 0u);
  request.provider_key = !call.has_key;
  request.key = call.key;
  request.idempotent_safe = call.is_idempotent;
  if (call.job != 0) request.job = call.job;
  op.key = UET_TRY(fep_.add_region(request));
  return {};
}

Result<void> InProcess::post(const Call& call, Operation& op) {
  switch (call.verb) {
    case Verb::send:
    case Verb::tagged:
      return post_send(call, op);
    case Verb::write:
    case Verb::read:
      return post_rma(call, op);
    case Verb::atomic:
      return post_atomic(call, op);
    case Verb::receive:
      return post_receive(call, op);
    case Verb::region:
      return add_region(call, op);
  }
  return Errc::invalid;
}

std::string InProcess::call(const Call& call) {
  Operation& op = operations_.emplace_back();
  op.name = call.name;
  op.endpoint = call.endpoint;
  const bool has_result = call.verb == Verb::atomic && (call.is_fetch || call.is_compare);
  const bool is_source =
      call.verb == Verb::send || call.verb == Verb::tagged || call.verb == Verb::write;
  if (is_source || (call.verb == Verb::region && !call.octets.empty())) {
    op.buffer = call.octets;
  } else {
    op.buffer.assign(has_result ? call.octets.size() : call.length, kBlank);
  }
  by_name_[op.name] = &op;
  const Result<void> done = post(call, op);
  transmit();
  if (done.ok()) return {};
  std::string word = uet::name(done.error());
  std::ranges::replace(word, ' ', '_');
  return word;
}

uint64_t InProcess::key(const std::string& region) const {
  const auto found = by_name_.find(region);
  return found == by_name_.end() ? 0 : found->second->key;
}

const Octets* InProcess::content(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &found->second->buffer;
}

bool InProcess::cancel(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return false;
  const bool is_cancelled = fep_.cancel(ids_[found->second->endpoint], found->second, now_);
  transmit();
  return is_cancelled;
}

std::optional<uint64_t> InProcess::counter(std::string_view name) const {
  std::optional<uint64_t> found;
  fep_.fep().for_each_counter([&](const char* counter, uint64_t value) {
    if (name == counter) found = value;
  });
  return found;
}

}  // namespace

std::unique_ptr<Host> make_in_process(const HostSpec& spec, std::string& problem,
                                      recording::Writer* writer) {
  auto host = std::make_unique<InProcess>(writer);
  problem = host->open(spec);
  if (!problem.empty()) return nullptr;
  return host;
}

}  // namespace uet::conformance
