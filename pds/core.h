// The works behind Pds: tables, lists and the steps that packets, timers and calls take through
// them. Internal to pds/. One class in several files, by concern, which core.cpp lists.
#pragma once

#include "pds/client.h"
#include "pds/config.h"
#include "pds/connectionless.h"
#include "pds/counters.h"
#include "pds/flow.h"
#include "pds/inbound.h"
#include "pds/pdc_table.h"
#include "pds/pds.h"
#include "pds/peer_table.h"
#include "pds/reply.h"
#include "pds/turn.h"

#include "base/ring.h"

namespace uet::pds {

class Core {
 public:
  Core(const Config& config, const cms::Config& cms, PeerTable& peers, Client& client,
       uint64_t seed)
      : config_(config),
        cms_(cms),
        peers_(peers),
        client_(client),
        rng_(seed),
        connectionless_({config_, peers, client, counters_}, cms, seed + 1) {}

  Result<void> init(Arena& arena);

  Result<FlowId> flow(FlowKey key);
  void ready(FlowId flow);
  void want_answers(FlowId flow, Instant now);
  void receive(const RxDatagram& datagram, Instant now);
  void receive(std::span<const RxDatagram> datagrams, Instant now);
  uint32_t transmit(TxBatch& batch, Instant now);
  void advance(Instant now);
  Instant next_deadline() const;
  bool has_work() const;
  bool respond(RxToken token, const Verdict& verdict, Instant now);
  bool send_return(PdcHandle pdc, MessageHandle message);
  void message_done(PdcHandle pdc);
  void on_unreachable(const FabricAddress& address, Instant now);
  void close_all(bool abort, Instant now);
  bool idle();
  const Counters& counters() const { return counters_; }
  uint32_t open_pdcs() const { return table_.size(); }
  Usage usage();
  Footprint footprint() const;

 private:
  // --- core_receive.cpp ---
  void on_request(const RxDatagram& d, Instant now);
  void on_control(const RxDatagram& d, Instant now);
  void refuse(const std::optional<Connectionless::Refusal>& refusal, Instant now);
  void on_inbound(const Inbound& in, Instant now);
  Pdc* look_up(const Inbound& in, Instant now);
  Pdc* look_up_syn(const Inbound& in, Instant now);
  Pdc* open_target(const Inbound& in, const FabricAddress& from, Instant now);
  Pdc* look_up_answered(Pdcid dpdcid, Pdcid spdcid, bool is_nack, const RxDatagram& d);
  FabricAddress reply_address(const Inbound& in) const;
  void answer_for_tombstone(const Tombstone& t, const Inbound& in, Instant now);
  void heard(Pdc& pdc, Instant now);
  Pdc* pdc_ahead(const RxDatagram& d) const;

  // --- core_accept.cpp ---
  void admit(Pdc& pdc, const Inbound& in, Instant now);
  void on_fresh(Pdc& pdc, const Inbound& in, Instant now);
  void on_duplicate(Pdc& pdc, const Inbound& in, Arrival how, Instant now);
  void answer_again(Pdc& pdc, const AckTrigger& trigger, Count cause, Instant now);
  void on_rod(Pdc& pdc, const Inbound& in, Instant now);
  void hold_back(Pdc& pdc, const Inbound& in, Instant now);
  void nack_gap(Pdc& pdc, const AckTrigger& trigger, Instant now);
  void drain_reorder(Pdc& pdc, Instant now);
  void free_reordered(Pdc& pdc, ReorderedPacket& packet);
  // Gives it to the client. `buffered`: the PSN was recorded when it arrived. False: refused.
  bool deliver(Pdc& pdc, const Inbound& in, bool buffered, Instant now);
  enum class Answer : uint8_t {
    by_the_rules,  // of coalescing
    wanted,        // an ACK that names the PSN, or whose cumulative ACK covers it [PDS-064]
    sent,          // its response goes out in an ACK of its own
  };
  void record(Pdc& pdc, const Inbound& in, bool held, Answer answer);
  void settle(Pdc& pdc, const Inbound& in, const Verdict& verdict, bool buffered);
  bool may_store(const Pdc& pdc, Psn psn) const;
  void store(Pdc& pdc, const AckTrigger& trigger, const Verdict& verdict);
  StoredResponse* stored_for(Pdc& pdc, Psn psn);
  void free_stored(Pdc& pdc, StoredResponse& entry);
  void clear_up_to(Pdc& pdc, Psn clear_psn);

  // --- core_control.cpp ---
  void on_control_psn(Pdc& pdc, const Inbound& in, Instant now);
  void on_control_plain(Pdc& pdc, const Inbound& in, Instant now);
  void on_ack_request(Pdc& pdc, const Inbound& in, Instant now);

  // --- core_ack.cpp ---
  void on_ack(const RxDatagram& d, wire::PdsType type, Instant now);
  void process_ack(Pdc& pdc, const wire::Ack& ack, const wire::AckCc* cc,
                   std::span<const std::byte> ses, Instant now);
  void establish(Pdc& pdc, Pdcid peer_id, Instant now);
  void take_mpr(Pdc& pdc, Psn cack, uint8_t mpr);
  void answered(Pdc& pdc, Psn psn, TxSlot& slot, const RxResponse& response, Instant now);
  void read_sack(Pdc& pdc, const wire::AckCc& cc, Instant now);
  void infer_losses(Pdc& pdc, Instant now);
  void tell_acked(Pdc& pdc, const cms::Acked& sum);

  // --- core_nack.cpp ---
  void on_nack(const RxDatagram& d, Instant now);
  void process_nack(Pdc& pdc, const wire::Nack& nack, Instant now);
  void on_nack_trimmed_ack(Pdc& pdc, const wire::Nack& nack, Instant now);
  void react(Pdc& pdc, const wire::Nack& nack, TxSlot& slot, Instant now);
  void react_to_loss(Pdc& pdc, const wire::Nack& nack, TxSlot& slot, Instant now);
  void fail_by_nack(Pdc& pdc, const wire::Nack& nack, TxSlot& slot, Instant now);
  void give_up(Pdc& pdc, Psn psn, TxSlot& slot, const Failure& failure, Instant now);
  bool await_verdicts(Pdc& pdc, const Failure& failure, Instant now);
  void go_back(Pdc& pdc, Psn expected, Instant now);
  bool nack_limit_reached(Pdc& pdc, TxSlot& slot, wire::NackCode code, Instant now);
  void delay_resend(Pdc& pdc, Psn psn, TxSlot& slot, Instant now);

  // --- core_trim.cpp ---
  void on_trimmed(const RxDatagram& d, Instant now);
  void on_trimmed_request(const RxDatagram& d, Instant now);
  void on_trimmed_ack(const RxDatagram& d, Instant now);
  Pdc* find_trimmed_syn(const Inbound& in, bool& is_new);

  // --- core_transmit.cpp ---
  void assign_next(Instant now);
  void assign(Flow& flow, Instant now);
  Pdc* open_initiator(Flow& flow, Instant now);
  void serve(Pdc& pdc, TxBatch& batch, Instant now);
  void serve_path(Path& path, TxBatch& batch, Instant now);
  Turn take_turn(Pdc& pdc, TxBatch& batch, Instant now);
  Step send_lost(Pdc& pdc, TxBatch& batch, Instant now);
  bool has_room_for_burst(const TxBatch& batch) const;
  Step send_new(Pdc& pdc, TxBatch& batch, Instant now);
  bool next_message(Pdc& pdc, Instant now);
  bool has_new(const Pdc& pdc) const;
  bool window_open(Pdc& pdc) const;
  void check_psn_range(Pdc& pdc, Psn psn);
  void emit_request(Pdc& pdc, Psn psn, TxSlot& slot, TxBatch& batch, Instant now);
  bool choose_ar(Pdc& pdc, TxSlot& slot);
  void on_emitted(Pdc& pdc, Psn psn, TxSlot& slot, uint32_t nominal, Instant now);
  Entropy next_ev(Pdc& pdc, const TxSlot* resend);
  void mark_lost(Pdc& pdc, Psn psn, TxSlot& slot, cms::LossKind kind, Count cause, Instant now);
  void want_send(Pdc& pdc);
  void wake_path(Path& path);
  void wake_flow(Flow& flow);
  uint32_t max_packet_bytes(const Pdc& pdc) const;

  // --- core_reply.cpp ---
  void send_replies(TxBatch& batch);
  void send_responses(TxBatch& batch, Instant now);
  void send_control(TxBatch& batch, Instant now);
  bool flush_acks(Pdc& pdc, TxBatch& batch, Instant now);
  bool flush_control(Pdc& pdc, TxBatch& batch, Instant now);
  void emit_ack(Pdc& pdc, const AckTrigger& trigger, const EncodedResponse* response,
                TxBatch& batch);
  void emit_control(Pdc& pdc, const wire::Control& h, Entropy ev, TxBatch& batch);
  bool flush_ack_requests(Pdc& pdc, TxBatch& batch, Instant now);
  void want_control(Pdc& pdc);
  void nack(Pdc& pdc, wire::NackCode code, const AckTrigger& t, uint32_t payload, Instant now);
  void nack(Pdc& pdc, wire::NackCode code, const AckTrigger& t, Instant now);
  // For a packet without a PDC, or that does not belong to the PDC it names.
  void nack_stranger(const Inbound& in, wire::NackCode code, Instant now);
  void queue_nack(const wire::Nack& h, const FabricAddress& to, Entropy ev);
  void queue_ack(const wire::Ack& h, const FabricAddress& to, Entropy ev);
  bool take_nack_token(Peer* peer, Instant now);

  // --- core_timer.cpp ---
  void on_timer(Pdc& pdc, Instant now);
  bool check_outstanding(Pdc& pdc, Instant& next, Instant now);
  bool close_given_up(Pdc& pdc, Instant now) const;
  bool out_of_patience(Pdc& pdc, Failure& failure, Instant now) const;
  void arm_by(Pdc& pdc, Instant deadline);
  Duration rto_of(const Pdc& pdc, const TxSlot& slot) const;
  Duration limit_of(const Pdc& pdc, const TxSlot& slot) const;
  void ask_for_quiet(Pdc& pdc, Instant now);
  void check_clear(Pdc& pdc, Instant& next, Instant now);
  bool probe_window(Pdc& pdc, Instant& next, Instant now);
  bool close_request_expired(Pdc& pdc, Instant now);

  // --- core_close.cpp ---
  void begin_close(Pdc& pdc);
  void ask_close(Pdc& pdc, Instant now);
  bool progress_close(Pdc& pdc, TxBatch& batch, Instant now);
  bool send_closing_packet(Pdc& pdc, SlotKind kind, TxBatch& batch, Instant now);
  bool finish_received_close(Pdc& pdc, Instant now);
  void on_closing_slot_done(Pdc& pdc, SlotKind kind, Instant now);
  void fail(Pdc& pdc, const Failure& failure, Count cause, bool peer_may_hold, Instant now);
  void close_idle_toward(PeerId peer, Instant now);
  void report_failures(Pdc& pdc, const Failure& failure, Instant now);
  void forget_outstanding(Pdc& pdc);
  void free_pdc(Pdc& pdc, bool clean, bool tombstone, Instant now);
  void discard(Pdc& pdc);  // nobody has heard of it yet
  void release(Pdc& pdc, Instant bury_until);
  void relieve_pressure(bool is_initiator, Instant now);
  bool reclaim(Pdc& pdc, Instant now);
  void touch(Pdc& pdc, Instant now);

  // --- core.cpp ---
  Path* path(PathKey key);
  void drop_path(Path& path);
  bool accept_late(Pdc& pdc, const AckTrigger& trigger);

  Config config_;
  cms::Config cms_;
  PeerTable& peers_;
  Client& client_;
  Rng rng_;
  Counters counters_;
  AckRules ack_rules_;
  PdcTable table_;
  TimerWheel wheel_;
  Slab<Flow> flows_;
  HashMap<FlowKey, Flow*> flow_by_key_;
  Slab<Path> paths_;
  HashMap<PathKey, Path*> path_by_key_;
  Slab<StoredResponse> responses_;
  Slab<ReorderedPacket> reordered_;
  Slab<ReturnMessage> return_messages_;
  TxPool tx_pool_;
  BlockPool rx_pool_;
  BlockPool reorder_pool_;
  Ring<Reply> replies_;

  IntrusiveList<StoredResponse, DueResponseTag> due_responses_;
  IntrusiveList<Pdc, ControlTag> control_;  // owe an ACK or a control packet, or a step of closing
  IntrusiveList<Pdc, SendTag> resend_;      // have lost packets, and may have new ones
  IntrusiveList<Pdc, SendTag> send_;        // have new packets
  IntrusiveList<Path, OpenPathTag> open_paths_;  // may have room for the PDCs that wait for it
  IntrusiveList<Flow, ReadyFlowTag> ready_;      // have messages and want a PDC
  IntrusiveList<Flow, ReadyFlowTag> starved_;    // wait for a free PDC [PDS-021]
  IntrusiveList<Pdc, LruTag> lru_[2];            // by role: targets, initiators; longest idle first
  PeerId lost_peer_;                             // whose idle PDCs were last closed, and when
  Instant lost_at_ = Instant::never();
  uint32_t later_total_ = 0;
  uint32_t nack_tokens_ = 0;  // for packets without a PDC
  Instant nack_refilled_;
  Connectionless connectionless_;
};

}  // namespace uet::pds
