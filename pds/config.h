// Every tunable of packet delivery, with its unit, range, default and source. The defaults are for
// a stack over kernel sockets; spec() is the table of the reference. Fields without an id or a name
// of the specification exist in this stack only. [PDS-220]
#pragma once

#include "base/serial.h"
#include "base/time.h"

#include <algorithm>
#include <cstdint>

namespace uet::pds {

// What gives up a PDC whose packets stay unanswered.
enum class Patience : uint8_t {
  time,     // only silence of the peer for peer_timeout, or unreachable_time of ICMP errors
  retries,  // the retry limits [PDS-148]
};

// Which form an ACK takes. [PDS 8.3]
enum class AckForm : uint8_t {
  by_need,  // ACK, or ACK_CC when something is out of order; without congestion control state
  cc,       // always ACK_CC, with the state that NSCC and RCCC want
  ccx,      // always ACK_CCX: a vendor's congestion control, configured at both ends
};

inline constexpr uint8_t kDefaultMpr = 8;  // Default_MPR, assumed before a peer's ACK [PDS-035]
inline constexpr uint32_t kMprUnit = 128;  // packets of one unit of MPR

// Which end chooses the Start_PSN of a secured PDC. [PDS 4.2]
enum class StartMethod : uint8_t {
  expected_0rtt,  // the initiator, at or above the target's floor
  random_1rtt,    // the target, anew each time
};

struct Config {
  // --- sizes, read once by create ---
  uint32_t max_pdcs = 16384;             // PDCs, both roles; 1-65,000 [PDS-010]
  uint32_t target_floor_percent = 25;    // of max_pdcs kept for each role; 0-50 [PDS-018]
  uint32_t half_open_percent = 100;      // of max_pdcs: targets whose peer never used our PDCID;
                                         // 1-100, 100: no separate limit [T-01]
  uint32_t challenge_above = 1024;       // unproven targets from which on a SYN must prove its
                                         // source; at most a 16th of max_pdcs; 0: never [PDS-251]
  uint32_t peer_share_percent = 50;      // share of target PDCs for one peer: percent of the free
                                         // ones and its own; 1-100, 100: no limit [T-02]
  uint32_t job_share_percent = 95;       // the same for one job, and for one secure domain [T-02]
  uint32_t newcomer_percent = 12;        // of max_pdcs, only for hosts that hold no PDC yet; 0-50
                                         // [PDS-253]
  uint32_t reserved_pdcs = 0;            // of max_pdcs, for SYN with use_rsv_pdc only [PDS-017]
  uint32_t max_contexts = 0;             // congestion contexts; 0: one for each flow and PDC
  uint32_t credit_sources = 1024;        // peers whose requests for credit are kept [T-34]
  uint32_t rx_windows = 0;               // receive bitmaps; 0: one for each PDC
  uint32_t max_flows = 65536;            // (peer, class, mode, JobID) in use at once
  uint32_t gd_entries = 32768;           // stored responses in all [PDS-109]
  uint32_t gd_per_pdc = 1024;            // one per unexpected message in flight [PDS-109]
  uint32_t return_messages = 16384;      // messages of return data waiting or being sent
  uint32_t reorder_packets = 512;        // ROD packets held back, soft profile [PDS-079]
  uint32_t reorder_packet_bytes = 8320;  // longest SES header and payload held back
  uint32_t reply_queue = 512;            // NACKs and ACKs of PDCs that are gone
  uint32_t tombstones = 16384;         // closed PDCs remembered; with max_pdcs at most 65,535, the
                                       // number of PDCIDs [PDS-176]
  uint32_t rudi_destinations = 65536;  // remote FEPs that RUDI is sent to at once
  uint32_t rudi_packets = 4096;        // RUDI requests outstanding in all
  uint32_t rudi_answers = 1024;        // RUDI answers about to leave

  // --- windows ---
  uint8_t mpr = 8;                    // advertised, 128 PSNs; 1-16 [PDS-035]
  uint8_t default_mpr = kDefaultMpr;  // assumed until the peer reports one
  uint32_t tx_window_packets = 1024;  // outstanding per PDC direction; 1-2048 [PDS-037]
  uint32_t pdcs_per_key = 4;          // RUD; 1-64 [PDS-061]
  bool pdc_per_job = true;            // JobID is part of the key [PDS-013]
  uint32_t packets_per_entropy = 16;  // packets of a PDC between changes of the EV; 1-64
  uint32_t payload_mtu = 4096;        // octets of payload a packet may carry; for admission
  TrafficClass return_class;          // DSCP of return data; CS0

  // --- modes without PDCs ---
  uint32_t rudi_window = 64;  // requests outstanding per destination; 1-65536 [PDS-205]
  uint32_t uud_packets_per_second = 1'000'000;  // datagrams sent in all; 0: no cap [PDS-212]
  // RUDI requests and datagrams that are accepted from one peer; 0: all. The default is what one of
  // our endpoints sends at most. [T-41]
  uint32_t source_packets_per_second = 1'000'000;

  // --- marking ---
  bool private_mark = false;  // we do not own port 4793: peers answer to our port [WIRE-121]
  bool strict_ports = false;  // ignore the port marks in packets of peers
  uint8_t control_dscp = 46;  // ACK, NACK, CP; EF [PDS-069]
  uint8_t trimmed_dscp = 16;  // DSCP of packets that a switch has trimmed; 0-63 [PDS-130, WIRE-016]
  uint8_t trimmed_lasthop_dscp = 18;  // the same at the last hop

  // --- acknowledgement ---
  uint32_t ack_gen_trigger_bytes = 16384;    // ACK_Gen_Trigger; 0-32768
  uint32_t ack_gen_min_packet_bytes = 1024;  // ACK_Gen_Min_Pkt_Add; 0-2048
  bool ack_per_packet = false;               // Enb_ACK_Per_Pkt
  bool ack_on_ecn = true;                    // ACK_On_ECN
  // Successive packets without AR, for messages whose completion no operation waits for; 0-63, 0:
  // all have AR. By ACK_Gen_Trigger the peer answers 16 short packets without AR. [PDS-064]
  uint8_t quiet_packets = 15;
  // After this time an ACK Request asks for their ACK, well before their time-out. Below
  // peer_timeout: a peer that was not asked for an ACK does not count as silent.
  Duration quiet_time = Duration::milliseconds(1);
  AckForm ack_form = AckForm::by_need;  // [PDS 8.3]
  uint8_t ccx_type = 14;                // cc_type of ACK_CCX; 14-15
  uint32_t ack_gen_packets = 0;         // packets that call for an ACK; 0-255, 0: octets only
  Duration ack_delay_max =
      Duration::zero();  // oldest packet without an ACK; zero: no timer [PDS-083]
  uint32_t nacks_per_second_per_peer = 10000;  // [PDS-072]
  // Answers to duplicates on one secured PDC: each is sealed anew. A tenth of it at once. [TSS-072]
  uint32_t duplicate_answers_per_second = 50'000;
  uint32_t nacks_per_second_no_pdc = 1000;     // in all, for packets without a PDC [PDS-072]
  uint32_t challenges_per_second = 1'000'000;  // each is shorter than its SYN [PDS-251]

  // --- secured PDCs [PDS 4.2] ---
  StartMethod start_method = StartMethod::expected_0rtt;
  Duration new_pdc_time = Duration::seconds(1);  // New_PDC_Time: a PENDING target waits [PDS-052]
  uint32_t secure_starts = 4096;                 // (peer, domain) remembered [TSS-067]
  uint32_t rebases_max = 4;                      // new starts that a PDC obeys; 1-255 [TSS-069]
  // To one peer, for packets of secured PDCs that a switch has cut. [TSS-081]
  uint32_t trim_nacks_per_second = 1000;
  bool expected_psn_in_close_ack = true;  // [PDS-053]
  bool has_domains = false;               // some peers are reached in secure domains, others may be
  uint32_t seal_bytes = 28;  // that a seal adds to a packet; 28, with an SSI 32 [CMS-015]
  // Octets that the seal of that domain adds to a packet; sdi 0: none.
  uint32_t seal_of(uint32_t sdi) const { return sdi == 0 ? 0 : seal_bytes; }

  // --- loss ---
  Patience patience = Patience::time;                // [decision 4]
  Duration rto_init = Duration::milliseconds(50);    // RTO_Init_Time: first one of a connection
  Duration rto_min = Duration::milliseconds(5);      // see shortest_rto(), probed_rto()
  Duration rto_max = Duration::milliseconds(200);    // cap of the back-off
  Duration nack_retx = Duration::milliseconds(2);    // NACK_Retx_Time
  uint32_t rto_retx_max = 5;                         // Max_RTO_Retx_Cnt, patience retries; 0-15
  uint32_t nack_retx_max = 5;                        // Max_NACK_Retx_Cnt; 31: unlimited
  Duration peer_timeout = Duration::seconds(60);     // FI_UET_PEER_TIMEOUT
  Duration unreachable_time = Duration::seconds(2);  // ICMP errors and nothing else
  Duration tail_loss = Duration::milliseconds(5);    // Tail_Loss_Time [PDS-145]
  uint32_t tail_loss_max = 5;                        // Max_Tail_Loss_Retx; 0-15
  bool probe = true;                                 // Probes are sent; all answer them
  uint32_t ooo_packets_min = 5;                      // reordering assumed below [PDS-143]
  uint32_t ooo_packets_single_path = 3;              // the same with one EV [PDS-144]
  bool rod_reorder = true;                           // false: drop and go-back-N [PDS-079]

  // --- clear, close, reclaim ---
  Duration clear_time = Duration::milliseconds(2);        // PDS_Clear_Time
  uint32_t gd_high_water_percent = 75;                    // of gd_per_pdc: Clear Request [PDS-106]
  Duration close_req = Duration::seconds(1);              // Close_REQ_Time
  Duration idle_time = Duration::seconds(10);             // pdc_idle_time; targets: four times
  Duration tombstone_time = Duration::milliseconds(400);  // [PDS-176]
  uint32_t low_water_percent = 5;                         // free PDCs: victims below [PDS-181]
  // PSNs that a PDC uses before another one takes over; 0: no limit. Limit_PSN_Range [PDS-036]
  uint32_t psn_range_packets = uint32_t{1} << 31;

  // Of a PDC in that domain. A secured one closes before its PSNs repeat under one key. [TSS-058]
  uint32_t psn_range_of(uint32_t sdi) const {
    constexpr uint32_t kSecuredMax = uint32_t{1} << 31;
    return psn_range_packets == 0 && sdi != 0 ? kSecuredMax : psn_range_packets;
  }

  // --- habits of the UEC reference provider, none by default [PDS 22] ---
  bool optional_control = true;      // false: no NOOP and no Clear Request; it closes over them
  bool plain_new_start_psn = false;  // true: NEW_START_PSN is believed though it came in the clear
  bool fatal_nacks = true;           // false: no 0x10, 0x13, 0x19, upon which it closes the PDC

  // The parameter table of the reference. [PDS 18]
  static Config spec() {
    Config c;
    c.patience = Patience::retries;
    c.rto_init = Duration::milliseconds(1);
    c.rto_max = Duration::milliseconds(64);
    c.nack_retx = Duration::milliseconds(1);
    c.tail_loss = Duration::milliseconds(1);
    c.rod_reorder = false;
    c.quiet_packets = 0;
    c.clear_time = Duration::milliseconds(1);
    c.close_req = Duration::milliseconds(1);
    c.new_pdc_time = Duration::milliseconds(5);
    c.tombstone_time = Duration::milliseconds(128);
    return c;
  }

  bool is_trimmed(uint8_t dscp) const {
    return dscp == trimmed_dscp || dscp == trimmed_lasthop_dscp;
  }

  // The number of hosts that may have a response beyond their share at once. [PDS-109]
  uint32_t gd_extra() const { return 1 + gd_entries / 64; }
  // No time-out is shorter. [PDS-140]
  Duration shortest_rto() const { return std::min(rto_init, rto_min); }
  // The same of a PDC whose peer answers Probes: four times Tail_Loss_Time at least. [PDS-140]
  Duration probed_rto() const { return std::min(rto_init, std::max(rto_min, tail_loss * 4)); }

  // Every value is in its range.
  bool valid() const {
    return max_pdcs >= 1 && max_pdcs <= 65000 && target_floor_percent <= 50 &&
           half_open_percent >= 1 && half_open_percent <= 100 && reserved_pdcs < max_pdcs &&
           max_flows >= 1 && gd_entries >= 1 && gd_per_pdc >= 1 && gd_per_pdc <= 65535 &&
           return_messages >= 1 && reorder_packets >= 1 && reorder_packet_bytes >= 64 &&
           reorder_packet_bytes <= 16384 && reply_queue >= 16 && tombstones >= 1 && mpr >= 1 &&
           mpr <= 16 && default_mpr >= 1 && tx_window_packets >= 1 && tx_window_packets <= 2048 &&
           pdcs_per_key >= 1 && pdcs_per_key <= 64 && packets_per_entropy >= 1 &&
           packets_per_entropy <= 64 && payload_mtu >= 64 && payload_mtu <= 8192 &&
           shortest_rto() > Duration::zero() && rto_max >= rto_init &&
           nack_retx > Duration::zero() && rto_retx_max <= 15 && nack_retx_max <= 31 &&
           (ccx_type == 14 || ccx_type == 15) && ack_gen_packets <= 255 &&
           ack_delay_max >= Duration::zero() && tail_loss > Duration::zero() &&
           tail_loss_max <= 15 && rudi_destinations >= 1 && rudi_packets >= 1 &&
           rudi_answers >= 1 && credit_sources >= 1 && rudi_window >= 1 && rudi_window <= 65536 &&
           quiet_packets <= 63 && quiet_time > Duration::zero() && quiet_time < peer_timeout &&
           peer_share_percent >= 1 && peer_share_percent <= 100 && job_share_percent >= 1 &&
           job_share_percent <= 100 && newcomer_percent <= 50 && rebases_max >= 1 &&
           rebases_max <= 255 && trim_nacks_per_second >= 1;
  }

  // Share of all peers with one IP address together: they leave half of what one peer must leave.
  // [T-61]
  uint32_t host_share_percent() const { return (100 + peer_share_percent) / 2; }

  // PDCs that only a host that holds none may open. [PDS-253]
  uint32_t newcomer_pdcs() const {
    return static_cast<uint32_t>(uint64_t{max_pdcs} * newcomer_percent / 100);
  }

  // Unproven targets from which on a SYN must prove its source. Fewer than newcomer_pdcs(), so that
  // forged sources cannot take all of these. [PDS-251]
  uint32_t challenge_limit() const {
    return std::min(challenge_above, std::max(max_pdcs / 16, 1U));
  }

  // Packets above the cumulative ACK that a target tracks. At least Default_MPR: peers assume that
  // until an ACK reports less, and what they have sent by then must find room. [PDS-035]
  uint32_t tracked_packets() const {
    return uint32_t{mpr > kDefaultMpr ? mpr : kDefaultMpr} * kMprUnit;
  }

  // How long a live peer may make no progress, because it refuses packets or does not answer for
  // them. With heavy loss and few free places at the peer, progress may take minutes. [PDS-148]
  Duration refusal_patience() const { return peer_timeout * 5; }
};

// For peers that are the reference provider. [PDS 22]
inline void meet_refprov(Config& config) {
  config.default_mpr = 1;           // it tracks 128 PSNs, and does not say so
  config.pdcs_per_key = 1;          // it has 63 contexts for all its peers
  config.probe = false;             // it closes its context over these:
  config.optional_control = false;  // probes, control packets that it does not know,
  config.fatal_nacks = false;       // and NACKs
}

}  // namespace uet::pds
