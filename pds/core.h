// The works behind Pds, internal to pds/: one class in several files, each named by its section.
#pragma once

#include "pds/core_state.h"

namespace uet::pds {

class Core : CoreState {
 public:
  Core(const Config& config, const cms::Config& cms, PeerTable& peers, Client& client,
       RandomSource& random)
      : CoreState(config, cms, peers, client, random) {}
  Result<void> init(Arena& arena);
  Result<FlowId> flow(FlowKey key);
  void release_flow(FlowId flow);
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
  Result<void> set_mpr(uint8_t mpr);
  void on_unreachable(const FabricAddress& address, Instant now);
  std::optional<PathChange> on_path_limit(const FabricAddress& to, PathLimit limit, Instant now);
  void close_all(bool abort, Instant now);
  bool idle();
  const Counters& counters() const { return counters_; }
  uint32_t open_pdcs() const { return table_.size(); }
  std::optional<PdcState> state_of(Pdcid id) const;
  Usage usage();
  Footprint footprint() const;
  uint32_t snapshot(std::span<PdcSnapshot> out, Instant now);  // core_snapshot.cpp
 private:
  // --- core_receive.cpp: parsing, look-up, opening targets [PDS 7.1, 4] ---
  void on_request(const RxDatagram& d, Instant now);
  void on_control(const RxDatagram& d, Instant now);
  void refuse(const std::optional<Connectionless::Refusal>& refusal, Instant now);
  void on_inbound(const Inbound& in, Instant now);
  Pdc* look_up(const Inbound& in, Instant now);
  void drop_if_unused(PdcHandle handle);
  void refuse_binding(const Pdc& pdc, const Inbound& in, Instant now);
  Pdc* look_up_syn(const Inbound& in, Instant now);
  Pdc* open_target(const Inbound& in, const FabricAddress& from, Instant now);
  void start_target(Pdc& pdc, const Inbound& in, PeerId peer, bool is_proven, Instant now);
  Pdc* look_up_answered(Pdcid dpdcid, Pdcid spdcid, bool is_nack, const RxDatagram& d);
  FabricAddress reply_address(const Inbound& in);
  void answer_for_tombstone(const Tombstone& t, const Inbound& in, Instant now);
  void heard(Pdc& pdc, Instant now);
  // --- core_proof.cpp: sources that may be forged [T-01, T-38] ---
  void confirm(Pdc& pdc);
  bool spend(Pdc& pdc, uint32_t octets);
  bool may_send_unproven(const Pdc& pdc) const;
  bool needs_proof(const Pdc& pdc) const;
  void ask_for_proof(Pdc& pdc);
  bool owes_proof(const Pdc& pdc) const;
  void check_owed_proof(Pdc& pdc, Instant& next, Instant now);
  Duration proof_wait(const Pdc& pdc) const;
  bool check_proof(Pdc& pdc, Instant& next, Instant now);
  bool is_challenged(const Inbound& in, const FabricAddress& from, bool& is_proven, Instant now);
  Pdc* pdc_ahead(const RxDatagram& d) const;
  // --- core_accept.cpp: PSN classes, delivery, responses, order [PDS 7.2, 7.3, 9] ---
  void admit(Pdc& pdc, const Inbound& in, Instant now);
  void on_fresh(Pdc& pdc, const Inbound& in, Instant now);
  void on_duplicate(Pdc& pdc, const Inbound& in, Arrival how, Instant now);
  void answer_again(Pdc& pdc, const AckTrigger& trigger, Count cause, Instant now);
  void on_rod(Pdc& pdc, const Inbound& in, Instant now);
  void hold_back(Pdc& pdc, const Inbound& in, Instant now);
  void nack_gap(Pdc& pdc, const AckTrigger& trigger, Instant now);
  void drain_reorder(Pdc& pdc, Instant now);
  void free_reordered(Pdc& pdc, ReorderedPacket& packet);
  bool deliver(Pdc& pdc, const Inbound& in, bool buffered, Instant now);
  void record(Pdc& pdc, const Inbound& in, bool held, Answer answer);
  void settle(Pdc& pdc, const Inbound& in, const Verdict& verdict, bool buffered);
  bool may_store(const Pdc& pdc, bool fills_gap) const;
  void store(Pdc& pdc, const AckTrigger& trigger, const Verdict& verdict);
  bool await(Pdc& pdc, const AckTrigger& trigger);
  StoredResponse* add_entry(Pdc& pdc, const AckTrigger& trigger);
  void fill(Pdc& pdc, StoredResponse& entry, const Verdict& verdict);
  StoredResponse* stored_for(Pdc& pdc, Psn psn);
  static StoredResponse* entry_for(Pdc& pdc, Psn psn);
  void free_stored(Pdc& pdc, StoredResponse& entry);
  void clear_up_to(Pdc& pdc, Psn clear_psn);
  // --- core_control.cpp: control packets received [PDS 13] ---
  void on_control_psn(Pdc& pdc, const Inbound& in, Instant now);
  void on_control_plain(Pdc& pdc, const Inbound& in, Instant now);
  void on_ack_request(Pdc& pdc, const Inbound& in, Instant now);
  void on_credit(Pdc& pdc, uint32_t credit, Instant now);
  void on_credit_request(Pdc& pdc, const wire::CreditRequest& h, Instant now);
  void on_unknown_control(Pdc& pdc, const Inbound& in, Instant now);
  // --- core_ack.cpp: ACKs received [PDS 8.5] ---
  void on_ack(const RxDatagram& d, wire::PdsType type, Instant now);
  void process_ack(Pdc& pdc, const wire::Ack& ack, const wire::AckCc* cc,
                   std::span<const std::byte> ses, Instant at, Instant now);
  void heed(Pdc& pdc, wire::AckRequest request, Instant now);
  void establish(Pdc& pdc, Pdcid peer_id, Instant now);
  void answered(Pdc& pdc, Psn psn, TxSlot& slot, const RxResponse& response, Instant now);
  void read_sack(Pdc& pdc, const wire::AckCc& cc, Instant now);
  cms::RemoteState take_cc_state(Pdc& pdc, const wire::AckCc& cc, Instant now);
  void infer_losses(Pdc& pdc, uint16_t ooo_count, Instant now);
  Duration reorder_time(const Pdc& pdc) const;
  void tell_acked(Pdc& pdc, const cms::Acked& sum);
  // --- core_nack.cpp: NACKs received [PDS 10.2] ---
  void on_nack(const RxDatagram& d, Instant now);
  void process_nack(Pdc& pdc, const wire::Nack& nack, Instant at, Instant now);
  void on_nack_trimmed_ack(Pdc& pdc, const wire::Nack& nack, Instant now);
  void react(Pdc& pdc, const wire::Nack& nack, TxSlot& slot, Instant at, Instant now);
  void note_refusal(Pdc& pdc, wire::NackCode code, Instant now);
  void react_to_loss(Pdc& pdc, const wire::Nack& nack, TxSlot& slot, Instant at, Instant now);
  void fail_by_nack(Pdc& pdc, const wire::Nack& nack, TxSlot& slot, Instant now);
  void give_up(Pdc& pdc, Psn psn, TxSlot& slot, const Failure& failure, Instant now);
  bool drain(Pdc& pdc, const Failure& failure, Instant now);
  bool await_verdicts(Pdc& pdc, const Failure& failure, Instant now);
  void go_back(Pdc& pdc, Psn expected, Instant now);
  bool nack_limit_reached(Pdc& pdc, TxSlot& slot, wire::NackCode code, Instant at, Instant now);
  void delay_resend(Pdc& pdc, Psn psn, TxSlot& slot, Instant now);
  // --- core_trim.cpp: what a switch has cut [PDS 11] ---
  void on_trimmed(const RxDatagram& d, Instant now);
  void on_trimmed_request(const RxDatagram& d, Instant now);
  void on_trimmed_ack(const RxDatagram& d, Instant now);
  Pdc* find_trimmed_syn(const Inbound& in, bool& is_new);
  // --- core_probe.cpp: Probes, and tails that nobody answers [PDS 12 L5] ---
  void on_probe(Pdc& pdc, const Inbound& in, Instant now);
  void send_probe_answers(TxBatch& batch, Instant now);
  void emit_probe_answer(Pdc& pdc, const ProbeAnswer& answer, TxBatch& batch, Instant now);
  bool check_tail(Pdc& pdc, Instant& next, Instant now);
  bool waits_for_answer(Pdc& pdc);
  bool is_held(const Pdc& pdc) const;
  bool may_probe(const Pdc& pdc) const;
  void arm_if_held(Pdc& pdc, Instant now);
  Duration tail_wait(const Pdc& pdc) const;
  bool flush_probe(Pdc& pdc, TxBatch& batch, Instant now);
  void on_probe_answer(Pdc& pdc, const wire::Ack& ack, Instant at, Instant now);
  bool refuses_probe(Pdc& pdc, const wire::Nack& nack);
  // --- core_secure.cpp: the start of secured PDCs [PDS 4.2] ---
  Psn secure_start(const Inbound& in, PeerId peer, bool& pending);
  bool leave_pending(Pdc& pdc, const Inbound& in, Instant now);
  Psn raise_floor(const Pdc& pdc);
  Psn initial_start(PeerId peer, uint32_t sdi, Psn drawn);
  void learn_start(const Pdc& pdc, const wire::Ack& ack);
  void rebase(Pdc& pdc, const wire::Nack& nack, Instant now);
  // --- core_transmit.cpp: new packets and resends [PDS 6, 12] ---
  void assign_next(Instant now);
  void assign(Flow& flow, Instant now);
  Pdc* open_initiator(Flow& flow, Instant now);
  void serve(Pdc& pdc, TxBatch& batch, Instant now);
  void serve_path(Path& path, TxBatch& batch, Instant now);
  Turn take_turn(Pdc& pdc, TxBatch& batch, Instant now);
  Step send_lost(Pdc& pdc, TxBatch& batch, Instant now);
  void use_ev(Pdc& pdc, uint32_t bytes);
  Step send_new(Pdc& pdc, TxBatch& batch, Instant now);
  bool next_message(Pdc& pdc, Instant now);
  bool has_new(const Pdc& pdc) const;
  bool drops_behind_gaps(const Pdc& pdc) const {
    return pdc.mode == Mode::rod && !config_.rod_reorder;
  }
  bool gap_waits(Pdc& pdc) const;
  bool is_held_by_gap(Pdc& pdc) const;
  bool window_open(Pdc& pdc) const;
  void begin_wait(Pdc& pdc, Instant now);
  void check_psn_range(Pdc& pdc, Psn psn, Instant now);
  void emit_request(Pdc& pdc, Psn psn, TxSlot& slot, TxBatch& batch, Instant now);
  bool choose_ar(Pdc& pdc, TxSlot& slot);
  void on_emitted(Pdc& pdc, Psn psn, TxSlot& slot, uint32_t nominal, Instant now);
  Entropy next_ev(Pdc& pdc, const TxSlot* resend);
  void mark_lost(Pdc& pdc, Psn psn, TxSlot& slot, cms::LossKind kind, Count cause, Instant now);
  void want_send(Pdc& pdc);
  void wake_path(Path& path);
  void wake_flow(Flow& flow);
  // --- core_reply.cpp: ACKs, NACKs and control packets sent [PDS 8, 10.1, 13] ---
  void send_replies(TxBatch& batch);
  void send_responses(TxBatch& batch, Instant now);
  void send_control(TxBatch& batch, Instant now);
  void send_answers(TxBatch& batch, Instant now);
  bool flush_acks(Pdc& pdc, TxBatch& batch, Instant now);
  bool flush_control(Pdc& pdc, TxBatch& batch, Instant now);
  void emit_ack(Pdc& pdc, const AckTrigger& trigger, const EncodedResponse* response,
                TxBatch& batch, Instant now);
  wire::PdsType emit_long_ack(wire::AckCc& h, wire::Writer& w) const;
  bool commit_ack(Pdc& pdc, wire::PdsType type, uint32_t octets, Entropy ev, TxBatch& batch);
  uint64_t cc_state(const Pdc& pdc, const AckTrigger& trigger, Instant now) const;
  bool emit_control(Pdc& pdc, const wire::Control& h, Entropy ev, TxBatch& batch);
  bool flush_ack_requests(Pdc& pdc, TxBatch& batch, Instant now);
  void want_control(Pdc& pdc);
  void nack(Pdc& pdc, wire::NackCode code, const AckTrigger& t, uint32_t payload, Instant now);
  void nack(Pdc& pdc, wire::NackCode code, const AckTrigger& t, Instant now);
  void nack_stranger(const Inbound& in, wire::NackCode code, Instant now);
  void queue_nack(const wire::Nack& h, const FabricAddress& to, Entropy ev, uint32_t sdi);
  void queue_ack(const wire::Ack& h, const FabricAddress& to, Entropy ev, uint32_t sdi);
  bool take_nack_token(Peer* peer, Instant now);
  // --- core_timer.cpp: deadlines [PDS 12, 15] ---
  void on_timer(Pdc& pdc, Instant now);
  bool check_outstanding(Pdc& pdc, Instant& next, Instant now);
  bool is_due(Pdc& pdc, Psn psn, Instant now);
  bool check_slot(Pdc& pdc, Psn psn, Instant& next, Instant now);
  bool close_given_up(Pdc& pdc, Instant now) const;
  bool out_of_patience(Pdc& pdc, Failure& failure, Instant now) const;
  bool is_refused_for_long(const Pdc& pdc, Instant now) const;
  bool is_ignored_for_long(const Pdc& pdc, Instant now) const;
  void arm_by(Pdc& pdc, Instant deadline);
  Duration rto_of(const Pdc& pdc, const TxSlot& slot) const;
  Duration limit_of(const Pdc& pdc, const TxSlot& slot) const;
  void ask_for_quiet(Pdc& pdc, Instant now);
  void ask_for(Pdc& pdc, Psn psn, TxSlot& slot);
  void check_ack_delay(Pdc& pdc, Instant& next, Instant now);
  void check_clear(Pdc& pdc, Instant& next, Instant now);
  bool probe_window(Pdc& pdc, Instant& next, Instant now);
  bool close_request_expired(Pdc& pdc, Instant now);
  // --- core_close.cpp: close, failure, reclaim [PDS 5, 15] ---
  void begin_close(Pdc& pdc);
  void ask_close(Pdc& pdc, Instant now);
  bool progress_close(Pdc& pdc, TxBatch& batch, Instant now);
  bool send_closing_packet(Pdc& pdc, SlotKind kind, TxBatch& batch, Instant now);
  bool is_close_early(Pdc& pdc, const Inbound& in, Instant now);
  static TxSlot* newest_unanswered(Pdc& pdc, Psn* psn = nullptr);
  bool finish_received_close(Pdc& pdc, Instant now);
  void give_up_close(Pdc& pdc, Instant now);
  void on_closing_slot_done(Pdc& pdc, SlotKind kind, Instant now);
  void fail(Pdc& pdc, const Failure& failure, Count cause, bool peer_may_hold, Instant now);
  void end_in_error(Pdc& pdc, PdcEvent event, Instant now);
  void end_by(Pdc& pdc, PdcEvent event, const Failure& failure, Count cause, bool peer_may_hold,
              Instant now);
  void close_idle_toward(PeerId peer, Instant now);
  void report_failures(Pdc& pdc, const Failure& failure, Instant now);
  void abort_message(Pdc& pdc, const Failure& failure, Instant now);
  void abort_returns(Pdc& pdc, const Failure& failure, Instant now);
  void forget_outstanding(Pdc& pdc);
  void free_pdc(Pdc& pdc, PdcEvent why, bool clean, bool tombstone, Instant now);
  void discard(Pdc& pdc);  // nobody has heard of it yet
  static bool is_unheard(const Pdc& pdc);
  void release(Pdc& pdc, PdcEvent why, Instant bury_until);
  bool half_open_full() const;
  void relieve_pressure(bool is_initiator, Instant now);
  bool has_share(PeerId peer, uint32_t sdi, JobId job, Instant now);
  template <class IsCandidate>
  void retire(bool is_initiator, bool may_close, IsCandidate&& is_candidate, Instant now);
  bool reclaim(Pdc& pdc, Instant now);
  void touch(Pdc& pdc, Instant now);
  // --- core_flow.cpp: flows and paths ---
  Path* path(PathKey key);
  void drop_path(Path& path);
  void retire_flows(Instant now);
  void free_flow(Flow& flow);
  // --- core.cpp: set-up, calls of the client ---
  void want_answer(Pdc& pdc, Count cause, AckTrigger trigger);
  bool add_answer(const Pdc& pdc, const AckTrigger& trigger);
};

}  // namespace uet::pds
