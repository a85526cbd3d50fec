// Instants and durations: 64-bit nanoseconds on a monotonic scale whose zero means nothing.
// There is no clock here: each call into the stack passes the present time.
#pragma once

#include <compare>
#include <cstdint>

namespace uet {

class Duration {
 public:
  constexpr Duration() = default;
  static constexpr Duration nanoseconds(int64_t n) { return Duration(n); }
  static constexpr Duration microseconds(int64_t n) { return Duration(n * 1'000); }
  static constexpr Duration milliseconds(int64_t n) { return Duration(n * 1'000'000); }
  static constexpr Duration seconds(int64_t n) { return Duration(n * 1'000'000'000); }
  static constexpr Duration zero() { return Duration(0); }
  // Longer than any wait; adding it to an instant gives Instant::never().
  static constexpr Duration infinite() { return Duration(INT64_MAX); }

  constexpr int64_t ns() const { return ns_; }
  constexpr int64_t us() const { return ns_ / 1'000; }
  constexpr int64_t ms() const { return ns_ / 1'000'000; }

  constexpr auto operator<=>(const Duration&) const = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return Duration(a.ns_ + b.ns_); }
  friend constexpr Duration operator-(Duration a, Duration b) { return Duration(a.ns_ - b.ns_); }
  friend constexpr Duration operator*(Duration a, int64_t k) { return Duration(a.ns_ * k); }
  friend constexpr Duration operator/(Duration a, int64_t k) { return Duration(a.ns_ / k); }

 private:
  constexpr explicit Duration(int64_t n) : ns_(n) {}
  int64_t ns_ = 0;
};

class Instant {
 public:
  constexpr Instant() = default;
  static constexpr Instant from_ns(int64_t n) { return Instant(n); }
  static constexpr Instant zero() { return Instant(0); }
  static constexpr Instant never() { return Instant(INT64_MAX); }

  constexpr int64_t ns() const { return ns_; }
  constexpr bool is_never() const { return ns_ == INT64_MAX; }

  constexpr auto operator<=>(const Instant&) const = default;
  friend constexpr Duration operator-(Instant a, Instant b) {
    return Duration::nanoseconds(a.ns_ - b.ns_);
  }
  // Saturates at never().
  friend constexpr Instant operator+(Instant a, Duration d) {
    if (a.is_never() || d == Duration::infinite()) return never();
    if (a.ns_ > 0 && d.ns() > INT64_MAX - a.ns_) return never();
    return Instant(a.ns_ + d.ns());
  }
  friend constexpr Instant operator-(Instant a, Duration d) { return Instant(a.ns_ - d.ns()); }

 private:
  constexpr explicit Instant(int64_t n) : ns_(n) {}
  int64_t ns_ = 0;
};

inline namespace literals {
constexpr Duration operator""_ns(unsigned long long n) { return Duration::nanoseconds(int64_t(n)); }
constexpr Duration operator""_us(unsigned long long n) {
  return Duration::microseconds(int64_t(n));
}
constexpr Duration operator""_ms(unsigned long long n) {
  return Duration::milliseconds(int64_t(n));
}
constexpr Duration operator""_s(unsigned long long n) { return Duration::seconds(int64_t(n)); }
}  // namespace literals

}  // namespace uet
