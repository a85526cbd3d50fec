// Owns the records of deferrable sends at the initiator: a target without a receive defers them and
// later requests them again as a whole. [ses.md 4.5]
//
// state \ event  | deferred, all answered    | ready to restart | target silent | cancel, close
// held, queued   | -                         | goes with it     | -             | gone
// started        | deferred, or queued again | noted            | -             | ended
// deferred       | -                         | queued           | queued anew   | gone
#pragma once

#include "ses/deferral/deferral.h"
#include "ses/outgoing/tx_message.h"
#include "ses/resources.h"

#include "base/hash_map.h"
#include "base/slab.h"

#include <cstdint>

namespace uet::ses {

class Deferrals {
 public:
  explicit Deferrals(Resources& res) : res_(res) {}
  Result<void> create(Rng& rng);

  // Makes a send a deferrable one if target and length are for it, and there is room.
  void make_deferrable(const Endpoint& ep, TxMessage& m, const Destination& to);
  // The operation is over: the target cannot request it again. Its packets still carry the tokens.
  void forget_token(TxMessage& m);
  void free(TxMessage& m);

  // The effect of a ready-to-restart.
  struct Restarted {
    bool is_known = false;       // false: it names no deferred send to that peer
    TxMessage* again = nullptr;  // it waited for this and begins again now
  };
  Restarted restart(const Restart& order);
  // The next attempt goes under the token that was granted, if any. [SES-099, SES-101]
  static void begin_again(TxMessage& m);
  // Nothing of the last attempt counts any more.
  static void forget_attempt(TxMessage& m);

 private:
  TxMessage* find(const Restart& order, uint32_t token);

  Resources& res_;
  Slab<Deferral> deferrals_;
  HashMap<uint32_t, Deferral*> by_token_;
};

}  // namespace uet::ses
