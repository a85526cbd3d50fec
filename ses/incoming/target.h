// The target half of SES: requests are checked in the order of ses.md 5, placed, and answered.
// Posted receives and kept messages live here too.
#pragma once

#include "ses/backoff.h"
#include "ses/core.h"
#include "ses/deferral/deferral.h"
#include "ses/outgoing/initiator.h"
#include "ses/receives/kept_room.h"
#include "ses/outgoing/message.h"
#include "ses/rendezvous/rendezvous.h"
#include "ses/incoming/request.h"
#include "ses/share.h"
#include "ses/snapshot.h"

#include "base/hash_map.h"
#include "base/slab.h"

#include <cstdint>

namespace uet::ses {

// What a peek saw. [LF-059]
struct Peeked {
  bool found = false;
  uint64_t bytes = 0;
  uint64_t tag = 0;
  uint64_t data = 0;
  bool has_data = false;
  PeerId peer;
  uint32_t initiator_id = 0;
  JobId job;
  EndpointId endpoint;  // that it came to
  uint32_t claim = 0;   // for receive_claimed or discard_claimed; 0: not claimed
};

class Target {
 public:
  Target(Core& core, Initiator& initiator) : core_(core), initiator_(initiator) {}
  Result<void> create(uint64_t seed);

  Result<void> receive(ReceiveQueue& queue, const ReceiveRequest& request);
  Result<void> cancel(ReceiveQueue& queue, void* op_context);
  void close(Endpoint& ep);
  void close(ReceiveQueue& queue);
  Peeked peek(ReceiveQueue& queue, const ReceiveRequest& filter, bool claim);
  Endpoint* claimed_from(const ReceiveQueue& queue, uint32_t claim);
  Result<void> receive_claimed(ReceiveQueue& queue, uint32_t claim, const ReceiveRequest& request);
  bool discard_claimed(ReceiveQueue& queue, uint32_t claim);

  pds::Verdict on_request(const pds::RxRequest& rx);
  bool has_open_message(pds::PdcHandle pdc) const;
  void on_pdc_closed(pds::PdcHandle pdc);
  void advance();
  Instant next_deadline() const;
  bool idle() const {
    return partial_.empty() && waiting_pulls_.empty() && failed_releases_.empty();
  }
  void snapshot(Snapshot& out, Instant now);  // snapshot.cpp

 private:
  // target.cpp: the order of processing
  static pds::Verdict malformed(const pds::RxRequest& rx);
  pds::Verdict refuse(const Request& q, wire::ReturnCode code, Counter why);
  pds::Verdict begin(const Request& q);
  wire::ReturnCode missing_endpoint(const Request& q, Counter& why) const;
  wire::ReturnCode check_generation(Endpoint& ep, const Request& q, Counter& why);
  // [SES-186]
  bool serves(wire::SesOpcode opcode) const {
    return (served_ >> static_cast<unsigned>(opcode) & 1) != 0;
  }
  pds::Verdict resume(RxMessage& m, const Request& q);
  static pds::Verdict stored_error(const RxMessage& m, const Request& q);
  pds::Verdict repeat_error(RxMessage& m, const Request& q);
  pds::Verdict on_msg_error(RxMessage* m, const Request& q);
  wire::ReturnCode check_same(const RxMessage& m, const Request& q, Counter& why) const;
  bool may_track(const pds::Peer& peer, const Request& q) const;
  RxMessage* track(const Request& q);
  pds::Verdict no_message_slot();
  RxMessage* known_message(const Request& q);
  void release_share(const RxMessage& m);
  void give_up(RxMessage& m);
  void forget(RxMessage& m);
  void set_error(RxMessage& m, wire::ReturnCode code);
  void fail(RxMessage& m, Completion::Status status, wire::ReturnCode code);
  void count_arrival(RxMessage& m, uint32_t bytes);
  bool is_held_up(const RxMessage& m) const;
  void note_owed(pds::PdcHandle pdc);
  void note_answered(pds::PdcHandle pdc);
  void note_packet(RxMessage& m, const Request& q);

  // target_rma.cpp
  pds::Verdict begin_write(Endpoint& ep, const Request& q);
  pds::Verdict continue_write(RxMessage& m, Endpoint& ep, const Request& q);
  pds::Verdict begin_read(Endpoint& ep, const Request& q);
  pds::Verdict continue_read(RxMessage& m, Endpoint& ep, const Request& q);
  pds::Verdict read_in_ack(const Request& q, RegionId region);
  pds::Verdict read_on_rudi(const ReturnMessage& back);
  pds::Verdict answer_read(const Request& q, RegionId region);
  Result<RegionId, wire::ReturnCode> authorize(const Request& q, Access access) const;
  pds::Verdict refuse_key(const Request& q, wire::ReturnCode code);
  bool reserve(Endpoint& ep);
  static void release(Endpoint& ep);
  bool book(Endpoint& ep, const PostedReceive& r, uint64_t bytes);
  pds::Verdict no_completion_slot(const Request& q);
  pds::Verdict data_in_ack(const Request& q, std::span<const std::byte> data);
  ReturnMessage answer_to(const Request& q, uint32_t bytes) const;

  // target_atomics.cpp
  struct AtomicPlan;
  wire::ReturnCode plan_atomic(const Request& q, AtomicPlan& plan) const;
  pds::Verdict begin_atomic(Endpoint& ep, const Request& q);
  pds::Verdict begin_send_atomic(Endpoint& ep, const Request& q);
  bool prepare_answer(const Request& q, AtomicPlan& plan, pds::Verdict& refusal);
  pds::Verdict answer_atomic(const Request& q, AtomicPlan& plan);
  void report_remote(Endpoint& ep, const Request& q, OpKind kind, RegionId region,
                     const RxMessage* m = nullptr);

  // target_rendezvous.cpp: what is left to read
  Pull* make_pull(const Request& q);
  pds::Verdict on_no_op(const Request& q);
  void free(Pull& p);
  void read_rest(Endpoint& ep, Pull& p, PostedReceive& r, const Arrived& a);
  void release_sender(Endpoint& ep, Pull& p);
  void start_pulls();
  void retry_pulls();
  bool start_pull(Pull& p);
  void on_pulled(uint32_t handle, const Completion& done);
  void end_pull(Pull& p, Completion::Status status, wire::ReturnCode code);
  void close_pulls(const Endpoint& ep);

  // target_deferral.cpp: messages that are told to wait
  Result<void> create_deferral(Rng& rng);
  bool may_defer(const Request& q) const;
  DeferredMessage* find_deferred(Endpoint& ep, const Request& q);
  pds::Verdict defer(Endpoint& ep, const Request& q, const Envelope& envelope, DeferredMessage* d);
  bool may_remember(const Endpoint& ep, PeerId peer) const;
  DeferredMessage* remember(Endpoint& ep, const Request& q, const Envelope& envelope);
  void note_heard(DeferredMessage& d);
  static void note_data(DeferredMessage& d, const Request& q);
  pds::Verdict continue_deferred(RxMessage& m, Endpoint& ep, const Request& q);
  static bool is_deferral_end(const Request& q);
  pds::Verdict on_deferral_end(RxMessage& m, const Request& q);
  bool set_aside(Endpoint& ep, PostedReceive& r, DeferredMessage& d);
  void call(Endpoint& ep, DeferredMessage& d);
  void send_calls();
  void on_restart_answered(uint32_t handle, const Completion& done);
  pds::Verdict begin_restarted(Endpoint& ep, DeferredMessage& d, const Request& q);
  void give_up(DeferredMessage& d, Completion::Status status = Completion::Status::undeliverable);
  static void take_back(PostedReceive& r);
  void forget(DeferredMessage& d);
  void expire_deferred();
  void close_deferred(const Endpoint& ep);
  pds::Verdict on_restart(const Request& q);

  // target_send.cpp: messages that arrive
  static Envelope envelope_of(const Request& q);
  static Arrived arrived(const RxMessage& m);
  pds::Verdict begin_send(Endpoint& ep, const Request& q);
  pds::Verdict begin_expected(Endpoint& ep, PostedReceive& r, const Request& q);
  // Where in its receive a message goes, and how much of it.
  struct Place {
    uint64_t begin = 0;
    uint64_t room = 0;
  };
  pds::Verdict place(Endpoint& ep, PostedReceive& r, const Request& q, RxMessage* m, Pull* pull,
                     const Place& at);
  pds::Verdict begin_unexpected(Endpoint& ep, const Request& q, const Envelope& envelope);
  UnexpectedMessage* make_room_for(const Request& q);
  pds::Verdict out_of_room(RxMessage& m, const Request& q);
  pds::Verdict wait_for_application(const Request& q);
  static void keep(Endpoint& ep, UnexpectedMessage& u, const Request& q, const Envelope& envelope);
  pds::Verdict kept(UnexpectedMessage& u, const Request& q);
  pds::Verdict delivered(const Request& q, uint64_t room);
  static bool is_allowed(const PostedReceive& r, JobId job) {
    return r.job == kAnyJob || r.job == job.value();
  }
  pds::Verdict no_match(Endpoint& ep, const Request& q);
  pds::Verdict continue_send(RxMessage& m, Endpoint& ep, const Request& q);
  pds::Verdict finish_send(RxMessage& m, Endpoint& ep, const Request& q);

  // target_receive.cpp: receives that are posted, and their ends
  Result<PostedReceive*> make(ReceiveQueue& queue, const ReceiveRequest& request);
  Endpoint& endpoint_of(const UnexpectedMessage& u) const;
  void offer(ReceiveQueue& queue, PostedReceive& r);
  bool offer_each(ReceiveQueue& queue, PostedReceive& r, const MatchFilter& filter);
  void call_for(Endpoint& ep, PostedReceive& r, UnexpectedMessage& u);
  void stall(Endpoint& ep);
  void unstall(Endpoint& ep);
  bool give(PostedReceive& r, UnexpectedMessage& u);
  void hand_over(Endpoint& ep, PostedReceive& r, UnexpectedMessage& u);
  void drain(Endpoint& ep);
  bool drain(Endpoint& ep, Matcher& matcher);
  static void enable(Endpoint& ep, bool tagged);
  static void enable(ReceiveQueue& queue, bool tagged);
  void refresh(Endpoint& ep, bool tagged);
  bool will_be_used_up(const PostedReceive& r, uint64_t bytes) const;
  void consume(Endpoint& ep, PostedReceive& r, uint64_t bytes);
  void complete(Endpoint& ep, PostedReceive& r, const Arrived& a);
  void end(Endpoint& ep, PostedReceive& r, const Completion& last);
  void end(Endpoint& ep, PostedReceive& r, Completion::Status status);
  void free(ReceiveQueue& queue, PostedReceive& r);
  UnexpectedMessage* claimed(const ReceiveQueue& queue, uint32_t claim);
  void fail_receive(RxMessage& m, Completion::Status status);
  void free(UnexpectedMessage& u);
  void drop_unexpected(UnexpectedMessage& u, wire::ReturnCode code);
  void answer_kept(UnexpectedMessage& u, wire::ReturnCode code, uint32_t modified_length);

  Core& core_;
  Initiator& initiator_;
  uint64_t served_ = 0;  // bit n: opcode n
  Slab<PostedReceive> receives_;
  Slab<RxMessage> rx_messages_;
  KeptRoom kept_;
  Slab<Pull> pulls_;
  HashMap<PullKey, Pull*> pull_by_key_;
  IntrusiveList<Pull, PullTag> waiting_pulls_;    // for one of the places to read
  IntrusiveList<Pull, PullTag> failed_releases_;  // next one first
  Backoff pull_again_;
  uint32_t reading_pulls_ = 0;
  Slab<DeferredMessage> deferred_;
  HashMap<DeferredKey, DeferredMessage*> deferred_by_key_;
  HashMap<DeferrerKey, uint32_t> deferred_counts_;
  IntrusiveList<DeferredMessage, DeferredTag> deferred_messages_;  // longest silent first
  // Their ready-to-restart finds no place or slot yet.
  IntrusiveList<DeferredMessage, AskTag> uncalled_;
  Backoff call_again_;
  uint32_t calls_ = 0;  // ready-to-restarts under way
  HashMap<RxKey, RxMessage*> rx_by_key_;
  // How many messages of a PDC are known, and how many of these are still to be completed: PDS
  // looks for a PDC to give up under pressure, when a walk over all messages is the wrong answer.
  struct PdcMessages {
    uint32_t known = 0;
    uint32_t open = 0;
    // When a packet of it was last told to wait for our application: what is behind that one may
    // not come before.
    Instant held_up = Instant::zero();
  };
  HashMap<uint32_t, PdcMessages> rx_by_pdc_;       // by PdcHandle
  HashMap<uint32_t, uint32_t> owed_by_pdc_;        // kept messages whose answer waits for a receive
  IntrusiveList<RxMessage, PartialTag> partial_;   // longest idle first
  IntrusiveList<RxMessage, PartialTag> given_up_;  // of nobody's share
  uint32_t given_up_count_ = 0;
  IntrusiveList<Endpoint, StalledTag> stalled_;
};

}  // namespace uet::ses
