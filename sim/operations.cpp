// Drawing the operations of a run.
#include "sim/operations.h"

#include "ses/ses.h"

namespace uet::sim {
namespace {

constexpr size_t kTallyBytes = (kTallies + 1) * sizeof(uint64_t);  // one for the misaligned

}  // namespace

Operations::Operations(const Plan& plan, uint64_t seed)
    : plan_(plan),
      region_bytes_(plan.endpoints, kTallyBytes + (plan.lengths_only ? plan.message_bytes_max : 0)),
      all_(plan.operations) {
  Rng rng(seed, 0x776f726b);
  for (uint32_t i = 0; i < plan.operations; ++i) {
    all_[i].id = i + 1;
    draw(all_[i], rng);
  }
  Rng choice(seed, 0x72756469);  // separate: the other operations are as without RUDI
  for (Operation& op : all_) op.rudi = op.is_rma() && choice.chance(plan.rudi);
  Rng copies(seed, 0x6b656570);
  for (Operation& op : all_) {
    op.retain = copies.chance(plan.retained) && !op.is_fetching() && !op.delivery_complete;
  }
  Rng regret(seed, 0x72677274);
  for (Operation& op : all_) {
    const auto later = Duration::microseconds(int64_t(regret.below(20'000)));
    if (regret.chance(plan.cancelled_sends)) op.cancel_at = op.send_at + later;
  }
}

void Operations::draw(Operation& op, Rng& rng) {
  const auto within = [&](Duration span) {
    return kStart + Duration::nanoseconds(int64_t(rng.below(uint64_t(span.ns()) + 1)));
  };
  op.kind = static_cast<Operation::Kind>(rng.below(4));
  op.from = static_cast<uint32_t>(rng.below(plan_.endpoints));
  op.to = static_cast<uint32_t>(rng.below(plan_.endpoints - 1));
  if (op.to >= op.from) ++op.to;
  op.from_process = static_cast<uint32_t>(rng.below(plan_.processes));
  op.to_process = static_cast<uint32_t>(rng.below(plan_.processes));
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
  op.receive_at =
      rng.chance(plan_.late_receives)
          ? op.send_at + Duration::microseconds(int64_t(rng.below(5'000))) + plan_.slow_application
          : kStart;
  if (op.kind == Operation::Kind::write && rng.chance(0.3)) return draw_atomic(op, rng);
  if (op.is_send()) return;
  place(op);
  draw_wrong(op, rng);
}

void Operations::draw_atomic(Operation& op, Rng& rng) const {
  op.kind = Operation::Kind::atomic;
  op.bytes = sizeof(uint64_t);
  op.with_data = op.inject = false;
  op.fetches = rng.chance(0.5);
  op.region_offset = rng.below(kTallies) * sizeof(uint64_t);
  if (rng.chance(plan_.wrong_operations)) op.wrong = Operation::Wrong::alignment;
}

void Operations::draw_wrong(Operation& op, Rng& rng) const {
  if (!rng.chance(plan_.wrong_operations)) return;
  op.wrong = static_cast<Operation::Wrong>(1 + rng.below(7));
  // The small header names no index that could be wrong. [SES-008]
  if (plan_.small_headers && op.wrong == Operation::Wrong::index) op.wrong = Operation::Wrong::key;
}

// Every RMA has a separate range of the target's region, unless no octets are checked.
void Operations::place(Operation& op) {
  op.region_offset = plan_.lengths_only ? kTallyBytes : region_bytes_[op.to];
  if (!plan_.lengths_only) region_bytes_[op.to] += op.bytes;
}

}  // namespace uet::sim
