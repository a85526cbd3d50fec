// Drawing the operations of a run.
#include "sim/workload_host.h"

namespace uet::sim {

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
  if (op.kind == Operation::Kind::write && rng.chance(0.3)) {
    op.kind = Operation::Kind::atomic;
    op.bytes = sizeof(uint64_t);
    op.with_data = op.inject = false;
    op.fetches = rng.chance(0.5);
    op.region_offset = rng.below(kTallies) * sizeof(uint64_t);
    op.local.resize(op.bytes);
    if (rng.chance(plan_.wrong_operations)) op.wrong = Operation::Wrong::alignment;
    return;
  }
  if (op.is_decoy) op.posted = op.done = true;
  if (plan_.lengths_only) {
    op.region_offset = (kTallies + 1) * sizeof(uint64_t);
    if (!op.is_send()) draw_wrong(op, rng);
    return;
  }
  op.local.resize(op.bytes);
  if (op.kind != Operation::Kind::read) fill(op.local, op.id);
  if (op.is_send()) op.landing.resize(op.receive_bytes);
  if (op.is_send()) return;

  std::vector<std::byte>& region = hosts_[op.to]->region;
  op.region_offset = region.size();
  region.resize(op.region_offset + op.bytes);
  draw_wrong(op, rng);
  if (op.kind == Operation::Kind::read && op.wrong == Operation::Wrong::nothing) {
    fill(region.data() + op.region_offset, op.bytes, op.id);
  }
}

void Workload::draw_wrong(Operation& op, Rng& rng) {
  if (!rng.chance(plan_.wrong_operations)) return;
  op.wrong = static_cast<Operation::Wrong>(1 + rng.below(7));
  // The small header names no index that could be wrong. [SES-008]
  if (plan_.small_headers && op.wrong == Operation::Wrong::index) op.wrong = Operation::Wrong::key;
}

}  // namespace uet::sim
