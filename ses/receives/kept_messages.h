// Owns the messages that found no receive: their records and pages, where receives and peeks find
// them, and the answers that some of them still owe. [SES-126, ses.md 6]
#pragma once

#include "ses/endpoints.h"
#include "ses/incoming/arriving_messages.h"
#include "ses/incoming/request.h"
#include "ses/receives/kept_room.h"
#include "ses/receives/receives.h"
#include "ses/resources.h"

#include <cstdint>

namespace uet::ses {

// The result of a peek. [LF-059]
struct Peeked {
  bool found = false;
  uint64_t bytes = 0;
  bool tagged = false;
  uint64_t tag = 0;
  uint64_t data = 0;
  bool has_data = false;
  PeerId peer;
  uint32_t initiator_id = 0;
  JobId job;
  EndpointId endpoint;  // that it came to
  uint32_t claim = 0;   // for receive_claimed or discard_claimed; 0: not claimed
};

class KeptMessages {
 public:
  KeptMessages(Resources& res, const Endpoints& endpoints, ArrivingMessages& arriving)
      : res_(res), endpoints_(endpoints), arriving_(arriving) {}
  Result<void> create() {
    room_.report_to(res_);
    return room_.create(*res_.arena, res_.config, *res_.peers);
  }

  KeptRoom& room() { return room_; }
  const KeptRoom& room() const { return room_; }

  // The message is there for receives to find.
  static void keep(Endpoint& ep, UnexpectedMessage& u, const Request& q, const Envelope& envelope);
  // Receives do not find it any more.
  void hide(UnexpectedMessage& u);
  // The last octet of the message has arrived; the answer to its sender.
  pds::Verdict complete(UnexpectedMessage& u, const Request& q);
  // Gives the answer that delivery-complete made wait, if it is owed. [SES-148]
  void answer(UnexpectedMessage& u, wire::ReturnCode code, uint32_t modified_length);

  Endpoint& endpoint_of(const UnexpectedMessage& u) const;
  // The first one that the filter accepts. [LF-059]
  Peeked peek(ReceiveQueue& queue, const ReceiveRequest& filter, bool claim);
  // The facts about the message, claimed or not.
  static Peeked seen(const UnexpectedMessage& u);
  // The message of that claim. Null: no such claim.
  UnexpectedMessage* claimed(const ReceiveQueue& queue, uint32_t claim);

 private:
  Resources& res_;
  const Endpoints& endpoints_;
  ArrivingMessages& arriving_;
  KeptRoom room_;
};

}  // namespace uet::ses
