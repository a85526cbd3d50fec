// Judging the completions of a run.
#include "sim/oracles/workload_judge.h"

#include "sim/octets.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace uet::sim {
namespace {

uint64_t number_at(const std::byte* at) {
  uint64_t n = 0;
  std::memcpy(&n, at, sizeof n);
  return n;
}

}  // namespace

// Results of the atomics on one number.
struct WorkloadJudge::Tally {
  uint64_t posted = 0;  // maximum that may have been executed
  uint64_t succeeded = 0;
  std::vector<uint64_t> found;  // old values that came back
};

WorkloadJudge::News WorkloadJudge::judge(uint32_t host, const ses::Completion& c) {
  if (c.kind == ses::OpKind::remote_write) return {};  // judged with the write
  LiveOperation& op = *static_cast<LiveOperation*>(c.context.op);
  if ((c.context.user & kReceiveBit) != 0) return judge_receive(host, op, c);
  const News news = judge_send(op, c);
  if (!op.is_fetching() && !scene_.keeps_memory) op.local = {};
  return news;
}

bool WorkloadJudge::may_fail(const LiveOperation& op) const {
  return scene_.plan.may_fail() || may_meet_the_dead(op);
}

// Operations posted before the peer was back may have been executed by the peer that died. Later
// posts still use PDCs with the dead peer, until one failure has ended these PDCs. Such posts are
// sent again if every packet was refused at its first transmission, so they fail only if packets
// are lost. [PDS-119, PDS-190]
bool WorkloadJudge::may_meet_the_dead(const LiveOperation& op) const {
  if (op.to != scene_.lost) return false;
  return op.posted_at < scene_.back_at || (scene_.plan.is_lossy() && !op.posted_knowingly);
}

WorkloadJudge::News WorkloadJudge::judge_send(LiveOperation& op, const ses::Completion& c) {
  if (op.done) return fail("operation %u ended twice", op.id);
  op.done = true;
  if (op.wrong != Operation::Wrong::nothing) return judge_wrong(op, c);
  if (!c.ok()) {
    if (op.to == scene_.lost && c.failure.nack == wire::NackCode::inv_dpdcid) {
      scene_.initiator(op).knows_of_death = true;
    }
    if (may_fail(op)) return {};
    if (is_too_long(op, c)) return judge_too_long(op);
    return fail("operation %u failed: status %u, %s, failure %u nack %u", op.id,
                static_cast<unsigned>(c.status), wire::name(c.code),
                static_cast<unsigned>(c.failure.reason), static_cast<unsigned>(c.failure.nack));
  }
  op.succeeded = true;
  const bool has_octets = !scene_.plan.lengths_only;
  if (has_octets && op.kind == Operation::Kind::read && !holds(op.local.data(), op.bytes, op.id)) {
    return fail("read %u: wrong octets", op.id);
  }
  const std::byte* const region = scene_.target(op).region.data();
  if (has_octets && op.kind == Operation::Kind::write &&
      !holds(region + op.region_offset, op.bytes, op.id)) {
    return fail("write %u completed before its data was placed", op.id);
  }
  // [SES-148] With delivery complete a send ends after its receive; one by rendezvous when all is
  // in its place, which the receive may learn a little later.
  const bool is_exposed = !op.inject && op.bytes >= scene_.plan.rendezvous_bytes;
  const bool may_be_lost = scene_.plan.spoil || may_meet_the_dead(op);
  if (op.is_send() && op.delivery_complete && !op.delivered && !is_exposed && !may_be_lost) {
    return fail("send %u: delivery complete before delivery", op.id);
  }
  return {};
}

// Every atomic that ended well was executed once, the others at most once; and no two fetching ones
// found the same number. [PDS-076, PDS-119]
void WorkloadJudge::judge_tallies() {
  std::vector<Tally> tallies(scene_.applications.size() * kTallies);
  for (const LiveOperation& op : scene_.operations) {
    if (op.kind != Operation::Kind::atomic || op.wrong != Operation::Wrong::nothing) continue;
    Tally& tally = tallies[op.to * kTallies + op.region_offset / sizeof(uint64_t)];
    // The memory outlives its endpoint: the new one may execute again what the dead one executed.
    const bool has_two_targets = op.to == scene_.lost && op.posted_at < scene_.back_at;
    if (op.posted) tally.posted += has_two_targets ? 2 : 1;
    tally.succeeded += op.succeeded;
    if (op.succeeded && op.fetches) tally.found.push_back(number_at(op.local.data()));
  }
  for (uint32_t i = 0; i < tallies.size() && violation_.empty(); ++i) {
    judge_tally(i / kTallies, i % kTallies, tallies[i]);
  }
}

void WorkloadJudge::judge_tally(uint32_t host, uint32_t slot, Tally& tally) {
  const std::byte* const region = scene_.applications[host]->region.data();
  const uint64_t value = number_at(region + slot * sizeof(uint64_t));
  if (value < tally.succeeded || value > tally.posted) {
    fail("tally %u of endpoint %u: %llu, after %llu of %llu atomics ended well", slot, host,
         static_cast<unsigned long long>(value), static_cast<unsigned long long>(tally.succeeded),
         static_cast<unsigned long long>(tally.posted));
    return;
  }
  std::vector<uint64_t>& found = tally.found;
  std::sort(found.begin(), found.end());
  const bool is_twice = std::adjacent_find(found.begin(), found.end()) != found.end();
  if (is_twice || (!found.empty() && found.back() >= value)) {
    fail("tally %u of endpoint %u: an old value came back twice, or was never there", slot, host);
  }
}

// Memory holds only the octets of the operations: where one failed or is half done, each octet has
// the new value or the old one.
void WorkloadJudge::judge_memory() {
  // A request that arrives spoilt, or that a stranger repeats, may name any place.
  if (scene_.plan.spoil || scene_.plan.stranger > 0 || scene_.plan.lengths_only) return;
  for (const LiveOperation& op : scene_.operations) {
    if (violation_.empty()) judge_memory_of(op);
  }
}

void WorkloadJudge::judge_memory_of(const LiveOperation& op) {
  const auto is_its_or_zero = [&op](const std::byte* at, uint64_t count) {
    if (holds(at, count, op.id) || is_zero(at, count)) return true;
    for (uint64_t i = 0; i < count; ++i) {
      if (at[i] != std::byte{0} && at[i] != octet(op.id, i)) return false;
    }
    return true;
  };
  if (op.is_rma()) {
    const std::byte* const at = scene_.target(op).region.data() + op.region_offset;
    if (op.is_source_remote() ? !holds(at, op.bytes, op.id) : !is_its_or_zero(at, op.bytes)) {
      fail("operation %u: its range of the target's memory has other octets", op.id);
    }
  }
  if (op.kind == Operation::Kind::read && !is_its_or_zero(op.local.data(), op.local.size())) {
    fail("read %u: its buffer has other octets", op.id);
  }
  // Octets beyond the received ones, and receives that were cancelled. If messages may fail the
  // next one may use the same place.
  if (!op.is_send() || scene_.is_lenient() || op.landing.size() == 0) return;
  if (!is_zero(op.landing.data() + op.landed, op.landing.size() - op.landed)) {
    fail("receive %u: octets behind the %u that were received", op.id, op.landed);
  }
}

// [SES-083, SES-111, SES-116, SES-171..176]
WorkloadJudge::News WorkloadJudge::judge_wrong(const LiveOperation& op, const ses::Completion& c) {
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
    return fail("operation %u: status %u, %s, failure %u nack %u, not refused with %s", op.id,
                static_cast<unsigned>(c.status), wire::name(c.code),
                static_cast<unsigned>(c.failure.reason), static_cast<unsigned>(c.failure.nack),
                wire::name(expected));
  }
  // The tallies show what an atomic did.
  if (op.kind == Operation::Kind::atomic || scene_.plan.lengths_only) return {};
  const std::byte* const at = scene_.target(op).region.data() + op.region_offset;
  if (!is_zero(at, op.bytes)) {
    return fail("operation %u: refused, but the target's memory changed", op.id);
  }
  if (op.kind == Operation::Kind::read && !is_zero(op.local.data(), op.local.size())) {
    return fail("read %u: refused, but data came", op.id);
  }
  return {};
}

// [SES-138]
bool WorkloadJudge::is_too_long(const LiveOperation& op, const ses::Completion& c) const {
  return scene_.plan.reject_truncated && c.code == wire::ReturnCode::too_long && op.is_send() &&
         op.bytes > op.receive_bytes;
}

// The receive is unchanged, and is not needed any more.
WorkloadJudge::News WorkloadJudge::judge_too_long(LiveOperation& op) {
  if (op.receive_posted) return {.take_back = &op};
  op.receive_done = true;
  return {};
}

// Where messages may fail, their receives do too; another message may need the place.
WorkloadJudge::News WorkloadJudge::judge_failed_receive(LiveOperation& receive,
                                                        const ses::Completion& c) {
  const bool cancelled = c.status == ses::Completion::Status::cancelled;
  if (cancelled && (receive.is_decoy || receive.done)) return {};
  if (cancelled || !scene_.is_lenient()) {
    return fail("receive %u failed: status %u", receive.id, static_cast<unsigned>(c.status));
  }
  receive.receive_done = receive.receive_posted = false;
  return {.post_again = &receive};
}

WorkloadJudge::News WorkloadJudge::judge_receive(uint32_t host, LiveOperation& receive,
                                                 const ses::Completion& c) {
  if (receive.receive_done) return fail("receive %u ended twice", receive.id);
  receive.receive_done = true;
  const bool truncated = c.status == ses::Completion::Status::truncated;
  if (!c.ok() && !truncated) return judge_failed_receive(receive, c);
  if (receive.is_decoy) return fail("receive %u: nothing was sent to it", receive.id);
  // Identifies the message.
  uint64_t id = receive.id;
  if (receive.kind == Operation::Kind::send) id = c.data;
  if (receive.wildcard) id = c.tag & kIgnoreId;
  if (id == 0 || id > scene_.operations.size()) {
    return fail("receive %u: no message %llu", receive.id, static_cast<unsigned long long>(id));
  }
  LiveOperation& sent = scene_.operations[id - 1];
  const bool is_its_process = scene_.plan.shares_receives || sent.to_process == receive.to_process;
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
  if (c.initiator_id != scene_.initiator(sent).processes[sent.from_process].name.initiator_id) {
    return fail("message %u: wrong source", sent.id);
  }
  if (!scene_.plan.lengths_only && !holds(receive.landing.data(), c.bytes, sent.id)) {
    return fail("message %u: wrong octets", sent.id);
  }
  if (scene_.plan.ordered && !scene_.is_lenient() &&
      (receive.wildcard || receive.kind == Operation::Kind::send)) {
    judge_order(sent, receive);
  }
  return {};
}

// [SES-026] Of two messages of one sender that the same receives could take, the one sent first
// goes to the receive posted first.
void WorkloadJudge::judge_order(const LiveOperation& sent, const LiveOperation& receive) {
  const uint64_t stream = uint64_t{sent.from} << 41 | uint64_t{sent.to} << 18 |
                          uint64_t{sent.from_process} << 10 | uint64_t{sent.to_process} << 2 |
                          static_cast<uint64_t>(sent.kind);
  std::map<uint32_t, uint32_t>& received = matches_[stream];
  const auto [at, is_new] = received.try_emplace(sent.post_order, receive.receive_order);
  // The other completions are in order, so neighbours are enough.
  const bool is_after = at == received.begin() || std::prev(at)->second < at->second;
  const bool is_before = std::next(at) == received.end() || at->second < std::next(at)->second;
  if (!is_new || !is_after || !is_before) fail("message %u was matched out of order", sent.id);
}

WorkloadJudge::News WorkloadJudge::fail(const char* format, ...) {
  if (!violation_.empty()) return {};
  char text[256];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  violation_ = text;
  return {};
}

}  // namespace uet::sim
