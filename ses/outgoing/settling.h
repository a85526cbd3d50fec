// Decides what follows when an attempt to send, or an operation, is over: a report, another
// attempt, or waiting for more. Owns the started messages that wait and for which PDS has no packet
// left.
#pragma once

#include "ses/outgoing/answer.h"
#include "ses/outgoing/awaiting.h"
#include "ses/outgoing/operations.h"
#include "ses/outgoing/send_order.h"
#include "ses/resources.h"

#include <cstdint>

namespace uet::ses {

class Settling {
 public:
  Settling(Resources& res, Operations& operations, SendOrder& order, Exposures& exposures)
      : res_(res), operations_(operations), order_(order), exposures_(exposures) {}
  Result<void> create(Rng& rng) { return awaiting_.create(*res_.arena, res_.config.flows, rng); }

  // The results of packets. settle() follows when all of them are counted.
  void note_answer(TxMessage& m, const Answer& answer);
  void note_error(TxMessage& m, wire::ReturnCode code, uint8_t ri_generation);
  void note_failure(TxMessage& m, const pds::Failure& failure);
  // Looks whether the attempt is over and acts on how it ended. [SES-149]
  void settle(TxMessage& m);

  // Ends an operation before its time: cancel, close, local fault.
  void stop(TxMessage& m, Completion::Status status);
  void end_too_long(TxMessage& m);
  // The keys of its secure domain are gone. [TSS-146]
  void end_without_key(TxMessage& m);
  void on_pdc_closed(pds::PdcHandle pdc);
  void on_timer(TxMessage& m);

  // A packet may carry less now, and no packet of the attempt is out. [LF-141]
  void fit(TxMessage& m);
  // A read or a release of the exposed source of a message arrived.
  void look_at_exposed(TxMessage& m);
  // A deferred message goes again.
  void begin_again(TxMessage& m);

 private:
  void settle_answered(TxMessage& m);
  void settle_refused(TxMessage& m);
  void settle_failed(TxMessage& m);
  void settle_probe(TxMessage& m);
  void finish(TxMessage& m, Completion::Status status);
  void finish(TxMessage& m);
  void expire(TxMessage& m);
  void end_exposed(TxMessage& m);
  void wait_for_reads(TxMessage& m);
  void wait_for_restart(TxMessage& m);
  void probe(TxMessage& m);
  void next_segment(TxMessage& m);
  bool may_retry(TxMessage& m);
  void retry(TxMessage& m, Duration delay);
  Duration retry_delay(uint32_t retries);
  bool ask_less(TxMessage& m);

  Resources& res_;
  Operations& operations_;
  SendOrder& order_;
  Exposures& exposures_;
  Awaiting awaiting_;
};

}  // namespace uet::ses
