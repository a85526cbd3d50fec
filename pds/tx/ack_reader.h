// Received ACKs: which packets they complete, show as arrived, and leave as lost. [PDS 8.5]
#pragma once

#include "pds/door/proofs.h"
#include "pds/pdc/closing.h"
#include "pds/pdc/idle_list.h"
#include "pds/resources.h"
#include "pds/schedule/schedule.h"
#include "pds/tx/loss_recovery.h"
#include "pds/tx/tail_probes.h"

#include "wire/pds.h"

#include <span>

namespace uet::pds {

// What an ACK has changed beside the packets of its PDC: its caller acts on it.
struct AckEffect {
  bool is_established = false;  // the peer's PDCID is known now [PDS-042]
  bool is_closed = false;       // it answers our Close command [PDS-I14, PDS-I19]
};

class AckReader {
 public:
  AckReader(Resources& res, Schedule& schedule, IdleList& idle, Proofs& proofs, Closing& closing,
            LossRecovery& loss, TailProbes& probes)
      : res_(res),
        schedule_(schedule),
        idle_(idle),
        proofs_(proofs),
        closing_(closing),
        loss_(loss),
        probes_(probes) {}

  // An ACK of the PDC in that datagram; `cc`: the long form, or null.
  AckEffect process_ack(Pdc& pdc, const wire::Ack& ack, const wire::AckCc* cc,
                        std::span<const std::byte> ses, const RxDatagram& d, Instant now);

 private:
  // It changes nothing.
  AckEffect drop(Count why) {
    res_.counters.add(why);
    return {};
  }
  void heed(Pdc& pdc, wire::AckRequest request, Instant now);
  void establish(Pdc& pdc, Pdcid peer_id);
  cms::RemoteState take_cc_state(Pdc& pdc, const wire::AckCc& cc, uint32_t acked, Instant now);
  void answered(Pdc& pdc, Psn psn, TxSlot& slot, const RxResponse& response, Instant now);
  void take_named(Pdc& pdc, const wire::Ack& ack, std::span<const std::byte> ses, Entropy echoed,
                  AckNews& news, Instant now);
  void take_cumulative(Pdc& pdc, Psn cack, AckNews& news, Instant now);
  void note_answer(Pdc& pdc, TxSlot& slot, AckNews& news, Instant now);
  void count_arrival(Pdc& pdc, TxSlot& slot, AckNews& news, Instant now);
  void retire(Pdc& pdc, Psn psn, TxSlot& slot, Instant now);
  void tell_acked(Pdc& pdc, const wire::AckCc* cc, AckNews& news, Instant now);
  void read_sack(Pdc& pdc, const wire::AckCc& cc, AckNews& news, Instant now);
  Duration reorder_time(const Pdc& pdc) const;
  void probe_base_rtt(Pdc& pdc);
  void infer_losses(Pdc& pdc, uint16_t ooo_count, Instant now);

  Resources& res_;
  Schedule& schedule_;
  IdleList& idle_;
  Proofs& proofs_;
  Closing& closing_;
  LossRecovery& loss_;
  TailProbes& probes_;
};

}  // namespace uet::pds
