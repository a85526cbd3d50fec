// At a source: whether the target wants a clear, and when a Clear command goes out for it. Requests
// carry a clear as well. [PDS-104, PDS-105]
#pragma once

#include "base/time.h"

namespace uet::pds {

class Clearing {
 public:
  // The target asks for a clear: a command goes at `at` if no request has gone by then.
  void want(Instant at) {
    is_wanted_ = true;
    if (at_.is_never()) at_ = at;
  }
  // The target has no room: a command goes at once, and a request will do as well.
  void want_now() { is_wanted_ = is_due_ = true; }
  // A request has carried the clear.
  void note_carried() { is_wanted_ = false; }
  void put_off(Instant at) { at_ = at; }
  void drop_deadline() { at_ = Instant::never(); }
  // A Clear command is to go out with the next control packets.
  void make_due(bool is_due) { is_due_ = is_due; }
  // The command goes out instead of waiting for a request.
  void end_wait() {
    at_ = Instant::never();
    is_wanted_ = false;
    is_due_ = true;
  }
  void note_sent() { is_due_ = false; }

  bool is_wanted() const { return is_wanted_; }
  bool is_due() const { return is_due_; }
  Instant at() const { return at_; }  // never: no command waits for its time

 private:
  Instant at_ = Instant::never();
  bool is_wanted_ : 1 = false;  // and nothing was sent since
  bool is_due_ : 1 = false;
};

}  // namespace uet::pds
