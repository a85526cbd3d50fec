// The end of PDCs: who hears of it, and what answers late packets. [PDS 5, 15]
#pragma once

#include "pds/pdc/closing.h"
#include "pds/pdc/pdc.h"
#include "pds/pdc/release.h"
#include "pds/resources.h"
#include "pds/schedule/schedule.h"

namespace uet::pds {

// Whether the failure is reported to the peer: yes, if it may still hold its end of the PDC.
enum class Notice : uint8_t {
  none,   // the PDC is freed at once
  close,  // Close command of an initiator, Close Request of a target, where its state allows it
};

// What the peer had reached when the PDC was freed.
enum class Outcome : uint8_t {
  unfinished,
  clean,  // it has finished what it began
};

// What answers late packets of a PDC that was freed.
enum class Remains : uint8_t {
  nothing,
  tombstone,
};

class Ending {
 public:
  Ending(Resources& res, Schedule& schedule, Closing& closing, Release& release)
      : res_(res), schedule_(schedule), closing_(closing), release_(release) {}

  // The peer does not answer the Close command: frees the PDC.
  void give_up_close(Pdc& pdc, Instant now);
  // Reports everything unfinished once. Frees the PDC, at once or after the notice.
  void fail(Pdc& pdc, const Failure& failure, Count cause, Notice notice, Instant now);
  // The same for a PDC that closes in error. It is gone.
  void end_in_error(Pdc& pdc, PdcEvent event, Instant now);
  // Begins an orderly close, from either side.
  void close(Pdc& pdc, Instant now);
  // The peer is gone: idle PDCs toward it would fail the next message.
  void close_idle_toward(PeerId peer, Instant now);
  void abort_returns(Pdc& pdc, const Failure& failure, Instant now);
  void abort_message(Pdc& pdc, const Failure& failure, Instant now);
  // Frees a PDC of which no packet was sent, so that the peer has no state for it.
  void discard(Pdc& pdc);
  // `why`: the table row that ends it.
  void free_pdc(Pdc& pdc, PdcEvent why, Outcome outcome, Remains remains, Instant now);

 private:
  void end_by(Pdc& pdc, PdcEvent event, const Failure& failure, Count cause, Notice notice,
              Instant now);
  void report_failures(Pdc& pdc, const Failure& failure, Instant now);

  Resources& res_;
  Schedule& schedule_;
  Closing& closing_;
  Release& release_;
  PeerId lost_peer_;  // peer whose idle PDCs were closed last, and when
  Instant lost_at_ = Instant::never();
};

}  // namespace uet::pds
