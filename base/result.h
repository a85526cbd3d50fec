// The value-or-error type of the whole stack, and the error words that layers share.
// Nothing here allocates or throws; every Result must be looked at.
#pragma once

#include "base/assert.h"

#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace uet {

// Errors of calls that the local user of a layer makes. Errors found in packets have separate enums
// (wire::ParseError, pds::DropReason), because each of those is counted.
enum class Errc : uint8_t {
  again,        // no room now; nothing was changed; try again after progress
  invalid,      // the caller's arguments contradict the documented contract
  too_long,     // longer than the endpoint's limit
  not_found,    // handle, key or address names nothing
  exists,       // that name is taken
  no_memory,    // a set-up allocation failed
  unsupported,  // a legal request that this build or configuration does not offer
  no_key,       // the secure domain for it is closing or has no key
  permission,   // not allowed by a policy or by the system
  closed,       // the object is shutting down
  io,           // a system call failed; the errno is kept where the call was made
};

// The word for an Errc, for logs. Never null.
const char* name(Errc e);

// Chooses the constructor of Result that builds the value where it stays.
struct InPlace {};

// A T, or the reason why it is missing. E must be a cheap enum or value.
template <class T, class E = Errc>
class [[nodiscard]] Result {
 public:
  using Value = T;
  using Error = E;

  Result(T value) : value_(std::move(value)), ok_(true) {}
  // Takes what make() returns without copying it; for values that are large for the packet path.
  template <class Make>
  Result(InPlace, Make&& make) : value_(make()), ok_(true) {}
  Result(E error) : error_(error), ok_(false) {}
  Result(const Result& o) : ok_(o.ok_) {
    if (ok_)
      new (&value_) T(o.value_);
    else
      error_ = o.error_;
  }
  Result(Result&& o) noexcept : ok_(o.ok_) {
    if (ok_)
      new (&value_) T(std::move(o.value_));
    else
      error_ = o.error_;
  }
  Result& operator=(const Result&) = delete;
  ~Result() {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      if (ok_) value_.~T();
    }
  }

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }

  // The value; asserts that the result holds one.
  T& operator*() {
    UET_ASSERT(ok_);
    return value_;
  }
  const T& operator*() const {
    UET_ASSERT(ok_);
    return value_;
  }
  T* operator->() {
    UET_ASSERT(ok_);
    return &value_;
  }
  const T* operator->() const {
    UET_ASSERT(ok_);
    return &value_;
  }
  T value_or(T other) const { return ok_ ? value_ : other; }

  // The error; asserts that the result holds one.
  E error() const {
    UET_ASSERT(!ok_);
    return error_;
  }

 private:
  union {
    T value_;
    E error_;
  };
  bool ok_;
};

// Success without a value, or an error.
template <class E>
class [[nodiscard]] Result<void, E> {
 public:
  using Value = void;
  using Error = E;

  Result() : error_{}, ok_(true) {}
  Result(E error) : error_(error), ok_(false) {}
  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  E error() const {
    UET_ASSERT(!ok_);
    return error_;
  }

 private:
  E error_;
  bool ok_;
};

}  // namespace uet

// Takes the value out of a Result, or returns its error from the enclosing function.
#define UET_TRY(expr)                                        \
  __extension__({                                            \
    auto uet_try_result = (expr);                            \
    if (!uet_try_result.ok()) return uet_try_result.error(); \
    std::move(*uet_try_result);                              \
  })

// The same for Result<void>.
#define UET_CHECK(expr)                                      \
  do {                                                       \
    auto uet_try_result = (expr);                            \
    if (!uet_try_result.ok()) return uet_try_result.error(); \
  } while (0)
