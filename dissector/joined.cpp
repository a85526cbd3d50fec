// SPDX-License-Identifier: GPL-2.0-or-later
// Such a datagram has no packet boundaries: the head of the next packet is searched by the fields
// that it shares with the first. The chance that a payload has them is below 2^-50.
#include "dissector/joined.h"

#include "wire/pds_prologue.h"

#include <cstring>

namespace uet::dissector {

namespace {

constexpr int kHeadBytes = 12;         // looked at; of a request of a PDC, or with its TSC of TSS
constexpr int kSmallest = 12 + 20;     // PDS and a small SES header
constexpr uint32_t kDistance = 65535;  // of PSNs or counters

struct Head {
  wire::PdsType type{};
  bool syn = false;
  uint16_t spdcid = 0;
  uint16_t last = 0;   // dpdcid, or with syn the offset from Start_PSN
  uint32_t first = 0;  // the first 4 octets
  uint32_t psn = 0;    // of TSS: epoch and the high part of the counter
};

Head head_at(tvbuff_t* tvb, int at) {
  Head h;
  h.first = tvb_get_ntohl(tvb, at);
  const auto prologue = wire::Prologue::of(static_cast<uint16_t>(h.first >> 16U));
  h.type = prologue.type;
  h.syn = (prologue.flags & 0x04U) != 0;
  h.psn = tvb_get_ntohl(tvb, at + 4);
  h.spdcid = tvb_get_ntohs(tvb, at + 8);
  h.last = tvb_get_ntohs(tvb, at + 10);
  return h;
}

bool is_near(uint32_t a, uint32_t b) {
  return a != b && (a - b <= kDistance || b - a <= kDistance);
}

bool are_of_one(const Head& a, const Head& b) {
  if (a.type != b.type) return false;
  if (a.type == wire::PdsType::tss) {  // without SSI: type, AN, SDI and TSC; with SSI that instead
    const bool has_ssi = (a.first & 0x04000000U) != 0;
    const uint32_t low_a = uint32_t{a.spdcid} << 16U | a.last;
    const uint32_t low_b = uint32_t{b.spdcid} << 16U | b.last;
    return a.first == b.first && a.psn == b.psn && (has_ssi || is_near(low_a, low_b));
  }
  if (a.spdcid != b.spdcid || a.syn != b.syn || !is_near(a.psn, b.psn)) return false;
  return a.syn ? a.psn - (a.last & 0xFFFU) == b.psn - (b.last & 0xFFFU) : a.last == b.last;
}

// Where the second packet begins, or 0: octets that all heads share are searched for.
int second_at(tvbuff_t* tvb, const Head& first, int length) {
  const bool tss = first.type == wire::PdsType::tss;
  const int mark_at = tss ? 0 : 8;
  const int mark_bytes = tss ? 8 : first.syn ? 2 : 4;
  const guint8* octets = tvb_get_ptr(tvb, 0, length);
  for (int at = kSmallest; at + kHeadBytes <= length; ++at) {
    const void* found = memmem(octets + at + mark_at, static_cast<size_t>(length - at - mark_at),
                               octets + mark_at, static_cast<size_t>(mark_bytes));
    if (found == nullptr) return 0;
    at = static_cast<int>(static_cast<const guint8*>(found) - octets) - mark_at;
    if (at + kHeadBytes <= length && are_of_one(first, head_at(tvb, at))) return at;
  }
  return 0;
}

}  // namespace

int joined_size(tvbuff_t* tvb) {
  const int length = static_cast<int>(tvb_captured_length(tvb));
  if (length < kSmallest + kHeadBytes) return 0;
  const Head first = head_at(tvb, 0);
  if (!wire::is_request(first.type) && first.type != wire::PdsType::tss) return 0;
  const int size = second_at(tvb, first, length);
  const int left = size == 0 ? 0 : length % size;
  if (size == 0 || (left != 0 && left < kSmallest)) return 0;
  for (int at = 2 * size; at + kHeadBytes <= length; at += size) {
    if (!are_of_one(first, head_at(tvb, at))) return 0;
  }
  return size;
}

}  // namespace uet::dissector
