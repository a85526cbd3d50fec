// Events that PDS reports to congestion management. Octets are nominal: transport size + 40.
// [CMS-015]
#pragma once

#include "base/serial.h"
#include "base/time.h"

#include <cstdint>

namespace uet::cms {

inline constexpr uint32_t kNominalExtraBytes = 40;  // [CMS-015]

// Nominal size of a packet whose UDP payload has that many octets (8: the UDP header). A security
// header and its ICV are part of the payload.
constexpr uint32_t nominal_bytes(uint32_t udp_payload_bytes) {
  return udp_payload_bytes + 8 + kNominalExtraBytes;
}

enum class LossKind : uint8_t {
  trimmed,          // NACK TRIMMED: congestion on that EV
  trimmed_lasthop,  // incast: not the EV's fault
  inferred,         // by SACK, or by the order of arrival
  timeout,          // RTO
  refused,          // any other NACK: no evidence about the path [CMS-098]
};
constexpr bool is_trim(LossKind kind) {
  return kind == LossKind::trimmed || kind == LossKind::trimmed_lasthop;
}

// A result about one EV. [CMS-023]
enum class PathFeedback : uint8_t {
  good,
  ecn,
  trimmed,
  timeout
};

struct Sent {
  uint32_t bytes = 0;
  Entropy ev{};
  bool resend = false;
  Instant at{};
  bool is_control = false;  // takes no credit [CMS-193]
};

// State of the destination in an ACK_CC of type NSCC. [CMS-030]
struct RemoteState {
  uint32_t newly_received_bytes = 0;  // since the last such ACK of that PDC [CMS-042]
  Duration service_time{};            // inside the destination; zero: not known [CMS-036]
  uint16_t ooo_count = 0xFFFF;        // 0xFFFF: not computed [CMS-038]
  uint8_t rcv_cwnd_pend = 0;
  bool restore_cwnd = false;
  bool valid = false;
};

// One ACK. [CMS-019]
struct Acked {
  uint32_t bytes = 0;  // newly acknowledged (or SACKed), of `packets` packets
  uint32_t packets = 0;
  Duration rtt{};          // of the packet that caused the ACK, without the time in the destination
  bool rtt_valid = false;  // [PDS-141]
  bool ecn = false;        // M flag
  Entropy ev{};            // of that packet, if ev_valid
  RemoteState remote{};
  Instant at{};
  bool ev_valid = false;
  uint32_t received_bytes = 0;  // that the destination has received since: by rcvd_bytes, or as
                                // `bytes` where the peer does not report it [CMS-042, CMS-191]
};

// Requests of this end, as a destination, to the source in its ACKs. [CMS-039, CMS-040]
struct Feedback {
  uint8_t rcv_cwnd_pend = 0;  // 0-127
  bool restore_cwnd = false;
};

// Credit granted to us: cumulative, 24 bits. [CMS-031, CMS-034]
struct Credit {
  uint32_t credit = 0;
  Instant at{};
};

// A packet that was in flight is lost or refused, and will be sent again. [CMS-020, CMS-021]
struct Lost {
  uint32_t bytes = 0;
  uint32_t packets = 0;
  LossKind kind = LossKind::inferred;
  Entropy ev{};
  Instant at{};
  Duration rtt{};  // of the NACK, which carries no service time [CMS-094]
  bool rtt_valid = false;
  bool ecn = false;  // M flag of the NACK
};

// Data that arrived here. For the destination's half. [CMS-041, CMS-135]
struct Received {
  uint32_t bytes = 0;  // nominal
  bool ce = false;
  bool trimmed = false;
  bool trimmed_lasthop = false;
  bool duplicate = false;
  Instant at{};
};

}  // namespace uet::cms
