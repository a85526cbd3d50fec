// The encoding of a recording's numbers, texts and octets. A record has one function
// fields(archive), for writing and reading. The reader checks everything: wrong input makes it
// fail, and a failed reader gives zeros.
#pragma once

#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace uet::recording {

using Octets = std::vector<std::byte>;

// FNV-1a over 64 bits.
inline constexpr uint64_t kDigestStart = 0xcbf29ce484222325;
inline uint64_t digest(std::span<const std::byte> octets, uint64_t start = kDigestStart) {
  for (const std::byte b : octets) start = (start ^ static_cast<uint8_t>(b)) * 0x100000001b3;
  return start;
}

class Encoder {
 public:
  // Seven bits an octet, the lowest first.
  template <class T>
  void number(const T& value, uint64_t = 0) {
    auto rest = static_cast<uint64_t>(value);
    for (; rest >= 0x80; rest >>= 7) put(static_cast<uint8_t>(rest | 0x80));
    put(static_cast<uint8_t>(rest));
  }
  // Eight octets, the lowest first: for values that are seldom small.
  void word(const uint64_t& value) {
    for (unsigned shift = 0; shift < 64; shift += 8) put(static_cast<uint8_t>(value >> shift));
  }
  void flag(const bool& value) { put(value ? 1 : 0); }
  template <class T>
  void id(const T& value) {
    number(value.value());
  }
  void time(const Instant& value) { number(value.ns()); }
  void octets(const Octets& value) { bytes(value.data(), value.size()); }
  void text(const std::string& value) { bytes(value.data(), value.size()); }
  template <class T, class Fn>
  void list(std::vector<T>& values, Fn each) {
    number(values.size());
    for (T& value : values) each(value);
  }

  const Octets& written() const { return written_; }
  void clear() { written_.clear(); }

 private:
  void put(uint8_t octet) { written_.push_back(std::byte{octet}); }
  void bytes(const void* data, size_t length) {
    number(length);
    const auto* const from = static_cast<const std::byte*>(data);
    written_.insert(written_.end(), from, from + length);
  }

  Octets written_;
};

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> octets) : octets_(octets) {}

  // Fails when the number is above `max`, or does not fit its type.
  template <class T>
  void number(T& value, uint64_t max = largest<T>()) {
    const uint64_t read = varint();
    if (read > max) failed_ = true;
    value = static_cast<T>(failed_ ? 0 : read);
  }
  void word(uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 8) value |= uint64_t{octet()} << shift;
  }
  void flag(bool& value) {
    const uint8_t read = octet();
    if (read > 1) failed_ = true;
    value = read == 1;
  }
  template <class T>
  void id(T& value) {
    decltype(value.value()) read{};
    number(read);
    value = T(read);
  }
  void time(Instant& value) {
    int64_t ns = 0;
    number(ns);
    value = Instant::from_ns(ns);
  }
  void octets(Octets& value) {
    const std::span<const std::byte> read = bytes();
    value.assign(read.begin(), read.end());
  }
  void text(std::string& value) {
    const std::span<const std::byte> read = bytes();
    value.assign(reinterpret_cast<const char*>(read.data()), read.size());
  }
  // Each value takes an octet at least, so the octets left limit their number.
  template <class T, class Fn>
  void list(std::vector<T>& values, Fn each) {
    uint64_t count = 0;
    number(count, octets_.size());
    values.clear();
    for (uint64_t i = 0; i < count && !failed_; ++i) each(values.emplace_back());
  }

  bool is_at_end() const { return octets_.empty(); }
  // Everything so far was there and in range.
  bool ok() const { return !failed_; }
  size_t left() const { return octets_.size(); }
  std::span<const std::byte> bytes() {
    uint64_t length = 0;
    number(length);
    if (length > octets_.size()) failed_ = true;  // of the octets after the length
    const std::span<const std::byte> read = octets_.first(failed_ ? 0 : length);
    octets_ = octets_.subspan(read.size());
    return read;
  }
  uint8_t octet() {
    if (octets_.empty()) failed_ = true;
    if (failed_) return 0;
    const auto read = static_cast<uint8_t>(octets_.front());
    octets_ = octets_.subspan(1);
    return read;
  }

 private:
  template <class T>
  static constexpr uint64_t largest() {
    if constexpr (std::is_enum_v<T>) {
      return static_cast<uint64_t>(std::numeric_limits<std::underlying_type_t<T>>::max());
    } else {
      return static_cast<uint64_t>(std::numeric_limits<T>::max());
    }
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint8_t read = octet();
      const uint64_t bits = read & 0x7F;
      if (shift == 63 && bits > 1) failed_ = true;
      value |= bits << shift;
      if (read < 0x80) return value;
    }
    failed_ = true;
    return 0;
  }

  std::span<const std::byte> octets_;
  bool failed_ = false;
};

// The octets of a record.
template <class Record>
Octets encoded(Record record) {
  Encoder out;
  record.fields(out);
  return out.written();
}

// Reads a record; false: it has not exactly these fields.
template <class Record>
bool decode(std::span<const std::byte> octets, Record& record) {
  Decoder in(octets);
  record.fields(in);
  return in.ok() && in.is_at_end();
}

}  // namespace uet::recording
