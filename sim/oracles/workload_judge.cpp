// Judging the completions of a run.
#include "sim/workload_host.h"

#include <algorithm>

namespace uet::sim {
namespace {

uint64_t number_at(const std::byte* at) {
  uint64_t n = 0;
  std::memcpy(&n, at, sizeof n);
  return n;
}

}  // namespace

// What became of the atomics on one number.
struct Workload::Tally {
  uint64_t posted = 0;  // the most that may have been executed
  uint64_t succeeded = 0;
  std::vector<uint64_t> found;  // old values that came back
};

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
  return plan_.may_fail() || may_meet_the_dead(op);
}

// What was posted before the peer was back may have been executed by the one that died. Later posts
// still meet its contexts, until one failure has told their initiator; they are sent again as long
// as every packet is refused at its first transmission, so they fail only where packets are lost.
// [PDS-119, PDS-190]
bool Workload::may_meet_the_dead(const Operation& op) const {
  if (op.to != lost_) return false;
  return op.posted_at < back_at_ || (plan_.is_lossy() && !op.posted_knowingly);
}

void Workload::judge_send(const ses::Completion& c) {
  Operation& op = *static_cast<Operation*>(c.context.op);
  if (op.done) return fail("operation %u ended twice", op.id);
  op.done = true;
  if (op.wrong != Operation::Wrong::nothing) return judge_wrong(op, c);
  if (!c.ok()) {
    if (op.to == lost_ && c.failure.nack == wire::NackCode::inv_dpdcid) {
      hosts_[op.from]->knows_of_death = true;
    }
    if (may_fail(op) || judge_too_long(op, c)) return;
    return fail("operation %u failed: status %u, %s, failure %u nack %u", op.id,
                static_cast<unsigned>(c.status), wire::name(c.code),
                static_cast<unsigned>(c.failure.reason), static_cast<unsigned>(c.failure.nack));
  }
  op.succeeded = true;
  const bool has_octets = !plan_.lengths_only;
  if (has_octets && op.kind == Operation::Kind::read && !holds(op.local.data(), op.bytes, op.id)) {
    return fail("read %u: wrong octets", op.id);
  }
  const auto& region = hosts_[op.to]->region;
  if (has_octets && op.kind == Operation::Kind::write &&
      !holds(&region[op.region_offset], op.bytes, op.id)) {
    return fail("write %u completed before its data was placed", op.id);
  }
  // [SES-148] With delivery complete a send ends after its receive; one by rendezvous when all is
  // in its place, which the receive may learn a little later.
  const bool is_exposed = !op.inject && op.bytes >= plan_.rendezvous_bytes;
  const bool may_be_lost = plan_.spoil || may_meet_the_dead(op);
  if (op.is_send() && op.delivery_complete && !op.delivered && !is_exposed && !may_be_lost) {
    fail("send %u: delivery complete before delivery", op.id);
  }
}

// Every atomic that ended well has been executed once, the others once at most; and of those that
// fetch no two found the same number. [PDS-076, PDS-119]
void Workload::judge_tallies() {
  std::vector<Tally> tallies(hosts_.size() * kTallies);
  for (const Operation& op : operations_) {
    if (op.kind != Operation::Kind::atomic || op.wrong != Operation::Wrong::nothing) continue;
    Tally& tally = tallies[op.to * kTallies + op.region_offset / sizeof(uint64_t)];
    // The memory outlives its endpoint: what the dead one executed the new one may execute again.
    const bool has_two_targets = op.to == lost_ && op.posted_at < back_at_;
    if (op.posted) tally.posted += has_two_targets ? 2 : 1;
    tally.succeeded += op.succeeded;
    if (op.succeeded && op.fetches) tally.found.push_back(number_at(op.local.data()));
  }
  for (uint32_t i = 0; i < tallies.size() && violation_.empty(); ++i) {
    judge_tally(i / kTallies, i % kTallies, tallies[i]);
  }
}

void Workload::judge_tally(uint32_t host, uint32_t slot, Tally& tally) {
  const uint64_t value = number_at(&hosts_[host]->region[slot * sizeof(uint64_t)]);
  if (value < tally.succeeded || value > tally.posted) {
    return fail("tally %u of endpoint %u: %llu, after %llu of %llu atomics ended well", slot, host,
                static_cast<unsigned long long>(value),
                static_cast<unsigned long long>(tally.succeeded),
                static_cast<unsigned long long>(tally.posted));
  }
  std::vector<uint64_t>& found = tally.found;
  std::sort(found.begin(), found.end());
  const bool is_twice = std::adjacent_find(found.begin(), found.end()) != found.end();
  if (is_twice || (!found.empty() && found.back() >= value)) {
    fail("tally %u of endpoint %u: an old value came back twice, or was never there", slot, host);
  }
}

// Whatever became of an operation, memory holds what it put there and nothing else: where it failed
// or is half done each octet is its own or as before.
void Workload::judge_memory() {
  // A request that arrives spoilt, or that a stranger repeats, may name any place.
  if (plan_.spoil || plan_.stranger > 0 || plan_.lengths_only) return;
  for (const Operation& op : operations_) {
    if (violation_.empty()) judge_memory_of(op);
  }
}

void Workload::judge_memory_of(const Operation& op) {
  const auto is_its_or_zero = [&op](const std::byte* at, uint32_t count) {
    if (holds(at, count, op.id) || is_zero(at, count)) return true;
    for (uint32_t i = 0; i < count; ++i) {
      if (at[i] != std::byte{0} && at[i] != octet(op.id, i)) return false;
    }
    return true;
  };
  if (op.is_rma()) {
    const std::byte* const at = &hosts_[op.to]->region[0] + op.region_offset;
    const bool is_source =
        op.kind == Operation::Kind::read && op.wrong == Operation::Wrong::nothing;
    if (is_source ? !holds(at, op.bytes, op.id) : !is_its_or_zero(at, op.bytes)) {
      return fail("operation %u: its range of the target's memory has other octets", op.id);
    }
  }
  if (op.kind == Operation::Kind::read && !is_its_or_zero(op.local.data(), op.bytes)) {
    return fail("read %u: its buffer has other octets", op.id);
  }
  // Beyond what was received, and in receives that were taken back. Where messages may fail the
  // next one may land in the same place.
  if (!op.is_send() || is_lenient()) return;
  if (!is_zero(op.landing.data() + op.landed, op.landing.size() - op.landed)) {
    fail("receive %u: octets behind the %u that were received", op.id, op.landed);
  }
}

// [SES-083, SES-111, SES-116, SES-171..176]
void Workload::judge_wrong(const Operation& op, const ses::Completion& c) {
  static constexpr wire::ReturnCode kCodes[] = {
      wire::ReturnCode::ok,
      wire::ReturnCode::bad_mkey,
      wire::ReturnCode::bad_addr,
      wire::ReturnCode::op_violation,
      wire::ReturnCode::perm_violation,
      wire::ReturnCode::bad_pid,
      wire::ReturnCode::bad_index,
      wire::ReturnCode::bad_job_id,
      wire::ReturnCode::amo_unaligned,
  };
  const auto expected = kCodes[static_cast<size_t>(op.wrong)];
  if (c.ok()) return fail("operation %u: not refused", op.id);
  const bool refused = c.status == ses::Completion::Status::refused && c.code == expected;
  if (!refused && !may_fail(op)) {
    return fail("operation %u: refused with %s, not %s", op.id, wire::name(c.code),
                wire::name(expected));
  }
  // The tallies show what an atomic did.
  if (op.kind == Operation::Kind::atomic || plan_.lengths_only) return;
  const std::byte* const at = &hosts_[op.to]->region[0] + op.region_offset;
  if (!is_zero(at, op.bytes)) {
    return fail("operation %u: refused, but the target's memory changed", op.id);
  }
  if (op.kind == Operation::Kind::read && !is_zero(op.local.data(), op.local.size())) {
    fail("read %u: refused, but data came", op.id);
  }
}

// With reject_truncated the receive stays as it was; it is taken back here. [SES-138]
bool Workload::judge_too_long(Operation& op, const ses::Completion& c) {
  if (!plan_.reject_truncated || c.code != wire::ReturnCode::too_long) return false;
  if (!op.is_send() || op.bytes <= op.receive_bytes) return false;
  if (op.receive_posted) return take_back(op, now_);
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
  const auto lane = receive.is_decoy ? Agenda::Lane::other : Agenda::Lane::receive;
  hosts_[receive.to]->agenda.add(lane, receive.id, now_);
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
  const bool is_its_process = plan_.shares_receives || sent.to_process == receive.to_process;
  if (sent.to != host || !is_its_process || sent.kind != receive.kind || !sent.posted) {
    return fail("receive %u: got message %u, which is not for it", receive.id, sent.id);
  }
  if (receive.directed &&
      (sent.from != receive.from || sent.from_process != receive.from_process)) {
    return fail("receive %u: directed, but from another sender", receive.id);
  }
  if (sent.delivered) return fail("message %u delivered twice", sent.id);
  sent.delivered = true;
  receive.landed = static_cast<uint32_t>(c.bytes);
  const uint64_t expected = std::min<uint64_t>(sent.bytes, receive.receive_bytes);
  if (c.bytes != expected || truncated != (sent.bytes > receive.receive_bytes) ||
      (truncated && c.truncated_bytes != sent.bytes - expected)) {
    return fail("message %u: %llu octets of %u", sent.id, static_cast<unsigned long long>(c.bytes),
                sent.bytes);
  }
  if (c.has_data != sent.with_data || (c.has_data && c.data != sent.id)) {
    return fail("message %u: wrong header data", sent.id);
  }
  if (c.initiator_id != hosts_[sent.from]->processes[sent.from_process].name.initiator_id) {
    return fail("message %u: wrong source", sent.id);
  }
  if (!plan_.lengths_only && !holds(receive.landing.data(), c.bytes, sent.id)) {
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
  const uint64_t stream = uint64_t{sent.from} << 41 | uint64_t{sent.to} << 18 |
                          uint64_t{sent.from_process} << 10 | uint64_t{sent.to_process} << 2 |
                          static_cast<uint64_t>(sent.kind);
  std::map<uint32_t, uint32_t>& received = matches_[stream];
  const auto [at, is_new] = received.try_emplace(sent.post_order, receive.receive_order);
  // The others are in order, so the neighbours stand for all.
  const bool is_after = at == received.begin() || std::prev(at)->second < at->second;
  const bool is_before = std::next(at) == received.end() || at->second < std::next(at)->second;
  if (!is_new || !is_after || !is_before) fail("message %u was matched out of order", sent.id);
}

}  // namespace uet::sim
