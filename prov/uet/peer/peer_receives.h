// The receives of another provider, which fi_srx_context with FI_PEER imports: asked for one when a
// message arrives, told of messages that are kept, and asking in turn for these to be received or
// thrown away. [LF-159, fi_peer, PEER SRX]
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/endpoint/slices.h"
#include "prov/uet/progress/progress.h"

#include "ses/receives/receive_owner.h"

#include <cstdint>
#include <memory>

namespace uet::prov {

class AddressVector;
class Domain;
class EndpointCore;

class PeerReceives {
 public:
  // What the context of fi_srx_context names; null after a warning: nothing that can be asked.
  static std::unique_ptr<PeerReceives> import(Domain& domain, void* context);
  ~PeerReceives();
  PeerReceives(const PeerReceives&) = delete;
  PeerReceives& operator=(const PeerReceives&) = delete;

  const ses::ReceiveOwner& owner() const { return owner_; }

  // Engine lock held. The stack's queue; the address vector that names senders, or null; the
  // endpoint that reports lost messages, or null.
  void set_queue(ses::ReceiveQueueId id) { id_ = id; }
  void set_addresses(AddressVector* av) { av_ = av; }
  void set_teller(EndpointCore* endpoint) { teller_ = endpoint; }

  // Addresses were inserted: senders that had no name may have one. No lock held.
  void on_inserted();
  // A receive of the owner is over, and was reported. Engine lock held.
  void free(fi_peer_rx_entry& entry) { srx_.owner_ops->free_entry(&entry); }

  // The operations behind struct fi_ops_srx_peer. 0 or -FI_E*.
  int start(fi_peer_rx_entry& entry, uint32_t claim);
  int discard(uint32_t claim);
  // The sender of the message under that claim, FI_ADDR_UNSPEC where it has no name.
  fi_addr_t sender_of(uint32_t claim);

 private:
  PeerReceives(Domain& domain, fid_peer_srx& srx);

  static ses::Asked on_ask(void* self, const ses::Sought& message, ses::ReceiveRequest& out);
  static bool on_keep(void* self, uint32_t claim, const uint64_t* header_data);
  static void on_forget(void* self);
  ses::Asked ask(const ses::Sought& message, ses::ReceiveRequest& out);
  bool keep(uint32_t claim, const uint64_t* header_data);
  bool describe(fi_peer_rx_entry& entry, ses::ReceiveRequest& out);
  void report_lost(fi_peer_rx_entry& entry, Errc why);

  Domain& domain_;
  fid_peer_srx& srx_;
  uint32_t number_;  // of this object among all of the process
  ses::ReceiveQueueId id_;
  AddressVector* av_ = nullptr;
  EndpointCore* teller_ = nullptr;
  ses::ReceiveOwner owner_;
  // For the message that was asked about last.
  Slices slices_;
  fi_peer_rx_entry* told_ = nullptr;
  ses::Sought sought_;
};

}  // namespace uet::prov
