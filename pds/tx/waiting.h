// How long a PDC has waited for its peer: for any answer, and for one that lets something pass.
// [PDS-148]
#pragma once

#include "base/time.h"

namespace uet::pds {

class Waiting {
 public:
  // Something is outstanding, or something was answered: the patience timer restarts.
  void begin(Instant now) {
    since_ = now;
    refused_since_ = Instant::never();
  }
  // The peer answers, and lets nothing pass.
  void note_refused(Instant now) {
    if (refused_since_.is_never()) refused_since_ = now;
  }
  // The peer waits for its application, which may take any time.
  void forgive() { refused_since_ = Instant::never(); }

  Instant since() const { return since_; }
  bool is_refused() const { return !refused_since_.is_never(); }
  Instant refused_since() const { return refused_since_; }  // never: the last news was good
  bool is_refused_for(Duration limit, Instant now) const {
    return is_refused() && now - refused_since_ >= limit;
  }

 private:
  Instant since_;  // something is outstanding, and nothing was answered
  Instant refused_since_ = Instant::never();
};

}  // namespace uet::pds
