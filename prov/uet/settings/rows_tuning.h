// Settings of level tuning: how much and how fast. Rows of the table; see setting.h. For table.cpp
// only.
#pragma once

#include "prov/uet/settings/fields.h"
#include "prov/uet/settings/setting.h"

namespace uet::prov {

inline constexpr Word kSprayingWords[] = {
    {"oblivious", static_cast<int64_t>(cms::Spraying::oblivious)},
    {"bitmap", static_cast<int64_t>(cms::Spraying::bitmap)},
    {"reps", static_cast<int64_t>(cms::Spraying::reps)},
    {"mixed", static_cast<int64_t>(cms::Spraying::mixed)}};
inline constexpr Word kAfterLossWords[] = {
    {"rest", static_cast<int64_t>(cms::AfterLoss::rest)},
    {"exclude", static_cast<int64_t>(cms::AfterLoss::exclude)},
    {"nothing", static_cast<int64_t>(cms::AfterLoss::nothing)}};

inline constexpr Setting kTuningRows[] = {
    // Threads
    {"ENGINES", Kind::count, "engines", 1, 16, UET_FIELD(engines), "LF-145",
     "Engines of a domain, each with sockets, contexts and a lock of its own. Endpoints that share "
     "no queue, counter or receive context run in different ones, so that their threads do not "
     "wait "
     "for each other"},
    // Contexts
    {"PDCS_PER_KEY", Kind::count, "contexts", 1, 64, UET_STACK(pds.pdcs_per_key), "PDS-061",
     "Unordered contexts toward one peer, so that short messages pass long ones"},
    {"TX_WINDOW", Kind::count, "packets", 1, 2048, UET_STACK(pds.tx_window_packets), "PDS-037",
     "Packets outstanding per context"},
    {"TARGET_FLOOR", Kind::share, "MAX_PDCS", 0, 50, UET_STACK(pds.target_floor_percent), "PDS-018",
     "Contexts reserved for each role, initiator and target, so that neither takes all"},
    {"HALF_OPEN", Kind::share, "MAX_PDCS", 1, 100, UET_STACK(pds.half_open_percent), "T-01",
     "Largest number of contexts of peers that have not yet shown that they received the first "
     "answer"},
    {"CHALLENGE_ABOVE", Kind::count, "contexts", 0, 65000, UET_STACK(pds.challenge_above),
     "PDS-251",
     "Number of contexts of peers that have not shown that they receive our packets, from which on "
     "a new peer must show it before it gets a context, which costs it a round trip. At most a "
     "16th of MAX_PDCS; 0: never"},
    {"NEWCOMER_SHARE", Kind::share, "MAX_PDCS", 0, 50, UET_STACK(pds.newcomer_percent), "PDS-253",
     "Contexts that only hosts without a context may open"},
    {"PEER_SHARE", Kind::share, "", 1, 100, UET_STACK(pds.peer_share_percent), "T-02",
     "Share of one peer in the contexts that peers may open: at most this part of the free ones "
     "and its own together, so that some are left. All peers with one IP address together leave "
     "at least half as many"},
    {"JOB_SHARE", Kind::share, "", 1, 100, UET_STACK(pds.job_share_percent), "T-02",
     "Share of all peers of one job, or of one secure domain, in the contexts that peers may open"},
    {"CREDIT_SOURCES", Kind::count, "peers", 1, 65536, UET_STACK(pds.credit_sources), "T-34",
     "Peers whose requests for credit are kept"},
    {"LOW_WATER", Kind::share, "MAX_PDCS", 0, 100, UET_STACK(pds.low_water_percent), "PDS-181",
     "Free contexts below which idle ones are closed"},
    {"PDC_IDLE_TIME", Kind::time, "us", 1000, 86400 * kSecond, UET_STACK(pds.idle_time), "ours",
     "Idle time after which contexts are closed"},
    {"GD_ENTRIES", Kind::count, "responses", 1, 1 << 22, UET_STACK(pds.gd_entries), "PDS-109",
     "Responses of all contexts that are kept until the peer has cleared them"},
    {"GD_PER_PDC", Kind::count, "responses", 1, 65535, UET_STACK(pds.gd_per_pdc), "PDS-109",
     "Responses of one context that are kept until the peer has cleared them"},
    {"ENTROPY_VALUES", Kind::count, "", 1, 65536, UET_STACK(cms.entropy_values), "PDS-004",
     "Entropy values that unordered traffic is sprayed over",
     "the number of the domain's ports, 7 at most"},
    {"PACKETS_PER_ENTROPY", Kind::count, "packets", 1, 64, UET_STACK(pds.packets_per_entropy),
     "PDS-004",
     "Packets of a context in a row with the same entropy value, or four times as many of less "
     "than 512 octets; 1: each packet has its own",
     "the number that leaves in one system call"},
    // Messages and memory
    {"UNEXPECTED_MESSAGES", Kind::count, "messages", 1, 1 << 22, UET_STACK(ses.unexpected_messages),
     "SES-126", "Largest number of messages that arrived before their receive"},
    {"MEMORY_REGIONS", Kind::count, "regions", 1, 1 << 22, UET_STACK(ses.memory_regions), "ours",
     "Memory regions registered at once"},
    {.name = "MR_DOMAIN",
     .kind = Kind::flag,
     .max = 1,
     .field = UET_FIELD(mr_domain),
     .source = "LF-038",
     .help = "0: applications must offer FI_MR_ENDPOINT and bind regions to endpoints"},
    {.name = "IDEMPOTENT",
     .kind = Kind::flag,
     .max = 1,
     .field = UET_FIELD(idempotent),
     .source = "LF-027",
     .help = "1: every memory region may be written twice without harm"},
    {"READ_QUOTA", Kind::octets, "octets", 65536, int64_t{1} << 31, UET_STACK(ses.read_quota_bytes),
     "T-39",
     "Read data in flight to one peer; when it is reached, the next reads of that peer "
     "wait"},
    {"RNDV_SIZE", Kind::octets, "octets", 1, int64_t{0xFFFF'FFFF}, UET_STACK(ses.rendezvous_bytes),
     "SES-088",
     "Messages of at least this length to HPC peers use rendezvous: the target reads what does "
     "not fit into the first packet. Off by default, because each packet that is read costs a "
     "request. Useful for programs that send long messages before the target has a receive"},
    {"RNDV_READS", Kind::count, "messages", 2, 4096, UET_STACK(ses.rendezvous_reads), "ours",
     "Rendezvous messages that the target reads at once; one peer gets no more places than it "
     "leaves free"},
    {"DEFER_SIZE", Kind::octets, "octets", 1, int64_t{0xFFFF'FFFF}, UET_STACK(ses.defer_bytes),
     "SES-102",
     "Unordered messages of at least this length are deferrable sends, to the peers that DEFER "
     "selects: a target without a receive refuses them, and requests them again when it has one"},
    {"DEFER", Kind::count, "", 0, 2, UET_STACK(ses.defer_to), "LF-041",
     "Peers that get deferrable sends. 0: none. 1: AI Full peers that are not HPC (HPC peers "
     "keep messages that arrive before their receive). 2: all AI Full peers"},
    {"DEFERRED_MESSAGES", Kind::count, "messages", 0, 1 << 20, UET_STACK(ses.deferred_messages),
     "SES-035",
     "Largest number of deferrable sends that wait for a receive of an endpoint; one peer gets "
     "no more places than it leaves free"},
    // Modes without contexts
    {"RUDI_WINDOW", Kind::count, "packets", 1, 65536, UET_STACK(pds.rudi_window), "PDS-205",
     "Idempotent requests outstanding toward one peer (MODE=rudi)"},
    {"UUD_RATE", Kind::count, "packets per second", 0, 100'000'000,
     UET_STACK(pds.uud_packets_per_second), "PDS-212",
     "Datagrams sent by all endpoints together; 0: no limit"},
    {"SOURCE_RATE", Kind::count, "packets per second", 0, 100'000'000,
     UET_STACK(pds.source_packets_per_second), "T-41",
     "Datagrams and idempotent requests of one peer that are processed; 0: all"},
    // Acknowledgement and loss
    {"QUIET_PACKETS", Kind::count, "messages", 0, 63, UET_STACK(pds.quiet_packets), "PDS-064",
     "Messages in a row that request no ACK, among those that have already completed (injected "
     "or copied); 0: each of them requests one"},
    {"QUIET_TIME", Kind::time, "us", 100, 100'000, UET_STACK(pds.quiet_time), "ours",
     "Wait before one ACK Request asks for all messages that requested no ACK"},
    {"ACK_GEN_PACKETS", Kind::count, "packets", 0, 255, UET_STACK(pds.ack_gen_packets), "PDS-A7",
     "Received packets after which an ACK goes out unasked; 0: octets only"},
    {"ACK_DELAY_MAX", Kind::time, "us", 0, kSecond, UET_STACK(pds.ack_delay_max), "PDS-083",
     "Age of a packet at which an ACK goes out unasked; 0: never for that reason"},
    {"OOO_PACKETS", Kind::count, "packets", 1, 1024, UET_STACK(pds.ooo_packets_min), "PDS-143",
     "Packets acknowledged past a gap before the gap counts as lost"},
    {"OOO_PACKETS_SINGLE", Kind::count, "packets", 1, 1024, UET_STACK(pds.ooo_packets_single_path),
     "PDS-144",
     "Packets acknowledged past a gap before the gap counts as lost, where all packets take one "
     "path"},
    {"ROD_REORDER", Kind::flag, "", 0, 1, UET_STACK(pds.rod_reorder), "PDS-079",
     "1: ordered contexts hold back what arrives early. 0: they drop it"},
    {"NACKS_PER_PEER", Kind::count, "per second", 1, 10'000'000,
     UET_STACK(pds.nacks_per_second_per_peer), "PDS-072",
     "NACKs and Probe answers that one peer may cause"},
    {"DUPLICATE_ANSWERS", Kind::count, "per second", 10, 10'000'000,
     UET_STACK(pds.duplicate_answers_per_second), "TSS-072",
     "Answers to packets of one secured context that were received before; a tenth of it at once"},
    {"NACKS_NO_PDC", Kind::count, "per second", 1, 10'000'000,
     UET_STACK(pds.nacks_per_second_no_pdc), "PDS-072",
     "NACKs for packets of no context, in all; one host gets half of them at most"},
    {"UNREACHABLE_TIME", Kind::time, "us", 1000, 3600 * kSecond, UET_STACK(pds.unreachable_time),
     "ours", "Operations toward a peer fail when only ICMP errors have come for this long"},
    {.name = "LINGER",
     .kind = Kind::time,
     .unit = "ms",
     .max = 600 * kSecond,
     .field = UET_FIELD(linger),
     .source = "ours",
     .help = "Longest time that closing an endpoint, and exit(), wait for the acknowledgement of "
             "messages that completed when they were copied"},
    // Congestion
    {.name = "LINK_SPEED",
     .unit = "Mb/s",
     .min = 10,
     .max = 3'200'000,
     .field = UET_STACK(cms.link_mbps),
     .source = "CMS-045",
     .help = "Rate of the link, for the congestion window",
     .unset = "what the interface reports; 100000 where it has no rate of its own"},
    {"BASE_RTT", Kind::time, "us", 1, kSecond, UET_STACK(cms.base_rtt), "CMS-044",
     "Round trip of one packet over the longest path without other traffic, with the time that "
     "both hosts take",
     "200us"},
    {"BASE_RTT_CACHE_TIME", Kind::time, "us", 0, 86400 * kSecond, UET_STACK(cms.base_rtt_time),
     "CMS-008",
     "Age up to which the shortest measured round trip to a peer is used again when traffic to "
     "it resumes"},
    {"CCC_IDLE_TIME", Kind::time, "us", 0, 60 * kSecond, UET_STACK(cms.idle_time), "CMS-008",
     "Pause after which a congestion window starts again from its initial value"},
    {"TRIMMING", Kind::flag, "", 0, 1, UET_FIELD_AND_STACK(trimming, cms.trimming), "CMS-049",
     "1: the switches trim packets instead of dropping them; data then has a DSCP that they may "
     "trim (FI_UET_DSCP_DATA). UDP sockets never see trimmed packets",
     "0"},
    {"PACING", Kind::share, "a window in a round trip", 0, 1000, UET_STACK(cms.pacing_percent),
     "ours", "Pace at which a window leaves; 0: at once"},
    {"INITIAL_WINDOW", Kind::count, "packets", 0, 4096, UET_STACK(cms.initial_window_packets),
     "ours",
     "Initial congestion window; 0: enough for 128 KiB of payload, with nscc and both 16 KiB "
     "toward a peer whose round trip is not known"},
    {"WINDOW_BYTES_MAX", Kind::octets, "octets", 65536, int64_t{1} << 31,
     UET_STACK(cms.window_bytes_max), "ours", "Largest congestion window",
     "2MiB, but no more than the socket's receive buffer"},
    {"MEMORY_PRESSURE", Kind::share, "UNEXPECTED_BYTES", 0, 99, UET_STACK(pressure_percent),
     "CMS-116",
     "Part of the memory for unexpected messages: while it is in use, the receiver asks all "
     "senders to send less; 0: never"},
    // Entropy values
    {.name = "SPRAYING",
     .kind = Kind::choice,
     .max = static_cast<int64_t>(cms::Spraying::mixed),
     .field = UET_STACK(cms.entropy.spraying),
     .source = "CMS-162",
     .help = "How unordered traffic chooses its entropy values. oblivious: each in turn, in a "
             "random order. bitmap: as that, without those that are marked. reps: those that were "
             "good a round trip ago. mixed: good ones first, else as bitmap",
     .words = kSprayingWords},
    {.name = "AFTER_LOSS",
     .kind = Kind::choice,
     .max = static_cast<int64_t>(cms::AfterLoss::nothing),
     .field = UET_STACK(cms.entropy.after_loss),
     .source = "CMS-155",
     .help = "Treatment of the entropy value of a lost packet. rest: it gets PENALTY_TIMEOUT, "
             "for networks whose routes change by themselves. exclude: it is not used until a "
             "probe of it arrives, for networks in which each value keeps its route. nothing: "
             "for networks that spray each packet by themselves",
     .words = kAfterLossWords},
    {"PENALTY_ECN", Kind::count, "", 0, 15, UET_STACK(cms.entropy.penalty_ecn), "CMS-159",
     "Penalty of an entropy value whose packet was marked: how many times the value is skipped, "
     "and for at least a round trip"},
    {"PENALTY_NACK", Kind::count, "", 0, 15, UET_STACK(cms.entropy.penalty_nack), "CMS-159",
     "The same for a packet that a switch has trimmed"},
    {"PENALTY_TIMEOUT", Kind::count, "", 0, 15, UET_STACK(cms.entropy.penalty_timeout), "CMS-159",
     "The same for a packet that was lost"},
    {"PENALTY_MAX", Kind::count, "", 0, 15, UET_STACK(cms.entropy.penalty_max), "CMS-159",
     "Largest sum of the penalties of an entropy value"},
    {"PENALTY_SATURATION", Kind::share, "the entropy values", 0, 100,
     UET_STACK(cms.entropy.saturation_percent), "CMS-154",
     "Part of the entropy values: while that many have a penalty, none is skipped, because the "
     "whole network is congested"},
    {"REPS_RING", Kind::count, "", 1, 64, UET_STACK(cms.entropy.ring), "CMS-160",
     "Good entropy values that SPRAYING=reps remembers"},
    {"REPS_EXPLORE", Kind::count, "packets", 0, 255, UET_STACK(cms.entropy.explore_packets),
     "CMS-161", "Bursts with random entropy values after a freeze (SPRAYING=reps)"},
    {"REPS_FREEZE_TIME", Kind::time, "us", 0, 10 * kSecond, UET_STACK(cms.entropy.freeze_time),
     "CMS-161",
     "Time after a time-out during which only entropy values are used that were good before "
     "(SPRAYING=reps)"},
    {"EXCLUDED_PROBE_TIME", Kind::time, "us", 100, 60 * kSecond,
     UET_STACK(cms.entropy.probe_interval), "CMS-155",
     "Time between packets that try an excluded entropy value (AFTER_LOSS=exclude)"},
    {"ENTROPY_REUSE", Kind::count, "round trips", 0, 255, UET_STACK(cms.entropy.reuse_rtts),
     "CMS-153",
     "Round trips at full rate whose packets have an entropy value each: bounds how many of "
     "ENTROPY_VALUES are used, 16 at least; 0: no bound"},
    {"REROUTE_RTTS", Kind::count, "round trips", 10, 1'000'000, UET_STACK(cms.entropy.reroute_rtts),
     "CMS-150",
     "Round trips between changes of the entropy value of ordered traffic while packets of it are "
     "under way"},
};

}  // namespace uet::prov
