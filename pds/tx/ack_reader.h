// Received ACKs: which packets they complete, show as arrived, and leave as lost. [PDS 8.5]
#pragma once

#include "pds/door/proofs.h"
#include "pds/door/secure_psn.h"
#include "pds/pdc/closing.h"
#include "pds/pdc/ending.h"
#include "pds/pdc/idle_list.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/schedule/paths.h"
#include "pds/schedule/schedule.h"
#include "pds/tx/loss_recovery.h"
#include "pds/tx/tail_probes.h"

#include "wire/pds.h"

#include <span>

namespace uet::pds {

class AckReader {
 public:
  AckReader(Resources& res, PdcTable& table, Schedule& schedule, Paths& paths, IdleList& idle,
            Proofs& proofs, SecurePsn& secure_psn, Closing& closing, Ending& ending,
            LossRecovery& loss, TailProbes& probes)
      : res_(res),
        table_(table),
        schedule_(schedule),
        paths_(paths),
        idle_(idle),
        proofs_(proofs),
        secure_psn_(secure_psn),
        closing_(closing),
        ending_(ending),
        loss_(loss),
        probes_(probes) {}

  // An ACK of the PDC in that datagram; `cc`: the long form, or null. The PDC may be gone after it.
  void process_ack(Pdc& pdc, const wire::Ack& ack, const wire::AckCc* cc,
                   std::span<const std::byte> ses, const RxDatagram& d, Instant now);

 private:
  void heed(Pdc& pdc, wire::AckRequest request, Instant now);
  void establish(Pdc& pdc, Pdcid peer_id, Instant);
  cms::RemoteState take_cc_state(Pdc& pdc, const wire::AckCc& cc, uint32_t acked, Instant now);
  void answered(Pdc& pdc, Psn psn, TxSlot& slot, const RxResponse& response, Instant now);
  void take_named(Pdc& pdc, const wire::Ack& ack, std::span<const std::byte> ses, Entropy echoed,
                  AckNews& news, Instant now);
  void complete(Pdc& pdc, Psn psn, TxSlot& slot, const RxResponse& response, AckNews& news,
                Instant now);
  void tell_acked(Pdc& pdc, const wire::AckCc* cc, AckNews& news, Instant now);
  void read_sack(Pdc& pdc, const wire::AckCc& cc, AckNews& news, Instant now);
  Duration reorder_time(const Pdc& pdc) const;
  void probe_base_rtt(Pdc& pdc);
  void infer_losses(Pdc& pdc, uint16_t ooo_count, Instant now);

  Resources& res_;
  PdcTable& table_;
  Schedule& schedule_;
  Paths& paths_;
  IdleList& idle_;
  Proofs& proofs_;
  SecurePsn& secure_psn_;
  Closing& closing_;
  Ending& ending_;
  LossRecovery& loss_;
  TailProbes& probes_;
};

}  // namespace uet::pds
