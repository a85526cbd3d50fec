// ACKs: which packets are owed one, what each says, and in which form. [PDS 8.1, 8.3]
#pragma once

#include "pds/door/proofs.h"
#include "pds/door/replies.h"
#include "pds/door/reply.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/rx/destination.h"
#include "pds/rx/inbound.h"
#include "pds/rx/response_store.h"
#include "pds/schedule/schedule.h"

#include "wire/pds.h"

#include "base/ring.h"

namespace uet::pds {

class AckWriter {
 public:
  AckWriter(Resources& res, PdcTable& table, Schedule& schedule, Proofs& proofs, Replies& replies,
            ResponseStore& store, Destination& destination)
      : res_(res),
        table_(table),
        schedule_(schedule),
        proofs_(proofs),
        replies_(replies),
        store_(store),
        destination_(destination),
        rules_{res.config.ack_gen_trigger_bytes, res.config.ack_gen_min_packet_bytes,
               res.config.ack_gen_packets, res.config.ack_per_packet, res.config.ack_on_ecn},
        mpr_(res.config.mpr) {}

  Result<void> create(Arena& arena);
  // Advertises another PSN range from now on. Errc::invalid. [PDS-035]
  Result<void> set_mpr(uint8_t mpr);
  const AckRules& rules() const { return rules_; }
  bool has_work() const { return !probe_answers_.empty() || !answers_.empty(); }
  // The packet is owed an ACK that names it, unless the cumulative ACK covers it.
  void want_answer(Pdc& pdc, Count cause, AckTrigger trigger);
  // False: no room, so the next ACK of the PDC has to do.
  bool add_answer(const Pdc& pdc, const AckTrigger& trigger);
  void send_responses(TxBatch& batch, Instant now);
  void send_answers(TxBatch& batch, Instant now);
  // The ACK that the PDC owes. False: the batch is full.
  bool flush_acks(Pdc& pdc, TxBatch& batch, Instant now);
  void on_probe(Pdc& pdc, const Inbound& in, Instant now);
  void send_probe_answers(TxBatch& batch, Instant now);

 private:
  void emit_ack(Pdc& pdc, const AckTrigger& trigger, const EncodedResponse* response,
                TxBatch& batch, Instant now);
  bool commit_ack(Pdc& pdc, wire::PdsType type, uint32_t octets, Entropy ev, TxBatch& batch);
  wire::PdsType emit_long_ack(wire::AckCc& h, wire::Writer& w) const;
  void tell_cc(wire::AckCc& h, const Pdc& pdc, const AckTrigger& trigger, Instant now);
  void emit_probe_answer(Pdc& pdc, const ProbeAnswer& answer, TxBatch& batch, Instant now);

  Resources& res_;
  PdcTable& table_;
  Schedule& schedule_;
  Proofs& proofs_;
  Replies& replies_;
  ResponseStore& store_;
  Destination& destination_;
  Ring<ProbeAnswer> probe_answers_;
  Ring<PendingAnswer> answers_;
  AckRules rules_;
  uint8_t mpr_;  // advertised from now on [PDS-035]
};

}  // namespace uet::pds
