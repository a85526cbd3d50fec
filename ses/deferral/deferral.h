// The record of one deferrable send at its initiator, from the post to the end, and what a
// ready-to-restart says. Deferrals owns these records. [ses.md 4.5]
#pragma once

#include "base/serial.h"
#include "wire/ses.h"

#include <cstdint>

namespace uet::ses {

struct TxMessage;

struct Deferral {
  TxMessage* message = nullptr;
  uint32_t token = 0;             // ours, never 0: names the send to its target [SES-093]
  uint32_t target_token = 0;      // what the packets of this attempt carry; 0: none [SES-099]
  uint32_t granted_token = 0;     // with is_granted
  uint32_t target_initiator = 0;  // who may have it restarted
  bool is_granted : 1 = false;    // a ready-to-restart came before the answer that defers it
  bool is_deferred : 1 = false;   // an answer to this attempt said so [SES-095]
  bool is_closed : 1 = false;  // this attempt ends with a packet that says no more comes [SES-097]
};

// What one ready-to-restart says and who says it. [SES-098, SES-099]
struct Restart {
  PeerId peer;
  JobId job;
  uint32_t initiator = 0;
  wire::RestartTokens tokens;
};

}  // namespace uet::ses
