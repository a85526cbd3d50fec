// Opens secured packets in place, in the order of checks of the reference: cheap ones first, and
// nothing but counters changes before a packet is authentic. A packet that is refused gets no
// answer. [TSS-083..091, TSS-108, TSS-140]
#pragma once

#include "tss/domains.h"
#include "tss/route.h"

#include <optional>
#include <span>

namespace uet::tss {

// The verified sender of a packet; upper layers may base decisions on it. [TSS-079]
struct Verified {
  uint32_t sdi = 0;
  bool an = false;
  uint64_t tsc = 0;
  Identity source;  // in mode server at a client: the client itself, when it has an SSI
  uint16_t epoch() const { return static_cast<uint16_t>(tsc >> 48); }
};

struct Opened {
  std::span<std::byte> content;  // from the PDS header on, within the packet
  Verified by;
};

class Opener {
 public:
  explicit Opener(Domains& domains) : domains_(domains) {}

  // Whether the first octet after UDP or the entropy header begins a secured packet. The policy
  // decides about all others. [TSS-003, TSS-084]
  static bool is_secured(std::span<const std::byte> packet);

  // `packet` is security header to ICV; `route` is that of the packet, as received. A refused
  // packet is counted and contains no plaintext.
  Result<Opened, Refusal> unseal(std::span<std::byte> packet, const Route& route, Instant now);

  // The first octets of a trimmed packet, whose ICV is gone: decrypts into `out` as many as there
  // are and fit. `out` may be the beginning of the packet. They are not verified. Needs a ready
  // key. Empty: nothing could be read, and nothing was counted. [TSS-081]
  std::span<std::byte> peek_trimmed(std::span<const std::byte> packet, const Route& route,
                                    std::span<std::byte> out, Instant now);

 private:
  struct Arrived;

  // Everything before the cipher.
  std::optional<Refusal> check(Arrived& in, Instant now);
  std::optional<Refusal> decrypt(Arrived& in, Instant now);
  std::optional<Refusal> note(const Arrived& in);
  bool is_late(const Arrived& in);

  Domains& domains_;
  ReadyKey* last_ = nullptr;
};

}  // namespace uet::tss
