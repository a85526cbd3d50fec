// Writes the answers that refuse requests, and repeats them for the rest of a refused message.
// [ses.md 7.1]
#pragma once

#include "ses/incoming/arriving_messages.h"
#include "ses/incoming/request.h"
#include "ses/resources.h"

#include "pds/client.h"

#include <cstdint>

namespace uet::ses {

class Refusals {
 public:
  Refusals(Resources& res, ArrivingMessages& arriving) : res_(res), arriving_(arriving) {}

  // Answers a new message with an error. A message of several packets stays known, so that each
  // packet gets the same answer. [SES-107]
  pds::Verdict refuse(const Request& q, wire::ReturnCode code, Counter why) {
    return refuse(q, code, why, q.common.ri_generation);
  }
  // The same with the generation that BAD_GENERATION carries.
  pds::Verdict refuse(const Request& q, wire::ReturnCode code, Counter why, uint8_t generation);
  // Why no region was found for it.
  pds::Verdict refuse_key(const Request& q, wire::ReturnCode code);
  // A further packet of a message that was answered with an error.
  pds::Verdict repeat(RxMessage& m, const Request& q);
  static pds::Verdict stored(const RxMessage& m, const Request& q);

  // All the room there is, for tracking or for an answer, is in use: the initiator tries again.
  // [SES-118]
  pds::Verdict no_message_slot();
  // The packet leaves no state and is sent again later; its PDC waits until the application takes
  // the earlier messages. [PDS-112, PDS-148, SES-188]
  pds::Verdict wait_for_application(const Request& q);

 private:
  Resources& res_;
  ArrivingMessages& arriving_;
};

}  // namespace uet::ses
