// Tunables and fixed sizes of the semantic sublayer. Everything is decided at create; the sizes
// bound what peers can make us remember; of what peers share, one alone gets half.
#pragma once

#include "ses/profile.h"

#include "base/time.h"

#include <cstdint>

namespace uet::ses {

enum class DeferTo : uint8_t {
  nobody,
  who_keeps_nothing,  // peers of AI Full that are not HPC
  everybody,          // peers of AI Full
};

struct Config {
  // Octets of payload in every packet of a message but the last: 1024, 2048, 4096 or 8192, toward
  // peers without another agreed size. Received packets may have any of these sizes. [SES-032,
  // LF-131]
  uint16_t payload_mtu = 4096;
  // Octets; read data up to this travels inside the ACK, 0 .. 16. So little that no ACK is in the
  // class of trimmable packets. [PDS-166, SES-074, WIRE-018]
  uint16_t ack_data_bytes_max = 16;
  // Operations that this target serves; others get UNSUPPORTED_OP. The default is the set of the
  // reference provider and more. [SES-186]
  uint8_t profiles = kEveryProfile;
  // One-packet messages go with the medium header, and with the small one where the key allows it
  // and the peer's address says that it is taken. Off: the reference provider knows neither.
  // [SES-041, SES-042, SES-045]
  bool medium_headers = false;
  bool small_headers = false;
  // Octets; from this length on a message to an HPC peer goes by rendezvous: the part that does not
  // fit its first packet waits here for the target's reads. Off by default, for speed: a read needs
  // a request for each packet, a send does not; 1 MiB take 1.3 times as long, 64 MiB twice
  // (docs/performance.md). It is useful for messages without a receive: a target gives one peer
  // half of its room for these, and longer ones are sent again and again until a receive is posted.
  // [SES-088, LF-041]
  uint32_t rendezvous_bytes = UINT32_MAX;
  uint32_t rendezvous_sends = 1024;  // at once; more go as plain ones
  uint32_t rendezvous_reads = 64;    // messages whose rest is being read at one time; one peer:
                                     // half

  // To which peers of AI Full messages of at least defer_bytes go as deferrable sends, on RUD: a
  // target without a receive says when to send them again instead of keeping them or answering
  // NO_MATCH. Peers with HPC keep messages anyway. [LF-041, SES-185]
  DeferTo defer_to = DeferTo::who_keeps_nothing;
  uint32_t defer_bytes = 8192;       // [SES-102]
  uint32_t deferrable_sends = 4096;  // unfinished at once; more go as plain ones
  // Deferred messages at each endpoint, of one peer half; then NO_MATCH. The reference provider has
  // 8; ours are some 300 octets each, taken from unexpected_messages. [SES-035]
  uint32_t deferred_messages = 1024;
  uint32_t restarts = 64;  // ready-to-restarts under way at once; to one peer half
  // A deferred send starts again when the target is silent for this time, and a target forgets a
  // deferred message after twice this time: a send that comes again in time keeps its place. The
  // reference provider drops both after 5 s, and the send fails. [SES-101]
  Duration deferral_time = Duration::seconds(5);

  // ROD message without a receive or room: answers DISABLED_GEN, and no message to that index is
  // accepted until there is room. Off: only the PDC waits, by NACK NO_RESOURCE. Use it with the
  // reference provider, which gives a PDC up after five of those. [SES-132, SES-188]
  bool disable_index = false;

  // Octets of payload kept for messages that no receive matched yet, for the whole FEP. The memory
  // is touched when used. Ours: 64 MiB holds 16,000 small messages. [SES-126] Of this and of
  // the next two, a peer gets no more than it leaves to the others.
  uint64_t unexpected_bytes = uint64_t{64} << 20;
  uint32_t unexpected_messages = 16384;  // such messages at most
  uint32_t rx_messages = 4096;           // multi-packet messages being received at once
  // False, for simulations: payload that waits for a receive takes room, but its octets are not
  // kept; the receive gets arbitrary ones.
  bool keeps_octets = true;
  uint32_t return_messages = 16384;  // read answers on their way back, one a packet
  // Packets of one flow's reads at once, or one read of any length: a peer that has no place for
  // another answer asks for the packet again.
  uint32_t read_packets = 2048;
  // Octets of data that one peer may have requested and not yet received; its next reads wait.
  // [T-39]
  uint32_t read_quota_bytes = uint32_t{64} << 20;
  uint32_t fetch_buffers = 64;      // buffers for atomics that do not fit an ACK, 1 KiB each
  uint32_t memory_regions = 65536;  // registered at once
  uint32_t long_injects = 128;      // unfinished injected messages above 256 octets, 8 KiB each
  // Operations with more than 4 iov elements at once, and as many receives: 1 KiB each. Two pools,
  // so that receives which wait for sends do not keep these from being posted.
  uint32_t long_iovs = 16384;
  uint32_t receives = 4194302;    // posted at once, of all endpoints; at most 4194302
  uint32_t operations = 1048576;  // unfinished at once, of all endpoints; at most 1048576
  uint32_t remotes = 65536;       // (endpoint, remote endpoint) pairs remembered at once
  uint32_t flows = 65536;         // (peer, class, mode, job) in use at once
  // Pairs that were idle for this time are forgotten, with their records and flows; zero: only when
  // the room is needed, or with their peer. [PDS-247]
  Duration idle_time = Duration::seconds(10);
  uint32_t endpoints = 64;  // open at once

  // A message that nothing arrived for in this time is completed in error. The specification's
  // profile says 5 s; a stopped peer is normal, so ours is the peer time-out. [SES-108]
  Duration partial_message_time = Duration::seconds(60);
  // NO_MATCH and DISABLED_GEN: resend after a random time in [min, max], doubled each time, never
  // above the cap, for as long as the peer answers: its application is slow. [SES-135, SES-191]
  Duration retry_time_min = Duration::milliseconds(50);
  Duration retry_time_max = Duration::milliseconds(100);
  Duration retry_time_cap = Duration::milliseconds(200);
  // Pause of an operation whose read data is missing, or that probes its peer. After five times as
  // long, a refusal that no application can end, for example BAD_GENERATION, becomes the error.
  // [SES-191, decision 4]
  Duration retry_patience = Duration::seconds(60);
  // Tries at most, 0: no limit. The specification's profile says 5.
  uint32_t retry_limit = 0;
};

}  // namespace uet::ses
