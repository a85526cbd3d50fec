// The plan of one simulated run: number of endpoints, faults of the network, operations. Drawn from
// the seed swarm-style: most runs turn most faults off and some on hard. The same seed gives the
// same plan.
#pragma once

#include "cms/config.h"
#include "io/fault/fault_plan.h"

#include "base/rng.h"
#include "base/time.h"

#include <cstdint>
#include <string>

namespace uet::sim {

// Simulated time begins here; zero would mean "never" to some.
inline constexpr Instant kStart = Instant::from_ns(1'000'000'000);

struct Plan {
  uint32_t endpoints = 2;
  uint32_t processes = 1;  // named endpoints on each of them
  // Clocks run up to this much too fast or too slow, and show different times.
  uint32_t clock_ppm = 0;
  bool ordered = false;  // ROD instead of RUD
  // All payload lies in one place and is not compared. Still checked: lengths, order,
  // and that each operation ends once. For large runs.
  bool lengths_only = false;
  bool secured = false;  // all packets are sealed, with keys that change
  uint32_t operations = 40;
  uint32_t message_bytes_max = 20'000;
  uint32_t payload_mtu = 4096;
  uint32_t window_packets = 256;  // of each PDC
  uint32_t pdcs_max = 4096;
  uint32_t challenge_above = 1024;
  uint32_t unexpected_bytes = 1 << 20;
  double late_receives = 0.3;  // share of receives posted after their message was sent
  Duration spread = Duration::milliseconds(5);  // operations start within this span
  // Those receives are posted later by this time: the application is slow, and its endpoint lives.
  // No send may fail for that. [SES-191]
  Duration slow_application = Duration::zero();
  // One endpoint does not run for a while, like a stopped process.
  Duration pause = Duration::zero();
  cms::Algorithm congestion = cms::Algorithm::aimd;
  uint32_t credit_sources = 1024;  // that a destination of credit remembers
  uint32_t link_mbps = 0;          // what congestion control takes the links for; 0: its default
  uint32_t entropy_values = 4;
  cms::EntropyConfig entropy;
  bool spec_timers = false;

  // Tables so small that they run out. Defaults as in pds::Config and ses::Config.
  uint32_t gd_per_pdc = 1024;
  uint32_t gd_entries = 32768;
  uint32_t reorder_packets = 512;
  uint32_t reply_queue = 512;
  uint32_t return_messages = 4096;
  uint32_t rx_messages = 4096;
  uint32_t unexpected_messages = 16384;
  uint32_t remotes = 16384;
  uint8_t mpr = 8;
  uint8_t default_mpr = 8;
  uint32_t psn_range_packets = uint32_t{1} << 31;
  uint32_t rudi_window = 64;
  uint32_t rudi_packets = 4096;
  uint32_t rudi_answers = 1024;
  bool rod_reorder = true;
  bool ack_per_packet = false;
  Duration idle_time = Duration::seconds(10);

  // Errors and refusals of the applications.
  double wrong_operations = 0;    // share of RMA with a wrong key, range, right, process or job
  double reserve_refusals = 0;    // completion slots that are not there at first
  double cancelled_receives = 0;  // extra receives that are cancelled
  double cancelled_sends = 0;     // share of operations taken back; only where some may fail
  bool reject_truncated = false;
  bool shares_receives = false;  // by the processes of an endpoint [LF-133]
  double retained = 0;           // share of operations whose payload may be copied [LF-136]
  bool disable_index = false;    // a message without room disables its index [SES-132]

  // The modes without PDCs.
  double rudi = 0;         // share of RMA that asks for RUDI
  uint32_t datagrams = 0;  // sent by UUD, by all endpoints together
  uint32_t datagrams_per_second = 1'000'000;

  // One-packet messages with the shorter headers; small ones go to keys of 12 bits.
  bool medium_headers = false;
  bool small_headers = false;
  uint32_t rendezvous_bytes = UINT32_MAX;  // messages from this length on go by rendezvous
  uint32_t rendezvous_sends = 1024;
  uint32_t rendezvous_reads = 64;
  uint32_t defer_bytes = UINT32_MAX;  // messages from this length on are deferrable
  uint32_t deferrable_sends = 4096;
  uint32_t deferred_messages = 1024;
  uint32_t restarts = 64;
  Duration deferral_time = Duration::seconds(5);

  // Other hosts on the network: see odd_peer.h and stranger.h.
  double stranger = 0;         // packets overheard that are sent mutated from a third address
  double odd_packets = 0;      // packets after which the same sender emits a useless one
  double refused_packets = 0;  // requests answered by a NACK instead of being delivered
  // Requests that arrive cut off: they are answered with an error, so operations end in one.
  double broken_requests = 0;
  // Return data that arrives cut off within its header: it must be sent again.
  double broken_returns = 0;
  // Some NACKs are final and some requests arrive spoilt: operations may end in an error.
  bool spoil = false;
  // One endpoint dies without a message, and comes back with no memory unless it is gone for good.
  bool restart = false;
  bool kill = false;
  Duration restart_gap = Duration::zero();
  // No packet passes in one direction between two endpoints for this long.
  Duration one_way = Duration::zero();

  // After this number of packets the first endpoint sends no more acknowledgements, but still sends
  // requests; 0: it always acknowledges. [PDS-148]
  uint32_t mute_after = 0;

  // Operations may end in an error: only the safety oracles apply to them. Requests that are
  // refused for good or whose memory cannot be read are answered with an error [PDS-119, SES-171];
  // a Default_MPR above the peer's is a fault of configuration, a SYN beyond the peer's window ends
  // its PDC [PDS-035, PDS-046]; by the reference's table a handful of time-outs or refusals is the
  // end [PDS-117, PDS-148].
  bool may_fail() const {
    return spoil || broken_requests > 0 || mute_after > 0 || default_mpr > mpr ||
           outlasts_refusals() || (spec_timers && (is_lossy() || is_scarce()));
  }
  // A PDC that waits for a slow application is busy and keeps its place. Where its peer has no
  // second place, the peer's next PDC is refused with NO_PDC_AVAIL. Refusals without any progress
  // end an operation after five times the peer time-out. [PDS-148, PDS-181, SES-191]
  // The store of responses is small if it has fewer than two places for each message that may wait
  // for the application. Then messages are refused with NO_GTD_DEL_AVAIL, and end likewise.
  // [PDS-109]
  // A kept message without its receive is not answered and closes the window behind it. A longer
  // message of that PDC then stops in its middle and keeps its record, and with few records all
  // others are refused with NO_SES_MSG_AVAIL. [SES-118]
  bool outlasts_refusals() const {
    if (is_lossy() && has_long_queues()) return true;
    const bool has_few_places = gd_entries < 2 * unexpected_messages;
    const bool has_few_records = rx_messages < operations;
    return slow_application > Duration::seconds(5 * 60) &&
           (pdcs_max < Plan{}.pdcs_max || has_few_places || has_few_records);
  }
  // At a loss of 0.3 a message of 400,000 octets keeps its record for 7 s on average, so more than
  // 40 of them, one after another, may keep a PDC waiting for longer than five times the peer
  // time-out. [SES-118, PDS-148]
  bool has_long_queues() const { return operations > 40 * uint64_t{rx_messages} * endpoints; }
  // Packets may be lost, or answered so late that they are sent again.
  bool is_lossy() const;
  // Some table may be full, so that packets are refused for a while.
  bool is_scarce() const;
  // Every loss costs all that was sent behind it: a long message takes minutes. [PDS-150] So it is
  // where a PDC has one place for responses: above a gap a packet needs a second one. [PDS-102]
  bool goes_back() const { return (ordered && (!rod_reorder || spec_timers)) || gd_per_pdc == 1; }

  io::FaultPlan faults;

  static Plan draw(uint64_t seed);
  // Default settings and a network that only takes 1 us: to see how fast a run is.
  static Plan calm();
  std::string describe() const;
};

}  // namespace uet::sim
