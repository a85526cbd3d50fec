// The initiator half of SES: posted operations become messages, messages become packets when PDS
// asks, answers become completions. [ses.md 2, 4.1, 4.2, 4.7, 7]
#pragma once

#include "ses/outgoing/copy_tally.h"
#include "ses/core.h"
#include "ses/deferral/deferral.h"
#include "ses/outgoing/inject_store.h"
#include "ses/outgoing/message.h"
#include "ses/rendezvous/rendezvous.h"

#include "base/hash_map.h"
#include "base/slab.h"

#include <cstdint>

namespace uet::ses {

class Initiator {
 public:
  explicit Initiator(Core& core)
      : core_(core), operations_max_(kOperationsMax - internal_operations()) {}
  Result<void> create(uint64_t seed);

  Result<Taken> send(Endpoint& ep, const SendRequest& request);
  Result<Taken> rma(Endpoint& ep, const RmaRequest& request);
  Result<Taken> atomic(Endpoint& ep, const AtomicRequest& request);
  // Cancels the oldest operation of that context of which packets are still to be sent. [LF-058]
  bool cancel(Endpoint& ep, void* op_context);
  // Ends every operation with status aborted.
  void close(Endpoint& ep);
  void on_send_failed(uint32_t cookie, int error);
  void on_path_lowered(PeerId peer);  // messages to it go in packets that fit, or end
  bool shorten(const pds::PacketRef& ref);

  bool start(pds::FlowId flow, pds::PdcHandle pdc, pds::StartedMessage& out);
  bool pull(pds::MessageHandle message, pds::PacketRef& out);
  void encode(const pds::PacketRef& ref, wire::Writer& header, TxBatch& batch);
  void on_response(const pds::PacketRef& ref, const pds::RxResponse& response);
  void on_failed(const pds::PacketRef& ref, const pds::Failure& failure);
  void on_aborted(pds::MessageHandle message, const pds::Failure& failure);
  void on_pdc_closed(pds::PdcHandle pdc);
  // Read data that came back as a request. [SES-074]
  pds::Verdict on_return_data(const pds::RxRequest& request);

  // Starts the way back of one READ answer. False: no slot, or the PDC is gone.
  enum class Returned : uint8_t {
    sent,
    no_slot,
    pdc_gone
  };
  Returned send_return(pds::PdcHandle pdc, const ReturnMessage& answer);

  // The rest of a message of a peer, into memory that the target half answers for; ends with
  // Core::pulled. Errc::again: no slot. [SES-089]
  struct RestRequest {
    Destination from;
    std::span<const IoSlice> iov;  // empty: only says that no more will be read
    uint64_t offset = 0;
    uint64_t key = 0;
    uint32_t pull = 0;
    uint32_t shown_payload = 0;  // octets in the sender's first packet
  };
  Result<void> read_rest(Endpoint& ep, const RestRequest& request);
  // The message whose exposed source that is, for the peer that it was sent to; else null.
  TxMessage* exposed_to(RegionId region, PeerId peer);
  void on_read_begun(TxMessage& m, uint64_t offset, uint32_t length);
  void on_served(uint32_t handle, uint16_t attempt, uint32_t bytes);

  // Tells the initiator of a deferred message that it may come again; ends with Core::restarted.
  // Errc::again: no slot. [SES-098]
  Result<void> send_restart(Endpoint& ep, const Restart& restart, bool absolute, uint32_t deferred);
  // A peer says so of a send of ours. False: of none to that peer. [SES-099]
  bool restart(const Restart& restart);

  // Holds one answer to a RUDI READ, which PDS pulls when it leaves. 0: no slot. [SES-077]
  pds::MessageHandle hold_answer(const ReturnMessage& answer);

  // The application forgets the peer: what is idle toward it is given back now, the rest when it is
  // done. A later post begins anew.
  void forget_peer(PeerId peer);

  void on_timer(TimerNode& node);
  const CopyTally& copies() const { return copies_; }
  bool idle() const { return messages_.size() == 0 && returns_.size() == 0; }

 private:
  // Unfinished at once, of all endpoints together. [LF-158]
  static constexpr uint32_t kOperationsMax = uint32_t{1} << 20;
  // Operations of SES itself, at once.
  uint32_t internal_operations() const {
    return core_.config.rendezvous_reads + core_.config.restarts;
  }

  // Whoever sends requests with that initiator ID, by our endpoint. [SES-102]
  struct SourceKey {
    uint32_t endpoint = 0;
    PeerId peer;
    uint32_t initiator = 0;
    bool operator==(const SourceKey&) const = default;
    friend uint64_t hash_of(const SourceKey& k, uint64_t seed) {
      return hash64(uint64_t{k.endpoint} << 32 | k.peer.value(), k.initiator, seed);
    }
  };
  struct Outcome;
  static constexpr uint8_t kSweepTimer = 2;

  // initiator.cpp: posting, queues, ends
  Result<TxMessage*> make(Endpoint& ep, const Destination& to, std::span<const IoSlice> iov,
                          uint32_t flags);
  uint16_t payload_toward(PeerId peer) const;
  bool reads_whole(const TxMessage& m, PeerId peer) const;
  Result<void> take_memory(Endpoint& ep, TxMessage& m, std::span<const IoSlice> iov,
                           uint32_t flags);
  Result<void> copy_memory(TxMessage& m, std::span<const IoSlice> iov);
  bool retain_memory(Endpoint& ep, TxMessage& m, std::span<const IoSlice> iov);
  void give_back_memory(TxMessage& m);
  void give_back_copy(TxMessage& m);
  Taken post(Endpoint& ep, TxMessage& m);
  void post_internal(Endpoint& ep, Remote& to, TxMessage& m);
  Flow* rudi_flow(Endpoint& ep, const RmaRequest& request);
  void release(TxMessage& m);
  void release_held(Remote& remote);
  void hold_in_order(TxMessage& m);
  void end_attempt(TxMessage& m);
  void forget_attempt(TxMessage& m);
  void report(TxMessage& m, Completion::Status status);
  void stop(TxMessage& m, Completion::Status status);
  void leave_remote(TxMessage& m);
  void free(TxMessage& m);
  bool may_answer(const ReturnMessage& answer) const;
  void free(ReturnMessage& r);
  void wake_starved();

  // initiator_remotes.cpp
  Result<Remote*> remote(Endpoint& ep, const Destination& to, bool is_internal = false);
  void rest(Remote& remote);
  bool forget_idle_remote(bool is_internal);
  void forget(Remote& remote);
  void forget_long_idle();
  Result<Flow*> flow(Endpoint& ep, PeerId peer, pds::Mode mode, JobId job);
  Flow* make_flow(pds::FlowId id, PeerId peer, pds::Mode mode);
  void leave_flow(Flow& flow);
  void release_flow(Flow& flow);

  // initiator_headers.cpp
  wire::NextHeader header_for(const TxMessage& m, uint8_t capabilities) const;
  void encode_request(const TxMessage& m, const pds::PacketRef& ref, wire::Writer& header,
                      TxBatch& batch) const;

  // initiator_rendezvous.cpp
  void expose(Endpoint& ep, TxMessage& m, std::span<const IoSlice> iov, uint8_t capabilities);
  void conceal(TxMessage& m);
  static uint32_t read_packets_of(const TxMessage& m);
  bool must_wait_for_reads(const Flow& flow, uint32_t read_packets) const;
  void end_read(TxMessage& m);
  void wait_for_reads(TxMessage& m);
  void on_unread(TxMessage& m);
  void settle_probe(TxMessage& m);
  void finish_read_out(TxMessage& m);
  void arm_look(TxMessage& m);
  void end_exposed(TxMessage& m);
  static Completion::Status end_of(TxMessage& m);
  static void note_delivered(TxMessage& m, wire::ListCode list, uint32_t modified_length);
  void report_rest(const TxMessage& m, Completion::Status status);
  // initiator_path.cpp: a route that carries less than before [LF-141]
  void fit(TxMessage& m);
  void end_too_long(TxMessage& m);
  void cut(ReturnMessage& r);
  void on_taken(const ReturnMessage& r);
  bool ask_less(TxMessage& m);

  // initiator_deferral.cpp
  void make_deferrable(Endpoint& ep, TxMessage& m, const Destination& to);
  void forget_token(TxMessage& m);
  static void note_deferred(TxMessage& m);
  void wait_for_restart(TxMessage& m);
  void begin_again(TxMessage& m);
  TxMessage* deferrable_send(const Restart& restart, uint32_t token);
  void report_restart(const TxMessage& m, Completion::Status status);

  // initiator_packets.cpp
  void encode_return(const ReturnMessage& r, wire::Writer& header, TxBatch& batch) const;

  // initiator_answers.cpp
  static Outcome read_response(const pds::RxResponse& response);
  static bool take_data(TxMessage& m, uint32_t offset, uint32_t modified_length,
                        std::span<const std::byte> data);
  static bool take_old_values(TxMessage& m, uint32_t offset, uint32_t modified_length,
                              std::span<const std::byte> data);
  static bool lacks_answer(const TxMessage& m);
  void settle(TxMessage& m);
  void settle_refused(TxMessage& m);
  void settle_failed(TxMessage& m);
  void expire_read(TxMessage& m);
  void finish(TxMessage& m);
  void note_error(TxMessage& m, wire::ReturnCode code, uint8_t ri_generation);
  void note_failure(TxMessage& m, const pds::Failure& failure);
  bool may_retry(TxMessage& m);
  void retry(TxMessage& m, Duration delay);
  Duration retry_delay(uint32_t retries);
  void next_segment(TxMessage& m);
  void begin_recovery(Remote& remote);
  void end_recovery_wait(Remote& remote);

  TxMessage* message(pds::MessageHandle handle);
  ReturnMessage* return_message(pds::MessageHandle handle);

  Core& core_;
  Slab<TxMessage> messages_;
  const uint32_t operations_max_;  // of users; the others are left to SES itself
  InjectStore inject_;
  CopyTally copies_;
  Slab<ReturnMessage> returns_;
  Slab<Exposure> exposures_;
  Slab<Deferral> deferrals_;
  Slab<Flow> flows_;
  Slab<FlowName> names_;
  Slab<Remote> remotes_;
  std::array<uint32_t, 2> remote_counts_{};  // of the user's operations, of internal ones
  HashMap<FlowKey, Flow*> flow_by_key_;
  HashMap<uint32_t, Flow*> flow_by_id_;
  HashMap<RemoteKey, Remote*> remote_by_key_;
  HashMap<SourceKey, Remote*> remote_by_source_;  // the first of each of the user's
  HashMap<uint32_t, TxMessage*> deferral_by_token_;
  HashMap<PeerId, Flow*> flow_of_peer_;          // the first of each, see Flow::next_of_peer
  IntrusiveList<Remote, IdleTag> idle_remotes_;  // longest idle first
  TimerNode sweep_{kSweepTimer};                 // forgets those that are idle for long
  // Started messages that PDS is done with and that wait for more than it owes them: return data,
  // or a semantic answer that comes later.
  IntrusiveList<TxMessage, QueueTag> awaiting_;
  bool is_starved_ = false;  // a flow found no message ID
};

}  // namespace uet::ses
