// State that lasts for a turn, and ends with it in any case.
#pragma once

#include "ses/ses.h"

namespace uet::prov {

// A flag is true as long as this lives.
class Raised {
 public:
  explicit Raised(bool& flag) : flag_(flag) { flag_ = true; }
  ~Raised() { flag_ = false; }
  Raised(const Raised&) = delete;
  Raised& operator=(const Raised&) = delete;

 private:
  bool& flag_;
};

// Owners are asked for receives as long as this lives. [LF-159]
class AskingTurn {
 public:
  AskingTurn(ses::Ses& ses, Instant now) : ses_(ses) { ses_.begin_turn(now); }
  ~AskingTurn() { ses_.end_turn(); }
  AskingTurn(const AskingTurn&) = delete;
  AskingTurn& operator=(const AskingTurn&) = delete;

 private:
  ses::Ses& ses_;
};

}  // namespace uet::prov
