// Packets of PDCs that go out: new ones, resends, control packets. [PDS 6, 12, 13]
#pragma once

#include "pds/door/proofs.h"
#include "pds/pdc/closing.h"
#include "pds/pdc/idle_list.h"
#include "pds/resources.h"
#include "pds/schedule/schedule.h"
#include "pds/schedule/turn.h"
#include "pds/tx/loss_recovery.h"

#include "wire/pds.h"

namespace uet::pds {

class Outbox {
 public:
  Outbox(Resources& res, Schedule& schedule, IdleList& idle, Proofs& proofs, Closing& closing,
         LossRecovery& loss)
      : res_(res),
        schedule_(schedule),
        idle_(idle),
        proofs_(proofs),
        closing_(closing),
        loss_(loss) {}

  // Sends a Close command or a Close Request. False: no room now, call again later.
  bool send_closing_packet(Pdc& pdc, SlotKind kind, TxBatch& batch, Instant now);
  // False: it may not go to a source that may be forged.
  bool emit_control(Pdc& pdc, const wire::Control& h, Entropy ev, TxBatch& batch);
  // Clear commands and questions that are due. False: the batch is full.
  bool flush_control(Pdc& pdc, TxBatch& batch, Instant now);
  // ACK Requests that are due. False: the batch is full.
  bool flush_ack_requests(Pdc& pdc, TxBatch& batch, Instant now);
  // The next message of the PDC; false: none.
  bool next_message(Pdc& pdc, Instant now);
  // Sends as much as the deficit of the PDC allows, resends first.
  Turn take_turn(Pdc& pdc, TxBatch& batch, Instant now);

 private:
  void ask_for_credit(Pdc& pdc, wire::Control h, TxBatch& batch);
  // Octets that the packet is to congestion control, with its seal. [CMS-015]
  uint32_t nominal(const Pdc& pdc, uint32_t bytes) const {
    return cms::nominal_bytes(bytes + res_.config.seal_of(pdc.sdi));
  }
  Step send_lost(Pdc& pdc, TxBatch& batch, Instant now);
  Step send_new(Pdc& pdc, TxBatch& batch, Instant now);
  void check_psn_range(Pdc& pdc, Psn psn, Instant now);
  Entropy next_ev(Pdc& pdc, const TxSlot* resend, Instant now);
  void use_ev(Pdc& pdc, uint32_t bytes);
  void emit_request(Pdc& pdc, Psn psn, TxSlot& slot, TxBatch& batch, Instant now);
  static void ask_in(wire::Request& h, Context& context, const TxSlot& slot);
  bool choose_ar(Pdc& pdc, TxSlot& slot);
  void on_emitted(Pdc& pdc, Psn psn, TxSlot& slot, uint32_t nominal, Instant now);

  Resources& res_;
  Schedule& schedule_;
  IdleList& idle_;
  Proofs& proofs_;
  Closing& closing_;
  LossRecovery& loss_;
};

}  // namespace uet::pds
