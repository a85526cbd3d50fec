// Drawing, posting and judging the operations of a run.
#include "tools/sim/workload.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace uet::sim {
namespace {

constexpr uint32_t kJob = 77;
constexpr uint64_t kReceiveBit = uint64_t{1} << 40;  // in OpContext::user: a receive
constexpr uint64_t kWildcardTag = uint64_t{1} << 48;
constexpr uint64_t kDecoyTag = uint64_t{1} << 50;
constexpr uint64_t kIgnoreId = 0xffff'ffff;

std::byte octet(uint32_t id, uint64_t at) {
  return static_cast<std::byte>((id * 131u + static_cast<uint32_t>(at) * 7u + (at >> 8)) & 0xff);
}

void fill(std::vector<std::byte>& memory, uint32_t id) {
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = octet(id, i);
}

bool holds(const std::byte* memory, uint64_t bytes, uint32_t id) {
  for (uint64_t i = 0; i < bytes; ++i) {
    if (memory[i] != octet(id, i)) return false;
  }
  return true;
}

// Wildcard receives match any message of their sender's group: bit 48 and the sender above the id.
uint64_t tag_of(const Operation& op) {
  if (op.is_decoy) return kDecoyTag | op.id;
  return op.wildcard ? kWildcardTag | uint64_t{op.from} << 32 | op.id : op.id;
}

}  // namespace

struct Workload::Host {
  Workload* workload = nullptr;
  uint32_t index = 0;
  fep::FabricEndpoint* fep = nullptr;
  ses::EndpointId endpoint;
  ses::EndpointName name;
  ses::EndpointId outsider;       // of a job that nobody else is in
  std::vector<std::byte> region;  // RMA target; every operation has its own range
  // The same memory with all rights, only the one, and none.
  uint64_t key = 0;
  uint64_t read_key = 0;
  uint64_t write_key = 0;
  uint64_t closed_key = 0;
  Rng rng{0};
  std::vector<PeerId> peers;  // by host index
};

Workload::Workload(const Plan& plan, uint64_t seed) : plan_(plan) {
  Rng rng(seed, 0x776f726b);
  for (uint32_t i = 0; i < plan.endpoints; ++i) {
    hosts_.push_back(std::make_unique<Host>());
    hosts_[i]->workload = this;
    hosts_[i]->index = i;
    hosts_[i]->name = {JobId(kJob), PidOnFep(static_cast<uint16_t>(100 + i)), ResourceIndex(1),
                       1000 + i, false};
    hosts_[i]->rng = Rng(seed, 0x686f7374 + i);
  }
  draw_operations(rng);
}

Workload::~Workload() = default;

void Workload::draw_operations(Rng& rng) {
  operations_.resize(plan_.operations);
  for (uint32_t i = 0; i < plan_.operations; ++i) {
    operations_[i].id = i + 1;
    draw_operation(operations_[i], rng);
  }
}

void Workload::draw_operation(Operation& op, Rng& rng) {
  const auto within = [&](Duration span) {
    return kStart + Duration::nanoseconds(int64_t(rng.below(uint64_t(span.ns()) + 1)));
  };
  op.kind = static_cast<Operation::Kind>(rng.below(4));
  op.from = static_cast<uint32_t>(rng.below(plan_.endpoints));
  op.to = static_cast<uint32_t>(rng.below(plan_.endpoints - 1));
  if (op.to >= op.from) ++op.to;
  op.bytes = rng.chance(0.1) ? 0 : static_cast<uint32_t>(rng.below(plan_.message_bytes_max + 1));
  op.receive_bytes = op.bytes;
  op.with_data = op.kind != Operation::Kind::read && rng.chance(0.5);
  op.delivery_complete = rng.chance(0.3);
  op.inject = op.kind != Operation::Kind::read && op.bytes <= ses::kInjectBytes && rng.chance(0.5);
  op.fence = rng.chance(0.1);
  if (op.kind == Operation::Kind::tagged) {
    op.wildcard = rng.chance(0.4);
    op.directed = rng.chance(0.3);
    if (!op.wildcard && rng.chance(0.1)) op.receive_bytes = op.bytes / 2;
    op.is_decoy = rng.chance(plan_.cancelled_receives);
  }
  // Untagged and wildcard receives take whichever message comes: room for the longest, and the
  // id travels as header data.
  if (op.kind == Operation::Kind::send || op.wildcard) op.receive_bytes = plan_.message_bytes_max;
  if (op.kind == Operation::Kind::send) op.with_data = true;
  op.send_at = within(plan_.spread);
  op.receive_at = rng.chance(plan_.late_receives)
                      ? op.send_at + Duration::microseconds(int64_t(rng.below(5'000)))
                      : kStart;
  op.local.resize(op.bytes);
  if (op.kind != Operation::Kind::read) fill(op.local, op.id);
  if (op.is_send()) op.landing.resize(op.receive_bytes);
  if (op.is_decoy) op.posted = op.done = true;
  if (op.is_send()) return;

  std::vector<std::byte>& region = hosts_[op.to]->region;
  op.region_offset = region.size();
  region.resize(op.region_offset + op.bytes);
  draw_wrong(op, rng);
  if (op.kind == Operation::Kind::read && op.wrong == Operation::Wrong::nothing) {
    for (uint32_t at = 0; at < op.bytes; ++at) region[op.region_offset + at] = octet(op.id, at);
  }
}

void Workload::draw_wrong(Operation& op, Rng& rng) {
  if (!rng.chance(plan_.wrong_operations)) return;
  op.wrong = static_cast<Operation::Wrong>(1 + rng.below(7));
}

bool Workload::open(uint32_t index, fep::FabricEndpoint& fep) {
  Host& host = *hosts_[index];
  host.fep = &fep;
  ses::Ses::EndpointOptions options;
  options.mode = plan_.ordered ? pds::Mode::rod : pds::Mode::rud;
  options.reject_truncated = plan_.reject_truncated;
  ses::CompletionSink sink;
  sink.owner = &host;
  sink.complete = &Workload::on_completion;
  sink.reserve = &Workload::on_reserve;
  const auto endpoint = fep.ses().open_endpoint(host.name, options, sink, sink);
  if (!endpoint.ok()) return false;
  host.endpoint = *endpoint;
  ses::EndpointName outsider = host.name;
  outsider.job = JobId(kJob + 1 + index);
  outsider.pid = PidOnFep(static_cast<uint16_t>(200 + index));
  const auto other = fep.ses().open_endpoint(outsider, options, sink, sink);
  if (!other.ok()) return false;
  host.outsider = *other;

  if (host.region.empty()) host.region.resize(1);
  const IoSlice slice{host.region.data(), host.region.size()};
  const auto add = [&](uint32_t access, uint64_t& key) {
    ses::RegionRequest request;
    request.iov = {&slice, 1};
    request.access = access;
    const auto region = fep.ses().memory().add(request);
    if (!region.ok()) return false;
    fep.ses().memory().enable(*region);
    key = fep.ses().memory().key(*region);
    return true;
  };
  return add(ses::kRemoteRead | ses::kRemoteWrite, host.key) &&
         add(ses::kRemoteRead, host.read_key) && add(ses::kRemoteWrite, host.write_key) &&
         add(0, host.closed_key);
}

void Workload::connect() {
  for (const auto& host : hosts_) connect(host->index, kStart);
}

void Workload::connect(uint32_t index, Instant now) {
  Host& host = *hosts_[index];
  host.peers.clear();
  for (const auto& other : hosts_) {
    const auto peer = host.fep->peers().find_or_add(other->fep->local_address(), now);
    UET_ASSERT(peer.ok());
    host.fep->peers().add_ref(*peer);
    host.peers.push_back(*peer);
  }
  // Peers still use contexts of the endpoint that died until one failure has told them. What is
  // posted later than this must go through. [PDS-190, PDS-191]
  if (index == lost_) settled_at_ = now + Duration::seconds(2);
}

void Workload::lose(uint32_t index) {
  lost_ = index;
  for (Operation& op : operations_) {
    if (op.from == index && op.posted) op.done = true;
    if (!op.is_send() || op.to != index) continue;
    if (op.is_decoy) {
      op.receive_done = op.receive_done || op.receive_posted;
    } else if (!op.receive_done || !op.done) {
      // Posted again by the new endpoint. A message whose PDC was still in SYN may be delivered to
      // both: nothing in its packets tells the two apart.
      op.receive_posted = op.receive_done = op.delivered = false;
    }
  }
}

ses::Destination Workload::destination(uint32_t from, uint32_t to) const {
  const Host& target = *hosts_[to];
  return {hosts_[from]->peers[to], target.name.pid, target.name.ri, target.name.initiator_id,
          false};
}

Instant Workload::post_due(uint32_t index, Instant now) {
  // A post that finds no slot is tried again shortly.
  constexpr Duration kAgain = Duration::microseconds(50);
  now_ = now;
  Instant next = Instant::never();
  bool send_blocked = false;  // keep the posting order: later posts wait behind a refused one
  bool receive_blocked = false;
  for (Operation& op : operations_) {
    if (op.is_decoy) {
      if (op.to == index) post_decoy(op, now, next);
      continue;
    }
    if (op.is_send() && op.to == index && !op.receive_posted && !op.receive_done) {
      if (op.receive_at > now) {
        next = std::min(next, op.receive_at);
      } else if (receive_blocked || !post_receive(op, now)) {
        receive_blocked = true;
        next = std::min(next, now + kAgain);
      }
    }
    if (op.from != index || op.posted) continue;
    if (op.send_at > now) {
      next = std::min(next, op.send_at);
    } else if (send_blocked || !post_operation(op, now)) {
      send_blocked = true;
      next = std::min(next, now + kAgain);
    }
  }
  return next;
}

void Workload::post_decoy(Operation& op, Instant now, Instant& next) {
  if (op.receive_done) return;
  if (!op.receive_posted && !post_receive(op, now)) {
    next = std::min(next, now + Duration::microseconds(50));
  } else if (op.send_at > now) {
    next = std::min(next, op.send_at);
  } else if (!hosts_[op.to]->fep->ses().cancel(hosts_[op.to]->endpoint, &op, now)) {
    fail("receive %u: was not there to be cancelled", op.id);
  }
}

// Makes the request ask for what it may not have.
void Workload::spoil(const Operation& op, const Host& target, ses::RmaRequest& request) {
  switch (op.wrong) {
    case Operation::Wrong::nothing:
    case Operation::Wrong::job:  // the endpoint it is posted to
      break;
    case Operation::Wrong::key:
      request.key ^= uint64_t{1} << 30;
      break;
    case Operation::Wrong::range:
      request.remote_offset = target.region.size() + 1;
      break;
    case Operation::Wrong::right:
      request.key = request.read ? target.write_key : target.read_key;
      break;
    case Operation::Wrong::closed:
      request.key = target.closed_key;
      break;
    case Operation::Wrong::process:
      request.to.pid = PidOnFep(999);
      break;
    case Operation::Wrong::index:
      request.to.ri = ResourceIndex(77);
      break;
  }
}

bool Workload::post_operation(Operation& op, Instant now) {
  Host& host = *hosts_[op.from];
  const IoSlice slice{op.local.data(), op.local.size()};
  uint32_t flags = op.delivery_complete ? ses::kOpDeliveryComplete : 0u;
  if (op.with_data) flags |= ses::kOpRemoteData;
  if (op.inject) flags |= ses::kOpInject;
  if (op.fence) flags |= ses::kOpFence;
  const ses::OpContext context{&op, op.id};
  const auto post = [&]() -> Result<void> {
    if (!op.is_send()) {
      ses::RmaRequest request;
      request.to = destination(op.from, op.to);
      request.read = op.kind == Operation::Kind::read;
      request.iov = {&slice, 1};
      request.remote_offset = op.region_offset;
      request.key = hosts_[op.to]->key;
      request.data = op.id;
      request.flags = flags;
      request.context = context;
      ses::EndpointId endpoint = host.endpoint;
      spoil(op, *hosts_[op.to], request);
      if (op.wrong == Operation::Wrong::job) endpoint = host.outsider;
      return host.fep->ses().rma(endpoint, request, now);
    }
    ses::SendRequest request;
    request.to = destination(op.from, op.to);
    request.iov = {&slice, 1};
    request.tagged = op.kind == Operation::Kind::tagged;
    request.tag = request.tagged ? tag_of(op) : 0;
    request.data = op.id;
    request.flags = flags;
    request.context = context;
    return host.fep->ses().send(host.endpoint, request, now);
  };
  const Result<void> posted = post();
  if (posted.ok()) {
    op.posted = true;
    op.posted_at = now;
    if (op.inject) std::fill(op.local.begin(), op.local.end(), std::byte{0xee});
    op.post_order = ++orders_;
    return true;
  }
  if (posted.error() != Errc::again) {
    fail("operation %u: post failed: %s", op.id, name(posted.error()));
  }
  return false;
}

bool Workload::post_receive(Operation& op, Instant now) {
  Host& host = *hosts_[op.to];
  const IoSlice slice{op.landing.data(), op.landing.size()};
  ses::ReceiveRequest request;
  request.iov = {&slice, 1};
  request.tagged = op.kind == Operation::Kind::tagged;
  request.tag = request.tagged ? tag_of(op) : 0;
  request.ignore = op.wildcard && !op.is_decoy ? kIgnoreId : 0;
  request.directed = op.directed;
  request.from = host.peers[op.from];
  request.from_initiator = hosts_[op.from]->name.initiator_id;
  request.context = {&op, kReceiveBit | op.id};
  const auto posted = host.fep->ses().receive(host.endpoint, request, now);
  if (posted.ok()) {
    op.receive_posted = true;
    op.receive_order = ++orders_;
    return true;
  }
  if (posted.error() != Errc::again) {
    fail("receive %u: post failed: %s", op.id, name(posted.error()));
  }
  return false;
}

void Workload::on_completion(void* owner, const ses::Completion& completion) {
  Host& host = *static_cast<Host*>(owner);
  host.workload->arrived_.push_back({host.index, completion});
}

bool Workload::on_reserve(void* owner) {
  Host& host = *static_cast<Host*>(owner);
  return !host.rng.chance(host.workload->plan_.reserve_refusals);
}

void Workload::judge() {
  // By index: a judgement may take a receive back, which is one completion more.
  for (size_t i = 0; i < arrived_.size() && violation_.empty(); ++i) {
    const Arrived a = arrived_[i];
    if (a.completion.kind == ses::OpKind::remote_write) continue;  // judged with the write
    if (a.completion.context.user & kReceiveBit) {
      judge_receive(a.host, a.completion);
    } else {
      judge_send(a.completion);
    }
  }
  arrived_.clear();
}

bool Workload::may_fail(const Operation& op) const {
  return plan_.may_fail() || (op.to == lost_ && op.posted_at < settled_at_);
}

void Workload::judge_send(const ses::Completion& c) {
  Operation& op = *static_cast<Operation*>(c.context.op);
  if (op.done) return fail("operation %u ended twice", op.id);
  op.done = true;
  if (op.wrong != Operation::Wrong::nothing) return judge_wrong(op, c);
  if (!c.ok()) {
    if (may_fail(op) || judge_too_long(op, c)) return;
    return fail("operation %u failed: status %u, %s, failure %u nack %u", op.id,
                static_cast<unsigned>(c.status), wire::name(c.code),
                static_cast<unsigned>(c.failure.reason), static_cast<unsigned>(c.failure.nack));
  }
  if (op.kind == Operation::Kind::read && !holds(op.local.data(), op.bytes, op.id)) {
    return fail("read %u: wrong octets", op.id);
  }
  const auto& region = hosts_[op.to]->region;
  if (op.kind == Operation::Kind::write && !holds(&region[op.region_offset], op.bytes, op.id)) {
    return fail("write %u completed before its data was placed", op.id);
  }
  // [SES-148] With delivery complete a send ends after its receive.
  if (op.is_send() && op.delivery_complete && !op.delivered && !may_fail(op)) {
    fail("send %u: delivery complete before delivery", op.id);
  }
}

// [SES-083, SES-111, SES-116, SES-171..176]
void Workload::judge_wrong(const Operation& op, const ses::Completion& c) {
  static constexpr wire::ReturnCode kCodes[] = {
      wire::ReturnCode::ok,           wire::ReturnCode::bad_mkey,       wire::ReturnCode::bad_addr,
      wire::ReturnCode::op_violation, wire::ReturnCode::perm_violation, wire::ReturnCode::bad_pid,
      wire::ReturnCode::bad_index,    wire::ReturnCode::bad_job_id,
  };
  const auto expected = kCodes[static_cast<size_t>(op.wrong)];
  if (c.ok()) return fail("operation %u: not refused", op.id);
  const bool refused = c.status == ses::Completion::Status::refused && c.code == expected;
  if (!refused && !may_fail(op)) {
    return fail("operation %u: refused with %s, not %s", op.id, wire::name(c.code),
                wire::name(expected));
  }
  const std::byte* const at = &hosts_[op.to]->region[0] + op.region_offset;
  const auto is_zero = [](std::byte b) { return b == std::byte{0}; };
  if (!std::all_of(at, at + op.bytes, is_zero)) {
    return fail("operation %u: refused, but the target's memory changed", op.id);
  }
  if (op.kind == Operation::Kind::read && !std::all_of(op.local.begin(), op.local.end(), is_zero)) {
    fail("read %u: refused, but data came", op.id);
  }
}

// With reject_truncated the receive stays as it was; it is taken back here. [SES-138]
bool Workload::judge_too_long(Operation& op, const ses::Completion& c) {
  if (!plan_.reject_truncated || c.code != wire::ReturnCode::too_long) return false;
  if (!op.is_send() || op.bytes <= op.receive_bytes) return false;
  Host& host = *hosts_[op.to];
  if (op.receive_posted) return host.fep->ses().cancel(host.endpoint, &op, now_);
  op.receive_done = true;
  return true;
}

// Where messages may fail, their receives do too; another message may need the place.
void Workload::judge_failed_receive(Operation& receive, const ses::Completion& c) {
  const bool cancelled = c.status == ses::Completion::Status::cancelled;
  if (cancelled && (receive.is_decoy || receive.done)) return;
  if (cancelled || !is_lenient()) {
    return fail("receive %u failed: status %u", receive.id, static_cast<unsigned>(c.status));
  }
  receive.receive_done = receive.receive_posted = false;
  receive.receive_at = now_;
}

void Workload::judge_receive(uint32_t host, const ses::Completion& c) {
  Operation& receive = *static_cast<Operation*>(c.context.op);
  if (receive.receive_done) return fail("receive %u ended twice", receive.id);
  receive.receive_done = true;
  const bool truncated = c.status == ses::Completion::Status::truncated;
  if (!c.ok() && !truncated) return judge_failed_receive(receive, c);
  if (receive.is_decoy) return fail("receive %u: nothing was sent to it", receive.id);
  // Which message is it?
  uint64_t id = receive.id;
  if (receive.kind == Operation::Kind::send) id = c.data;
  if (receive.wildcard) id = c.tag & kIgnoreId;
  if (id == 0 || id > operations_.size()) {
    return fail("receive %u: no message %llu", receive.id, static_cast<unsigned long long>(id));
  }
  Operation& sent = operations_[id - 1];
  if (sent.to != host || sent.kind != receive.kind || !sent.posted) {
    return fail("receive %u: got message %u, which is not for it", receive.id, sent.id);
  }
  if (receive.directed && sent.from != receive.from) {
    return fail("receive %u: directed, but from another sender", receive.id);
  }
  if (sent.delivered) return fail("message %u delivered twice", sent.id);
  sent.delivered = true;
  const uint64_t expected = std::min<uint64_t>(sent.bytes, receive.receive_bytes);
  if (c.bytes != expected || truncated != (sent.bytes > receive.receive_bytes) ||
      (truncated && c.truncated_bytes != sent.bytes - expected)) {
    return fail("message %u: %llu octets of %u", sent.id, static_cast<unsigned long long>(c.bytes),
                sent.bytes);
  }
  if (c.has_data != sent.with_data || (c.has_data && c.data != sent.id)) {
    return fail("message %u: wrong header data", sent.id);
  }
  if (c.initiator_id != hosts_[sent.from]->name.initiator_id) {
    return fail("message %u: wrong source", sent.id);
  }
  if (!holds(receive.landing.data(), c.bytes, sent.id)) {
    return fail("message %u: wrong octets", sent.id);
  }
  if (plan_.ordered && !is_lenient() &&
      (receive.wildcard || receive.kind == Operation::Kind::send)) {
    judge_order(sent, receive);
  }
}

// [SES-026] Of two messages of one sender that the same receives could take, the one sent first
// goes to the receive posted first.
void Workload::judge_order(const Operation& sent, const Operation& receive) {
  const Match match{sent.from, sent.to, sent.kind, sent.post_order, receive.receive_order};
  for (const Match& other : matches_) {
    if (other.from != match.from || other.to != match.to || other.kind != match.kind) continue;
    if ((other.sent < match.sent) != (other.received < match.received)) {
      return fail("message %u was matched out of order", sent.id);
    }
  }
  matches_.push_back(match);
}

bool Workload::waits_for(const Operation& op) const {
  if (op.is_decoy) return !op.receive_done;
  if (!op.done) return true;
  return op.is_send() && !op.receive_done && !is_lenient();
}

bool Workload::finished() {
  const auto waits = [this](const Operation& op) { return waits_for(op); };
  // Mostly the same operation as at the last look is still the answer.
  if (first_unfinished_ < operations_.size() && waits(operations_[first_unfinished_])) return false;
  const auto first = std::find_if(operations_.begin(), operations_.end(), waits);
  first_unfinished_ = static_cast<size_t>(first - operations_.begin());
  return first == operations_.end();
}

std::string Workload::unfinished() const {
  std::string out;
  for (const Operation& op : operations_) {
    if (!waits_for(op)) continue;
    if (out.size() > 200) return out + "...";
    out += std::to_string(op.id) + (op.done ? "(receiver) " : "(sender) ");
  }
  return out;
}

void Workload::fail(const char* format, ...) {
  if (!violation_.empty()) return;
  char text[256];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  violation_ = text;
}

}  // namespace uet::sim
