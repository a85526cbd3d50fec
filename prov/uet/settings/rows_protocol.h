// Settings of level protocol: constants and choices of the protocol. Rows of the table; see
// setting.h. For table.cpp only.
#pragma once

#include "prov/uet/settings/fields.h"
#include "prov/uet/settings/setting.h"

namespace uet::prov {

inline constexpr Word kAddressWords[] = {{"rel", 0}, {"abs", 1}};
inline constexpr Word kTimerWords[] = {{"soft", 0}, {"spec", 1}};
// AI Base is part of the two others. [SES-185]
inline constexpr Word kProfileWords[] = {{"ai_base", ses::kAiBase},
                                         {"ai_full", ses::kAiBase | ses::kAiFull},
                                         {"hpc", ses::kAiBase | ses::kHpc},
                                         {"all", ses::kEveryProfile}};

inline constexpr Setting kProtocolRows[] = {
    // Addresses and profiles
    {.name = "INITIATOR_ID",
     .max = UINT32_MAX,
     .field = UET_FIELD(initiator_id),
     .source = "LF-129",
     .help = "Initiator ID of endpoints that do not ask for one",
     .unset = "random for each endpoint",
     .example = "1"},
    {.name = "ADDR_MODE",
     .kind = Kind::choice,
     .field = UET_FIELD(absolute),
     .source = "LF-129",
     .help = "Addressing of local endpoints. rel: within the job. abs: absolute",
     .words = kAddressWords},
    {.name = "PROFILE",
     .kind = Kind::choice,
     .field = UET_FIELD(profiles),
     .source = "SES-186",
     .help = "Profiles that are offered to peers and served. Offer fewer than all to peers that "
             "depend on exactly one profile",
     .words = kProfileWords},
    {.name = "TIMERS",
     .kind = Kind::choice,
     .field = UET_FIELD(spec_timers),
     .source = "PDS-220",
     .help = "Timers and limits. soft: for software over kernel sockets; a peer is given up after "
             "FI_UET_PEER_TIMEOUT. spec: those of the specification; a peer is given up after a "
             "number of retries, a message after 5",
     .words = kTimerWords},
    // Contexts and their windows
    {"PDC_PER_JOB", Kind::flag, "", 0, 1, UET_STACK(pds.pdc_per_job), "PDS-013",
     "1: jobs do not share packet delivery contexts"},
    {"RSV_PDCS", Kind::count, "contexts", 0, 32000, UET_STACK(pds.reserved_pdcs), "PDS-017",
     "Contexts that only requests for the reserved pool may take"},
    {"MPR", Kind::count, "multiples of 128 packets", 1, 16, UET_STACK(pds.mpr), "PDS-035",
     "PSN range that this side tracks and advertises"},
    {"DEFAULT_MPR", Kind::count, "multiples of 128 packets", 1, 255, UET_STACK(pds.default_mpr),
     "PDS-035", "PSN range assumed of a peer until it states one"},
    {"PSN_RANGE", Kind::count, "packets", 0, int64_t{1} << 31, UET_STACK(pds.psn_range_packets),
     "PDS-036",
     "PSNs that a context uses before another one takes over; 0: no limit (Limit_PSN_Range 0) in "
     "the clear, the default under transport security"},
    // Acknowledgement
    {"ACK_GEN_TRIGGER", Kind::octets, "octets", 0, 32768, UET_STACK(pds.ack_gen_trigger_bytes),
     "PDS-A7", "Received octets after which an ACK goes out unasked"},
    {"ACK_GEN_MIN_PKT_ADD", Kind::octets, "octets", 0, 2048,
     UET_STACK(pds.ack_gen_min_packet_bytes), "PDS-A7",
     "Octets that a short packet counts toward ACK_GEN_TRIGGER"},
    {"ENB_ACK_PER_PKT", Kind::flag, "", 0, 1, UET_STACK(pds.ack_per_packet), "PDS-A8",
     "1: acknowledge every packet by itself"},
    {"ACK_ON_ECN", Kind::flag, "", 0, 1, UET_STACK(pds.ack_on_ecn), "PDS-A6",
     "1: acknowledge congestion-marked packets at once"},
    {"ACK_FORM", Kind::count, "", 0, 2, UET_STACK(pds.ack_form), "PDS 8.3",
     "Form of ACKs. 0: the short ACK whenever it is enough. 1: ACK_CC. 2: ACK_CCX of a vendor. "
     "NSCC of a peer needs 1",
     "1; 0 with INTEROP=refprov"},
    {"CCX_TYPE", Kind::count, "", 14, 15, UET_STACK(pds.ccx_type), "WIRE-049", "Type of ACK_CCX"},
    {"MAX_ACK_DATA_SIZE", Kind::octets, "octets", 0, 16, UET_STACK(ses.ack_data_bytes_max),
     "PDS-166", "Most read data inside an ACK"},
    // Cells of a destination's buffer
    {"TFC_CELL_SIZE", Kind::octets, "octets", 16, 65536, UET_STACK(cms.tfc.cell_bytes), "CMS-147",
     "Size of a cell with CC=tfc. All peers must have the same"},
    {"TFC_PKT_OVERHEAD", Kind::octets, "octets", 0, 4096, UET_STACK(cms.tfc.packet_overhead_bytes),
     "CMS-147",
     "Octets added to each packet when its cells are counted, with CC=tfc. All peers must have "
     "the same"},
    {"TFC_INITIAL_CREDIT", Kind::octets, "octets", 0, int64_t{1} << 30,
     UET_STACK(cms.tfc.first_bytes), "CMS-147",
     "Buffer that a destination grants each peer and traffic class with CC=tfc; at least one "
     "packet with its overhead, at most 4,194,304 cells. 0: 1.5 times bandwidth by delay, at most "
     "128 KiB. All peers must have the same"},
    // Loss
    {"RTO_INIT_TIME", Kind::time, "us", 100, 8 * kSecond, UET_STACK(pds.rto_init), "PDS-140",
     "First retransmission time-out of a connection. It falls, within about ten measured round "
     "trips, to what they need"},
    {"RTO_MIN_TIME", Kind::time, "us", 100, 8 * kSecond, UET_STACK(pds.rto_min), "PDS-140",
     "Shortest retransmission time-out when round trips are known; more than RTO_INIT_TIME counts "
     "as that. Toward peers that answer Probes it is at least 4 times TAIL_LOSS_TIME. Raise "
     "RTO_INIT_TIME and this where hosts sleep for longer"},
    {"RTO_MAX_TIME", Kind::time, "us", 100, 8 * kSecond, UET_STACK(pds.rto_max), "PDS-140",
     "Upper bound of the retransmission back-off; less than RTO_INIT_TIME counts as that"},
    {"NACK_RETX_TIME", Kind::time, "us", 100, 8 * kSecond, UET_STACK(pds.nack_retx), "PDS-118",
     "Wait before a packet that was refused for lack of resources is sent again"},
    {"MAX_RTO_RETX_CNT", Kind::count, "", 0, 15, UET_STACK(pds.rto_retx_max), "PDS-148",
     "Time-outs of one packet before its context fails (TIMERS=spec only)"},
    {"MAX_NACK_RETX_CNT", Kind::count, "", 0, 31, UET_STACK(pds.nack_retx_max), "PDS-117",
     "Refusals of one packet before its context fails (TIMERS=spec only)"},
    {"TAIL_LOSS_TIME", Kind::time, "us", 100, 10 * kSecond, UET_STACK(pds.tail_loss), "PDS-145",
     "Silence after the last packet before a Probe asks the peer what has arrived; at least a "
     "round trip and a half"},
    {"MAX_TAIL_LOSS_RETX", Kind::count, "", 0, 15, UET_STACK(pds.tail_loss_max), "PDS-145",
     "Largest number of unanswered Probes in a row"},
    {"DISABLE_INDEX", Kind::flag, "", 0, 1, UET_STACK(ses.disable_index), "SES-132",
     "1: an ordered message without receive and room disables its index for all peers, instead of "
     "making its context wait"},
    {"NO_MATCH_RETRY_MIN", Kind::time, "us", 100, 60 * kSecond, UET_STACK(ses.retry_time_min),
     "SES-135", "Shortest wait before a message that found no receive is sent again"},
    {"NO_MATCH_RETRY_MAX", Kind::time, "us", 100, 60 * kSecond, UET_STACK(ses.retry_time_max),
     "SES-135", "Longest first wait before a message that found no receive is sent again"},
    // Clear and close
    {"PDS_CLEAR_TIME", Kind::time, "us", 0, 100 * kSecond, UET_STACK(pds.clear_time), "PDS-105",
     "Wait for a request that can carry the clear, before a Clear command is sent"},
    {"CLOSE_REQ_TIME", Kind::time, "us", 100, 10 * kSecond, UET_STACK(pds.close_req), "PDS-173",
     "Wait of a target for the close it asked for"},
    {"TOMBSTONE_TIME", Kind::time, "us", 1000, 60 * kSecond, UET_STACK(pds.tombstone_time),
     "PDS-176", "Time for which closed contexts are remembered"},
    // Security
    {.name = "TSS_AGENT",
     .kind = Kind::text,
     .unit = "a path of a Unix socket, 107 octets at most",
     .field = UET_TEXT(tss_agent),
     .source = "TSS-045",
     .help =
         "Socket of the key agent, as uet_keys serve makes it; new keys are taken while packets "
         "move. Without TSS=agent it is an error",
     .unset = "/run/uet/keys.sock",
     .example = "/home/me/keys.sock",
     .is_strict = true},
    {.name = "TSS_COUNTERS",
     .kind = Kind::text,
     .unit = "a file name",
     .field = UET_TEXT(tss_counters),
     .source = "TSS-043",
     .help = "File of the packet counters used with each key, of this host alone, made by "
             "uet_keys counters. All processes of the user share it",
     .unset = "/etc/uet/counters",
     .example = "/home/me/counters"},
    {.name = "TSS_KEYLOG",
     .kind = Kind::text,
     .unit = "a file name",
     .field = UET_TEXT(tss_keylog),
     .source = "TSS-136",
     .help = "File to which all keys are written, for Wireshark: anybody who can read it can "
             "decrypt all packets",
     .unset = "keys are written nowhere",
     .example = "/tmp/keylog"},
    // Secured contexts
    {"NEW_PDC_TIME", Kind::time, "us", 100, kSecond, UET_STACK(pds.new_pdc_time), "PDS-052",
     "Wait of a target for a SYN with the start that it asked for"},
    {"START_METHOD", Kind::count, "", 0, 1, UET_STACK(pds.start_method), "PDS 4.2",
     "First PSN of secured contexts. 0: the initiator chooses it, above a floor, and the target "
     "must not restart with the same key. 1: the target chooses it",
     "1"},
    {"EXPECTED_PSN_IN_CLOSE", Kind::flag, "", 0, 1, UET_STACK(pds.expected_psn_in_close_ack),
     "PDS-053",
     "1: the closing ACK of a secured context states the PSN at which the next one "
     "may begin"},
    {"PLAIN_NEW_START_PSN", Kind::flag, "", 0, 1, UET_STACK(pds.plain_new_start_psn), "PDS-054",
     "1: NEW_START_PSN is accepted in the clear, as the reference provider sends it"},
    // Without UDP
    {.name = "IP_PROTOCOL",
     .min = 143,
     .max = 254,
     .field = UET_FIELD(ip_protocol),
     .source = "WIRE-008",
     .help = "IP protocol of packets with IO=ip, ip-packet and ip-xdp. None is assigned to UET; "
             "253 and "
             "254 are for "
             "experiments"},
    {.name = "IP_CRC",
     .kind = Kind::flag,
     .max = 1,
     .field = UET_FIELD(ip_crc),
     .source = "WIRE-089",
     .help = "1: packets with IO=ip, ip-packet and ip-xdp end with a CRC, and received packets "
             "without the "
             "right CRC "
             "are dropped. 0: no CRC. All peers must have the same value"},
    // Trimming
    {"DSCP_TRIMMED", Kind::count, "", 0, 63, UET_STACK(pds.trimmed_dscp), "PDS-130",
     "DSCP of packets that a switch has trimmed"},
    {"DSCP_TRIMMED_LASTHOP", Kind::count, "", 0, 63, UET_STACK(pds.trimmed_lasthop_dscp), "PDS-130",
     "DSCP of packets that the last switch has trimmed"},
    // What peers of other makes take
    {"PROBE", Kind::flag, "", 0, 1, UET_STACK(pds.probe), "PDS-163",
     "0: send no probes, for peers that close their context when one arrives"},
    {"OPTIONAL_CONTROL", Kind::flag, "", 0, 1, UET_STACK(pds.optional_control), "PDS 22",
     "0: send no NOOP and no Clear Request, for peers that close their context when one arrives"},
    {"FATAL_NACKS", Kind::flag, "", 0, 1, UET_STACK(pds.fatal_nacks), "PDS 22",
     "0: send no NACK 0x10, 0x13 and 0x19, for peers that close their context when one arrives"},
    {"HDR_MEDIUM", Kind::flag, "", 0, 1, UET_STACK(ses.medium_headers), "SES-042",
     "1: messages of one packet use the medium header, which is 12 octets shorter. Every peer "
     "must accept it; the reference provider does not"},
    {"HDR_SMALL", Kind::flag, "", 0, 1, UET_STACK(ses.small_headers), "SES-041",
     "1: regions have keys of 12 bits where that is possible, and RMA of one packet to such keys "
     "uses the small header, to peers whose address states that they accept it"},
};

}  // namespace uet::prov
