// Work of a domain that is not the engine's: seldom, and by the helper thread.
#pragma once

#include "base/time.h"

namespace uet::prov {

// Work of the helper thread for a domain besides running its engine, rare and without the lock.
class Errand {
 public:
  virtual ~Errand() = default;
  // Readable when there is something to do at once; -1: nothing comes that way.
  virtual int fd() const = 0;
  // Does it. Returns when to be called at the latest.
  virtual Instant run(Instant now) = 0;
};

}  // namespace uet::prov
