// What has left and not arrived. The only owner of what is in flight in a World; a test may look at
// it, and lose, repeat or change what it likes.
#pragma once

#include "base/assert.h"
#include "base/time.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>

namespace uet::sim {

// In the order of arrival; what arrives at one instant is in the order in which it left. The first
// and the last are reached in constant time, the others in time linear in their place.
template <class Item>
class Transit {
 public:
  void add(Item item, Instant arrives) {
    const auto place = std::upper_bound(flights_.begin(), flights_.end(), arrives, is_before);
    flights_.insert(place, Flight{arrives, std::move(item)});
  }
  bool empty() const { return flights_.empty(); }
  size_t size() const { return flights_.size(); }
  // 0 is what arrives first. Requires index < size().
  Item& operator[](size_t index) { return flights_[index].item; }
  const Item& operator[](size_t index) const { return flights_[index].item; }
  Item take(size_t index = 0) {
    UET_ASSERT(index < size());
    Item item = std::move(flights_[index].item);
    flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(index));
    return item;
  }
  void clear() { flights_.clear(); }
  // When the first arrives; never() when nothing is in flight.
  Instant next() const { return empty() ? Instant::never() : flights_.front().arrives; }

 private:
  struct Flight {
    Instant arrives;
    Item item;
  };
  static bool is_before(Instant arrives, const Flight& flight) { return arrives < flight.arrives; }

  std::deque<Flight> flights_;
};

}  // namespace uet::sim
