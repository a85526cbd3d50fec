// Numbers in order, most of which are taken from the front.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace uet::sim {

// Numbers are not 0, and each is in it once.
class DueList {
 public:
  bool empty() const { return front_ == numbers_.size(); }

  // To be followed by sort_added(), before anything else is asked for.
  void add(uint32_t number) { numbers_.push_back(number); }
  // Cost: O(log n) for each number added since the last time, and a walk over all that are above
  // the least of them.
  void sort_added() {
    const auto first = begin();
    const auto added = first + static_cast<ptrdiff_t>(sorted_ - front_);
    sorted_ = numbers_.size();
    if (added == numbers_.end()) return;
    std::sort(added, numbers_.end());
    if (added != first && *(added - 1) >= *added) {
      std::inplace_merge(first, added, numbers_.end());
      numbers_.erase(std::unique(first, numbers_.end()), numbers_.end());
      sorted_ = numbers_.size();
    }
  }

  // The least number above `above`; 0: none.
  uint32_t first_above(uint32_t above) const {
    if (empty()) return 0;
    const uint32_t least = numbers_[front_];
    if (least > above) return least;
    const auto found = std::upper_bound(begin(), numbers_.end(), above);
    return found == numbers_.end() ? 0 : *found;
  }

  // Nothing happens if it is not in it.
  void erase(uint32_t number) {
    const auto found = std::lower_bound(begin(), numbers_.end(), number);
    if (found == numbers_.end() || *found != number) return;
    if (found == begin()) {
      ++front_;
    } else {
      numbers_.erase(found);
    }
    if (empty()) {
      numbers_.clear();
      front_ = 0;
    }
    sorted_ = numbers_.size();
  }

 private:
  std::vector<uint32_t>::iterator begin() {
    return numbers_.begin() + static_cast<ptrdiff_t>(front_);
  }
  std::vector<uint32_t>::const_iterator begin() const {
    return numbers_.begin() + static_cast<ptrdiff_t>(front_);
  }

  std::vector<uint32_t> numbers_;
  size_t front_ = 0;   // those before it were erased
  size_t sorted_ = 0;  // those before it are in order
};

}  // namespace uet::sim
