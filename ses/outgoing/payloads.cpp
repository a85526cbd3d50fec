// Taking and giving back the memory of operations.
#include "ses/outgoing/payloads.h"

namespace uet::ses {

Result<void> Payloads::take(Endpoint& ep, TxMessage& m, std::span<const IoSlice> iov,
                            uint32_t flags) {
  if ((flags & kOpRetain) != 0 && retain(ep, m, iov)) return {};
  if ((flags & kOpInject) != 0) return copy(m, iov);
  UET_CHECK(m.memory.assign(iov, res_.long_iovs));
  if (m.memory.bytes() <= kMaxMessageBytes) return {};
  m.memory.release(res_.long_iovs);
  return Errc::too_long;
}

Result<void> Payloads::copy(TxMessage& m, std::span<const IoSlice> iov) {
  const uint64_t bytes = UET_TRY(total_bytes(iov));
  if (bytes > kInjectBytes) return Errc::too_long;
  m.copy = inject_.take(bytes);
  if (m.copy == nullptr) return Errc::again;
  gather(iov, m.copy);
  m.memory.assign(IoSlice{m.copy, bytes});
  tally_.add(bytes);
  return {};
}

// Copies the payload if it is short enough and there is room for it; then the user need not wait.
// [LF-136]
bool Payloads::retain(Endpoint& ep, TxMessage& m, std::span<const IoSlice> iov) {
  const Result<uint64_t> bytes = total_bytes(iov);
  if (!bytes.ok() || *bytes > kRetainBytes || *bytes >= res_.config.rendezvous_bytes) return false;
  m.is_in_buffer = *bytes > InjectStore::kShortBytes;
  m.copy = m.is_in_buffer ? ep.retained.take(*res_.arena, *bytes) : inject_.take(*bytes);
  if (m.copy == nullptr) {
    m.is_in_buffer = false;
    res_.counters.add(Counter::tx_retain_no_room);
    return false;
  }
  gather(iov, m.copy);
  m.memory.assign(IoSlice{m.copy, *bytes});
  m.is_retained = true;
  tally_.add(*bytes);
  res_.counters.add(Counter::tx_retained);
  return true;
}

void Payloads::give_back(TxMessage& m) {
  if (m.copy != nullptr) give_back_copy(m);
  m.memory.release(res_.long_iovs);
  m.result.release(res_.long_iovs);
}

void Payloads::give_back_copy(TxMessage& m) {
  const uint64_t bytes = m.memory.bytes();
  tally_.remove(bytes);
  if (m.is_in_buffer) {
    endpoints_.get(m.endpoint)->retained.give_back(m.copy);
  } else {
    inject_.give_back(m.copy, bytes);
  }
  m.copy = nullptr;
}

}  // namespace uet::ses
