// Opening endpoints and posting the operations of a run.
#include "sim/workload.h"

#include "sim/octets.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace uet::sim {
namespace {

// Makes the request illegal.
void spoil(const Operation& op, const Application& target, ses::RmaRequest& request) {
  switch (op.wrong) {
    case Operation::Wrong::nothing:
    case Operation::Wrong::job:  // the endpoint it is posted to
    case Operation::Wrong::alignment:
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

// A post that finds no slot is tried again shortly, and then after a 64th of the time since it was
// first refused: an application may take minutes to make room.
Instant next_try(Application& host, Instant now) {
  if (host.refused_since.is_never()) host.refused_since = now;
  const Duration waited = now - host.refused_since;
  return now + std::max(Duration::microseconds(50), Duration::nanoseconds(waited.ns() / 64));
}

}  // namespace

Workload::Workload(const Plan& plan, uint64_t seed, bool is_recorded)
    : scene_(plan), datagrams_(plan, seed) {
  const Operations chosen(plan, seed);
  scene_.keeps_memory = is_recorded;
  scene_.operations.reserve(chosen.all().size());
  for (uint32_t i = 0; i < plan.endpoints; ++i) {
    Application& a = *scene_.applications.emplace_back(std::make_unique<Application>());
    a.index = i;
    a.region = Memory(chosen.region_bytes(i));
    for (uint32_t p = 0; p < plan.processes; ++p) {
      ses::EndpointName name{JobId(kJob), PidOnFep(static_cast<uint16_t>(100 + p)),
                             ResourceIndex(1), 1000 + i * 16 + p, false};
      a.processes.push_back({{}, name});
    }
    a.rng = Rng(seed, 0x686f7374 + i);
    sinks_.push_back({this, &a});
  }
  if (plan.lengths_only) anything_ = Memory(plan.message_bytes_max);
  for (const Operation& op : chosen.all()) {
    LiveOperation& live = scene_.operations.emplace_back(op);
    if (op.is_source_remote() && !plan.lengths_only) {
      fill(scene_.target(op).region.data() + op.region_offset, op.bytes, op.id);
    }
    enlist(live, op.from);
    enlist(live, op.to);
  }
}

bool Workload::open(uint32_t index, recording::Endpoint& fep, LocalClock clock) {
  Application& host = *scene_.applications[index];
  host.fep = &fep;
  host.others.open(fep, scene_.plan.endpoints);
  host.clock = clock;
  ses::Ses::EndpointOptions options;
  options.mode = scene_.plan.ordered ? pds::Mode::rod : pds::Mode::rud;
  options.reject_truncated = scene_.plan.reject_truncated;
  // Receives are posted in a separate order: with fewer places, messages could wait for a receive
  // that waits for their place.
  options.rx_size = std::max(options.rx_size, scene_.plan.operations);
  ses::CompletionSink sink;
  sink.owner = &sinks_[index];
  sink.complete = &Workload::on_completion;
  sink.reserve = &Workload::on_reserve;
  if (scene_.plan.shares_receives) {
    const auto shared = fep.open_shared(options.rx_size);
    if (!shared.ok()) return false;
    options.shared = host.shared = *shared;
  }
  for (Application::Process& process : host.processes) {
    const auto endpoint = fep.open_endpoint(process.name, options, sink, sink);
    if (!endpoint.ok()) return false;
    process.endpoint = *endpoint;
  }
  ses::EndpointName outsider = host.processes[0].name;
  outsider.job = JobId(kJob + 1 + index);
  outsider.pid = PidOnFep(200);
  options.shared = {};
  const auto other = fep.open_endpoint(outsider, options, sink, sink);
  if (!other.ok()) return false;
  host.outsider = *other;
  return expose(host) && datagrams_.open(index, fep, host.others, clock);
}

// The region with each set of rights.
bool Workload::expose(Application& host) {
  const IoSlice slice{host.region.data(), host.region.size()};
  const auto add = [&](uint32_t access, uint64_t& key, bool idempotent_safe = false) {
    ses::RegionRequest request;
    request.iov = {&slice, 1};
    request.access = access;
    request.idempotent_safe = idempotent_safe;
    request.optimized = scene_.plan.small_headers;
    const auto added = host.fep->add_region(request);
    key = added.value_or(0);
    return added.ok();
  };
  return add(ses::kRemoteRead | ses::kRemoteWrite, host.key) &&
         add(ses::kRemoteRead, host.read_key) && add(ses::kRemoteWrite, host.write_key) &&
         add(0, host.closed_key) && add(ses::kRemoteRead | ses::kRemoteWrite, host.safe_key, true);
}

void Workload::lose(uint32_t index) {
  scene_.lost = index;
  datagrams_.lose(index, scene_.plan.kill);
  for (LiveOperation& op : scene_.operations) {
    if (op.from == index && (op.posted || scene_.plan.kill)) op.posted = op.done = true;
    if (!op.is_send() || op.to != index) continue;
    if (op.is_decoy) {
      op.receive_done = op.receive_done || op.receive_posted || scene_.plan.kill;
    } else if (!op.receive_done || !op.done) {
      // The new endpoint posts it again. A message whose PDC was still in SYN may be delivered to
      // both: its packets do not distinguish the two.
      op.receive_posted = op.receive_done = op.delivered = false;
    }
  }
  scene_.applications[index]->agenda.clear();
  for (const LiveOperation& op : scene_.operations) enlist(op, index);
}

ses::Destination Workload::destination(const Operation& op, Instant shown) {
  const ses::EndpointName& name = scene_.target(op).processes[op.to_process].name;
  return {scene_.initiator(op).others.name(op.to, shown),
          name.pid,
          name.ri,
          name.initiator_id,
          false,
          JobId(0),
          ses::kEveryProfile | ses::kTakesSmallHeader};
}

// Puts what that host still has to do for the operation on its agenda.
void Workload::enlist(const LiveOperation& op, uint32_t host) {
  Agenda& agenda = scene_.applications[host]->agenda;
  if (op.is_decoy) {
    if (op.to == host && !op.receive_done) agenda.add(Agenda::Lane::other, op.id, kStart);
  } else if (op.to == host) {
    if (op.is_send() && op.wants_receive()) {
      agenda.add(Agenda::Lane::receive, op.id, op.receive_at);
    }
  } else if (op.from == host && !op.posted) {
    agenda.add(Agenda::Lane::send, op.id, op.send_at);
  } else if (op.from == host && !op.cancel_at.is_never() && !op.cancelled) {
    agenda.add(Agenda::Lane::other, op.id, op.cancel_at);
  }
}

Instant Workload::post_due(uint32_t index, Instant now) {
  now_ = now;
  Instant next = datagrams_.post_due(index, now);
  Application& host = *scene_.applications[index];
  Agenda& agenda = host.agenda;
  bool is_refused = false;
  agenda.advance(now);
  // Keeps the order of posts: later ones wait behind one that was refused.
  std::array<bool, Agenda::kLanes> is_blocked{};
  for (uint32_t id = 0; true;) {
    uint32_t first = 0;
    Agenda::Lane lane{};
    for (uint32_t i = 0; i < Agenda::kLanes; ++i) {
      const uint32_t found = is_blocked[i] ? 0 : agenda.first_due(Agenda::Lane(i), id);
      if (found == 0 || (first != 0 && found > first)) continue;
      first = found;
      lane = Agenda::Lane(i);
    }
    if ((id = first) == 0) break;
    if (do_task(agenda, lane, scene_.operations[id - 1], now)) continue;
    is_refused = true;
    is_blocked[static_cast<size_t>(lane)] = lane != Agenda::Lane::other;
  }
  if (!is_refused) {
    host.refused_since = Instant::never();
  } else {
    next = std::min(next, next_try(host, now));
  }
  // A receive may have become needless before its time.
  while (const Agenda::Task* const task = agenda.first_later()) {
    if (task->lane != Agenda::Lane::receive || scene_.operations[task->id - 1].wants_receive()) {
      return std::min(next, task->at);
    }
    agenda.drop_first_later();
  }
  return next;
}

// False: it must be tried again.
bool Workload::do_task(Agenda& agenda, Agenda::Lane lane, LiveOperation& op, Instant now) {
  switch (lane) {
    case Agenda::Lane::receive:
      if (op.wants_receive() && !post_receive(op, now)) return false;
      break;
    case Agenda::Lane::send:
      if (op.posted) break;
      if (!post_operation(op, now)) return false;
      if (!op.cancel_at.is_never()) {
        agenda.add_next_time(Agenda::Lane::other, op.id, op.cancel_at);
      }
      break;
    case Agenda::Lane::other:
      if (op.is_decoy) return post_decoy(agenda, op, now);
      cancel(op, now);
      break;
  }
  agenda.finish(lane, op.id);
  return true;
}

// A receive without a message is posted, and cancelled at its time. False: there is no room.
bool Workload::post_decoy(Agenda& agenda, LiveOperation& op, Instant now) {
  if (!op.receive_done && !op.receive_posted && !post_receive(op, now)) return false;
  agenda.finish(Agenda::Lane::other, op.id);
  if (op.receive_done) return true;
  if (op.send_at > now) {
    agenda.add(Agenda::Lane::other, op.id, op.send_at);
  } else if (!take_back(op, now)) {
    judge_.fail("receive %u: was not there to be cancelled", op.id);
  }
  return true;
}

// Cancels the receive of that operation. False: it is not there.
bool Workload::take_back(LiveOperation& op, Instant now) {
  Application& host = scene_.target(op);
  const Instant at = host.clock.local(now);
  if (!scene_.plan.shares_receives) {
    return host.fep->cancel(host.processes[op.to_process].endpoint, &op, at);
  }
  Result<void> taken = host.fep->cancel(host.shared, &op, at);
  while (!taken.ok() && taken.error() == Errc::again) {  // no slot to report it with
    taken = host.fep->cancel(host.shared, &op, at);
  }
  return taken.ok();
}

// Takes an operation back once, in whatever state it is; it may have gone too far for that.
void Workload::cancel(LiveOperation& op, Instant now) {
  op.cancelled = true;
  Application& host = scene_.initiator(op);
  const ses::EndpointId endpoint = host.processes[op.from_process].endpoint;
  if (!op.done) host.fep->cancel(endpoint, &op, host.clock.local(now));
}

Result<ses::Taken> Workload::post_send(LiveOperation& op, uint32_t flags, Instant shown) {
  Application& host = scene_.initiator(op);
  const IoSlice slice = memory_of(op.local, op.bytes);
  ses::SendRequest request;
  request.to = destination(op, shown);
  request.iov = {&slice, 1};
  request.tagged = op.kind == Operation::Kind::tagged;
  request.tag = request.tagged ? tag_of(op) : 0;
  request.data = op.id;
  request.flags = flags;
  request.context = {&op, op.id};
  return host.fep->send(host.processes[op.from_process].endpoint, request, shown);
}

Result<ses::Taken> Workload::post_rma(LiveOperation& op, uint32_t flags, Instant shown) {
  Application& host = scene_.initiator(op);
  const IoSlice slice = memory_of(op.local, op.bytes);
  ses::RmaRequest request;
  request.to = destination(op, shown);
  request.read = op.kind == Operation::Kind::read;
  request.iov = {&slice, 1};
  request.remote_offset = op.region_offset;
  request.key = op.rudi ? scene_.target(op).safe_key : scene_.target(op).key;
  request.data = op.id;
  request.flags = flags;
  request.context = {&op, op.id};
  spoil(op, scene_.target(op), request);
  const bool is_outside = op.wrong == Operation::Wrong::job;
  const ses::EndpointId endpoint = host.processes[op.from_process].endpoint;
  return host.fep->rma(is_outside ? host.outsider : endpoint, request, shown);
}

Result<ses::Taken> Workload::post_atomic(LiveOperation& op, uint32_t flags, Instant shown) {
  static constexpr uint64_t kOne = 1;
  Application& host = scene_.initiator(op);
  const IoSlice one{reinterpret_cast<const std::byte*>(&kOne), sizeof kOne};
  if (op.local.size() == 0) op.local = Memory(op.bytes);
  const IoSlice old{op.local.data(), op.local.size()};
  ses::AtomicRequest request;
  request.to = destination(op, shown);
  request.form = op.fetches ? ses::AtomicForm::fetch : ses::AtomicForm::plain;
  request.code = {wire::AtomicOpcode::sum, wire::AtomicDatatype::uint64};
  request.operand = {&one, 1};
  if (op.fetches) request.result = {&old, 1};
  request.remote_offset = op.region_offset + (op.wrong == Operation::Wrong::alignment ? 4 : 0);
  request.key = scene_.target(op).key;
  request.flags = flags;
  request.context = {&op, op.id};
  return host.fep->atomic(host.processes[op.from_process].endpoint, request, shown);
}

IoSlice Workload::memory_of(Memory& own, uint64_t bytes) {
  if (scene_.plan.lengths_only) return {anything_.data(), bytes};
  if (own.size() != bytes) own = Memory(bytes);
  return {own.data(), bytes};
}

bool Workload::post_operation(LiveOperation& op, Instant now) {
  Application& host = scene_.initiator(op);
  if (op.local.size() == 0 && !scene_.plan.lengths_only) {
    op.local = Memory(op.bytes);
    if (op.is_send() || op.kind == Operation::Kind::write) fill(op.local.data(), op.bytes, op.id);
  }
  const Instant shown = host.clock.local(now);
  uint32_t flags = op.delivery_complete ? ses::kOpDeliveryComplete : 0u;
  if (op.with_data) flags |= ses::kOpRemoteData;
  if (op.inject) flags |= ses::kOpInject;
  if (op.inject && op.id % 2 == 0) flags |= ses::kOpQuiet;
  if (op.fence) flags |= ses::kOpFence;
  if (op.rudi) flags |= ses::kOpRudi;
  if (op.retain) flags |= ses::kOpRetain;
  const Result<ses::Taken> posted = op.is_send() ? post_send(op, flags, shown)
                                    : op.kind == Operation::Kind::atomic
                                        ? post_atomic(op, flags, shown)
                                        : post_rma(op, flags, shown);
  if (posted.ok()) {
    op.posted = true;
    op.posted_at = now;
    op.posted_knowingly = host.knows_of_death;
    const bool is_copied = op.inject || *posted == ses::Taken::retained;
    if (is_copied) std::fill_n(op.local.data(), op.local.size(), std::byte{0xee});
    op.post_order = ++orders_;
    return true;
  }
  if (posted.error() != Errc::again) {
    judge_.fail("operation %u: post failed: %s", op.id, name(posted.error()));
  }
  return false;
}

bool Workload::post_receive(LiveOperation& op, Instant now) {
  Application& host = scene_.target(op);
  const IoSlice slice = memory_of(op.landing, op.receive_bytes);
  ses::ReceiveRequest request;
  request.iov = {&slice, 1};
  request.tagged = op.kind == Operation::Kind::tagged;
  request.tag = request.tagged ? tag_of(op) : 0;
  request.ignore = op.wildcard && !op.is_decoy ? kIgnoreId : 0;
  request.directed = op.directed;
  const Instant at = host.clock.local(now);
  if (op.directed) request.from = host.others.name(op.from, at);
  request.from_initiator = scene_.initiator(op).processes[op.from_process].name.initiator_id;
  request.context = {&op, kReceiveBit | op.id};
  const ses::EndpointId endpoint = host.processes[op.to_process].endpoint;
  const auto posted = scene_.plan.shares_receives ? host.fep->receive(host.shared, request, at)
                                                  : host.fep->receive(endpoint, request, at);
  if (posted.ok()) {
    op.receive_posted = true;
    op.receive_order = ++orders_;
    return true;
  }
  if (posted.error() != Errc::again) {
    judge_.fail("receive %u: post failed: %s", op.id, name(posted.error()));
  }
  return false;
}

void Workload::on_completion(void* owner, const ses::Completion& completion) {
  const Sink& sink = *static_cast<const Sink*>(owner);
  sink.workload->arrived_.push_back({sink.application->index, completion});
}

bool Workload::on_reserve(void* owner) {
  const Sink& sink = *static_cast<const Sink*>(owner);
  return !sink.application->rng.chance(sink.workload->scene_.plan.reserve_refusals);
}

void Workload::judge() {
  // By index: cancelling a receive makes one completion more.
  for (size_t i = 0; i < arrived_.size() && judge_.violation().empty(); ++i) {
    const Arrived a = arrived_[i];
    follow(judge_.judge(a.host, a.completion));
  }
  arrived_.clear();
}

void Workload::follow(const WorkloadJudge::News& news) {
  if (LiveOperation* const op = news.take_back; op != nullptr && !take_back(*op, now_)) {
    judge_.fail("receive %u: was not there to be taken back", op->id);
  }
  if (LiveOperation* const op = news.post_again) {
    const auto lane = op->is_decoy ? Agenda::Lane::other : Agenda::Lane::receive;
    scene_.target(*op).agenda.add(lane, op->id, now_);
  }
}

bool Workload::waits_for(const LiveOperation& op) const {
  if (op.is_decoy) return !op.receive_done;
  if (!op.done) return true;
  return op.is_send() && !op.receive_done && !scene_.is_lenient();
}

// Searches from the operation found last, then once from the start.
bool Workload::finished() {
  const auto waits = [this](const LiveOperation& op) { return waits_for(op); };
  for (const bool is_again : {false, true}) {
    const auto from = scene_.operations.begin() + (is_again ? 0 : ptrdiff_t(first_unfinished_));
    const auto first = std::find_if(from, scene_.operations.end(), waits);
    first_unfinished_ = static_cast<size_t>(first - scene_.operations.begin());
    if (first != scene_.operations.end()) return false;
  }
  return datagrams_.finished();
}

std::string Workload::unfinished() const {
  std::string out = datagrams_.finished() ? "" : "datagrams ";
  for (const LiveOperation& op : scene_.operations) {
    if (!waits_for(op)) continue;
    if (out.size() > 200) return out + "...";
    out += std::to_string(op.id) + (op.done ? "(receiver) " : "(sender) ");
  }
  return out;
}

}  // namespace uet::sim
