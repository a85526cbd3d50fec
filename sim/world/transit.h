// What has left and not arrived, in the order of arrival. A test may read, lose, repeat or change
// any of it.
#pragma once

#include "base/assert.h"
#include "base/time.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>

namespace uet::sim {

// In the order of arrival; simultaneous arrivals are in the order in which they left. The first and
// the last are reached in constant time, the others in time linear in their place.
template <class Item>
class Transit {
 public:
  void add(Item item, Instant arrives) {
    const auto at = std::upper_bound(arrivals_.begin(), arrivals_.end(), arrives);
    items_.insert(items_.begin() + (at - arrivals_.begin()), std::move(item));
    arrivals_.insert(at, arrives);
  }
  // Arrives together with the last one: datagrams added only this way are in the order in which
  // they left.
  void add(Item item) {
    arrivals_.push_back(arrivals_.empty() ? Instant() : arrivals_.back());
    items_.push_back(std::move(item));
  }
  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }
  // 0 is what arrives first. Requires index < size().
  Item& operator[](size_t index) {
    UET_ASSERT(index < size());
    return items_[index];
  }
  Item& back() { return items_.back(); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  Item take(size_t index = 0) {
    UET_ASSERT(index < size());
    Item item = std::move(items_[index]);
    const auto offset = static_cast<std::ptrdiff_t>(index);
    items_.erase(items_.begin() + offset);
    arrivals_.erase(arrivals_.begin() + offset);
    return item;
  }
  void clear() {
    items_.clear();
    arrivals_.clear();
  }
  // When the first arrives; never() when nothing is in flight.
  Instant next() const { return empty() ? Instant::never() : arrivals_.front(); }

 private:
  std::deque<Item> items_;
  std::deque<Instant> arrivals_;  // of each of them
};

}  // namespace uet::sim
