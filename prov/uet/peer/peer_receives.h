// The receives of another provider, imported by fi_srx_context with FI_PEER. uet asks the owner for
// one when a message arrives and reports kept messages to it; the owner later starts or discards
// these, possibly while another thread closes endpoint or context. [LF-159, fi_peer, PEER SRX]
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/endpoint/slices.h"
#include "prov/uet/progress/progress.h"

#include "ses/receives/receive_owner.h"

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

namespace uet::prov {

class AddressVector;
class Domain;
class EndpointCore;

class PeerReceives final : public ses::ReceiveOwner {
 public:
  // The owner in the context of fi_srx_context; null after a warning: the context is not usable.
  static std::unique_ptr<PeerReceives> import(Domain& domain, void* context);
  ~PeerReceives();
  PeerReceives(const PeerReceives&) = delete;
  PeerReceives& operator=(const PeerReceives&) = delete;

  // Engine lock held. The stack's queue; the address vector that names senders, or null; the
  // enabled endpoints that share the queue, of which the first one reports lost messages.
  void set_queue(ses::ReceiveQueueId id) { id_ = id; }
  void set_addresses(AddressVector* av) { av_ = av; }
  void set_endpoints(std::span<EndpointCore* const> endpoints) { endpoints_ = endpoints; }

  // Addresses were inserted: senders that had no name may have one. No lock held.
  void on_inserted();
  // An endpoint has left the queue: entries of messages that were kept for it go back to the owner,
  // and all entries after the last endpoint. Inside a call_out() of the visit.
  void give_back(ProgressEngine::Entry& visit, ses::EndpointId closing);
  // Operations of the owner find nothing from here on, and none is under way. No lock held.
  void retire();

  // The operations behind struct fi_ops_srx_peer, at the object that the entry names. 0 or -FI_E*:
  // -FI_ENOENT, no message is kept for the entry, which went back if there was one; -FI_ENOMEM,
  // there is no memory for its completion. In the last case nothing was changed.
  static int start(fi_peer_rx_entry& entry);
  static int discard(fi_peer_rx_entry& entry);
  // The sender of its message, FI_ADDR_UNSPEC where it has no name.
  static fi_addr_t sender_of(fi_peer_rx_entry& entry);

 private:
  PeerReceives(Domain& domain, fid_peer_srx& srx);

  // The stack's questions.
  ses::Asked ask(const ses::Sought& message, ses::ReceiveRequest& out) override;
  bool keep(uint32_t claim, const uint64_t* header_data) override;
  void forget() override { free(*told_); }

  int start_kept(fi_peer_rx_entry& entry);
  int discard_kept(fi_peer_rx_entry& entry);
  fi_addr_t sender_of_kept(fi_peer_rx_entry& entry);
  bool queue_told(uint32_t claim, const uint64_t* header_data);
  bool describe(fi_peer_rx_entry& entry, ses::ReceiveRequest& out);
  void receive(ProgressEngine::Entry& visit, fi_peer_rx_entry& entry, uint32_t claim);
  EndpointCore& endpoint_of(const ses::Peeked& kept) const;
  static void report_lost(EndpointCore& to, fi_peer_rx_entry& entry, Errc why);
  void free(fi_peer_rx_entry& entry) { srx_.owner_ops->free_entry(&entry); }

  Domain& domain_;
  fid_peer_srx& srx_;
  uintptr_t number_;  // of this object among all of the process
  ses::ReceiveQueueId id_;
  AddressVector* av_ = nullptr;
  std::span<EndpointCore* const> endpoints_;
  // Entries that are queued at the owner, and the claims of their messages. Empty without
  // endpoints.
  std::unordered_map<fi_peer_rx_entry*, uint32_t> queued_;
  // For the message that was asked about last.
  Slices slices_;
  fi_peer_rx_entry* told_ = nullptr;
  ses::Sought sought_;
};

}  // namespace uet::prov
