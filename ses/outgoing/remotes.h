// Owns the records of remote endpoints: finds or makes a Remote for each (endpoint, remote
// endpoint), and forgets those that were idle for long or whose peer the application forgot.
#pragma once

#include "ses/endpoint.h"
#include "ses/outgoing/flows.h"
#include "ses/outgoing/remote.h"
#include "ses/resources.h"

#include "base/hash_map.h"
#include "base/slab.h"

#include <array>
#include <cstdint>

namespace uet::ses {

class Remotes {
 public:
  static constexpr uint8_t kSweepTimer = 2;

  Remotes(Resources& res, Flows& flows) : res_(res), flows_(flows) {}
  // Additional records for operations of SES itself.
  Result<void> create(uint32_t internal, Rng& rng);

  // Finds or makes one. Errc::again: no room, or no flow.
  Result<Remote*> get(Endpoint& ep, const Destination& to, bool is_internal = false);
  // Finds or makes the flow of that mode toward the peer.
  Result<Flow*> flow(const Endpoint& ep, PeerId peer, pds::Mode mode, JobId job);
  // An operation uses a flow other than that of its remote; it leaves the flow when it ends.
  void enter(Flow& flow) { flows_.enter(flow); }
  // The user's first record whose requests carry that initiator ID, or null. [SES-102]
  const Remote* of_source(EndpointId ep, PeerId peer, uint32_t initiator) const;

  // Nothing is unfinished toward it: it may be forgotten.
  void rest(Remote& remote);
  // The application forgets the peer: idle records toward it go now, the rest when they become
  // idle.
  void forget_peer(PeerId peer);
  // The timer of kind kSweepTimer expired: forgets records that were idle for long.
  void sweep();

 private:
  // The sender of requests with that initiator ID, by our endpoint. [SES-102]
  struct SourceKey {
    uint32_t endpoint = 0;
    PeerId peer;
    uint32_t initiator = 0;
    bool operator==(const SourceKey&) const = default;
    friend uint64_t hash_of(const SourceKey& k, uint64_t seed) {
      return hash64(uint64_t{k.endpoint} << 32 | k.peer.value(), k.initiator, seed);
    }
  };

  Result<Remote*> make(const RemoteKey& key, uint32_t initiator, Flow& via);
  bool forget_idle(bool is_internal);
  void forget(Remote& remote);

  Resources& res_;
  Flows& flows_;
  uint32_t internal_max_ = 0;
  Slab<Remote> remotes_;
  std::array<uint32_t, 2> counts_{};  // of the user's operations, of internal ones
  HashMap<RemoteKey, Remote*> by_key_;
  HashMap<SourceKey, Remote*> by_source_;  // the first of each of the user's
  IntrusiveList<Remote, IdleTag> idle_;    // longest idle first
  TimerNode sweep_{kSweepTimer};
};

}  // namespace uet::ses
