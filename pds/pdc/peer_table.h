// The remote FEPs this one knows, keyed by Fabric Address. Shared by PDS (PDC keys, congestion
// contexts) and SES (source matching). Lives in pds/ because everything above may include it.
#pragma once

#include "pds/door/token_bucket.h"
#include "pds/pdc/host_table.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/hash_map.h"
#include "base/intrusive_list.h"
#include "base/packet.h"
#include "base/result.h"
#include "base/serial.h"
#include "base/slab.h"
#include "base/time.h"

#include <algorithm>
#include <cstdint>

namespace uet::pds {

struct Context;

// One remote FEP. References keep it: AV entries (explicit), PDCs and flows. [decision 15]
struct Peer : ListNode<struct PeerSpareTag> {
  FabricAddress address;
  uint32_t refs = 0;
  uint16_t payload_mtu = 0;        // octets; what its address states, 0: not stated [LF-131]
  uint8_t payload_units = 0;       // 256 octets each; see agree_payload()
  bool private_mark : 1 = false;   // answers go to its own port, not 4793 [WIRE-121]
  bool no_probe : 1 = false;       // it refused a Probe [PDS-163]
  bool is_path_small : 1 = false;  // the route carries less than it did when that was agreed
  Instant last_heard;  // last packet that proved its sender; zero: never [PDS-256, decision 4]
  Instant unreachable_since = Instant::never();  // first ICMP error of an unbroken series
  Instant unreachable_last;                      // latest one
  uint32_t listed = 0;                           // entries of address vectors that name it
  uint32_t host = 0;                             // see PeerTable::host_of()
  TokenBucket nacks;                             // that it may cause [PDS-072]
  TokenBucket connectionless;  // RUDI and UUD requests of the peer that are admitted [T-41]
  // PDCs that it opened, and how many of these it has not shown to know. [T-02]
  uint16_t targets = 0;
  uint16_t half_open = 0;
  // Last answer to a control packet of an unknown type, in ms; 0: never. [PDS-071]
  uint32_t odd_control_ms = 0;
  // What this peer holds of common resources, so that others keep a part. Each unit is also counted
  // in its host, and its owner holds a reference to the peer.
  uint16_t rx_messages = 0;    // multi-packet messages being received,
  uint16_t pulls = 0;          // rests of its messages that are being read
  uint16_t calls = 0;          // ready-to-restarts to the peer that are under way
  uint8_t next_ccc_id = 0;     // of the next context toward it, if that is free [CMS-006]
  uint8_t room_units = 0;      // see room()
  uint32_t kept_messages = 0;  // that no receive matched yet
  uint32_t kept_pages = 0;     // of their payload
  uint32_t answers = 0;        // read data on its way to the peer [T-39]
  uint32_t answer_bytes = 0;   // of data in these
  uint32_t responses = 0;      // places that its PDCs take in the store of responses [PDS-255]
  uint32_t reordered = 0;      // ROD packets of the peer that wait for their turn [PDS-255]
  uint32_t fetches = 0;        // buffers of old values on their way to the peer
  uint32_t rests = 0;          // known rendezvous messages of the peer
  // Congestion contexts toward the peer, and the base RTT that one of them has measured; 0: none.
  // [CMS-008]
  Context* first_context = nullptr;  // see Context::next_of_peer
  uint32_t base_rtt_ns = 0;
  uint32_t base_rtt_ms = 0;  // when its measuring began; wraps

  static constexpr uint32_t kRoomUnit = 64 * 1024;  // octets

  // Payload that both ends and the route allow in packets to the peer. [LF-131]
  void agree_payload(uint32_t octets) {
    payload_units = static_cast<uint8_t>(octets / 256);
    is_path_small = false;
  }
  // The route has become smaller, and that much is left: until agree_payload(). [LF-141]
  void lower_payload(uint32_t octets) {
    agree_payload(octets);
    is_path_small = true;
  }
  // A packet with `octets` octets of payload is too long for the path.
  bool is_beyond_path(uint32_t octets) const {
    return is_path_small && octets > payload_units * 256u;
  }
  // Octets of payload in packets to it, where `own` is what this FEP uses by default.
  uint32_t payload_toward(uint32_t own) const {
    if (payload_units != 0) return payload_units * 256u;
    return payload_mtu == 0 ? own : std::min<uint32_t>(payload_mtu, own);
  }
  // Octets that may be in flight to the peer, apart from congestion: the size of the memory that
  // both share. In 64 KiB; 0: no limit. [decision 21]
  void set_room(uint32_t octets) {
    room_units = static_cast<uint8_t>(std::min(octets / kRoomUnit, 255u));
  }
  uint32_t room() const { return room_units == 0 ? UINT32_MAX : room_units * kRoomUnit; }
  bool states_payload() const { return payload_units != 0 || payload_mtu != 0; }
  // Octets of payload that a READ request to the peer implies for each of its packets, if the first
  // one does not carry all. [SES-017]
  uint32_t implied_payload(uint32_t own) const { return payload_mtu == 0 ? own : payload_mtu; }

  // A packet has proven that it is of this peer: the peer lives. [PDS-256]
  void note_heard(Instant now) {
    last_heard = now;
    unreachable_since = Instant::never();
  }

  // True when an operation waits since `waiting_since`, only ICMP errors have come from the peer
  // for `limit`, and one of them came after the last transmission at `sent`: an older error may be
  // outdated, because a new process may have the port. [PDS-249]
  bool is_unreachable(Instant waiting_since, Instant sent, Duration limit, Instant now) const {
    if (unreachable_since.is_never() || unreachable_last <= sent) return false;
    return now - unreachable_last < limit &&
           unreachable_last - std::max(unreachable_since, waiting_since) >= limit;
  }
};
static_assert(sizeof(Peer) <= 160, "decision 15: budget of a peer");

// How many remote FEPs there can be.
struct PeerLimits {
  uint32_t first = 64;       // records with memory from the start
  uint32_t most = 1u << 20;  // at once
  uint32_t spare = 1024;     // remembered without a reference; the longest spare one gives way
};

// An id names one peer for as long as that is referenced: when the record is reused it gets another
// one, so an old id that was kept without a reference matches no peer.
class PeerTable {
 public:
  PeerTable() = default;
  PeerTable(const PeerTable&) = delete;
  PeerTable& operator=(const PeerTable&) = delete;

  // Memory is taken as peers come. The arena must outlive this object.
  Result<void> create(Arena& arena, const PeerLimits& limits, uint64_t hash_seed);
  // `capacity` peers at most, all of which may be spare.
  Result<void> create(Arena& arena, uint32_t capacity, uint64_t hash_seed) {
    return create(arena, PeerLimits{capacity, capacity, capacity}, hash_seed);
  }

  // The peer with that address, made if unknown; again when the table is full of referenced peers
  // or no memory is left. The new peer has no reference: take one before the next call.
  Result<PeerId> find_or_add(const FabricAddress& address, Instant now);
  // The peer with that address, or null.
  Peer* find(const FabricAddress& address, PeerId& id);

  Peer& operator[](PeerId id) { return peers_.at(index_of(id)); }
  const Peer& operator[](PeerId id) const { return const_cast<PeerTable*>(this)->operator[](id); }
  // What this peer and the other peers with its IP address hold together.
  Host& host_of(const Peer& peer) { return hosts_[peer.host]; }
  Host& host_of(PeerId id) { return host_of((*this)[id]); }
  // PDCs that it opened, for it and its host.
  void count_target(PeerId id, int change);
  void count_half_open(PeerId id, int change);
  // Places in the store of responses, for both. [PDS-255]
  void count_responses(PeerId id, int change);
  void count_reordered(PeerId id, int change);
  void add_ref(PeerId id);
  void drop_ref(PeerId id);
  // An address vector entry names the peer, or no longer does. True: no entry names it any more,
  // but other references remain.
  void list(PeerId id) {
    add_ref(id);
    ++(*this)[id].listed;
  }
  [[nodiscard]] bool unlist(PeerId id) {
    Peer& peer = (*this)[id];
    UET_ASSERT(peer.listed > 0);
    const bool is_last = --peer.listed == 0;
    drop_ref(id);
    return is_last && peer.refs != 0;
  }
  uint32_t size() const { return peers_.size(); }  // known, spare ones included
  uint32_t spare() const { return spare_count_; }
  uint32_t hosts() const { return hosts_.size(); }

 private:
  // The first peer of a slot has its index as id, later ones a generation above it.
  static constexpr unsigned kIndexBits = Handle<Peer>::kIndexBits;
  static uint32_t index_of(PeerId id) { return id.value() & Handle<Peer>::kIndexMask; }
  PeerId id_of(const Peer& peer) const {
    const Handle<Peer> handle = peers_.handle(&peer);
    return PeerId((handle.generation() - 1) << kIndexBits | handle.index());
  }
  bool drop_longest_spare();

  Slab<Peer> peers_;
  HostTable hosts_;
  HashMap<FabricAddress, PeerId> by_address_;
  // Peers without a reference, the longest first: they give way from the front.
  IntrusiveList<Peer, PeerSpareTag> spare_;
  uint32_t spare_count_ = 0;
  uint32_t spare_most_ = 0;
};

}  // namespace uet::pds
