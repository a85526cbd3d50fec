// The calls that access a peer's memory, and the comparison with its expected contents.
#include "tools/stress/access.h"

#include <algorithm>
#include <cstring>

namespace uet::stress {
namespace {

uint64_t remote(const Peer& peer, size_t offset) { return peer.base + offset; }

}  // namespace

bool Range::choose(Peer& peer, size_t bytes_max, Rng& rng, Range& range) {
  const size_t size = peer.bytes.size();
  range.bytes = random_length(rng.next(), std::min(bytes_max, size));
  range.offset = rng.below(size - range.bytes + 1);
  if (rng.one_in(2)) range.offset = range.offset / kLockBytes * kLockBytes;
  const size_t last = (range.offset + range.bytes) / kLockBytes;
  for (size_t i = range.offset / kLockBytes; i <= last && i < peer.is_busy.size(); ++i) {
    if (peer.is_busy[i]) return false;
  }
  range.lock(peer, true);
  return true;
}

Range Range::whole(Peer& peer) {
  Range range;
  range.bytes = peer.bytes.size();
  range.lock(peer, true);
  return range;
}

void Range::lock(Peer& peer, bool busy) const {
  const size_t last = (offset + bytes) / kLockBytes;
  for (size_t i = offset / kLockBytes; i <= last && i < peer.is_busy.size(); ++i) {
    peer.is_busy[i] = busy;
  }
}

std::unique_ptr<Operation> Writing::make(const Options& options, Node& node, const PeerRef& peer,
                                         uint32_t slot, uint32_t incarnation, Rng& rng) {
  std::unique_ptr<Writing> writing(new Writing(peer));
  if (!Range::choose(*peer, options.bytes_max, rng, writing->range_)) return nullptr;
  writing->buffer_.resize(writing->range_.bytes);
  Content(rng.next()).fill(writing->buffer_);
  writing->id_ = MessageId{.seq = peer->next_seq[kWritten],
                           .incarnation = incarnation,
                           .from = slot,
                           .to_incarnation = peer->incarnation % kToIncarnations,
                           .stream = kWritten};
  writing->call_ = static_cast<Call>(rng.below(3));
  // The weaker completions need a fence before the read.
  if (!node.offers(FI_FENCE)) writing->call_ = Call::message;
  writing->is_settled_ = writing->call_ == Call::message;
  writing->flags_ = FI_COMPLETION | FI_DELIVERY_COMPLETE;
  if (rng.one_in(2)) writing->flags_ |= FI_REMOTE_CQ_DATA;
  if (writing->buffer_.size() <= node.inject_bytes() && rng.one_in(3)) writing->flags_ |= FI_INJECT;
  return writing;
}

ssize_t Writing::post(fid_ep* ep) {
  void* const context = static_cast<Pending*>(this);
  const uint64_t to = remote(*peer, range_.offset);
  if (call_ == Call::write) {
    return fi_write(ep, buffer_.data(), buffer_.size(), nullptr, peer->addr, to, peer->key,
                    context);
  }
  if (call_ == Call::data) {
    return fi_writedata(ep, buffer_.data(), buffer_.size(), nullptr, id_.packed(), peer->addr, to,
                        peer->key, context);
  }
  const iovec iov{buffer_.data(), buffer_.size()};
  const fi_rma_iov target{to, buffer_.size(), peer->key};
  fi_msg_rma msg{};
  msg.msg_iov = &iov;
  msg.iov_count = 1;
  msg.addr = peer->addr;
  msg.rma_iov = &target;
  msg.rma_iov_count = 1;
  msg.context = context;
  msg.data = id_.packed();
  return fi_writemsg(ep, &msg, flags_);
}

void Writing::on_accepted() {
  std::copy(buffer_.begin(), buffer_.end(),
            peer->bytes.begin() + static_cast<std::ptrdiff_t>(range_.offset));
  if (call_ == Call::data || (call_ == Call::message && (flags_ & FI_REMOTE_CQ_DATA) != 0)) {
    ++peer->next_seq[kWritten];
  }
  if (call_ == Call::message && (flags_ & FI_INJECT) != 0) {
    std::fill(buffer_.begin(), buffer_.end(), uint8_t{0xee});
  }
}

std::unique_ptr<Operation> Writing::finish(std::string&) {
  std::fill(buffer_.begin(), buffer_.end(), uint8_t{0xee});
  if (is_settled_) {
    range_.lock(*peer, false);
    return nullptr;
  }
  return Reading::after_write(peer, range_);
}

std::string Writing::text() const {
  static const char* const kCalls[] = {"write", "writedata", "writemsg"};
  return std::string(kCalls[static_cast<int>(call_)]) + " of " + std::to_string(range_.bytes) +
         " octets to " + peer->text() + " at " + std::to_string(range_.offset);
}

std::unique_ptr<Operation> Reading::make(const Options& options, Node& node, const PeerRef& peer,
                                         Rng& rng) {
  std::unique_ptr<Reading> reading(new Reading(peer));
  if (!Range::choose(*peer, options.bytes_max, rng, reading->range_)) return nullptr;
  reading->buffer_.resize(reading->range_.bytes, 0xdd);
  reading->by_message_ = rng.one_in(2);
  if (node.offers(FI_FENCE) && rng.one_in(16)) reading->flags_ = FI_FENCE;
  return reading;
}

std::unique_ptr<Operation> Reading::whole_area(const PeerRef& peer) {
  std::unique_ptr<Reading> reading(new Reading(peer));
  reading->range_ = Range::whole(*peer);
  reading->buffer_.resize(reading->range_.bytes, 0xdd);
  return reading;
}

std::unique_ptr<Operation> Reading::learning(const PeerRef& peer) {
  std::unique_ptr<Reading> reading(new Reading(peer));
  reading->range_ = Range::whole(*peer);
  reading->buffer_.resize(reading->range_.bytes + sizeof peer->counters);
  reading->learns_ = true;
  return reading;
}

std::unique_ptr<Operation> Reading::after_write(const PeerRef& peer, const Range& range) {
  std::unique_ptr<Reading> reading(new Reading(peer));
  reading->range_ = range;
  reading->buffer_.resize(range.bytes, 0xdd);
  reading->by_message_ = true;
  reading->flags_ = FI_FENCE;
  return reading;
}

ssize_t Reading::post(fid_ep* ep) {
  void* const context = static_cast<Pending*>(this);
  const uint64_t from = remote(*peer, range_.offset);
  if (!by_message_) {
    return fi_read(ep, buffer_.data(), buffer_.size(), nullptr, peer->addr, from, peer->key,
                   context);
  }
  const iovec iov{buffer_.data(), buffer_.size()};
  const fi_rma_iov target{from, buffer_.size(), peer->key};
  fi_msg_rma msg{};
  msg.msg_iov = &iov;
  msg.iov_count = 1;
  msg.addr = peer->addr;
  msg.rma_iov = &target;
  msg.rma_iov_count = 1;
  msg.context = context;
  return fi_readmsg(ep, &msg, FI_COMPLETION | flags_);
}

std::unique_ptr<Operation> Reading::finish(std::string& defect) {
  if (learns_) {
    std::memcpy(peer->bytes.data(), buffer_.data(), range_.bytes);
    std::memcpy(peer->counters, buffer_.data() + range_.bytes, sizeof peer->counters);
    peer->is_learnt = true;
    range_.lock(*peer, false);
    return nullptr;
  }
  const auto known = peer->bytes.begin() + static_cast<std::ptrdiff_t>(range_.offset);
  const auto wrong = std::mismatch(buffer_.begin(), buffer_.end(), known);
  if (wrong.first != buffer_.end()) {
    defect = "the octet at " + std::to_string(wrong.first - buffer_.begin()) + " is " +
             std::to_string(*wrong.first) + ", not " + std::to_string(*wrong.second);
  }
  range_.lock(*peer, false);
  return nullptr;
}

std::string Reading::text() const {
  return "read of " + std::to_string(range_.bytes) + " octets from " + peer->text() + " at " +
         std::to_string(range_.offset) + ((flags_ & FI_FENCE) != 0 ? " after a fence" : "");
}

std::unique_ptr<Operation> Adding::make(Node& node, const PeerRef& peer, Rng& rng) {
  const size_t index = rng.below(kCounters);
  if (peer->counter_is_busy[index]) return nullptr;
  std::unique_ptr<Adding> adding(new Adding(peer));
  peer->counter_is_busy[index] = true;
  adding->index_ = index;
  adding->call_ = static_cast<Call>(rng.below(node.offers(FI_FENCE) ? 4 : 3));
  adding->operand_ = rng.next();
  adding->compare_ = peer->counters[index];
  if (adding->call_ == Call::swap && rng.one_in(2)) ++adding->compare_;  // does not match
  return adding;
}

ssize_t Adding::post(fid_ep* ep) {
  void* const context = static_cast<Pending*>(this);
  const uint64_t to = remote(*peer, peer->bytes.size() + index_ * sizeof(uint64_t));
  if (call_ == Call::add) {
    return fi_atomic(ep, &operand_, 1, nullptr, peer->addr, to, peer->key, FI_UINT64, FI_SUM,
                     context);
  }
  if (call_ == Call::fetch) {
    return fi_fetch_atomic(ep, &operand_, 1, nullptr, &old_, nullptr, peer->addr, to, peer->key,
                           FI_UINT64, FI_SUM, context);
  }
  if (call_ == Call::swap) {
    return fi_compare_atomic(ep, &operand_, 1, nullptr, &compare_, nullptr, &old_, nullptr,
                             peer->addr, to, peer->key, FI_UINT64, FI_CSWAP, context);
  }
  fi_ioc result{&old_, 1};
  fi_rma_ioc target{to, 1, peer->key};
  fi_msg_atomic msg{};
  msg.addr = peer->addr;
  msg.rma_iov = &target;
  msg.rma_iov_count = 1;
  msg.datatype = FI_UINT64;
  msg.op = FI_ATOMIC_READ;
  msg.context = context;
  const uint64_t flags = FI_COMPLETION | (peer->node.offers(FI_FENCE) ? FI_FENCE : 0);
  return fi_fetch_atomicmsg(ep, &msg, &result, nullptr, 1, flags);
}

std::unique_ptr<Operation> Adding::finish(std::string& defect) {
  uint64_t& known = peer->counters[index_];
  if (call_ != Call::add && old_ != known) {
    defect = "the counter was " + std::to_string(old_) + ", not " + std::to_string(known);
  }
  if (call_ == Call::add || call_ == Call::fetch) known += operand_;
  if (call_ == Call::swap && compare_ == known) known = operand_;
  std::unique_ptr<Adding> next;
  if (call_ == Call::add) {  // settled by a read after a fence
    next.reset(new Adding(peer));
    next->index_ = index_;
    next->call_ = Call::read;
  } else {
    peer->counter_is_busy[index_] = false;
  }
  return next;
}

std::string Adding::text() const {
  static const char* const kCalls[] = {"fetching add", "compare and swap", "atomic read", "add"};
  return std::string(kCalls[static_cast<int>(call_)]) + " on counter " + std::to_string(index_) +
         " of " + peer->text();
}

}  // namespace uet::stress
