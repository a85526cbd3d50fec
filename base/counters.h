// Event counters indexed by an enum, with names for the tools that show them. Plain 64-bit values:
// they belong to one thread, like everything in the stack.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace uet {

// An enum class whose last enumerator is count_, and whose values have names:
//   enum class Drop : uint8_t { too_short, bad_type, count_ };
//   const char* name(Drop);
template <class E>
concept CounterEnum = requires(E e) {
  E::count_;
  { name(e) } -> std::convertible_to<const char*>;
};

template <class E>
class CounterSet {
 public:
  static constexpr size_t kCount = static_cast<size_t>(E::count_);

  uint64_t operator[](E e) const { return values_[static_cast<size_t>(e)]; }
  void add(E e, uint64_t n = 1) { values_[static_cast<size_t>(e)] += n; }
  void reset() { values_.fill(0); }

  CounterSet& operator+=(const CounterSet& o) {
    for (size_t i = 0; i < kCount; ++i) values_[i] += o.values_[i];
    return *this;
  }
  uint64_t total() const {
    uint64_t sum = 0;
    for (const uint64_t v : values_) sum += v;
    return sum;
  }
  bool operator==(const CounterSet&) const = default;

  // Calls fn(const char* name, uint64_t value) in the order of the enum, zeros included.
  template <class Fn>
  void for_each(Fn&& fn) const {
    static_assert(CounterEnum<E>, "counters need a name(E)");
    for (size_t i = 0; i < kCount; ++i) fn(name(static_cast<E>(i)), values_[i]);
  }

 private:
  std::array<uint64_t, kCount> values_{};
};

}  // namespace uet
