// Free lists, the heap of events and sorted tables.
#include "io/simnet/parts.h"

#include <algorithm>
#include <cstring>

namespace uet::io::simnet {
namespace {

// Reads as a heap of the earliest: a runs after b.
bool later(const Event& a, const Event& b) {
  return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.order > b.order;
}

template <class All>
auto place_of(All& paths, uint64_t key) {
  return std::lower_bound(paths.begin(), paths.end(), key,
                          [](const Path& p, uint64_t k) { return p.key < k; });
}

uint64_t key_of(uint32_t from, uint32_t to) { return uint64_t{from} << 32 | to; }

}  // namespace

// Nothing is cleared: a slot costs memory only once it was used. Behind the last slot there may be
// octets of its packet that are not carried.
Packets::Packets(uint32_t count, uint32_t carried_bytes, uint32_t datagram_bytes)
    : carried_bytes_(carried_bytes),
      count_(count),
      memory_(new std::byte[uint64_t{count} * carried_bytes + datagram_bytes]) {
  packets_.reserve(count);
}

uint32_t Packets::allocate() {
  const uint32_t index = free_head_;
  if (index != kNone) {
    free_head_ = packets_[index].next;
    return index;
  }
  if (packets_.size() == count_) return kNone;
  packets_.emplace_back();
  return static_cast<uint32_t>(packets_.size() - 1);
}

void Packets::release(uint32_t index) {
  packets_[index].next = free_head_;
  free_head_ = index;
}

uint32_t Packets::copy(uint32_t index) {
  const uint32_t copy = allocate();
  if (copy == kNone) return kNone;
  packets_[copy] = packets_[index];
  std::memcpy(octets(copy), octets(index), std::min(packets_[index].bytes, carried_bytes_));
  return copy;
}

void Events::add(int64_t at_ns, Event::Kind kind, uint32_t subject) {
  const Event event{at_ns, made_++, subject, kind};
  const uint32_t count = back_ - front_;
  if (count == 0 || (count < kQueued && queued(back_ - 1).at_ns <= at_ns)) {
    queue_[back_++ & (kQueued - 1)] = event;
    return;
  }
  heap_.push_back(event);
  std::push_heap(heap_.begin(), heap_.end(), later);
}

const Event* Events::first_event() const {
  if (heap_.empty()) return front_ == back_ ? nullptr : &queued(front_);
  const Event* const first = &heap_.front();
  return front_ == back_ || later(queued(front_), *first) ? first : &queued(front_);
}

Event Events::take() {
  if (heap_.empty() || first_event() != &heap_.front()) return queued(front_++);
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const Event event = heap_.back();
  heap_.pop_back();
  return event;
}

Directory::Directory() {
  constexpr Room kRoom{16, HashMap<Key, uint32_t>::kCapacityMax};
  UET_ASSERT(ports_.create(arena_, kRoom, /*seed=*/1).ok());
}

void Directory::add(const FabricAddress& address, uint32_t port) {
  UET_ASSERT(ports_.insert({address}, port).ok());
}

const Path* Paths::search(uint32_t from, uint32_t to) const {
  const auto at = place_of(paths_, key_of(from, to));
  return at != paths_.end() && at->key == key_of(from, to) ? &*at : nullptr;
}

Path& Paths::at(uint32_t from, uint32_t to) {
  const uint64_t key = key_of(from, to);
  const auto at = place_of(paths_, key);
  if (at != paths_.end() && at->key == key) return *at;
  return *paths_.insert(at, Path{key, FaultPlan{}, false, false});
}

void Touched::add_port() {
  std::rotate(ring_.begin(), ring_.begin() + head_, ring_.end());
  head_ = 0;
  ring_.push_back(kNone);
  is_in_.push_back(false);
}

void Touched::add(uint32_t port) {
  if (is_in_[port]) return;
  is_in_[port] = true;
  ring_[(head_ + count_) % ring_.size()] = port;
  ++count_;
}

uint32_t Touched::take() {
  if (count_ == 0) return kNone;
  const uint32_t port = ring_[head_];
  --count_;
  head_ = count_ == 0 ? 0 : (head_ + 1) % static_cast<uint32_t>(ring_.size());
  is_in_[port] = false;
  return port;
}

}  // namespace uet::io::simnet
