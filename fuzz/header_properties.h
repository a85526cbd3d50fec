// The properties that hold for every header codec, whatever the octets.
#pragma once

#include "wire/reader.h"
#include "wire/writer.h"

#include "base/assert.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::fuzz {

inline std::span<const std::byte> octets_of(const uint8_t* octets, size_t size) {
  return std::as_bytes(std::span(octets, size));
}

// Parses a header off the octets. A refused header consumes nothing or all of itself; an accepted
// one emits as many octets as it consumed, and those parse to the same header and emit to the same
// octets again: only reserved bits may differ from the input.
template <class Header>
void check_header(std::span<const std::byte> octets) {
  wire::Reader r(octets);
  const auto parsed = Header::parse(r);
  UET_ASSERT(r.position() <= octets.size());
  if (!parsed.ok()) return;
  std::byte first[64];
  wire::Writer w(first);
  parsed->emit(w);
  UET_ASSERT(w.position() == r.position());

  wire::Reader again(w.written());
  const auto reparsed = Header::parse(again);
  UET_ASSERT(reparsed.ok());
  UET_ASSERT(*reparsed == *parsed);
  UET_ASSERT(again.remaining() == 0);
  std::byte second[64];
  wire::Writer w2(second);
  reparsed->emit(w2);
  UET_ASSERT(std::ranges::equal(w.written(), w2.written()));
}

}  // namespace uet::fuzz
