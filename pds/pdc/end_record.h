// State of the end of a PDC: the deadline of the event that ends it, the PSN up to which the end
// counts, and whether a Close Request is due. [PDS-052, PDS-120, PDS-170..177]
#pragma once

#include "base/serial.h"
#include "base/time.h"

namespace uet::pds {

class EndRecord {
 public:
  // The wait for a start, a Close or verdicts is over then; never: nothing is waited for.
  Instant at() const { return at_; }
  bool is_awaited() const { return !at_.is_never(); }
  void wait_until(Instant at) { at_ = at; }
  void end_wait() { at_ = Instant::never(); }

  // The PSN of the Close, sent or received; without one the highest PSN received.
  Psn psn() const { return psn_; }
  void close_at_psn(Psn psn) { psn_ = psn; }
  // The PDC ends without a Close. `doubtful`: it is unknown how each PSN was answered.
  void break_off(Psn highest_received, bool doubtful) {
    psn_ = highest_received;
    is_doubtful_ = doubtful;
  }
  bool is_doubtful() const { return is_doubtful_; }

  // Target: a Close Request is to go out.
  bool is_request_due() const { return is_request_due_; }
  void want_request(Instant until) {
    is_request_due_ = true;
    at_ = until;
  }
  void drop_request() { is_request_due_ = false; }

 private:
  Instant at_ = Instant::never();
  Psn psn_;
  bool is_request_due_ = false;
  bool is_doubtful_ = false;
};

}  // namespace uet::pds
