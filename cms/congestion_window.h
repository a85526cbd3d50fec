// What Ccc asks of a congestion window. A new algorithm is a class that satisfies this concept and
// a line in ccc.cpp. [cms.md 1.2, decision 15]
#pragma once

#include "cms/config.h"
#include "cms/events.h"

#include <concepts>
#include <cstdint>

namespace uet::cms {

// All octets are nominal: transport size + 40 [CMS-015]. Time is what the events say. For each
// on_sent there is exactly one on_acked, on_lost or on_forgotten, later, for the same octets
// [PDS-240]. No call allocates, fails or calls back; each is O(1).
//
//   W(config)            one context. The config has been checked, and need not outlive the call.
//   may_send(bytes)      a packet of that size fits now. Ccc does not ask while nothing is in
//                        flight: one packet may always go then [CMS-013, CMS-142].
//   on_sent(e)           a packet leaves, new or again, control packets included [CMS-018].
//   on_acked(e)          an ACK. e.bytes may be zero: an RTT, a mark or a report alone. e.rtt and
//                        e.ev have a meaning only where their flags say so [CMS-019, CMS-073].
//   on_lost(e)           a packet is lost or refused, and will be sent again. e.kind says what
//                        shows that; a refusal says nothing about the path [CMS-020, CMS-098].
//   on_forgotten(bytes)  packets left the network, and nothing is known about their path [CMS-021].
//   on_early_timeouts()  the last time-outs were early: gives back what they took, if the window
//                        knows it. May also come when there were none [CMS-194].
//   window_bytes()       the window, for pacing and for tools.
//   inflight_bytes()     sent, and not acknowledged, lost or forgotten. Nscc counts what the peer
//                        reports, so its value may be negative for a while [CMS-065].
template <class W>
concept CongestionWindow = std::constructible_from<W, const Config&> && std::movable<W> &&
    requires(W window, const W& seen, uint32_t bytes, const Sent& sent, const Acked& acked,
             const Lost& lost) {
  { seen.may_send(bytes) } -> std::same_as<bool>;
  { window.on_sent(sent) } -> std::same_as<void>;
  { window.on_acked(acked) } -> std::same_as<void>;
  { window.on_lost(lost) } -> std::same_as<void>;
  { window.on_forgotten(bytes) } -> std::same_as<void>;
  { window.on_early_timeouts() } -> std::same_as<void>;
  { seen.window_bytes() } -> std::same_as<uint64_t>;
  { seen.inflight_bytes() } -> std::integral;
};

}  // namespace uet::cms
