// The record of one deferrable send at its initiator, from the post to the end, and the contents of
// a ready-to-restart. Deferrals owns these records. [ses.md 4.5]
#pragma once

#include "base/serial.h"
#include "wire/ses.h"

#include <cstdint>

namespace uet::ses {

struct TxMessage;

struct Deferral {
  TxMessage* message = nullptr;
  uint32_t token = 0;             // ours, never 0: names the send to its target [SES-093]
  uint32_t target_token = 0;      // token in the packets of this attempt; 0: none [SES-099]
  uint32_t granted_token = 0;     // with is_granted
  uint32_t target_initiator = 0;  // the target that may restart it
  bool is_granted : 1 = false;    // a ready-to-restart came before the answer that defers it
  bool is_deferred : 1 = false;   // an answer to this attempt said so [SES-095]
  bool is_closed : 1 = false;  // this attempt ends with a packet that says no more comes [SES-097]
};

// The contents and the sender of one ready-to-restart. [SES-098, SES-099]
struct Restart {
  PeerId peer;
  JobId job;
  uint32_t initiator = 0;
  wire::RestartTokens tokens;
};

}  // namespace uet::ses
