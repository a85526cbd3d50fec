// Keeping and detaching what a backend did not take.
#include "base/packet.h"

#include <utility>

namespace uet {

void TxBatch::compact() {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < size_; ++i) {
    if (packets_[i].fate != TxFate::later) {
      payload_bytes_ -= packets_[i].payload_bytes;
      continue;
    }
    if (kept != i) {
      packets_[kept] = packets_[i];
      std::swap(free_[kept], free_[i]);
    }
    ++kept;
  }
  size_ = kept;
  if (size_ == 0) {
    slices_used_ = 0;
    return;
  }
  // Slices keep their places: the table only empties with the batch.
}

void TxBatch::detach(std::span<std::byte> bounce) {
  UET_ASSERT(bounce.size() >= payload_bytes());
  std::byte* at = bounce.data();
  for (TxPacket& p : packets()) {
    if (p.slice_count == 0) continue;
    std::byte* start = at;
    for (uint32_t i = 0; i < p.slice_count; ++i) {
      // A packet detached before already lies in the bounce; memmove keeps that legal.
      std::memmove(at, p.slices[i].data, p.slices[i].length);
      at += p.slices[i].length;
    }
    IoSlice* first = &slices_[static_cast<uint32_t>(p.slices - slices_.data())];
    *first = {start, p.payload_bytes};
    p.slice_count = 1;
  }
}

}  // namespace uet
