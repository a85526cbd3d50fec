// One end of a fuzzed run: a whole FabricEndpoint with an endpoint per delivery mode and registered
// memory. Reads the arguments of its calls from the program.
#pragma once

#include "fuzz/stack/ledger.h"
#include "fuzz/stack/program.h"

#include "fep/fabric_endpoint.h"
#include "sim/world/datagram.h"

#include <array>
#include <memory>
#include <vector>

namespace uet::fuzz {

// The address with that last octet: the nodes are 1 and 2, the others are unused.
FabricAddress address_of(uint32_t number);
inline FabricAddress address_of_node(uint32_t node) { return address_of(node + 1); }

inline constexpr uint32_t kJob = 7;
inline constexpr uint32_t kSlots = 3;  // endpoints: RUD, ROD, UUD
inline constexpr uint32_t kRegionBytes = 4096;
inline PidOnFep pid_of(uint32_t slot) { return PidOnFep(static_cast<uint16_t>(10 + slot)); }
inline ResourceIndex index_of(uint32_t slot) {
  return ResourceIndex(static_cast<uint16_t>(1 + slot));
}

class Node {
 public:
  // `shares`: the first endpoints have one queue of receives. [LF-133] `jobs`: the secured ones;
  // null: none.
  Node(uint32_t index, const fep::Config& config, uint64_t seed, bool shares, Ledger& ledger,
       std::array<Regions, kNodes>& regions, Instant now, const tss::JobTable* jobs);

  // Calls of the application.
  void send(Program& program, Instant now);
  void rma(Program& program, Instant now);
  void receive(Program& program, Instant now);
  void cancel(Program& program, Instant now);
  void peek(Program& program, Instant now);
  void end_claim(Instant now);
  // Takes all messages that no receive matched: senders may wait for that. [SES-148]
  void discard_kept(Instant now);
  void close_endpoint(uint32_t slot, Instant now);
  void renew_region(uint32_t region);
  void cancel_receives(Instant now);
  // Keeps a receive for anything posted everywhere.
  void take_all(Instant now);

  // As a station of the world (sim/world/station.h).
  uint32_t transmit(TxBatch& batch, Instant now) { return fep_->transmit(batch, now); }
  bool on_sent(TxBatch& batch, Instant now) { return fep_->on_sent(batch, now); }
  void end_too_long(TxBatch& batch, Instant now) { fep_->end_too_long(batch, now); }
  void receive(std::span<RxDatagram> datagrams, Instant now);
  void advance(Instant now);
  Instant next_deadline() const { return fep_->next_deadline(); }
  fep::FabricEndpoint& fep() { return *fep_; }
  // No more is held than the tables have room for.
  void check() const;

 private:
  void open_endpoint(uint32_t slot);
  bool shares(uint32_t slot) const { return shares_ && slot < kSharingSlots; }
  Result<void> post_receive(const Post& post, const ses::ReceiveRequest& request, uint32_t claim,
                            Instant now);
  bool cancel(Post& post, Instant now);
  bool cancel_one_receive(uint32_t slot, Instant now);
  ses::Destination destination(Program& program, Post& post) const;
  uint32_t flags(Program& program, Post& post) const;
  // Cuts the room into as many slices as the program likes.
  std::span<const IoSlice> slices(Program& program, const Post& post);
  ses::ReceiveRequest receive_request(Program& program, Post& post);
  void finish_post(Post& post, bool is_posted);

  static constexpr uint32_t kPeers = 3;  // both nodes and an unused address

  uint32_t index_;
  bool shares_;
  Ledger& ledger_;
  std::array<Regions, kNodes>& regions_;
  std::unique_ptr<fep::FabricEndpoint> fep_;
  ses::ReceiveQueueId shared_;
  std::array<ses::EndpointId, kSlots> endpoints_{};
  std::array<PeerId, kPeers> peers_{};
  std::vector<IoSlice> slices_;
  std::array<Post*, 2 * kSlots> takers_{};  // of take_all()
  uint32_t claim_ = 0;                      // 0: none
  uint32_t claim_slot_ = 0;
};

}  // namespace uet::fuzz
