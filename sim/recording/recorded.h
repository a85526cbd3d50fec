// The frame of a recorded call: its record, the call, and the record of what it returns. Private to
// endpoint*.cpp.
#pragma once

#include "sim/recording/endpoint.h"

#include <type_traits>

namespace uet::recording {

inline uint64_t value_of(ses::Taken taken) { return static_cast<uint64_t>(taken); }
inline uint64_t value_of(uint64_t value) { return value; }
template <class Tag, class U>
uint64_t value_of(Id<Tag, U> id) {
  return id.value();
}

template <class T>
void Endpoint::returned(const Result<T>& result) {
  Returned out;
  if (!result.ok()) {
    out.error = static_cast<uint32_t>(result.error()) + 1;
  } else if constexpr (!std::is_void_v<T>) {
    out.value = value_of(*result);
  }
  write(Kind::returned, out);
}

template <class Body, class Call>
auto Endpoint::recorded(Kind kind, const Body& body, Call call) {
  write(kind, body);
  auto result = call();
  returned(result);
  return result;
}

}  // namespace uet::recording
