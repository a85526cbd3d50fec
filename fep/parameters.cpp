// The rows, and the few members that follow from others.
#include "fep/parameters.h"

#include "wire/payload_mtu.h"

#include "base/assert.h"

#include <algorithm>
#include <cstring>

namespace uet::fep {
namespace {

// A row whose value is the member itself, and one whose member is a Duration shown in us.
#define UET_VALUE(NAME, MEMBER, UNIT, MIN, MAX, SOURCE, HELP)                                      \
  Parameter {                                                                                      \
    NAME, UNIT, MIN, MAX, HELP, SOURCE,                                                            \
        [](const Config& c) { return static_cast<int64_t>(c.MEMBER); }, [](Config& c, int64_t v) { \
          c.MEMBER = static_cast<std::remove_reference_t<decltype(c.MEMBER)>>(v);                  \
        }                                                                                          \
  }
#define UET_TIME(NAME, MEMBER, MIN, MAX, SOURCE, HELP)                                 \
  Parameter {                                                                          \
    NAME, "us", MIN, MAX, HELP, SOURCE, [](const Config& c) { return c.MEMBER.us(); }, \
        [](Config& c, int64_t v) { c.MEMBER = Duration::microseconds(v); }             \
  }

constexpr int64_t kSecond = 1'000'000;  // in us

constexpr Parameter kParameters[] = {
    // Sizes
    UET_VALUE("MAX_PDCS", pds.max_pdcs, "count", 1, 65000, "PDS-010",
              "Packet delivery contexts at once, both roles"),
    UET_VALUE("PDCS_PER_KEY", pds.pdcs_per_key, "count", 1, 64, "PDS-061",
              "Unordered contexts toward one peer, so that short messages pass long ones"),
    UET_VALUE("TX_WINDOW", pds.tx_window_packets, "packets", 1, 2048, "PDS-037",
              "Packets outstanding per context"),
    UET_VALUE("MPR", pds.mpr, "128 packets", 1, 16, "PDS-035",
              "PSN range that this side tracks and advertises"),
    UET_VALUE("DEFAULT_MPR", pds.default_mpr, "128 packets", 1, 255, "PDS-035",
              "PSN range assumed of a peer until it states one"),
    UET_VALUE("PDC_PER_JOB", pds.pdc_per_job, "0 or 1", 0, 1, "PDS-013",
              "Jobs do not share packet delivery contexts"),
    UET_VALUE("PSN_RANGE", pds.psn_range_packets, "packets", 0, int64_t{1} << 31, "PDS-036",
              "PSNs that a context uses before another one takes over; 0: no limit "
              "(Limit_PSN_Range 0)"),
    UET_VALUE("TARGET_FLOOR", pds.target_floor_percent, "percent of MAX_PDCS", 0, 50, "PDS-018",
              "Contexts kept for each role, so that neither starves the other"),
    UET_VALUE("HALF_OPEN", pds.half_open_percent, "percent of MAX_PDCS", 1, 100, "T-01",
              "Contexts of peers that have not shown that they heard the first answer"),
    UET_VALUE(
        "CHALLENGE_ABOVE", pds.challenge_above, "contexts", 0, 65000, "PDS-251",
        "Contexts of peers that have not shown that they receive our packets, from which on a "
        "new peer must show it before it gets a context; costs that peer a round trip. At "
        "most a 16th of MAX_PDCS; 0: never"),
    UET_VALUE("NEWCOMER_SHARE", pds.newcomer_percent, "percent of MAX_PDCS", 0, 50, "PDS-253",
              "Contexts that only hosts without a context may open"),
    UET_VALUE("PEER_SHARE", pds.peer_share_percent, "percent", 1, 100, "T-02",
              "What one peer gets of the contexts that peers may open: at most so much of what is "
              "free and its own, so that some are left. All peers with one IP address together "
              "leave at least half as much"),
    UET_VALUE("JOB_SHARE", pds.job_share_percent, "percent", 1, 100, "T-02",
              "The same for all peers of one job, and of one secure domain"),
    UET_VALUE("RSV_PDCS", pds.reserved_pdcs, "count", 0, 32000, "PDS-017",
              "Contexts that only requests for the reserved pool may take"),
    UET_VALUE("CREDIT_SOURCES", pds.credit_sources, "count", 1, 65536, "T-34",
              "Peers whose requests for credit are kept"),
    UET_VALUE("LOW_WATER", pds.low_water_percent, "percent of MAX_PDCS", 0, 100, "PDS-181",
              "Free contexts below which idle ones are closed"),
    UET_VALUE("GD_ENTRIES", pds.gd_entries, "count", 1, 1 << 22, "PDS-109",
              "Responses kept until the peer has cleared them, in all"),
    UET_VALUE("GD_PER_PDC", pds.gd_per_pdc, "count", 1, 65535, "PDS-109",
              "The same for one context"),
    UET_VALUE("PACKETS_PER_ENTROPY", pds.packets_per_entropy, "packets", 1, 64, "PDS-004",
              "Packets of a context between changes of the entropy value, or four times as many of "
              "less than 512 octets; 1: each packet has its own"),
    UET_VALUE("UNEXPECTED_BYTES", ses.unexpected_bytes, "octets", 65536, int64_t{1} << 40,
              "SES-126",
              "Memory for messages that no receive matched yet; senders retry beyond it"),
    UET_VALUE("UNEXPECTED_MESSAGES", ses.unexpected_messages, "count", 1, 1 << 22, "SES-126",
              "Messages that no receive matched yet, at most"),
    UET_VALUE("MEMORY_REGIONS", ses.memory_regions, "count", 1, 1 << 22, "ours",
              "Memory regions registered at once"),
    // Modes without contexts
    UET_VALUE("RUDI_WINDOW", pds.rudi_window, "packets", 1, 65536, "PDS-205",
              "Idempotent requests outstanding toward one peer (MODE=rudi)"),
    UET_VALUE("UUD_RATE", pds.uud_packets_per_second, "packets/s", 0, 100'000'000, "PDS-212",
              "Datagrams sent per second, by all endpoints together; 0: no cap"),
    UET_VALUE("SOURCE_RATE", pds.source_packets_per_second, "packets/s", 0, 100'000'000, "T-41",
              "Datagrams and idempotent requests of one peer that are looked at in a second; 0: "
              "all"),
    // Acknowledgement
    UET_VALUE("ACK_GEN_TRIGGER", pds.ack_gen_trigger_bytes, "octets", 0, 32768, "PDS-A7",
              "Received octets after which an ACK goes out unasked"),
    UET_VALUE("ACK_GEN_MIN_PKT_ADD", pds.ack_gen_min_packet_bytes, "octets", 0, 2048, "PDS-A7",
              "What a short packet counts toward ACK_GEN_TRIGGER"),
    UET_VALUE("ENB_ACK_PER_PKT", pds.ack_per_packet, "0 or 1", 0, 1, "PDS-A8",
              "Acknowledge every packet by itself"),
    UET_VALUE("ACK_ON_ECN", pds.ack_on_ecn, "0 or 1", 0, 1, "PDS-A6",
              "Acknowledge congestion-marked packets at once"),
    UET_VALUE("QUIET_PACKETS", pds.quiet_packets, "count", 0, 63, "PDS-064",
              "Messages in a row that ask for no ACK, of those that nobody waits for: injected "
              "ones, and copied ones that are already reported as done; 0: each of them asks"),
    UET_TIME("QUIET_TIME", pds.quiet_time, 100, 100'000, "ours",
             "Wait before messages that asked for no ACK are asked for together"),
    UET_VALUE("ACK_GEN_PACKETS", pds.ack_gen_packets, "packets", 0, 255, "PDS-A7",
              "Received packets after which an ACK goes out unasked; 0: octets only"),
    UET_TIME("ACK_DELAY_MAX", pds.ack_delay_max, 0, kSecond, "PDS-083",
             "Age of a packet at which an ACK goes out unasked; 0: never for that reason"),
    UET_VALUE("ACK_FORM", pds.ack_form, "0 to 2", 0, 2, "PDS 8.3",
              "ACKs are 0: short when that says everything, 1: ACK_CC, 2: ACK_CCX, a vendor's"),
    UET_VALUE("CCX_TYPE", pds.ccx_type, "14 or 15", 14, 15, "WIRE-049", "Type of ACK_CCX"),
    UET_VALUE("MAX_ACK_DATA_SIZE", ses.ack_data_bytes_max, "octets", 0, 16, "PDS-166",
              "Read data that travels inside an ACK"),
    UET_VALUE("READ_QUOTA", ses.read_quota_bytes, "octets", 65536, int64_t{1} << 31, "T-39",
              "Data on its way to one peer that it has asked for by reading; its next reads wait"),
    // Loss and patience
    UET_TIME("RTO_INIT_TIME", pds.rto_init, 100, 8 * kSecond, "PDS-140",
             "First retransmission time-out"),
    UET_TIME("RTO_MAX_TIME", pds.rto_max, 100, 8 * kSecond, "PDS-140",
             "Upper bound of the retransmission back-off"),
    UET_TIME("NACK_RETX_TIME", pds.nack_retx, 100, 8 * kSecond, "PDS-118",
             "Wait before a packet refused for lack of resources goes again"),
    UET_VALUE("MAX_RTO_RETX_CNT", pds.rto_retx_max, "count", 0, 15, "PDS-148",
              "Time-outs of one packet before its context fails (TIMERS=spec only)"),
    UET_VALUE("MAX_NACK_RETX_CNT", pds.nack_retx_max, "count", 0, 31, "PDS-117",
              "Refusals of one packet before its context fails (TIMERS=spec only)"),
    UET_TIME("TAIL_LOSS_TIME", pds.tail_loss, 100, 10 * kSecond, "PDS-145",
             "Silence after the last packet before its fate is asked for"),
    UET_VALUE("MAX_TAIL_LOSS_RETX", pds.tail_loss_max, "count", 0, 15, "PDS-145",
              "Times that it is asked for without an answer"),
    UET_VALUE("NACKS_PER_PEER", pds.nacks_per_second_per_peer, "per second", 1, 10000000, "PDS-072",
              "NACKs and Probe answers that one peer may cause"),
    UET_VALUE("NACKS_NO_PDC", pds.nacks_per_second_no_pdc, "per second", 1, 10000000, "PDS-072",
              "NACKs for packets of no context, in all"),
    UET_TIME("PEER_TIMEOUT", pds.peer_timeout, 1000, 3600 * kSecond, "ours",
             "Silence of a peer after which operations fail; five times as long for nothing but "
             "refusals"),
    UET_TIME("UNREACHABLE_TIME", pds.unreachable_time, 1000, 3600 * kSecond, "ours",
             "ICMP errors and nothing else for this long fail operations toward a peer"),
    UET_VALUE("OOO_PACKETS", pds.ooo_packets_min, "packets", 1, 1024, "PDS-143",
              "Packets acknowledged past a gap before the gap counts as lost"),
    UET_VALUE("OOO_PACKETS_SINGLE", pds.ooo_packets_single_path, "packets", 1, 1024, "PDS-144",
              "The same where all packets take one path"),
    UET_VALUE("DISABLE_INDEX", ses.disable_index, "0 or 1", 0, 1, "SES-132",
              "An ordered message without receive and room disables its index for all peers, "
              "instead of making its context wait"),
    UET_VALUE("ROD_REORDER", pds.rod_reorder, "0 or 1", 0, 1, "PDS-079",
              "Ordered contexts hold back what arrives early instead of dropping it"),
    // Clear, close, reclaim
    UET_TIME("PDS_CLEAR_TIME", pds.clear_time, 0, 100 * kSecond, "PDS-105",
             "Wait for a request to carry the clear before a Clear command goes"),
    UET_TIME("CLOSE_REQ_TIME", pds.close_req, 100, 10 * kSecond, "PDS-173",
             "Wait of a target for the close it asked for"),
    UET_TIME("TOMBSTONE_TIME", pds.tombstone_time, 1000, 60 * kSecond, "PDS-176",
             "Closed contexts are remembered for this long"),
    UET_TIME("PDC_IDLE_TIME", pds.idle_time, 1000, 86400 * kSecond, "ours",
             "Idle contexts are closed after this"),
    // Secured contexts
    UET_TIME("NEW_PDC_TIME", pds.new_pdc_time, 100, kSecond, "PDS-052",
             "Wait of a target for a SYN with the start that it asked for"),
    UET_VALUE("START_METHOD", pds.start_method, "0 or 1", 0, 1, "PDS 4.2",
              "PSNs of secured contexts begin 0: where the initiator says, above a floor, 1: where "
              "the target says"),
    UET_VALUE("EXPECTED_PSN_IN_CLOSE", pds.expected_psn_in_close_ack, "0 or 1", 0, 1, "PDS-053",
              "The closing ACK of a secured context says where the next one may begin"),
    // Trimming
    UET_VALUE("DSCP_TRIMMED", pds.trimmed_dscp, "DSCP", 0, 63, "PDS-130",
              "Class of packets that a switch has cut"),
    UET_VALUE("DSCP_TRIMMED_LASTHOP", pds.trimmed_lasthop_dscp, "DSCP", 0, 63, "PDS-130",
              "The same at the last hop"),
    // Habits of the UEC reference provider
    UET_VALUE("PROBE", pds.probe, "0 or 1", 0, 1, "PDS-163",
              "Probes are sent; 0 toward peers that close over them"),
    UET_VALUE("OPTIONAL_CONTROL", pds.optional_control, "0 or 1", 0, 1, "PDS 22",
              "NOOP and Clear Request are sent; 0 toward peers that close over them"),
    UET_VALUE("FATAL_NACKS", pds.fatal_nacks, "0 or 1", 0, 1, "PDS 22",
              "NACKs 0x10, 0x13 and 0x19 are sent; 0 toward peers that close over them"),
    UET_VALUE("PLAIN_NEW_START_PSN", pds.plain_new_start_psn, "0 or 1", 0, 1, "PDS-054",
              "NEW_START_PSN is believed in the clear, as the reference provider sends it"),
    // Messages
    UET_VALUE("PAYLOAD_MTU", ses.payload_mtu, "octets", 1024, 8192, "SES-032",
              "Payload per packet: 1024, 2048, 4096 or 8192; default by interface MTU"),
    UET_VALUE(
        "RNDV_SIZE", ses.rendezvous_bytes, "octets", 1, int64_t{0xFFFF'FFFF}, "SES-088",
        "Messages from this length on to HPC peers go by rendezvous: the target reads what does "
        "not fit their first packet; by default none, since reading costs a request for each "
        "packet: for programs that send long messages before the target has a receive"),
    UET_VALUE(
        "RNDV_READS", ses.rendezvous_reads, "count", 2, 4096, "ours",
        "Messages whose rest is being read at once; one peer gets no more than it leaves free"),
    UET_VALUE("DEFER_SIZE", ses.defer_bytes, "octets", 1, int64_t{0xFFFF'FFFF}, "SES-102",
              "Unordered messages from this length on go as deferrable sends to the peers that "
              "DEFER says: one without a receive has them sent again when there is one"),
    UET_VALUE("DEFER", ses.defer_to, "0 to 2", 0, 2, "LF-041",
              "Deferrable sends go 0: to nobody, 1: to peers of AI Full that are not HPC, which "
              "keeps messages that no receive matched, 2: to all of AI Full"),
    UET_VALUE(
        "DEFERRED_MESSAGES", ses.deferred_messages, "count", 0, 1 << 20, "SES-035",
        "Messages that an endpoint without a receive for them tells to wait, at most; one peer "
        "gets no more than it leaves free"),
    UET_VALUE(
        "HDR_MEDIUM", ses.medium_headers, "0 or 1", 0, 1, "SES-042",
        "Messages of one packet go with the medium header, 12 octets shorter; every peer must "
        "take it, which the reference provider does not"),
    UET_VALUE("HDR_SMALL", ses.small_headers, "0 or 1", 0, 1, "SES-041",
              "Regions have keys of 12 bits where that is possible, and RMA of one packet to such "
              "keys goes with the small header to peers whose address says that they take it"),
    UET_TIME("NO_MATCH_RETRY_MIN", ses.retry_time_min, 100, 60 * kSecond, "SES-135",
             "Shortest wait before a message that found no receive is sent again"),
    UET_TIME("NO_MATCH_RETRY_MAX", ses.retry_time_max, 100, 60 * kSecond, "SES-135",
             "Longest first wait before a message that found no receive is sent again"),
    // Congestion
    UET_VALUE("INITIAL_WINDOW", cms.initial_window_packets, "packets", 0, 4096, "ours",
              "Congestion window at first; 0: what carries 128 KiB of payload"),
    UET_VALUE("WINDOW_BYTES_MAX", cms.window_bytes_max, "octets", 65536, int64_t{1} << 31, "ours",
              "Congestion window at most"),
    UET_VALUE("ENTROPY_VALUES", cms.entropy_values, "count", 1, 65536, "PDS-004",
              "Entropy values that unordered traffic is sprayed over; the provider takes the "
              "number of its ports where this is not set, 7 at most"),
};
#undef UET_VALUE
#undef UET_TIME

}  // namespace

std::span<const Parameter> parameters() { return kParameters; }

const Parameter* find_parameter(const char* name) {
  for (const Parameter& p : kParameters) {
    if (std::strcmp(p.name, name) == 0) return &p;
  }
  return nullptr;
}

Result<void> set_parameter(Config& config, const char* name, int64_t value) {
  const Parameter* parameter = find_parameter(name);
  if (parameter == nullptr) return Errc::not_found;
  if (value < parameter->min || value > parameter->max) return Errc::invalid;
  if (std::strcmp(name, "PAYLOAD_MTU") == 0 && (value & (value - 1)) != 0) return Errc::invalid;
  parameter->set(config, value);
  return {};
}

void meet_refprov(Config& config) {
  constexpr struct {
    const char* name;
    int64_t value;
  } kHabits[] = {
      {"DEFAULT_MPR", 1},       // it tracks 128 PSNs, and does not say so
      {"PDCS_PER_KEY", 1},      // it has 63 contexts for all its peers
      {"PROBE", 0},             // it closes its context over
      {"OPTIONAL_CONTROL", 0},  // what it does not know,
      {"FATAL_NACKS", 0},       // and over these
      {"DISABLE_INDEX", 1},     // it gives a context up after five NACKs
  };
  for (const auto& habit : kHabits) {
    const auto done = set_parameter(config, habit.name, habit.value);
    UET_ASSERT(done.ok());
  }
}

void settle(Config& config) {
  constexpr uint32_t kHeaderBytes = 128;  // SES header with any extension
  constexpr uint32_t kPathBytes = 148;    // IP, UDP, PDS and SES headers, and the nominal 40
  config.pds.payload_mtu = config.ses.payload_mtu;
  config.pds.reorder_packet_bytes = wire::kPayloadMtuMax + kHeaderBytes;  // whatever peers choose
  config.cms.mtu_bytes = config.ses.payload_mtu + kPathBytes;
  config.pds.rto_max = std::max(config.pds.rto_max, config.pds.rto_init);
  // A peer that was not asked is not silent.
  config.pds.quiet_time = std::min(config.pds.quiet_time, config.pds.peer_timeout / 2);
  config.ses.idle_time = config.pds.idle_time;
  // Refusals end on the same clock as silence. [decision 4]
  if (config.pds.patience == pds::Patience::time) {
    config.ses.partial_message_time = config.pds.peer_timeout;
    config.ses.retry_patience = config.pds.peer_timeout;
  }
}

}  // namespace uet::fep
