// RUDI at the initiator: packets that are outstanding each for itself, known by pkt_id, resent by
// their own time-out. The target's side is RudiTarget. [PDS-200 .. PDS-208]
#pragma once

#include "pds/connectionless/pkt_ids.h"
#include "pds/connectionless/surroundings.h"
#include "pds/path_limit.h"
#include "pds/schedule/flow.h"
#include "pds/tx/loss_detector.h"

#include "cms/config.h"
#include "cms/entropy/oblivious.h"
#include "wire/pds.h"

#include "base/arena.h"
#include "base/hash_map.h"
#include "base/packet.h"
#include "base/random_source.h"
#include "base/slab.h"
#include "base/timer_wheel.h"

namespace uet::pds {

// One remote FEP: the window that replaces congestion control, and the round trip. [PDS-205]
struct RudiDestination {
  RudiDestination(PeerId p, uint32_t window_max, const cms::Config& config, Rng& rng)
      : peer(p), window(window_max), ev(config, rng) {}

  PeerId peer;
  uint32_t flows = 0;        // that use it
  uint32_t window;           // packets; 1 .. rudi_window
  uint32_t outstanding = 0;  // packets; at most rudi_window
  uint32_t in_flight = 0;    // packets of these that have not timed out; at most `window`
  uint32_t clean = 0;        // unmarked responses since the window last changed
  Instant shrink_at;         // not before: once per time-out
  RtoEstimator rtt;
  cms::ObliviousSelector ev;                  // [CMS-151]
  IntrusiveList<Flow, ReadyFlowTag> blocked;  // flows that wait for the window
};

// One request packet that is not answered yet.
struct RudiPacket : ListNode<struct RudiLostTag> {
  PktId id;
  PacketRef ref;
  Flow* flow = nullptr;
  Entropy ev;
  bool resent = false;
  bool delayed = false;  // refused for now: the timer is NACK_Retx_Time
  bool overdue = false;  // has timed out: not in flight any more
  uint8_t rto_count = 0;
  uint8_t nack_count = 0;
  uint32_t bytes = 0;  // of the datagram, with its seal
  Instant sent_at;
  Instant silent_since;  // first sent, or the last NACK about it
  TimerNode timer;
};

class Rudi {
 public:
  Rudi(const Surroundings& with, const cms::Config& cms, RandomSource& random)
      : with_(with), cms_(cms), random_(random), rng_(random.u64()), ids_(random.u64()) {}
  Result<void> create(Arena& arena);

  // Prepares a flow of this mode; Errc::again: too many destinations.
  Result<void> adopt(Flow& flow);
  // Call before the flow is freed; no packet of the flow may be outstanding.
  void leave(Flow& flow);
  // The flow may have a message for start().
  void wake(Flow& flow);
  void on_response(const RxDatagram& d, Instant now);
  void on_nack(const wire::Nack& h, const RxDatagram& d, Instant now);
  uint32_t transmit(TxBatch& batch, Instant now);
  void advance(Instant now);
  Instant next_deadline() const;
  bool has_work() const { return !lost_.empty() || !ready_.empty(); }
  // Every outstanding packet fails.
  void abort(Instant now);
  // Ends the packets to the peer that are too long for the route. [PDS-250]
  bool has_too_long(PeerId peer, const PathLimit& limit);
  void end_too_long(PeerId peer, const PathLimit& limit, Instant now);
  uint32_t outstanding() const { return packets_.size(); }

 private:
  RudiPacket* find(PktId id, const RxDatagram& d);
  bool send_new(Flow& flow, TxBatch& batch, Instant now);
  void emit(RudiPacket& packet, TxBatch& batch, Instant now);
  void on_timer(RudiPacket& packet, Instant now);
  bool is_window_open(const RudiDestination& to) const;
  void leave_flight(RudiPacket& packet);
  bool is_given_up(const RudiPacket& packet, Failure& failure, Instant now) const;
  void mark_lost(RudiPacket& packet, Count cause);
  void delay(RudiPacket& packet, Instant now);
  void fail(RudiPacket& packet, const Failure& failure, Instant now);
  void forget(RudiPacket& packet);
  void shrink(RudiDestination& to, Instant now);
  void grow(RudiDestination& to);
  Duration rto_of(const RudiPacket& packet) const;

  Surroundings with_;
  cms::Config cms_;
  RandomSource& random_;
  Rng rng_;  // for what may be guessed
  PktIds ids_;
  TimerWheel wheel_;
  Slab<RudiDestination> destinations_;
  HashMap<PeerId, RudiDestination*> by_peer_;
  Slab<RudiPacket> packets_;
  HashMap<PktId, RudiPacket*> by_id_;
  IntrusiveList<RudiPacket, RudiLostTag> lost_;  // to be sent again
  IntrusiveList<Flow, ReadyFlowTag> ready_;      // may have new packets
  IntrusiveList<Flow, ReadyFlowTag> starved_;    // wait for a free RudiPacket
};

}  // namespace uet::pds
