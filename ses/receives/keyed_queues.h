// FIFO queues by match key in one hash table with links inside the elements: append, front and
// removal are O(1) however many elements share a key. The table begins small and grows up to a
// bound, each time that more elements are in it than ever before.
#pragma once

#include "base/arena.h"
#include "base/assert.h"
#include "base/hash.h"
#include "base/result.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>

namespace uet::ses {

// The fields of exact matching: a tag (0 for untagged messages) and a source, or any source.
struct MatchKey {
  static constexpr uint32_t kAnyPeer = ~uint32_t{0};

  uint64_t tag = 0;
  uint32_t peer = kAnyPeer;
  uint32_t initiator = 0;  // 0 with kAnyPeer

  bool operator==(const MatchKey&) const = default;
};

inline uint64_t hash_of(const MatchKey& key, uint64_t seed) {
  return hash64(key.tag, uint64_t{key.peer} << 32 | key.initiator, seed);
}

template <class T, class Tag>
class KeyedQueues;

// To be put in a KeyedQueues<T, Tag>, T derives from KeyedNode<Tag>.
template <class Tag>
class KeyedNode {
 public:
  KeyedNode() = default;
  KeyedNode(const KeyedNode&) = delete;
  KeyedNode& operator=(const KeyedNode&) = delete;
  bool is_queued() const { return last_ != nullptr || prev_ != nullptr; }

 private:
  template <class T, class QueueTag>
  friend class KeyedQueues;

  MatchKey key_;
  KeyedNode* prev_ = nullptr;   // of the same key; null in the first
  KeyedNode* next_ = nullptr;   // of the same key
  KeyedNode* last_ = nullptr;   // in the first element of a key: the last of it
  KeyedNode* chain_ = nullptr;  // in the first of a key: the first of the next key in the bucket
};

template <class T, class Tag>
class KeyedQueues {
  using Node = KeyedNode<Tag>;

 public:
  // Once. The arena must outlive this object.
  Result<void> create(Arena& arena, uint64_t seed) {
    arena_ = &arena;
    seed_ = seed;
    buckets_ = arena.make_span<Node*>(kFirstBuckets);
    if (buckets_.empty()) return Errc::no_memory;
    return {};
  }
  // Sizes the table for `elements` elements; more are allowed. Memory taken earlier is kept.
  void expect(uint32_t elements) {
    buckets_max_ = std::bit_ceil(elements);
    full_size_ = static_cast<uint32_t>(buckets_.size());
  }

  void push_back(T& element, const MatchKey& key) {
    Node& node = element;
    UET_ASSERT(!node.is_queued());
    node.key_ = key;
    ++size_;
    Node*& bucket = bucket_of(key);
    if (Node* first = find(bucket, key)) {
      node.prev_ = first->last_;
      first->last_->next_ = &node;
      first->last_ = &node;
    } else {
      node.last_ = &node;
      node.chain_ = bucket;
      bucket = &node;
    }
    if (size_ > full_size_) grow();  // last, so that nothing is kept across the call
  }

  // The oldest element of that key, or null.
  T* front(const MatchKey& key) const {
    return size_ == 0 ? nullptr : static_cast<T*>(find(bucket_of(key), key));
  }

  void erase(T& element) {
    Node& node = element;
    UET_ASSERT(node.is_queued());
    --size_;
    if (node.prev_ != nullptr) {
      node.prev_->next_ = node.next_;
      if (node.next_ != nullptr) {
        node.next_->prev_ = node.prev_;
      } else {
        find(bucket_of(node.key_), node.key_)->last_ = node.prev_;
      }
    } else {
      erase_first(node);
    }
    node.prev_ = node.next_ = node.last_ = node.chain_ = nullptr;
  }

  uint32_t size() const { return size_; }

 private:
  Node*& bucket_of(const MatchKey& key) const {
    return buckets_[hash_of(key, seed_) & (buckets_.size() - 1)];
  }
  static Node* find(Node* first, const MatchKey& key) {
    while (first != nullptr && !(first->key_ == key)) first = first->chain_;
    return first;
  }
  // The second of the key, if any, takes the place of the first in the bucket's chain.
  void erase_first(Node& node) {
    Node** link = &bucket_of(node.key_);
    while (*link != &node) link = &(*link)->chain_;
    if (node.next_ == nullptr) {
      *link = node.chain_;
      return;
    }
    *link = node.next_;
    node.next_->prev_ = nullptr;
    node.next_->last_ = node.last_;
    node.next_->chain_ = node.chain_;
  }

  static constexpr uint32_t kFirstBuckets = 16;

  // Four times as many buckets. Without memory for them the chains get longer.
  [[gnu::noinline]] void grow() {
    full_size_ = UINT32_MAX;
    const auto count = static_cast<uint32_t>(buckets_.size());
    if (count >= buckets_max_) return;
    const std::span<Node*> more = arena_->make_span<Node*>(std::min(4 * count, buckets_max_));
    if (more.empty()) return;
    const std::span<Node*> old = std::exchange(buckets_, more);
    for (Node* first : old) {
      while (first != nullptr) {
        Node*& bucket = bucket_of(first->key_);
        Node* const next = std::exchange(first->chain_, bucket);
        bucket = std::exchange(first, next);
      }
    }
    full_size_ = static_cast<uint32_t>(more.size());
  }

  std::span<Node*> buckets_;
  uint32_t size_ = 0;
  uint32_t full_size_ = 0;  // more elements ask for more buckets
  uint64_t seed_ = 0;
  uint32_t buckets_max_ = kFirstBuckets;
  Arena* arena_ = nullptr;
};

}  // namespace uet::ses
