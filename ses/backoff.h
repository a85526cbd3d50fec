// When something is tried again that found no place and that no event announces: a millisecond
// later, then twice as long after each try that comes to nothing, up to a cap.
#pragma once

#include "base/time.h"

#include <algorithm>

namespace uet::ses {

class Backoff {
 public:
  // The try that was just made came to nothing, or to something.
  void note(bool is_refused, Duration cap, Instant now) {
    if (!is_refused) {
      at_ = Instant::never();
      return;
    }
    wait_ = at_.is_never() ? kFirst : std::min(wait_ * 2, cap);
    at_ = now + wait_;
  }

  bool is_due(Instant now) const { return at_ <= now; }
  // never(): nothing waits for a new attempt.
  Instant deadline() const { return at_; }

 private:
  static constexpr Duration kFirst = Duration::milliseconds(1);

  Instant at_ = Instant::never();
  Duration wait_ = kFirst;
};

}  // namespace uet::ses
