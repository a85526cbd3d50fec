// What secured PDCs must obey, as functions without state: what a PDC is bound to, and where its
// PSNs begin. The start rules that need tables (floors, PENDING, rebase) are in pds/door.
#pragma once

#include "base/packet.h"
#include "base/random_source.h"
#include "base/serial.h"

#include <optional>

namespace uet::tss {

// Fixed when a PDC opens; every later packet must match all of it. AN and epoch may move on.
struct PdcBinding {
  FabricAddress peer;
  FabricAddress local;
  uint32_t sdi = 0;  // 0: not secured
  Pdcid peer_spdcid;

  // A packet that matches not is dropped (in_pdc_binding_fail): a secured one never upgrades a
  // clear PDC, a clear one never enters a secured PDC. [TSS-073, TSS-078, TSS-092]
  bool operator==(const PdcBinding&) const = default;
};

// --- where the PSNs of a secured PDC begin ---

constexpr uint32_t kStartMin = uint32_t{1} << 16;  // [TSS-057]
constexpr uint32_t kStartEnd = uint32_t{1} << 31;  // first value that is not drawn
constexpr uint32_t kStartDistance = uint32_t{1} << 16;
constexpr uint32_t kRunMax = uint32_t{1} << 31;  // [TSS-058]
constexpr uint32_t kRebasesMax = 4;              // [TSS-069]

// Random, and not within 2^16 of the last PSN that was used. [TSS-057]
inline Psn draw_start(RandomSource& randomness, std::optional<Psn> last_used) {
  while (true) {
    const Psn start(kStartMin + static_cast<uint32_t>(randomness.below(kStartEnd - kStartMin)));
    if (!last_used) return start;
    const auto distance = static_cast<uint32_t>(start - *last_used);
    if (distance >= kStartDistance && distance <= 0U - kStartDistance) return start;
  }
}

// A secured PDC closes before PSNs repeat under one key. [TSS-058]
constexpr bool must_close(Psn start, Psn next) { return next.value() - start.value() >= kRunMax; }

// How a target chooses; a choice of each FEP, and both work together. [TSS-064]
enum class StartMethod : uint8_t {
  expected_0rtt,
  random_1rtt
};

struct StartVerdict {
  bool is_accepted = false;
  Psn begin_at;  // where the PDC begins, or what NACK NEW_START_PSN says [TSS-068]
};

// What a target says to the SYN of a PDC that does not exist. `expected`: one above what earlier
// PDCs of this (SDI, AN, source) used; none: nothing is known. [TSS-059, TSS-060, TSS-067]
inline StartVerdict judge_start(StartMethod method, Psn offered, std::optional<Psn> expected,
                                RandomSource& randomness) {
  if (method == StartMethod::random_1rtt) return {false, Psn(randomness.u32())};
  if (!expected || !offered.before(*expected)) return {true, offered};
  return {false, *expected};
}

// A PENDING PDC opens only where it was told to. [TSS-061]
constexpr bool opens_pending(Psn told, Psn offered) { return told == offered; }

// How far an initiator moves all PSNs of its SYN after NACK NEW_START_PSN; none: it ignores the
// NACK, or fails the attempt when it has moved kRebasesMax times. [TSS-062, TSS-068, TSS-069]
struct NewStart {
  bool is_secured_alike = false;  // verified, from the peer's address, with the SDI of the SYN
  bool names_syn = false;         // its SPDCID and NACK PSN are those of the outstanding SYN
  Psn begin_at;
};
constexpr std::optional<int32_t> rebase_of(const NewStart& told, Psn start, uint32_t rebases) {
  if (!told.is_secured_alike || !told.names_syn || told.begin_at == start) return std::nullopt;
  if (rebases >= kRebasesMax) return std::nullopt;
  return told.begin_at - start;
}

// What no later PDC of this source may begin below. [TSS-066]
constexpr Psn expected_after_close(Psn highest_received, Psn highest_sent) {
  return (highest_sent.after(highest_received) ? highest_sent : highest_received) + 1;
}

// The initiator takes what the closing ACK says when that is newer. [TSS-063]
constexpr Psn adopt_expected(std::optional<Psn> stored, Psn told) {
  return stored && !told.after(*stored) ? *stored : told;
}

}  // namespace uet::tss
