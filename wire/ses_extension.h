// Extensions between an SES request header and the payload: rendezvous, atomic, compare and swap.
// The opcodes alone decide which of them follows. [WIRE-088]
#pragma once

#include "wire/ses_request.h"

#include <array>
#include <cstring>

namespace uet::wire {

// 0x0D-0x13: two operands in the header instead of one in the payload. We count masked swap among
// them; sources differ. [WIRE-072]
constexpr bool is_compare_swap(AtomicOpcode o) {
  return o >= AtomicOpcode::cswap && o <= AtomicOpcode::mswap;
}

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// |                         eager_length                          |
// | read_ri_gen   | read_pid_on_fep (12)  |read_resource_index(12)|
// |                       read_offset (64)                        |
// |                     read_memory_key (64)                      |
// After a standard header only; on every packet of the message. [WIRE-068, WIRE-069]
struct Rendezvous {
  static constexpr uint32_t kSize = 24;

  uint32_t eager_length = 0;  // octets pushed with the send
  uint8_t read_ri_generation = 0;
  PidOnFep read_pid_on_fep{};           // 12 bits
  ResourceIndex read_resource_index{};  // 12 bits
  uint64_t read_offset = 0;
  uint64_t read_memory_key = 0;

  // Reads without judging; the caller has made sure that the octets are there.
  static Rendezvous read(Reader& r) {
    const std::byte* p = r.take(kSize);
    const uint32_t where = load_u32(p + 4);
    return {load_u32(p),
            bits<uint8_t>(where, 24, 8),
            PidOnFep(bits<uint16_t>(where, 12, 12)),
            ResourceIndex(bits<uint16_t>(where, 0, 12)),
            load_u64(p + 8),
            load_u64(p + 16)};
  }

  // Refuses with truncated.
  static Parsed<Rendezvous> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    return read(r);
  }

  void emit(Writer& w) const {
    std::byte* p = w.take(kSize);
    store_u32(p, eager_length);
    store_u32(p + 4, static_cast<uint32_t>(put(read_ri_generation, 24, 8) |
                                           put(read_pid_on_fep.value(), 12, 12) |
                                           put(read_resource_index.value(), 0, 12)));
    store_u64(p + 8, read_offset);
    store_u64(p + 16, read_memory_key);
  }

  bool operator==(const Rendezvous&) const = default;
};

// | atomic_opcode |atomic_datatype|    sem_ctl    |   reserved    |
// The operands follow as payload. [WIRE-070, WIRE-071]
struct Atomic {
  static constexpr uint32_t kSize = 4;
  static constexpr uint8_t kCacheable = 0x01;    // sem_ctl bit
  static constexpr uint8_t kCpuCoherent = 0x02;  // sem_ctl bit

  AtomicOpcode atomic_opcode = AtomicOpcode::min;
  AtomicDatatype atomic_datatype = AtomicDatatype::int8;
  uint8_t sem_ctl = 0;  // 0x1C reserved, 0xE0 vendor; kept as received

  // The opcode of the extension that comes next; needs one octet. It distinguishes Atomic from
  // CompareSwap.
  static Parsed<AtomicOpcode> peek_opcode(const Reader& r) {
    if (r.remaining() < 1) return ParseError::truncated;
    return static_cast<AtomicOpcode>(load_u8(r.peek(1)));
  }

  // Reads without judging; the caller has made sure that the octets are there.
  static Atomic read(Reader& r) {
    const std::byte* p = r.take(kSize);
    return {static_cast<AtomicOpcode>(load_u8(p)), static_cast<AtomicDatatype>(load_u8(p + 1)),
            load_u8(p + 2)};
  }

  // Refuses with truncated, or with wrong_type where CompareSwap belongs.
  static Parsed<Atomic> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    if (is_compare_swap(*peek_opcode(r))) return ParseError::wrong_type;
    return read(r);
  }

  void emit(Writer& w) const {
    std::byte* p = w.take(kSize);
    store_u8(p, static_cast<uint8_t>(atomic_opcode));
    store_u8(p + 1, static_cast<uint8_t>(atomic_datatype));
    store_u8(p + 2, sem_ctl);
    store_u8(p + 3, 0);
  }

  bool operator==(const Atomic&) const = default;
};

// | atomic_opcode |atomic_datatype|    sem_ctl    |   reserved    |
// |                      compare_value (128)                      |
// |                       swap_value (128)                        |
// A value narrower than 128 bits sits in the last octets, big-endian, the rest zero. The two
// values count as 32 octets of payload. [WIRE-072, WIRE-073]
struct CompareSwap {
  static constexpr uint32_t kSize = 36;
  static constexpr uint32_t kValueBytes = 16;
  static constexpr uint32_t kPayloadBytes = 2 * kValueBytes;

  Atomic atomic{.atomic_opcode = AtomicOpcode::cswap};
  std::array<std::byte, kValueBytes> compare_value{};  // the mask for masked swap
  std::array<std::byte, kValueBytes> swap_value{};

  // Reads without judging; the caller has made sure that the octets are there.
  static CompareSwap read(Reader& r) {
    CompareSwap h;
    h.atomic = Atomic::read(r);
    const std::byte* p = r.take(kPayloadBytes);
    std::memcpy(h.compare_value.data(), p, kValueBytes);
    std::memcpy(h.swap_value.data(), p + kValueBytes, kValueBytes);
    return h;
  }

  // Refuses with truncated, or with wrong_type where Atomic belongs.
  static Parsed<CompareSwap> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    if (!is_compare_swap(*Atomic::peek_opcode(r))) return ParseError::wrong_type;
    return read(r);
  }

  void emit(Writer& w) const {
    UET_ASSERT(is_compare_swap(atomic.atomic_opcode));
    atomic.emit(w);
    w.bytes(compare_value);
    w.bytes(swap_value);
  }

  bool operator==(const CompareSwap&) const = default;
};

}  // namespace uet::wire
